"""trivium eval NAME"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from trivium.commands.flags import Asked, read_benchmark_flags, require_out
from trivium.core.errors import require
from trivium.report.tables import metric_table, terminal
from trivium.runs.evaluate import RECORDS, Job, evaluate
from trivium.runs.executors import Workers
from trivium.runs.items import Chunk, file_chunks, made_chunks, read_items

ABOUT = """Put a solver to work on items, made on demand or read from files. Writes
DIR/records.jsonl and DIR/summary.json; the same command goes on where it stopped.
Example: trivium eval nhop_implicit --solver oracle --items 200 --seed 7 --out runs/oracle"""


@dataclass(frozen=True)
class Flags:
    """Who is put to work, on which items."""

    solver: str | None = None  # a built-in solver (trivium list names them)
    # files of items, instead of items made on demand
    input: Annotated[tuple[Path, ...], tyro.conf.arg(name="in")] = field(default=())
    items: int = 100  # how many items are made
    seed: int = 0  # the seed of all of them
    start: int = 0  # the index of the first
    order_trials: int = 1  # how often each item is told, each time in another order
    out: Path | None = None  # the folder of the records
    workers: Workers = field(default_factory=Workers)


def main(args: Sequence[str]) -> int:
    """Evaluate and print the summary."""
    asked = read_benchmark_flags("eval", Flags, args, ABOUT)
    flags = asked.flags
    out = require_out(flags.out)
    require(
        flags.solver is not None,
        f"--solver is missing; there are {', '.join(asked.benchmark.solvers)}",
    )
    chunks, total = chosen_items(asked)
    job = Job(
        benchmark=asked.benchmark.name,
        solver=str(flags.solver),
        view=asked.view,
        spec=None if flags.input else asked.spec,
        seed=None if flags.input else flags.seed,
        files=tuple(map(str, flags.input)),
        trials=flags.order_trials,
    )
    with flags.workers.open() as executor:
        summary = evaluate(job, chunks, total, out, executor)
    metric_table(summary).show(terminal())
    print(f"records in {out / RECORDS}")
    return 0


def chosen_items(asked: Asked[Flags]) -> tuple[Iterator[Chunk], int]:
    """The items that the flags ask for, in chunks, and how many there are."""
    flags = asked.flags
    if flags.input:
        items = read_items(asked.benchmark, flags.input)
        return file_chunks(asked.benchmark, items), len(items)
    chunks = made_chunks(asked.benchmark, asked.spec, flags.seed, flags.start, flags.items)
    return chunks, flags.items
