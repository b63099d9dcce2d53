"""Every reply of the corpus is read as what it means, whatever it is wrapped in."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.replies.corpus import FILES, Case, cases, outcome, read

# Hedged replies have no answer, or one that is not right.
ALLOWED = {"hedged": {"no answer", "wrong"}}


@pytest.mark.parametrize("file", FILES)
def test_every_reply_is_read_as_what_it_means(file: str) -> None:
    misread = [
        (case["reply"], found) for case in cases(file) if (found := read(case)) != case["meaning"]
    ]
    assert misread == []


@pytest.mark.parametrize("file", FILES)
def test_every_reply_has_its_outcome(file: str) -> None:
    for case in cases(file):
        allowed = ALLOWED.get(case["outcome"], {case["outcome"]})
        assert outcome(case) in allowed, case["reply"]


@pytest.mark.parametrize("file", FILES)
def test_the_corpus_is_large_and_mixed(file: str) -> None:
    rows = cases(file)
    assert len(rows) >= 200
    outcomes = Counter(case["outcome"] for case in rows)
    assert {"right", "wrong", "hedged", "refused", "cut off", "no answer"} <= set(outcomes)
    assert len({case["style"] for case in rows}) >= 12
    assert len({(case["item"], str(case["view"]), case["reply"]) for case in rows}) == len(rows)


WRAPPINGS = {
    "bold": "**{}**",
    "box": "\\boxed{{\\text{{{}}}}}",
    "dollars": "$\\text{{{}}}$",
    "think block": "<think>Hmm, it could be anything. Let me see.</think>\n\n{}",
    "unopened think block": "Let me see.\n</think>\n{}",
    "channels": "<|channel|>analysis<|message|>So.<|end|><|channel|>final<|message|>{}",
    "fence": "```\n{}\n```",
    "quotes": "\u201c{}\u201d",
    "straight quotes": '"{}"',
    "tags": "<answer>{}</answer>",
    "heading": "### Final answer\n\n{}",
    "block quote": "> {}",
    "spaces": "\n\n  {} \u00a0\n",
    "end token": "{}<|im_end|>",
    "politeness": "Sure!\n\n{}",
}
WRAPPED = [case for file in FILES for case in cases(file) if case["style"] == "exact"]


@given(
    st.sampled_from(WRAPPED),
    st.lists(st.sampled_from(sorted(WRAPPINGS)), max_size=3, unique=True),
    st.sampled_from([str, str.lower, str.upper]),
)
@settings(max_examples=400, deadline=None)
def test_wrapping_never_changes_what_is_read(
    case: Case, wrappings: list[str], letters: Callable[[str], str]
) -> None:
    reply = letters(case["reply"])
    # Reasoning stands before everything else.
    for name in sorted(wrappings, key=lambda each: "think" in each or each == "channels"):
        reply = WRAPPINGS[name].format(reply)
    assert read(case, reply) == case["meaning"]


BLOCKS = [
    "<think>{}</think>",
    "<thinking>\n{}\n</thinking>\n\n",
    "{}\n</think>",
    "[THINK]{}[/THINK]",
    "\u25c1think\u25b7{}\u25c1/think\u25b7",
    "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>",
    "<details>\n<summary>Reasoning</summary>\n{}\n</details>\n",
    "Thinking...\n{}\n...done thinking.\n\n",
]
MARKS = re.compile(r"<|\[/?think|\u25c1|thinking|response|assistantfinal", re.IGNORECASE)
ALL = [case for file in FILES for case in cases(file)]
UNMARKED = [case for case in ALL if not MARKS.search(case["reply"])]


@given(st.sampled_from(UNMARKED), st.sampled_from(UNMARKED), st.sampled_from(BLOCKS))
@settings(max_examples=300, deadline=None)
def test_reasoning_in_front_never_changes_what_is_read(
    case: Case, thought: Case, block: str
) -> None:
    """Whatever was thought, be it another reply, what is said after it is what counts."""
    assert read(case, block.format(thought["reply"]) + case["reply"]) == case["meaning"]


STATED = [
    case
    for case in cases("nhop")
    if case["style"] == "exact" and case["item"] == "implicit" and case["meaning"].startswith("E_")
]
TALK = [
    "This follows from the facts above.",
    "I hope this helps!",
    "Let me know if you would like to see the steps.",
    "Here D_0488 is f3 of C_0114.",
    "It is not E_0367.",
    "If the start were A_0130, it would be E_0367.",
    "The chain of A_0130 ends in E_0367.",
    "Others, such as E_0367, are decoys.",
    "E_0367 is wrong.",
    "Is there anything else?",
    "| A_0130 | E_0367 |",
    "A_0130 -> B_0262 -> C_0066 -> D_0069 -> E_0367",
    "Other candidates:\n- E_0367\n- E_0248",
]


@given(
    st.sampled_from(STATED),
    st.sampled_from(["{}", "Answer: {}", "**{}**", "\\boxed{{{}}}", "So it is {}."]),
    st.lists(st.sampled_from(TALK), max_size=4),
)
@settings(max_examples=200, deadline=None)
def test_talk_after_an_answer_does_not_change_it(case: Case, form: str, talk: list[str]) -> None:
    """What names no other answer, or says that it is none, is no correction."""
    reply = "\n\n".join([form.format(case["reply"]), *talk])
    assert read(case, reply) == case["meaning"]


HOSTILE = """\\boxed{ \\text{ ** <think> </think> [ ] ( ) {" | ~~ <answer> $ _{ &lt; wait, or not
answer E_0111 x_1782, [@ANSWER control: blickets: brown_torus TEST ANSWER if unsure \\[ \\]
<|channel|>analysis 1. / : like form: cannot_be . A (no) valid:true; - |a|b|"""
PIECES = [piece.replace("_t", " t").replace("_b", " b") + " " for piece in HOSTILE.split()]


@pytest.mark.parametrize("file", FILES)
def test_long_hostile_replies_are_read_in_linear_time(file: str) -> None:
    """Ten times the text takes far less than the hundred times of a quadratic rule."""
    case = cases(file)[0]

    def seconds(text: str) -> float:
        began = time.process_time()  # other work on the machine does not count
        read(case, text)
        return time.process_time() - began

    for piece in [*PIECES, "\n\n", "\n- ", "\n|a|b|\n"]:
        short, long = (piece * (length // len(piece)) for length in (1_000, 10_000))
        # The best of some tries: a collection of garbage or a full cache is no matter of the rules.
        best = min(seconds(short) for _ in range(2))
        assert any(seconds(long) < 40 * max(best, 2e-3) for _ in range(4)), piece
