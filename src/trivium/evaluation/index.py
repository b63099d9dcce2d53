"""What a run leaves besides records: its folder, summary.csv, and a row in the list of runs."""

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
from trivium.core.errors import UserError, require
from trivium.core.files import atomic_write, open_input, open_output
from trivium.core.records import MANIFEST
from trivium.core.results import Summary
from trivium.core.spec import read_mapping
from trivium.core.statistics import Estimate
from trivium.evaluation.evaluation import Run
from trivium.evaluation.execute import COSMETIC, first_difference

SUMMARY_TABLE = "summary.csv"
REPORT = "report.html"
INDEX = "index.csv"
COLUMNS = ("run", "kind", "benchmark", "label", "cells", "items", "seeds", "version")


def newest_folder(run: Run, root: Path) -> Path | None:
    """The newest folder of the same run, finished or not."""
    folders = sorted(_parent(run, root).glob(f"{run.kind}_*"), reverse=True)
    return next((folder for folder in folders if _holds(folder, run)), None)


def _holds(folder: Path, run: Run) -> bool:
    """Whether a folder is of the same run, its models asked in the same way."""
    if not _same(folder / MANIFEST, run.manifest()):
        return False
    manifests = ((folder / one.folder / MANIFEST, one.manifest()) for one in run.models)
    return all(_same(path, manifest) for path, manifest in manifests if path.exists())


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
    benchmark = run.evaluations[0].task.benchmark
    return root / (benchmark.aliases[0] if benchmark.aliases else benchmark.name)


def write_table(run: Run, summaries: Sequence[Summary], out: Path) -> None:
    """summary.csv: a row per evaluation, with nothing in it that depends on when it was made."""
    metrics = list(dict.fromkeys(name for summary in summaries for name in summary.metrics))
    fields = list(dict.fromkeys(key for one in run.evaluations for key in one.fields))
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(
        ["setting", *fields, "seed", "solver", "role", "items", "answered", "no_answers"]
        + ["failed", "chance", "prompt_lines", "prompt_chars"]
        + [f"{name}{end}" for name in metrics for end in ("", "_low", "_high", "_n")]
    )
    for one, summary in zip(run.evaluations, summaries, strict=True):
        solver = one.task.benchmark.solvers.get(one.solver)
        table.writerow(
            [one.setting, *(one.fields.get(key, "") for key in fields), one.items.seed, one.solver]
            + ["model" if solver is None else solver.role]
            + [summary.items, summary.answered, summary.no_answers, summary.failed]
            + [_figure(value) for value in (summary.floor, *_lengths(summary))]
            + [part for name in metrics for part in _figures(summary.metrics.get(name))]
        )
    with atomic_write(out / SUMMARY_TABLE) as file:
        file.write(text.getvalue().encode())


def _lengths(summary: Summary) -> tuple[float, float]:
    return summary.prompt_lines, summary.prompt_chars


def _figures(estimate: Estimate | None) -> list[int | str]:
    if estimate is None:
        return ["", "", "", ""]
    return [*map(_figure, (estimate.value, estimate.low, estimate.high)), estimate.n]


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.6f}"


def index_path(folder: Path) -> Path | None:
    """Where a run is listed: index.csv of the folder `runs` above it; None elsewhere."""
    roots = (parent for parent in folder.absolute().parents if parent.name == "runs")
    return next((root / INDEX for root in roots), None)


def add_to_index(run: Run, folder: Path) -> None:
    """List the run, once."""
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
    counts = {one.items.count for one in run.evaluations}
    items = counts.pop() if len(counts) == 1 else ""
    seeds = " ".join(map(str, sorted({one.items.seed or 0 for one in run.evaluations})))
    benchmarks, label = " ".join(run.benchmarks), run.label or ""
    evaluations = len(run.evaluations)
    _append(path, (name, run.kind, benchmarks, label, evaluations, items, seeds, __version__))


def _append(path: Path, values: Sequence[object]) -> None:
    """Append a row, whole or not at all."""
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
