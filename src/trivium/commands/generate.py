"""trivium generate NAME"""

from __future__ import annotations

import os
import sys
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from trivium.commands.flags import read_benchmark_flags
from trivium.commands.parser import REQUIRED
from trivium.core.files import atomic_write, resumable_write
from trivium.core.streams import DEFAULT_SEED
from trivium.core.task import Task
from trivium.evaluation.evaluation import Items
from trivium.evaluation.execute import item_lines
from trivium.evaluation.executors import Executor, Progress, Workers

ABOUT = """Generate items, written as JSON Lines. An item depends on its spec, seed and index only.
The same command resumes an interrupted file, FILE.part.
A file of items holds no prompts: trivium show prints one, trivium export writes them all.
Example: trivium generate nhop_implicit --items 200 --out data/implicit.jsonl"""
# Large enough that sending a chunk to another process costs little compared to generating it.
CHUNK = 5000
CHECKED = 20  # lines of an incomplete file that are compared with the items they should be


@dataclass(frozen=True)
class Flags:
    """Which items are generated, and where they are written."""

    items: int = 100  # how many
    seed: int = DEFAULT_SEED  # the seed of all of them
    start: int = 0  # the index of the first
    out: Path = REQUIRED  # the file; '-' is standard output
    workers: Workers = field(default_factory=Workers)


def main(args: Sequence[str]) -> int:
    """Write the file."""
    asked = read_benchmark_flags("generate", Flags, args, ABOUT)
    flags, task = asked.flags, asked.task
    asked.refuse_view_flags("generate")
    items = Items(flags.seed, flags.start, flags.items)
    with flags.workers.open() as executor:
        if str(flags.out) == "-":
            _write(task, items, sys.stdout.buffer, executor)
            return 0
        if (
            flags.out.exists() and not flags.out.is_file()
        ):  # a pipe or a device, which cannot be resumed
            with atomic_write(flags.out) as file:
                _write(task, items, file, executor)
        else:
            with resumable_write(flags.out) as file:
                _write(task, items, file, executor, _lines_held(task, items, file))
    print(f"{flags.items} items written to {flags.out}")
    print(f"their prompts: trivium export {task.benchmark.name} --in {flags.out} --out FILE")
    return 0


def _write(task: Task, items: Items, file: BinaryIO, executor: Executor, held: int = 0) -> None:
    """Write the items that a file does not hold yet."""
    left = items.count - held
    if left:
        rest = replace(items, start=items.start + held, count=left)
        jobs = ((chunk.count, task, chunk) for chunk in rest.chunks(CHUNK))
        with Progress("generate", items.count, held) as progress:
            for count, lines in executor.map(item_lines, jobs):
                file.write(lines)
                progress.advance(count)
    file.flush()


def _lines_held(task: Task, items: Items, file: BinaryIO) -> int:
    """The number of items that an incomplete file holds; a file of other items is emptied."""
    file.seek(0)
    ends = array("q", [0])
    for line in file:
        ends.append(ends[-1] + len(line))
    held = min(len(ends) - 1, items.count)
    for place in {held * part // CHECKED for part in range(CHECKED)} | {held - 1} if held else ():
        file.seek(ends[place])
        _, expected = item_lines((0, task, replace(items, start=items.start + place, count=1)))
        if file.readline() != expected:
            held = 0
            break
    file.truncate(ends[held])
    file.seek(0, os.SEEK_END)
    if held:
        print(f"{held:,} of {items.count:,} items were generated before", file=sys.stderr)
    return held
