"""trivium sweep CONFIG"""

from __future__ import annotations

import shlex
import typing
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import NoneType
from typing import Any

from trivium.benchmarks import benchmark_names, by_alias, get_benchmark
from trivium.commands.config import benchmark_of
from trivium.commands.execution import Execution, RunFlags
from trivium.commands.flags import Asked, read_start, refuse_without
from trivium.commands.parser import Parser, changed, flag
from trivium.core.benchmark import AnyBenchmark
from trivium.core.errors import require
from trivium.core.spec import read_mapping
from trivium.evaluation.cost import cost_of_run
from trivium.evaluation.evaluation import Run
from trivium.evaluation.plan import SHAPING, find_config, read_sweep, shipped_configs
from trivium.report.tables import Table, terminal

ABOUT = """Run a grid of spec fields, seeds, solvers and models from a TOML or JSON file, from a
config that comes with Trivium, or from flags alone: after a benchmark's name or a config, every
field of spec and view is a flag for values separated by commas, and so are --preset, --seeds,
--solvers, --order_trials and --repeats. Flags override the config. Writes data/, results/, plots/,
summary.csv, results.md and report.html, and a row in runs/index.csv. The same command resumes the
newest folder of the same sweep, and makes only attempts that are missing or failed. Exit
status 1: calls failed, or nothing was scored.
Example: trivium sweep implicit_small
Example: trivium sweep nhop_explicit --hops 4,5,6 --L 2,3 --seeds 7,13,23
Example: trivium sweep explicit_hard --items 24 --model openai/gpt-4.1-mini"""


@dataclass(frozen=True)
class Flags:
    """What is swept, and where the results are written."""

    config: str | None = None  # a config, if it is not the first argument
    approach: str | None = None  # or a benchmark
    label: str | None = None  # what the run is called in titles and in the index
    items: int | None = None  # items of each evaluation (default: the config's)
    # language models as PROVIDER/MODEL, instead of the config's
    models: tuple[str, ...] = flag((), "--model")
    data: bool = True  # write the items too
    dry_run: bool = False  # only print the evaluations and their cost
    running: RunFlags = field(default_factory=RunFlags)


@dataclass(frozen=True)
class Keys:
    """Dimensions of the grid, with values separated by commas."""

    preset: str | None = None  # named specs to start from
    seeds: int | None = flag(None, "--seeds", "--seed")  # seeds of the items
    solvers: str | None = flag(None, "--solvers", "--solver", "--baseline")  # which solvers
    order_trials: int | None = None  # how often each item is presented, in another order each time
    repeats: int | None = None  # how often the same prompt is sent


def main(args: Sequence[str]) -> int:
    """Run the sweep."""
    config, asked, grid = read_grid(args)
    flags = asked.flags
    options = flags.running.execution.options
    own = {"label": flags.label, "items": flags.items, "models": list(flags.models) or None}
    own |= {key: getattr(options, key) for key in SHAPING}
    overrides = grid | {key: value for key, value in own.items() if value is not None}
    run = read_sweep(config, overrides, options.settings())
    if not run.models:
        asked.refuse_model_flags("neither the config nor a flag names one")
    if flags.dry_run:
        print_plan(run, flags.running.execution)
        return 0
    return flags.running.run(run, asked.command, write_items=flags.data)


def read_grid(args: Sequence[str]) -> tuple[str, Asked[Flags], dict[str, Any]]:
    """The config or benchmark that is swept, the flags, and the grid."""
    named, rest, start = read_start(args)
    config = start.config or next(iter(named), start.approach)
    if config is None:
        known = dict.fromkeys(benchmark_names(), "a benchmark, swept by flags")
        configs = dict.fromkeys(shipped_configs(), "a config that comes with Trivium")
        refuse_without("CONFIG", {**configs, **known}, "sweep", args, ABOUT)
    benchmark = _swept_benchmark(config)
    if named and start.config and benchmark and by_alias(named[0]) != benchmark.name:
        require(False, f"{config} is about {benchmark.name}, not about {named[0]}")
    parser = Parser(" ".join(["trivium", "sweep", *named]), ABOUT)
    parser.add(Flags())
    parts = (Keys(), *((benchmark.default_spec, benchmark.view_type()) if benchmark else ()))
    hints = {key: hint for part in parts for key, hint in typing.get_type_hints(type(part)).items()}
    aliases = benchmark.field_aliases if benchmark else {}
    for part in parts:
        parser.add(part, parser.group(part), aliases, type=str, nargs="*", metavar="VALUE")
    values = parser.parse(rest)
    grid = {key: _values(values[key], hints[key], f"--{key}") for key in hints if key in values}
    for key in ("order_trials", "repeats"):
        if key in grid:
            require(len(grid[key]) == 1, f"--{key} takes one number")
            grid[key] = grid[key][0]
    given = {key: f"--{key}" for key in values}
    return config, Asked(f"trivium sweep {shlex.join(args)}", changed(Flags(), values), given), grid


def _swept_benchmark(name: str) -> AnyBenchmark | None:
    """The benchmark of this name, or the one that a config of this name is about."""
    known = by_alias(name)
    if known not in benchmark_names():
        known = benchmark_of(read_mapping(find_config(name))) or ""
    return get_benchmark(known) if known in benchmark_names() else None


def _values(texts: Sequence[str], hint: Any, flag: str) -> list[Any]:
    """The values of a flag, separated by commas; parts of a list are joined by +."""
    parts = [part.strip() for text in texts for part in text.split(",") if part.strip()]
    if not parts and hint is bool:
        return [True]
    require(bool(parts), f"{flag} needs a value")
    if typing.get_origin(hint) is tuple:
        inner = typing.get_args(hint)[0]
        return [[_value(one, inner) for one in part.split("+")] for part in parts]
    return [_value(part, hint) for part in parts]


def _value(text: str, hint: Any) -> Any:
    """The text as a value of this type; other text is returned, and the spec refuses it."""
    kinds = {hint, *typing.get_args(hint)} - {NoneType}
    if bool in kinds and text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        if kind in kinds:
            try:
                return kind(text)
            except ValueError:
                continue
    return text


def print_plan(run: Run, execution: Execution) -> None:
    """Print the evaluations, and what models would cost."""
    rows = tuple((str(one.setting), str(one.items.seed), one.solver) for one in run.evaluations)
    first = run.evaluations[0]
    title = (
        f"{' '.join(run.benchmarks)}: {len(rows)} evaluations of {first.items.count} items"
        f"{f', each in {first.trials} orders' if first.trials > 1 else ''}"
        f"{f', {first.repeats} times each' if first.repeats > 1 else ''}"
    )
    Table(title, ("setting", "seed", "solver"), rows).show(terminal())
    settings = execution.options.settings()
    cost = cost_of_run(run, prices=execution.prices.of_run(run), settings=settings)
    print(f"{'models' if run.models else 'a model, if one were named'}: {cost}")
