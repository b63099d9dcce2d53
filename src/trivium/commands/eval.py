"""trivium eval NAME"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import islice
from pathlib import Path
from typing import Annotated

import tyro

from trivium.commands.flags import (
    Asked,
    read_benchmark_flags,
    refuse_model_flags,
    require_out,
)
from trivium.core.errors import require
from trivium.core.files import read_rows
from trivium.core.results import Summary
from trivium.evaluation.cost import SAMPLE, cost_of
from trivium.evaluation.execute import RECORDS, Job, evaluate, finished
from trivium.evaluation.executors import Workers
from trivium.evaluation.items import Chunk, contents_of, file_chunks, made_chunks, read_items
from trivium.models.backends import confirm, evaluate_model, require_reachable
from trivium.models.settings import ModelFlags, model_settings
from trivium.report.tables import metric_table, terminal

ABOUT = """Put a solver or a model to work on items, made on demand or read from files. Writes
DIR/records.jsonl and DIR/summary.json; the same command goes on where it stopped.
Example: trivium eval nhop_implicit --solver oracle --items 200 --seed 7 --out runs/oracle
Example: trivium eval nhop_explicit --model openai/gpt-4.1-mini --items 200 --out runs/mini"""


@dataclass(frozen=True)
class Flags:
    """Who is put to work, on which items."""

    solver: str | None = None  # a built-in solver (trivium list names them)
    model: str | None = None  # or a language model, as PROVIDER/MODEL
    # files of items, instead of items made on demand
    input: Annotated[tuple[Path, ...], tyro.conf.arg(name="in")] = field(default=())
    items: int = 100  # how many items are made
    seed: int = 0  # the seed of all of them
    start: int = 0  # the index of the first
    order_trials: int = 1  # how often each item is told, each time in another order
    out: Path | None = None  # the folder of the records
    workers: Workers = field(default_factory=Workers)
    asking: ModelFlags = field(default_factory=ModelFlags)


def main(args: Sequence[str]) -> int:
    """Evaluate and print the summary."""
    asked = read_benchmark_flags("eval", Flags, args, ABOUT)
    flags = asked.flags
    command = shlex.join(["trivium", "eval", *args])
    out = require_out(flags.out)
    require(
        flags.solver is not None or flags.model is not None,
        f"--solver is missing (or --model PROVIDER/MODEL); there are "
        f"{', '.join(asked.benchmark.solvers)}",
    )
    require(flags.solver is None or flags.model is None, "give either --solver or --model")
    if flags.solver is not None:
        refuse_model_flags(args, f"{flags.solver} is a built-in solver")
    for worker in fields(Workers) if flags.model else ():
        require(
            worker.name not in asked.given,
            f"--{worker.name} goes with --solver; of a model, --concurrency says how much at once",
        )
    if flags.input:
        asked.require_files_alone("items", "seed", "start")
    if flags.model:
        # What the model lacks is said before any item is made or read.
        require_reachable(asked.benchmark, model_settings(flags.model, flags.asking))
    chunks, total = chosen_items(asked)
    work = _evaluate_model if flags.model else _evaluate_solver
    summary = work(asked, _job(asked, chunks, command), chunks, total, out)
    metric_table(summary).show(terminal())
    if summary.items > total:
        print(f"the figures are of all {summary.items} items in the folder, not of {total} alone")
    if summary.errors and flags.model:
        print(f"{summary.errors} attempts failed for good; --retry_errors asks them again")
        print(f"the first of them: {_first_error(out)}")
    print(f"records in {out / RECORDS}")
    return 0


def _first_error(out: Path) -> str:
    """Why the first attempt that failed did so, as plain text on one line."""
    errors = (row["error"] for _, row in read_rows(out / RECORDS) if row["kind"] == "error")
    return ascii(next(errors, ""))[1:-1]


def _evaluate_solver(
    asked: Asked[Flags], job: Job, chunks: list[Chunk], total: int, out: Path
) -> Summary:
    with asked.flags.workers.open() as executor:
        return evaluate(job, chunks, total, out, executor)


def _evaluate_model(
    asked: Asked[Flags], job: Job, chunks: list[Chunk], total: int, out: Path
) -> Summary:
    flags = asked.flags
    settings = model_settings(str(flags.model), flags.asking)
    held = finished(out / RECORDS, errors=not flags.asking.retry_errors)
    left = max(0, total * flags.order_trials - len(held))
    sample = list(islice(chunks[0].load(), SAMPLE))
    confirm(cost_of(asked.benchmark, asked.view, sample, left), flags.asking)
    shaped = replace(job, shaping=settings.shaping())
    return evaluate_model(shaped, settings, chunks, total, out)


def _job(asked: Asked[Flags], chunks: list[Chunk], command: str) -> Job:
    flags = asked.flags
    return Job(
        benchmark=asked.benchmark.name,
        solver=str(flags.model or flags.solver),
        view=asked.view,
        spec=None if flags.input else asked.spec,
        seed=None if flags.input else flags.seed,
        files=tuple(map(str, flags.input)),
        contents=contents_of(asked.benchmark, chunks) if flags.input else None,
        trials=flags.order_trials,
        command=command,
    )


def chosen_items(asked: Asked[Flags]) -> tuple[list[Chunk], int]:
    """The items that the flags ask for, in chunks, and how many there are."""
    flags = asked.flags
    if flags.input:
        items = read_items(asked.benchmark, flags.input)
        return list(file_chunks(asked.benchmark, items)), len(items)
    chunks = made_chunks(asked.benchmark, asked.spec, flags.seed, flags.start, flags.items)
    return list(chunks), flags.items
