"""The ideal observer: exact beliefs about a machine, and what a test is worth.

A belief is an array of probabilities, one for each hypothesis of a space; a trial is the set
of objects that was placed and whether the machine lit. Functions take and return plain arrays.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import lgamma

import numpy as np
from numpy.typing import NDArray

from trivium.benchmarks.blicket.inference.hypotheses import Space, letters
from trivium.core.errors import UserError, require

Belief = NDArray[np.float64]
Trial = tuple[int, bool]
TINY = 1e-12  # gains and probabilities below this are rounding
CERTAIN = 1.0 - 1e-9


def update(space: Space, belief: Belief, placed: int, light: bool) -> Belief:
    """The belief after one more test."""
    lit = space.likelihood[:, placed]
    joint = belief * (lit if light else 1.0 - lit)
    total = joint.sum()
    if total <= 0:
        told = f"{letters(placed) or 'nothing'} with{'' if light else 'out'} light"
        raise UserError(f"no hypothesis of the space allows {told} after the tests before it")
    return np.asarray(joint / total)


def posterior(space: Space, trials: Iterable[Trial]) -> Belief:
    """The belief after these tests, in whatever order they were made."""
    belief = space.belief
    for placed, light in trials:
        belief = update(space, belief, placed, light)
    return belief


def entropy(belief: Belief) -> float:
    """Bits that are still unknown."""
    held = belief[belief > 0]
    return float(-(held * np.log2(held)).sum()) + 0.0


def light_probability(space: Space, belief: Belief) -> NDArray[np.float64]:
    """How likely each placement is to light the machine."""
    return np.asarray(belief @ space.likelihood)


def information_gain(space: Space, belief: Belief) -> NDArray[np.float64]:
    """The bits that each placement is expected to tell about the hypothesis."""
    total = _binary_entropy(light_probability(space, belief))
    gain = total - belief @ _binary_entropy(space.likelihood) if space.noisy else total
    return np.where(gain > TINY, gain, 0.0)


def _binary_entropy(chance: NDArray[np.float64]) -> NDArray[np.float64]:
    inner = np.clip(chance, TINY, 1 - TINY)
    bits = -(inner * np.log2(inner) + (1 - inner) * np.log2(1 - inner))
    return np.where((chance > TINY) & (chance < 1 - TINY), bits, 0.0)


def blicket_probability(space: Space, belief: Belief) -> NDArray[np.float64]:
    """How likely each object is to be a blicket."""
    return np.asarray(belief @ space.blickets)


def family_probability(space: Space, belief: Belief) -> dict[str, float]:
    """How likely the machine is to be of each family (conjunctive, disjunctive, ...)."""
    mass = space.family_members @ belief
    return {family: float(share) for family, share in zip(space.families, mass, strict=True)}


def certainty(space: Space, belief: Belief) -> float:
    """The probability of the best guess; hypotheses that no test tells apart count as one."""
    return float(np.bincount(space.extensions, weights=belief).max())


def settled(space: Space, belief: Belief, level: float = CERTAIN) -> bool:
    """Whether the machine is known."""
    return certainty(space, belief) >= level


def quiz_reward(
    space: Space,
    belief: Belief,
    positive: float = 1.0,
    negative: float = -1.0,
    type_reward: float = 0.0,
) -> float:
    """What the best answers are expected to earn: one about each object, and about the form."""
    yes = blicket_probability(space, belief)
    right = np.maximum(yes, 1 - yes)
    wrong = 1 - right
    objects = float((positive * right + negative * wrong).sum())
    form = max(family_probability(space, belief).values())
    return objects + type_reward * (2 * form - 1)


def evidence(space: Space, trials: Sequence[Trial]) -> NDArray[np.float64]:
    """How likely each family of the space makes these lights."""
    seen = np.ones(len(space))
    for placed, light in trials:
        lit = space.likelihood[:, placed]
        seen = seen * (lit if light else 1.0 - lit)
    mass = space.family_members @ space.belief
    joint = space.family_members @ (space.belief * seen)
    return np.divide(joint, mass, out=np.zeros_like(joint), where=mass > 0)


def hierarchical_prior(
    space: Space,
    training: Sequence[tuple[Space, Sequence[Trial]]],
    concentration: float = 1.0,
) -> Space:
    """The space of a new machine, its prior changed by what other machines did.

    The families of all machines are drawn from one unknown mixture, with a Dirichlet prior
    of this concentration around the families' shares in the space's own prior. Small
    concentrations expect machines to be alike. Sums exactly over every way that the training
    machines may be shared out among the families.
    """
    require(concentration > 0, f"concentration must be above 0, got {concentration}")
    families = space.families
    base = concentration * (space.family_members @ space.belief)
    ways = {(0,) * len(families): 1.0}
    for other, trials in training:
        require(
            set(other.families) == set(families),
            f"training machines must be of the families {', '.join(families)}, "
            f"got {', '.join(other.families)}",
        )
        told = dict(zip(other.families, evidence(other, trials), strict=True))
        more: dict[tuple[int, ...], float] = defaultdict(float)
        for counts, weight in ways.items():
            for place, family in enumerate(families):
                grown = (*counts[:place], counts[place] + 1, *counts[place + 1 :])
                more[grown] += weight * told[family]
        ways = more
    expected = np.zeros(len(families))
    for counts, weight in ways.items():
        if weight > 0 and all(b > 0 for b, n in zip(base, counts, strict=True) if n):
            expected += weight * _mixture_weight(base, counts) * (base + np.array(counts))
    require(expected.sum() > 0, "no sharing out of families allows what the training machines did")
    shares = expected / expected.sum()
    mass = space.family_members @ space.belief
    factor = np.divide(shares, mass, out=np.zeros_like(shares), where=mass > 0)
    return replace(space, prior=tuple(space.belief * (factor @ space.family_members)))


def _mixture_weight(base: NDArray[np.float64], counts: tuple[int, ...]) -> float:
    """How likely a Dirichlet mixture makes one sequence of draws with these counts, up to scale."""
    pairs = zip(base, counts, strict=True)
    return float(np.exp(sum(lgamma(b + n) - lgamma(b) for b, n in pairs if n)))


@dataclass(frozen=True)
class Step:
    """What one test told, and what the best test would have been expected to tell."""

    placed: int
    light: bool
    bits: float  # by how much the unknown shrank; noise can make it grow
    gain: float  # the bits that this test was expected to tell
    best_gain: float  # the most that any test was expected to tell
    left: int  # hypotheses still possible afterwards
    entropy: float  # bits still unknown afterwards

    @property
    def share(self) -> float | None:
        """The share of the best available gain; nothing where there was nothing to gain."""
        return self.gain / self.best_gain if self.best_gain > 0 else None

    @property
    def redundant(self) -> bool:
        """Whether the test could not tell anything new."""
        return self.gain == 0


@dataclass(frozen=True)
class Trajectory:
    """The measures of a sequence of tests, whoever made them."""

    steps: tuple[Step, ...]
    belief: tuple[float, ...]  # at the end
    tests_to_certainty: int | None  # None where the machine was never known

    @property
    def bits(self) -> float:
        """Bits gained in all."""
        return sum(step.bits for step in self.steps)

    @property
    def share(self) -> float | None:
        """The mean share of the best available gain, over tests with something to gain."""
        shares = [step.share for step in self.steps if step.share is not None]
        return sum(shares) / len(shares) if shares else None

    @property
    def redundant(self) -> int:
        """How many tests could not tell anything new."""
        return sum(step.redundant for step in self.steps)


def measure(space: Space, trials: Sequence[Trial], level: float = CERTAIN) -> Trajectory:
    """Every measure of these tests, step by step."""
    belief = space.belief
    first = 0 if settled(space, belief, level) else None
    steps = []
    for number, (placed, light) in enumerate(trials, start=1):
        gains = information_gain(space, belief)
        before = entropy(belief)
        belief = update(space, belief, placed, light)
        after = entropy(belief)
        steps.append(
            Step(
                placed=placed,
                light=bool(light),
                bits=before - after,
                gain=float(gains[placed]),
                best_gain=float(gains.max()),
                left=int((belief > TINY).sum()),
                entropy=after,
            )
        )
        if first is None and settled(space, belief, level):
            first = number
    return Trajectory(tuple(steps), tuple(map(float, belief)), first)
