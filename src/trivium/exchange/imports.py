"""Import of attempts that were recorded elsewhere: Inspect logs, and tables of benchmarks."""

from __future__ import annotations

import pkgutil
from collections.abc import Sequence
from pathlib import Path

from trivium.benchmarks import declared, get_benchmark
from trivium.core.errors import import_extra, require, require_known
from trivium.core.files import Appender, atomic_write, dump_line
from trivium.core.records import RECORDS, recorded
from trivium.core.results import Summary
from trivium.core.text import file_name
from trivium.evaluation.execute import write_summary


def import_files(files: Sequence[Path], out: Path, form: str) -> dict[Path, Summary]:
    """The folders of records that were written, with their summaries."""
    require(bool(files), "name at least one file to import")
    formats = declared("imports")
    require_known(form, ["inspect", *formats], f"format {form!r}")
    if form == "inspect":
        folders = _import_logs(files, out)
    else:
        read = pkgutil.resolve_name(formats[form])
        attempts = [attempt for table in files for attempt in read(table)]
        require(bool(attempts), f"{', '.join(map(str, files))}: there are no rows")
        with atomic_write(out / RECORDS) as file:
            file.writelines(map(dump_line, attempts))
        folders = {out: attempts[0].benchmark}
    return {folder: write_summary(get_benchmark(name), folder) for folder, name in folders.items()}


def _import_logs(files: Sequence[Path], out: Path) -> dict[Path, str]:
    """The folders of the records of Inspect logs, each with its benchmark."""
    import_extra("inspect_ai", "models")
    from trivium.models.inspect.samples import log_files, read_attempts, read_header  # noqa: PLC0415 - it needs an extra

    folders: dict[Path, str] = {}
    for path in (file for named in files for file in log_files(named)):
        header = read_header(path)
        name = header.eval.task.rpartition("/")[2]
        get_benchmark(name)  # refuses a log of something else
        # Retries of one task share its id, and so end in one folder.
        folder = out / name / file_name(header.eval.model) / header.eval.task_id
        folders[folder] = name
        done = recorded(folder / RECORDS)
        with Appender(folder / RECORDS) as records:
            for attempt in read_attempts(path):
                if attempt.key not in done:
                    records.add([attempt])
    return folders
