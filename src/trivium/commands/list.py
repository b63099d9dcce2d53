"""trivium list"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.text import Text

from trivium.benchmarks import benchmark_names, get_benchmark
from trivium.commands.flags import read_flags
from trivium.report.tables import terminal

ABOUT = "Benchmarks, their presets and their built-in solvers. Example: trivium list"


@dataclass(frozen=True)
class Flags:
    """No flags."""


def main(args: Sequence[str]) -> int:
    """Print what there is."""
    read_flags("list", Flags, args, ABOUT)
    console = terminal()
    for name in benchmark_names():
        benchmark = get_benchmark(name)
        console.print(Text(f"{name}: {benchmark.title}", style="bold"))
        console.print(Text(f"  presets: {', '.join(benchmark.presets)}"))
        console.print(Text(f"  metrics: {', '.join(metric.name for metric in benchmark.metrics)}"))
        console.print(Text("  solvers:"))
        for solver in benchmark.solvers.values():
            console.print(Text(f"    {solver.name} ({solver.role}): {solver.about}"))
    return 0
