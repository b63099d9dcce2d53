"""The ideal observer's beliefs about the form of the new machine of a prompt."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from trivium.benchmarks.blicket.inference.hypotheses import Space, make_space
from trivium.benchmarks.blicket.inference.observer import (
    family_probability,
    hierarchical_prior,
    update,
)
from trivium.benchmarks.blicket.prompts.evidence import Machine
from trivium.benchmarks.blicket.prompts.matched import NAMED_KINDS


def form_beliefs(
    machines: Sequence[Machine], kinds: tuple[str, ...] = NAMED_KINDS
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
