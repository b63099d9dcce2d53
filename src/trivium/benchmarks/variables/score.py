"""Metrics, scores, kinds of error and groups."""

from __future__ import annotations

from functools import cache
from math import log2

from trivium.benchmarks.variables.answer import INVALID, VariablesAnswer
from trivium.benchmarks.variables.item import VariablesItem
from trivium.core.benchmark import Metric
from trivium.core.records import NO_ANSWER, Groups, Scores

METRICS = (
    Metric("correct", "validity, both variables and exactly the right control variables"),
    Metric("ctrl_nDCG", "right control variables first, none that are wrong", "mean"),
    Metric("ctrl_recall", "share of the control variables that were named", "mean"),
    Metric(
        "ctrl_fallout", "share of the other variables that were named as control", "mean", 0.0, 1.0
    ),
    Metric("ctrl_precision", "share of the named control variables that are right", "mean"),
    Metric("ctrl_F1", "harmonic mean of precision and recall of control variables", "mean"),
    Metric("hyp_valid_acc", "validity of the hypothesis is right"),
    Metric("ind_acc", "independent variable is right"),
    Metric("dep_acc", "dependent variable is right"),
    Metric("violation_rate", "no answer could be read", "proportion", 0.0, 1.0),
)
KINDS = {
    "called-valid": "an invalid hypothesis is called valid",
    "called-invalid": "a valid hypothesis is called invalid",
    "swapped-variables": "the independent and the dependent variable are swapped",
    "wrong-variables": "the independent or the dependent variable is wrong",
    "control-missed": "a variable that must be controlled is missing",
    "control-wrong": "a variable is controlled that must not be",
    "control-missed-and-wrong": "a control variable is missing and another one is wrong",
    "control-left-out": "nothing is said about control variables",
}
NAMING = METRICS[1:6] + METRICS[7:9]  # defined only if the target is valid


def gold(item: VariablesItem) -> VariablesAnswer:
    """The right answer in names, which does not depend on the printed order."""
    valid, control = item.gold
    if not valid:
        return INVALID
    independent, dependent = (item.names[variable] for variable in item.target)
    names = tuple(sorted([item.names[variable] for variable in control]))
    return VariablesAnswer(True, independent, dependent, names)


def score(item: VariablesItem, answer: VariablesAnswer | None) -> Scores:
    """The value of every metric; None if it is undefined."""
    right = gold(item)
    scores: Scores = {metric.name: None for metric in NAMING}
    scores["correct"] = float(kind(item, answer) == "right")
    scores["hyp_valid_acc"] = float(answer is not None and answer.valid == right.valid)
    scores["violation_rate"] = float(answer is None)
    if not right.valid:
        return scores
    if answer is None or not answer.valid:
        scores |= {metric.name: metric.worst for metric in NAMING}
    else:
        scores |= _naming(item, answer, right)
    if not right.control:
        scores["ctrl_recall"] = None
    return scores


def _naming(item: VariablesItem, answer: VariablesAnswer, right: VariablesAnswer) -> Scores:
    """The metrics of the variables in an answer."""
    wanted = set(right.control or ())
    others = len(item.names) - len(wanted)
    # A name counts once, at its first mention; a list that was left out is one wrong name.
    named = dict.fromkeys(("?",) if answer.control is None else answer.control)
    hits = [name in wanted for name in named]
    found = sum(hits)
    nothing = float(not named and not wanted)  # none are right where none were wanted
    return {
        "ctrl_nDCG": ndcg(hits, len(wanted), others),
        "ctrl_recall": found / max(1, len(wanted)),
        "ctrl_fallout": min(1.0, (len(hits) - found) / others),
        "ctrl_precision": found / len(named) if named else nothing,
        "ctrl_F1": 2 * found / (len(named) + len(wanted)) if named or wanted else nothing,
        "ind_acc": float(answer.independent == right.independent),
        "dep_acc": float(answer.dependent == right.dependent),
    }


def ndcg(hits: list[bool], wanted: int, others: int) -> float:
    """Discounted gains, +1 for a right and -1 for a wrong name, scaled from worst to best.

    At most `others` wrong names count, so that the value stays in [0, 1].
    """
    best, worst = discounts(wanted), -discounts(others)
    total, rank, wrong = 0.0, 0, 0
    for hit in hits:
        wrong += not hit
        if hit or wrong <= others:
            rank += 1
            total += (1 if hit else -1) / log2(rank + 1)
    return (total - worst) / (best - worst)


@cache
def discounts(ranks: int) -> float:
    """The sum of the discounts of the first `ranks` ranks."""
    total = 0.0
    for rank in range(1, ranks + 1):  # sum() rounds differently from Python 3.12 on
        total += 1 / log2(rank + 1)
    return total


def kind(item: VariablesItem, answer: VariablesAnswer | None) -> str:
    """The kind of an answer."""
    right = gold(item)
    if answer is None:
        return NO_ANSWER
    if answer.valid != right.valid:
        return "called-valid" if answer.valid else "called-invalid"
    if not right.valid:
        return "right"
    named, wanted = (answer.independent, answer.dependent), (right.independent, right.dependent)
    if named != wanted:
        return "swapped-variables" if named[::-1] == wanted else "wrong-variables"
    if answer.control is None:
        return "control-left-out"
    missed = set(right.control or ()) - set(answer.control)
    wrong = set(answer.control) - set(right.control or ())
    kinds = {(False, False): "right", (True, False): "control-missed"}
    kinds |= {(False, True): "control-wrong", (True, True): "control-missed-and-wrong"}
    return kinds[bool(missed), bool(wrong)]


def groups(item: VariablesItem) -> Groups:
    """The fields that results are grouped by; an invalid target has fewer of them."""
    parents = item.parents
    found: Groups = {
        "n_vars": len(item.names),
        "n_roots": sum(not above for above in parents),
        "n_hyps": len(item.hypotheses),
    }
    valid, control = item.gold
    if valid:
        found["n_ctrl_vars"] = len(control)
        found["max_corr_depth"] = depth(parents, item.target[1])
    return found


def depth(parents: list[list[int]], start: int) -> int:
    """The largest distance from a variable to another of its tree, ignoring directions."""
    near: list[set[int]] = [set(above) for above in parents]
    for variable, above in enumerate(parents):
        for parent in above:
            near[parent].add(variable)
    reached, frontier, steps = {start}, {start}, -1
    while frontier:
        steps += 1
        frontier = {other for variable in frontier for other in near[variable]} - reached
        reached |= frontier
    return steps
