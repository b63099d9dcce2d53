"""A run's folder, its summary.csv and its row in index.csv."""

from __future__ import annotations

import csv
import io
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from trivium import __version__
from trivium.benchmarks import ALIASES
from trivium.core.errors import UserError, require
from trivium.core.files import open_input, open_output, write_file
from trivium.core.records import MANIFEST
from trivium.core.results import Summary
from trivium.core.spec import read_mapping
from trivium.core.text import csv_cell, csv_table, csv_text
from trivium.evaluation.evaluation import Run, is_function
from trivium.evaluation.execute import COSMETIC, first_difference

SUMMARY_TABLE = "summary.csv"
REPORT = "report.html"
INDEX = "index.csv"
COLUMNS = ("run", "kind", "benchmark", "label", "cells", "items", "seeds", "version")


def newest_folder(run: Run, root: Path) -> Path | None:
    """The newest folder of the same run, finished or not."""
    for folder in sorted(_parent(run, root).glob(f"{run.kind}_*"), reverse=True):
        users = [one for one in run.evaluations if one.is_model or is_function(one.solver)]
        manifests = [(folder / one.folder / MANIFEST, one.manifest()) for one in users]
        if _same(folder / MANIFEST, run.manifest()) and all(
            _same(path, manifest) for path, manifest in manifests if path.exists()
        ):
            return folder
    return None


def _same(path: Path, manifest: Mapping[str, Any]) -> bool:
    try:
        return first_difference(read_mapping(path), manifest, COSMETIC - {"plan"}) is None
    except UserError:  # no run.json, or half of one
        return False


def new_folder(run: Run, root: Path) -> Path:
    """A new folder for the run, named by the time."""
    parent = _parent(run, root)
    stamp = time.strftime(f"{run.kind}_%Y%m%d_%H%M%S")
    for number in range(1, 1000):
        folder = parent / (stamp if number == 1 else f"{stamp}_{number}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as problem:
            raise UserError(f"{folder}: cannot be created ({problem.strerror})") from None
        return folder
    raise UserError(f"{parent}: too many runs began in this second")


def _parent(run: Run, root: Path) -> Path:
    """The folder of all runs of a benchmark, named by its short name; the root for several."""
    if len(run.benchmarks) > 1 or run.kind == "run":
        return root
    aliases = {full: short for short, full in ALIASES.items()}
    return root / aliases.get(run.benchmarks[0], run.benchmarks[0])


def write_table(run: Run, summaries: Sequence[Summary], out: Path) -> None:
    """Write summary.csv: a row per evaluation, reproducible to the byte."""
    rows = []
    for one, summary in zip(run.evaluations, summaries, strict=True):
        solver = one.task.benchmark.solvers.get(one.solver)
        row = {"setting": one.setting, **one.fields, "seed": one.items.seed, "solver": one.solver}
        row["role"] = "model" if solver is None else solver.role
        for name in ("items", "answered", "no_answers", "failed"):
            row[name] = getattr(summary, name)
        for name in ("floor", "ceiling", "prompt_lines", "prompt_chars"):
            row[name] = _figure(getattr(summary, name))
        for name, estimate in summary.metrics.items():
            ends = {"": estimate.value, "_low": estimate.low, "_high": estimate.high}
            row |= {f"{name}{end}": _figure(value) for end, value in ends.items()}
            row[f"{name}_n"] = estimate.n
        rows.append(row)
    write_file(out / SUMMARY_TABLE, csv_table(rows))


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.6f}"


def add_to_index(run: Run, folder: Path) -> None:
    """Add the run, once, to index.csv of the folder `runs` that contains it, if there is one."""
    root = next((parent for parent in folder.absolute().parents if parent.name == "runs"), None)
    if root is None:
        return
    path = root / INDEX
    name = csv_cell(folder.absolute().relative_to(root).as_posix())
    with suppress(FileExistsError):
        path.touch(exist_ok=False)
        _append(path, COLUMNS)  # the first run writes the header
    with open_input(path) as held, io.TextIOWrapper(held, encoding="utf-8", newline="") as text:
        rows = list(csv.reader(text))
    require(rows[:1] == [list(COLUMNS)], f"{path}: not an index of runs")
    if any(row[:1] == [name] for row in rows):
        return
    counts = {one.items.count for one in run.evaluations}
    items = counts.pop() if len(counts) == 1 else ""
    seeds = " ".join(map(str, sorted({one.items.seed or 0 for one in run.evaluations})))
    benchmarks, label = " ".join(run.benchmarks), run.label or ""
    evaluations = len(run.evaluations)
    _append(path, (name, run.kind, benchmarks, label, evaluations, items, seeds, __version__))


def _append(path: Path, values: Sequence[object]) -> None:
    """Append a complete row, or nothing."""
    size = path.stat().st_size
    try:
        # A single write, so that concurrent runs cannot mix their rows.
        with open_output(path, "ab") as file:
            file.write(csv_text([values]))
    except UserError:
        os.truncate(path, size)
        if not size:
            path.unlink()  # an index needs its header
        raise
