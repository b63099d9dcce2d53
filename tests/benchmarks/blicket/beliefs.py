"""What the tests of a prompt allow, by plain enumeration and with a learned prior."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cache

from trivium.benchmarks.blicket.inference.hypotheses import Space, make_space
from trivium.benchmarks.blicket.inference.observer import (
    family_probability,
    hierarchical_prior,
    update,
)
from trivium.benchmarks.blicket.prompts.evidence import Machine

KINDS = ("disjunctive", "conjunctive")


def form_beliefs(
    machines: Sequence[Machine], kinds: tuple[str, ...] = KINDS
) -> list[dict[str, float]]:
    """The probability of each form before the first test and after each test.

    The prior is learned from the other machines, which predicts the effect of given hypotheses:
    how soon the form of the new machine is certain.
    """
    *others, new = machines
    learned = [(_machines_of(len(each.objects), kinds), each.trials) for each in others]
    space = hierarchical_prior(_machines_of(len(new.objects), kinds), learned)
    belief = space.belief
    found = [family_probability(space, belief)]
    for placed, light in new.tests:
        on = sum(1 << new.objects.index(name) for name in placed)
        belief = update(space, belief, on, light)
        found.append(family_probability(space, belief))
    return found


@cache
def _machines_of(objects: int, kinds: tuple[str, ...]) -> Space:
    """Every machine of these kinds, all kinds equally likely."""
    space = make_space(objects, kinds)
    members = space.family_members
    weights = members.T @ (1 / members.sum(axis=1))
    return Space(space.hypotheses, tuple(map(float, weights)), objects)


def possible(machine: Machine, *, odd: bool = False) -> list[tuple[str, set[str]]]:
    """Every form and set of blickets that allows the tests, by plain enumeration."""
    found = []
    for size in range(1, len(machine.objects) + 1):
        for blickets in map(set, itertools.combinations(machine.objects, size)):
            lit = [set(placed) for placed, light in machine.tests if light]
            dark = [set(placed) for placed, light in machine.tests if not light]
            if all(blickets & on for on in lit) and not any(blickets & on for on in dark):
                found.append(("disjunctive", blickets))
            if size == 1:
                continue  # with one blicket all forms are the same
            if all(blickets <= on for on in lit) and not any(blickets <= on for on in dark):
                found.append(("conjunctive", blickets))
            uneven = [len(blickets & on) % 2 == 1 for on in lit + dark]
            if odd and uneven == [True] * len(lit) + [False] * len(dark):
                found.append(("parity", blickets))
    return found
