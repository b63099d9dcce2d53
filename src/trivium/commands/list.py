"""Benchmarks, their presets, metrics and built-in solvers.
Example: trivium list
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any

from trivium.auditing.stored import presets_with_shortcuts
from trivium.benchmarks import benchmark_names, get_benchmark
from trivium.commands.flags import read_flags
from trivium.core.benchmark import AnyBenchmark
from trivium.core.spec import spec_to_dict
from trivium.report.tables import print_json, terminal


@dataclass(frozen=True)
class Flags:
    """How they are listed."""

    json: bool = False  # as JSON


def main(args: Sequence[str]) -> int:
    """Print the benchmarks."""
    if read_flags("trivium list", Flags(), args, __doc__).flags.json:
        print_json([_described(get_benchmark(name)) for name in benchmark_names()])
        return 0
    width = terminal().width
    for name in benchmark_names():
        benchmark = get_benchmark(name)
        metrics = ", ".join(metric.name for metric in benchmark.metrics)
        print(fill(f"{name}: {benchmark.title}", width, subsequent_indent="  "))
        lines = [f"presets: {', '.join(benchmark.presets)}", f"metrics: {metrics}", "solvers:"]
        if leaky := presets_with_shortcuts(benchmark):
            lines.insert(1, f"presets with known shortcuts: {', '.join(leaky)}")
        lines += [f"  {one.name} ({one.role}): {one.about}" for one in benchmark.solvers.values()]
        for line in lines:
            indent = "    " if line.startswith(" ") else "  "
            print(fill(line.strip(), width, initial_indent=indent, subsequent_indent="      "))
        print()
    return 0


def _described(benchmark: AnyBenchmark) -> dict[str, Any]:
    """A benchmark with its presets, metrics and solvers, for other programs."""
    return {
        "name": benchmark.name,
        "title": benchmark.title,
        "version": benchmark.version,
        "presets": {name: spec_to_dict(spec) for name, spec in benchmark.presets.items()},
        "presets_with_shortcuts": presets_with_shortcuts(benchmark),
        "metrics": {metric.name: metric.about for metric in benchmark.metrics},
        "kinds": dict(benchmark.kinds),
        "solvers": {
            one.name: {"role": one.role, "about": one.about} for one in benchmark.solvers.values()
        },
    }
