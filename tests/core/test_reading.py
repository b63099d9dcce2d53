"""The answer contract: reasoning, markup, the last ANSWER line, fields and lists."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.core.benchmark import ask, in_asked_form
from trivium.core.reading import find_answer, plain, read_fields, read_list, split_reasoning

FINAL = "<|start|>assistant<|channel|>final<|message|>"


@pytest.mark.parametrize(
    ("text", "visible", "finished"),
    [
        ("<think>a</think> b", "b", True),
        ("<THINKING>a</THINKING>\nb", "b", True),
        ("[THINK]a[/THINK]b", "b", True),
        ("\u25c1think\u25b7a\u25c1/think\u25b7b", "b", True),
        ("a</think>b", "b", True),
        ("<think>a<think>b</think>c</think>d", "d", True),
        ("<think>a", "", False),
        ("b <reasoning>a", "b", False),
        (f"<|channel|>analysis<|message|>a<|end|>{FINAL}b", "b", True),
        ("<|channel|>analysis<|message|>a", "", False),
        ("I think so", "I think so", True),
    ],
)  # fmt: skip
def test_reasoning_is_split_off(text: str, visible: str, finished: bool) -> None:
    assert split_reasoning(text) == (visible, finished)


@pytest.mark.parametrize(
    "text",
    [
        "D_0441", "**D_0441**", "`D_0441`", "_D_0441_", "***D_0441***", "# D_0441", "> D_0441",
        "- D_0441", "1. D_0441", "| D_0441 |", "$D_0441$", r"\(D_0441\)", r"\text{D\_0441}",
        "D_{0441}", "<b>D_0441</b>", "D_0441<|im_end|>", "```\nD_0441\n```", "```text\nD_0441\n```",
        "\uff24\uff3f\uff10\uff14\uff14\uff11", "D_\u200b0441", "~~D_0440~~ D_0441",
    ],
)  # fmt: skip
def test_markup_is_unwrapped(text: str) -> None:
    assert plain(text).strip(" \n{}") == "D_0441"


@pytest.mark.parametrize(
    ("reply", "values"),
    [
        ("ANSWER: a", ["a"]),
        ("Answer = a.", ["a"]),
        ("**Final answer:** a", ["a"]),
        ("The answer is: a", ["a"]),
        ("ANSWER a", ["a"]),
        ("| ANSWER | a |", ["a"]),
        (r"\boxed{\text{ANSWER: a}}", ["a"]),
        ("## ANSWER\n\na\n\nmore", ["a"]),
        ("ANSWER: a\nNo:\nANSWER: b", ["b"]),
        ("ANSWER: a\nANSWER: b", []),
        ("ANSWER: a\n\nWait.", []),
        ("ANSWER: a\n\nOn reflection, disregard this line.", []),
        ("ANSWER: a\n\nHmm, that is not right.", []),
        ("ANSWER: a \U0001f389 Hope this helps!", ["a. Hope this helps", "a"]),
        ("ANSWER: a \u2192 B", ["a -> B"]),
        ("\u2192 ANSWER \u2192 a", ["a"]),
        ("ANSWER: a\n\n~~ANSWER: b~~", ["a"]),
        (f"ANSWER: a\n\nAnother question?\n\n{ask('b')}", ["a"]),
        ("| Final | ANSWER: a |", ["a"]),
        ('{"final": "ANSWER: a"}', ["a"]),
        ("ANSWER: a\nb: c\n\nd", ["a\nb: c", "a"]),
        ("ANSWER: a. It follows.", ["a. It follows", "a"]),
        ("ANSWER: a (by elimination)", ["a (by elimination", "a"]),
        ("ANSWER: a. Or maybe b.", ["a. Or maybe b"]),
        ('{"answer": "a"}', ["a"]),
        ('Here:\n```json\n{"why": "ANSWER: b", "answer": "a"}\n```', ["a"]),
        ('{"first": "b", "then": "c"}\n\n{"x": [1, 2]}\n\n{"answer": {"y": []}}', ["y: none"]),
        ('ANSWER: {"x": [1, 2], "y": [], "z": true}', ["x: 1, 2; y: none; z: True"]),
        ("ANSWER: \u201ca\u201d", ["a"]),
        ("ANSWER\uff1aa", ["a"]),
        ("<b>ANSWER:</b>&nbsp;<i>a</i>", ["a"]),
        ("ANSWER: a;\r\nb: c\r\n", ["a;\nb: c", "a"]),
        ('{"why": "wait", "answer": "a", "b": ["c"]}', ["a; \nb: c", "a"]),
        ("ANSWER: a\nand\nANSWER: b", []),
        ("Option 1:\nANSWER: a\nOption 2:\nANSWER: b\nTake either.", []),
        ("Case 1: strict.\nANSWER: a\n\nCase 2: not strict.\nANSWER: b", []),
        ("(a) If so:\nANSWER: a\n(b) If not:\nANSWER: b", []),
        ("Step 1: to a.\nANSWER: a\nStep 2: to b.\nANSWER: b", ["b"]),
        ("So it is\nANSWER: a\nThat skips c.\nNo, it is\nANSWER: b", ["b"]),
        ("ANSWER: a\n\nHold on. I have to redo that.", []),
        ("I think:\nANSWER: a\nThat skips c.\nI think:\nANSWER: b", ["b"]),
        ("For example:\nANSWER: a\nis how it ends.", ["a\nis how it ends"]),
        ("So it is\nANSWER: a\nIt follows.", ["a\nIt follows", "a"]),
        ("ANSWER: a\n\nQuestion: And then?\n\nANSWER: b", ["a"]),
        ("Question: And then?\n\nANSWER: b", ["b"]),
        ("ANSWER: a\n\nObservations:\n\nb is seen.\n\nANSWER: b", ["a"]),
        ("ANSWER: a\n\nLet's think step by step. It is b.\n\nANSWER: b", ["a"]),
        ("If so, we would write\n\nANSWER: a\n\nbut it is not, so that", []),
        ("If so, I would have written\nANSWER: a\nHowever it is not.", ["a\nHowever it is not"]),
        ("So it is\nANSWER: a\nHowever, b was close.", ["a\nHowever, b was close", "a"]),
        ("Suppose it is so. Then\n\nANSWER: a\n\nSuppose it is not.\n\nANSWER: b", []),
    ],
)
def test_the_last_answer_line_counts(reply: str, values: list[str]) -> None:
    found = find_answer(reply)
    assert found.labelled
    assert found.values == values


@pytest.mark.parametrize("reply", ["a", "**a**", "I say a", "my answers: a", "Answering: a", ""])
def test_without_an_answer_line_the_value_is_the_whole_reply(reply: str) -> None:
    assert not find_answer(reply).labelled


NAMES = {"one": "ones?", "two": "two|second"}


def test_a_field_below_the_value_belongs_to_it() -> None:
    reply = "ANSWER: one: a; two: b\nTwo: c"
    assert find_answer(reply).values[-1] == "one: a; two: b"
    assert find_answer(reply, NAMES.values()).values == ["one: a; two: b\nTwo: c"]


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("one: a; two: b", {"one": "a", "two": "b"}),
        ("Two = b, ONES = a", {"one": "a", "two": "b"}),
        ("one a; second b", {"one": "a", "two": "b"}),
        ("one: a\ntwo: b", {"one": "a", "two": "b"}),
        ("one: a | two: b", {"one": "a", "two": "b"}),
        ("yes; one: [a, c]", {"head": "yes", "one": "a, c"}),
        ("one: a; one: a", {"one": "a"}),
        ("one: a; one: b", None),
        ("one: a; three: b", {"one": "a; three: b"}),
        ("one: a; c\ntwo: b", {"one": "a; c", "two": "b"}),
        ("one: a; c; one: a", None),
        ("one - a; two - b", {"one": "a", "two": "b"}),
    ],
)
def test_fields_in_any_case_and_order(text: str, fields: dict[str, str] | None) -> None:
    assert read_fields(text, NAMES, head="head") == fields


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a, b and c", ("a", "b", "c")),
        ("[a; b]", ("a", "b")),
        ('"a" & "b"', ("a", "b")),
        ("a, b, and c.", ("a", "b", "c")),
        ("a\nb", ("a", "b")),
        ("none", ()),
        ("[]", ()),
        ("N/A", ()),
        ("a, a", ("a",)),
    ],
)
def test_lists(text: str, names: tuple[str, ...]) -> None:
    assert read_list(text) == names


@given(st.text(alphabet="AaNnSsWwEeRr:=;,|{}[]()<>\"'`*_#\\$-. \n1x\uff1a"))
def test_any_text_can_be_read(text: str) -> None:
    found = find_answer(split_reasoning(text).visible)
    for value in found.values:
        read_fields(value, NAMES, head="head")
        read_list(value)
    assert found.values


PARTS = [
    "a ", "\n", " ", "ANSWER: ", "ANSWER:\n", "{", '{"a":', '{"a": {', "**", "_", "| ", "[", "- ",
    "\\", "\\text{", "1. ", "> ", "x_1, ", "one: ", "<think>", "<", "```\n", "$", "or ",
]  # fmt: skip


def steps_of_reading(text: str) -> int:
    """How many characters the reader's patterns are given, which does not depend on the clock."""
    found = find_answer(split_reasoning(text).visible)
    return sum(map(len, found.values)) + len(found.text)


@pytest.mark.parametrize("part", PARTS)
def test_a_long_reply_is_read_without_growing(part: str) -> None:
    """A quadratic pattern does not finish here: 300,000 characters of one part."""
    assert steps_of_reading(part * (300_000 // len(part))) <= 1_300_000


def test_the_asked_form_is_the_text_or_its_last_line() -> None:
    assert in_asked_form("ANSWER: a", "ANSWER: a")
    assert in_asked_form("Because.\nANSWER: a\n", "ANSWER: a")
    assert not in_asked_form("Because. ANSWER: a", "ANSWER: a")
    assert not in_asked_form("**ANSWER: a**", "ANSWER: a")
    assert not in_asked_form("It is a:\na", "a")
