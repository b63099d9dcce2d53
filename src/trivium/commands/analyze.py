"""trivium analyze RESULTS..."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from trivium.commands.flags import read_flags
from trivium.core.errors import require
from trivium.core.jsonl import read_rows
from trivium.registry import get_benchmark
from trivium.report.tables import analysis_tables, terminal
from trivium.runs.evaluate import RECORDS

ABOUT = """Tables and kinds of error from records or scored results: files, or folders that hold
records. Nothing is asked of a model again.
Example: trivium analyze runs/oracle --examples 2"""


@dataclass(frozen=True)
class Flags:
    """What is analysed."""

    results: tyro.conf.Positional[tuple[Path, ...]]  # files of records, or folders of them
    examples: int = 0  # how many examples of each kind of error are printed


def main(args: Sequence[str]) -> int:
    """Print the tables."""
    flags = read_flags("analyze", Flags, args, ABOUT)
    require(bool(flags.results), "no results named: give files of records or folders of them")
    console = terminal()
    for name, rows in rows_by_benchmark(flags.results).items():
        for table in analysis_tables(get_benchmark(name), rows):
            table.show(console)
        if flags.examples > 0:
            _print_examples(rows, flags.examples)
    return 0


def rows_by_benchmark(paths: Sequence[Path]) -> dict[str, list[dict[str, Any]]]:
    """All records of these files and folders, kept apart by benchmark."""
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for path in record_files(paths):
        for number, row in read_rows(path):
            missing = {"benchmark", "id", "solver", "scores", "kind", "groups"} - set(row)
            where = f"{path} line {number}"
            require(not missing, f"{where}: not a record ({', '.join(sorted(missing))} missing)")
            rows[row["benchmark"]].append(row)
    require(bool(rows), f"{', '.join(map(str, paths))}: there are no records")
    return rows


def record_files(paths: Sequence[Path]) -> list[Path]:
    """The files named, and every records.jsonl under the folders named."""
    files: list[Path] = []
    for path in paths:
        found = sorted(path.rglob(RECORDS)) if path.is_dir() else [path]
        require(bool(found), f"{path}: no {RECORDS} in this folder")
        files += found
    return files


def _print_examples(rows: Sequence[dict[str, Any]], count: int) -> None:
    """A few attempts of each kind of error, replies as plain text on one line."""
    shown: dict[str, int] = defaultdict(int)
    for row in rows:
        kind = row["kind"].partition(":")[0]
        if kind != "right" and shown[kind] < count:
            shown[kind] += 1
            print(f"{row['kind']}  {row['id']}  {row['solver']}  {ascii(row['reply'])[:200]}")
