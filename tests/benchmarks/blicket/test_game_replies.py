"""Turns of a blicket game: the last TEST or ANSWER line counts, and nothing is guessed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.benchmarks.blicket.games import VIEW, game_of
from tests.benchmarks.blicket.wrappings import WRAPPINGS
from tests.replies import with_windows_line_ends
from trivium.benchmarks.blicket.game import GAME
from trivium.benchmarks.blicket.game.answer import Move, read_move, write_answer, write_test
from trivium.benchmarks.blicket.game.generate import GameAnswer
from trivium.core.reading import split_reasoning

FORMS = ("conjunctive", "disjunctive", "parity", "threshold-3", "inhibitor")
EXAMPLES = ("striped", "dotted", "unsure")


def read(reply: str, rules: tuple[str, ...] = FORMS) -> Move | None:
    return read_move(split_reasoning(reply).visible, "ABCDE", rules)


@st.composite
def commands(draw: st.DrawFn) -> tuple[Move, tuple[str, ...]]:
    """Any move, and what the form may be in its game."""
    said = draw(st.tuples(*[st.sampled_from(["no", "yes", "other"])] * 5))
    pairs = list(zip("ABCDE", said, strict=True))
    named = "".join(letter for letter, word in pairs if word == "yes")
    others = "".join(letter for letter, word in pairs if word == "other")
    kind = draw(st.sampled_from(["test", "answer", "after examples"]))
    if kind == "test":
        return named, FORMS
    if kind == "answer":
        return GameAnswer(named, draw(st.sampled_from(FORMS)), others), FORMS
    return GameAnswer(named, draw(st.sampled_from(EXAMPLES)), unsure=others), EXAMPLES


def written(move: Move) -> str:
    return write_test(move) if isinstance(move, str) else write_answer(move)


@given(commands(), st.sampled_from([str, str.lower, str.upper]))
@settings(max_examples=80, deadline=None)
def test_what_is_written_is_read_back_in_every_wrapping(
    move: tuple[Move, tuple[str, ...]], letters: Callable[[str], str]
) -> None:
    command, rules = move
    for name, wrapping in WRAPPINGS.items():
        assert read(wrapping.format(letters(written(command))), rules) == command, name


@given(commands())
def test_json_is_read(move: tuple[Move, tuple[str, ...]]) -> None:
    command, rules = move
    if isinstance(command, str):
        value: dict[str, object] = {"test": list(command)}
    else:
        fields = {"blickets": list(command.blickets), "form": command.form}
        other = {"inhibitors": [*command.inhibitors]} if rules == FORMS else {}
        value = {"answer": fields | other | ({"unsure": [*command.unsure]} if not other else {})}
    for reply in (json.dumps(value), json.dumps({"reasoning": "So.", **value}, indent=1)):
        assert read(reply, rules) == command
        assert read(f"```json\n{reply}\n```", rules) == command


FOLLOWING = [
    ("TEST A, C", "AC"),
    ("TEST A C", "AC"),
    ("TEST AC", "AC"),
    ("TEST: A and C", "AC"),
    ("TEST C, A.", "AC"),
    ("Test A, C", "AC"),
    ("test a c", "AC"),
    ("test: c, a", "AC"),
    ("TEST [A, C]", "AC"),
    ("TEST (A, C)", "AC"),
    ("TEST {A, C}", "AC"),
    ("TEST A+C", "AC"),
    ("TEST A\nC", "AC"),
    ("**TEST A, C**", "AC"),
    ("**TEST** A, C", "AC"),
    ("`TEST A, C`", "AC"),
    ("TEST objects A and C", "AC"),
    ("TEST none", ""),
    ("TEST nothing", ""),
    ("TEST A (alone)", "A"),
    ("TEST A, C. This tells whether both are needed.", "AC"),
    ("TEST A, C\n\nThen I will know whether both are needed.", "AC"),
    ("A alone was dark, so both may be needed.\n\nTEST A, C", "AC"),
    ("I could TEST A first. But a pair says more.\nTEST A, C", "AC"),
    ("Test 1: A. The machine stays dark.\n\nTEST A, C", "AC"),
    ("TEST A\nWait, no.\nTEST A, C", "AC"),
    ("TEST A\nNo need to.\nANSWER: blickets A; form parity", GameAnswer("A", "parity")),
    ("ANSWER: blickets A; form parity\nNo, first:\nTEST C", "C"),
    ("ANSWER: blickets A, C; form conjunctive", GameAnswer("AC", "conjunctive")),
    ("ANSWER blickets: A C; form: conjunctive", GameAnswer("AC", "conjunctive")),
    ("Answer: blickets = A, C, form = conjunctive", GameAnswer("AC", "conjunctive")),
    ("ANSWER: blickets A, C, form conjunctive", GameAnswer("AC", "conjunctive")),
    ("ANSWER: blickets A, C form conjunctive", GameAnswer("AC", "conjunctive")),
    ("ANSWER: form conjunctive; blickets A and C", GameAnswer("AC", "conjunctive")),
    ("ANSWER:\n- Blickets: A, C\n- Form: Conjunctive", GameAnswer("AC", "conjunctive")),
    ("**Final answer:** blickets A, C; form conjunctive", GameAnswer("AC", "conjunctive")),
    ("ANSWER: blickets A, C; form conjunctive (all are needed)", GameAnswer("AC", "conjunctive")),
    ("ANSWER: \\boxed{blickets A, C; form conjunctive}", GameAnswer("AC", "conjunctive")),
    ("blickets A, C; form conjunctive", GameAnswer("AC", "conjunctive")),
    ("ANSWER: blickets none; form parity", GameAnswer("", "parity")),
    ("ANSWER: blickets A, B, C; form threshold 3", GameAnswer("ABC", "threshold-3")),
    ("ANSWER: blickets A; form inhibitor; inhibitors B, C", GameAnswer("A", "inhibitor", "BC")),
    ("ANSWER: blickets A; inhibitors none; form disjunctive", GameAnswer("A", "disjunctive")),
    ('{"blickets": ["A"], "form": "parity"}', GameAnswer("A", "parity")),
]


@pytest.mark.parametrize(("reply", "command"), FOLLOWING)
def test_turns_that_follow_the_contract_are_read(reply: str, command: Move) -> None:
    assert read(reply) == command


NOT_FOLLOWING = [
    "A, C",
    "A",
    "TEST",
    "TEST F",
    "TEST A, F",
    "TEST A or C",
    "TEST A? Or C?",
    "TEST A (or C)",
    "TEST A (together with C)",
    "TEST A. No wait, C.",
    "TEST A. Then TEST C.",
    "TEST A: dark",
    "TEST A to see what happens",
    "TEST bad",
    "Test bad ideas first",
    "TEST all",
    "TEST everything but A",
    "TEST not A",
    "I will try TEST B.",
    "this is a test of A",
    "Let's put A and C on the machine.",
    "Next move: A and C",
    "If it was dark: TEST A",
    "TEST A\n\nSorry, I meant TEST C.",
    "ANSWER: blickets A; form parity\n\nSorry, I meant ANSWER: blickets B; form parity",
    "ANSWER: blickets A or C; form parity\nTEST A?",
    "TEST A, B\nor, once, to end the game:\nANSWER: blickets A; form parity",
    "TEST A, B\nto see whether it lights up; or, to end:\nANSWER: blickets A; form parity",
    "TEST A\nANSWER: blickets A; form parity",
    "ANSWER: blickets A; form parity\n\nTEST B",
    "TEST A, ...",
    "ANSWER: blickets A, ...; form parity",
    "TEST A\n\nANSWER: blickets A; form parity",
    "TEST A\n\nThe machine lights up.\n\nTEST C",
    "TEST A\nTest 1: A. The machine lights up. 5 tests are left.\nANSWER: blickets A; form parity",
    "ANSWER: blickets A; form parity or disjunctive",
    "ANSWER: blickets A; form parity. Or disjunctive.",
    "ANSWER: blickets A; form not parity",
    "ANSWER: blickets A; form xor",
    "ANSWER: blickets A; form threshold",
    "ANSWER: blickets A; form",
    "ANSWER: blickets A",
    "ANSWER: form parity",
    "ANSWER: blickets; form parity",
    "ANSWER: A, C conjunctive",
    "ANSWER: blickets A, maybe C; form conjunctive",
    "ANSWER: blickets A, F; form conjunctive",
    "ANSWER: blickets A; blickets C; form conjunctive",
    "ANSWER: blickets A; form inhibitor",
    "ANSWER: blickets A; form inhibitor; inhibitors A",
    "ANSWER: blickets A; form parity; unsure B",
    "ANSWER: blickets A; form striped",
    "ANSWER: I cannot tell.",
    "A and C are blickets, and the machine is conjunctive.",
    "I give up.",
    '{"objects": ["A", "C"]}',
    "",
    "\x00",
]


@pytest.mark.parametrize("reply", NOT_FOLLOWING)
def test_turns_that_do_not_follow_the_contract_are_not_read(reply: str) -> None:
    assert read(reply) is None


@pytest.mark.parametrize(
    ("reply", "command"),
    [
        ("ANSWER: blickets A; form striped; unsure B", GameAnswer("A", "striped", unsure="B")),
        ("ANSWER: blickets none; form unsure; unsure A, B", GameAnswer("", "unsure", unsure="AB")),
        ("ANSWER: blickets: A, unsure: B, form: dotted", GameAnswer("A", "dotted", unsure="B")),
        ("ANSWER: blickets A; form striped or dotted", None),
        ("ANSWER: blickets A; form conjunctive", None),
        ("ANSWER: blickets A; form dotted; unsure A", None),
    ],
)
def test_answers_after_demonstrations(reply: str, command: Move | None) -> None:
    assert read(reply, EXAMPLES) == command


def test_every_turn_in_the_asked_form_is_strict() -> None:
    item = game_of("conjunctive:AB")
    answer = "ANSWER: blickets A, B; form conjunctive"
    assert GAME.strict(item, ["TEST B, A", "So.\n\nTEST none", f"Both.\n{answer}"], VIEW)
    assert not GAME.strict(item, ["TEST A B", answer], VIEW)
    assert not GAME.strict(item, ["TEST A", f"{answer}."], VIEW)
    assert not GAME.strict(item, ["TEST A"], VIEW)


CORPUS = Path(__file__).parents[2] / "replies"


def test_every_reply_of_the_corpus_is_read_as_stored() -> None:
    items = json.loads((CORPUS / "items.json").read_text(encoding="utf-8"))
    lines = (CORPUS / "blicket_game.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [json.loads(line) for line in lines]
    for case in (*cases, *map(with_windows_line_ends, cases)):
        item = GAME.from_row(items[case["item"]]["row"], 0)
        visible = split_reasoning(case["reply"]).visible
        found = read_move(visible, item.objects, item.spec.form_answers)
        meaning: dict[str, str] | None = None
        if isinstance(found, str):
            meaning = {"test": found}
        elif found is not None:
            meaning = {"blickets": found.blickets, "form": found.form}
            meaning |= {"inhibitors": found.inhibitors}
        assert meaning == case["meaning"], case["reply"]


HOSTILE = """TEST |ANSWER: |ANSWER: blickets |TEST A or |form |\nTEST |\ntest x|\ntest |A |(|<
|,\n|blickets form |; test:|\nTEST A|- |\n|*|{"a": | (a """


@pytest.mark.parametrize("piece", HOSTILE.split("|"))
def test_long_hostile_turns_end(piece: str) -> None:
    """Time must be linear: a backtracking expression would not end."""
    assert read(piece * (200_000 // len(piece)) + "Z") is None
