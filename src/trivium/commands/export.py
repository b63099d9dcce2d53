"""Prompts for other tools, each with its system message, gold answer, floor, groups, and
the spec, seed and index that regenerate it. Replies to them are scored by trivium score.
--format huggingface writes a folder that datasets.load_dataset opens, with a card and Croissant
metadata.
Example: trivium export nhop_explicit --items 200 --seed 7 --out prompts.jsonl
Example: trivium export nhop_explicit --format openai-batch --model o3 --out in.jsonl
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trivium.api import export
from trivium.commands.flags import REQUIRED, flag, leaves, read_benchmark_flags
from trivium.core.streams import DEFAULT_SEED
from trivium.exchange.export import MAX_REQUESTS, Format
from trivium.models.settings import Effort

SETTINGS = ("model", "temp", "max_output_tokens", "reasoning_effort")


@dataclass(frozen=True)
class Flags:
    """Which items are exported, and how."""

    # of the file; huggingface is a folder (default: by the end of the file's name, or jsonl)
    format: Format | None = None
    files: tuple[Path, ...] = flag((), "--in")  # files of items, instead of generated items
    items: int = 100  # how many
    seed: int = DEFAULT_SEED  # the seed of all of them
    start: int = 0  # the index of the first
    order_trials: int = 1  # how often each item is written, each time in another order
    out: Path = REQUIRED  # the file or folder; '-' is standard output
    model: str | None = None  # openai-batch: which model is asked
    temp: float | None = None  # openai-batch: the temperature (default: the provider's own)
    max_output_tokens: int | None = None  # openai-batch: where a reply is cut off
    reasoning_effort: Effort | None = None  # openai-batch: how much the model reasons
    audit: bool = True  # huggingface: audit the spec for the card


def main(args: Sequence[str]) -> int:
    """Write the file or folder."""
    asked = read_benchmark_flags("export", Flags, args, __doc__)
    flags, benchmark = asked.flags, asked.task.benchmark
    if flags.files:
        asked.refuse_item_flags()
    stdout = sys.stdout.buffer if str(flags.out) == "-" else None
    values = leaves(flags) | {"out": stdout or flags.out}
    if flags.format != "openai-batch":
        asked.refuse(SETTINGS, "goes with --format openai-batch")
        values |= dict.fromkeys(SETTINGS)  # a config file may hold them for other commands
    total = export(asked.task, **values)
    if stdout:
        return 0
    print(f"{total} prompts written to {flags.out}")
    if benchmark.multi_turn:
        print(
            f"{benchmark.name} is played in turns and the file holds only the openings: what the "
            "environment says to a move comes from task.start(item).send(move) in Python"
        )
    if flags.format == "openai-batch" and total > MAX_REQUESTS:
        print(f"OpenAI takes {MAX_REQUESTS:,} requests in a file: use --start and --items")
    return 0
