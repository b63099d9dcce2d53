"""The sets of blickets that tests without noise leave possible.

A set of objects is a bit mask, and so is a set of such sets: bit B of it is the set of objects B,
so a mask over n objects has 2**n bits. Gives the same answers as `observer`, without
probabilities, in a few microseconds: generating prompts tries thousands of tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from trivium.benchmarks.blicket.inference.hypotheses import CONJUNCTIVE, DISJUNCTIVE, PARITY
from trivium.benchmarks.blicket.inference.observer import Trial

Rule = str | int  # a form, or the number of blickets that a machine needs


def of_rule(trials: Sequence[Trial], objects: int, rule: Rule) -> int:
    """The possible sets of blickets of a machine with this rule."""
    left = _allowed(rule, objects)
    for placed, light in trials:
        lit = _lighting(rule, objects, placed)
        left &= lit if light else ~lit
        if not left:
            break
    return left


def of_any_kind(trials: Sequence[Trial], objects: int) -> int:
    """The possible sets if the machine may need any number of its blickets, or an odd number.

    At least 1 of them (disjunctive), at least 2, ..., all of them (conjunctive), or parity.
    """
    left = of_rule(trials, objects, PARITY)
    for needed in range(1, objects + 1):
        left |= of_rule(trials, objects, needed)
    return left


def forms(trials: Sequence[Trial], objects: int) -> list[str]:
    """Which of the disjunctive and the conjunctive form are possible."""
    return [form for form in (DISJUNCTIVE, CONJUNCTIVE) if of_rule(trials, objects, form)]


def answer(possible: int, objects: int) -> tuple[int, int]:
    """The objects that are in all possible sets and those that are in some, as sets of objects."""
    sure = maybe = 0
    for number in range(objects):
        having = with_any_of(objects, 1 << number)
        if not possible & ~having:
            sure |= 1 << number
        elif possible & having:
            maybe |= 1 << number
    return sure, maybe


def with_any_of(objects: int, part: int) -> int:
    """All sets that hold an object of this part."""
    return _lighting(DISJUNCTIVE, objects, part)


@lru_cache(maxsize=128)
def _allowed(rule: Rule, objects: int) -> int:
    """The sets that a machine may have: a single blicket is disjunctive, not conjunctive."""
    fewest = 2 if rule == CONJUNCTIVE else rule if isinstance(rule, int) else 1
    return sum(1 << each for each in range(1 << objects) if each.bit_count() >= fewest)


@lru_cache(maxsize=1 << 13)
def _lighting(rule: Rule, objects: int, placed: int) -> int:
    """The sets of blickets with which these objects light the machine up."""
    mask = 0
    for blickets in range(1 << objects):
        number = (blickets & placed).bit_count()
        if rule == PARITY:
            lit = number % 2 == 1
        elif rule == CONJUNCTIVE:
            lit = number == blickets.bit_count()
        else:
            lit = number >= (rule if isinstance(rule, int) else 1)
        mask |= lit << blickets
    return mask
