"""trivium score NAME"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trivium.commands.flags import read_benchmark_flags, require_out
from trivium.commands.parser import flag, leaves
from trivium.core.errors import require
from trivium.core.records import RECORDS
from trivium.core.streams import DEFAULT_SEED
from trivium.evaluation.evaluation import Items
from trivium.exchange.score import Scoring, holds_prompts, write_scores
from trivium.models.names import known_model
from trivium.report.tables import metric_table, terminal

ABOUT = """Score replies that were collected elsewhere. Items are those of an exported file, of a
file of items, or of the flags that made them; replies are JSON Lines, CSV or Parquet with an id (or
custom_id) and a reply, chat completions, or the output of a batch. Writes a run folder that report,
analyze and compare open. A null reply is no answer; a missing one is an error, counted apart.
Example: trivium export nhop_implicit --items 50 --out prompts.jsonl
Example: trivium score nhop_implicit --in prompts.jsonl --replies r.jsonl --out runs/a"""


@dataclass(frozen=True)
class Flags:
    """Items, replies, and where the scores go."""

    # exported files, dataset folders or files of items (default: the replies' own columns)
    input: tuple[Path, ...] = flag((), "--in")
    items: int | None = None  # or how many items were generated
    seed: int = DEFAULT_SEED  # the seed of all of them
    start: int = 0  # the index of the first
    order_trials: int = 1  # how often each item was presented, each time in another order
    replies: tuple[Path, ...] = ()  # the files of replies
    by_order: bool = False  # the n-th reply is to the n-th prompt, whatever ids say
    out: Path | None = None  # the folder of the records
    author: str = flag("replies", "--solver", "--model")  # the name of the solver that replied


def main(args: Sequence[str]) -> int:
    """Score and print the summary."""
    asked = read_benchmark_flags("score", Flags, args, ABOUT)
    flags, task = asked.flags, asked.task
    out = require_out(flags.out)
    require(out.suffix != ".jsonl", f"--out is a folder: say --out {out.parent / out.stem}")
    files = flags.input
    if not files and flags.items is None and holds_prompts(flags.replies):
        files = flags.replies  # an exported table with a column of replies
    if files:
        asked.refuse_item_flags()
    made = None if flags.items is None else Items(flags.seed, flags.start, flags.items)
    scoring = Scoring(
        task,
        flags.replies,
        files,
        made,
        flags.order_trials,
        flags.by_order,
        known_model(flags.author) or flags.author,
        own_view=bool(leaves(task.view).keys() & asked.given.keys()),
    )
    summary = write_scores(scoring, out, shlex.join(["trivium", "score", *args]))
    metric_table(summary).show(terminal())
    if summary.failed:
        print(f"{summary.failed} prompts have no reply or a failed one, and count as failed")
    print(f"records in {out / RECORDS}")
    return 1 if summary.failed else 0
