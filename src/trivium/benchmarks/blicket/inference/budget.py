"""The optimal player with a budget of tests: the highest expected share of right answers.

A set of machines is a bit mask: bit k is the k-th of `DistinctMachines`. A set of objects is one
as well, here and everywhere: bit 0 is A.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from trivium.benchmarks.blicket.inference.distinct import DistinctMachines
from trivium.benchmarks.blicket.inference.hypotheses import Space
from trivium.benchmarks.blicket.inference.observer import TINY, Belief
from trivium.core.errors import UserError, require

MAX_WORK = 8_000_000  # sets of machines times placements; takes a few seconds


class TooLongError(UserError):
    """The search for the optimal tests exceeded its limit."""


class BudgetPlanner:
    """Branch and bound over the sets of machines that tests leave possible."""

    def __init__(self, space: Space) -> None:
        require(not space.noisy, "planning needs machines without noise")
        self.machines = DistinctMachines(space)
        fires = self.machines.fires
        # For each placement, the set of machines that light up.
        self.lit = [
            int.from_bytes(np.packbits(fires[:, placed], bitorder="little").tobytes(), "little")
            for placed in range(fires.shape[1])
        ]
        self.every = (1 << len(fires)) - 1
        self.values: dict[tuple[int, int], float] = {}

    def possible(self, belief: Belief) -> int:
        """The set of machines that a belief allows."""
        allowed = belief[self.machines.firsts] > TINY
        return sum(1 << at for at in np.flatnonzero(allowed).tolist())

    def value(self, possible: int, tests: int) -> float:
        """The joint probability of these machines and a right answer after the best tests."""
        likeliest = (possible & -possible).bit_length() - 1  # machines are sorted by probability
        if tests == 0 or possible.bit_count() == 1:
            return float(self.machines.weights[likeliest])
        key = (possible, tests)
        if key not in self.values:
            if len(self.values) * len(self.lit) >= MAX_WORK:
                raise TooLongError(
                    f"{len(self.machines.weights)} machines are too many to find the optimal tests "
                    "of this budget; use information_gain"
                )
            best = float(self.machines.weights[likeliest])
            bound = self.machines.bound(possible.bit_count(), tests)
            for placed in self.tests(possible):
                if best >= bound - TINY:
                    break
                best = max(best, self.value_of_test(possible, placed, tests, best))
            self.values[key] = best
        return self.values[key]

    def tests(self, possible: int) -> list[int]:
        """The informative placements, the most even splits first."""
        count, imbalance = possible.bit_count(), {}
        for placed in self.machines.placements:
            lit = (possible & self.lit[placed]).bit_count()
            if 0 < lit < count:
                imbalance[placed] = abs(2 * lit - count)
        return sorted(imbalance, key=imbalance.__getitem__)

    def value_of_test(self, possible: int, placed: int, tests: int, beaten: float) -> float:
        """The value after this test; `beaten` where the value cannot exceed it."""
        lit = possible & self.lit[placed]
        dark = possible ^ lit
        bounds = [self.machines.bound(part.bit_count(), tests - 1) for part in (lit, dark)]
        if sum(bounds) <= beaten + TINY:
            return beaten
        value = self.value(lit, tests - 1)
        if value + bounds[1] <= beaten + TINY:
            return beaten
        return value + self.value(dark, tests - 1)

    def best_test(self, possible: int, tests: int, candidates: list[int]) -> int:
        """The first candidate with the highest value."""
        value = self.value(possible, tests)
        return next(
            placed
            for placed in candidates
            if self.value_of_test(possible, placed, tests, value - 2 * TINY) >= value - TINY
        )


budget_planner = lru_cache(maxsize=512)(BudgetPlanner)  # shared by all callers of a space
