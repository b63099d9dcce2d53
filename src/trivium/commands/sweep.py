"""Run a grid of spec fields, seeds, solvers and models from a TOML or JSON file, from a
config that comes with Trivium, or from flags alone: after a benchmark's name or a config, every
field of spec and view is a flag for values separated by commas, and so are --preset, --seeds,
--solvers, --order_trials and --repeats. Flags override the config. Writes data/, results/, plots/,
summary.csv, results.md and report.html, and a row in runs/index.csv. The same command resumes the
newest folder of the same sweep, and makes only attempts that are missing or failed. Exit
status 1: calls failed, or nothing was scored.
Example: trivium sweep implicit_small
Example: trivium sweep nhop_explicit --hops 4,5,6 --L 2,3 --seeds 7,13,23
Example: trivium sweep explicit_hard --items 24 --model openai/gpt-4.1-mini
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from trivium.benchmarks import benchmark_names, by_alias, get_benchmark
from trivium.commands.flags import Asked, Parser, changed, flag, leaves, read_start, refuse_without
from trivium.commands.run_flags import RunFlags
from trivium.core.errors import require
from trivium.evaluation.executors import all_processors
from trivium.evaluation.plan import (
    SHAPING,
    config_benchmark,
    find_config,
    read_sweep,
    shipped_configs,
)


@dataclass(frozen=True)
class Flags:
    """What is swept, and where the results are written."""

    config: str | None = None  # a config, if it is not the first argument
    approach: str | None = None  # or a benchmark
    label: str | None = None  # what the run is called in titles and in the index
    items: int | None = None  # items of each evaluation (default: the config's)
    order_trials: int | None = None  # how often each item is presented, in another order each time
    repeats: int | None = None  # how often the same prompt is sent
    # language models as PROVIDER/MODEL, instead of the config's
    models: tuple[str, ...] = flag((), "--model")
    data: bool = True  # write the items too
    running: RunFlags = field(default_factory=lambda: RunFlags(workers=all_processors()))


@dataclass(frozen=True)
class Keys:
    """Dimensions of the grid, with values separated by commas."""

    preset: str | None = None  # named specs to start from
    seeds: int | None = flag(None, "--seeds", "--seed")  # seeds of the items
    solvers: str | None = flag(None, "--solvers", "--solver", "--baseline")  # which solvers


def main(args: Sequence[str]) -> int:
    """Run the sweep."""
    config, asked, grid = read_grid(args)
    flags, options = asked.flags, asked.flags.running.options
    given = {key: getattr(flags, key) for key in ("label", "items", "order_trials", "repeats")}
    given |= {"models": list(flags.models) or None}
    given |= {key: getattr(options, key) for key in SHAPING}
    overrides = grid | {key: value for key, value in given.items() if value is not None}
    run = read_sweep(config, overrides, options.settings())
    return flags.running.run(run, asked, write_items=flags.data)


def read_grid(args: Sequence[str]) -> tuple[str, Asked[Flags], dict[str, list[Any]]]:
    """The config or benchmark that is swept, the flags, and the grid."""
    named, rest, start = read_start(args)
    config = start.config or next(iter(named), start.approach)
    if config is None:
        known = dict.fromkeys(benchmark_names(), "a benchmark, swept by flags")
        configs = dict.fromkeys(shipped_configs(), "a config that comes with Trivium")
        refuse_without("CONFIG", {**configs, **known}, "sweep", args, __doc__)
    name = by_alias(config)
    if name in benchmark_names():
        benchmark = get_benchmark(name)
    else:
        benchmark = config_benchmark(find_config(config))
        name = benchmark.name
    if named and start.config:
        require(by_alias(named[0]) == name, f"{config} is about {name}, not about {named[0]}")
    parser = Parser(" ".join(["trivium", "sweep", *named]), __doc__)
    parser.add(Flags())
    dimensions: dict[str, Any] = {}
    for part in (Keys(), benchmark.default_spec, benchmark.view_type()):
        parser.add(part, benchmark.field_aliases, group=True, several=True)
        dimensions |= leaves(part)
    values = parser.parse(rest)
    flags = changed(Flags(), values)
    given = {key: f"--{key}" for key in values}
    grid = {
        key: [value for texts in values[key] for value in texts] or [True]  # a switch without one
        for key in dimensions
        if key in values
    }
    return config, Asked(f"trivium sweep {shlex.join(args)}", flags, given), grid
