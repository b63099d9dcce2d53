"""GALLERY.md: what the items of every benchmark look like, generated from the code."""

from __future__ import annotations

from trivium.benchmarks import benchmark_names, get_benchmark
from trivium.core.task import Task
from trivium.evaluation.command_line import show_command
from trivium.exchange.export import CANARY_LINE
from trivium.report.templates import render

SEED = 1729  # no command's default, so that no answer here is that of an item people are scored on


def gallery() -> str:
    """The text of GALLERY.md."""
    benchmarks = {
        benchmark: [
            (heading, Task(benchmark, spec, view).item(0, SEED))
            for heading, spec, view in benchmark.gallery_examples()
        ]
        for benchmark in map(get_benchmark, benchmark_names())
    }
    return render(
        "gallery.md.j2",
        seed=SEED,
        canary=CANARY_LINE,
        benchmarks=benchmarks,
        show_command=show_command,
    )
