"""The text of the blicket game: openings, responses, tools."""

from __future__ import annotations

import inspect

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.benchmarks.blicket.games import VIEW, game_of
from trivium.benchmarks.blicket.game import GAME
from trivium.benchmarks.blicket.game.generate import GameAnswer, generate
from trivium.benchmarks.blicket.game.render import read_conversation, render
from trivium.benchmarks.blicket.game.spec import PRESETS, GameSpec, GameView
from trivium.benchmarks.blicket.game.world import replay

WORDS = "TEST|ANSWER|blickets:|form:|conjunctive|A|B|;|none|inhibitors:|and|\n|\x00|-|threshold-2"
PIECES = st.lists(st.sampled_from(WORDS.split("|")), max_size=40).map(" ".join)


@given(st.lists(PIECES | st.text(max_size=80), max_size=6))
def test_no_conversation_breaks_the_game(replies: list[str]) -> None:
    item = game_of("conjunctive:AB")
    for turns in range(1, len(replies) + 1):
        response = GAME.respond(item, replies[:turns], VIEW)
        answer = GAME.parse(item, replies[:turns], VIEW)
        assert response != ""
        assert answer is None or response is None
        GAME.score(item, answer)
        GAME.kind(item, answer)


@pytest.mark.parametrize("piece", ["TEST ", "ANSWER blickets: ", "A ", "- ", "\n", "form: ", "*"])
def test_long_hostile_turns_end(piece: str) -> None:
    replay(game_of("conjunctive:AB"), [piece * (50_000 // len(piece)), "TEST A"])


def test_a_turn_that_cannot_be_read_is_explained_and_the_last_of_them_ends_the_game() -> None:
    item = game_of("conjunctive:AB")
    response = GAME.respond(item, ["hello"], VIEW)
    assert response is not None
    assert "End with TEST A, B or ANSWER: ... on a line of its own" in response
    assert "4 tests are left" in response
    assert GAME.respond(item, ["x"] * 2, VIEW) is not None
    assert GAME.respond(item, ["x"] * 3, VIEW) is None
    assert GAME.max_turns(item) == 7  # four tests, two turns that cannot be read, one answer
    late = ["x"] * 3 + ["ANSWER blickets: A B; form: conjunctive"]
    assert GAME.parse(item, late, VIEW) is None
    assert GAME.kind(item, GAME.parse(item, late, VIEW)) == "no-answer"


def test_a_test_past_the_budget_is_a_mistake() -> None:
    item = game_of("conjunctive:AB", GameSpec(tests=1))
    assert GAME.respond(item, ["TEST A"], VIEW) == (
        "Test 1: A. The machine stays dark. No tests are left: give your ANSWER."
    )
    response = GAME.respond(item, ["TEST A", "TEST B"], VIEW)
    assert response is not None
    assert response.startswith("There are no tests left. End with ANSWER: ")
    answer = GAME.parse(item, ["TEST A", "TEST B", "ANSWER blickets: B; form: parity"], VIEW)
    assert answer == GameAnswer("B", "parity", "", (("A", False),))


@pytest.mark.parametrize(
    "spec",
    [
        *PRESETS.values(),
        GameSpec(objects=8, tests=1, noise=0.05),
        GameSpec(rules=("conjunctive", "threshold-2"), objects=5, tests=0),
        GameSpec(hypotheses=("inhibitor:A-B", "inhibitor:B-AC", "parity:ABC"), noise=0.125),
        GameSpec(objects=6, rules=("inhibitor:1,3-1,2", "parity:2,3,5", "disjunctive:1"), tests=5),
    ],
)
@pytest.mark.parametrize("view", [GameView(), GameView(story=False)])
def test_the_opening_describes_the_whole_space(spec: GameSpec, view: GameView) -> None:
    for item in generate(spec, 3, 0, 100 if spec.mixed else 1):
        seen = read_conversation([render(item, view)])
        assert set(seen.spec.space) == set(item.space)
        assert seen.spec.tests == item.spec.tests
        assert seen.tests == ()


@pytest.mark.parametrize("spec", PRESETS.values())
def test_the_opening_says_what_an_inhibitor_does_where_there_may_be_one(spec: GameSpec) -> None:
    opening = render(next(generate(spec, 3)), VIEW)
    assert ("if A is a blicket and B an inhibitor" in opening) == ("- inhibitor: " in opening)
    assert ("inhibitor" in spec.rules) == ("- inhibitor: " in opening)


def test_tools_write_the_lines_that_a_player_would_say() -> None:
    place, answer = GAME.tools(GameSpec())
    assert (place.__name__, answer.__name__) == ("place", "answer")
    assert place(["A", "C"]) == "TEST A, C"
    assert place([]) == "TEST none"
    assert answer(["B"], "parity") == "ANSWER: blickets B; form parity"
    line = answer(["A"], "inhibitor", ["B", "C"])
    assert line == "ANSWER: blickets A; form inhibitor; inhibitors B, C"


@pytest.mark.parametrize("preset", ["demonstrations-given", "demonstrations-not-given"])
def test_a_model_may_be_as_unsure_as_a_person(preset: str) -> None:
    """By the tool and by the line: the answer that people give on the page, scored alike."""
    item = next(generate(PRESETS[preset], 3))
    place, answer = GAME.tools(item.spec)
    assert (place.__name__, answer.__name__) == ("place", "answer")
    line = answer(["A"], "unsure", ["B", "C"])
    assert line == "ANSWER: blickets A; form unsure; unsure B, C"
    said = GAME.parse(item, [line], VIEW)
    assert said is not None
    assert (said.blickets, said.unsure, said.form) == ("A", "BC", "unsure")
    assert GAME.score(item, said)["objects"] == pytest.approx(
        float("A" in GAME.gold(item).blickets) / 3
    )
    assert "unsure" not in str(inspect.signature(GAME.tools(GameSpec())[1]))
