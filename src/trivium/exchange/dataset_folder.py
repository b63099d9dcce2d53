"""Folders for Hugging Face's `load_dataset`: Parquet shards, a card and Croissant metadata."""

from __future__ import annotations

import dataclasses
import hashlib
import shlex
import shutil
import sys
import time
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from trivium import __version__
from trivium.auditing.engine import audit
from trivium.auditing.results import Audit
from trivium.core.dialogue import solve
from trivium.core.errors import require
from trivium.core.files import open_output, write_json
from trivium.core.results import summarise
from trivium.core.spec import read_mapping
from trivium.evaluation.command_line import changed_flags, task_flags
from trivium.evaluation.evaluation import Evaluation
from trivium.exchange.export import CANARY_LINE, COLUMNS, write_items

SHARD = 50_000  # rows of one Parquet file
SAMPLE = 200  # items on which the ceilings in the card are measured
HERE = Path(__file__).parent
TEMPLATES = Environment(
    loader=FileSystemLoader(HERE),
    undefined=StrictUndefined,
    trim_blocks=True,
    keep_trailing_newline=True,
)
SIZES = ((1000, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"))
# The types of columns in Croissant.
TYPES = {"string": "sc:Text", "json": "sc:Text", "int64": "cr:Int64", "float64": "cr:Float64"}


def write_dataset_folder(evaluation: Evaluation, out: Path, *, with_audit: bool) -> None:
    """Write the folder under a temporary name, and rename it when it is complete."""
    taken = out.exists() and (not out.is_dir() or any(out.iterdir()))
    require(not taken, f"{out} exists already; choose another folder with --out")
    task, result = evaluation.task, None
    if with_audit and not evaluation.items.files:
        print("auditing for the card; --no_audit skips that", file=sys.stderr, flush=True)
        result = audit(task.benchmark, task.spec, 0, view=task.view)
    partial = out.with_name(out.name + ".part")
    if partial.is_dir():
        shutil.rmtree(partial)  # left by an export that was killed
    try:
        shards = _write_shards(evaluation, partial)
        metadata = croissant(task.benchmark.name, _about(evaluation), shards)
        write_json(partial / "croissant.json", metadata)
        (partial / "README.md").write_bytes(card(evaluation, out.name, result).encode())
        if out.exists():
            out.rmdir()
        partial.rename(out)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def _write_shards(evaluation: Evaluation, folder: Path) -> dict[str, str]:
    """Write the shards, and return the SHA-256 of each by its path in the folder."""
    items, total = evaluation.presented(), evaluation.attempts
    count = -(-total // SHARD)
    shards = {}
    for number in range(count):
        path = f"data/test-{number:05d}-of-{count:05d}.parquet"
        rows = min(SHARD, total - number * SHARD)
        with open_output(folder / path) as file:
            write_items(islice(items, rows), file, "parquet", rows)
        with open(folder / path, "rb") as written:
            shards[path] = hashlib.file_digest(written, "sha256").hexdigest()
    return shards


def card(evaluation: Evaluation, folder: str, audit: Audit | None) -> str:
    """The dataset card: contents, commands, floor, ceilings, audit and columns."""
    task, benchmark = evaluation.task, evaluation.task.benchmark
    sample = list(islice(evaluation.presented(), SAMPLE))
    ceilings = {}
    for solver in benchmark.solvers.values():
        if solver.role == "ceiling":
            rows = (dataclasses.asdict(solve(item, solver)) for item in sample)
            headline, *_ = summarise(rows, benchmark.metrics).metrics.values()
            ceilings[solver.name] = headline
    export = ["export", benchmark.name, *export_flags(evaluation), "--out", folder]
    return TEMPLATES.get_template("card.md.j2").render(
        benchmark=benchmark,
        headline=benchmark.metrics[0],
        size=next((name for limit, name in SIZES if evaluation.attempts < limit), "n>1M"),
        about=_about(evaluation),
        folder=folder,
        export_command=shlex.join(["trivium", *export]),
        score_command=shlex.join(["trivium", "score", benchmark.name, "--in", folder]),
        audit_command=shlex.join(["trivium", "audit", benchmark.name, *task_flags(task)]),
        floors=[task.item_floor(item.original) for item in sample],
        ceilings=ceilings,
        audit=audit,
        columns=COLUMNS,
        canary=CANARY_LINE,
    )


def _about(evaluation: Evaluation) -> str:
    items, trials = evaluation.items, evaluation.trials
    where = (
        f"from {', '.join(items.files)}"
        if items.files
        else f"{items.start} to {items.start + items.count - 1} of seed {items.seed}"
    )
    name, version = evaluation.task.benchmark.name, evaluation.task.benchmark.version
    orders = f", each in {trials} orders" if trials > 1 else ""
    return (
        f"{items.count} items ({where}){orders}, generated by Trivium {__version__} "
        f"({name} {version}). Every answer "
        "is exact, and every item is a function of its spec, seed and index, so fresh ones can be "
        "made at will."
    )


def export_flags(evaluation: Evaluation) -> list[str]:
    """The flags of an export that writes the same folder without a config file."""
    items, task = evaluation.items, evaluation.task
    words = ["--in", *items.files] if items.files else task_flags(task)
    words += changed_flags(task.view, task.benchmark.view_type())
    if not items.files:
        words += ["--items", str(items.count), "--seed", str(items.seed)]
        words += ["--start", str(items.start)] if items.start else []
    words += ["--order_trials", str(evaluation.trials)] if evaluation.trials > 1 else []
    return [*words, "--format", "huggingface"]


def croissant(name: str, about: str, shards: Mapping[str, str]) -> dict[str, Any]:
    """The metadata of a dataset; `shards` are the SHA-256 of its Parquet files, by path."""
    metadata = read_mapping(HERE / "croissant.json")
    metadata |= {
        "name": name,
        "description": about,
        "version": ".".join(__version__.split(".")[:3]),
        "datePublished": time.strftime("%Y-%m-%d"),
        "citeAs": f"Trivium {__version__}, {name}",
    }
    metadata["distribution"][:0] = [
        {
            "@type": "cr:FileObject",
            "@id": path.rpartition("/")[2],
            "name": path.rpartition("/")[2],
            "contentUrl": path,
            "encodingFormat": "application/x-parquet",
            "sha256": digest,
        }
        for path, digest in shards.items()
    ]
    metadata["recordSet"][0]["field"] = [
        {
            "@type": "cr:Field",
            "@id": f"items/{column}",
            "name": column,
            "description": f"{about} (JSON)" if kind == "json" else about,
            "dataType": TYPES[kind],
            "source": {"fileSet": {"@id": "shards"}, "extract": {"column": column}},
        }
        for column, (kind, about) in COLUMNS.items()
    ]
    return metadata
