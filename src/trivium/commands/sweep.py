"""trivium sweep CONFIG"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import tyro

from trivium.benchmarks import get_benchmark
from trivium.commands.flags import read_flags, refuse_model_flags
from trivium.core.errors import require
from trivium.evaluation.config import read_sweep, shipped
from trivium.evaluation.executors import Workers, all_processors
from trivium.evaluation.index import add_to_index, locked, new_folder, unfinished
from trivium.evaluation.items import made_chunks
from trivium.evaluation.plan import Cell, Plan
from trivium.evaluation.sweep import held_by, run_plan
from trivium.models.backends import (
    LOGS,
    Evaluation,
    confirm,
    evaluate_models,
    require_reachable,
)
from trivium.models.settings import ModelFlags, model_settings
from trivium.report.page import write_report
from trivium.report.tables import Table, terminal

ABOUT = f"""Run a grid of spec fields, seeds, solvers and models from a TOML or JSON file, or from a
config that comes with Trivium ({", ".join(shipped())}). Writes data/, results/, plots/,
summary.csv, results.md and report.html, and a row in runs/index.csv. A sweep that was stopped
goes on when the same command is given again.
Example: trivium sweep implicit_small
Example: trivium sweep explicit_hard --items 24 --model openai/gpt-4.1-mini"""
ROOT = Path("runs")


@dataclass(frozen=True)
class Running:
    """How a plan is run."""

    fresh: bool = False  # begin a new run though one of the same is unfinished
    data: bool = True  # write the items too
    workers: Workers = field(default_factory=all_processors)
    asking: ModelFlags = field(default_factory=ModelFlags)

    def asking_for(self, plan: Plan) -> ModelFlags:
        """How models are asked: as the plan says where it says something."""
        asking = self.asking
        if plan.temp is not None:
            asking = replace(asking, temp=plan.temp)
        if plan.max_output_tokens is not None:
            asking = replace(asking, max_output_tokens=plan.max_output_tokens)
        return asking


@dataclass(frozen=True)
class Flags:
    """What is swept, and where it goes."""

    # a file, or the name of a config that comes with Trivium
    config: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="CONFIG")]
    out: Path | None = None  # the folder (default: the unfinished run of this config, or a new one)
    label: str | None = None  # what the run is called in titles and in the index
    items: int | None = None  # items of each cell (default: as the config says)
    # language models, each as PROVIDER/MODEL, instead of the config's; say --model once for each
    models: Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(name="model")] = ()
    dry_run: bool = False  # print the cells and what they would cost, and do nothing
    running: Running = field(default_factory=Running)


def main(args: Sequence[str]) -> int:
    """Run the sweep."""
    flags = read_flags("sweep", Flags, args, ABOUT)
    given = {"label": flags.label, "items": flags.items, "models": list(flags.models) or None}
    plan = read_sweep(
        flags.config, {key: value for key, value in given.items() if value is not None}
    )
    if not any(cell.model for cell in plan.cells):
        refuse_model_flags(args, "neither the config nor a flag names one")
    if flags.dry_run:
        print_plan(plan)
        return 0
    command = shlex.join(["trivium", "sweep", *args])
    return run_and_report(plan, flags.running, flags.out, command)


def print_plan(plan: Plan) -> None:
    """The cells, and what asking a model about them would cost."""
    rows = tuple((cell.setting, str(cell.seed), cell.who) for cell in plan.cells)
    title = f"{plan.benchmark}: {len(rows)} cells of {plan.items} items, told {plan.trials} times"
    Table(title, ("setting", "seed", "solver"), rows).show(terminal())
    models = any(cell.model for cell in plan.cells)
    print(f"{'models' if models else 'a model, were one named'}: {plan.cost()}")


def run_and_report(plan: Plan, running: Running, out: Path | None, command: str) -> int:
    """Do what is left of a plan, then write the report and the row of the index."""
    require(not (out and running.fresh), "--fresh begins a new folder: give it or --out, not both")
    asking = running.asking_for(plan)
    benchmark = get_benchmark(plan.benchmark)
    for model in dict.fromkeys(cell.model for cell in plan.cells if cell.model):
        require_reachable(benchmark, model_settings(model, asking))
    begun = out or (None if running.fresh else unfinished(plan, ROOT))
    if any(cell.model for cell in plan.cells):
        held = held_by(plan, begun, errors=not asking.retry_errors) if begun else {}
        confirm(plan.cost(held), asking)
    ask = partial(_ask, asking)
    with running.workers.open() as executor:
        folder = begun or new_folder(plan, ROOT)
        with locked(folder):
            print(f"{plan.kind} of {len(plan.cells)} cells in {folder}", file=sys.stderr)
            run_plan(plan, folder, executor, ask, command, data=running.data)
            add_to_index(
                folder,
                kind=plan.kind,
                benchmark=plan.benchmark,
                label=plan.label,
                cells=len(plan.cells),
                items=plan.items,
                seeds=(cell.seed for cell in plan.cells),
            )
            report = write_report(folder)
    print(f"report: {report}")
    return 0


def _ask(asking: ModelFlags, plan: Plan, cells: Sequence[Cell], results: Path) -> None:
    """Ask models about what is left of these cells."""
    benchmark = get_benchmark(plan.benchmark)
    evaluations = []
    for cell in cells:
        settings = model_settings(str(cell.model), asking)
        job = replace(plan.job(cell), shaping=settings.shaping())
        chunks = made_chunks(benchmark, cell.spec, cell.seed, 0, plan.items)
        folder = results / cell.tag
        evaluations.append(Evaluation(cell.tag, job, settings, chunks, plan.items, folder))
    evaluate_models(evaluations, results.parent / LOGS)
