"""The ideal observer: exact beliefs about a machine, and the information in tests.

A belief is an array of probabilities, one for each hypothesis of a space; a trial is the set
of objects on the machine and whether it lit up. `support` has the same without probabilities.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from trivium.benchmarks.blicket.inference.hypotheses import Space, letters
from trivium.core.errors import UserError, require

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


def hierarchical_prior(
    space: Space, training: Sequence[tuple[Space, Sequence[Trial]]], concentration: float = 1.0
) -> Space:
    """The space of a new machine with a prior learned from other machines and their tests.

    The families of all machines are drawn from one unknown mixture, with a Dirichlet prior of
    this concentration around the families' shares in the space's own prior. With a small
    concentration, all machines are expected to be of one family. Exact: sums over all assignments
    of families to the training machines, grouped by how often each family occurs.
    """
    require(concentration > 0, f"concentration must be above 0, got {concentration}")
    prior = family_probability(space, space.belief)
    base = concentration * np.array(list(prior.values()))
    weights = {(0,) * len(prior): 1.0}  # of each vector of counts
    for other, trials in training:
        likelihood = _family_likelihood(other, trials)
        require(
            set(likelihood) == set(prior),
            f"training machines must be of the families {', '.join(prior)}, "
            f"got {', '.join(likelihood)}",
        )
        extended: dict[tuple[int, ...], float] = defaultdict(float)
        for counts, weight in weights.items():
            for at, family in enumerate(prior):
                more = (*counts[:at], counts[at] + 1, *counts[at + 1 :])
                # As in Polya's urn: base plus count so far; the common denominator is left out.
                extended[more] += weight * (base[at] + counts[at]) * likelihood[family]
        weights = extended
    expected = np.zeros(len(base))
    for counts, weight in weights.items():
        expected += weight * (base + np.array(counts))
    require(expected.sum() > 0, "no assignment of families allows the tests of the training")
    shares = dict(zip(prior, (expected / expected.sum()).tolist(), strict=True))
    factors = {name: shares[name] / before if before else 0.0 for name, before in prior.items()}
    changed = space.belief * np.array([factors[hypothesis.family] for hypothesis in space])
    return replace(space, prior=tuple(changed.tolist()))


def _family_likelihood(space: Space, trials: Sequence[Trial]) -> dict[str, float]:
    """The probability of these lights under each family of the space."""
    joint = space.belief
    for placed, light in trials:
        lit = space.likelihood[:, placed]
        joint = joint * (lit if light else 1.0 - lit)
    prior, found = (family_probability(space, each) for each in (space.belief, joint))
    return {name: found[name] / before if before else 0.0 for name, before in prior.items()}


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
