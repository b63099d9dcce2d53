"""Import Inspect logs, or folders of them, as records in
OUT/BENCHMARK/SOLVER/TASK/records.jsonl with a summary each. Replies are parsed and scored again;
recorded attempts are kept.
Tests and answers of people, collected elsewhere, are read from CSV or JSON Lines:
trivium import trajectories children.csv --out runs/children (docs/people.md has the columns).
Example: trivium import logs/ --out runs/imported
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trivium.benchmarks import declared
from trivium.commands.flags import REQUIRED, argument, read_flags
from trivium.core.records import RECORDS
from trivium.exchange.imports import import_files
from trivium.report.tables import metric_table, terminal


@dataclass(frozen=True)
class Flags:
    """What is imported."""

    files: tuple[Path, ...] = argument("FILE")  # Inspect logs, folders of them, or tables
    out: Path = REQUIRED  # the folder of the records


def main(args: Sequence[str]) -> int:
    """Import, and print the summaries."""
    count = 1 if args and args[0] in declared("imports") else 0
    command = " ".join(["trivium", "import", *args[:count]])
    flags = read_flags(command, Flags(), args[count:], __doc__).flags
    form = args[0] if count else "inspect"
    for folder, summary in import_files(flags.files, flags.out, form).items():
        metric_table(summary).show(terminal())
        print(f"records in {folder / RECORDS}")
    return 0
