"""trivium score NAME"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

import tyro

from trivium.commands.flags import read_benchmark_flags, require_out
from trivium.core.benchmark import AnyBenchmark, Attempt
from trivium.core.dialogue import failed, record
from trivium.core.errors import require
from trivium.core.files import atomic_write, dump_line, read_rows, write_json
from trivium.core.results import Tally
from trivium.evaluation.execute import SUMMARY
from trivium.evaluation.items import read_items
from trivium.report.tables import metric_table, terminal

ABOUT = """Score replies that were collected elsewhere: lines of {"id": ..., "reply": ...}, where a
game's reply is the list of what was said. Writes one row per item {id, answer, scores, kind, ...}
and summary.json beside it. An item without a reply is an error, counted apart.
Example: trivium score nhop_implicit --in items.jsonl --replies replies.jsonl --out results.jsonl"""


@dataclass(frozen=True)
class Flags:
    """Items, what was replied, and where the scores go."""

    # files of items
    input: Annotated[tuple[Path, ...], tyro.conf.arg(name="in")] = field(default=())
    replies: Path | None = None  # the file of replies
    out: Path | None = None  # the file of results
    solver: str = "replies"  # what to call whoever replied


def main(args: Sequence[str]) -> int:
    """Score and print the summary."""
    asked = read_benchmark_flags("score", Flags, args, ABOUT)
    flags, benchmark = asked.flags, asked.benchmark
    out = require_out(flags.out)
    require(bool(flags.input), "--in is missing: which items were replied to?")
    require(flags.replies is not None, "--replies is missing: where are the replies?")
    asked.require_files_alone()
    items = read_items(benchmark, flags.input)
    replies = read_replies(
        Path(str(flags.replies)), {item.id for item in items}, lists=benchmark.multi_turn
    )
    tally = Tally(benchmark.metrics)
    with atomic_write(out) as file:
        for item in items:
            row = _row(_scored(benchmark, item, replies.get(item.id), flags.solver, asked.view))
            tally.add(row)
            file.write(dump_line(row))
    summary = tally.summary()
    write_json(out.parent / SUMMARY, summary.to_dict())
    metric_table(summary).show(terminal())
    print(f"results in {out}")
    return 0


def read_replies(path: Path, known: set[str], *, lists: bool) -> dict[str, list[str]]:
    """What was said about each item, in lists for games; a line that fits no item is named."""
    replies: dict[str, list[str]] = {}
    for number, row in read_rows(path):
        where = f"{path} line {number}"
        name, reply = row.get("id"), row.get("reply")
        require(isinstance(name, str), f"{where}: id must be text, got {name!r}")
        said = [reply] if isinstance(reply, str) else reply
        ok = isinstance(said, list) and bool(said) and all(isinstance(part, str) for part in said)
        ok = ok and (lists or isinstance(reply, str))
        require(ok, f"{where}: reply must be text{' or a list of texts' if lists else ''}")
        require(name in known, f"{where}: there is no item {name!r}")
        require(name not in replies, f"{where}: {name!r} was replied to before")
        replies[str(name)] = list(said or [])
    return replies


def _scored(
    benchmark: AnyBenchmark, item: Any, said: list[str] | None, solver: str, view: Any
) -> Attempt:
    if said is None:
        return failed(benchmark, item, solver, view, trial=0, error="no reply")
    return record(benchmark, item, solver, said, view)


def _row(attempt: Attempt) -> dict[str, Any]:
    """The four fields that were promised first, then the rest of the record."""
    values = asdict(attempt)
    first = {key: values.pop(key) for key in ("id", "answer", "scores", "kind")}
    return first | values
