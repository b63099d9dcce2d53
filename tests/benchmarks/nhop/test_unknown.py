"""Bags and ladders in which half of the questions have no answer."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.benchmarks.nhop.examples import bag
from trivium.benchmarks.nhop import EXPLICIT, IMPLICIT
from trivium.benchmarks.nhop.generate import generate
from trivium.benchmarks.nhop.item import derive, from_row, to_row, true_chain
from trivium.benchmarks.nhop.spec import EXPLICIT_PRESETS, ExplicitSpec, ImplicitSpec, NhopView
from trivium.core.dialogue import attempt
from trivium.core.errors import UserError

MIXED = ImplicitSpec(answerable="mixed")
LADDERS = [
    replace(EXPLICIT_PRESETS[name], answerable="mixed")
    for name in ("explicit-hard", "explicit-ladder")
]
VIEWS = [NhopView(mode, surface) for mode in ("direct", "steps", "free")
         for surface in ("symbols", "relations")]  # fmt: skip


@given(st.integers(3, 12), st.integers(4, 20), st.integers(0, 2**40), st.integers(0, 2**40))
def test_one_chain_ends_early(hops: int, m: int, seed: int, index: int) -> None:
    """Else the bag is that of its twin, so that only the question distinguishes them."""
    (item,) = generate(ImplicitSpec(hops, m, answerable="mixed"), seed, index)
    (twin,) = generate(ImplicitSpec(hops, m), seed, index)
    missing = [line for line in twin.facts if line not in item.facts]
    assert [line for line in twin.facts if line not in missing] == item.facts
    functions = sorted(int(line[1][1:]) for line in missing)
    assert functions == list(range(functions[0], hops))
    assert functions[0] >= 2
    assert len({line[0] for line in missing} - {line[2] for line in missing}) == 1, "one chain"
    own = [line for line in missing if line[0] in true_chain(twin)]
    assert (item.answer, len(own)) in {("unknown", len(missing)), (twin.answer, 0)}
    assert derive(item) == ([] if own else [twin.answer])
    assert len(item.candidates) == m - 1
    assert item.chains == m


@given(st.integers(3, 9), st.data(), st.integers(2, 8), st.booleans(), st.integers(0, 2**40))
def test_one_chain_of_a_ladder_ends_early(
    hops: int, data: st.DataObject, k: int, alias: bool, seed: int
) -> None:
    """In facts and blocks alike; else the ladder is that of its twin."""
    L = data.draw(st.integers(1, hops))
    spec = ExplicitSpec(hops, L, k, context_chains=9, path_collision_stress=True,
                        block_head_balance=True, alias_heads_per_block=alias)  # fmt: skip
    (item,) = generate(replace(spec, answerable="mixed"), seed)
    (twin,) = generate(spec, seed)
    missing = [line for line in twin.triples() if line not in item.triples()]
    assert [line for line in twin.triples() if line not in missing] == item.triples()
    functions = sorted({int(line[1][1:]) for line in missing})
    assert functions == list(range(functions[0], hops + 1))
    assert functions[0] >= 2
    assert len({line[0] for line in missing} - {line[2] for line in missing}) == 1, "one chain"
    own = [line for line in missing if line[0] in true_chain(twin)]
    assert derive(item) == ([] if own else [twin.answer])
    assert item.answer == ("unknown" if own else twin.answer)
    assert len(item.candidates) == k - 1
    assert from_row(orjson.loads(orjson.dumps(to_row(item))), explicit=True) == item


def test_half_of_the_ladders_are_unknown_and_the_oracle_knows() -> None:
    for spec in LADDERS:
        items = list(generate(spec, 5, 0, 400))
        assert abs(sum(item.answer == "unknown" for item in items) - 200) < 40  # four sigma
        assert EXPLICIT.floor(spec, NhopView()).name == "always unknown"
        for item in items[:20]:
            assert "at most one of these lines" in EXPLICIT.render(item, NhopView())
            for view in VIEWS:
                made = attempt(EXPLICIT, item, EXPLICIT.solvers["oracle"], view)
                assert made.kind == "right"
    with pytest.raises(UserError, match="answerable mixed needs path_collision_stress"):
        ExplicitSpec(answerable="mixed")


def test_half_of_the_items_are_unknown_wherever_the_chain_ends() -> None:
    places: Counter[tuple[int, bool]] = Counter()
    for item in generate(MIXED, 5, 0, 3000):
        places[len(item.facts), item.answer == "unknown"] += 1
    assert len(places) == 6
    assert all(abs(count - 500) < 90 for count in places.values())  # four standard deviations


@pytest.mark.parametrize("view", VIEWS)
def test_the_oracle_knows_what_is_unknown_and_its_answer_is_read(view: NhopView) -> None:
    for item in generate(MIXED, 6, 0, 40):
        assert attempt(IMPLICIT, item, IMPLICIT.solvers["oracle"], view).scores["correct"] == 1
        for said in (item.answer, "unknown"):
            word = said if said == "unknown" else IMPLICIT.write(item, IMPLICIT.gold(item), view)
            for reply in (word, f"**ANSWER:** `{word}`", f"I followed it.\nANSWER: {word.upper()}"):
                if "ANSWER" in word and reply is not word:
                    continue
                answer = IMPLICIT.parse(item, [reply], view)
                assert answer is not None, reply
                assert answer.token == said
                assert IMPLICIT.score(item, answer)["correct"] == float(said == item.answer)
        again = from_row(orjson.loads(orjson.dumps(to_row(item))), explicit=False)
        assert again == item


def test_kinds_floor_and_groups() -> None:
    view, kinds = NhopView(), Counter[str]()
    assert IMPLICIT.floor(MIXED, view).value == 0.5
    assert IMPLICIT.floor(MIXED, view).name == "always unknown"
    assert IMPLICIT.ceiling(MIXED, view).value == 1
    for item in generate(MIXED, 7, 0, 60):
        known = item.answer != "unknown"
        assert IMPLICIT.groups(item) == {"steps": 4, "m": 8, "answerable": known}
        said = "unknown" if known else item.candidates[0]
        answer = IMPLICIT.parse(item, [said], view)
        kinds[IMPLICIT.kind(item, answer)] += 1
    assert set(kinds) == {"called-unknown", "unsupported"}
    always = next(generate(ImplicitSpec(), 7))
    assert IMPLICIT.parse(always, ["unknown"], view) is None, "no such answer was offered"
    assert "unknown" not in IMPLICIT.render(always, view)


def test_files_are_checked() -> None:
    row = bag() | {"answer_id": "unknown", "answer_aliases": ["unknown"]}
    with pytest.raises(UserError, match="answer_id is 'unknown', but the facts lead to 'C_06'"):
        from_row(row, explicit=False)
    row["facts_bag"] = row["facts_bag"][:3]
    with pytest.raises(UserError, match="must hold lines of f2"):
        from_row(row | {"facts_bag": row["facts_bag"][:1]}, explicit=False)
    item = from_row(row, explicit=False)
    assert "the answer is unknown" in IMPLICIT.render(item, NhopView())
    assert attempt(IMPLICIT, item, IMPLICIT.solvers["oracle"], NhopView()).kind == "right"
    with pytest.raises(UserError, match="does not go with ablate_inner"):
        ImplicitSpec(ablate_inner=True, answerable="mixed")
