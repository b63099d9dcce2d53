"""trivium generate NAME"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from trivium.benchmarks import get_benchmark
from trivium.commands.flags import read_benchmark_flags, require_out
from trivium.core.files import atomic_write
from trivium.evaluation.executors import Workers
from trivium.evaluation.items import Chunk, made_chunks
from trivium.evaluation.progress import Progress

ABOUT = """Make items, written as JSON Lines. Item I of a seed is the same however it is made.
Example: trivium generate nhop_implicit --items 200 --seed 123 --out data/implicit.jsonl"""
# Large enough that handing a chunk to another process costs little beside making it.
CHUNK = 5000


@dataclass(frozen=True)
class Flags:
    """Which items are made, and where they go."""

    items: int = 100  # how many
    seed: int = 0  # the seed of all of them
    start: int = 0  # the index of the first
    out: Path | None = None  # the file; '-' is standard output
    workers: Workers = field(default_factory=Workers)


def main(args: Sequence[str]) -> int:
    """Write the file."""
    asked = read_benchmark_flags("generate", Flags, args, ABOUT)
    flags = asked.flags
    asked.require_nothing_told("generate")
    out = require_out(flags.out)
    chunks = made_chunks(
        asked.benchmark, asked.spec, flags.seed, flags.start, flags.items, size=CHUNK
    )
    with flags.workers.open() as executor:
        made = executor.map(make_chunk, chunks)
        if str(out) == "-":
            _write(made, sys.stdout.buffer, flags.items)
            return 0
        with atomic_write(out) as file:
            _write(made, file, flags.items)
    print(f"{flags.items} items written to {out}")
    return 0


def make_chunk(chunk: Chunk) -> tuple[int, bytes]:
    """How many items, and their lines."""
    benchmark = get_benchmark(chunk.benchmark)
    lines = benchmark.generate_lines(chunk.spec, chunk.seed, chunk.start, chunk.count)
    return chunk.count, b"".join(lines)


def _write(made: Iterable[tuple[int, bytes]], file: BinaryIO, total: int) -> None:
    with Progress("generate", total) as progress:
        for count, text in made:
            file.write(text)
            progress.advance(count)
    file.flush()
