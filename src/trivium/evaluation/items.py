"""Where items come from: made on demand, or read from files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trivium.benchmarks import get_benchmark
from trivium.core.benchmark import AnyBenchmark
from trivium.core.errors import UserError, require
from trivium.core.records import dump_line, read_rows

CHUNK = 250


@dataclass(frozen=True)
class Chunk:
    """Some items of one benchmark, cheap to send to another process."""

    benchmark: str
    spec: Any = None
    seed: int = 0
    start: int = 0
    count: int = 0
    items: tuple[Any, ...] | None = None  # read from a file; None for those made on demand

    def load(self) -> Iterator[Any]:
        """The items themselves."""
        if self.items is not None:
            return iter(self.items)
        return get_benchmark(self.benchmark).generate(self.spec, self.seed, self.start, self.count)


def made_chunks(
    benchmark: AnyBenchmark, spec: Any, seed: int, start: int, count: int, *, size: int = CHUNK
) -> Iterator[Chunk]:
    """Items made on demand, in chunks."""
    require(count >= 1, f"items must be at least 1, got {count}")
    require(start >= 0, f"start must be at least 0, got {start}")
    require(start + count < 2**63, f"start must fit into 64 bits with the items, got {start}")
    for first in range(start, start + count, size):
        yield Chunk(benchmark.name, spec, seed, first, min(size, start + count - first))


def read_items(benchmark: AnyBenchmark, paths: Sequence[Path]) -> list[Any]:
    """The items of some files; a broken or repeated one is named by file and line."""
    items = []
    seen: dict[str, str] = {}
    for path in paths:
        for count, (number, row) in enumerate(read_rows(path)):
            where = f"{path} line {number}"
            try:
                item = benchmark.from_row(row, count)
            except UserError as problem:
                raise UserError(f"{where}: {problem}") from None
            require(
                item.id not in seen, f"{where}: id {item.id} stands in {seen.get(item.id)} already"
            )
            seen[item.id] = where
            items.append(item)
    require(bool(items), f"{', '.join(map(str, paths))}: there are no items")
    return items


def contents_of(benchmark: AnyBenchmark, chunks: Sequence[Chunk]) -> str:
    """A hash of items that were read from files: the names of files say little about them."""
    contents = hashlib.sha256()
    for chunk in chunks:
        for item in chunk.load():
            contents.update(dump_line(benchmark.to_row(item)))
    return contents.hexdigest()


def file_chunks(benchmark: AnyBenchmark, items: Sequence[Any]) -> Iterator[Chunk]:
    """Items that were read from files, in chunks."""
    for first in range(0, len(items), CHUNK):
        yield Chunk(benchmark.name, items=tuple(items[first : first + CHUNK]))
