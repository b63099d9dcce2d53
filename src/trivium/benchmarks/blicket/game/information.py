"""What the tests of a game found out, as a share of what the optimal player finds out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from trivium.benchmarks.blicket.game.generate import GameItem
from trivium.benchmarks.blicket.game.score import trajectory
from trivium.benchmarks.blicket.game.spec import GameSpec
from trivium.benchmarks.blicket.game.world import replay
from trivium.benchmarks.blicket.inference.budget import BudgetPlanner, TooLongError, budget_planner
from trivium.benchmarks.blicket.inference.observer import TINY, entropy
from trivium.core.errors import require

MAX_NODES = 10_000  # sets of machines that are looked at, some seconds


def information(item: GameItem, replies: Sequence[str]) -> list[float]:
    """The bits that each test revealed, divided by all bits that the optimal player expects.

    Their sum is 1 on average for the optimal player, and at most 1 on average for any other.
    """
    tests = tuple(replay(item, replies)[0].tests)
    optimum = max_bits(item.spec)
    return [step.bits / optimum if optimum else 0.0 for step in trajectory(item.spec, tests).steps]


@lru_cache(maxsize=64)
def max_bits(spec: GameSpec) -> float:
    """The most bits about the machine that any player can expect from the tests of a game."""
    require(
        not spec.noise,
        "information is measured for machines without noise: leave its reward out or set noise to "
        f"0, got noise {spec.noise}",
    )
    planner = budget_planner(spec.space)
    unknown = entropy(planner.machines.weights)
    try:
        always_known = planner.value(planner.every, spec.tests) > 1 - TINY
    except TooLongError:
        always_known = False
    return unknown if always_known else _Search(planner).most(planner.every, spec.tests)


class _Search:
    """Branch and bound over the sets of machines that tests leave possible."""

    def __init__(self, planner: BudgetPlanner) -> None:
        self._planner = planner
        self._weights = planner.machines.weights
        self._values: dict[tuple[int, int], float] = {}
        self._sets: dict[int, tuple[float, float]] = {}

    def most(self, possible: int, tests: int) -> float:
        """The most bits that so many tests are expected to reveal about these machines."""
        bound = self._bound(possible, tests)
        if bound == 0:
            return 0.0
        key = (possible, tests)
        if key not in self._values:
            if len(self._values) >= MAX_NODES:
                raise TooLongError(
                    f"{len(self._weights)} machines are too many to find the most bits of this "
                    "number of tests; choose a preset, or more or fewer tests"
                )
            best = 0.0
            for placed in self._planner.tests(possible):
                if best >= bound - TINY:
                    break
                lit = possible & self._planner.lit[placed]
                best = max(best, self._after(lit, possible ^ lit, tests - 1, best))
            self._values[key] = best
        return self._values[key]

    def _after(self, lit: int, dark: int, tests: int, beaten: float) -> float:
        """The bits of a test and of those after it; `beaten` where they cannot be more."""
        shares = np.array([self._weigh(lit)[0], self._weigh(dark)[0]])
        shares = shares / shares.sum()
        now = entropy(shares)
        bounds = np.array([self._bound(lit, tests), self._bound(dark, tests)])
        if now + shares @ bounds <= beaten + TINY:
            return beaten
        return now + float(shares @ np.array([self.most(lit, tests), self.most(dark, tests)]))

    def _bound(self, possible: int, tests: int) -> float:
        """A test reveals at most one bit, and all tests at most what is unknown."""
        return min(float(tests), self._weigh(possible)[1])

    def _weigh(self, possible: int) -> tuple[float, float]:
        """The probability of these machines, and the bits unknown among them."""
        if possible not in self._sets:
            chosen = np.array([possible >> at & 1 for at in range(len(self._weights))], dtype=bool)
            weights = self._weights[chosen]
            self._sets[possible] = (float(weights.sum()), entropy(weights / weights.sum()))
        return self._sets[possible]
