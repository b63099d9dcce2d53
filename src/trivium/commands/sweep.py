"""trivium sweep CONFIG"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from trivium.commands.execution import Execution, choose_folder, print_results, print_verdict
from trivium.commands.flags import Models, given_flags, read_flags, refuse_model_flags
from trivium.commands.grid import split_grid
from trivium.evaluation.cost import cost_of_run
from trivium.evaluation.evaluation import Run
from trivium.evaluation.executors import Workers, all_processors
from trivium.evaluation.index import add_to_index, write_table
from trivium.evaluation.plan import SHAPING, read_sweep, shipped_configs
from trivium.evaluation.prices import Prices
from trivium.models.settings import ModelOptions
from trivium.report.page import write_report
from trivium.report.tables import Table, terminal

ABOUT = f"""Run a grid of spec fields, seeds, solvers and models from a TOML or JSON file, from a
config that comes with Trivium ({", ".join(shipped_configs())}), or from flags alone: after a
benchmark's name or a config, every field of spec and view is a flag that takes values separated by
commas, and so are --preset, --seeds, --solvers and --order_trials. Flags win. Writes data/,
results/, plots/, summary.csv, results.md and report.html, and a row in runs/index.csv. The same
command continues the newest folder of the same sweep, and makes only attempts that are missing or
failed. Exit status 1: calls failed, or nothing was scored.
Example: trivium sweep implicit_small
Example: trivium sweep nhop_explicit --hops 4,5,6 --L 2,3 --seeds 7,13,23
Example: trivium sweep explicit_hard --items 24 --model openai/gpt-4.1-mini"""


@dataclass(frozen=True)
class RunFlags:
    """How a grid or a diagnosis is run."""

    # begin a new folder even if there is one of the same run
    new: Annotated[bool, tyro.conf.arg(aliases=["--fresh"])] = False
    data: bool = True  # write the items too
    workers: Workers = field(default_factory=all_processors)
    options: ModelOptions = field(default_factory=ModelOptions)
    prices: Prices = field(default_factory=Prices)


@dataclass(frozen=True)
class Flags:
    """What is swept, and where it goes."""

    # a file, or the name of a config that comes with Trivium or of a benchmark
    config: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="CONFIG")]
    out: Path | None = None  # the folder (default: the newest of the same sweep, or a new one)
    label: str | None = None  # what the run is called in titles and in the index
    items: int | None = None  # items of each evaluation (default: as the config says)
    # language models, each as PROVIDER/MODEL, instead of the config's; say --model once for each
    models: Models = ()
    dry_run: bool = False  # print the evaluations and what they would cost, and do nothing
    running: RunFlags = field(default_factory=RunFlags)


def main(args: Sequence[str]) -> int:
    """Run the sweep."""
    words, grid = split_grid(args)
    flags = read_flags("sweep", Flags, words, ABOUT)
    given = {"label": flags.label, "items": flags.items, "models": list(flags.models) or None}
    overrides = grid | {key: value for key, value in given.items() if value is not None}
    options = flags.running.options
    asked = SHAPING.keys() & given_flags(words)
    overrides |= {key: getattr(options, key) for key in asked}
    run = read_sweep(flags.config, overrides, options.settings())
    if not run.models:
        refuse_model_flags(args, "neither the config nor a flag names one")
    if flags.dry_run:
        print_plan(run, flags.running)
        return 0
    return run_and_report(run, flags.running, flags.out, shlex.join(["trivium", "sweep", *args]))


def print_plan(run: Run, flags: RunFlags) -> None:
    """The evaluations, and what asking a model would cost."""
    rows = tuple((str(one.setting), str(one.items.seed), one.solver) for one in run.evaluations)
    first = run.evaluations[0]
    title = (
        f"{' '.join(run.benchmarks)}: {len(rows)} evaluations of {first.items.count} items"
        f"{f', each in {first.trials} orders' if first.trials > 1 else ''}"
    )
    Table(title, ("setting", "seed", "solver"), rows).show(terminal())
    settings = flags.options.settings()
    cost = cost_of_run(run, prices=flags.prices.of_run(run), settings=settings)
    print(f"{'models' if run.models else 'a model, if one were named'}: {cost}")


def run_and_report(run: Run, flags: RunFlags, out: Path | None, command: str) -> int:
    """Do what is left of a run, then write its table, its row of the index and its report."""
    execution = Execution(flags.workers, flags.options, flags.prices, flags.data)
    folder = choose_folder(run, out, new=flags.new)
    folder, summaries = execution.execute(run, folder, command)
    write_table(run, summaries, folder)
    add_to_index(run, folder)
    # Before anything is printed: a reader may have gone away.
    report = write_report(folder, prices=flags.prices)
    print_results(run, summaries, folder)
    status = print_verdict(run, summaries, folder, flags.prices)
    print(f"report: {report}")
    return status
