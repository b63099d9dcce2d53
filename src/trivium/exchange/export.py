"""Items as files for other tools: prompts with gold answers, floors, and how to regenerate them."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any, BinaryIO, Literal, get_args

import orjson

from trivium.core.errors import import_extra, require
from trivium.core.files import dump_line
from trivium.core.records import Row
from trivium.core.spec import spec_to_dict
from trivium.core.task import PresentedItem
from trivium.evaluation.progress import Progress

Format = Literal["jsonl", "csv", "parquet", "huggingface", "inspect", "openai-batch"]
FORMATS: tuple[str, ...] = get_args(Format)
TEXT_FORMATS = ("jsonl", "csv", "inspect", "openai-batch")  # those that standard output takes
BATCH = 500  # rows that are in memory at once
MAX_REQUESTS = 50_000  # that OpenAI takes in one batch file
# Each column with its type in Parquet and what it holds; nested ones hold JSON.
COLUMNS = {
    "id": ("string", "names the prompt in any mixture of exported files"),
    "system": ("string", "the system message that goes with the prompt, if there is one"),
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
}
NESTED = tuple(name for name, (kind, _) in COLUMNS.items() if kind == "json")


@dataclass(frozen=True)
class Request:
    """What a line of an OpenAI batch file asks for besides the messages."""

    model: str  # as the provider calls it
    temp: float | None = None
    max_output_tokens: int | None = None
    reasoning_effort: str | None = None

    def body(self, messages: list[dict[str, str]]) -> Row:
        """The body of a call of chat completions."""
        more = {
            "temperature": self.temp,
            "max_completion_tokens": self.max_output_tokens,
            "reasoning_effort": self.reasoning_effort,
        }
        given = {key: value for key, value in more.items() if value is not None}
        return {"model": self.model, "messages": messages, **given}


def export_row(item: PresentedItem) -> Row:
    """One prompt with everything that scoring a reply needs."""
    task, origin = item.task, item.original.origin
    return {
        "id": export_id(item),
        "system": None,
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
    }


def export_id(item: PresentedItem) -> str:
    """A name that no other item, spec, view, seed or trial has; batch services take it too."""
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
    request: Request | None = None,
) -> None:
    """Write items to an open file, a few hundred in memory at a time."""
    rows = map(export_row, items)
    with Progress("export", total) as progress, _encoder(form, file, request) as add:
        while batch := list(islice(rows, BATCH)):
            add(batch)
            progress.advance(len(batch))


Add = Callable[[list[Row]], Any]


@contextmanager
def _encoder(form: str, file: BinaryIO, request: Request | None) -> Iterator[Add]:
    """A function that writes some rows in this format."""
    require(form in FORMATS, f"format must be one of {', '.join(FORMATS)}, got {form!r}")
    if form == "parquet":
        with parquet_writer(file) as add:
            yield add
    elif form == "csv":
        file.write(_csv_text([list(COLUMNS)]))
        yield lambda rows: file.write(_csv_text([list(flat(row).values()) for row in rows]))
    elif form == "openai-batch":
        require(request is not None, "--model is missing: which model does the batch ask?")
        assert request is not None
        asked = request
        yield lambda rows: file.writelines(dump_line(_openai_line(row, asked)) for row in rows)
    else:
        convert: Callable[[Row], Row] = _inspect_sample if form == "inspect" else dict
        yield lambda rows: file.writelines(dump_line(convert(row)) for row in rows)


@contextmanager
def parquet_writer(file: BinaryIO) -> Iterator[Add]:
    """A function that appends rows to a Parquet file as a group of their own."""
    arrow, parquet = (
        import_extra("pyarrow", "exchange"),
        import_extra("pyarrow.parquet", "exchange"),
    )
    kinds = {"json": arrow.string(), "string": arrow.string()}
    kinds |= {"int64": arrow.int64(), "float64": arrow.float64()}
    schema = arrow.schema([(name, kinds[kind]) for name, (kind, _) in COLUMNS.items()])
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        yield lambda rows: writer.write_table(
            arrow.Table.from_pylist([flat(row) for row in rows], schema)
        )


def flat(row: Mapping[str, Any]) -> Row:
    """The row with JSON in place of what is nested, for tables."""
    nested = {name: _json_text(row[name]) for name in NESTED}
    return {name: nested[name] if name in nested else row[name] for name in COLUMNS}


def _json_text(value: Any) -> str | None:
    return None if value is None else orjson.dumps(value).decode()


def _csv_text(rows: list[list[Any]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def messages_of(row: Mapping[str, Any]) -> list[dict[str, str]]:
    """The prompt as the messages of a chat."""
    system = [] if row["system"] is None else [{"role": "system", "content": row["system"]}]
    return [*system, {"role": "user", "content": row["prompt"]}]


def _inspect_sample(row: Row) -> Row:
    """A sample as Inspect's json_dataset reads it."""
    rest = {name: value for name, value in row.items() if name not in ("id", "prompt", "gold")}
    given = row["prompt"] if row["system"] is None else messages_of(row)
    return {"id": row["id"], "input": given, "target": row["gold"], "metadata": rest}


def _openai_line(row: Row, request: Request) -> Row:
    """A request as OpenAI's batch files hold it."""
    return {
        "custom_id": row["id"],
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": request.body(messages_of(row)),
    }
