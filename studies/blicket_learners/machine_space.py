"""The space of "how many machines must be seen": which machines there are, and which are shown.

A machine is drawn in steps: its form, its number of objects, one of the machines of both, and the
places of its objects. So no form is drawn more often because it has more machines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from trivium.benchmarks.blicket.inference.hypotheses import Hypothesis, Space, machines

PLACES = 8
TRAINED_FORMS = ("disjunctive", "conjunctive", "inhibitor")
HELD_OUT_FORMS = ("parity", "threshold-2")
TRAINED_NUMBERS = (3, 4, 5, 6)
HELD_OUT_NUMBERS = (7, 8)
TESTED = 240  # machines of each test set


@dataclass(frozen=True)
class Machine:
    """A rule over places, and the places that hold an object."""

    rule: Hypothesis
    present: int

    @property
    def objects(self) -> int:
        """How many objects there are."""
        return self.present.bit_count()


@cache
def own_machines(form: str, objects: int) -> tuple[Hypothesis, ...]:
    """The machines of a form over the first so many places."""
    return machines(objects, form)


def move(rule: Hypothesis, places: Sequence[int]) -> Hypothesis:
    """The rule with its objects at these places."""

    def moved(mask: int) -> int:
        return sum(1 << place for number, place in enumerate(places) if mask >> number & 1)

    return Hypothesis(rule.form, moved(rule.blickets), rule.threshold, moved(rule.inhibitors))


def draw(
    forms: Sequence[str], numbers: Sequence[int], generator: np.random.Generator
) -> Iterator[Machine]:
    """Machines of these forms and numbers of objects, in turn, so that all are equally frequent."""
    cases = [(form, objects) for objects in numbers for form in forms]
    while True:
        for case in generator.permutation(len(cases)):
            form, objects = cases[case]
            own = own_machines(form, objects)
            places = sorted(generator.permutation(PLACES)[:objects].tolist())
            rule = move(own[generator.integers(len(own))], places)
            yield Machine(rule, sum(1 << place for place in places))


def take(source: Iterator[Machine], count: int, excluded: set[Machine]) -> list[Machine]:
    """So many different machines that are not excluded."""
    found: dict[Machine, None] = {}
    for machine in source:
        if machine not in excluded:
            found[machine] = None
        if len(found) == count:
            break
    return list(found)


@cache
def test_sets() -> dict[str, list[Machine]]:
    """The machines held out of every training: known forms and numbers, new numbers, new forms."""
    generator = np.random.default_rng(2026)
    cases = {
        "new machines": (TRAINED_FORMS, TRAINED_NUMBERS),
        "new numbers of objects": (TRAINED_FORMS, HELD_OUT_NUMBERS),
        "new form: parity": (HELD_OUT_FORMS[:1], TRAINED_NUMBERS),
        "new form: threshold-2": (HELD_OUT_FORMS[1:], TRAINED_NUMBERS[1:]),
    }
    # A form may have fewer machines than are wanted, so this is a number at most.
    return {name: take(draw(*case, generator), TESTED, set()) for name, case in cases.items()}


def training_set(seed: int, count: int) -> list[Machine]:
    """The machines that a run of this seed trains on; larger sets hold the smaller ones."""
    held_out = set(test_sets()["new machines"])
    generator = np.random.default_rng([2027, seed])
    return take(draw(TRAINED_FORMS, TRAINED_NUMBERS, generator), count, held_out)


@cache
def right_prior(objects: int, forms: tuple[str, ...]) -> Space:
    """All machines of these forms over so many objects: each form is equally likely."""
    by_form = [own_machines(form, objects) for form in forms]
    weights = [1 / len(own) for own in by_form for _ in own]
    return Space(tuple(rule for own in by_form for rule in own), tuple(weights), objects=objects)
