"""Scores, kinds of error, floors and groups, in plain numbers on hand-made items."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable
from dataclasses import asdict
from itertools import permutations, product

import pytest

from tests.benchmarks.nhop.examples import bag, ladder
from trivium.benchmarks.nhop import EXPLICIT, IMPLICIT
from trivium.benchmarks.nhop.answer import NhopAnswer
from trivium.benchmarks.nhop.generate import generate
from trivium.benchmarks.nhop.item import NhopItem, true_chain
from trivium.benchmarks.nhop.spec import ExplicitSpec, ImplicitSpec, NhopView
from trivium.core.dialogue import solve
from trivium.core.results import summarise
from trivium.core.task import Task

LADDER = EXPLICIT.from_row(ladder(), 0)
BAG = IMPLICIT.from_row(bag(), 0)


@pytest.mark.parametrize(
    ("token", "kind", "candidate"),
    [
        ("C_06", "right", 1),
        ("C_03", "wrong-candidate:1", 1),
        ("B_05", "stopped-early:1", 0),
        ("A_04", "stopped-early:0", 0),
        ("A_01", "other-token:0", 0),
        ("B_02", "other-token:1", 0),
    ],
)
def test_kinds_of_error_in_a_bag(token: str, kind: str, candidate: float) -> None:
    assert IMPLICIT.kind(BAG, NhopAnswer(token)) == kind
    assert IMPLICIT.score(BAG, NhopAnswer(token)) == {
        "correct": float(kind == "right"),
        "among_candidates": candidate,
        "steps_right": None,
    }


@pytest.mark.parametrize(
    ("token", "kind"),
    [
        ("F_0824", "right"),
        ("F_0199", "wrong-candidate:1"),
        ("E_0073", "stopped-early:4"),
        ("A_0047", "stopped-early:0"),
        ("E_0420", "other-token:4"),
        ("C_0456", "other-token:2"),
        ("B_0789", "other-token:1"),
    ],
)
def test_kinds_of_error_on_a_ladder(token: str, kind: str) -> None:
    assert EXPLICIT.kind(LADDER, NhopAnswer(token)) == kind
    scores = EXPLICIT.score(LADDER, NhopAnswer(token))
    assert scores["correct"] == (kind == "right")
    assert scores["among_candidates"] == (token[0] == "F")


def test_no_answer_is_a_kind_of_its_own() -> None:
    for benchmark, item in ((IMPLICIT, BAG), (EXPLICIT, LADDER)):
        assert benchmark.kind(item, None) == "no-answer"
        scores = benchmark.score(item, None)
        assert scores == {"correct": 0, "among_candidates": 0, "steps_right": None}


@pytest.mark.parametrize(
    ("steps", "wrong"),
    [
        (("B_05", "C_06"), None),
        (("B_02", "C_06"), 1),
        (("B_05", "C_03"), 2),
        (("B_05", None), 2),
        ((), None),
    ],
)
def test_the_first_wrong_step(steps: tuple[str | None, ...], wrong: int | None) -> None:
    """It is the kind of a wrong answer, so that a chart can show where chains break."""
    assert IMPLICIT.kind(BAG, NhopAnswer("C_06", steps)) == "right"
    kind = "wrong-candidate:1" if wrong is None else f"wrong-step:{wrong}"
    assert IMPLICIT.kind(BAG, NhopAnswer("C_03", steps)) == kind
    right = {None: 1.0, 1: 0.0, 2: 0.5}[wrong]
    found = IMPLICIT.score(BAG, NhopAnswer("C_03", steps))["steps_right"]
    assert found == (right if steps else None)


def test_every_metric_and_kind_differs_between_programs() -> None:
    """No metric is the same for everybody, or equal to another one."""
    spec = EXPLICIT.presets["explicit-hard"]
    view = NhopView("steps")

    def hops_right(item: NhopItem, right: int) -> NhopAnswer:
        """Follows the chain for some steps, then another one."""
        chain, other = true_chain(item)[1:], item.candidates[0]
        return NhopAnswer(other, (*chain[:right], *[other] * (item.depth - right)))

    made = [hops_right(item, number % 4) for number, item in enumerate(generate(spec, 5, 0, 40))]
    rows = [
        EXPLICIT.score(item, answer)
        for item, answer in zip(generate(spec, 5, 0, 40), made, strict=True)
    ]
    rows += [EXPLICIT.score(item, NhopAnswer(item.facts[0][0])) for item in generate(spec, 5, 0, 9)]
    columns = {metric: [row[metric] for row in rows] for metric in rows[0]}
    assert all(len(set(column)) > 1 for column in columns.values())
    assert len({tuple(column) for column in columns.values()}) == len(columns)
    kinds = {
        EXPLICIT.kind(item, EXPLICIT.parse(item, [EXPLICIT.write(item, answer, view)], view))
        for item, answer in zip(generate(spec, 5, 0, 40), made, strict=True)
    }
    assert {f"wrong-step:{step}" for step in (1, 2, 3, 4)} <= kinds


def test_gold_has_every_hop_that_can_be_derived() -> None:
    assert IMPLICIT.gold(BAG) == NhopAnswer("C_06", ("B_05", "C_06"))
    assert EXPLICIT.gold(LADDER).steps == ("B_0132", "C_0220", "D_0901", "E_0073", "F_0824")
    cut = BAG._replace(facts=[fact for fact in BAG.facts if fact[0] != "B_05"])
    assert IMPLICIT.gold(cut) == NhopAnswer("C_06", ("B_05", None))


def test_floors_and_groups() -> None:
    assert IMPLICIT.item_floor(BAG, NhopView()).value == 1 / 2
    assert IMPLICIT.groups(BAG) == {"steps": 2, "m": 2}
    assert EXPLICIT.groups(LADDER) == {"steps": 5, "L": 3, "k": 2, "contexts": 1}
    (item,) = generate(ImplicitSpec(), 1)
    assert IMPLICIT.groups(item) == {"steps": 4, "m": 8}
    assert IMPLICIT.floor(ImplicitSpec(), NhopView()).value == 1 / 8
    (item,) = generate(EXPLICIT.presets["explicit-hard"], 1)
    assert EXPLICIT.item_floor(item, NhopView()).value == 1 / 6
    assert EXPLICIT.groups(item) == {"steps": 4, "L": 3, "k": 6, "contexts": 6}


def small_worlds(hops: int, ablated: int) -> dict[Hashable, Counter[str]]:
    """The answers in every world of four chains of four tokens, by what an ablated bag shows."""
    layers = [[f"{layer}_{number}" for number in range(4)] for layer in "ABCDE"[:hops]]
    found: dict[Hashable, Counter[str]] = defaultdict(Counter)
    for rest in product(*(permutations(layer) for layer in layers[1:])):
        columns = [layers[0], *rest]  # the chain in the question is the first of the columns
        shown = frozenset(
            (hop, *line)
            for hop in range(1, hops)
            if hop != ablated
            for line in zip(columns[hop - 1], columns[hop], strict=True)
        )
        found[shown][columns[-1][0]] += 1
    return found


@pytest.mark.parametrize(("hops", "ablated"), [(4, 0), (4, 2), (5, 3)])
def test_the_ceiling_of_an_ablated_bag_by_enumeration(hops: int, ablated: int) -> None:
    """The best solver names the commonest answer of the worlds that look alike."""
    worlds = small_worlds(hops, ablated)
    right = sum(max(answers.values()) for answers in worlds.values())
    best = right / sum(answers.total() for answers in worlds.values())
    spec = ImplicitSpec(hops, 4, 4, 1, ablate_inner=ablated > 0, ablate_hop=ablated or None)
    ceiling = IMPLICIT.ceiling(spec, NhopView())
    assert (ceiling.value, ceiling.exact) == (best, True)
    assert best == (0.25 if ablated else 1)


def test_ceilings_of_items_without_a_spec() -> None:
    """A missing link is no loss if only one token can take its place."""

    def ceiling(*missing: str) -> float:
        facts = [fact for fact in BAG.facts if fact[0] not in missing]
        return IMPLICIT.item_ceiling(BAG._replace(facts=facts), NhopView()).value

    assert ceiling() == 1
    assert ceiling("A_04") == 1  # the other chain's A_01 leads to B_02, so this one goes to B_05
    assert ceiling("A_04", "A_01") == 1 / 2
    assert EXPLICIT.item_ceiling(LADDER, NhopView()).value == 1
    assert EXPLICIT.ceiling(ExplicitSpec(), NhopView()).value == 1


@pytest.mark.parametrize("ablated", [False, True])
def test_the_oracle_reaches_the_ceiling_and_lift_follows(ablated: bool) -> None:
    task = Task(IMPLICIT, ImplicitSpec(ablate_inner=ablated), NhopView())
    oracle = IMPLICIT.solvers["oracle"]
    rows = [asdict(solve(item, oracle)) for item in task.items(400, 31)]
    summary = summarise(rows, IMPLICIT.metrics)
    assert summary.ceiling == (1 / 8 if ablated else 1)
    assert summary.metrics["lift"].value == (None if ablated else 1)
    assert not summary.metrics["correct"].excludes(summary.ceiling)


def test_published_figures_name_their_cells() -> None:
    found = {(p.groups["steps"], p.groups["L"]): p.value for p in EXPLICIT.published}
    assert found[8, 3] == 0.417
    assert found[6, 2] == 0.208
    found = {(p.groups["steps"], p.groups["m"]): p.value for p in IMPLICIT.published}
    assert found[3, 8] == 0.792  # n = 4 asks for three functions
    assert len(found) == len(EXPLICIT.published) == 6
