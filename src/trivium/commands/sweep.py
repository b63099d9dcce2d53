"""trivium sweep CONFIG"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from trivium.commands.flags import Models, read_flags, refuse_model_flags
from trivium.commands.grid import split_grid
from trivium.core.errors import require
from trivium.evaluation.cost import confirm, cost_of_run
from trivium.evaluation.evaluation import Run
from trivium.evaluation.execute import check_solver, execute
from trivium.evaluation.executors import Workers, all_processors
from trivium.evaluation.index import add_to_index, new_folder, unfinished_folder, write_table
from trivium.evaluation.plan import read_sweep, shipped_configs
from trivium.models.settings import ModelOptions
from trivium.report.page import write_report
from trivium.report.tables import Table, terminal

ABOUT = f"""Run a grid of spec fields, seeds, solvers and models from a TOML or JSON file, from a
config that comes with Trivium ({", ".join(shipped_configs())}), or from flags alone: after a
benchmark's name or a config, every field of spec and view is a flag that takes values separated by
commas, and so are --preset, --seeds, --solvers and --order_trials. Flags win. Writes data/,
results/, plots/, summary.csv, results.md and report.html, and a row in runs/index.csv. The same
command resumes a sweep that was interrupted.
Example: trivium sweep implicit_small
Example: trivium sweep nhop_explicit --hops 4,5,6 --L 2,3 --seeds 7,13,23
Example: trivium sweep explicit_hard --items 24 --model openai/gpt-4.1-mini"""
ROOT = Path("runs")


@dataclass(frozen=True)
class RunFlags:
    """How a grid or a diagnosis is run."""

    fresh: bool = False  # begin a new run even if the same one is unfinished
    data: bool = True  # write the items too
    workers: Workers = field(default_factory=all_processors)
    options: ModelOptions = field(default_factory=ModelOptions)


@dataclass(frozen=True)
class Flags:
    """What is swept, and where it goes."""

    # a file, or the name of a config that comes with Trivium or of a benchmark
    config: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="CONFIG")]
    out: Path | None = None  # the folder (default: the unfinished run of this config, or a new one)
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
    run = read_sweep(flags.config, overrides, flags.running.options.settings())
    if not run.models:
        refuse_model_flags(args, "neither the config nor a flag names one")
    if flags.dry_run:
        print_plan(run)
        return 0
    return run_and_report(run, flags.running, flags.out, shlex.join(["trivium", "sweep", *args]))


def print_plan(run: Run) -> None:
    """The evaluations, and what asking a model would cost."""
    rows = tuple((str(one.setting), str(one.items.seed), one.solver) for one in run.evaluations)
    first = run.evaluations[0]
    title = (
        f"{' '.join(run.benchmarks)}: {len(rows)} evaluations of {first.items.count} items, "
        f"presented {first.trials} times"
    )
    Table(title, ("setting", "seed", "solver"), rows).show(terminal())
    print(f"{'models' if run.models else 'a model, if one were named'}: {cost_of_run(run)}")


def run_and_report(run: Run, flags: RunFlags, out: Path | None, command: str) -> int:
    """Do what is left of a run, then write its table, its row of the index and its report."""
    require(not (out and flags.fresh), "--fresh begins a new folder: give it or --out, not both")
    options = flags.options
    for evaluation in run.models:
        check_solver(evaluation, options)
    folder = out or (None if flags.fresh else unfinished_folder(run, ROOT))
    if run.models:
        confirm(cost_of_run(run, folder, retry_errors=options.retry_errors), options)
    with flags.workers.open() as executor:
        folder = folder or new_folder(run, ROOT)
        if out is None:
            print(f"{run.kind} of {len(run.evaluations)} evaluations in {folder}", file=sys.stderr)
        summaries = execute(
            run,
            folder,
            executor=executor,
            options=options,
            command=command,
            write_items=flags.data,
        )
    write_table(run, summaries, folder)
    add_to_index(run, folder)
    print(f"report: {write_report(folder)}")
    return 0
