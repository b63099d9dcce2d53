"""trivium run"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trivium.benchmarks import benchmark_names
from trivium.commands.execution import Execution, choose_folder, print_results, print_verdict
from trivium.commands.flags import Models, read_flags, refuse_model_flags
from trivium.core.errors import require
from trivium.core.streams import DEFAULT_SEED
from trivium.evaluation.executors import Workers, all_processors
from trivium.evaluation.index import add_to_index
from trivium.evaluation.plan import plan_main_run
from trivium.evaluation.prices import Prices
from trivium.models.settings import ModelOptions
from trivium.report.page import write_report

ABOUT = """The main job: every benchmark, every built-in solver, one report. Writes records and
report.html; the same command continues its newest folder, and makes only attempts that are missing
or failed. --model evaluates language models beside the built-in solvers, on the same items. Exit
status 1: calls failed, or nothing was scored.
Example: trivium run --items 200 --out runs/first
Example: trivium run --items 50 --model openai/gpt-4.1-mini --model ollama/llama3.2"""


@dataclass(frozen=True)
class Flags:
    """What is run."""

    items: int | None = None  # items of each preset (default: each benchmark's own number)
    seed: int = DEFAULT_SEED  # the seed of all items
    benchmarks: tuple[str, ...] = ()  # which ones (default: all)
    presets: tuple[str, ...] = ()  # which of their presets (default: all)
    # language models, each as PROVIDER/MODEL; say --model once for each
    models: Models = ()
    out: Path | None = None  # the folder (default: the newest of the same run, or a new one)
    new: bool = False  # begin a new folder even if there is one of the same run
    workers: Workers = field(default_factory=all_processors)
    options: ModelOptions = field(default_factory=ModelOptions)
    prices: Prices = field(default_factory=Prices)


def main(args: Sequence[str]) -> int:
    """Run, print one table per benchmark, end with the path of the report."""
    flags = read_flags("run", Flags, args, ABOUT)
    require(flags.items is None or flags.items >= 1, f"items must be at least 1, got {flags.items}")
    if not flags.models:
        refuse_model_flags(args, "none is named")
    names = tuple(dict.fromkeys(flags.benchmarks)) or benchmark_names()
    settings = flags.options.settings()
    run = plan_main_run(
        names,
        seed=flags.seed,
        items=flags.items,
        presets=flags.presets,
        models=flags.models,
        settings=settings,
    )
    execution = Execution(flags.workers, flags.options, flags.prices)
    folder = choose_folder(run, flags.out, new=flags.new)
    folder, summaries = execution.execute(run, folder, shlex.join(["trivium", "run", *args]))
    add_to_index(run, folder)
    # Before anything is printed: a reader may have gone away.
    report = write_report(folder, prices=flags.prices)
    print_results(run, summaries, folder)
    status = print_verdict(run, summaries, folder, flags.prices)
    print(f"report: {report}")
    return status
