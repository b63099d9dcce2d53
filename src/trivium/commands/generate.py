"""trivium generate NAME"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from trivium.commands.flags import read_benchmark_flags, require_out
from trivium.core.files import atomic_write
from trivium.evaluation.evaluation import Items
from trivium.evaluation.execute import item_lines
from trivium.evaluation.executors import Workers
from trivium.evaluation.progress import Progress

ABOUT = """Generate items, written as JSON Lines. An item depends on its spec, seed and index only.
A file of items holds no prompts: trivium show prints one, trivium export writes them all.
Example: trivium generate nhop_implicit --items 200 --seed 123 --out data/implicit.jsonl"""
# Large enough that handing a chunk to another process costs little beside generating it.
CHUNK = 5000


@dataclass(frozen=True)
class Flags:
    """Which items are generated, and where they go."""

    items: int = 100  # how many
    seed: int = 0  # the seed of all of them
    start: int = 0  # the index of the first
    out: Path | None = None  # the file; '-' is standard output
    workers: Workers = field(default_factory=Workers)


def main(args: Sequence[str]) -> int:
    """Write the file."""
    asked = read_benchmark_flags("generate", Flags, args, ABOUT)
    flags = asked.flags
    asked.refuse_view_flags("generate")
    out = require_out(flags.out)
    chunks = Items(flags.seed, flags.start, flags.items).chunks(CHUNK)
    jobs = ((chunk.count, asked.task, chunk) for chunk in chunks)
    with flags.workers.open() as executor:
        parts = executor.map(item_lines, jobs)
        if str(out) == "-":
            _write(parts, sys.stdout.buffer, flags.items)
            return 0
        with atomic_write(out) as file:
            _write(parts, file, flags.items)
    print(f"{flags.items} items written to {out}")
    print(f"their prompts: trivium export {asked.task.benchmark.name} --in {out} --out FILE")
    return 0


def _write(parts: Iterable[tuple[int, bytes]], file: BinaryIO, total: int) -> None:
    with Progress("generate", total) as progress:
        for count, lines in parts:
            file.write(lines)
            progress.advance(count)
    file.flush()
