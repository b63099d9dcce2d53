"""The gold label against a slow version of the two trees, written from their description."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from studies.decision_trees import FIGURES, draw

from trivium.benchmarks.variables.decision import (
    Observed,
    Tree,
    causes,
    decide,
    pseudocode,
    topological,
)
from trivium.benchmarks.variables.generate import generate
from trivium.benchmarks.variables.item import VariablesItem
from trivium.benchmarks.variables.rows import to_row
from trivium.benchmarks.variables.spec import PRESETS, VariablesSpec

ORIGINAL = PRESETS["original-ctrl"]
SPECS = {
    **PRESETS,
    "free": replace(ORIGINAL, balance="none", min_vars=3, max_vars=14, max_hyps=6, thinned=0.7),
    "dag": replace(ORIGINAL, graph="dag"),
    "dag-hypotheses": replace(PRESETS["original-hypotheses"], max_vars=8, graph="dag"),
    "matched-dag": VariablesSpec(graph="dag", max_vars=24),
    "small": VariablesSpec(balance="none", min_vars=14, max_vars=14, max_hyps=12),
}


def connected(children: dict[str, set[str]], first: str, second: str) -> bool:
    """Whether an open path leads from one to the other: up any number of arrows, then down."""
    seen, waiting = set(), [(first, True)]
    while waiting:
        at, may_climb = waiting.pop()
        if (at, may_climb) in seen:
            continue
        seen.add((at, may_climb))
        waiting += [(child, False) for child in children[at]]
        if may_climb:
            waiting += [(parent, True) for parent in children if at in children[parent]]
    return any((second, climbing) in seen for climbing in (True, False))


def brute_force(item: VariablesItem) -> tuple[dict[str, Any], int | None]:
    """The gold label and num_not_ctrl, from names and arrows alone."""
    names = item.names
    children: dict[str, set[str]] = {name: set() for name in names}
    for name, terms in zip(names, item.terms, strict=True):
        for parent, *_ in terms:
            children[names[parent]].add(name)
    unobserved = {name for name, rate in zip(names, item.rates, strict=True) if rate > 0.8}

    def correlated(first: str, second: str) -> str:
        if first in unobserved or second in unobserved:
            return "unknown"
        return "yes" if connected(children, first, second) else "no"

    believed = {name: set() for name in names}  # type: dict[str, set[str]]
    for cause, effect in item.hypotheses:
        believed[names[cause]].add(names[effect])

    def leads_to(cause: str, effect: str) -> bool:
        """Through any chain of hypotheses, found by following all of them."""
        reached: set[str] = set()
        edge = believed[cause]
        while edge - reached:
            reached |= edge
            edge = set().union(*(believed[name] for name in edge))
        return effect in reached

    ind, dep = names[item.target[0]], names[item.target[1]]
    if correlated(ind, dep) == "no":
        label = {"valid_hypothesis": False, "ind_var": None, "dep_var": None, "ctrl_vars": None}
        return label, None
    control = []
    for name in names:
        if name in (ind, dep):
            continue
        with_dep = correlated(name, dep)
        if with_dep == "yes" or correlated(name, ind) == "yes":
            decision = True
        elif with_dep == "no":
            decision = False
        else:
            decision = leads_to(name, dep)
        control += [name] if decision else []
    return {
        "valid_hypothesis": True,
        "ind_var": ind,
        "dep_var": dep,
        "ctrl_vars": control,
    }, len(names) - len(control)


@pytest.mark.parametrize(("name", "count"), [(name, 1700) for name in SPECS])
def test_gold_labels_agree_with_brute_force(name: str, count: int) -> None:
    """Every spec has 1,700 samples."""
    for item in generate(SPECS[name], 23, 0, count):
        row = to_row(item)
        assert (row["gold_label"], row["num_not_ctrl"]) == brute_force(item)


def test_the_trees_on_every_combination_of_known_and_unknown() -> None:
    """ind -> dep, a third variable in or out of their tree, each observed or not."""
    for related, seen_ind, seen_dep, seen_third, believed in product([True, False], repeat=5):
        parents: list[list[int]] = [[], [0], [0] if related else []]
        hypotheses = [(0, 1), (2, 1)] if believed else [(0, 1)]
        rates = [0.0 if seen else 0.9 for seen in (seen_ind, seen_dep, seen_third)]
        item = next(generate(replace(ORIGINAL, min_vars=3, max_vars=3), 0))._replace(
            terms=[[[parent, 0, 1, 0] for parent in above] for above in parents],
            target=(0, 1),
            hypotheses=hypotheses,
            rates=rates,
        )
        known_dep = seen_dep and seen_third
        yes = seen_third and related and (seen_dep or seen_ind)
        assert item.gold.valid
        assert item.gold.control == ((2,) if yes or (not known_dep and believed) else ())


def test_a_collider_does_not_connect_its_parents() -> None:
    known = Observed([[], [], [0, 1], [2]], [True] * 4)
    assert known.correlated(0, 1) is False
    assert known.correlated(0, 3) is True
    assert known.sets() == [[0, 2, 3], [1, 2, 3]]


def test_what_is_known_of_correlations() -> None:
    """0 -> 1 -> 2 where 1 is unobserved, and 3 by itself."""
    known = Observed([[], [0], [1], []], [True, False, True, True])
    assert [known.correlated(0, other) for other in (1, 2, 3)] == [None, True, False]
    assert [known.partners(variable) for variable in range(4)] == [[2], [], [0], []]
    assert known.sets() == [[0, 2], [3]]


def test_sets_are_in_the_order_of_their_roots() -> None:
    """Not of their first members: the tree of root 1 has member 0, and comes second."""
    assert Observed([[3], [], [1], []], [True] * 4).sets() == [[1, 2], [0, 3]]
    # Children of two roots: a set contained in another is left out.
    overlapping = Observed([[], [], [0, 1], [0]], [False, True, True, True])
    assert overlapping.sets() == [[2, 3], [1, 2]]
    assert Observed([[], [], [0, 1]], [False, True, True]).sets() == [[1, 2]]


def test_causes_follow_chains_and_cycles() -> None:
    hypotheses = [(0, 1), (1, 2), (3, 2), (2, 4), (5, 0)]
    assert causes(hypotheses, 2) == {0, 1, 3, 5}
    assert causes(hypotheses, 5) == set()
    assert causes([(0, 1), (1, 0)], 0) == {0, 1}


def test_topological_order_leaves_cycles_out() -> None:
    assert topological([[2], [], [1], [0]]) == [1, 2, 0, 3]
    assert topological([[1], [0], []]) == [2]


def test_the_order_of_control_variables_is_that_given() -> None:
    def together(first: str, second: str) -> bool:
        return True

    assert decide(together, ("a", "b"), [("a", "b")], ["c", "b", "d", "a"]) == (True, ("c", "d"))


@pytest.mark.parametrize("name", FIGURES)
def test_the_pictures_of_the_trees_are_those_of_the_code(name: str) -> None:
    kept = Path(__file__).parents[3] / "docs" / "variables" / name
    picture = draw(*FIGURES[name])
    assert kept.read_text(encoding="utf-8") == picture
    tree = FIGURES[name][1]
    words = "".join(ElementTree.fromstring(picture).itertext()).replace(" ", "")
    for line in pseudocode(tree).splitlines():
        part = line.strip().removeprefix("else ").removeprefix("if ").rstrip(":")
        assert part == "else" or part.replace(" ", "") in words


def test_a_tree_in_pseudocode() -> None:
    tree = Tree((("a", lambda _, v: True, "one"), ("b", lambda _, v: True, "two")), "three")
    assert pseudocode(tree) == (
        "    if a:\n        one\n    else if b:\n        two\n    else:\n        three"
    )
