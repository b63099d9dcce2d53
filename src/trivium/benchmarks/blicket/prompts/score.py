"""Scores of an answer, kinds of errors, and the floor."""

from __future__ import annotations

from math import comb
from statistics import fmean
from typing import NamedTuple

from trivium.benchmarks.blicket.prompts import matched
from trivium.benchmarks.blicket.prompts.evidence import UNSURE, PromptAnswer
from trivium.benchmarks.blicket.prompts.generate import PromptItem
from trivium.benchmarks.blicket.prompts.spec import PromptSpec, PromptView
from trivium.core.benchmark import Floor, Metric
from trivium.core.records import NO_ANSWER, Groups, Scores

METRICS = (
    Metric("correct", "exactly the blickets are named, and the structure is right"),
    Metric("blickets", "exactly the blickets of the new machine are named"),
    Metric("blickets_right", "share of the new machine's blickets that are named", "mean"),
    Metric("wrong", "objects named that are not blickets of the new machine", "mean", 0.0, 24.0),
    Metric("other_machine", "objects of other machines named", "mean", 0.0, 12.0),
    Metric("maybe", "objects called maybe", "mean", 0.0, 24.0),
    Metric("structure", "the right machine, or unsure where the evidence leaves it open"),
    Metric("paper_key", "correct by the printed key, for the paper's two-shot prompts"),
)
KINDS = {
    "wrong-structure": "exactly the blickets, but the wrong machine",
    "objects-of-other-machines": "objects of another machine are called blickets",
    "too-many-blickets": "all blickets, and other objects",
    "wrong-blickets": "a blicket is missing, and another object is called a blicket",
    "needless-maybe": "an object is called maybe although it is certain",
    "too-few-blickets": "only some of the blickets",
    "no-blickets": "no object is called a blicket",
}


class TableLine(NamedTuple):
    """The score of a reply in Table 2."""

    right: int
    of: int
    wrong: int
    structure: str | None  # correct or wrong; None if hypotheses are not given


def table_line(item: PromptItem, answer: PromptAnswer | None) -> TableLine:
    """The line of Table 2, where an object of any machine called maybe counts as named.

    Only with this rule do all twelve printed replies score as in the table.
    """
    blickets = set(item.answer.blickets)
    named = {*answer.blickets, *answer.maybe} if answer else set()
    structure = None
    if item.hypotheses == "given":
        right = answer is not None and answer.like == item.answer.like
        structure = "correct" if right else "wrong"
    return TableLine(len(named & blickets), len(blickets), len(named - blickets), structure)


def score(item: PromptItem, answer: PromptAnswer | None) -> Scores:
    """The value of every metric."""
    if answer is None:
        silent: Scores = {"correct": 0.0, "blickets": 0.0, "blickets_right": 0.0, "structure": 0.0}
        return silent | ({"paper_key": 0.0} if item.two_shot else {})
    blickets, named = set(item.answer.blickets), set(answer.blickets)
    exact = named == blickets and set(answer.maybe) == set(item.answer.maybe)
    structure = answer.like == item.answer.like
    scores: Scores = {
        "correct": float(exact and structure),
        "blickets": float(exact),
        "blickets_right": len(named & blickets) / len(blickets) if blickets else None,
        "wrong": float(len(named - blickets)),
        "other_machine": float(len(named - set(item.new.objects))),
        "maybe": float(len(answer.maybe)),
        "structure": float(structure),
    }
    if item.two_shot:
        # If hypotheses are not given, the key says unsure although the preamble decides.
        printed = item.answer.like if item.hypotheses == "given" else UNSURE
        scores["paper_key"] = float(exact and answer.like == printed)
    return scores


def kind(item: PromptItem, answer: PromptAnswer | None) -> str:
    """The kind of answer; the part after a colon is about the structure."""
    if answer is None:
        return NO_ANSWER
    scores = score(item, answer)
    if scores["correct"]:
        return "right"
    if scores["blickets"]:
        what = "wrong-structure"
    elif scores["other_machine"]:
        what = "objects-of-other-machines"
    elif scores["wrong"]:
        what = "too-many-blickets" if scores["blickets_right"] == 1 else "wrong-blickets"
    elif scores["blickets_right"] == 1:
        what = "needless-maybe"
    else:
        what = "too-few-blickets" if answer.blickets else "no-blickets"
    silent = {None: "not-said", UNSURE: "unsure"}
    structure = "right" if scores["structure"] else silent.get(answer.like, "wrong")
    return f"{what}:structure-{structure}"


def floor(spec: PromptSpec, view: PromptView) -> Floor:
    """The best strategy that counts and never asks which objects were in a test together.

    In generated evidence, counts leave two answers or more, all equally likely: counts of tests,
    and with six objects or more also of the open objects beside each one. For the paper's own
    prompts, counting is always right: the objects that were most often on the lit machine are the
    blickets, and machines of a kind have the same number of lights.
    """
    if not spec.matched:
        name = "counting is always right, so there is no lift"
        return Floor(name, 1.0, others={"blickets": 1.0, "structure": 1.0})
    blickets = 1 / len(matched.answers_left(matched.design(spec.objects, spec.tests)))
    conditions = dict.fromkeys(hypotheses for hypotheses, _ in spec.cells)
    # In two-shot, the preamble names the pattern of each kind, and one test proves the kind.
    stated = view.prompt == "two_shot"
    share = fmean(0.5 if each == "given" and not stated else 1.0 for each in conditions)
    name = "one of the answers that counts leave; unsure if not given"
    return Floor(name, blickets * share, others={"blickets": blickets, "structure": share})


def item_floor(item: PromptItem, view: PromptView) -> Floor:
    """The floor of an item without an origin: a guess that knows the sizes of the answer."""
    objects, sure = len(item.new.objects), len(item.answer.blickets)
    answers = comb(objects, sure) * comb(objects - sure, len(item.answer.maybe))
    structure = 0.5 if item.hypotheses == "given" else 1.0
    return Floor("sizes known", structure / (1 + answers))


def groups(item: PromptItem) -> Groups:
    """The groups of results: the cell of the design and the number of objects."""
    return {"hypotheses": item.hypotheses, "form": item.form, "N": len(item.new.objects)}
