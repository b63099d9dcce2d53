"""Explorers: which test to make next, and exactly how far each way of choosing gets.

Every sum here is exact: all lights that may come are followed with their probabilities.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from trivium.benchmarks.blicket.inference.hypotheses import Space
from trivium.benchmarks.blicket.inference.observer import (
    CERTAIN,
    TINY,
    Belief,
    entropy,
    information_gain,
    light_probability,
    quiz_reward,
    settled,
    update,
)
from trivium.core.errors import UserError, require

# A way of choosing: (space, belief, tests made so far) -> a probability for each placement.
Choice = Callable[[Space, Belief, int], NDArray[np.float64]]
MAX_WORK = 2_000_000  # beliefs times placements; a search past this takes minutes to hours


@dataclass(frozen=True)
class Explorer:
    """A way of choosing tests."""

    name: str
    about: str
    choose: Choice


def simplest(good: NDArray[np.bool_]) -> NDArray[np.float64]:
    """All probability on one of the good placements: fewest objects, then first in order."""
    objects_on = np.bitwise_count(np.arange(good.size))
    chosen = int(np.lexsort((np.arange(good.size), objects_on, ~good))[0])
    return np.asarray(np.eye(1, good.size, chosen)[0])


def choose_randomly(space: Space, belief: Belief, made: int) -> NDArray[np.float64]:
    """Every placement is as likely as any other."""
    count = 1 << space.objects
    return np.full(count, 1 / count)


def choose_one_at_a_time(space: Space, belief: Belief, made: int) -> NDArray[np.float64]:
    """One object alone, each in its turn."""
    return np.asarray(np.eye(1, 1 << space.objects, 1 << made % space.objects)[0])


def choose_information_gain(space: Space, belief: Belief, made: int) -> NDArray[np.float64]:
    """The test that is expected to tell most now."""
    gains = information_gain(space, belief)
    return simplest(gains >= gains.max() - TINY)


def choose_optimally(space: Space, belief: Belief, made: int) -> NDArray[np.float64]:
    """The test with which certainty is expected to come soonest."""
    return simplest(planner(space).best_tests(belief))


EXPLORERS = {
    explorer.name: explorer
    for explorer in (
        Explorer("random", "any placement, each as likely as any other", choose_randomly),
        Explorer("one_at_a_time", "one object alone, each in its turn", choose_one_at_a_time),
        Explorer("information_gain", "the most bits expected now", choose_information_gain),
        Explorer("optimal", "the fewest tests expected in all", choose_optimally),
    )
}


@dataclass
class Planner:
    """Dynamic programming over the beliefs that tests can lead to, each worked out once."""

    space: Space
    costs: dict[bytes, float] = field(default_factory=dict)
    rewards: dict[tuple[bytes, int], float] = field(default_factory=dict)

    def fewest_tests(self, belief: Belief) -> float:
        """The expected number of tests until the machine is known, chosen as well as can be."""
        require(not self.space.noisy, "noisy machines are never known for certain")
        key = _key(belief)
        if key not in self.costs:
            if settled(self.space, belief):
                self.costs[key] = 0.0
            else:
                self.costs[key] = min(self._test_costs(belief).values())
            _check_size(self.space, len(self.costs))
        return self.costs[key]

    def best_tests(self, belief: Belief) -> NDArray[np.bool_]:
        """Which placements are optimal now; all are where the machine is known."""
        good = np.ones(1 << self.space.objects, dtype=np.bool_)
        if not settled(self.space, belief):
            costs = self._test_costs(belief)
            least = min(costs.values())
            good[:] = False
            good[[placed for placed, cost in costs.items() if cost <= least + TINY]] = True
        return good

    def _test_costs(self, belief: Belief) -> dict[int, float]:
        gains = information_gain(self.space, belief)
        chances = light_probability(self.space, belief)
        costs = {}
        for placed in map(int, np.flatnonzero(gains > 0)):
            after = 1.0
            for light, chance in ((True, chances[placed]), (False, 1 - chances[placed])):
                after += chance * self.fewest_tests(update(self.space, belief, placed, light))
            costs[placed] = float(after)
        return costs

    def best_reward(self, belief: Belief, tests: int) -> float:
        """The expected reward of the quiz after so many more tests, chosen as well as can be."""
        key = (_key(belief), tests)
        if key not in self.rewards:
            best = quiz_reward(self.space, belief)
            if tests > 0:
                gains = information_gain(self.space, belief)
                chances = light_probability(self.space, belief)
                for placed in map(int, np.flatnonzero(gains > 0)):
                    value = 0.0
                    for light, chance in ((True, chances[placed]), (False, 1 - chances[placed])):
                        after = update(self.space, belief, placed, light)
                        value += chance * self.best_reward(after, tests - 1)
                    best = max(best, float(value))
            self.rewards[key] = best
            _check_size(self.space, len(self.rewards))
        return self.rewards[key]


def _key(belief: Belief) -> bytes:
    """Beliefs that differ by rounding alone share a key."""
    return np.round(belief, 12).tobytes()


def _check_size(space: Space, beliefs: int) -> None:
    if beliefs << space.objects > MAX_WORK:
        raise UserError(
            f"{len(space)} machines over {space.objects} objects are too many for an exact search "
            f"(more than {MAX_WORK >> space.objects} beliefs); information_gain looks one test "
            f"ahead in any space"
        )


@lru_cache(maxsize=64)
def planner(space: Space) -> Planner:
    """The planner of a space, shared by all who ask, so that nothing is worked out twice."""
    return Planner(space)


@dataclass(frozen=True)
class Progress:
    """How far a way of choosing gets: one value after 0, 1, 2, ... tests in each array."""

    known: NDArray[np.float64]  # the probability that the machine is known
    reward: NDArray[np.float64]  # the expected reward of the quiz, answered as well as can be
    bits: NDArray[np.float64]  # the bits expected to be still unknown

    @property
    def expected_tests(self) -> float:
        """The expected number of tests to certainty; infinite where it may never come."""
        if self.known[-1] < CERTAIN:
            return float("inf")
        return float((1 - self.known).sum())


def progress(space: Space, explorer: Explorer, tests: int, level: float = CERTAIN) -> Progress:
    """Follow an explorer through every light that may come, each with its probability."""
    beliefs = {_key(space.belief): space.belief}
    weights = {_key(space.belief): 1.0}
    values: dict[bytes, NDArray[np.float64]] = {}  # of a belief: known, reward, bits
    after: dict[tuple[bytes, int], list[tuple[bytes, float]]] = {}
    rows = np.zeros((tests + 1, 3))
    for made in range(tests + 1):
        grown: dict[bytes, float] = defaultdict(float)
        for key, weight in weights.items():
            belief = beliefs[key]
            if key not in values:
                sure = float(settled(space, belief, level))
                values[key] = np.array([sure, quiz_reward(space, belief), entropy(belief)])
            rows[made] += weight * values[key]
            chosen = explorer.choose(space, belief, made)
            for placed in map(int, np.flatnonzero(chosen)):
                if (key, placed) not in after:
                    after[key, placed] = _outcomes(space, beliefs, key, placed)
                for other, chance in after[key, placed]:
                    grown[other] += weight * float(chosen[placed]) * chance
        weights = grown
        if not space.noisy and rows[made, 0] > 1 - TINY:
            rows[made + 1 :] = rows[made]  # all is known, and stays so
            break
    known, reward, bits = rows.T
    return Progress(known, reward, bits)


def _outcomes(
    space: Space, beliefs: dict[bytes, Belief], key: bytes, placed: int
) -> list[tuple[bytes, float]]:
    """The beliefs that a test may lead to, noted under their keys, with their probabilities."""
    lit = float(light_probability(space, beliefs[key])[placed])
    found = []
    for light, chance in ((True, lit), (False, 1 - lit)):
        if chance > TINY:
            belief = update(space, beliefs[key], placed, light)
            beliefs.setdefault(_key(belief), belief)
            found.append((_key(belief), chance))
    _check_size(space, len(beliefs))
    return found
