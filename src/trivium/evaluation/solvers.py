"""Solvers by name: a benchmark's own, and trained agents from their folders."""

from __future__ import annotations

import importlib

from trivium.core.benchmark import AnyBenchmark, Solver
from trivium.core.errors import import_extra, require

AGENT = "agent:"


def find_solver(benchmark: AnyBenchmark, name: str) -> Solver:
    """The solver of this name, or a sentence that says which there are."""
    if name.startswith(AGENT) and benchmark.name == "blicket_game":
        for package in ("jax", "equinox", "optax"):
            import_extra(package, "agents")
        solver: Solver = importlib.import_module("trivium.agents.player").agent_solver(name)
        return solver
    names = ", ".join(benchmark.solvers)
    require(name in benchmark.solvers, f"unknown solver {name!r}; there are {names}")
    return benchmark.solvers[name]
