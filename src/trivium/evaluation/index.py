"""Folders of runs: new ones, unfinished ones, and the list of all of them."""

from __future__ import annotations

import csv
import io
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from trivium import __version__
from trivium.core.errors import UserError, require
from trivium.core.records import open_input, open_output
from trivium.core.spec import read_mapping
from trivium.evaluation.execute import MANIFEST, same_run
from trivium.evaluation.plan import Plan

REPORT = "report.html"  # written last: a run that has it is finished
INDEX = "index.csv"
COLUMNS = ("run", "kind", "benchmark", "label", "cells", "items", "seeds", "version")


def unfinished(plan: Plan, root: Path) -> Path | None:
    """The newest folder of the same plan, where it was left unfinished."""
    for folder in sorted((root / plan.approach).glob(f"{plan.kind}_*"), reverse=True):
        manifest = folder / MANIFEST
        if manifest.exists() and same_run(read_mapping(manifest), plan.manifest()) is None:
            return None if (folder / REPORT).exists() else folder
    return None


def new_folder(plan: Plan, root: Path) -> Path:
    """A folder for the plan, made now."""
    parent = root / plan.approach
    stamp = time.strftime(f"{plan.kind}_%Y%m%d_%H%M%S")
    for number in range(1, 1000):
        folder = parent / (stamp if number == 1 else f"{stamp}_{number}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as problem:
            raise UserError(f"{folder}: cannot be made ({problem.strerror})") from None
        return folder
    raise UserError(f"{parent}: too many runs began in this second")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keeps a second process out of the folder; the lock ends with the process, however it ends."""
    try:
        import fcntl  # noqa: PLC0415 - not on every system, and nothing else needs it
    except ImportError:
        yield
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = open(folder / ".lock", "wb")  # noqa: SIM115 - closed below, whatever happens
    except OSError as problem:
        raise UserError(f"{folder}: cannot be written ({problem.strerror})") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UserError(
                f"{folder}: another process is at work there; --fresh begins another run"
            ) from None
        yield


def index_path(folder: Path) -> Path | None:
    """Where a run is listed: in the folder `runs` above it; elsewhere nothing is left behind."""
    roots = (parent for parent in folder.absolute().parents if parent.name == "runs")
    return next((root / INDEX for root in roots), None)


def add_to_index(
    folder: Path,
    *,
    kind: str,
    benchmark: str,
    label: str | None = None,
    cells: int,
    items: int | None,
    seeds: Iterable[int],
) -> None:
    """One row for the run, once."""
    path = index_path(folder)
    if path is None:
        return
    name = folder.absolute().relative_to(path.parent).as_posix()
    with suppress(FileExistsError):
        path.touch(exist_ok=False)
        _append(path, COLUMNS)  # whoever comes first writes the header
    with open_input(path) as held, io.TextIOWrapper(held, encoding="utf-8", newline="") as text:
        rows = list(csv.reader(text))
    require(rows[:1] == [list(COLUMNS)], f"{path}: not an index of runs")
    if any(row[:1] == [name] for row in rows):
        return
    told = " ".join(map(str, sorted(set(seeds))))
    row = (name, kind, benchmark, label or "", cells, items or "", told, __version__)
    _append(path, row)


def _append(path: Path, values: Sequence[object]) -> None:
    """One row more, whole or not at all."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(values)
    size = path.stat().st_size
    try:
        # A single append, so that runs that end at the same moment cannot mix their rows.
        with open_output(path, "ab") as file:
            file.write(text.getvalue().encode())
    except UserError:
        os.truncate(path, size)
        if not size:
            path.unlink()  # without its header it would be no index
        raise
