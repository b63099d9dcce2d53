"""trivium export NAME"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from trivium.api import export, exported_items
from trivium.commands.flags import BenchmarkFlags, read_benchmark_flags
from trivium.commands.parser import REQUIRED, flag
from trivium.core.errors import import_extra, require
from trivium.core.streams import DEFAULT_SEED
from trivium.evaluation.evaluation import Evaluation
from trivium.exchange.export import MAX_REQUESTS, TEXT_FORMATS, Format, write_items
from trivium.models.providers import full_model_name
from trivium.models.settings import Effort, Model, ModelOptions, Settings

ABOUT = """Prompts for other tools, each with its system message, gold answer, floor, groups, and
the spec, seed and index that regenerate it. Replies to them are scored by trivium score.
--format huggingface writes a folder that datasets.load_dataset opens, with a card and Croissant
metadata.
Example: trivium export nhop_explicit --items 200 --seed 7 --out prompts.jsonl
Example: trivium export nhop_explicit --format openai-batch --model o3 --out in.jsonl"""
SUFFIXES: Mapping[str, Format] = {".csv": "csv", ".parquet": "parquet"}


@dataclass(frozen=True)
class Flags:
    """Which items are exported, and how."""

    # of the file; huggingface is a folder (default: by the end of the file's name, or jsonl)
    format: Format | None = None
    input: tuple[Path, ...] = flag((), "--in")  # files of items, instead of generated items
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


BATCH_SETTINGS = ("temp", "max_output_tokens", "reasoning_effort")


def main(args: Sequence[str]) -> int:
    """Write the file or folder."""
    asked = read_benchmark_flags("export", Flags, args, ABOUT)
    form = asked.flags.format or SUFFIXES.get(asked.flags.out.suffix, "jsonl")
    asked = replace(asked, flags=replace(asked.flags, format=form))
    flags, task = asked.flags, asked.task
    model = _model(asked)
    if flags.format in ("parquet", "huggingface"):
        import_extra("pyarrow", "exchange")  # before the audit for the card
    if flags.input:
        asked.refuse_item_flags()
    if str(flags.out) == "-":
        require(flags.format in TEXT_FORMATS, f"{flags.format} needs a file: say --out FILE")
        items = exported_items(task, flags.items, flags.seed, flags.start, flags.input)
        prompts = Evaluation(task, items, "export", flags.order_trials)
        stdout = sys.stdout.buffer
        write_items(prompts.presented(), stdout, form, prompts.attempts, model)
        stdout.flush()
        return 0
    total = export(
        task,
        flags.out,
        format=form,
        items=flags.items,
        seed=flags.seed,
        start=flags.start,
        trials=flags.order_trials,
        files=flags.input,
        model=model,
        audit=flags.audit,
    )
    print(f"{total} prompts written to {flags.out}")
    _print_notes(asked, total)
    return 0


def _model(asked: BenchmarkFlags[Flags]) -> Model | None:
    """The model of an OpenAI batch; None for other formats, which refuse its flags."""
    flags = asked.flags
    if flags.format == "openai-batch":
        require(flags.model is not None, "--model is missing: which model does the batch ask?")
        served = full_model_name(str(flags.model)).partition("/")[2]
        settings = Settings(**{name: getattr(flags, name) for name in BATCH_SETTINGS})
        return Model(f"openai/{served}", settings, ModelOptions())
    asked.refuse(("model", *BATCH_SETTINGS), "goes with --format openai-batch")
    return None


def _print_notes(asked: BenchmarkFlags[Flags], total: int) -> None:
    """Print notes about games and about large batches."""
    name = asked.task.benchmark.name
    if asked.task.benchmark.multi_turn:
        print(
            f"{name} is played in turns and the file holds only the openings: what the "
            "environment says to a move comes from task.start(item).send(move) in Python"
        )
    if asked.flags.format == "openai-batch" and total > MAX_REQUESTS:
        print(f"OpenAI takes {MAX_REQUESTS:,} requests in a file: use --start and --items")
