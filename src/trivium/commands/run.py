"""trivium run"""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trivium.benchmarks import benchmark_names, get_benchmark
from trivium.commands.flags import Models, read_flags, refuse_model_flags
from trivium.core.errors import require
from trivium.core.results import Summary
from trivium.evaluation.cost import confirm, cost_of_run
from trivium.evaluation.evaluation import Run
from trivium.evaluation.execute import check_solver, execute
from trivium.evaluation.executors import Workers, all_processors
from trivium.evaluation.index import add_to_index
from trivium.evaluation.plan import plan_main_run
from trivium.models.settings import ModelOptions
from trivium.report.page import write_report
from trivium.report.tables import result_table, terminal

ABOUT = """The main job: every benchmark, every built-in solver, one report. Writes records and
report.html; with --out, the same command resumes what was interrupted. --model evaluates language
models beside the built-in solvers, on the same items.
Example: trivium run --items 200 --out runs/first
Example: trivium run --items 50 --model openai/gpt-4.1-mini --model ollama/llama3.2"""


@dataclass(frozen=True)
class Flags:
    """What is run."""

    items: int | None = None  # items of each preset (default: each benchmark's own number)
    seed: int = 7  # the seed of all items
    benchmarks: tuple[str, ...] = ()  # which ones (default: all)
    # language models, each as PROVIDER/MODEL; say --model once for each
    models: Models = ()
    out: Path | None = None  # the folder (default: a new one under runs/)
    workers: Workers = field(default_factory=all_processors)
    options: ModelOptions = field(default_factory=ModelOptions)


def main(args: Sequence[str]) -> int:
    """Run, print one table per benchmark, end with the path of the report."""
    flags = read_flags("run", Flags, args, ABOUT)
    require(flags.items is None or flags.items >= 1, f"items must be at least 1, got {flags.items}")
    if not flags.models:
        refuse_model_flags(args, "none is named")
    names = tuple(dict.fromkeys(flags.benchmarks)) or benchmark_names()
    settings = flags.options.settings()
    run = plan_main_run(
        names, seed=flags.seed, items=flags.items, models=flags.models, settings=settings
    )
    for evaluation in run.models:
        check_solver(evaluation, flags.options)
    out = flags.out or Path("runs") / time.strftime("run_%Y%m%d_%H%M%S")
    if run.models:
        confirm(cost_of_run(run, out, retry_errors=flags.options.retry_errors), flags.options)
    command = shlex.join(["trivium", "run", *args])
    with flags.workers.open() as executor:
        summaries = execute(run, out, executor=executor, options=flags.options, command=command)
    add_to_index(run, out)
    print_results(run, summaries)
    print(f"report: {write_report(out)}")
    return 0


def print_results(run: Run, summaries: Sequence[Summary]) -> None:
    """One table for each benchmark."""
    for name in run.benchmarks:
        benchmark = get_benchmark(name)
        rows = [
            (str(evaluation.setting), summary)
            for evaluation, summary in zip(run.evaluations, summaries, strict=True)
            if summary.benchmark == name
        ]
        title = f"{name}: {benchmark.title}"
        result_table(title, rows, benchmark.metrics[0].name).show(terminal())
