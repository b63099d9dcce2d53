"""The two decision trees of the perfect answer, over three-valued correlation.

Sets of variables are bits of one number: bit i is variable i.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

Edge = tuple[int, int]  # cause and effect


class World(Protocol):
    """What the trees ask about."""

    def correlated(self, first: int, second: int) -> bool | None:
        """True, false, or None where it is not known."""


def ancestor_bits(parents: Sequence[Sequence[int]]) -> list[int]:
    """Each variable and everything it stems from."""
    bits = [0] * len(parents)
    for variable in topological(parents):
        bits[variable] = 1 << variable
        for parent in parents[variable]:
            bits[variable] |= bits[parent]
    return bits


def topological(parents: Sequence[Sequence[int]]) -> list[int]:
    """All variables, every one after its parents; those on a cycle are left out."""
    order: list[int] = []
    placed = 0
    waiting = list(range(len(parents)))
    while waiting:
        later = []
        for variable in waiting:
            if all(placed >> parent & 1 for parent in parents[variable]):
                order.append(variable)
                placed |= 1 << variable
            else:
                later.append(variable)
        if len(later) == len(waiting):
            break
        waiting = later
    return order


class Observed:
    """Correlation as far as it was observed: two variables are correlated if they share a stem.

    In a forest that is belonging to one tree; in any graph it is d-connection without
    conditioning.
    """

    __slots__ = ("_bits", "_roots", "_seen")

    def __init__(self, parents: Sequence[Sequence[int]], seen: Sequence[bool]) -> None:
        self._bits = ancestor_bits(parents)
        self._roots = [variable for variable, above in enumerate(parents) if not above]
        self._seen = seen

    def sets(self) -> list[list[int]]:
        """The observed variables that stem from one root, in the order of the roots.

        Two observed variables are correlated exactly when some set holds both. In a forest
        the sets have nothing in common; a set that adds nothing to another is left out.
        Ordered by their roots, and not by their first members, small sets stand first as
        often as large ones.
        """
        seen = [variable for variable, known in enumerate(self._seen) if known]
        found = [[own for own in seen if self._bits[own] >> root & 1] for root in self._roots]
        if sum(map(len, found)) == len(seen):
            return [own for own in found if own]
        distinct = dict.fromkeys(map(frozenset, found))
        return [sorted(own) for own in distinct if not any(own < other for other in distinct)]

    def partners(self, variable: int) -> list[int]:
        """The observed variables that an observed variable is correlated with."""
        if not self._seen[variable]:
            return []
        own = self._bits[variable]
        return [
            other
            for other, bits in enumerate(self._bits)
            if bits & own and self._seen[other] and other != variable
        ]

    def correlated(self, first: int, second: int) -> bool | None:
        """True, false, or None where either is unobserved."""
        if not (self._seen[first] and self._seen[second]):
            return None
        return self._bits[first] & self._bits[second] != 0


def causes(hypotheses: Iterable[Edge], effect: int) -> set[int]:
    """What is hypothesised to cause a variable, directly or through a chain."""
    above: dict[int, list[int]] = {}
    for cause, caused in hypotheses:
        above.setdefault(caused, []).append(cause)
    found: set[int] = set()
    waiting = [effect]
    while waiting:
        for cause in above.get(waiting.pop(), ()):
            if cause not in found:
                found.add(cause)
                waiting.append(cause)
    return found


def is_valid(world: World, target: Edge) -> bool:
    """Invalid only if the two are known not to be correlated."""
    return world.correlated(*target) is not False


def control_variables(
    world: World, target: Edge, hypotheses: Iterable[Edge], variables: Iterable[int]
) -> list[int]:
    """What to hold fixed when the target hypothesis is tested, in the order given."""
    independent, dependent = target
    believed = causes(hypotheses, dependent)
    chosen = []
    for variable in variables:
        if variable in target:
            continue
        with_dependent = world.correlated(variable, dependent)
        related = with_dependent or world.correlated(variable, independent)
        if related or (with_dependent is None and variable in believed):
            chosen.append(variable)
    return chosen
