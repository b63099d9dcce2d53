"""Replies of real players, which rarely are just the line that was asked for.

What they mean is in the corpus (tests/replies); here is what the rules say about several moves.
"""

from __future__ import annotations

import pytest

from trivium.benchmarks.blicket.game.parse_answer import Command, with_names
from trivium.benchmarks.blicket.game.parse_moves import read_command

HOSTILE = (
    """TEST |ANSWER |ANSWER blickets: |TEST A or |form: |\nTEST |A |(|not |<|,\n|blickets form: """
)


@pytest.mark.parametrize(
    ("reply", "command"),
    [
        ("TEST A\nTEST B", Command("A")),
        ("- TEST A\n- TEST B\n\nTEST C", Command("C")),
        ("I could TEST A. TEST B", Command("B")),
        ("If it was dark, TEST A.\nTEST B", Command("B")),
        ("TEST A: dark\nTEST B", Command("B")),
        ("TEST A\nWait, no.\nTEST B", Command("B")),
        ("TEST A\nWait for the light.\nTEST B", Command("A")),
        ("TEST A\nANSWER blickets: A; form: parity", Command("A")),
        ("ANSWER blickets: A or B; form: parity\nTEST A", None),
    ],
)
def test_the_first_of_the_plainest_moves_counts(reply: str, command: Command | None) -> None:
    assert read_command(reply, "ABC") == command


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("A and BC", "o_a and o_b, o_c"),
        ("A test of A", "A test of o_a"),
        ("A is dark", "o_a is dark"),
        ("test a c", "test o_a, o_c"),
        ("a test of c", "a test of o_c"),
        ("A-B", "o_a\x01o_b"),
        ("A-B-C", "o_a, o_b, o_c"),
        ("I'd say e.g. D", "I'd say e.g. D"),
    ],
)
def test_letters_become_names(text: str, named: str) -> None:
    assert with_names(text, "ABC") == named


@pytest.mark.parametrize("piece", HOSTILE.split("|"))
def test_long_hostile_turns_end(piece: str) -> None:
    """Time must be linear: a backtracking expression would not end."""
    assert read_command(piece * (50_000 // len(piece)) + "D", "ABC") is None
