"""How right an answer is, in detail and as the paper counts."""

from __future__ import annotations

from dataclasses import dataclass

from trivium.benchmarks.blicket.prompts.evidence import UNSURE, PromptAnswer
from trivium.benchmarks.blicket.prompts.generate import PromptItem
from trivium.benchmarks.blicket.prompts.spec import PromptSpec, PromptView
from trivium.core.benchmark import Floor, Metric
from trivium.core.records import Groups, Scores

METRICS = (
    Metric("correct", "exactly the blickets are named, and the structure is right"),
    Metric("blickets", "exactly the blickets of the new machine are named"),
    Metric("blickets_right", "share of the new machine's blickets that are named", "mean"),
    Metric("wrong", "objects named that are not blickets of the new machine", "mean", 0.0, 18.0),
    Metric("other_machine", "objects of other machines named", "mean", 0.0, 12.0),
    Metric("maybe", "objects called maybe", "mean", 0.0, 18.0),
    Metric("structure", "the right machine, or unsure where the evidence leaves it open"),
)


@dataclass(frozen=True)
class TableLine:
    """A reply as Table 2 counts it."""

    right: int
    of: int
    wrong: int
    structure: str | None  # correct or wrong; None where hypotheses are not given


def table_line(item: PromptItem, answer: PromptAnswer | None) -> TableLine:
    """The line of Table 2: an object called maybe counts as named, of whichever machine it is.

    Under no other reading do all twelve printed replies score as the table says.
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
        return {"correct": 0.0, "blickets": 0.0, "blickets_right": 0.0, "structure": 0.0}
    blickets, named = set(item.answer.blickets), set(answer.blickets)
    exact = named == blickets and set(answer.maybe) == set(item.answer.maybe)
    structure = answer.like == item.answer.like
    return {
        "correct": float(exact and structure),
        "blickets": float(exact),
        "blickets_right": len(named & blickets) / len(blickets) if blickets else None,
        "wrong": float(len(named - blickets)),
        "other_machine": float(len(named - set(item.new.objects))),
        "maybe": float(len(answer.maybe)),
        "structure": float(structure),
    }


def kind(item: PromptItem, answer: PromptAnswer | None) -> str:
    """What kind of answer this is; the part after a colon is about the structure."""
    if answer is None:
        return "violation"
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
    """Any set of new objects but the empty one, and one of three structures."""
    return Floor("random", 1 / (3 * ((1 << spec.objects) - 1)))


def item_floor(item: PromptItem, view: PromptView) -> Floor:
    """The same for an item that may come without its spec."""
    return floor(PromptSpec(objects=len(item.new.objects)), view)


def groups(item: PromptItem) -> Groups:
    """What results are grouped by: the cells of the design and the number of objects."""
    return {"hypotheses": item.hypotheses, "form": item.form, "N": len(item.new.objects)}
