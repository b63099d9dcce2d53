"""Solvers by name: a benchmark's own, and trained agents from their folders."""

from __future__ import annotations

from trivium.agents import agent_solver
from trivium.core.benchmark import AnyBenchmark, Solver
from trivium.core.errors import require

AGENT = "agent:"


def find_solver(benchmark: AnyBenchmark, name: str) -> Solver:
    """The solver of this name, or a sentence that says which there are."""
    if name.startswith(AGENT):
        return agent_solver(benchmark.name, name)
    names = ", ".join(benchmark.solvers)
    require(name in benchmark.solvers, f"unknown solver {name!r}; there are {names}")
    return benchmark.solvers[name]
