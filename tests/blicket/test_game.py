"""The blicket game: its rules, its protocol, its players and its scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.blicket.game import GAME, audit
from trivium.blicket.game.answer import Command, read_command, write_answer, write_test
from trivium.blicket.game.generate import generate
from trivium.blicket.game.item import GameAnswer, GameItem, game_space
from trivium.blicket.game.render import read_conversation, render
from trivium.blicket.game.score import METRICS
from trivium.blicket.game.spec import PRESETS, GameSpec, GameView
from trivium.blicket.game.world import MOST_MISTAKES, Game, replay
from trivium.blicket.hypotheses import ALL_ELEVEN, lights, mask_of, parse
from trivium.core.benchmark import Attempt
from trivium.core.errors import UserError
from trivium.core.pipeline import attempt

VIEW = GameView()


def game_of(machine: str, spec: GameSpec | None = None) -> GameItem:
    """A game with this machine in it."""
    chosen = spec or GameSpec()
    return GameItem(
        "G", chosen, machine, (False,) * chosen.tests, "ABCDEFGH"[: chosen.objects], None
    )


def every_game(spec: GameSpec) -> Iterator[GameItem]:
    """One game for each machine of a spec."""
    return (game_of(str(replace(machine, noise=0.0)), spec) for machine in game_space(spec))


def play(solver: str, item: GameItem) -> Attempt:
    return attempt(GAME, item, GAME.solvers[solver], VIEW)


# ---- the plain object


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


def test_noise_turns_the_light_over_whatever_is_asked() -> None:
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


# ---- the protocol


@pytest.mark.parametrize(
    ("reply", "command"),
    [
        ("TEST A C", Command("AC")),
        ("test: c, a", Command("AC")),
        ("Let me think about A.\n\nTEST A and B", Command("AB")),
        ("**TEST ABC**", Command("ABC")),
        ("I will try TEST B.", Command("B")),
        ("TEST none", Command("")),
        ("TEST A\nTEST B", Command("B")),
        ("TEST", None),
        ("TEST D", None),
        ("TEST A to see what happens", Command("A")),
        ("this is a test of A", None),
        ("ANSWER blickets: A C; form: conjunctive", Command("AC", "conjunctive")),
        ("Answer: blickets = A, form = disjunctive", Command("A", "disjunctive")),
        ("ANSWER blickets: none; form: parity", Command("", "parity")),
        ("ANSWER form: threshold-2; blickets: A B C", Command("ABC", "threshold-2")),
        ("ANSWER blickets: A B C; form: threshold 2", Command("ABC", "threshold-2")),
        (
            "ANSWER blickets: A; inhibitors: B C; form: inhibitor",
            Command("A", "inhibitor", "BC"),
        ),
        ("ANSWER A conjunctive", None),
        ("ANSWER blickets: A", None),
        ("ANSWER blickets: X; form: conjunctive", None),
        ("", None),
    ],
)
def test_commands_are_read(reply: str, command: Command | None) -> None:
    assert read_command(reply, "ABC") == command


LETTER_SETS = st.sets(st.sampled_from("ABCDE")).map(lambda each: "".join(sorted(each)))


@given(LETTER_SETS, LETTER_SETS, st.sampled_from(["conjunctive", "parity", "threshold-3"]))
def test_what_is_written_is_read_back(placed: str, kept: str, form: str) -> None:
    assert read_command(write_test(placed), "ABCDE") == Command(placed)
    answer = GameAnswer(placed, form, kept)
    assert read_command(write_answer(answer), "ABCDE") == Command(placed, form, kept)


WORDS = "TEST|ANSWER|blickets:|form:|conjunctive|A|B|;|none|inhibitors:|and|\n|\x00|-|threshold-2"
PIECES = st.lists(st.sampled_from(WORDS.split("|")), max_size=40).map(" ".join)


@given(st.lists(PIECES | st.text(max_size=80), max_size=6))
def test_no_conversation_breaks_the_game(replies: list[str]) -> None:
    item = game_of("conjunctive:AB")
    for turns in range(1, len(replies) + 1):
        said = GAME.respond(item, replies[:turns], VIEW)
        answer = GAME.parse(item, replies[:turns], VIEW)
        assert said != ""
        assert answer is None or said is None
        GAME.score(item, answer)
        GAME.kind(item, answer)


@pytest.mark.parametrize("piece", ["TEST ", "ANSWER blickets: ", "A ", "- ", "\n", "form: ", "*"])
def test_long_hostile_turns_end(piece: str) -> None:
    replay(game_of("conjunctive:AB"), [piece * 50_000, "TEST A"])


def test_a_turn_that_cannot_be_read_is_explained_and_the_last_of_them_ends_the_game() -> None:
    item = game_of("conjunctive:AB")
    said = GAME.respond(item, ["hello"], VIEW)
    assert said is not None
    assert "TEST A B" in said
    assert "4 tests are left" in said
    assert GAME.respond(item, ["x"] * (MOST_MISTAKES - 1), VIEW) is not None
    assert GAME.respond(item, ["x"] * MOST_MISTAKES, VIEW) is None
    late = ["x"] * MOST_MISTAKES + ["ANSWER blickets: A B; form: conjunctive"]
    assert GAME.parse(item, late, VIEW) is None
    assert GAME.kind(item, GAME.parse(item, late, VIEW)) == "violation"


def test_a_test_past_the_budget_is_a_mistake() -> None:
    item = game_of("conjunctive:AB", GameSpec(tests=1))
    assert GAME.respond(item, ["TEST A"], VIEW) == (
        "Test 1: A. The machine stays dark. No tests are left: give your ANSWER."
    )
    said = GAME.respond(item, ["TEST A", "TEST B"], VIEW)
    assert said is not None
    assert said.startswith("There are no tests left. Say ANSWER")
    answer = GAME.parse(item, ["TEST A", "TEST B", "ANSWER blickets: B; form: parity"], VIEW)
    assert answer == GameAnswer("B", "parity", "", (("A", False),))


@pytest.mark.parametrize(
    "spec",
    [
        *PRESETS.values(),
        GameSpec(objects=8, tests=1, noise=0.05),
        GameSpec(rules=("conjunctive", "threshold-2"), objects=5, tests=0),
        GameSpec(hypotheses=("inhibitor:A-B", "inhibitor:B-AC", "parity:ABC"), noise=0.125),
    ],
)
@pytest.mark.parametrize("view", [GameView(), GameView(story=False)])
def test_the_opening_tells_the_whole_space(spec: GameSpec, view: GameView) -> None:
    item = next(generate(spec, 3))
    seen = read_conversation([render(item, view)])
    assert set(game_space(seen.spec)) == set(game_space(spec))
    assert seen.spec.tests == spec.tests
    assert seen.tests == ()


@pytest.mark.parametrize("spec", PRESETS.values())
def test_the_opening_says_what_an_inhibitor_does_where_there_may_be_one(spec: GameSpec) -> None:
    opening = render(next(generate(spec, 3)), VIEW)
    assert ("if A is a blicket and B an inhibitor" in opening) == ("- inhibitor: " in opening)
    assert ("inhibitor" in spec.rules) == ("- inhibitor: " in opening)


# ---- the players


@pytest.mark.parametrize("name", PRESETS)
def test_the_optimal_player_is_certain_of_every_machine_within_the_budget(name: str) -> None:
    used = []
    for item in every_game(PRESETS[name]):
        row = play("optimal", item)
        assert row.kind == "right"
        assert row.scores["certain"] == 1
        assert row.scores["tests_to_certainty"] == row.scores["tests"]
        assert row.scores["redundant"] == 0
        used.append(int(row.scores["tests"] or 0))
    # The budget is the least that keeps certainty in reach of the optimal player.
    assert max(used) == PRESETS[name].tests
    known = {"paper": Fraction(8, 3), "three-objects": Fraction(39, 11)}
    if name in known:
        assert Fraction(sum(used), len(used)) == known[name]


@pytest.mark.parametrize("name", PRESETS)
def test_greedy_takes_the_whole_of_the_best_gain(name: str) -> None:
    for item in every_game(PRESETS[name]):
        row = play("information_gain", item)
        assert row.scores["best_share"] == pytest.approx(1.0)
        assert row.kind == "right" or row.kind.startswith("too-early")


def test_only_the_floor_and_the_biased_speak_against_their_tests() -> None:
    for spec in PRESETS.values():
        for item in generate(spec, 2, 0, 30):
            for solver in ("optimal", "information_gain", "posterior", "one_at_a_time"):
                assert not play(solver, item).kind.startswith("against-its-own-tests")


def test_one_cause_takes_every_machine_for_a_disjunctive_one() -> None:
    for item in every_game(GameSpec()):
        row = play("one_cause", item)
        assert row.answer.form == "disjunctive"
        assert (row.kind == "right") == (item.machine.form == "disjunctive")


def test_blind_answers_score_chance() -> None:
    items = list(generate(PRESETS["paper"], 6, 0, 1200))
    assert {GAME.chance(item) for item in items} == {1 / 6}
    hits = sum(play("random", item).kind == "right" for item in items)
    # 1200 draws at 1/6: 200 expected, standard deviation 12.9; 5 of them have error 6e-7.
    assert abs(hits - 200) <= 65


def test_every_machine_is_drawn_equally_often() -> None:
    spec = PRESETS["three-objects"]
    truths = [item.truth for item in generate(spec, 1, 0, 2200)]
    # Each of eleven: 200 expected, standard deviation 13.5; 5 of them have error 7e-6 in all.
    assert all(abs(truths.count(machine) - 200) < 68 for machine in ALL_ELEVEN)


def test_players_bear_noise() -> None:
    spec = GameSpec(tests=12, noise=0.1)
    rows = [play("information_gain", item) for item in generate(spec, 4, 0, 60)]
    # Twelve noisy tests leave some doubt, yet far less than chance (1/11 of 60 is 5 or 6).
    assert sum(row.kind == "right" for row in rows) > 40
    for too_much in (spec, GameSpec(objects=6)):
        with pytest.raises(UserError, match="use information_gain"):
            play("optimal", next(generate(too_much, 4)))


# ---- the scores


def score(machine: str, *replies: str, spec: GameSpec | None = None) -> tuple[dict[str, Any], str]:
    item = game_of(machine, spec)
    answer = GAME.parse(item, replies, VIEW)
    return dict(GAME.score(item, answer)), GAME.kind(item, answer)


def test_measures_of_a_poor_game() -> None:
    """Of six machines: A alone leaves five of them at best, and asking again tells nothing."""
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
        (["TEST A"], "violation"),
    ],
)
def test_kinds_of_answers(replies: list[str], kind: str) -> None:
    assert score("conjunctive:AB", *replies)[1] == kind


def test_machines_that_no_test_tells_apart_are_one() -> None:
    spec = GameSpec(hypotheses=("conjunctive:A", "disjunctive:A", "disjunctive:B"), tests=1)
    scores, kind = score("conjunctive:A", "ANSWER blickets: A; form: disjunctive", spec=spec)
    assert kind == "right"
    assert scores["form"] == 0
    assert GAME.chance(game_of("conjunctive:A", spec)) == pytest.approx(2 / 3)
    assert GAME.chance(game_of("disjunctive:B", spec)) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("said", "form", "equivalent"),
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
def test_a_form_that_makes_the_same_machine_is_counted_apart(
    said: str, form: int, equivalent: int
) -> None:
    scores, _ = score("disjunctive:A", f"ANSWER {said}")
    assert (scores["form"], scores["form_equivalent"]) == (form, equivalent)


# ---- files, audits, specs


def test_a_row_needs_no_more_than_the_machine() -> None:
    item = GAME.from_row({"id": "mine", "machine": "disjunctive:BC"}, 0)
    assert item == game_of("disjunctive:BC")._replace(id="mine")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"id": ""}, "id must be text"),
        ({"machine": "conjunctive:AE"}, "none of those allowed"),
        ({"machine": 3}, "machine must be text"),
        ({"answer": "disjunctive:A"}, "but the machine is"),
        ({"tests": 3}, "flips must be a list of 3"),
        ({"flips": [True] * 4}, "without noise"),
        ({"listing": "AAB"}, "listing must hold each of ABC once"),
        ({"objects": 9}, "objects must be in"),
    ],
)
def test_a_broken_row_is_refused(change: dict[str, Any], sentence: str) -> None:
    row = orjson.loads(orjson.dumps(GAME.to_row(game_of("conjunctive:AB"))))
    with pytest.raises(UserError, match=sentence):
        GAME.from_row(row | change, 0)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"objects": 1}, r"objects must be in 2\.\.8"),
        ({"tests": -1}, "tests must be in"),
        ({"noise": 0.5}, "noise must be at least 0 and below 0.5"),
        ({"rules": ("conjunctive", "conjunctive")}, "rules must differ"),
        ({"rules": ("magic",)}, "rule must be"),
        ({"rules": ()}, "at least two possible machines"),
        ({"hypotheses": ("conjunctive:AB",)}, "at least two possible machines"),
        ({"hypotheses": ("conjunctive:AB", "disjunctive:E")}, "needs objects of at least 5"),
        ({"hypotheses": ("disjunctive:A~0.1", "disjunctive:B")}, "no noise of their own"),
        ({"hypotheses": ("disjunctive:B", "disjunctive:B")}, "hypotheses must differ"),
    ],
)
def test_a_bad_spec_is_refused(values: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        GameSpec(**values)


@pytest.mark.parametrize("name", PRESETS)
def test_the_audit_passes(name: str) -> None:
    # One of 100 audits fails by chance (level 0.99 over all cues); this seed is fixed.
    assert GAME.audit(PRESETS[name], 1, 1000).passed


def test_the_audit_catches_a_machine_that_follows_the_listing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def leaky(spec: GameSpec, seed: int, start: int, count: int) -> Iterator[GameItem]:
        for item in generate(spec, seed, start, count):
            held = item.machine.blickets
            listing = sorted(item.listing, key=lambda each: not mask_of(each) & held)
            yield item._replace(listing="".join(listing))

    monkeypatch.setattr(audit, "generate", leaky)
    found = GAME.audit(PRESETS["paper"], 1, 1000)
    assert "first_listed" in {cue.name for cue in found.cues if cue.caught}
    with pytest.raises(UserError, match="tests can tell apart"):
        GAME.audit(GameSpec(hypotheses=("conjunctive:A", "disjunctive:A")), 1)
