"""Games that begin with two example machines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.benchmarks.blicket.games import VIEW, play
from trivium.benchmarks.blicket.game import GAME
from trivium.benchmarks.blicket.game.generate import ExampleTest, GameItem
from trivium.benchmarks.blicket.game.render import read_conversation, render
from trivium.benchmarks.blicket.game.score import kind
from trivium.benchmarks.blicket.game.spec import GameSpec
from trivium.core.errors import UserError

GIVEN = GAME.presets["demonstrations-given"]
NOT_GIVEN = GAME.presets["demonstrations-not-given"]
FORMS = ["striped", "dotted", "unsure"]


def games(spec: GameSpec, count: int = 40) -> list[GameItem]:
    return list(GAME.generate(spec, 7, 0, count))


def rule_shown(tests: Sequence[ExampleTest]) -> str | None:
    """The rule that an example machine must have; None if both are possible."""
    lit_alone = {placed[0] for placed, light in tests if light and len(placed) == 1}
    dark_alone = {placed[0] for placed, light in tests if not light and len(placed) == 1}
    if lit_alone:
        return "disjunctive"
    together = any(light and set(placed) <= dark_alone for placed, light in tests)
    return "conjunctive" if together else None


def test_given_shows_both_rules_and_not_given_shows_none() -> None:
    for item in games(GIVEN):
        shown = {example.name: rule_shown(example.tests) for example in item.example_machines}
        assert shown == item.examples
        assert sorted(map(str, shown.values())) == ["conjunctive", "disjunctive"]
    for item in games(NOT_GIVEN):
        assert [rule_shown(example.tests) for example in item.example_machines] == [None, None]
    assert {item.swapped for item in games(GIVEN)} == {False, True}


def test_the_examples_are_read_back_from_the_opening() -> None:
    for spec in (GIVEN, NOT_GIVEN):
        for item in games(spec, 10):
            seen = read_conversation([render(item, VIEW)])
            assert (seen.spec, seen.examples) == (spec, item.examples)


def test_the_right_form_is_the_example_that_works_alike_or_unsure() -> None:
    for item in games(GIVEN):
        assert item.examples[GAME.gold(item).form] == item.machine.rule
    assert {GAME.gold(item).form for item in games(NOT_GIVEN)} == {"unsure"}


@pytest.mark.parametrize("solver", ["optimal", "information_gain"])
@pytest.mark.parametrize("spec", [GIVEN, NOT_GIVEN])
def test_an_ideal_player_finds_every_machine(solver: str, spec: GameSpec) -> None:
    assert all(play(solver, item).scores["correct"] == 1 for item in games(spec, 12))


@given(
    st.lists(st.sampled_from(["yes", "no", "unsure"]), min_size=3, max_size=3),
    st.sampled_from(FORMS),
)
def test_an_answer_is_written_and_read_back(said: list[str], form: str) -> None:
    item = games(GIVEN, 1)[0]
    named = {
        word: "".join(letter for letter, own in zip("ABC", said, strict=True) if own == word)
        for word in ("yes", "unsure")
    }
    answer = replace(
        GAME.gold(item), blickets=named["yes"], unsure=named["unsure"], form=form, inhibitors=""
    )
    line = GAME.write(item, answer, VIEW)
    assert GAME.parse(item, [line], VIEW) == answer
    assert GAME.strict(item, [line], VIEW)


def test_an_object_that_one_is_not_sure_about_counts_as_not_right() -> None:
    item = games(GIVEN, 1)[0]
    gold = GAME.gold(item)
    innocent = next(letter for letter in "ABC" if letter not in gold.blickets)
    unsure = replace(gold, unsure=innocent)
    scores = GAME.score(item, unsure)
    assert (scores["correct"], scores["form"]) == (0.0, 1.0)
    assert scores["objects"] == pytest.approx(2 / 3)
    assert kind(item, unsure) == "unsure:"
    assert kind(item, replace(gold, form="unsure")) == "unsure:form"


def test_rows_of_games_with_examples_are_read_back() -> None:
    for spec in (GIVEN, NOT_GIVEN):
        for item in games(spec, 6):
            row = GAME.to_row(item) | {"flips": list(item.flips)}
            assert GAME.from_row(row, 0) == item


def test_demonstrations_go_with_the_paper_s_machines() -> None:
    with pytest.raises(UserError, match="demonstrations need the hypotheses"):
        GameSpec(demonstrations="given")
