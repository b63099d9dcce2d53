"""The built-in players of the blicket game."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest

from tests.benchmarks.blicket.games import BUDGETED, VIEW, every_game, play
from trivium.benchmarks.blicket.game import GAME, limits
from trivium.benchmarks.blicket.game.generate import GameAnswer, generate
from trivium.benchmarks.blicket.game.spec import PRESETS, GameSpec
from trivium.benchmarks.blicket.inference import budget
from trivium.benchmarks.blicket.inference.hypotheses import ALL_ELEVEN
from trivium.core.errors import UserError

SMALL = ("paper", "three-objects", "four-objects", "five-rules", "five-objects")


@pytest.mark.parametrize("name", BUDGETED)
def test_the_optimal_player_is_certain_within_the_allowed_tests(name: str) -> None:
    used = []
    games = every_game(BUDGETED[name])
    for item in games if name in SMALL else itertools.islice(games, 0, None, 20):
        row = play("optimal", item)
        assert row.kind == "right"
        assert row.scores["certain"] == 1
        assert row.scores["tests_to_certainty"] == row.scores["tests"]
        assert row.scores["redundant"] == 0
        used.append(int(row.scores["tests"] or 0))
    assert max(used) == BUDGETED[name].tests
    known = {"paper": Fraction(8, 3), "three-objects": Fraction(39, 11)}
    if name in known:
        assert Fraction(sum(used), len(used)) == known[name]


@pytest.mark.parametrize("name", SMALL)
def test_greedy_always_takes_the_best_gain(name: str) -> None:
    for item in every_game(BUDGETED[name]):
        row = play("information_gain", item)
        assert row.scores["best_share"] == pytest.approx(1.0)
        assert row.kind == "right" or row.kind.startswith("too-early")


def test_only_blind_players_and_shortcuts_contradict_their_tests() -> None:
    players = ("optimal", "information_gain", "posterior", "one_at_a_time", "best_fixed_script")
    for name in SMALL:
        for item in generate(BUDGETED[name], 2, 0, 20):
            for solver in players:
                assert not play(solver, item).kind.startswith("against-its-own-tests")


def test_one_cause_calls_every_machine_disjunctive() -> None:
    for item in every_game(GameSpec()):
        row = play("one_cause", item)
        assert row.answer.form == "disjunctive"
        assert (row.kind == "right") == (item.machine.form == "disjunctive")


def test_blind_answers_score_chance() -> None:
    items = list(generate(PRESETS["paper"], 6, 0, 1200))
    assert GAME.floor(PRESETS["paper"], VIEW).others == {"constant_answer": pytest.approx(1 / 6)}
    hits = sum(play("random", item).kind == "right" for item in items)
    # 1200 draws at 1/6: 200 expected, standard deviation 12.9; 5 of them have error 6e-7.
    assert abs(hits - 200) <= 65


def test_no_constant_answer_is_better_than_the_blind_one() -> None:
    """Every answer that can be given about three objects, to every machine."""
    for spec in (BUDGETED["three-objects"], BUDGETED["five-rules"]):
        games = list(every_game(spec))
        sets = ["".join(some) for size in range(4) for some in itertools.combinations("ABC", size)]
        answers = [
            GameAnswer(blickets, form, inhibitors)
            for form in spec.possible_rules
            for blickets in sets
            for inhibitors in (sets if form == "inhibitor" else [""])
        ]
        blind = GAME.floor(spec, VIEW).others["constant_answer"]
        means = (
            sum(GAME.score(game, each)["correct"] or 0 for game in games) / len(games)
            for each in answers
        )
        assert max(means) == pytest.approx(blind)
        kinds = [play("constant_answer", game).kind for game in games]
        assert kinds.count("right") / len(games) == pytest.approx(blind)


def test_a_fixed_script_does_not_look_at_the_lights() -> None:
    for spec in (BUDGETED["four-objects"], GameSpec(tests=12, noise=0.1)):
        made = {
            tuple(placed for placed, _ in play("best_fixed_script", item).answer.tests)
            for item in generate(spec, 2, 0, 30)
        }
        assert len(made) == 1
        assert len(made.pop()) == spec.tests
    # No test can reveal anything about two machines that are the same.
    same = GameSpec(hypotheses=("conjunctive:A", "disjunctive:A"), noise=0.1)
    assert play("best_fixed_script", next(generate(same, 2))).answer.tests == ()


def test_every_machine_is_drawn_equally_often() -> None:
    spec = BUDGETED["three-objects"]
    truths = [item.truth for item in generate(spec, 1, 0, 2200)]
    # Each of eleven: 200 expected, standard deviation 13.5; 5 of them have error 7e-6 in all.
    assert all(abs(truths.count(machine) - 200) < 68 for machine in ALL_ELEVEN)


def test_players_cope_with_noise() -> None:
    spec = GameSpec(tests=12, noise=0.1)
    rows = [play("information_gain", item) for item in generate(spec, 4, 0, 60)]
    # Twelve noisy tests leave some doubt, yet far less than chance (1/11 of 60 is 5 or 6).
    assert sum(row.kind == "right" for row in rows) > 40
    with pytest.raises(UserError, match="too many for an exact search; use information_gain"):
        play("optimal", next(generate(spec, 4)))


def test_a_search_that_takes_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "MAX_WORK", 1000)
    with pytest.raises(UserError, match="too many to find the optimal tests of this"):
        play("optimal", next(generate(GameSpec(objects=6, tests=5), 4)))
    found = limits.player_ceiling(GameSpec(objects=6, tests=5))
    assert not found.exact
    assert found.value == pytest.approx(32 / 120)  # five tests have 32 outcomes


def test_players_without_evidence_name_every_machine_and_try_every_placement() -> None:
    """800 games: each of 6 machines 133 times (deviation 10.5), each of 8 placements 100 (9.4)."""
    answers, placements = Counter[str](), Counter[str]()
    for item in generate(replace(PRESETS["paper"], tests=1), 3, 0, 800):
        reply = play("random", item).reply
        assert isinstance(reply, list)
        test, answer = reply
        placements[test] += 1
        answers[answer] += 1
    assert len(placements) == 8
    assert len(answers) == 6
    assert all(abs(count - 100) < 47 for count in placements.values())
    assert all(abs(count - 133) < 53 for count in answers.values())
    untested = [play("posterior", item) for item in generate(GameSpec(tests=0), 3, 0, 400)]
    # Without a test all eleven are equally likely: 36 expected of each, standard deviation 5.7.
    named = Counter(str(row.reply) for row in untested)
    assert len(named) == 11
    assert all(abs(count - 36) < 29 for count in named.values())
