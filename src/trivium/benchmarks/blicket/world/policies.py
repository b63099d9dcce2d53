"""Programs for Blicket-v0: random actions, and ideal observers that explore and then answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.benchmarks.blicket.inference import observer
from trivium.benchmarks.blicket.inference.explore import EXPLORERS, Explorer
from trivium.benchmarks.blicket.inference.hypotheses import FORMS
from trivium.benchmarks.blicket.world.dynamics import NOT_SURE
from trivium.benchmarks.blicket.world.spec import BlicketSpec
from trivium.core.errors import require

Observation = NDArray[np.float32]
Actor = Callable[[Observation], Any]  # from an observation to the next action, for one episode
Policy = Callable[[BlicketSpec, np.random.Generator], Actor]
SURE_ENOUGH = 0.95  # noisy machines are never known for certain


def random_policy(spec: BlicketSpec, generator: np.random.Generator) -> Actor:
    """An actor that draws every action with the same probability."""
    if spec.interface == "child":
        return lambda seen: int(generator.integers(spec.actions))
    return lambda seen: generator.integers(0, 2, spec.action_bits)


def get_policy(name: str) -> Policy:
    """The policy of this name: random actions, or an observer with one of the explorers."""
    names = ("random_actions", *EXPLORERS)
    require(name in names, f"policy must be one of {', '.join(names)}, got {name!r}")
    if name == "random_actions":
        return random_policy
    return lambda spec, generator: Observer(spec, EXPLORERS[name], generator).act


class Observer:
    """One episode of an ideal observer: explores until the machine is known, then answers."""

    def __init__(
        self, spec: BlicketSpec, explorer: Explorer, generator: np.random.Generator
    ) -> None:
        self.spec, self.space = spec, spec.space
        self.explorer, self.generator = explorer, generator
        self.belief = self.space.belief
        self.level = SURE_ENOUGH if self.space.noisy else observer.CERTAIN
        self.child = spec.interface == "child"
        self.tests = 0
        self.testing: int | None = None  # the set whose light is in the next observation
        self.wanted: int | None = None  # the set that is being placed, in the child interface
        self.examples: list[bool] = []  # the lights of the demonstrations

    def act(self, seen: Observation) -> Any:
        """The next action."""
        objects = self.spec.objects
        bits = [bool(bit) for bit in seen]
        if self.spec.has_quiz and bits[-1]:
            return self._answer(bits)
        if self.spec.has_examples and True in bits[objects + 1 : objects + 3]:
            self.examples.append(bits[objects])
            self.testing = None  # actions do nothing during demonstrations
        if self.testing is not None:
            self.belief = observer.update(self.space, self.belief, self.testing, bits[objects])
            self.tests += 1
            self.testing = None
        known = observer.settled(self.space, self.belief, self.level)
        if self.child:
            on_machine = sum(bit << number for number, bit in enumerate(bits[:objects]))
            return self._move_as_child(on_machine, known)
        self.testing = self._choose(known)
        return self._bits(self.testing | (known and self.spec.has_quiz) << objects)

    def _choose(self, known: bool) -> int:
        """The next set: an informative one or, if the machine is known, one that lights it."""
        if known:
            return int(observer.light_probability(self.space, self.belief).argmax())
        options = self.explorer(self.space, self.belief, self.tests)
        return options[int(self.generator.random() * len(options))]

    def _move_as_child(self, on_machine: int, known: bool) -> int:
        """Toggle an object that is in the wrong place, check, or finish."""
        if known and self.spec.has_quiz:
            return self.spec.objects + 1
        if self.wanted is None:
            self.wanted = self._choose(known)
        wrong = on_machine ^ self.wanted
        if wrong:
            return (wrong & -wrong).bit_length() - 1
        self.testing, self.wanted = self.wanted, None
        return self.spec.objects

    def _answer(self, bits: list[bool]) -> Any:
        """The most likely answer to the question in an observation."""
        if True in bits[: self.spec.objects]:
            asked = bits.index(True)
            yes = observer.blicket_probability(self.space, self.belief)[asked] > 0.5
            if self.child:
                return asked if yes else self.spec.objects + 1
            return self._bits(int(yes) << asked)
        mass = [0.0] * len(FORMS)
        for hypothesis, chance in zip(self.space, self.belief, strict=True):
            mass[FORMS.index(hypothesis.form)] += chance
        form = int(np.argmax(mass))
        if self.spec.has_examples:
            # The first test lights the first example machine only if that is disjunctive.
            given = self.spec.demonstrations == "given"
            form = form ^ self.examples[0] if given else NOT_SURE
        return form if self.child else self._bits(form)

    def _bits(self, code: int) -> NDArray[np.int64]:
        return np.array([code >> bit & 1 for bit in range(self.spec.action_bits)])
