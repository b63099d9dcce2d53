"""Items from files: the original's format, with and without alias maps, and broken ones."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from tests.benchmarks.nhop.examples import bag, ladder
from trivium.benchmarks.nhop import EXPLICIT, IMPLICIT
from trivium.benchmarks.nhop.spec import NhopView
from trivium.core.dialogue import attempt
from trivium.core.errors import UserError


def aliased(direction: str, heads: str) -> dict[str, Any]:
    """The ladder with aliases: the map either way round, heads stored either way."""
    row = ladder()
    for key, function in (("candidates_fn_2", "f3"), ("candidates_fn_1", "f4")):
        lines = row[key]
        names = {line[0]: f"H{number}" for number, line in enumerate(lines, start=1)}
        row[f"alias_map_{function}"] = (
            names if direction == "token to alias" else {v: k for k, v in names.items()}
        )
        if heads == "as aliases":
            row[key] = [[names[head], hop, tail] for head, hop, tail in lines]
    return row


@pytest.mark.parametrize(
    "row",
    [
        ladder(),
        *(
            aliased(direction, heads)
            for direction in ("alias to token", "token to alias")
            for heads in ("as aliases", "as tokens")
        ),
    ],
)
def test_a_ladder_from_elsewhere_loads_and_is_solved(row: dict[str, Any]) -> None:
    item = EXPLICIT.from_row(row, 0)
    assert item.origin is None
    result = attempt(EXPLICIT, item, EXPLICIT.solvers["oracle"], NhopView())
    assert result.kind == "right"
    again = EXPLICIT.from_row(orjson.loads(orjson.dumps(EXPLICIT.to_row(item))), 0)
    assert again == item


def test_aliases_of_a_file_are_printed_and_not_the_tokens() -> None:
    for heads in ("as aliases", "as tokens"):
        item = EXPLICIT.from_row(aliased("alias to token", heads), 0)
        text = EXPLICIT.render(item, NhopView())
        assert "H1 ->f3-> D_0901" in text
        assert "H1 = C_0220" in text
        assert "C_0220 ->f3->" not in text


def original_aliases(place: str, heads: str) -> dict[str, Any]:
    """The ladder with aliases as the original writes them, in rows of [alias, "=", token]."""
    row = ladder()
    for key in ("candidates_fn_2", "candidates_fn_1", "candidates_fn"):
        lines = row[key]
        names = {line[0]: f"H{number}" for number, line in enumerate(lines, start=1)}
        if heads == "one without an alias":
            names.pop(lines[-1][0])
        maps = [[alias, "=", token] for token, alias in names.items()]
        printed = [[names.get(head, head), hop, tail] for head, hop, tail in lines]
        if heads == "as tokens beside them":
            printed = lines
        if place == "in the block":
            row[key] = maps + printed
        elif place == "in a map by the short name":
            row[key], row[key.replace("candidates", "alias_map")] = printed, maps
        else:
            row[key], row[f"alias_map_{lines[0][1]}"] = printed, maps
        if heads == "as tokens under another key":
            row[key], row[f"candidates_{lines[0][1]}"] = row[key], lines
    return row


@pytest.mark.parametrize("place", ["in the block", "in a map", "in a map by the short name"])
@pytest.mark.parametrize(
    "heads",
    [
        "as aliases",
        "as tokens beside them",
        "as tokens under another key",
        "one without an alias",
    ],
)
def test_aliases_as_the_original_writes_them(place: str, heads: str) -> None:
    item = EXPLICIT.from_row(original_aliases(place, heads), 0)
    text = EXPLICIT.render(item, NhopView())
    assert "H1 = C_0220" in text
    assert "H1 ->f3-> D_0901" in text
    assert "C_0220 ->f3->" not in text
    alone = "C_0420 ->f3-> D_0199" if heads == "one without an alias" else "H2 ->f3-> D_0199"
    assert alone in text
    assert attempt(EXPLICIT, item, EXPLICIT.solvers["oracle"], NhopView()).kind == "right"
    assert item.triples() == EXPLICIT.from_row(ladder(), 0).triples()
    again = EXPLICIT.from_row(orjson.loads(orjson.dumps(EXPLICIT.to_row(item))), 0)
    assert again == item


def test_a_bag_from_elsewhere_loads_and_is_solved() -> None:
    item = IMPLICIT.from_row(bag(), 0)
    assert attempt(IMPLICIT, item, IMPLICIT.solvers["oracle"], NhopView()).kind == "right"


def test_an_unanswerable_file_loads_and_is_guessed() -> None:
    """The original's L=1 items lack f_{n-1}; they must load, and no solver can know."""
    row = bag()
    row["facts_bag"] = row["facts_bag"][1:2] + row["facts_bag"][3:]
    item = IMPLICIT.from_row(row, 0)
    assert attempt(IMPLICIT, item, IMPLICIT.solvers["oracle"], NhopView()).answer is not None


def test_a_ladder_without_a_link_on_purpose_loads() -> None:
    row = ladder()
    row["facts_chain"] = row["facts_chain"][:1]
    item = EXPLICIT.from_row(row, 0)
    assert attempt(EXPLICIT, item, EXPLICIT.solvers["oracle"], NhopView()).answer is not None


@pytest.mark.parametrize("function", ["f2", "f3", "f4"])
def test_a_ladder_without_an_alias_map_is_refused(function: str) -> None:
    """f2 too, whose lines are among the facts, so that the answer can be derived without it."""
    row = EXPLICIT.to_row(next(EXPLICIT.generate(EXPLICIT.presets["explicit-hard"], 1)))
    del row[f"alias_map_{function}"]
    with pytest.raises(UserError, match=f"alias_map_{function} is missing"):
        EXPLICIT.from_row(row, 0)


def test_tokens_of_another_shape_load() -> None:
    row = ladder() | {"answer_id": "F0824", "answer_aliases": ["F0824"]}
    row["question"] = row["question"].replace("_", "")
    for key in ("facts_chain", "candidates_fn_2", "candidates_fn_1", "candidates_fn"):
        row[key] = [[part.replace("_", "") for part in line] for line in row[key]]
    item = EXPLICIT.from_row(row, 0)
    assert attempt(EXPLICIT, item, EXPLICIT.solvers["oracle"], NhopView()).kind == "right"


@pytest.mark.parametrize("kept", [slice(0, 0), slice(0, 1)])
def test_a_bag_without_the_relation_that_is_asked_for_is_refused(kept: slice) -> None:
    row = bag()
    row["facts_bag"] = row["facts_bag"][kept]
    with pytest.raises(UserError, match="facts_bag must hold lines of f2"):
        IMPLICIT.from_row(row, 0)


def test_an_answer_that_nothing_prints_is_refused() -> None:
    row = bag() | {"answer_id": "C_99", "answer_aliases": ["C_99"]}
    row["facts_bag"] = row["facts_bag"][1:2] + row["facts_bag"][3:]
    with pytest.raises(UserError, match="none of the candidates"):
        IMPLICIT.from_row(row, 0)


def broken(**changes: Any) -> dict[str, Any]:
    row = ladder() | changes
    return {key: value for key, value in row.items() if value is not ...}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (broken(id=...), "id must be text"),
        (broken(id=7), "id must be text"),
        (broken(question=...), "question must read"),
        (broken(question="What is f3 of f1 of A_1?"), "all functions after it"),
        (broken(question="What is love?"), "question must read"),
        (broken(facts_chain=...), "facts_chain must be a list"),
        (broken(facts_chain=[["A_1", "f1"]]), "facts_chain must be a list"),
        (broken(facts_chain=[["A_1", "f1", 3]]), "facts_chain must be a list"),
        (broken(answer_id=...), "answer_id must be text"),
        (broken(answer_id="F_0199"), "answer_aliases"),
        (broken(answer_aliases=["F_0824", 5]), "answer_aliases must be a list of texts"),
        (broken(answer_id="F_0199", answer_aliases=["F_0199"]), "the facts lead to 'F_0824'"),
        (broken(candidates_fn_1=...), "without a gap"),
        (broken(candidates_fn=...), "without a gap"),
        (broken(candidates_fn=[]), "lines of one function"),
        (broken(candidates_f5=[["E_0073", "f5", "F_0824"]]), "disagrees"),
        (broken(candidates_fn=[["H1", "f5", "F_0824"], ["H2", "f5", "F_0199"]],
                alias_map_f5={"H1": "E_0073"}), "must name every alias in candidates_fn"),
        (broken(alias_map_f5=["H1"]), "must map aliases"),
        (broken(alias_map_fn=[["H1", "is", "E_0073"]]), "must map aliases"),
        (broken(candidates_fn=[["H1", "=", "E_0073"]]), "lines of one function"),
        (broken(candidates_fn=[["E_0073", "f5", "F_0824"]] * 2), "must be unique"),
        (
            broken(facts_chain=[*ladder()["facts_chain"], ["A_0047", "f1", "B_0789"]],
                   candidates_fn_2=[["C_0220", "f3", "D_0901"], ["C_0456", "f3", "D_0420"]],
                   candidates_fn_1=[["D_0901", "f4", "E_0073"], ["D_0420", "f4", "E_0420"]]),
            "more than one answer",
        ),
    ],
)  # fmt: skip
def test_a_broken_row_is_refused_in_a_sentence(row: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        EXPLICIT.from_row(row, 0)
