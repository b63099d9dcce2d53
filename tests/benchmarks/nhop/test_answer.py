"""Reading replies: what counts as an answer, and what does not."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.benchmarks.nhop import IMPLICIT
from trivium.benchmarks.nhop.answer import NhopAnswer, parse, write
from trivium.benchmarks.nhop.generate import generate
from trivium.benchmarks.nhop.item import NhopItem
from trivium.benchmarks.nhop.render import Relations
from trivium.benchmarks.nhop.spec import ImplicitSpec, NhopView
from trivium.core.benchmark import rename_text

ITEM: NhopItem = next(generate(ImplicitSpec(), 1))
GOLD = ITEM.answer
LETTER, NUMBER = GOLD.split("_")
OTHER = next(token for token in ITEM.candidates if token != GOLD)
FREE = NhopView("free")


@pytest.mark.parametrize(
    "reply",
    [
        GOLD,
        GOLD.lower(),
        f"{GOLD}.",
        f"{LETTER}{NUMBER}",
        f"{LETTER} {NUMBER}",
        f"ANSWER: {GOLD}",
        f"**ANSWER:** {GOLD}",
        f"It is {OTHER}... no.\n\nANSWER: {GOLD}\n\nLet me know if you need more.",
        f"ANSWER: {OTHER}\n\nLet me check the chain.\n\nANSWER: {GOLD}",
        f"ANSWER: {GOLD} (the end of the chain)",
        f"The answer is {GOLD}.",
        f"{ITEM.start} -> B_0001 -> {GOLD}",
        f"{ITEM.start} \u2192 B_0001 \u2192 {GOLD}",
        f"ANSWER: {GOLD}, reached through B_0001",
        f'{{"answer": "{GOLD}"}}',
    ],
)
@pytest.mark.parametrize("mode", ["direct", "steps", "free"])
def test_an_answer_in_the_asked_form_is_read(reply: str, mode: str) -> None:
    answer = parse(ITEM, [reply], NhopView(mode))  # type: ignore[arg-type]
    assert answer is not None
    assert answer.token == GOLD


@pytest.mark.parametrize(
    "reply",
    [
        f"ANSWER: {GOLD} or {OTHER}",
        f"ANSWER: {GOLD}, {OTHER}",
        f"ANSWER: {GOLD} ({OTHER} is as likely)",
        f"ANSWER: {GOLD}\n\nSorry, I meant {OTHER}.",
        f"ANSWER: not {GOLD}",
        "ANSWER: <token>",
        "ANSWER:",
        f"It is not {GOLD}.",
        f"Maybe it is {GOLD}.",
        f"Is it {GOLD}?",
        f"Rule out {GOLD}.",
        f"It is {GOLD}, it is {OTHER}.",
        f"I can't solve this, but {GOLD} is there.",
        "f4",
        f"The answer is {GOLD[:-2]}",
        "ANSWER: E_9999",
        f"ANSWER: {GOLD}\nor\nANSWER: {OTHER}",
        f"ANSWER: {GOLD}\n\nOn second thought, I withdraw that.",
        f"ANSWER: {GOLD}, but I doubt it",
        f"~~ANSWER: {GOLD}~~",
        f"Let us see whether it is {GOLD}.",
        f"f4 of f3 of f2 of f1 of A_9999 is {GOLD}.",
        "",
    ],
)
def test_doubt_is_no_answer(reply: str) -> None:
    assert parse(ITEM, [reply], FREE) is None


def test_other_spellings_in_the_file_count() -> None:
    item = ITEM._replace(accepted=[GOLD, "the last one"])
    answer = parse(item, ["ANSWER: The Last One"], FREE)
    assert answer is not None
    assert answer.token == GOLD


FIRST, SECOND = ITEM.layers()[1][0], ITEM.layers()[2][0]


@pytest.mark.parametrize(
    "reply",
    [
        "f1: B1\nf2: B_0009\nf2: C2\nANSWER: E3",
        "| f1 | B1 |\n| f2 | C2 |\n| ANSWER | E3 |",
        "- **f1**: `B1`\n- **f2**: `C2`\n\n**ANSWER: E3**",
        "f1(A_0009) = B1\nf2(f1(A_0009)) = C2\nANSWER: E3",
        '{"f1": "B1", "f2": "C2", "answer": "E3"}',
        "f1: B1, f2: C2, f3: none\nANSWER: E3",
        "f1: B1 | f2: C2\nANSWER: E3",
        "f1: B1 f2: C2\nANSWER: E3",
        "f1: B1\nf2: C2\nANSWER: E3\nNote that f2 of B_0009: C_0009 is another line.",
        "f1: B1 -> f2: A_0009 -> C2\nANSWER: E3",
        "f1: B1 (from A_0009)\nf2: C2\nf3: unknown (no fact for C2)\nf4: E3 or not\nANSWER: E3",
    ],
)
def test_slots_are_read_and_their_last_filling_counts(reply: str) -> None:
    reply = reply.replace("B1", FIRST).replace("C2", SECOND).replace("E3", OTHER)
    slots = (FIRST, SECOND, None, None)
    assert parse(ITEM, [reply], NhopView("steps")) == NhopAnswer(OTHER, slots)
    assert parse(ITEM, ["?", reply], FREE) == NhopAnswer(OTHER)


def in_names(reply: str) -> str:
    """The reply with the words of the relations for tokens and functions."""
    words = {token: Relations(ITEM).word(token) for layer in ITEM.layers() for token in layer}
    words |= {f"f{hop}": Relations(ITEM).word(f"f{hop}") for hop in (1, 2, 3, 4)}
    return rename_text(reply, words)


@pytest.mark.parametrize(
    "reply",
    [
        GOLD,
        f"{GOLD}.",
        f"**ANSWER:** {GOLD}",
        f"It is {OTHER}... no.\n\nANSWER: {GOLD}\n\nLet me know if you need more.",
        f"ANSWER: {GOLD} (the end of the chain)",
        f"The f4 is {GOLD}.",
        f'{{"f1": "{FIRST}", "answer": "{GOLD}"}}',
    ],
)
def test_names_are_read_by_the_same_contract(reply: str) -> None:
    """In any case and with any kind of space, also where a name has a word of doubt in it."""
    view = NhopView("free", "relations")
    for text in (in_names(reply), in_names(reply).upper(), in_names(reply).replace(" ", "\u00a0")):
        answer = parse(ITEM, [text], view)
        assert answer is not None
        assert answer.token == GOLD


@pytest.mark.parametrize(
    "reply",
    [
        f"ANSWER: {GOLD} or {OTHER}",
        f"ANSWER: {GOLD}, {OTHER}",
        f"ANSWER: not {GOLD}",
        f"It is not {GOLD}.",
        f"Is it {GOLD}?",
        "ANSWER: <full name>",
        "ANSWER: Another Person",
        "ANSWER: f4",
    ],
)
def test_doubt_and_other_names_are_no_answer(reply: str) -> None:
    view = NhopView("free", "relations")
    assert parse(ITEM, [in_names(reply)], view) is None
    first, last = in_names(GOLD).split(" ")
    assert parse(ITEM, [f"ANSWER: {first}"], view) is None
    assert parse(ITEM, [f"ANSWER: {first} {last}son"], view) is None


printed = st.sampled_from([token for layer in ITEM.layers() for token in layer])
tokens = st.from_regex(r"[A-Z]{1,2}_[0-9]{1,4}", fullmatch=True)


@given(printed, st.lists(st.none() | tokens, min_size=4, max_size=4))
def test_writing_then_parsing_is_the_identity(token: str, steps: list[str | None]) -> None:
    slots = tuple(steps) if any(steps) else ()
    for view, answer in (
        (NhopView("direct"), NhopAnswer(token)),
        (NhopView("steps"), NhopAnswer(token, slots)),
        (FREE, NhopAnswer(token)),
    ):
        written = write(ITEM, answer, view)
        assert parse(ITEM, [written], view) == answer
        assert IMPLICIT.strict(ITEM, [written], view)


@given(printed, st.lists(st.none() | printed, min_size=4, max_size=4))
def test_names_are_written_and_read_back(token: str, steps: list[str | None]) -> None:
    view = NhopView("steps", "relations")
    answer = NhopAnswer(token, tuple(steps) if any(steps) else ())
    written = write(ITEM, answer, view)
    assert parse(ITEM, [written], view) == answer
    assert IMPLICIT.strict(ITEM, [written], view)
    assert token not in written
    fields = dict(line.split(": ") for line in written.lower().splitlines())
    assert fields.keys() <= set(IMPLICIT.schema(ITEM, view)["properties"])
    assert parse(ITEM, [json.dumps(fields)], view) == answer


@given(st.text())
def test_no_text_breaks_the_parser(text: str) -> None:
    parse(ITEM, [text], NhopView("steps"))
    parse(ITEM, [text], NhopView("steps", "relations"))


def test_strict_asks_for_nothing_else_in_direct_mode() -> None:
    assert IMPLICIT.strict(ITEM, [f"So.\nANSWER: {GOLD}"], FREE)
    assert not IMPLICIT.strict(ITEM, [f"ANSWER: {GOLD}"], NhopView("direct"))
    assert not IMPLICIT.strict(ITEM, [f"**ANSWER: {GOLD}**"], FREE)


def test_the_schema_names_every_slot() -> None:
    assert IMPLICIT.schema(ITEM, FREE)["required"] == ["answer"]
    assert IMPLICIT.schema(ITEM, NhopView("steps"))["required"] == [
        "f1",
        "f2",
        "f3",
        "f4",
        "answer",
    ]
