"""trivium estimate NAME|CONFIG"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trivium.commands.flags import read_benchmark_flags, read_flags
from trivium.commands.parser import argument
from trivium.commands.run import read_run
from trivium.core.errors import require
from trivium.core.streams import DEFAULT_SEED
from trivium.evaluation.cost import Prices, cost_of, cost_of_run
from trivium.evaluation.evaluation import Evaluation, Items
from trivium.evaluation.plan import is_config, read_sweep
from trivium.models.names import full_model_name
from trivium.models.settings import ModelOptions, Settings
from trivium.report.compare import power_to_compare, read_scores

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
    if args and is_config(args[0]):
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
        name = given.task.benchmark.name
        runs = read_scores(flags.runs) if flags.runs else None
        power = power_to_compare(name, flags.power, flags.score, flags.correlation, runs)
        print(f"{name}: {power}")
        items = power.items
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
