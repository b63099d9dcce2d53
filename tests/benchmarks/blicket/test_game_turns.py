"""Replies of real players, which rarely are just the line that was asked for."""

from __future__ import annotations

import pytest

from trivium.benchmarks.blicket.game.answer import Command, read_command

TESTS = [
    ("TEST A C", "AC"),
    ("TEST: A and C", "AC"),
    ("**TEST A C**", "AC"),
    ("`TEST A C`", "AC"),
    ("```\nTEST A C\n```", "AC"),
    ("test a c", "AC"),
    ("TEST A, C", "AC"),
    ("TEST AC", "AC"),
    ("TEST {A, C}", "AC"),
    ("TEST [A, C]", "AC"),
    ("TEST A+C", "AC"),
    ("TEST A & C", "AC"),
    ("TEST (A, C)", "AC"),
    ("I'll test A first.\n\nTEST A", "A"),
    ("Let me think. To distinguish, I will test A and B together.\n\nTEST A B\n", "AB"),
    ("TEST A B\n\nThis will tell us whether the machine is disjunctive.", "AB"),
    ("TEST A B to see if it is conjunctive", "AB"),
    ("TEST A B (to check whether both are needed)", "AB"),
    ("TEST A - this checks whether A alone is enough", "A"),
    ("1. TEST A", "A"),
    ("TEST 1: A B", "AB"),
    ("Test 3: A C", "AC"),
    ("My next test: TEST B C.", "BC"),
    ("TEST A\nTEST B", "B"),
    ("TEST none", ""),
    ("TEST nothing", ""),
    ("TEST (empty)", ""),
    ("I want to make a TEST.\nTEST A B", "AB"),
    ("TEST A B\nI will then ANSWER after seeing the result.", "AB"),
    ("TEST B\n\nAfter this test, I'll know the answer.", "B"),
    ("<think>If A lights then the ANSWER is A.</think>\nTEST A", "A"),
    ("TEST objects A and B", "AB"),
    ("Test: A", "A"),
    ("> TEST A B", "AB"),
    ("# TEST A B", "AB"),
    ("### TEST A B", "AB"),
    ('"TEST A B"', "AB"),
    ("Action: TEST A B", "AB"),
    ("**TEST** A B", "AB"),
    ("TEST A B.", "AB"),
    ("Testing A and B next.\n\nTEST A B", "AB"),
    ("TEST A\n\nTests left after this: 2.", "A"),
    ("Test A alone tells us nothing about B.\nTEST B C", "BC"),
    ("TEST B C\n\nTest A alone would tell us less.", "BC"),
    ("TEST A \u2013 checks A alone", "A"),
    ("TEST B → see if B alone works", "B"),
    ("TEST C, because A and B were dark", "C"),
    ("TEST A B C\n(I have 2 tests left.)", "ABC"),
    ("TEST A\n(or TEST B)", "A"),
    ("TEST A  # single", "A"),
    ("$\\text{TEST A B}$", "AB"),
    ("TEST **A B**", "AB"),
    ("TEST a", "A"),
    ("TEST on A", "A"),
    ("TEST A\r\n", "A"),
    ("<answer>TEST A C</answer>", "AC"),
    ("TEST A\nThe ANSWER will list the blickets after that.", "A"),
    ("TEST A C<|im_end|>", "AC"),
    ("TEST <A C>", "AC"),
]
ANSWERS = [
    ("ANSWER blickets: A C; form: conjunctive", Command("AC", "conjunctive")),
    ("**ANSWER blickets: A C; form: conjunctive**", Command("AC", "conjunctive")),
    ("ANSWER: blickets: A, C; form: conjunctive", Command("AC", "conjunctive")),
    ("ANSWER blickets: A and C; form: conjunctive", Command("AC", "conjunctive")),
    ("ANSWER blickets: A C, form: conjunctive", Command("AC", "conjunctive")),
    ("ANSWER blickets: A C\nform: conjunctive", Command("AC", "conjunctive")),
    ("ANSWER\nblickets: A C; form: conjunctive", Command("AC", "conjunctive")),
    ("ANSWER blickets: AC; form: Conjunctive.", Command("AC", "conjunctive")),
    ("answer blickets: a c; form: conjunctive", Command("AC", "conjunctive")),
    ("ANSWER form: conjunctive; blickets: A C", Command("AC", "conjunctive")),
    ("ANSWER: The blickets are A and C; form: conjunctive", Command("AC", "conjunctive")),
    ("ANSWER The blickets are A and C, and the form is conjunctive", Command("AC", "conjunctive")),
    ("ANSWER blickets: A C; conjunctive", Command("AC", "conjunctive")),
    ("ANSWER blickets: {A, C}; form: conjunctive", Command("AC", "conjunctive")),
    ("ANSWER blickets: A C; form: **conjunctive**", Command("AC", "conjunctive")),
    ("ANSWER **blickets:** A C; **form:** conjunctive", Command("AC", "conjunctive")),
    ("ANSWER blickets: `A C`; form: `conjunctive`", Command("AC", "conjunctive")),
    ("**ANSWER**\n- blickets: A C\n- form: conjunctive", Command("AC", "conjunctive")),
    (
        "They are needed.\n\nANSWER blickets: A C; form: conjunctive\n\nThis answer is right.",
        Command("AC", "conjunctive"),
    ),
    (
        "ANSWER blickets: A C; form: conjunctive\n\nTest 2 rules out the disjunctive machines.",
        Command("AC", "conjunctive"),
    ),
    (
        "ANSWER blickets: A C; form: conjunctive\nAnswer explained: both are needed.",
        Command("AC", "conjunctive"),
    ),
    (
        "ANSWER blickets: A C; form: conjunctive (since A C lights and A alone does not)",
        Command("AC", "conjunctive"),
    ),
    ("ANSWER blickets: C; form: disjunctive", Command("C", "disjunctive")),
    ("ANSWER blicket: C; form: disjunctive", Command("C", "disjunctive")),
    ("ANSWER blickets: A B C; form: threshold-2", Command("ABC", "threshold-2")),
    ("ANSWER blickets: A B C; form: threshold 2", Command("ABC", "threshold-2")),
    ("ANSWER blickets: A C (not B); form: conjunctive", Command("AC", "conjunctive")),
    (
        "ANSWER blickets: A; form: disjunctive. Objects B and C are not blickets.",
        Command("A", "disjunctive"),
    ),
    (
        "ANSWER B and C are not blickets; blickets: A; form: disjunctive",
        Command("A", "disjunctive"),
    ),
    ("ANSWER blickets: A; inhibitors: B; form: inhibitor", Command("A", "inhibitor", "B")),
    ("ANSWER blickets: A; inhibitors: none; form: disjunctive", Command("A", "disjunctive", "")),
    ("ANSWER blickets: A; form: inhibitor; inhibitors: B, C", Command("A", "inhibitor", "BC")),
    ("ANSWER blickets: A; form: inhibitor (inhibitor: B)", Command("A", "inhibitor", "B")),
    ("ANSWER blickets: A; form = disjunctive", Command("A", "disjunctive")),
    ("ANSWER blickets=A; form=disjunctive", Command("A", "disjunctive")),
    ("FINAL ANSWER: blickets: A C; form: conjunctive", Command("AC", "conjunctive")),
    ("Final answer: blickets: A C; form: conjunctive", Command("AC", "conjunctive")),
    ('ANSWER {"blickets": ["A", "C"], "form": "conjunctive"}', Command("AC", "conjunctive")),
    (
        'ANSWER\n```json\n{\n "blickets": [\n  "A",\n  "C"\n ],\n "form": "conjunctive"\n}\n```',
        Command("AC", "conjunctive"),
    ),
    ("ANSWER non-blickets: B; blickets: A C; form: conjunctive", Command("AC", "conjunctive")),
    ("ANSWER blickets: A B; form: threshold of 2", Command("AB", "threshold-2")),
    ("ANSWER blickets: A B; form: threshold (2)", Command("AB", "threshold-2")),
]
# Prose, unknown objects, and replies that leave open which of two things is meant.
UNCLEAR = [
    "Action: test a b",
    "TEST all",
    "TEST D",
    "ANSWER blickets: A B; form: not sure",
    "ANSWER blickets: A, not C; form: disjunctive",
    "ANSWER blickets: A is a blicket; form: disjunctive",
    "ANSWER blickets: A; form: inhibitor, B inhibits",
    "Test a: see",
    "I'd like to place A and B.",
    "TEST A Be careful",
    "TEST bad cab",
    "ANSWER blickets: A or C; form: conjunctive",
    "TEST A or B",
    "ANSWER blickets: A; form: conjunctive or disjunctive",
    "ANSWER blickets: A; form: conjunctive/disjunctive",
    "ANSWER blickets: A; form: not conjunctive",
    "I did TEST A, then TEST B. ANSWER blickets: A or B; form: conjunctive",
    "Test 1: A -> dark\nI would place C now",
    "TEST A together with C",
    "ANSWER: A and C are blickets; form: conjunctive",
    "ANSWER blickets: A; form: inhibitor",
]
HOSTILE = (
    """TEST |ANSWER |ANSWER blickets: |TEST A or |form: |\nTEST |A |(|not |<|,\n|blickets form: """
)


@pytest.mark.parametrize(("reply", "placed"), TESTS)
def test_a_test_is_read(reply: str, placed: str) -> None:
    assert read_command(reply, "ABC") == Command(placed)


@pytest.mark.parametrize(("reply", "command"), ANSWERS)
def test_an_answer_is_read(reply: str, command: Command) -> None:
    assert read_command(reply, "ABC") == command


@pytest.mark.parametrize("reply", UNCLEAR)
def test_an_unclear_reply_is_not_guessed(reply: str) -> None:
    assert read_command(reply, "ABC") is None


@pytest.mark.parametrize("piece", HOSTILE.split("|"))
def test_long_hostile_turns_end(piece: str) -> None:
    """Time must be linear: a backtracking expression would not end."""
    assert read_command(piece * 40_000 + "D", "ABC") is None
