"""The blicket game as a plain object, and its scores."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.benchmarks.blicket.games import BUDGETED, VIEW, game_of
from trivium.benchmarks.blicket.game import GAME
from trivium.benchmarks.blicket.game.generate import GameAnswer, generate
from trivium.benchmarks.blicket.game.score import METRICS
from trivium.benchmarks.blicket.game.spec import PRESETS, GameSpec, GameView
from trivium.benchmarks.blicket.game.world import Game
from trivium.benchmarks.blicket.inference.hypotheses import ALL_ELEVEN, lights, parse
from trivium.core.errors import UserError


def test_the_most_bits_are_those_of_the_largest_space() -> None:
    sizes = (f"threshold-{size}" for size in range(2, 9))
    spec = GameSpec(objects=8, rules=("conjunctive", "disjunctive", *sizes, "parity", "inhibitor"))
    (bits,) = (metric for metric in METRICS if metric.name == "bits")
    assert bits.best == math.ceil(math.log2(len(spec.space)))


@pytest.mark.parametrize("machine", ALL_ELEVEN)
def test_the_light_follows_the_machine(machine: str) -> None:
    game = Game(game_of(machine, GameSpec(tests=8)))
    for number in range(8):
        placed = "".join(letter for place, letter in enumerate("ABC") if number >> place & 1)
        assert game.place(placed) == (lights(parse(machine), number) == 1)
    assert game.left == 0
    with pytest.raises(UserError, match="no tests left"):
        game.place("A")
    assert not game.over


def test_an_answer_ends_the_game_with_its_scores() -> None:
    game = Game(game_of("conjunctive:AB"))
    assert game.place("BA")
    scores = game.answer("ba", "conjunctive")
    assert game.over
    assert scores["correct"] == scores["objects"] == scores["form"] == 1
    assert scores["tests"] == 1
    assert set(scores) == {metric.name for metric in METRICS}
    assert game.given == GameAnswer("AB", "conjunctive", "", (("AB", True),))
    for move in (lambda: game.place("A"), lambda: game.answer("A", "disjunctive")):
        with pytest.raises(UserError, match="the game is over"):
            move()


def test_bad_moves_are_refused_and_change_nothing() -> None:
    game = Game(game_of("conjunctive:AB"))
    with pytest.raises(UserError, match="there is no object D"):
        game.place("AD")
    for form in ("", "conj", "threshold-x", "disjunctive; rm"):
        with pytest.raises(UserError, match="form must be one of conjunctive, disjunctive"):
            game.answer("A", form)
    with pytest.raises(UserError, match="there is no object Z"):
        game.answer("Z", "disjunctive")
    assert not game.tests
    assert not game.over


def test_noise_inverts_the_light_of_chosen_tests() -> None:
    item = game_of("disjunctive:A", GameSpec(noise=0.25))._replace(flips=(False, True, True, False))
    game = Game(item)
    assert [game.place("A"), game.place("A"), game.place("B"), game.place("B")] == [
        True,
        False,
        True,
        False,
    ]
    flips = [
        flip for each in generate(GameSpec(tests=20, noise=0.25), 1, 0, 200) for flip in each.flips
    ]
    # 4000 draws: 1000 expected, standard deviation 27; 5 of them have error 6e-7.
    assert abs(sum(flips) - 1000) < 137


def score(machine: str, *replies: str, spec: GameSpec | None = None) -> tuple[dict[str, Any], str]:
    item = game_of(machine, spec)
    answer = GAME.parse(item, replies, VIEW)
    return dict(GAME.score(item, answer)), GAME.kind(item, answer)


def test_measures_of_a_poor_game() -> None:
    """Of six machines: A alone leaves five of them at best, and repeating it reveals nothing."""
    scores, kind = score(
        "conjunctive:AB",
        "TEST A",
        "TEST A",
        "TEST none",
        "ANSWER blickets: A C; form: conjunctive",
        spec=PRESETS["paper"],
    )
    assert kind == "too-early:objects"
    assert scores["correct"] == 0
    assert scores["objects"] == pytest.approx(1 / 3)
    assert scores["form"] == 1
    assert scores["tests"] == 3
    assert scores["redundant"] == 2
    assert scores["certain"] == 0
    assert scores["tests_to_certainty"] is None
    assert scores["bits"] == pytest.approx(0.2630344)  # log2(6/5)


@pytest.mark.parametrize(
    ("replies", "kind"),
    [
        (["ANSWER blickets: A B; form: conjunctive"], "right"),
        (["ANSWER blickets: A B; form: disjunctive"], "too-early:form"),
        (["TEST A", "ANSWER blickets: A B; form: disjunctive"], "against-its-own-tests:form"),
        (["TEST A", "ANSWER blickets: C; form: disjunctive"], "too-early:objects-and-form"),
        (["ANSWER blickets: A; form: conjunctive"], "no-such-machine:objects"),
        (["ANSWER blickets: none; form: conjunctive"], "no-such-machine:objects"),
        (["ANSWER blickets: A B; form: parity"], "no-such-machine:form"),
        (["TEST A"], "no-answer"),
    ],
)
def test_kinds_of_answers(replies: list[str], kind: str) -> None:
    assert score("conjunctive:AB", *replies)[1] == kind


def test_equivalent_machines_count_as_one() -> None:
    spec = GameSpec(hypotheses=("conjunctive:A", "disjunctive:A", "disjunctive:B"), tests=1)
    scores, kind = score("conjunctive:A", "ANSWER blickets: A; form: disjunctive", spec=spec)
    assert kind == "right"
    assert scores["form"] == 0
    assert GAME.floor(spec, GameView()).others["constant_answer"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("text", "form", "equivalent"),
    [
        ("blickets: A; form: disjunctive", 1, 1),
        ("blickets: A; form: conjunctive", 0, 1),
        ("blickets: A; form: threshold-1", 0, 1),
        ("blickets: A; form: parity", 0, 1),
        ("blickets: A; inhibitors: B; form: inhibitor", 0, 0),
        ("blickets: A B; form: conjunctive", 0, 0),
        ("blickets: B; form: conjunctive", 0, 0),
        ("blickets: none; form: conjunctive", 0, 0),
        ("blickets: B C; form: disjunctive", 1, 1),
    ],
)
def test_a_form_that_makes_the_same_machine_has_its_own_metric(
    text: str, form: int, equivalent: int
) -> None:
    scores, _ = score("disjunctive:A", f"ANSWER {text}")
    assert (scores["form"], scores["form_equivalent"]) == (form, equivalent)


def test_a_finished_game_is_explained_before_and_after_every_test() -> None:
    """Of six machines: A dark leaves five, A again reveals nothing, AB lit leaves two or one."""
    item = game_of("conjunctive:AB", PRESETS["paper"])
    replies = ["TEST A", "TEST A", "TEST A B", "ANSWER blickets: A B; form: conjunctive"]
    steps = GAME.explain(item, replies, VIEW)
    # A dark leaves five; of these AB and B light with A and B on it.
    bits = [2.5849625, 2.3219281, 2.3219281, 1.0]
    assert [step.bits for step in steps] == pytest.approx(bits)
    assert [step.replies for step in steps] == [0, 1, 2, 3]
    assert steps[3].text.startswith("2 machines are left, 1.0 bits: ")
    assert GAME.explain(item, replies[:3], VIEW) == []  # no answer


def test_scores_and_groups_in_numbers() -> None:
    scores, _ = score("inhibitor:A-C", "x", spec=BUDGETED["five-rules"])
    assert scores == {"correct": 0, "objects": 0, "form": 0, "form_equivalent": 0}
    scores, kind = score(
        "inhibitor:A-C",
        "TEST A",
        "TEST A C",
        "ANSWER blickets: A; inhibitors: B; form: inhibitor",
        spec=BUDGETED["five-rules"],
    )
    assert kind == "against-its-own-tests:objects"
    assert scores["objects"] == pytest.approx(1 / 3)
    assert (scores["correct"], scores["form"], scores["tests"]) == (0, 1, 2)
    item = game_of("threshold-2:ABC", BUDGETED["five-rules"])
    assert GAME.groups(item) == {"form": "threshold-2", "N": 3, "tests": 6, "machines": 28}
    assert GAME.floor(item.spec, GameView()).others["constant_answer"] == pytest.approx(1 / 28)
