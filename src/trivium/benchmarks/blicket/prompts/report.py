"""The prompts' part of reports: chart axes, kinds of answers, and highlights."""

from __future__ import annotations

from trivium.benchmarks.blicket.prompts.generate import PromptItem, gold
from trivium.core.benchmark import ChartAxis, Lifts

AXES = (ChartAxis("condition", groups=("form", "hypotheses")),)
KINDS = {
    "wrong-structure": "exactly the blickets, but the wrong machine",
    "objects-of-other-machines": "objects of another machine are called blickets",
    "too-many-blickets": "all blickets, and other objects",
    "wrong-blickets": "a blicket is missing, and another object is called a blicket",
    "needless-maybe": "an object is called maybe although it is certain",
    "too-few-blickets": "only some of the blickets",
    "no-blickets": "no object is called a blicket",
}
EASIER_WITH_MORE: frozenset[str] = frozenset()


def highlights(item: PromptItem, view: object) -> list[str]:
    """The names to highlight in a prompt: the blickets."""
    return list(gold(item).blickets)


def headline_sentence(lifts: Lifts) -> str:
    """A sentence on how well a solver infers causes."""
    return f"infers causes {lifts.grade}"
