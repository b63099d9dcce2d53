"""The space of "how many machines must be seen": which machines there are, and which are shown.

A machine has blickets and inhibitors among eight objects that are always all there, so nothing
that is seen before a test tells machines apart. It lights with a blicket (disjunctive), with an odd
number of them (parity) or with all of them (conjunctive, in no training set), and never with an
inhibitor. Its type is what is left when objects are renamed.

One set of blickets in seven is in no training set, so the answer about a new machine was never
right before, and who only remembers answers cannot give it. Four types are held out as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

OBJECTS = 8
DISJUNCTIVE, PARITY, CONJUNCTIVE = FORMS = range(3)
TRAINED_FORMS = (DISJUNCTIVE, PARITY)
MAX_INHIBITORS = 2
MAX_TESTS = 14  # of an agent or an observer, before it must answer
NEW_SHARE = 1 / 7  # of the sets of blickets
TESTED = 120  # machines of each test set
TRAINED, NEW_MACHINES, NEW_TYPES = "machines shown", "new machines", "new types"
NEW_FORM = "new form: conjunctive"


class Type(NamedTuple):
    """What is left of a machine when its objects are renamed."""

    form: int
    blickets: int
    inhibitors: int


class Machine(NamedTuple):
    """A form, and sets of objects as bits."""

    form: int
    blickets: int
    inhibitors: int

    @property
    def type(self) -> Type:
        return Type(self.form, self.blickets.bit_count(), self.inhibitors.bit_count())


HELD_OUT_TYPES = {
    Type(DISJUNCTIVE, 2, 1),
    Type(DISJUNCTIVE, 4, 0),
    Type(PARITY, 3, 1),
    Type(PARITY, 5, 0),
}


def _sets(among: int, size: int) -> list[int]:
    there = [1 << number for number in range(OBJECTS) if among >> number & 1]
    return [sum(chosen) for chosen in combinations(there, size)]


@cache
def all_machines(forms: tuple[int, ...] = TRAINED_FORMS) -> tuple[Machine, ...]:
    """Every machine of these forms; with one blicket all forms are the same."""
    everything = (1 << OBJECTS) - 1
    return tuple(
        Machine(form, blickets, inhibitors)
        for form in forms
        for size in range(1 if form == DISJUNCTIVE else 2, OBJECTS + 1)
        for blickets in _sets(everything, size)
        for count in range(MAX_INHIBITORS + 1)
        for inhibitors in _sets(everything & ~blickets, count)
    )


@cache
def new_sets() -> frozenset[int]:
    """The sets of blickets that are in no training set: the same share of every size."""
    generator = np.random.default_rng(51_101)
    drawn: list[int] = []
    for size in range(1, OBJECTS + 1):
        sets = _sets((1 << OBJECTS) - 1, size)
        drawn += generator.choice(sets, round(NEW_SHARE * len(sets)), replace=False).tolist()
    return frozenset(drawn)


@cache
def test_sets() -> dict[str, list[Machine]]:
    """Machines of known types, of new types, and of a new form, with sets never shown."""
    generator = np.random.default_rng(51_102)
    new, of_new_form = (
        [machine for machine in all_machines(forms) if machine.blickets in new_sets()]
        for forms in (TRAINED_FORMS, (CONJUNCTIVE,))
    )
    known, held_out = (
        [machine for machine in new if (machine.type in HELD_OUT_TYPES) == held_out]
        for held_out in (False, True)
    )
    return {
        NEW_MACHINES: _draw(known, generator),
        NEW_TYPES: _draw(held_out, generator),
        NEW_FORM: _draw(of_new_form, generator),
    }


def _draw(machines: list[Machine], generator: np.random.Generator) -> list[Machine]:
    order = generator.permutation(len(machines))[:TESTED]
    return [machines[number] for number in order]


def training_set(seed: int, count: int) -> list[Machine]:
    """The machines that a run of this seed trains on; larger sets contain the smaller ones."""
    shown = [
        machine
        for machine in all_machines()
        if machine.blickets not in new_sets() and machine.type not in HELD_OUT_TYPES
    ]
    order = np.random.default_rng([51_103, seed]).permutation(len(shown))[:count]
    return [shown[number] for number in order]


def lights(machines: Sequence[Machine]) -> NDArray[np.bool_]:
    """Whether each machine lights with each set of objects: [machine, set]."""
    placed = np.arange(1 << OBJECTS)
    form, blickets, inhibitors = (
        np.array(column)[:, None] for column in zip(*machines, strict=True)
    )
    on = placed & blickets
    rules = [on != 0, np.bitwise_count(on) % 2 == 1, on == blickets]
    lit: NDArray[np.bool_] = np.choose(form, rules) & (placed & inhibitors == 0)
    return lit


def is_blicket(machines: Sequence[Machine]) -> NDArray[np.bool_]:
    """Whether each object of each machine is a blicket: [machine, object]."""
    sets = np.array([machine.blickets for machine in machines])
    answers: NDArray[np.bool_] = sets[:, None] >> np.arange(OBJECTS) & 1 == 1
    return answers
