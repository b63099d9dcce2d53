"""Learning agents in JAX: training, imitation, and trained agents as solvers."""

from __future__ import annotations

import importlib

from trivium.core.benchmark import Solver
from trivium.core.errors import import_extra, require

PLAYS = "blicket_game"


def agent_solver(benchmark: str, name: str) -> Solver:
    """The solver that `agent:FOLDER` or `agent:FOLDER:NUMBER` stands for."""
    require(benchmark == PLAYS, f"trained agents play {PLAYS}, not {benchmark}")
    for package in ("jax", "equinox", "optax"):
        import_extra(package, "agents")
    solver: Solver = importlib.import_module("trivium.agents.player").agent_solver(name)
    return solver
