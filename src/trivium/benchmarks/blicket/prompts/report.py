"""What reports say about blicket prompts: axes of charts, kinds of answers, names, a sentence."""

from __future__ import annotations

from trivium.benchmarks.blicket.prompts.generate import PromptItem, gold
from trivium.core.benchmark import ChartAxis, Lifts

AXES = (ChartAxis("condition", groups=("form", "hypotheses")),)
KINDS = {
    "wrong-structure": "exactly the blickets, but not the machine that it is like",
    "objects-of-other-machines": "objects of another machine are called blickets",
    "too-many-blickets": "all blickets and others",
    "wrong-blickets": "an object is called a blicket that is none, and a blicket is missing",
    "needless-maybe": "an object is called maybe that is certain",
    "too-few-blickets": "only some of the blickets",
    "no-blickets": "no object is called a blicket",
}
EASIER_WITH_MORE = frozenset({"trials"})


def highlights(item: PromptItem) -> list[str]:
    """The blickets."""
    return list(gold(item).blickets)


def headline_sentence(lifts: Lifts) -> str:
    """How well a solver infers causes."""
    return f"infers causes {lifts.grade}"
