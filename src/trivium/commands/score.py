"""trivium score NAME"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

import tyro

from trivium.commands.flags import read_benchmark_flags, require_out
from trivium.core.dialogue import Dialogue, failed_attempt
from trivium.core.errors import require
from trivium.core.files import atomic_write, dump_line, read_rows, write_json
from trivium.core.records import SUMMARY, Attempt
from trivium.core.results import Tally
from trivium.core.task import PresentedItem
from trivium.evaluation.evaluation import read_items
from trivium.report.tables import metric_table, terminal

ABOUT = """Score replies that were collected elsewhere: lines of {"id": ..., "reply": ...}, where a
game's reply is the list of all replies. Writes one row per item {id, answer, scores, kind, ...}
and summary.json beside it. An item without a reply is an error, counted apart.
Example: trivium score nhop_implicit --in items.jsonl --replies replies.jsonl --out results.jsonl"""


@dataclass(frozen=True)
class Flags:
    """Items, replies, and where the scores go."""

    # files of items
    input: Annotated[tuple[Path, ...], tyro.conf.arg(name="in")] = field(default=())
    replies: Path | None = None  # the file of replies
    out: Path | None = None  # the file of results
    solver: str = "replies"  # what to call whoever replied


def main(args: Sequence[str]) -> int:
    """Score and print the summary."""
    asked = read_benchmark_flags("score", Flags, args, ABOUT)
    flags, benchmark = asked.flags, asked.task.benchmark
    out = require_out(flags.out)
    require(bool(flags.input), "--in is missing: which items were replied to?")
    require(flags.replies is not None, "--replies is missing: where are the replies?")
    asked.refuse_item_flags()
    items = [PresentedItem(asked.task, item) for item in read_items(benchmark, flags.input)]
    names = {item.id for item in items}
    replies = read_replies(Path(str(flags.replies)), names, lists=benchmark.multi_turn)
    tally = Tally(benchmark.metrics)
    with atomic_write(out) as file:
        for item in items:
            row = _row(_scored(item, replies.get(item.id), flags.solver))
            tally.add(row)
            file.write(dump_line(row))
    summary = tally.summary()
    write_json(out.parent / SUMMARY, summary.to_dict())
    metric_table(summary).show(terminal())
    print(f"results in {out}")
    return 0


def read_replies(path: Path, known: set[str], *, lists: bool) -> dict[str, list[str]]:
    """The replies to each item, in lists for games; a line that fits no item is named."""
    replies: dict[str, list[str]] = {}
    for number, row in read_rows(path):
        where = f"{path} line {number}"
        name, reply = row.get("id"), row.get("reply")
        require(isinstance(name, str), f"{where}: id must be text, got {name!r}")
        texts = [reply] if isinstance(reply, str) else reply
        ok = isinstance(texts, list) and bool(texts) and all(isinstance(t, str) for t in texts)
        ok = ok and (lists or isinstance(reply, str))
        require(ok, f"{where}: reply must be text{' or a list of texts' if lists else ''}")
        require(name in known, f"{where}: there is no item {name!r}")
        require(name not in replies, f"{where}: {name!r} was replied to before")
        replies[str(name)] = list(texts or [])
    return replies


def _scored(item: PresentedItem, replies: list[str] | None, solver: str) -> Attempt:
    if replies is None:
        return failed_attempt(item, solver, "no reply")
    dialogue = Dialogue(item)
    dialogue.replies = replies  # as they were given, whether or not the dialogue ended before
    return dialogue.attempt(solver, seconds=0.0)


def _row(attempt: Attempt) -> dict[str, Any]:
    """The record with the fields that are read first at the front."""
    values = asdict(attempt)
    first = {key: values.pop(key) for key in ("id", "answer", "scores", "kind")}
    return first | values
