"""A plan put to work: every cell's records, then one summary of all of them."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from trivium.benchmarks import get_benchmark
from trivium.core.benchmark import Attempt
from trivium.core.records import Appender, atomic_write
from trivium.core.results import Summary
from trivium.core.statistics import Estimate
from trivium.evaluation.execute import (
    RECORDS,
    attempts,
    claim_folder,
    finished,
    write_summary,
)
from trivium.evaluation.executors import Executor
from trivium.evaluation.items import Chunk, made_chunks
from trivium.evaluation.plan import Cell, Plan
from trivium.evaluation.progress import Progress

DATA, RESULTS, SUMMARY_TABLE = "data", "results", "summary.csv"
# Asks models for what is left of these cells and writes the records into the folders of their tags.
Ask = Callable[[Plan, Sequence[Cell], Path], None]


@dataclass(frozen=True)
class Task:
    """Some items of one cell, cheap to send elsewhere."""

    cell: int
    solver: str
    view: Any
    trials: int
    done: frozenset[tuple[str, int]]
    chunk: Chunk


def run_plan(
    plan: Plan, out: Path, executor: Executor, ask: Ask, command: str, *, data: bool
) -> None:
    """Do what is left of the plan in this folder, and write summary.csv."""
    claim_folder(out, {**plan.manifest(), "command": command})
    if data:
        _write_data(plan, out / DATA, executor)
    _run_solvers(plan, out / RESULTS, executor)
    asked = [cell for cell in plan.cells if cell.model is not None]
    if asked:
        ask(plan, asked, out / RESULTS)
    write_table(plan, out)


def held_by(plan: Plan, out: Path, *, errors: bool) -> dict[str, int]:
    """How many attempts a folder holds of every cell; of failed ones where they count."""
    paths = {cell.tag: out / RESULTS / cell.tag / RECORDS for cell in plan.cells}
    return {tag: len(finished(path, errors=errors)) for tag, path in paths.items()}


def _run_solvers(plan: Plan, results: Path, executor: Executor) -> None:
    cells = [cell for cell in plan.cells if cell.solver is not None]
    done = []
    for cell in cells:
        claim_folder(results / cell.tag, plan.job(cell).manifest())
        done.append(frozenset(finished(results / cell.tag / RECORDS)))
    total = len(cells) * plan.items * plan.trials
    with Progress(f"{plan.benchmark} {plan.kind}", total, sum(map(len, done))) as progress:
        done_tasks = executor.map(do_task, _tasks(plan, cells, done))
        for place, pieces in groupby(done_tasks, key=itemgetter(0)):
            with Appender(results / cells[place].tag / RECORDS) as records:
                for _, made in pieces:
                    records.add(made)
                    progress.advance(len(made))


def _tasks(plan: Plan, cells: list[Cell], done: list[frozenset[tuple[str, int]]]) -> Iterator[Task]:
    """What is left to do, cell by cell."""
    benchmark = get_benchmark(plan.benchmark)
    for place, cell in enumerate(cells):
        if len(done[place]) >= plan.items * plan.trials:
            continue
        for chunk in made_chunks(benchmark, cell.spec, cell.seed, 0, plan.items):
            solver = str(cell.solver)
            yield Task(place, solver, cell.view, plan.trials, done[place], chunk)


def do_task(task: Task) -> tuple[int, list[Attempt]]:
    """The number of the cell, and its new attempts."""
    made = attempts(task.solver, task.view, task.trials, task.done, task.chunk)
    return task.cell, made


def _write_data(plan: Plan, folder: Path, executor: Executor) -> None:
    """The items of every spec and seed, each in a file of its own."""
    benchmark = get_benchmark(plan.benchmark)
    files: dict[tuple[Any, int], Path] = {}
    for cell in plan.cells:
        files.setdefault((cell.spec, cell.seed), folder / f"{cell.data_tag}.jsonl")
    missing = [(key, path) for key, path in files.items() if not path.exists()]
    tasks = (
        (place, chunk)
        for place, ((spec, seed), _) in enumerate(missing)
        for chunk in made_chunks(benchmark, spec, seed, 0, plan.items)
    )
    made = executor.map(make_lines, tasks)
    for place, pieces in groupby(made, key=itemgetter(0)):
        path = missing[place][1]
        with atomic_write(path) as file:
            file.writelines(lines for _, lines in pieces)


def make_lines(task: tuple[int, Chunk]) -> tuple[int, bytes]:
    """The number of the file, and the items of a chunk as JSON Lines."""
    place, chunk = task
    benchmark = get_benchmark(chunk.benchmark)
    return place, b"".join(
        benchmark.generate_lines(chunk.spec, chunk.seed, chunk.start, chunk.count)
    )


def write_table(plan: Plan, out: Path) -> None:
    """summary.csv: one row per cell, with nothing in it that depends on when it was made."""
    benchmark = get_benchmark(plan.benchmark)
    named = [
        (cell, write_summary(benchmark, out / RESULTS / cell.tag))
        for cell in plan.cells
        if (out / RESULTS / cell.tag / RECORDS).exists()
    ]
    metrics = list(dict.fromkeys(name for _, summary in named for name in summary.metrics))
    fields = list(dict.fromkeys(key for cell in plan.cells for key in cell.fields))
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(
        ["setting", *fields, "seed", "solver", "role", "items", "answered", "violations"]
        + ["errors", "chance", "prompt_lines", "prompt_chars"]
        + [f"{name}{end}" for name in metrics for end in ("", "_low", "_high", "_n")]
    )
    for cell, summary in named:
        solver = benchmark.solvers.get(cell.who)
        role = "model" if solver is None else solver.role
        table.writerow(
            [cell.setting, *(cell.fields.get(key, "") for key in fields), cell.seed, cell.who]
            + [role, *_counts(summary)]
            + [part for name in metrics for part in _figures(summary.metrics.get(name))]
        )
    with atomic_write(out / SUMMARY_TABLE) as file:
        file.write(text.getvalue().encode())


def _counts(summary: Summary) -> list[int | str]:
    counted = [summary.items, summary.answered, summary.violations, summary.errors]
    means = (summary.chance, summary.prompt_lines, summary.prompt_chars)
    return [*counted, *map(_figure, means)]


def _figures(estimate: Estimate | None) -> list[int | str]:
    if estimate is None:
        return ["", "", "", ""]
    figures = [_figure(value) for value in (estimate.value, estimate.low, estimate.high)]
    return [*figures, estimate.n]


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.6f}"
