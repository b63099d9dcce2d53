"""The audit passes what the controls protect, and catches each cue that they are there for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import factorial, perm

import pytest

from tests.audit.planted import first_quick, planted
from tests.benchmarks.nhop.examples import ladder
from trivium.auditing.engine import audit as run_audit
from trivium.auditing.overlap import overlap
from trivium.auditing.results import Audit
from trivium.benchmarks.nhop import EXPLICIT, IMPLICIT
from trivium.benchmarks.nhop.generate import generate, item_space
from trivium.benchmarks.nhop.item import NhopItem
from trivium.benchmarks.nhop.render import Relations
from trivium.benchmarks.nhop.spec import ExplicitSpec, ImplicitSpec, NhopView

SYMBOLS, RELATIONS = NhopView(), NhopView(surface="relations")


HARD = EXPLICIT.presets["explicit-hard"]
EASY = EXPLICIT.presets["explicit-easy"]


few_trees = partial(run_audit, trees=12)  # enough for big leaks


def caught(audit: Audit) -> set[str]:
    return {cue.name for cue in audit.cues if cue.caught}


def test_the_audit_passes_hard_ladders_and_bags() -> None:
    for audit in (
        few_trees(EXPLICIT, HARD, 0, 100),
        few_trees(EXPLICIT, replace(HARD, hops=3, L=2), 0, 100, view=RELATIONS),
        few_trees(IMPLICIT, ImplicitSpec(), 0, 100, view=RELATIONS),
        few_trees(EXPLICIT, replace(HARD, hops=3, L=2, answerable="mixed"), 0, 100),
    ):
        assert audit.passed, caught(audit)
        assert not audit.keeps_leaks


def test_both_surfaces_are_audited_by_default() -> None:
    assert list(EXPLICIT.audit_views()) == [SYMBOLS, RELATIONS]
    assert list(IMPLICIT.audit_views()) == [SYMBOLS, RELATIONS]


def test_the_audit_catches_easy_ladders_which_keep_their_leaks_on_purpose() -> None:
    audit = few_trees(EXPLICIT, EASY, 0, 60, view=RELATIONS)
    assert {"first_rank_head", "elimination", "line of f4: head's mentions above"} <= caught(audit)
    assert audit.keeps_leaks


def test_each_control_off_is_caught_by_the_cue_it_was_there_for() -> None:
    small = replace(HARD, hops=3, L=2)
    paths = caught(few_trees(EXPLICIT, replace(small, path_collision_stress=False), 0, 100))
    assert "line of f3: head is a tail of the block above" in paths
    heads = caught(few_trees(EXPLICIT, replace(small, block_head_balance=False), 0, 100))
    assert "line of f2: head's mentions above" in heads


@pytest.mark.parametrize("L", [1, pytest.param(5, marks=pytest.mark.slow)])
def test_the_audit_passes_hard_ladders_of_other_depths(L: int) -> None:
    """Also where the first block has the question's own token, which is no cue but the task."""
    audit = few_trees(EXPLICIT, replace(HARD, hops=5, L=L), 1, 150)
    assert audit.passed, caught(audit)


def place(item: NhopItem) -> int:
    return item.candidates.index(item.answer)


def number(token: str) -> int:
    return int(token.partition("_")[2])


def head(item: NhopItem) -> str:
    """The head of the answer's line."""
    return item.blocks[-1].resolved()[place(item)][0]


def alias(item: NhopItem) -> str:
    """The head of the answer's line as printed."""
    return item.blocks[-1].lines[place(item)][0]


# By what gives the answer away: when an item has the leak, and a cue that must be caught.
LEAKS: dict[str, tuple[Callable[[NhopItem, int], bool], str]] = {
    "middle places": (lambda item, _: place(item) in (2, 3), "line of f4: place"),
    "odd number": (
        lambda item, _: number(item.answer) % 2 == 1,
        "line of f4: ruled out by parity of its name",
    ),
    "largest number": (
        lambda item, _: item.answer == max(item.candidates),
        "line of f4: alphabetical rank",
    ),
    "alias": (lambda item, _: alias(item) in ("H1", "H2"), "line of f4: number of its alias"),
    "last digit of the question": (
        lambda item, _: item.answer[-1] == item.start[-1],
        "line of f4: same last character as start",
    ),
    "index": (
        lambda item, index: place(item) // 2 == index % 3,
        "line of f4: place with item's index mod 3",
    ),
    "head and tail mod 7": (
        lambda item, _: (number(head(item)) + number(item.answer)) % 7 in (0, 1),
        "head's number plus its own mod 7",
    ),
    "xor of number and place": (
        lambda item, _: (number(item.answer) + place(item)) % 2 == 0,
        " with ",
    ),
}


@pytest.mark.parametrize("name", first_quick(LEAKS))
def test_planted_leaks_are_caught(name: str) -> None:
    leak, cue = LEAKS[name]
    leaky = planted(EXPLICIT, lambda item, index: item if leak(item, index) else None)
    audit = few_trees(leaky, replace(HARD, L=1), 0, 150)
    assert any(cue in one for one in caught(audit))


def line_of_the_answer(item: NhopItem) -> str:
    return Relations(item).line(item.blocks[-1].lines[place(item)])


LEAKY_WORDS: dict[str, Callable[[NhopItem], bool]] = {
    "nickname": lambda item: Relations(item).word(alias(item)) < "H",
    "wording": lambda item: line_of_the_answer(item)[:4] == "The ",
    "short name": lambda item: len(Relations(item).word(item.answer)) < 13,
}


@pytest.mark.parametrize("name", first_quick(LEAKY_WORDS))
def test_wordings_and_names_that_give_the_answer_away_are_caught(name: str) -> None:
    one_block, leak = replace(HARD, hops=3, L=1), LEAKY_WORDS[name]
    leaky = planted(EXPLICIT, lambda item, _: item if leak(item) else None)
    assert caught(few_trees(leaky, one_block, 0, 100, view=RELATIONS))


def test_features_of_a_hand_made_block() -> None:
    """Every feature of block f4 of the ladder, in plain numbers."""
    row = ladder() | {"alias_map_f4": {"H1": "D_0420", "H2": "D_0901"}}
    item = EXPLICIT.from_row(row, 0)
    probe = EXPLICIT.probes(item, NhopView())[1]
    assert probe.name == "line of f4"
    assert list(probe.right) == [True, False]
    assert dict(probe.marked) == {"start": item.start}
    assert {name: list(values) for name, values in probe.candidate_features.items()} == {
        "head's mentions above": [1, 0],
        "tail's mentions above": [0, 0],
        "head is a tail of the block above": [True, False],
        "tail is a head of the block below": [True, False],
        "head's number": [901, 420],
        "head's parity": [1, 0],
        "head's length": [6, 6],
        "head's first character": [ord("D")] * 2,
        "head's number plus its own": [974, 619],
        "number of its alias": [2, 1],
        "alphabetical rank of its alias": [1, 0],
        "first fact with its head": [len(item.facts)] * 2,
        "first fact with its tail": [len(item.facts)] * 2,
    }


def test_a_token_is_found_in_the_first_fact_that_names_it_on_either_side() -> None:
    """C_0220 is the tail of the second fact, and C_0420 is in none of the four."""
    probe = EXPLICIT.probes(EXPLICIT.from_row(ladder(), 0), NhopView())[0]
    assert list(probe.candidate_features["first fact with its head"]) == [1, 4]


def test_the_question_s_own_token_marks_nothing_in_the_first_two_hops() -> None:
    """It is in one fact with the head that f2 needs: that is reading, not a cue."""
    item = next(generate(replace(HARD, hops=5, L=5), 0))
    found = {probe.name: dict(probe.marked) for probe in EXPLICIT.probes(item, NhopView())}
    start = {"start": item.start}
    assert found == {
        "line of f2": {},
        "line of f3": start,
        "line of f4": start,
        "line of f5": start,
    }


def test_items_are_one_structure_up_to_names_and_order() -> None:
    """What an item is about is always the same; which chain it is about never shows."""
    for benchmark, spec in ((EXPLICIT, HARD), (EXPLICIT, EASY), (IMPLICIT, ImplicitSpec())):
        found = {each.way: each for each in overlap(benchmark, spec, 0, 40).repeats}
        assert found["renamed and reordered"].distinct == 1
        assert found["renamed"].within == found["exact"].within == found["exact"].between == 0


def test_another_structure_has_another_form() -> None:
    item = next(generate(HARD, 0))
    head, function, tail = item.facts[0]
    other = next(line[2] for line in item.facts if line[1] == function and line[2] != tail)
    changed = item._replace(facts=[(head, function, other), *item.facts[1:]])
    assert EXPLICIT.canonical(item) != EXPLICIT.canonical(changed)


def test_the_item_space_of_small_specs_is_counted_by_hand() -> None:
    # Four chains of two hops, the question names one; the other three are exchangeable.
    bags = ImplicitSpec(hops=3, m=4, M=5, id_width=1)
    assert item_space(bags) == perm(5, 4) ** 3 * factorial(8) // factorial(3)
    # One block of two candidates over one context chain that has nothing to do with them.
    ladders = ExplicitSpec(hops=3, L=1, k=2, context_chains=1, M=8, id_width=1)
    tokens = perm(8, 2) ** 2 * perm(8, 3) * perm(8, 2)
    assert item_space(ladders) == tokens * factorial(4) * factorial(2)
