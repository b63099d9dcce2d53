"""trivium list"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill

from trivium.benchmarks import benchmark_names, get_benchmark
from trivium.commands.flags import read_flags
from trivium.report.audits import presets_with_shortcuts
from trivium.report.tables import terminal

ABOUT = """Benchmarks, their presets, metrics and built-in solvers.
Example: trivium list"""


@dataclass(frozen=True)
class Flags:
    """No flags."""


def main(args: Sequence[str]) -> int:
    """Print the benchmarks."""
    read_flags("list", Flags(), args, ABOUT)
    width = terminal().width
    for name in benchmark_names():
        benchmark = get_benchmark(name)
        metrics = ", ".join(metric.name for metric in benchmark.metrics)
        print(f"{name}: {benchmark.title}")
        lines = [f"presets: {', '.join(benchmark.presets)}", f"metrics: {metrics}", "solvers:"]
        if leaky := presets_with_shortcuts(benchmark):
            lines.insert(1, f"presets with known shortcuts: {', '.join(leaky)}")
        lines += [f"  {one.name} ({one.role}): {one.about}" for one in benchmark.solvers.values()]
        for line in lines:
            indent = "    " if line.startswith(" ") else "  "
            print(fill(line.strip(), width, initial_indent=indent, subsequent_indent="      "))
        print()
    return 0
