"""Export of items for other tools: prompts with gold answers, floors and their origin."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from itertools import islice
from typing import Any, BinaryIO, Literal, get_args

from trivium.core.errors import import_extra, require
from trivium.core.files import dump_line
from trivium.core.records import Row
from trivium.core.spec import spec_to_dict
from trivium.core.task import PresentedItem
from trivium.core.text import csv_text
from trivium.evaluation.executors import ProgressBar
from trivium.models.bodies import request_fields
from trivium.models.providers import Model

Format = Literal["jsonl", "csv", "parquet", "huggingface", "inspect", "openai-batch"]
FORMATS: tuple[str, ...] = get_args(Format)
TEXT_FORMATS = ("jsonl", "csv", "inspect", "openai-batch")  # can be written to standard output
BATCH = 500  # rows in memory at once
MAX_REQUESTS = 50_000  # OpenAI's limit for a batch file
# Columns with their type in Parquet and a description; nested values are JSON.
COLUMNS = {
    "id": ("string", "names the prompt in any mixture of exported files"),
    "prompt": ("string", "what a solver sees first"),
    "gold": ("string", "a reply that scores perfectly"),
    "floor": ("float64", "what the best strategy that does not read the item scores"),
    "groups": ("json", "what results are grouped by"),
    "benchmark": ("string", "the name of the benchmark"),
    "spec": ("json", "what the item was generated from, with seed and index"),
    "view": ("json", "how it is presented"),
    "seed": ("int64", "the seed of the item"),
    "index": ("int64", "the item's number among those of its seed"),
    "trial": ("int64", "which order of presentation; 0 is the item itself"),
    "item": ("string", "the item's name in records"),
    "source": ("json", "the whole item, where it came from a file without spec, seed and index"),
    "version": ("string", "the version of the benchmark's items"),
    "digest": ("string", "a hash of the item, as in records"),
    "canary": ("string", "a constant by which the data can be found in a training corpus"),
}
CANARY = "trivium-canary-136adcf2-5ece-4af7-907c-9a61abb3e4e0"  # finds the data in a corpus
CANARY_LINE = f"Benchmark data should never be in training corpora: {CANARY}"
NESTED = tuple(name for name, (kind, _) in COLUMNS.items() if kind == "json")


def export_row(item: PresentedItem) -> Row:
    """A prompt with everything that is needed to score a reply."""
    task, origin = item.task, item.original.origin
    return {
        "id": export_id(item),
        "prompt": item.prompt,
        "gold": item.gold,
        "floor": item.floor,
        "groups": item.groups,
        "benchmark": task.benchmark.name,
        "spec": None if origin is None else origin.spec,
        "view": spec_to_dict(task.view),
        "seed": None if origin is None else origin.seed,
        "index": None if origin is None else origin.index,
        "trial": item.trial,
        "item": item.id,
        "source": task.benchmark.to_row(item.original) if origin is None else None,
        "version": task.benchmark.version,
        "digest": item.digest,
        "canary": CANARY,
    }


def export_id(item: PresentedItem) -> str:
    """An id that is unique among all items, specs, views, seeds and trials."""
    task, origin = item.task, item.original.origin
    content = task.benchmark.to_row(item.original) if origin is None else origin.spec
    identity = dump_line([task.benchmark.name, content, spec_to_dict(task.view)])
    parts = [re.sub(r"[^A-Za-z0-9_-]+", "-", item.id)[:24]]
    parts += [] if origin is None else [f"s{origin.seed}"]
    parts += [hashlib.sha256(identity).hexdigest()[:8]]
    return "-".join([*parts, *([f"t{item.trial}"] if item.trial else [])])


def write_items(
    items: Iterable[PresentedItem],
    file: BinaryIO,
    form: str,
    total: int,
    model: Model | None = None,
) -> None:
    """Write items to an open file in batches."""
    rows = map(export_row, items)
    with ProgressBar("export", total) as progress, _writer(form, file, model) as add:
        while batch := list(islice(rows, BATCH)):
            add(batch)
            progress.advance(len(batch))


Add = Callable[[list[Row]], Any]


def _writer(form: str, file: BinaryIO, model: Model | None) -> AbstractContextManager[Add]:
    """Enters with a function that writes rows in a format."""
    require(form in FORMATS, f"format must be one of {', '.join(FORMATS)}, got {form!r}")
    if form == "parquet":
        return _parquet_writer(file)
    if form == "csv":
        file.write(csv_text([list(COLUMNS)]))
        return nullcontext(lambda rows: file.write(csv_text(_flat(row).values() for row in rows)))
    change: Callable[[Row], Row] = _inspect_sample if form == "inspect" else dict
    if form == "openai-batch":
        assert model is not None
        change = partial(_openai_line, model)
    return nullcontext(lambda rows: file.writelines(dump_line(change(row)) for row in rows))


@contextmanager
def _parquet_writer(file: BinaryIO) -> Iterator[Add]:
    """Yields a function that appends rows to a Parquet file as a row group."""
    arrow = import_extra("pyarrow", "exchange")
    parquet = import_extra("pyarrow.parquet", "exchange")
    types = {name: "string" if kind == "json" else kind for name, (kind, _) in COLUMNS.items()}
    schema = arrow.schema([(name, getattr(arrow, kind)()) for name, kind in types.items()])
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        yield lambda rows: writer.write_table(
            arrow.Table.from_pylist([_flat(row) for row in rows], schema)
        )


def _flat(row: Row) -> Row:
    """The row with nested values as JSON, for tables."""
    present = [name for name in NESTED if row[name] is not None]
    return row | {name: dump_line(row[name]).decode().rstrip() for name in present}


def _inspect_sample(row: Row) -> Row:
    """The row as a sample for Inspect's json_dataset."""
    rest = {name: value for name, value in row.items() if name not in ("id", "prompt", "gold")}
    return {"id": row["id"], "input": row["prompt"], "target": row["gold"], "metadata": rest}


def _openai_line(model: Model, row: Row) -> Row:
    """The row as a line of an OpenAI batch file."""
    body = request_fields("chat", model, [{"role": "user", "content": row["prompt"]}])
    # Of a request's fields only `user` may be any text; metadata need stored completions.
    body["user"] = CANARY
    return {"custom_id": row["id"], "method": "POST", "url": "/v1/chat/completions", "body": body}
