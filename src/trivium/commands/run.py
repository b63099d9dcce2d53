"""trivium run"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from trivium.benchmarks import benchmark_names, get_benchmark
from trivium.commands.execution import RunFlags
from trivium.commands.flags import ask
from trivium.commands.parser import Offers, flag
from trivium.core.errors import require
from trivium.core.streams import DEFAULT_SEED
from trivium.evaluation.plan import plan_main_run

ABOUT = """Every benchmark, every built-in solver, one report. Writes records and report.html; the
same command resumes its newest folder, and makes only attempts that are missing or failed. --model
evaluates language models on the same items too. Exit status 1: calls failed, or nothing was scored.
Example: trivium run --items 200 --out runs/first
Example: trivium run --items 50 --model openai/gpt-4.1-mini --model ollama/llama3.2"""


@dataclass(frozen=True)
class Flags:
    """What is run."""

    items: int | None = None  # items of each preset (default: each benchmark's own number)
    seed: int = DEFAULT_SEED  # the seed of all items
    benchmarks: tuple[str, ...] = ()  # which ones (default: all)
    presets: tuple[str, ...] = ()  # which of their presets (default: all)
    models: tuple[str, ...] = flag((), "--model")  # language models, each as PROVIDER/MODEL
    running: RunFlags = field(default_factory=RunFlags)


def main(args: Sequence[str]) -> int:
    """Run, then print one table per benchmark and the path of the report."""
    known = benchmark_names()
    offers: Offers = {
        "benchmarks": known,
        "presets": (preset for name in known for preset in get_benchmark(name).presets),
    }
    asked = ask("trivium run", Flags(), args, ABOUT, offers)
    flags = asked.flags
    require(flags.items is None or flags.items >= 1, f"items must be at least 1, got {flags.items}")
    if not flags.models:
        asked.refuse_model_flags("none is named")
    run = plan_main_run(
        tuple(dict.fromkeys(flags.benchmarks)) or known,
        seed=flags.seed,
        items=flags.items,
        presets=flags.presets,
        models=flags.models,
        settings=flags.running.execution.options.settings(),
    )
    return flags.running.run(run, asked.command)
