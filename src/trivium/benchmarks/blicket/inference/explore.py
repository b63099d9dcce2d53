"""Explorers, which choose the next test until the machine is known, and how fast they get there.

These work on beliefs, so with noise as well, and have no limit of tests; `budget` plans for one.
Nothing is sampled: every possible light is followed with its probability.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from trivium.benchmarks.blicket.inference import observer
from trivium.benchmarks.blicket.inference.hypotheses import Space
from trivium.benchmarks.blicket.inference.observer import CERTAIN, TINY, Belief
from trivium.core.errors import UserError, require

# (space, belief, tests made so far) -> the placements that it chooses among at random
Explorer = Callable[[Space, Belief, int], list[int]]
MAX_WORK = 2_000_000  # beliefs times placements; beyond that a search takes minutes to hours


def random(space: Space, belief: Belief, made: int) -> list[int]:
    """All placements."""
    return list(range(1 << space.objects))


def one_at_a_time(space: Space, belief: Belief, made: int) -> list[int]:
    """Single objects, in order."""
    return [1 << made % space.objects]


def information_gain(space: Space, belief: Belief, made: int) -> list[int]:
    """The test with the highest expected information gain (greedy)."""
    gains = observer.information_gain(space, belief)
    return [_simplest(np.flatnonzero(gains >= gains.max() - TINY).tolist())]


def optimal(space: Space, belief: Belief, made: int) -> list[int]:
    """The test that minimises the expected number of tests to certainty."""
    return [_simplest(planner(space).best_tests(belief))]


EXPLORERS: dict[str, Explorer] = {
    "random": random,
    "one_at_a_time": one_at_a_time,
    "information_gain": information_gain,
    "optimal": optimal,
}


def _simplest(placements: list[int]) -> int:
    """The placement with the fewest objects, and of several the first."""
    return min(placements, key=lambda placed: (placed.bit_count(), placed))


@dataclass
class Planner:
    """Dynamic programming over the beliefs reachable by tests."""

    space: Space
    costs: dict[bytes, float] = field(default_factory=dict)
    rewards: dict[tuple[bytes, int], float] = field(default_factory=dict)

    def fewest_tests(self, belief: Belief) -> float:
        """The minimum expected number of tests until the machine is known."""
        require(not self.space.noisy, "noisy machines are never known for certain")
        key = _key(belief)
        if key not in self.costs:
            known = observer.settled(self.space, belief)
            costs = {} if known else self._expected(belief, self.fewest_tests)
            self.costs[key] = 0.0 if known else 1.0 + min(costs.values())
            _check_size(self.space, len(self.costs))
        return self.costs[key]

    def best_tests(self, belief: Belief) -> list[int]:
        """The placements that are optimal; all of them if the machine is known."""
        if observer.settled(self.space, belief):
            return list(range(1 << self.space.objects))
        costs = self._expected(belief, self.fewest_tests)
        least = min(costs.values())
        return [placed for placed, cost in costs.items() if cost <= least + TINY]

    def best_reward(self, belief: Belief, tests: int) -> float:
        """The highest expected reward of the quiz after this many more tests."""
        key = (_key(belief), tests)
        if key not in self.rewards:
            best = observer.quiz_reward(self.space, belief)
            if tests > 0:
                values = self._expected(belief, lambda after: self.best_reward(after, tests - 1))
                best = max(best, *values.values()) if values else best
            self.rewards[key] = best
            _check_size(self.space, len(self.rewards))
        return self.rewards[key]

    def _expected(self, belief: Belief, value: Callable[[Belief], float]) -> dict[int, float]:
        """The expected value of the belief after each informative test."""
        gains = observer.information_gain(self.space, belief)
        return {
            placed: sum(
                chance * value(after) for chance, after in _outcomes(self.space, belief, placed)
            )
            for placed in map(int, np.flatnonzero(gains > 0))
        }


planner = lru_cache(maxsize=64)(Planner)  # shared by all callers of a space


def _outcomes(space: Space, belief: Belief, placed: int) -> list[tuple[float, Belief]]:
    """The possible beliefs after a test, each with its probability."""
    lit = float(belief @ space.likelihood[:, placed])
    return [
        (chance, observer.update(space, belief, placed, light))
        for light, chance in ((True, lit), (False, 1 - lit))
        if chance > TINY
    ]


def _key(belief: Belief) -> bytes:
    """Beliefs that differ only by rounding share a key."""
    return np.round(belief, 12).tobytes()


def _check_size(space: Space, beliefs: int) -> None:
    if beliefs << space.objects > MAX_WORK:
        raise UserError(
            f"{len(space)} machines over {space.objects} objects are too many for an exact search "
            f"(more than {MAX_WORK >> space.objects} beliefs); information_gain works in any space"
        )


@dataclass(frozen=True)
class Progress:
    """The progress of an explorer; each array has a value after 0, 1, 2, ... tests."""

    known: NDArray[np.float64]  # the probability that the machine is known
    reward: NDArray[np.float64]  # the expected reward of the best answers to the quiz
    correct: NDArray[np.float64]  # the probability that the likeliest machine is the true one

    @property
    def expected_tests(self) -> float:
        """The expected number of tests to certainty; infinite if it may never be reached."""
        return float((1 - self.known).sum()) if self.known[-1] >= CERTAIN else float("inf")


def progress(space: Space, explorer: Explorer, tests: int) -> Progress:
    """The exact progress of an explorer, averaged over all possible lights."""
    beliefs = {_key(space.belief): space.belief}
    weights = {_key(space.belief): 1.0}
    values: dict[bytes, NDArray[np.float64]] = {}  # of a belief, as in Progress
    after: dict[tuple[bytes, int], list[tuple[float, bytes]]] = {}
    rows = np.zeros((tests + 1, 3))
    for made in range(tests + 1):
        next_weights: dict[bytes, float] = defaultdict(float)
        for key, weight in weights.items():
            belief = beliefs[key]
            if key not in values:
                values[key] = np.array(
                    [
                        observer.settled(space, belief),
                        observer.quiz_reward(space, belief),
                        observer.best_guess(space, belief),
                    ]
                )
            rows[made] += weight * values[key]
            chosen = explorer(space, belief, made)
            for placed in chosen:
                if (key, placed) not in after:
                    outcomes = _outcomes(space, belief, placed)
                    after[key, placed] = [(chance, _key(each)) for chance, each in outcomes]
                    for _, each in outcomes:
                        beliefs.setdefault(_key(each), each)
                    _check_size(space, len(beliefs))
                for chance, next_key in after[key, placed]:
                    next_weights[next_key] += weight / len(chosen) * chance
        weights = next_weights
        if not space.noisy and rows[made, 0] > 1 - TINY:
            rows[made + 1 :] = rows[made]  # everything is known from here on
            break
    return Progress(*rows.T)
