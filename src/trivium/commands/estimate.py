"""trivium estimate NAME|CONFIG"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from trivium.commands.flags import read_benchmark_flags, read_flags
from trivium.commands.parser import argument
from trivium.commands.run import read_run
from trivium.core.errors import require
from trivium.core.statistics import difference_variance, items_to_compare
from trivium.core.streams import DEFAULT_SEED
from trivium.evaluation.cost import cost_of, cost_of_run
from trivium.evaluation.evaluation import Evaluation, Items
from trivium.evaluation.plan import read_sweep, shipped_configs
from trivium.evaluation.prices import Prices
from trivium.models.names import full_model_name
from trivium.models.settings import ModelOptions, Settings
from trivium.report.compare import (
    common_items,
    read_scores,
    require_same_items,
    worth_comparing,
)

ABOUT = """Requests, approximate tokens and, with prices, cost of an evaluation, before anything is
sent. Assumes replies as short as the benchmark asks for; only --max_output_tokens limits what
reasoning adds. Instead of NAME, a config of a sweep, or run with the flags of trivium run: the cost
of its models, or of one model if it names none. --power D says first how many items a difference of
D between two models takes.
Example: trivium estimate nhop_explicit --preset explicit-hard --items 500 --mode free
Example: trivium estimate nhop_explicit --power 0.05 --correlation 0.4
Example: trivium estimate run --model openai/gpt-4.1-mini --items 50
Example: trivium estimate explicit_hard --price_in 0.4 --price_out 1.6"""


@dataclass(frozen=True)
class Asked:
    """How a model would be asked, and what it costs."""

    # where a reply is cut off, reasoning included
    max_output_tokens: int | None = ModelOptions.max_output_tokens
    prices: Prices = field(default_factory=Prices)


@dataclass(frozen=True)
class ConfigFlags:
    """Which sweep would be run."""

    config: str = argument("CONFIG")  # a file, or a config that comes with Trivium
    asked: Asked = field(default_factory=Asked)


@dataclass(frozen=True)
class Flags:
    """What would be evaluated."""

    items: int = 500  # how many items
    seed: int = DEFAULT_SEED  # the seed of all of them
    order_trials: int = 1  # how often each item is presented, each time in another order
    repeats: int = 1  # how often the same prompt is sent
    model: str | None = None  # the model, as the file of prices names it
    power: float | None = None  # the smallest difference of two models that is to be seen
    score: float = 0.5  # power: what the worse of the two scores
    correlation: float = 0.3  # power: of the two, item by item
    runs: tuple[Path, ...] = ()  # power: two runs of which the correlation is taken instead
    asked: Asked = field(default_factory=Asked)


def main(args: Sequence[str]) -> int:
    """Print the cost."""
    if args[:1] == ["run"]:
        run, whole = read_run("estimate run", args[1:])
        execution = whole.flags.running.execution
        cost = cost_of_run(
            run, prices=execution.prices.of_run(run), settings=execution.options.settings()
        )
        print(f"run: {cost}")
        return 0
    if args and (args[0] in shipped_configs() or args[0].endswith((".toml", ".json"))):
        config = read_flags("estimate", ConfigFlags(), args, ABOUT)
        settings = Settings(max_output_tokens=config.asked.max_output_tokens)
        run = read_sweep(config.config, settings=settings)
        prices = config.asked.prices.of_run(run)
        print(f"{config.config}: {cost_of_run(run, prices=prices, settings=settings)}")
        return 0
    given = read_benchmark_flags("estimate", Flags, args, ABOUT)
    flags, asked = given.flags, given.flags.asked
    require(
        flags.model is not None or asked.prices.prices is None, "--prices goes with --model here"
    )
    model = "a model" if flags.model is None else full_model_name(flags.model)
    items = flags.items
    if flags.power is not None:
        items = _print_power(given.task.benchmark.name, flags, flags.power)
    evaluation = Evaluation(
        given.task,
        Items(flags.seed, 0, items),
        model,
        flags.order_trials,
        Settings(max_output_tokens=asked.max_output_tokens),
        repeats=flags.repeats,
    )
    cost = cost_of(evaluation, price=asked.prices.of((model,)).get(model))
    print(f"{given.task.benchmark.name}: {cost}")
    return 0


def _print_power(benchmark: str, flags: Flags, difference: float) -> int:
    """Print how many items a difference takes; returns the number for a power of 80%."""
    if flags.runs:
        variance, graded, how = _observed(benchmark, flags.runs)
    else:
        graded = False
        variance = difference_variance(flags.score, flags.score + difference, flags.correlation)
        how = f"scores of {flags.score:g} and {flags.score + difference:g}, assumed, with a "
        how += f"correlation of {flags.correlation:g}"
    items, more = (
        items_to_compare(difference, variance, power, graded=graded) for power in (0.8, 0.9)
    )
    print(
        f"{benchmark}: to see a difference of {difference:g} between two models on common items "
        f"takes {items:,} items with a power of 80%, {more:,} with 90% ({how})"
    )
    return items


def _observed(benchmark: str, runs: Sequence[Path]) -> tuple[float, bool, str]:
    """The variance of the difference of two solvers, whether scores are graded, and where from."""
    found = worth_comparing([one for one in read_scores(runs) if one.benchmark == benchmark])
    require(len(found) >= 2, f"--runs must hold two solvers of {benchmark}, got {len(found)}")
    require_same_items(found[:2])
    common = common_items(found[0], found[1])
    require(len(common) >= 2, "--runs: the solvers have fewer than two items in common")
    first, second = ([one.scores[item] for item in common] for one in found[:2])
    how = f"from {found[0]} and {found[1]} on {len(common):,} items"
    graded = not {*first, *second} <= {0.0, 1.0}
    return float(np.var(np.subtract(first, second), ddof=1)), graded, how
