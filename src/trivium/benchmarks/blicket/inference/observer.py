"""The ideal observer: exact beliefs about a machine, and the information in tests.

A belief is an array of probabilities, one for each hypothesis of a space; a trial is the set
of objects on the machine and whether it lit up. `support` has the same without probabilities.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from trivium.benchmarks.blicket.inference.hypotheses import Space, letters
from trivium.core.errors import UserError

Belief = NDArray[np.float64]
Trial = tuple[int, bool]
TINY = 1e-12  # gains and probabilities below this are rounding errors
CERTAIN = 1.0 - 1e-9


def update(space: Space, belief: Belief, placed: int, light: bool) -> Belief:
    """The belief after one more test."""
    lit = space.likelihood[:, placed]
    joint = belief * (lit if light else 1.0 - lit)
    total = joint.sum()
    if total <= 0:
        trial = f"{letters(placed) or 'nothing'} with{'' if light else 'out'} light"
        raise UserError(f"no hypothesis of the space allows {trial} after the tests before it")
    return np.asarray(joint / total)


def posterior(space: Space, trials: Iterable[Trial]) -> Belief:
    """The belief after these tests, in any order."""
    belief = space.belief
    for placed, light in trials:
        belief = update(space, belief, placed, light)
    return belief


def entropy(belief: Belief) -> float:
    """The entropy of a belief in bits."""
    positive = belief[belief > 0]
    return float(-(positive * np.log2(positive)).sum()) + 0.0


def light_probability(space: Space, belief: Belief) -> NDArray[np.float64]:
    """The probability of light for each placement."""
    return np.asarray(belief @ space.likelihood)


def information_gain(space: Space, belief: Belief) -> NDArray[np.float64]:
    """The expected information gain of each placement about the hypothesis, in bits."""
    total = binary_entropy(light_probability(space, belief))
    gain = total - belief @ _noise_entropy(space) if space.noisy else total
    return np.where(gain > TINY, gain, 0.0)


@lru_cache(maxsize=16)
def _noise_entropy(space: Space) -> NDArray[np.float64]:
    """The entropy of each light due to noise: [hypothesis, placement]."""
    return binary_entropy(space.likelihood)


def binary_entropy(chance: NDArray[np.float64]) -> NDArray[np.float64]:
    """The entropy of an event with this probability, in bits."""
    inner = np.clip(chance, TINY, 1 - TINY)
    bits = -(inner * np.log2(inner) + (1 - inner) * np.log2(1 - inner))
    return np.where((chance > TINY) & (chance < 1 - TINY), bits, 0.0)


def blicket_probability(space: Space, belief: Belief) -> NDArray[np.float64]:
    """The probability that each object is a blicket."""
    return np.asarray(belief @ space.blickets)


def family_probability(space: Space, belief: Belief) -> dict[str, float]:
    """The probability of each family (conjunctive, disjunctive, ...)."""
    found: dict[str, float] = defaultdict(float)
    for hypothesis, probability in zip(space, belief.tolist(), strict=True):
        found[hypothesis.family] += probability
    return dict(found)


def settled(space: Space, belief: Belief, level: float = CERTAIN) -> bool:
    """Whether the machine is known, up to hypotheses that no test distinguishes."""
    return best_guess(space, belief) >= level


def best_guess(space: Space, belief: Belief) -> float:
    """The probability of the likeliest machine and those that no test distinguishes from it."""
    return float(np.bincount(space.equivalence, weights=belief).max())


def quiz_reward(space: Space, belief: Belief) -> float:
    """The expected reward of the best answers: +1 or -1 for each object."""
    yes = blicket_probability(space, belief)
    right = np.maximum(yes, 1 - yes)
    return float((right - (1 - right)).sum())


@dataclass(frozen=True)
class Step:
    """The information in one test, beside that of the best possible test."""

    placed: int
    light: bool
    bits: float  # the decrease in entropy; negative where noise increased it
    gain: float  # the expected gain of this test
    best_gain: float  # the highest expected gain of any test
    left: int  # hypotheses still possible afterwards
    entropy: float  # bits still unknown afterwards

    @property
    def share(self) -> float | None:
        """The gain as a share of the best gain; None if no test could gain anything."""
        return self.gain / self.best_gain if self.best_gain > 0 else None

    @property
    def redundant(self) -> bool:
        """Whether the test could not gain anything."""
        return self.gain == 0


@dataclass(frozen=True)
class Trajectory:
    """The measures of a sequence of tests."""

    steps: tuple[Step, ...]
    tests_to_certainty: int | None  # None if the machine was never known

    @property
    def bits(self) -> float:
        """The total decrease in entropy."""
        return sum(step.bits for step in self.steps)

    @property
    def share(self) -> float | None:
        """The mean share of the best gain, over tests where anything could be gained."""
        shares = [step.share for step in self.steps if step.share is not None]
        return sum(shares) / len(shares) if shares else None

    @property
    def redundant(self) -> int:
        """The number of tests that could not gain anything."""
        return sum(step.redundant for step in self.steps)


def measure(space: Space, trials: Sequence[Trial]) -> Trajectory:
    """The measures of these tests, step by step."""
    belief = space.belief
    certain_after = 0 if settled(space, belief) else None
    steps: list[Step] = []
    for placed, light in trials:
        gains, before = information_gain(space, belief), entropy(belief)
        belief = update(space, belief, placed, light)
        after, left = entropy(belief), int((belief > TINY).sum())
        gain, best_gain = float(gains[placed]), float(gains.max())
        steps.append(Step(placed, bool(light), before - after, gain, best_gain, left, after))
        if certain_after is None and settled(space, belief):
            certain_after = len(steps)
    return Trajectory(tuple(steps), certain_after)
