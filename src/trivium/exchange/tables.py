"""Rows of the files that people have: JSON Lines, JSON, CSV, Parquet, or a folder of shards."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from trivium.core.errors import UserError, import_extra, require
from trivium.core.files import open_input, read_rows

Row = dict[str, Any]
MAX_CELL = 2**31 - 1  # characters of one cell: a prompt may be longer than csv's own limit
BATCH = 500


def read_table(path: Path) -> Iterator[tuple[str, Row]]:
    """Yields (where it is, row); the kind of file is known by its ending, JSON Lines by default."""
    if path.is_dir():
        shards = sorted(path.rglob("*.parquet"))
        require(bool(shards), f"{path}: no Parquet file in this folder")
        for shard in shards:
            yield from _parquet_rows(shard)
        return
    readers = {".csv": _csv_rows, ".parquet": _parquet_rows, ".json": _json_rows}
    yield from readers.get(path.suffix.lower(), _line_rows)(path)


def _line_rows(path: Path) -> Iterator[tuple[str, Row]]:
    for number, row in read_rows(path):
        yield f"{path} line {number}", row


def _json_rows(path: Path) -> Iterator[tuple[str, Row]]:
    """A list of objects, or one object from ids to replies; else one object a line."""
    with open_input(path) as file:
        try:
            value = orjson.loads(file.read())
        except orjson.JSONDecodeError:
            value = None
    if value is None:
        yield from _line_rows(path)
        return
    if isinstance(value, dict):
        value = [{"id": name, "reply": reply} for name, reply in value.items()]
    require(isinstance(value, list), f"{path}: expected a list of objects")
    for number, row in enumerate(value, start=1):
        require(isinstance(row, dict), f"{path} row {number}: expected an object, got {row!r:.80}")
        yield f"{path} row {number}", row


def _csv_rows(path: Path) -> Iterator[tuple[str, Row]]:
    csv.field_size_limit(MAX_CELL)
    with open_input(path) as file, io.TextIOWrapper(file, "utf-8-sig", newline="") as text:
        try:
            table = csv.DictReader(text)
            for row in table:
                where = f"{path} line {table.line_num}"
                require(None not in row, f"{where}: more cells than the header names")
                yield where, {key: value for key, value in row.items() if value is not None}
        except UnicodeDecodeError:
            raise UserError(f"{path}: not UTF-8 text") from None
        except csv.Error as problem:
            raise UserError(f"{path} line {table.line_num}: not CSV ({problem})") from None


def _parquet_rows(path: Path) -> Iterator[tuple[str, Row]]:
    arrow, parquet = (
        import_extra("pyarrow", "exchange"),
        import_extra("pyarrow.parquet", "exchange"),
    )
    number = 0
    try:
        with open_input(path) as file:
            for batch in parquet.ParquetFile(file).iter_batches(BATCH):
                for row in batch.to_pylist():
                    number += 1
                    yield f"{path} row {number}", row
    except arrow.ArrowException as problem:
        reason = " ".join(str(problem).split())
        raise UserError(f"{path}: not a Parquet file ({reason:.120})") from None
