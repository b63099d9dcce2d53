"""The exact accuracy of each player, with tests chosen adaptively or in advance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trivium.benchmarks.blicket.game.score import floor
from trivium.benchmarks.blicket.game.spec import GameSpec, GameView
from trivium.benchmarks.blicket.inference import scripts
from trivium.benchmarks.blicket.inference.budget import TooLongError, budget_planner
from trivium.benchmarks.blicket.inference.distinct import Distinct
from trivium.benchmarks.blicket.inference.explore import information_gain, progress
from trivium.benchmarks.blicket.inference.observer import TINY
from trivium.core.errors import require

MAX_NODES = 200_000  # of the search for the best script; takes about a minute
MAX_RANDOM = 300_000  # sets of machines times placements; beyond that scripts are sampled
SAMPLED = 4000  # scripts of random tests


@dataclass(frozen=True)
class Share:
    """How often a player is right: one number, or bounds if it is not known exactly."""

    low: float
    high: float
    sampled: bool = False  # estimated from random scripts, to about 0.002

    def __str__(self) -> str:
        if self.high - self.low > TINY:
            return f"{self.low:.3f} to {self.high:.3f}"
        return f"{'about ' * self.sampled}{self.low:.3f}"


@dataclass(frozen=True)
class Adaptivity:
    """The expected `correct` of each player, by its name, and the adaptivity gap."""

    spec: GameSpec
    players: dict[str, Share]

    @property
    def gap(self) -> Share:
        """How much more often the optimal player is right than the best fixed script."""
        best, script = self.players["optimal"], self.players["best_fixed_script"]
        return Share(max(0.0, best.low - script.high), best.high - script.low)


def adaptivity(spec: GameSpec, max_nodes: int = MAX_NODES) -> Adaptivity:
    """The accuracy of every player in the games of this spec."""
    require(not spec.noise, "the adaptivity gap is computed for machines without noise")
    machines = Distinct(spec.space)
    singles = tuple(1 << number for number in range(min(spec.objects, spec.tests)))
    greedy = progress(spec.space, information_gain, spec.tests).correct[-1]
    players = {
        "constant_answer": _exactly(floor(spec, GameView()).value),
        "posterior": _random_tests(machines, spec.tests),
        "one_at_a_time": _exactly(machines.value(singles)),
        "best_fixed_script": best_script(spec, max_nodes),
        "information_gain": _exactly(float(greedy)),
        "optimal": best_player(spec),
    }
    return Adaptivity(spec, players)


def _exactly(value: float) -> Share:
    return Share(value, value)


def best_script(spec: GameSpec, max_nodes: int = scripts.MAX_NODES) -> Share:
    """The highest accuracy with tests chosen in advance."""
    script = scripts.best_fixed_script(spec.space, spec.tests, max_nodes)
    return Share(script.value, script.bound)


def best_player(spec: GameSpec) -> Share:
    """The highest accuracy with tests chosen adaptively."""
    planner = budget_planner(spec.space)
    try:
        return _exactly(planner.value(planner.every, spec.tests))
    except TooLongError:
        greedy = progress(spec.space, information_gain, spec.tests).correct[-1]
        return Share(float(greedy), planner.bound(planner.every, spec.tests))


def _random_tests(machines: Distinct, tests: int) -> Share:
    """The accuracy of the best lookup after random tests."""
    planner = budget_planner(machines.space)
    known: dict[tuple[int, int], float] = {}

    def value(possible: int, left: int) -> float:
        if possible == 0:
            return 0.0
        if left == 0:
            return planner.value(possible, 0)
        key = (possible, left)
        if key not in known:
            if len(known) * len(planner.lit) > MAX_RANDOM:
                raise TooLongError("too many sets of machines")
            parts = [(possible & lit, possible & ~lit) for lit in planner.lit]
            total = sum(value(lit, left - 1) + value(dark, left - 1) for lit, dark in parts)
            known[key] = total / len(parts)
        return known[key]

    try:
        return _exactly(value(planner.every, tests))
    except TooLongError:
        draws = np.random.default_rng(0).integers(len(planner.lit), size=(SAMPLED, tests))
        found = float(np.mean([machines.value(tuple(script)) for script in draws.tolist()]))
        return Share(found, found, sampled=True)
