"""Scores of an answer, kinds of errors, and the floor."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from math import factorial
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
    Metric("wrong", "objects named that are not blickets of the new machine", "mean", 0.0, 18.0),
    Metric("other_machine", "objects of other machines named", "mean", 0.0, 12.0),
    Metric("maybe", "objects called maybe", "mean", 0.0, 18.0),
    Metric("structure", "the right machine, or unsure where the evidence leaves it open"),
    Metric("paper_key", "correct by the printed key, for the paper's two-shot prompts"),
)


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


Sizes = tuple[int, int]  # how many objects must be blickets, and how many may be


@lru_cache(maxsize=64)
def floor(spec: PromptSpec, view: PromptView) -> Floor:
    """The best guess that knows the spec and the condition: numbers of objects, and a structure."""
    # The first paragraph shows whether hypotheses are given, so the guess may depend on it.
    conditions = dict.fromkeys(hypotheses for hypotheses, _ in spec.cells)
    names, values, structures = [], [], []
    for hypotheses in conditions:
        draws: dict[Sizes, float] = defaultdict(float)
        forms = [form for each, form in spec.cells if each == hypotheses]
        for form in forms:
            for sizes, chance in _blind_draws(spec, hypotheses, form).items():
                draws[sizes] += chance / len(forms)
        (sure, maybe), value = max(draws.items(), key=lambda pair: pair[1])
        structure = 0.5 if hypotheses == "given" else 1.0
        like = "one of the machines" if hypotheses == "given" else "unsure"
        names.append(f"{sure} blickets and {maybe} maybe at random, {like}")
        values.append(value)
        structures.append(structure)
    shares = [a * b for a, b in zip(values, structures, strict=True)]
    others = {"blickets": fmean(values), "structure": fmean(structures)}
    return Floor("; ".join(names), fmean(shares), others=others)


def _blind_draws(spec: PromptSpec, hypotheses: str, form: str) -> dict[Sizes, float]:
    """The probability that random objects are the right answer, by the sizes of the answer."""
    if spec.stimuli != "generated" or spec.evidence == "full":
        sizes = (1 if form == "disjunctive" else 2, 0)
        return {sizes: 1 / _draws(spec.objects, *sizes)}
    kinds = matched.NAMED_KINDS if hypotheses == "given" else matched.POSSIBLE_KINDS
    found: dict[Sizes, float] = defaultdict(float)
    for number in range(matched.GROUPS):
        options = matched.answers(spec.objects, spec.tests, form, kinds, number)
        for (sure, maybe), _ in options:
            sizes = (sure.bit_count(), maybe.bit_count())
            found[sizes] += 1 / _draws(spec.objects, *sizes) / len(options) / matched.GROUPS
    return dict(found)


def _draws(objects: int, sure: int, maybe: int) -> int:
    """The number of answers of these sizes."""
    rest = objects - sure - maybe
    return factorial(objects) // (factorial(sure) * factorial(maybe) * factorial(rest))


def item_floor(item: PromptItem, view: PromptView) -> Floor:
    """The floor of an item without an origin: a guess that knows the sizes of the answer."""
    sizes = len(item.answer.blickets), len(item.answer.maybe)
    structure = 0.5 if item.hypotheses == "given" else 1.0
    return Floor("sizes known", structure / (1 + _draws(len(item.new.objects), *sizes)))


def groups(item: PromptItem) -> Groups:
    """The groups of results: the cell of the design and the number of objects."""
    return {"hypotheses": item.hypotheses, "form": item.form, "N": len(item.new.objects)}
