"""Scores, kinds of error, floors and groups, in plain numbers on hand-made items."""

from __future__ import annotations

import pytest

from tests.benchmarks.nhop.examples import bag, ladder
from trivium.benchmarks.nhop import EXPLICIT, IMPLICIT
from trivium.benchmarks.nhop.answer import NhopAnswer
from trivium.benchmarks.nhop.generate import generate
from trivium.benchmarks.nhop.spec import ExplicitSpec, ImplicitSpec, NhopView

LADDER = EXPLICIT.from_row(ladder(), 0)
BAG = IMPLICIT.from_row(bag(), 0)


@pytest.mark.parametrize(
    ("token", "kind"),
    [
        ("C_06", "right"),
        ("C_03", "other-chain-end:1"),
        ("B_05", "right-chain-wrong-hop:1"),
        ("A_04", "right-chain-wrong-hop:0"),
        ("A_01", "token-of-the-prompt"),
        ("B_02", "token-of-the-prompt"),
    ],
)
def test_kinds_of_error_in_a_bag(token: str, kind: str) -> None:
    assert IMPLICIT.kind(BAG, NhopAnswer(token)) == kind
    assert IMPLICIT.score(BAG, NhopAnswer(token))["correct"] == float(kind == "right")


@pytest.mark.parametrize(
    ("token", "kind", "coherent"),
    [
        ("F_0824", "right", 1),
        ("F_0199", "wrong-candidate:1", 0),
        ("E_0073", "right-chain-wrong-hop:4", 0),
        ("A_0047", "right-chain-wrong-hop:0", 0),
        ("E_0420", "off-candidate", 0),
        ("B_0789", "off-candidate", 0),
    ],
)
def test_kinds_of_error_on_a_ladder(token: str, kind: str, coherent: float) -> None:
    answer = NhopAnswer(token)
    assert EXPLICIT.kind(LADDER, answer) == kind
    right = float(kind == "right")
    assert EXPLICIT.score(LADDER, answer) == {
        "correct": right,
        "fn_correct": right,
        "fn_1_coherent": coherent,
        "fn_2_from_chain": 1,
        "first_wrong_hop": None,
        "chain_right": None,
    }


def test_no_answer_is_a_violation_with_no_wrong_hop() -> None:
    assert IMPLICIT.kind(BAG, None) == "no-answer"
    assert IMPLICIT.score(BAG, None) == {"correct": 0, "first_wrong_hop": None, "chain_right": None}
    assert EXPLICIT.score(LADDER, None)["fn_1_coherent"] == 0


def test_a_wrong_candidate_can_be_coherent() -> None:
    """Its head is a tail of y_{n-2} in the block above, though the chain goes on elsewhere."""
    row = ladder()
    row["candidates_fn_1"] = [["D_0901", "f4", "E_0420"], ["D_0420", "f4", "E_0199"]]
    row["facts_chain"].append(["D_0901", "f4", "E_0073"])
    row["candidates_fn"] = [["E_0430", "f5", "F_0199"], ["E_0073", "f5", "F_0824"]]
    item = EXPLICIT.from_row(row, 0)
    wrong = item._replace(blocks=[*item.blocks[:2], item.blocks[2]._replace(
        lines=[["E_0420", "f5", "F_0199"], ["E_0073", "f5", "F_0824"]])])  # fmt: skip
    assert EXPLICIT.score(wrong, NhopAnswer("F_0199"))["fn_1_coherent"] == 1
    assert EXPLICIT.score(item, NhopAnswer("F_0199"))["fn_1_coherent"] == 0


@pytest.mark.parametrize(
    ("L", "defined"), [(1, [False, False]), (2, [True, False]), (3, [True] * 2)]
)
def test_signals_are_undefined_without_their_block(L: int, defined: list[bool]) -> None:
    (item,) = generate(ExplicitSpec(L=L), 1)
    scores = EXPLICIT.score(item, NhopAnswer(item.answer))
    assert scores["fn_correct"] == 1
    found = [scores[name] for name in ("fn_1_coherent", "fn_2_from_chain")]
    assert [value is not None for value in found] == defined
    assert all(value in (None, 1) for value in found)


@pytest.mark.parametrize(
    ("steps", "hop"),
    [
        (("B_05", "C_06"), None),
        (("B_02", "C_06"), 1),
        (("B_05", "C_03"), 2),
        (("B_05", None), 2),
        ((None, None), None),
        ((), None),
    ],
)
def test_the_first_wrong_hop(steps: tuple[str | None, ...], hop: int | None) -> None:
    scores = IMPLICIT.score(BAG, NhopAnswer("C_06", steps))
    assert scores["first_wrong_hop"] == hop
    right = {None: 1.0, 1: 0.0, 2: 0.5}[hop]
    assert scores["chain_right"] == (right if any(steps) else None)


def test_gold_has_every_hop_that_can_be_derived() -> None:
    assert IMPLICIT.gold(BAG) == NhopAnswer("C_06", ("B_05", "C_06"))
    assert EXPLICIT.gold(LADDER).steps == ("B_0132", "C_0220", "D_0901", "E_0073", "F_0824")
    cut = BAG._replace(facts=[fact for fact in BAG.facts if fact[0] != "B_05"])
    assert IMPLICIT.gold(cut) == NhopAnswer("C_06", ("B_05", None))


def test_floors_and_groups() -> None:
    assert IMPLICIT.item_floor(BAG, NhopView()).value == 1 / 2
    assert IMPLICIT.groups(BAG) == {"n": 3, "m": 2}
    assert EXPLICIT.groups(LADDER) == {"n": 5, "L": 3, "k": 2, "contexts": 1}
    (item,) = generate(ImplicitSpec(), 1)
    assert IMPLICIT.groups(item) == {"n": 5, "m": 8}
    assert IMPLICIT.floor(ImplicitSpec(), NhopView()).value == 1 / 8
    (item,) = generate(EXPLICIT.presets["explicit-hard"], 1)
    assert EXPLICIT.item_floor(item, NhopView()).value == 1 / 6
    assert EXPLICIT.groups(item) == {"n": 4, "L": 3, "k": 6, "contexts": 6}


def test_published_figures_name_their_cells() -> None:
    found = {(p.groups["n"], p.groups["L"]): p.value for p in EXPLICIT.published}
    assert found[8, 3] == 0.417
    assert found[6, 2] == 0.208
    found = {(p.groups["n"], p.groups["m"]): p.value for p in IMPLICIT.published}
    assert found[4, 8] == 0.792
    assert len(found) == len(EXPLICIT.published) == 6
