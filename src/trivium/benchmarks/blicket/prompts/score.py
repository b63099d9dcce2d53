"""Scores of an answer, kinds of errors, and the floor."""

from __future__ import annotations

from functools import cache, lru_cache
from math import factorial
from statistics import fmean
from typing import NamedTuple

from trivium.benchmarks.blicket.inference.hypotheses import DISJUNCTIVE
from trivium.benchmarks.blicket.prompts import matched
from trivium.benchmarks.blicket.prompts.evidence import UNSURE, PromptAnswer
from trivium.benchmarks.blicket.prompts.generate import PromptItem
from trivium.benchmarks.blicket.prompts.spec import PromptSpec, PromptView
from trivium.core.benchmark import Floor, Metric
from trivium.core.records import NO_ANSWER, Groups, Scores
from trivium.core.streams import Stream, stream_key

METRICS = (
    Metric("correct", "exactly the blickets are named, and the structure is right"),
    Metric("blickets", "exactly the blickets of the new machine are named"),
    Metric("blickets_right", "share of the new machine's blickets that are named", "mean"),
    Metric("wrong", "objects named that are not blickets of the new machine", "mean", 0.0, 23.0),
    Metric("other_machine", "objects of other machines named", "mean", 0.0, 14.0),
    Metric("maybe", "objects called maybe", "mean", 0.0, 23.0),
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


FLOOR_DRAWS = 500  # machines on which count rules are tried


@lru_cache(maxsize=64)
def floor(spec: PromptSpec, view: PromptView) -> Floor:
    """The best strategy that counts each object on its own and relates no objects to one another.

    For the paper's evidence, the objects that were most often on the lit machine are always the
    blickets. For matched evidence, single tests rule objects out, and count rules or coins decide
    about the others.
    """
    rule, blickets, exact = _count_rule(spec) if spec.matched else ("most often lit", 1.0, True)
    conditions = dict.fromkeys(hypotheses for hypotheses, _ in spec.cells)
    # In two-shot, the preamble names the pattern of each kind, and counts reveal the kind.
    stated = view.prompt == "two_shot" or spec.stimuli == "paper_two_shot"
    structures = [0.5 if each == "given" and not stated else 1.0 for each in conditions]
    share = fmean(structures)
    others = {"blickets": blickets, "structure": share}
    return Floor(f"{rule}; unsure if not given", blickets * share, exact, others)


@cache
def _count_rule(spec: PromptSpec) -> tuple[str, float, bool]:
    """The best rule about open objects, how often it is right, and whether that is exact."""
    # All answers are equally likely, so coins are right with this probability.
    coins = 0.5 ** (matched.open_objects(spec.objects) - 1)
    stream = Stream(stream_key("count rules", spec.objects, spec.test_count))
    right = dict.fromkeys(matched.COUNT_RULES, 0)
    for _ in range(FLOOR_DRAWS):
        tests, (sure, _) = matched.new_machine(spec.objects, spec.test_count, DISJUNCTIVE, stream)
        for rule, answer in matched.count_rules(tests, spec.objects).items():
            right[rule] += answer == sure
    best = max(right, key=lambda rule: right[rule])
    share = right[best] / FLOOR_DRAWS
    error = (share * (1 - share) / FLOOR_DRAWS) ** 0.5
    if share < coins + 2 * error:
        return "objects ruled out one by one, coins for the rest", coins, True
    return f"{best} of those not ruled out (±{error:.2f})", share, False


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
