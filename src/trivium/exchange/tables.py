"""Rows of JSON Lines, JSON, CSV and Parquet files, and of folders of Parquet files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trivium.core.errors import UserError, import_extra, require
from trivium.core.files import load_json, open_input, read_rows
from trivium.core.records import Row

MAX_CELL = 2**31 - 1  # characters; the default of csv is too small for long prompts


def read_table(path: Path) -> Iterator[tuple[str, Row]]:
    """Yields (position, row); the suffix gives the format, JSON Lines by default."""
    if path.is_dir():
        shards = sorted(path.rglob("*.parquet"))
        require(bool(shards), f"{path}: no Parquet file in this folder")
        for shard in shards:
            yield from _parquet_rows(shard)
        return
    readers = {".csv": _csv_rows, ".parquet": _parquet_rows, ".json": _json_rows}
    yield from readers.get(path.suffix.lower(), _line_rows)(path)


def whole_number(value: Any, key: str) -> int:
    """The value as an integer; CSV files hold numbers as text, some tables as floats."""
    try:
        number = int(value)
        exact = isinstance(value, str) or (number == value and not isinstance(value, bool))
    except (TypeError, ValueError, OverflowError):
        number, exact = 0, False
    require(exact, f"{key} must be a whole number, got {value!r:.80}")
    return number


def _line_rows(path: Path) -> Iterator[tuple[str, Row]]:
    for number, row in read_rows(path):
        yield f"{path} line {number}", row


def _json_rows(path: Path) -> Iterator[tuple[str, Row]]:
    """The rows of a list of objects, of one object from ids to replies, or of JSON Lines."""
    with open_input(path) as file:
        try:
            value = load_json(file.read())
        except (ValueError, RecursionError):
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
    arrow = import_extra("pyarrow", "exchange")
    parquet = import_extra("pyarrow.parquet", "exchange")
    try:
        with open_input(path) as file:
            batches = parquet.ParquetFile(file).iter_batches(500)
            rows = (row for batch in batches for row in batch.to_pylist())
            for number, row in enumerate(rows, start=1):
                yield f"{path} row {number}", row
    except arrow.ArrowException as problem:
        reason = " ".join(str(problem).split())
        raise UserError(f"{path}: not a Parquet file ({reason:.120})") from None
