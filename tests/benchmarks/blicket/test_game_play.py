"""The game in the terminal, played from a script."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from tests.benchmarks.blicket.games import VIEW, game_of
from trivium.benchmarks.blicket.game import GAME
from trivium.benchmarks.blicket.game.debrief import verdict
from trivium.benchmarks.blicket.game.spec import PRESETS
from trivium.benchmarks.blicket.game.world import Game
from trivium.cli import main

SEED = "4"  # the paper's preset: conjunctive:AC


def play(
    script: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *flags: str,
) -> tuple[int, str]:
    monkeypatch.setattr("sys.stdin", io.StringIO(script))
    code = main(["play", "blicket_game", "--preset", "paper", "--seed", SEED, *flags])
    done = capsys.readouterr()
    assert "Traceback" not in done.out + done.err
    return code, done.out + done.err


def test_a_whole_game(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    script = "A B\na c\nTEST C\nanswer\nconjunctive\na c\n"
    code, output = play(script, monkeypatch, capsys)
    assert code == 0
    assert output.count("It stays dark") == 2
    assert output.count("\u25cf It lights up!") == 1
    assert "Right! Blickets: A C. All of its blickets must be on it." in output
    assert "You made 3 tests (0 of them were uninformative) and learned 2.58 of 2.58" in output
    assert (
        "The ideal observer (optimal) makes 3 tests on this machine, and 2.67 on average" in output
    )
    both = "optimal player is right in 100% of all games, and the best script of tests chosen"
    assert f"With 3 tests the {both} in advance in 100%." in " ".join(output.split())


def test_bad_input_gets_a_hint(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = "what?\n\nD\n[bold]\n\x00\nhelp\nA\nA\nB\nA\nanswer\nmagic\nd\nxyz\nnone\n"
    code, output = play(script, monkeypatch, capsys)
    assert code == 0
    assert output.count("The things are A B C.") == 4
    assert "You cannot check again: type answer" in output
    assert "Please type one of 1, 2." in output
    assert "Please type some of A B C, or none." in output
    assert "Wrong: the machine could not have worked like that." in output
    assert "(1 of them were uninformative)" in output


def test_a_test_may_be_spelt_out_and_an_unknown_form_is_asked_for_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = "Test A C\nTest: b\nanswer blickets: A; form: parity\nconjunctive\na c\n"
    _, output = play(script, monkeypatch, capsys)
    assert output.count("\u25cf It lights up!") == 1
    assert output.count("It stays dark") == 1
    assert "How does this machine work?" in output
    assert "Blickets: A C. All of its blickets must be on it." in output


def test_an_answer_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, output = play("ANSWER blickets: A C; form: conjunctive\n", monkeypatch, capsys)
    assert "Right, with some luck" in output
    assert "You made 0 tests" in output


def test_inhibitors_are_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = "A\nanswer\nin\nA\nA\nanswer\ninhibitor\nA\nB\n"
    flags = ("--hypotheses", "inhibitor:A-B", "inhibitor:B-A", "parity:AB")
    _, output = play(script, monkeypatch, capsys, *flags)
    assert "Which things are stoppers" in output
    assert "Blickets: " in output


@pytest.mark.parametrize("script", ["", "A\n", "A\nquit\n", "answer\nq\n", "A\nB\nC\nanswer\n"])
def test_leaving_is_not_an_error(
    script: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, output = play(script, monkeypatch, capsys)
    assert code == 0
    assert "You left the game. Blickets: A C. All of its blickets must be on it." in output


def test_an_interrupt_ends_the_game(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupt)
    code, output = play("", monkeypatch, capsys)
    assert code == 0
    assert "You left the game." in output


@pytest.mark.parametrize(("word", "again"), [("y", True), ("no", False), ("N", False), ("", False)])
def test_another_game_follows_only_if_it_is_wanted(
    word: str, again: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, output = play(f"ANSWER blickets: A C; form: conjunctive\n{word}\n", monkeypatch, capsys)
    assert "Right, with some luck" in output
    assert ("You left the game." in output) == again


def test_bytes_that_are_not_text_do_not_crash(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(b"\xff\xfe\nquit\n"), encoding="utf-8")
    monkeypatch.setattr("sys.stdin", stdin)
    assert main(["play", "blicket_game", "--seed", SEED]) == 0
    assert "You left the game." in capsys.readouterr().out


def test_other_benchmarks_cannot_be_played(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["play", "nhop_implicit"]) == 2
    assert "nhop_implicit cannot be played" in capsys.readouterr().err
    assert main(["play", "blicket_game", "--index", "-1"]) == 2


def test_without_a_seed_every_game_is_different(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output = set()
    for _ in range(2):
        monkeypatch.setattr("sys.stdin", io.StringIO("ANSWER blickets: A; form: disjunctive\n"))
        words = "play blicket_game --preset three-objects --objects 8 --tests 0"
        assert main(words.split()) == 0
        out = capsys.readouterr().out
        assert "The ideal observer (information gain)" in out  # too many machines to plan for
        output.add(out.splitlines()[-2])
    # Two draws of a million are the same once in a million times.
    assert len(output) == 2


@pytest.mark.parametrize(
    ("blickets", "form", "expected"),
    [
        # Of six machines three light up with A and C on them, and the light is wrong once in ten.
        ("AC", "conjunctive", "Right: your tests had made it 30% likely."),
        ("A", "disjunctive", "Wrong: your tests had made it 30% likely, and the true machine 30%."),
        ("B", "disjunctive", "Wrong: your tests had made it 3% likely, and the true machine 30%."),
        ("ABC", "conjunctive", "Wrong: the machine could not have worked like that."),
    ],
)
def test_no_verdict_on_a_noisy_game_is_certain(blickets: str, form: str, expected: str) -> None:
    spec = replace(PRESETS["paper"], noise=0.1)
    game = Game(game_of("conjunctive:AC", spec))
    assert game.place("AC")
    game.answer(blickets, form)
    assert game.given is not None
    assert verdict(game.item, game.given) == expected


def test_many_equal_lights_are_still_not_certain(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = "A\n" * 9 + "B\n" * 9 + "C\n" * 9 + "ANSWER blickets: B; form: disjunctive\n"
    _, output = play(script, monkeypatch, capsys, "--noise", "0.01", "--tests", "27")
    assert "likely" in output
    assert "100%" not in output
    assert "bits unknown" in output
    assert "machines left" not in output


def test_games_are_saved_resumed_and_followed_by_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ("--out", str(tmp_path / "me"))
    code, output = play("A B\n", monkeypatch, capsys, *out)  # and the terminal is closed
    assert "The same command resumes it." in output
    assert "conjunctive:AC" not in output
    script = "a c\nC\nanswer\n1\na c\nyes\nANSWER blickets: A; form: disjunctive\nno\n"
    code, output = play(script, monkeypatch, capsys, *out)
    assert code == 0
    assert "Right! Blickets: A C. All of its blickets must be on it." in output
    assert output.count("This was seed 4, index") == 2
    lines = (tmp_path / "me/records.jsonl").read_bytes().splitlines()
    rows = [orjson.loads(line) for line in lines]
    assert [(row["index"], row["solver"]) for row in rows] == [(0, "person:me"), (1, "person:me")]
    item = next(GAME.generate(PRESETS["paper"], 4))
    assert rows[0]["scores"] == GAME.score(item, GAME.parse(item, rows[0]["reply"], VIEW)) | {
        "strict": 1.0
    }
    assert rows[0]["reply"][0] == "TEST A, B"
    code, output = play("", monkeypatch, capsys, *out)  # the third game
    assert "index" not in output
    code, output = play("", monkeypatch, capsys, "--tests", "2", *out)
    assert code == 2
    assert "holds games of another kind" in output


def test_a_game_with_examples_in_german(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["play", "blicket_game", "--preset", "demonstrations-given", "--seed", SEED]
    monkeypatch.setattr("sys.stdin", io.StringIO("A\nanswer\n3\nA\nB\nnein\n"))
    assert main([*words, "--language", "de"]) == 0
    output = capsys.readouterr().out
    assert "gestreifte Maschine" in output
    assert "Not right: you were not sure about everything." in output
