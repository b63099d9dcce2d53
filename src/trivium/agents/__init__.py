"""Learning agents for the blicket environment: A2C, PPO, Q-learning and imitation, in JAX.

JAX is an optional extra and slow to import, so this file imports none of the package's modules.
"""

from __future__ import annotations

import importlib
from typing import Any

from trivium.core.benchmark import Solver
from trivium.core.errors import import_extra, require

GAME = "blicket_game"  # the only benchmark that agents can play


def agents_module(name: str) -> Any:
    """A module of this package; UserError says how to install the extra if it is missing."""
    for package in ("jax", "equinox", "optax"):
        import_extra(package, "agents")
    return importlib.import_module(f"trivium.agents.{name}")


def agent_solver(benchmark_name: str, name: str) -> Solver:
    """The solver that `agent:FOLDER` or `agent:FOLDER:NUMBER` names."""
    require(benchmark_name == GAME, f"{name}: agents play only {GAME}, not {benchmark_name}")
    solver: Solver = agents_module("player").load_solver(name)
    return solver
