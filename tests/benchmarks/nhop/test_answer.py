"""Reading replies: what counts as an answer, and what does not."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.benchmarks.nhop import IMPLICIT
from trivium.benchmarks.nhop.answer import NhopAnswer, parse, write
from trivium.benchmarks.nhop.generate import generate
from trivium.benchmarks.nhop.item import NhopItem
from trivium.benchmarks.nhop.spec import ImplicitSpec, NhopView

ITEM: NhopItem = next(generate(ImplicitSpec(), 1))
GOLD = ITEM.answer
LETTER, NUMBER = GOLD.split("_")
OTHER = next(token for token in ITEM.candidates if token != GOLD)


@pytest.mark.parametrize(
    "reply",
    [
        GOLD,
        GOLD.lower(),
        f" {GOLD} \n",
        f"{GOLD}.",
        f"'{GOLD}'",
        f'"{GOLD}".',
        f"`{GOLD}`",
        f"**{GOLD}**",
        f"_{GOLD}_",
        f"*{GOLD}*.",
        f"<{GOLD}>",
        f"[{GOLD}]",
        f"({GOLD})",
        f"“{GOLD}”",
        f"{LETTER} _ {NUMBER}",
        f"{LETTER}_ {NUMBER}",
        f"Answer: {GOLD}",
        f"The answer is {GOLD}.",
        f"**Answer:** {GOLD}",
        f"{GOLD} {GOLD}",
        f"```\n{GOLD}\n```",
        GOLD.replace("_", r"\_"),
        f"The answer is: **{GOLD}**",
    ],
)
@pytest.mark.parametrize("mode", ["direct", "steps", "free"])
def test_decoration_does_not_matter(reply: str, mode: str) -> None:
    answer = parse(ITEM, [reply], NhopView(mode))  # type: ignore[arg-type]
    assert answer is not None
    assert answer.token == GOLD


@pytest.mark.parametrize(
    ("reply", "mode", "token"),
    [
        (f"Answer: {OTHER}\nNo, wait.\nAnswer: {GOLD}", "free", GOLD),
        (f"Answer: {GOLD}\nNo, wait.\nAnswer: {OTHER}", "free", OTHER),
        (f"It goes A_0001, then {GOLD}", "free", GOLD),
        (f"The answer is {GOLD}, not {OTHER}", "free", GOLD),
        (f"Answer: {GOLD}\n\nThe answer {OTHER} would be wrong", "free", GOLD),
        (f"Answer: {GOLD}\n\nThe answer {OTHER} would be wrong", "steps", GOLD),
        (f"Answer: {GOLD} (not {OTHER})", "direct", GOLD),
        (f"From {OTHER}, the answer is {GOLD}.", "direct", GOLD),
        (f"f1: {OTHER}\nf2: {OTHER}\nAnswer: {GOLD}", "steps", GOLD),
        (f"f4 = {GOLD}", "steps", GOLD),
        (f"{OTHER} or {GOLD}", "direct", None),
        (f"{OTHER}? {GOLD}?", "direct", None),
        (f"{GOLD} is correct, {OTHER} is not.", "direct", GOLD),
        (f"Answer: {GOLD}... no, {OTHER}.", "direct", OTHER),
        (f"I choose {OTHER} over {GOLD}.", "direct", OTHER),
        (f"El resultado no es {GOLD}, sino {OTHER}.", "direct", OTHER),
        (f"{OTHER}\u3067\u306f\u306a\u304f{GOLD}", "direct", GOLD),
        (f"If I am not mistaken, {GOLD}.", "direct", GOLD),
        (f"If it were H1, {GOLD}.", "direct", None),
        (f"There is no fact about {ITEM.start}, so no answer exists.", "direct", None),
        (f"f1 of {ITEM.start} is the answer.", "direct", None),
        (f"| Step | Result |\n| 1 | B_0001 |\n| 2 | {GOLD} |", "direct", GOLD),
        (f"Answer: {GOLD}\nThis is because D_0001 maps to {OTHER}.", "free", GOLD),
        (f"Answer: {GOLD}\nQuestion: What is f1 of A_9999?\nAnswer: {OTHER}", "direct", GOLD),
        (f"Candidates: {', '.join(ITEM.candidates[:4])}", "direct", None),
        (f"{OTHER} -> {GOLD}", "direct", GOLD),
        ("no idea", "direct", None),
        (f"{LETTER}{NUMBER}", "direct", GOLD),
        ("F0824", "direct", None),
        ("12", "free", None),
        ("Answer:", "free", None),
        ("", "steps", None),
        (f"{LETTER}_{NUMBER}9", "direct", f"{LETTER}_{NUMBER}9"),
    ],
)
def test_the_last_stated_answer_counts(reply: str, mode: str, token: str | None) -> None:
    answer = parse(ITEM, [reply], NhopView(mode))  # type: ignore[arg-type]
    assert (None if answer is None else answer.token) == token


def test_other_spellings_in_the_file_count() -> None:
    item = ITEM._replace(accepted=[GOLD, "the blue one"])
    answer = parse(item, ["The Blue One."], NhopView())
    assert answer == NhopAnswer(GOLD)


def test_slots_are_read_and_the_first_wrong_hop_is_named() -> None:
    view = NhopView("steps")
    gold = IMPLICIT.gold(ITEM)
    assert parse(ITEM, [write(ITEM, gold, view)], view) == gold
    steps = list(gold.steps)
    steps[1] = OTHER
    wrong = parse(ITEM, [write(ITEM, NhopAnswer(GOLD, tuple(steps)), view)], view)
    assert IMPLICIT.score(ITEM, wrong)["first_wrong_hop"] == 2
    assert IMPLICIT.score(ITEM, wrong)["em"] == 1
    without = parse(ITEM, [GOLD], view)
    assert without == NhopAnswer(GOLD)
    assert IMPLICIT.score(ITEM, without)["first_wrong_hop"] is None
    missing = parse(ITEM, [f"f1: {gold.steps[0]}\nAnswer: {GOLD}"], view)
    assert IMPLICIT.score(ITEM, missing)["first_wrong_hop"] == 2


TOKENS = st.builds(
    "{}_{}".format,
    st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ", min_size=1, max_size=2),
    st.text("0123456789", min_size=1, max_size=9),
)


@given(TOKENS, st.lists(TOKENS | st.none(), min_size=4, max_size=4))
def test_writing_then_parsing_is_the_identity(token: str, steps: list[str | None]) -> None:
    filled = tuple(steps) if any(steps) else ()
    for mode, slots in (("direct", ()), ("free", ()), ("steps", filled)):
        view = NhopView(mode)  # type: ignore[arg-type]
        answer = NhopAnswer(token, slots)
        assert parse(ITEM, [write(ITEM, answer, view)], view) == answer


@given(st.text(max_size=400), st.sampled_from(["direct", "steps", "free"]))
def test_no_text_breaks_the_parser(text: str, mode: str) -> None:
    view = NhopView(mode)  # type: ignore[arg-type]
    answer = parse(ITEM, [text], view)
    IMPLICIT.score(ITEM, answer)
    assert IMPLICIT.kind(ITEM, answer)


@pytest.mark.parametrize("part", ["A_", "answer ", "a _ ", "f1: ", "[", "A_0001 ", "f1*", "\n"])
def test_long_replies_are_read_in_linear_time(part: str) -> None:
    """Ten times the text takes far less than the hundred times of a quadratic rule."""
    short, long = part * (5_000 // len(part)), part * (50_000 // len(part))
    view = NhopView("steps")

    def seconds(text: str) -> float:
        began = time.perf_counter()
        parse(ITEM, [text], view)
        return time.perf_counter() - began

    best = min(seconds(short) for _ in range(5))
    assert any(seconds(long) < 40 * max(best, 1e-3) for _ in range(4))


def test_only_short_replies_are_compared_as_a_whole() -> None:
    """A name without an underscore is found in a reply of up to 199 characters."""
    item = ITEM._replace(accepted=[GOLD, "the blue one"])
    padded = "the blue one".ljust(199)
    assert parse(item, [padded], NhopView()) == NhopAnswer(GOLD)
    assert parse(item, [padded + " "], NhopView()) is None


@pytest.mark.parametrize(
    ("reply", "token"),
    [
        ("ABCD_1", "ABCD_1"),
        ("ABCDE_1", None),
        ("A_" + "1" * 18, "A_" + "1" * 18),
        ("A_" + "1" * 19, None),
        ("A" + " " * 9 + "_1", "A_1"),
        ("A" + " " * 10 + "_1", None),
        ("see C_12 or d_7; answer is: d_7, not c_12", "D_7"),
        ("see C_12 or d_7; answer is: d_7, or c_12", None),
    ],
)
def test_the_shape_of_a_token(reply: str, token: str | None) -> None:
    answer = parse(ITEM, [reply], NhopView())
    assert answer == (None if token is None else NhopAnswer(token))


def test_the_last_reply_counts_and_the_last_filling_of_a_slot() -> None:
    view = NhopView("steps")
    answer = parse(ITEM, ["Answer: A_1", "f1: A_2\nf1: A_3\nf9: A_4\nAnswer: B_5"], view)
    assert answer == NhopAnswer("B_5", ("A_3", None, None, None))
    long = ITEM._replace(depth=200)
    answer = parse(long, ["f200: Z_1\n`f199` = *Y_2*\nAnswer: Z_1"], view)
    assert answer is not None
    assert answer.steps[-2:] == ("Y_2", "Z_1")


def test_how_long_replies_are() -> None:
    tokens = [IMPLICIT.output_tokens(NhopView(mode)) for mode in ("direct", "steps", "free")]
    assert tokens == [16, 256, 1024]
