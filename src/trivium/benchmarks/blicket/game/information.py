"""The information gained by the tests of a game, relative to the optimal player."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from trivium.benchmarks.blicket.game.generate import GameItem
from trivium.benchmarks.blicket.game.mixed import mixed_game
from trivium.benchmarks.blicket.game.score import trajectory
from trivium.benchmarks.blicket.game.spec import GameSpec
from trivium.benchmarks.blicket.game.world import replay
from trivium.benchmarks.blicket.inference.budget import BudgetPlanner, TooLongError, budget_planner
from trivium.benchmarks.blicket.inference.observer import TINY, entropy
from trivium.core.errors import require

MAX_NODES = 10_000  # sets of machines; takes a few seconds


def information(item: GameItem, replies: Sequence[str]) -> list[float]:
    """The information gained by each test, divided by the optimal player's expected total.

    The sum is 1 on average for the optimal player, and at most 1 on average for any other; in a
    mixed game, whose total is a bound, it may be a little less.
    """
    tests = tuple(replay(item, replies)[0].tests)
    optimum = max_bits(item.spec)
    return [step.bits / optimum if optimum else 0.0 for step in trajectory(item.spec, tests).steps]


@lru_cache(maxsize=64)
def max_bits(spec: GameSpec) -> float:
    """The highest expected information about the machine from the tests of a game, in bits."""
    require(
        not spec.noise,
        "information is measured for machines without noise: remove its reward or set noise to 0, "
        f"got noise {spec.noise}",
    )
    planner = budget_planner(spec.space)
    unknown = entropy(planner.machines.weights)
    if mixed_game(spec) is not None:  # a bound: the search would take seconds for every game
        return min(unknown, float(spec.tests))
    try:
        always_known = planner.value(planner.every, spec.tests) > 1 - TINY
    except TooLongError:
        always_known = False
    return unknown if always_known else _Search(planner).value(planner.every, spec.tests)


class _Search:
    """Branch and bound over the sets of machines that tests leave possible."""

    def __init__(self, planner: BudgetPlanner) -> None:
        self._planner = planner
        self._weights = planner.machines.weights
        self._values: dict[tuple[int, int], float] = {}
        self._sets: dict[int, tuple[float, float]] = {}

    def value(self, possible: int, tests: int) -> float:
        """The highest expected information about these machines from this number of tests."""
        bound = self._bound(possible, tests)
        if bound == 0:
            return 0.0
        key = (possible, tests)
        if key not in self._values:
            if len(self._values) >= MAX_NODES:
                raise TooLongError(
                    f"{len(self._weights)} machines are too many to optimise the information of "
                    "this number of tests; choose a preset, or more or fewer tests"
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
        """The value of a test and of those after it; `beaten` if it cannot exceed that."""
        shares = np.array([self._weigh(lit)[0], self._weigh(dark)[0]])
        shares = shares / shares.sum()
        now = entropy(shares)
        bounds = np.array([self._bound(lit, tests), self._bound(dark, tests)])
        if now + shares @ bounds <= beaten + TINY:
            return beaten
        return now + float(shares @ np.array([self.value(lit, tests), self.value(dark, tests)]))

    def _bound(self, possible: int, tests: int) -> float:
        """An upper bound: one bit for each test, and the entropy of these machines."""
        return min(float(tests), self._weigh(possible)[1])

    def _weigh(self, possible: int) -> tuple[float, float]:
        """The probability of these machines, and their entropy."""
        if possible not in self._sets:
            chosen = np.array([possible >> at & 1 for at in range(len(self._weights))], dtype=bool)
            weights = self._weights[chosen]
            self._sets[possible] = (float(weights.sum()), entropy(weights / weights.sum()))
        return self._sets[possible]
