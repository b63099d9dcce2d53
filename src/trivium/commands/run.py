"""trivium run"""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trivium.commands.flags import read_flags
from trivium.core.benchmark import AnyBenchmark
from trivium.core.errors import require
from trivium.core.summary import Summary
from trivium.registry import benchmark_names, get_benchmark
from trivium.report.tables import Table, result_table, terminal
from trivium.report.write import write_report
from trivium.runs.evaluate import Job, claim_folder, evaluate
from trivium.runs.executors import Executor, Workers, all_processors
from trivium.runs.items import made_chunks

ABOUT = """The main job: every benchmark, every built-in solver, one report. Writes records and
report.html; with --out, the same command goes on where it stopped.
Example: trivium run --items 200 --out runs/first"""


@dataclass(frozen=True)
class Flags:
    """What is run."""

    items: int | None = None  # items of each preset (default: each benchmark's own number)
    seed: int = 7  # the seed of all items
    benchmarks: tuple[str, ...] = ()  # which ones (default: all)
    out: Path | None = None  # the folder (default: a new one under runs/)
    workers: Workers = field(default_factory=all_processors)


def main(args: Sequence[str]) -> int:
    """Run, print one table per benchmark, end with the path of the report."""
    flags = read_flags("run", Flags, args, ABOUT)
    require(flags.items is None or flags.items >= 1, f"items must be at least 1, got {flags.items}")
    names = flags.benchmarks or benchmark_names()
    chosen = [get_benchmark(name) for name in names]
    out = flags.out or Path("runs") / time.strftime("run_%Y%m%d_%H%M%S")
    claim_folder(
        out, {"kind": "run", "seed": flags.seed, "command": shlex.join(["trivium", "run", *args])}
    )
    console = terminal()
    with flags.workers.open() as executor:
        for benchmark in chosen:
            _run_benchmark(benchmark, flags, out, executor).show(console)
    report = write_report(out)
    print(f"report: {report}")
    return 0


def _run_benchmark(benchmark: AnyBenchmark, flags: Flags, out: Path, executor: Executor) -> Table:
    named: list[tuple[str, Summary]] = []
    count = flags.items or benchmark.main_items
    for preset, spec in benchmark.presets.items():
        for solver in benchmark.solvers:
            view = benchmark.view_type()
            job = Job(benchmark.name, solver, view, spec, flags.seed, setting=preset)
            chunks = made_chunks(benchmark, spec, flags.seed, 0, count)
            folder = out / benchmark.name / preset / solver
            named.append((preset, evaluate(job, chunks, count, folder, executor)))
    return result_table(f"{benchmark.name}: {benchmark.title}", named, benchmark.metrics[0].name)
