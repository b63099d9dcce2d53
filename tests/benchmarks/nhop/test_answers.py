"""Reading replies: what counts as an answer, and what does not."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.benchmarks.nhop import EXPLICIT, IMPLICIT
from trivium.benchmarks.nhop.answer import NhopAnswer, parse, write
from trivium.benchmarks.nhop.item import NhopItem, generate
from trivium.benchmarks.nhop.spec import ExplicitSpec, ImplicitSpec, NhopView

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
    answer = parse(ITEM, reply, NhopView(mode))  # type: ignore[arg-type]
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
        (f"{OTHER} -> {GOLD}", "direct", None),
        ("no idea", "direct", None),
        ("F0824", "direct", None),
        ("12", "free", None),
        ("Answer:", "free", None),
        ("", "steps", None),
        (f"{LETTER}_{NUMBER}9", "direct", f"{LETTER}_{NUMBER}9"),
    ],
)
def test_the_last_stated_answer_counts(reply: str, mode: str, token: str | None) -> None:
    answer = parse(ITEM, reply, NhopView(mode))  # type: ignore[arg-type]
    assert (None if answer is None else answer.token) == token


def test_other_spellings_in_the_file_count() -> None:
    item = ITEM._replace(accepted=[GOLD, "the blue one"])
    answer = parse(item, "The Blue One.", NhopView())
    assert answer == NhopAnswer(GOLD)


def test_slots_are_read_and_the_first_wrong_hop_is_named() -> None:
    view = NhopView("steps")
    gold = IMPLICIT.gold(ITEM)
    assert parse(ITEM, write(gold, view), view) == gold
    steps = list(gold.steps)
    steps[1] = OTHER
    wrong = parse(ITEM, write(NhopAnswer(GOLD, tuple(steps)), view), view)
    assert IMPLICIT.score(ITEM, wrong)["first_wrong_hop"] == 2
    assert IMPLICIT.score(ITEM, wrong)["em"] == 1
    missing = parse(ITEM, f"f1: {gold.steps[0]}\nAnswer: {GOLD}", view)
    assert IMPLICIT.score(ITEM, missing)["first_wrong_hop"] == 2


TOKENS = st.builds(
    "{}_{}".format,
    st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ", min_size=1, max_size=2),
    st.text("0123456789", min_size=1, max_size=9),
)


@given(TOKENS, st.lists(TOKENS | st.none(), min_size=4, max_size=4))
def test_writing_then_parsing_is_the_identity(token: str, steps: list[str | None]) -> None:
    for mode, slots in (("direct", ()), ("free", ()), ("steps", tuple(steps))):
        view = NhopView(mode)  # type: ignore[arg-type]
        answer = NhopAnswer(token, slots)
        assert parse(ITEM, write(answer, view), view) == answer


@given(st.text(max_size=400), st.sampled_from(["direct", "steps", "free"]))
def test_no_text_breaks_the_parser(text: str, mode: str) -> None:
    view = NhopView(mode)  # type: ignore[arg-type]
    answer = parse(ITEM, text, view)
    IMPLICIT.score(ITEM, answer)
    assert IMPLICIT.kind(ITEM, answer)


@pytest.mark.parametrize("part", ["A_", "answer ", "a _ ", "f1: ", "[", "A_0001 ", "f1*", "\n"])
def test_long_replies_are_read_in_linear_time(part: str) -> None:
    """A hundred times the text takes far less than the ten thousand times of a quadratic rule."""
    short, long = part * (10_000 // len(part)), part * (1_000_000 // len(part))
    view = NhopView("steps")

    def seconds(text: str) -> float:
        began = time.perf_counter()
        parse(ITEM, text, view)
        return time.perf_counter() - began

    best = min(seconds(short) for _ in range(5))
    assert seconds(long) < 1500 * max(best, 1e-4)


def test_kinds_of_error_in_a_bag() -> None:
    chain = IMPLICIT.gold(ITEM).steps
    assert IMPLICIT.kind(ITEM, NhopAnswer(str(chain[1]))) == "right-chain-wrong-hop:2"
    assert IMPLICIT.kind(ITEM, NhopAnswer(ITEM.start)) == "right-chain-wrong-hop:0"
    place = ITEM.candidates.index(OTHER) + 1
    assert IMPLICIT.kind(ITEM, NhopAnswer(OTHER)) == f"other-chain-end:{place}"
    elsewhere = next(
        head for head, function, _ in ITEM.facts if function == "f2" and head not in chain
    )
    assert IMPLICIT.kind(ITEM, NhopAnswer(elsewhere)) == "token-of-the-prompt"
    assert IMPLICIT.kind(ITEM, NhopAnswer("Z_9999")) == "token-not-in-the-prompt"
    assert IMPLICIT.kind(ITEM, None) == "violation"


def test_kinds_and_signals_on_a_ladder() -> None:
    hard = EXPLICIT.presets["explicit-hard"]
    (item,) = generate(hard, 1)
    wrong = next(token for token in item.candidates if token != item.answer)
    scores = EXPLICIT.score(item, NhopAnswer(wrong))
    assert (scores["em"], scores["fn_correct"], scores["fn_1_coherent"]) == (0, 0, 0)
    assert scores["fn_2_from_chain"] == 1
    right = EXPLICIT.score(item, NhopAnswer(item.answer))
    assert (right["fn_correct"], right["fn_1_coherent"], right["fn_2_from_chain"]) == (1, 1, 1)
    assert EXPLICIT.kind(item, NhopAnswer(wrong)).startswith("wrong-candidate:")
    head = item.blocks[0].resolved()[0][0]
    gone = next(token for token in [*item.blocks[-1].aliases.values()] if token not in head)
    assert EXPLICIT.kind(item, NhopAnswer(gone)) in {"off-candidate", "right-chain-wrong-hop:3"}
    (short,) = generate(ExplicitSpec(L=1), 1)
    low = EXPLICIT.score(short, NhopAnswer(short.answer))
    assert low["fn_1_coherent"] is None
    assert low["fn_2_from_chain"] is None
