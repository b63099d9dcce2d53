"""Every benchmark, every built-in solver, one report. Runs the presets that passed an audit
(or the default preset of a benchmark where none did), --all every one. Writes records and
report.html; the same command resumes its newest folder, and makes only attempts that are missing or
failed. --model evaluates language models on the same items too, with about 300 requests to each
unless --items says otherwise; trivium estimate run says what that costs. Exit status 1: calls
failed, or nothing was scored.
Example: trivium run --items 200 --out runs/first
Example: trivium run --model openai/gpt-4.1-mini --model ollama/llama3.2
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from trivium.api import plan_run
from trivium.benchmarks import benchmark_names, get_benchmark
from trivium.commands.flags import Offers, flag, read_flags
from trivium.commands.run_flags import RunFlags
from trivium.core.errors import require
from trivium.core.streams import DEFAULT_SEED
from trivium.evaluation.executors import all_processors


@dataclass(frozen=True)
class Flags:
    """What is run."""

    # items of each preset (default: each benchmark's own number; with models, fewer)
    items: int | None = None
    seed: int = DEFAULT_SEED  # the seed of all items
    benchmarks: tuple[str, ...] = ()  # which ones (default: all)
    presets: tuple[str, ...] = ()  # which of their presets (default: those that passed an audit)
    all: bool = False  # every preset, also those with known shortcuts or without an audit
    models: tuple[str, ...] = flag((), "--model")  # language models, each as PROVIDER/MODEL
    running: RunFlags = field(default_factory=lambda: RunFlags(workers=all_processors()))


def main(args: Sequence[str]) -> int:
    """Run, then print a table for each benchmark, who is best, and the path of the report."""
    known = benchmark_names()
    offers: Offers = {
        "benchmarks": known,
        "presets": (preset for name in known for preset in get_benchmark(name).presets),
    }
    asked = read_flags("trivium run", Flags(), args, __doc__, offers)
    flags = asked.flags
    require(not (flags.all and flags.presets), "give --all or --presets, not both")
    run = plan_run(
        tuple(dict.fromkeys(flags.benchmarks)),
        # What is only planned is that of any model, if none is named.
        models=flags.models or (("openai/any",) if flags.running.dry_run else ()),
        presets="all" if flags.all else flags.presets,
        items=flags.items,
        seed=flags.seed,
        settings=flags.running.options.settings(),
    )
    return flags.running.run(run, asked)
