"""Programs that act in Blicket-v0: chance, and observers that explore, conclude and answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.benchmarks.blicket.inference.explore import EXPLORERS, Explorer
from trivium.benchmarks.blicket.inference.hypotheses import FORMS
from trivium.benchmarks.blicket.inference.observer import (
    CERTAIN,
    blicket_probability,
    light_probability,
    settled,
    update,
)
from trivium.benchmarks.blicket.world.dynamics import BlicketSpec
from trivium.core.errors import require

Observation = NDArray[np.float32]
# An actor is asked once per step, with what it sees now; a policy makes one for each episode.
Actor = Callable[[Observation], Any]
Policy = Callable[[BlicketSpec, np.random.Generator], Actor]
SURE_ENOUGH = 0.95  # noisy machines are never known for certain


def random_policy(spec: BlicketSpec, generator: np.random.Generator) -> Actor:
    """Every action is as likely as any other."""
    if spec.interface == "child":
        return lambda seen: int(generator.integers(spec.actions))
    return lambda seen: generator.integers(0, 2, spec.action_bits)


def observer_policy(explorer: Explorer) -> Policy:
    """Explore until the machine is known, then answer by what is most likely."""
    return lambda spec, generator: Observer(spec, explorer, generator).act


def get_policy(name: str) -> Policy:
    """The policy of this name: random actions, or an observer with one of the explorers."""
    names = ("random_actions", *EXPLORERS)
    require(name in names, f"policy must be one of {', '.join(names)}, got {name!r}")
    return random_policy if name == "random_actions" else observer_policy(EXPLORERS[name])


class Observer:
    """One episode of an ideal observer with a given way of exploring."""

    def __init__(
        self, spec: BlicketSpec, explorer: Explorer, generator: np.random.Generator
    ) -> None:
        self.spec, self.space = spec, spec.space
        self.explorer, self.generator = explorer, generator
        self.belief = self.space.belief
        self.level = SURE_ENOUGH if self.space.noisy else CERTAIN
        self.everything = (1 << spec.objects) - 1
        self.made = 0
        self.testing: int | None = None  # the set whose light comes with the next observation
        self.wanted: int | None = None  # the set that a child is still laying out

    def act(self, seen: Observation) -> Any:
        """The next action."""
        bits = [bool(bit) for bit in seen]
        if self.spec.has_quiz and bits[-1]:
            return self._answer(bits)
        if self.testing is not None:
            light = bits[self.spec.objects]
            self.belief = update(self.space, self.belief, self.testing, light)
            self.made += 1
            self.testing = None
        lying = sum(bit << place for place, bit in enumerate(bits[: self.spec.objects]))
        known = settled(self.space, self.belief, self.level)
        if self.spec.interface == "child":
            return self._hand(lying, known)
        placed = self._choose(known)
        self.testing = placed
        return self._bits(placed | (known and self.spec.has_quiz) << self.spec.objects)

    def _choose(self, known: bool) -> int:
        """The next set: one to learn from or, when all is known, one that should light."""
        if known:
            return int(light_probability(self.space, self.belief).argmax())
        chances = self.explorer.choose(self.space, self.belief, self.made)
        return int(self.generator.choice(len(chances), p=chances))

    def _hand(self, lying: int, known: bool) -> int:
        """A child's next move towards a test: toggle what lies wrong, check, or finish."""
        if known and self.spec.has_quiz:
            return self.spec.objects + 1
        if self.wanted is None:
            self.wanted = self._choose(known)
        wrong = lying ^ self.wanted
        if wrong:
            return (wrong & -wrong).bit_length() - 1
        self.testing, self.wanted = self.wanted, None
        return self.spec.objects

    def _answer(self, bits: list[bool]) -> Any:
        child = self.spec.interface == "child"
        asked = [place for place, bit in enumerate(bits[: self.spec.objects]) if bit]
        if asked:
            yes = blicket_probability(self.space, self.belief)[asked[0]] > 0.5
            if child:
                return asked[0] if yes else self.spec.objects + 1
            return self._bits(int(yes) << asked[0])
        mass = [0.0] * len(FORMS)
        for hypothesis, chance in zip(self.space, self.belief, strict=True):
            mass[FORMS.index(hypothesis.form)] += chance
        form = int(np.argmax(mass))
        return form if child else self._bits(form)

    def _bits(self, code: int) -> NDArray[np.int64]:
        return np.array([code >> place & 1 for place in range(self.spec.action_bits)])
