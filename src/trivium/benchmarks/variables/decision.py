"""Observed correlations, and the two decision trees that give the perfect answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

V = TypeVar("V", int, str)  # a variable, by number or by name
Edge = tuple[int, int]  # cause and effect


class Decision(NamedTuple, Generic[V]):
    """Whether a hypothesis is valid, and the variables to control in its test."""

    valid: bool
    control: tuple[V, ...]


@dataclass(frozen=True)
class Case(Generic[V]):
    """What the decision trees are asked about."""

    correlated: Callable[[V, V], bool | None]  # None if it is unknown
    target: tuple[V, V]  # independent, dependent
    believed: Set[V]  # hypothesised causes of the dependent variable


@dataclass(frozen=True)
class Tree:
    """A decision tree: questions in turn, each with the answer if it holds, and the last answer."""

    questions: tuple[tuple[str, Callable[[Case[Any], Any], bool], str], ...]
    otherwise: str


INVALID = "answer invalid"
VALID = "answer valid, independent = IND, dependent = DEP"
CONTROL = "control V"
LEAVE = "do not control V"

VALIDITY_TREE = Tree(
    (
        (
            "correlated(IND, DEP) is false",
            lambda case, _: case.correlated(*case.target) is False,
            INVALID,
        ),
    ),
    VALID,
)
CONTROL_TREE = Tree(
    (
        ("V is IND or V is DEP", lambda case, v: v in case.target, LEAVE),
        (
            "correlated(V, DEP) is true or correlated(V, IND) is true",
            lambda case, v: bool(
                case.correlated(v, case.target[1]) or case.correlated(v, case.target[0])
            ),
            CONTROL,
        ),
        (
            "correlated(V, DEP) is false",
            lambda case, v: case.correlated(v, case.target[1]) is False,
            LEAVE,
        ),
        (
            "some hypothesis, or a chain of hypotheses, says that V causes DEP",
            lambda case, v: v in case.believed,
            CONTROL,
        ),
    ),
    LEAVE,
)


def follow(tree: Tree, case: Case[V], variable: V | None = None) -> str:
    """The answer that a tree gives for a case."""
    for _, holds, answer in tree.questions:
        if holds(case, variable):
            return answer
    return tree.otherwise


def pseudocode(tree: Tree) -> str:
    """The tree as a chain of conditions."""
    lines = [f"if {text}:\n        {answer}" for text, _, answer in tree.questions]
    chain = "\n    else ".join(lines)
    return f"    {chain}\n    else:\n        {tree.otherwise}"


def decide(
    correlated: Callable[[V, V], bool | None],  # None if it is unknown
    target: tuple[V, V],
    hypotheses: Iterable[tuple[V, V]],
    variables: Iterable[V],
) -> Decision[V]:
    """The answer of both decision trees; an invalid hypothesis has no control variables."""
    case = Case(correlated, target, causes(hypotheses, target[1]))
    if follow(VALIDITY_TREE, case) == INVALID:
        return Decision(False, ())
    return Decision(True, tuple([v for v in variables if follow(CONTROL_TREE, case, v) == CONTROL]))


def causes(hypotheses: Iterable[tuple[V, V]], effect: V) -> set[V]:
    """The variables hypothesised to cause another one, directly or through a chain."""
    direct = defaultdict(set)
    for cause, caused in hypotheses:
        direct[caused].add(cause)
    found: set[V] = set()
    waiting = [effect]
    while waiting:
        new = direct[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def topological(parents: Sequence[Sequence[int]]) -> list[int]:
    """All variables, each after its parents, except those on a cycle."""
    order: list[int] = []
    placed, before = 0, -1  # placed has a bit for each variable
    while before < len(order) < len(parents):
        before = len(order)
        for variable, above in enumerate(parents):
            if not placed >> variable & 1 and all(placed >> parent & 1 for parent in above):
                order.append(variable)
                placed |= 1 << variable
    return order


class Observed:
    """Observed correlations: two variables are correlated if they share an ancestor.

    A variable is its own ancestor. In a forest, variables of one tree are correlated; in any
    graph it is d-connection without conditioning.
    """

    def __init__(self, parents: Sequence[Sequence[int]], seen: Sequence[bool]) -> None:
        ancestors = [0] * len(parents)  # a bit for each
        for variable in topological(parents):
            ancestors[variable] = 1 << variable
            for parent in parents[variable]:
                ancestors[variable] |= ancestors[parent]
        # Unobserved variables get no ancestors, so that they are correlated with nothing.
        pairs = zip(ancestors, seen, strict=True)
        self._ancestors = [bits if observed else 0 for bits, observed in pairs]
        self._parents = parents

    def correlated(self, first: int, second: int) -> bool | None:
        """Whether two variables are correlated; None if either is unobserved."""
        one, other = self._ancestors[first], self._ancestors[second]
        return one & other != 0 if one and other else None

    def partners(self, variable: int) -> list[int]:
        """The variables that an observed variable is correlated with."""
        ancestors = self._ancestors[variable]
        shared = enumerate(self._ancestors)
        return [other for other, bits in shared if bits & ancestors and other != variable]

    def sets(self) -> list[list[int]]:
        """The sets of observed variables that descend from one root.

        Two observed variables are correlated exactly if some set holds both. In a forest the
        sets are disjoint; a set contained in another is left out. The order of sets is that of
        their roots and not of their first members, so that small sets come first as often as
        large ones.
        """
        found = [
            [variable for variable, bits in enumerate(self._ancestors) if bits >> root & 1]
            for root, above in enumerate(self._parents)
            if not above
        ]
        distinct = dict.fromkeys(map(frozenset, found))
        return [sorted(part) for part in distinct if not any(part < other for other in distinct)]
