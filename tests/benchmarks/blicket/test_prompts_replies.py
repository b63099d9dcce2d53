"""Replies to blicket prompts in many wordings, and their answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from trivium.benchmarks.blicket.prompts import PROMPTS
from trivium.benchmarks.blicket.prompts.evidence import PromptAnswer
from trivium.benchmarks.blicket.prompts.spec import PromptSpec, PromptView

ITEM = next(iter(PROMPTS.generate(PromptSpec("given", "conjunctive", stimuli="paper"), 0)))
B, F, T = "brown torus", "pink frustum", "teal prism"
REPLIES: list[tuple[str, list[str], list[str], str | None]] = [
    (
        "Which objects are blickets? The teal prism and the brown torus. Is it like the striped or "
        "the dotted one? Striped.",
        [B, T],
        [],
        "striped",
    ),
    ("The teal prism is a blicket and so is the brown torus.", [B, T], [], None),
    (
        "Only the teal prism and brown torus light it, so both of these are blickets.",
        [B, T],
        [],
        None,
    ),
    ("The red torus is a blicket, and so is the prism.", [T], [], None),
    (
        "The blickets are the prism and the torus. As for the machine, there is no way to know, "
        "because what is seen on the striped and the dotted one fits both.",
        [B, T],
        [],
        "unsure",
    ),
    (
        "The brown torus is a blicket, but the pink frustum and teal prism are not.",
        [B],
        [],
        None,
    ),
    (
        "Only the brown torus is a blicket.",
        [B],
        [],
        None,
    ),
    (
        "The blicket is the brown torus.",
        [B],
        [],
        None,
    ),
    (
        "Blickets: brown torus, teal prism\nMachine: striped",
        [B, T],
        [],
        "striped",
    ),
    (
        "**Blickets:** brown torus and teal prism\n**Machine:** unsure",
        [B, T],
        [],
        "unsure",
    ),
    (
        "Neither the pink frustum nor the teal prism is a blicket. The brown torus is.",
        [],
        [],
        None,
    ),
    (
        "The pink frustum isn't a blicket. The brown torus and the teal prism are "
        "both blickets. The machine works like the striped machine, not like the "
        "dotted one.",
        [B, T],
        [],
        "striped",
    ),
    (
        "I think the brown torus might be a blicket.",
        [],
        [B],
        None,
    ),
    (
        "It's not clear whether the pink frustum is a blicket, but the brown torus "
        "is definitely a blicket.",
        [B],
        [F],
        None,
    ),
    (
        "The blickets are:\n- Teal prism\n- Brown torus\n\nNon-blickets:\n- Pink "
        "frustum\n\nThe checkerboard detector behaves like the striped detector.",
        [B, T],
        [],
        "striped",
    ),
    (
        "- brown torus: blicket\n- pink frustum: not a blicket\n- teal prism: blicket",
        [B, T],
        [],
        None,
    ),
    (
        "The blickets are the teal prism and the brown torus, and the pink frustum "
        "is not a blicket.",
        [B, T],
        [],
        None,
    ),
    (
        "The torus and the prism are blickets; the frustum is not.",
        [B, T],
        [],
        None,
    ),
    (
        "There are two blickets: the teal prism and the brown torus. It behaves "
        "like the striped detector rather than the dotted one.",
        [B, T],
        [],
        "striped",
    ),
    (
        "If the pink frustum were a blicket, it would light. So the brown torus and "
        "the teal prism are blickets.",
        [B, T],
        [],
        None,
    ),
    (
        "None of the objects are blickets.",
        [],
        [],
        None,
    ),
    (
        "All three objects are blickets.",
        [B, F, T],
        [],
        None,
    ),
    (
        "It is impossible to tell whether it behaves like the striped or the dotted "
        "detector. The brown torus is a blicket.",
        [B],
        [],
        "unsure",
    ),
    (
        "The brown torus is a blicket. I'm not sure which machine it is like.",
        [B],
        [],
        "unsure",
    ),
    (
        "The brown torus is a blicket. It could be like either the striped or dotted machine.",
        [B],
        [],
        "unsure",
    ),
    (
        "The brown torus is a blicket. There is not enough information to determine "
        "whether the machine behaves like the striped or dotted one.",
        [B],
        [],
        "unsure",
    ),
    (
        "When the brown torus is placed on the machine, it does not light up. When "
        "the brown torus and the teal prism are placed together it lights up. "
        "Therefore, the brown torus and teal prism are the blickets.",
        [B, T],
        [],
        None,
    ),
    (
        "The brown torus and teal prism are blickets. The new detector is not like "
        "the dotted detector; it is like the striped detector.",
        [B, T],
        [],
        "striped",
    ),
    (
        "The blickets could be the brown torus and the teal prism.",
        [],
        [B, T],
        None,
    ),
    (
        "The brown torus may not be a blicket.",
        [],
        [B],
        None,
    ),
    (
        "The teal prism and brown torus are blickets. The checkerboard pattern "
        "blicket detector behaves like the striped pattern blicket detector because "
        "both need two blickets, whereas the dotted pattern detector needs one.",
        [B, T],
        [],
        "striped",
    ),
    (
        "| object | blicket? |\n|---|---|\n| brown torus | blicket |\n| pink frustum | "
        "not a blicket |",
        [B],
        [],
        None,
    ),
    (
        "The brown torus is the only blicket among the three. The new machine works "
        "the same way as the dotted machine.",
        [B],
        [],
        "dotted",
    ),
    (
        "The blickets are teal prism and brown torus (not pink frustum).",
        [B, T],
        [],
        None,
    ),
    (
        "The blickets for this machine are the teal prism and brown torus; the "
        "machine is conjunctive, so it is like the striped one.",
        [B, T],
        [],
        "striped",
    ),
    (
        "Brown torus and teal prism are blickets, the pink frustum is not. Since "
        "striped is conjunctive, the checkerboard behaves like the striped.",
        [B, T],
        [],
        "striped",
    ),
    (
        "We cannot determine if the checkerboard machine is like the striped or the "
        "dotted machine, but the brown torus is a blicket.",
        [B],
        [],
        "unsure",
    ),
    (
        "The brown torus is a blicket, the teal prism is a blicket, and the pink frustum is not.",
        [B, T],
        [],
        None,
    ),
    (
        "Both the teal prism and the brown torus are blickets. This behaves like "
        "the striped pattern, since two blickets are required.",
        [B, T],
        [],
        "striped",
    ),
    (
        "The brown torus is probably a blicket.",
        [],
        [B],
        None,
    ),
    (
        "The brown torus and the teal prism must both be blickets.",
        [B, T],
        [],
        None,
    ),
    (
        "The objects that are blickets are the brown torus and the teal prism, "
        "while the pink frustum is not a blicket.",
        [B, T],
        [],
        None,
    ),
    (
        "So the answer: blickets = {brown torus, teal prism}; the machine is like "
        "the striped machine.",
        [B, T],
        [],
        "striped",
    ),
]
SILENT = [
    "I would rather not say.",
    "As an AI, I can't help.",
    "Put the brown torus on the machine and it lights up.",
    "Which objects are blickets?",
    "Does it behave like the striped machine?",
    "If the brown torus were a blicket, it would light up.",
]


@pytest.mark.parametrize(("reply", "blickets", "maybe", "like"), REPLIES)
def test_a_reply_is_read(
    reply: str, blickets: list[str], maybe: list[str], like: str | None
) -> None:
    expected = PromptAnswer(tuple(blickets), tuple(maybe), like)
    assert PROMPTS.parse(ITEM, [reply], PromptView()) == expected


# Replies as real models word them: tables, marks, lists, asides, second thoughts.
WORDED = json.loads((Path(__file__).parent / "replies.json").read_text(encoding="utf-8"))
PAPER = {
    f"{item.hypotheses} {item.form}": item
    for item in PROMPTS.generate(PromptSpec(stimuli="paper"), 0, 0, 4)
}


@pytest.mark.parametrize("case", WORDED, ids=lambda case: case["reply"][:40])
def test_a_reply_in_the_words_of_a_model_is_read(case: dict[str, Any]) -> None:
    view = PromptView(reply=case["view"])
    answer = PROMPTS.parse(PAPER[case["item"]], [case["reply"]], view)
    assert answer == PromptAnswer(tuple(case["blickets"]), tuple(case["maybe"]), case["like"])


@pytest.mark.parametrize("reply", SILENT)
def test_a_reply_without_a_claim_is_no_answer(reply: str) -> None:
    assert PROMPTS.parse(ITEM, [reply], PromptView()) is None
