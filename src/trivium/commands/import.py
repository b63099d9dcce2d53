"""trivium import LOGS..."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from trivium.benchmarks import declared, get_benchmark
from trivium.commands.flags import read_flags
from trivium.commands.parser import REQUIRED, argument
from trivium.core.errors import import_extra, require
from trivium.core.files import Appender, atomic_write, dump_line
from trivium.core.records import RECORDS, Attempt, recorded
from trivium.core.text import file_name
from trivium.evaluation.execute import write_summary
from trivium.report.tables import metric_table, terminal

ABOUT = """Import Inspect logs, or folders of them, as records in
OUT/BENCHMARK/SOLVER/TASK/records.jsonl with a summary each. Replies are parsed and scored again;
recorded attempts are kept.
Tests and answers of people, collected elsewhere, are read from CSV or JSON Lines:
trivium import trajectories children.csv --out runs/children (docs/people.md has the columns).
Example: trivium import logs/ --out runs/imported"""


@dataclass(frozen=True)
class Flags:
    """What is imported."""

    files: tuple[Path, ...] = argument("FILE")  # Inspect logs, folders of them, or tables
    out: Path = REQUIRED  # the folder of the records


def main(args: Sequence[str]) -> int:
    """Import, and print the summaries."""
    if args and args[0] in (formats := declared("IMPORTS")):
        named = read_flags(f"import {args[0]}", Flags(), args[1:], ABOUT)
        return _import_tables(named, pkgutil.resolve_name(formats[args[0]]))
    flags = read_flags("import", Flags(), args, ABOUT)
    import_extra("inspect_ai", "models")
    from trivium.models.inspect.logs import log_files, read_attempts, read_header  # noqa: PLC0415

    folders: dict[Path, str] = {}
    for path in (file for named in flags.files for file in log_files(named)):
        header = read_header(path)
        name = header.eval.task.rpartition("/")[2]
        get_benchmark(name)  # refuses a log of something else
        # Retries of one task share its id, and so end in one folder.
        folder = flags.out / name / file_name(header.eval.model) / header.eval.task_id
        folders[folder] = name
        done = recorded(folder / RECORDS)
        with Appender(folder / RECORDS) as records:
            for attempt in read_attempts(path):
                if attempt.key not in done:
                    records.add([attempt])
    for folder, name in folders.items():
        _print_summary(folder, name)
    return 0


def _import_tables(flags: Flags, read: Callable[[Path], Iterable[Attempt]]) -> int:
    """Import tables in a format that a benchmark declares."""
    attempts = [attempt for table in flags.files for attempt in read(table)]
    require(bool(attempts), f"{', '.join(map(str, flags.files))}: there are no rows")
    with atomic_write(flags.out / RECORDS) as file:
        file.writelines(map(dump_line, attempts))
    _print_summary(flags.out, attempts[0].benchmark)
    return 0


def _print_summary(folder: Path, benchmark: str) -> None:
    metric_table(write_summary(get_benchmark(benchmark), folder)).show(terminal())
    print(f"records in {folder / RECORDS}")
