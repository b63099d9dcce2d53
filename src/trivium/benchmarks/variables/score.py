"""Scores, kinds of error and groups."""

from __future__ import annotations

from functools import cache
from math import log2

from trivium.benchmarks.variables.answer import INVALID, VariablesAnswer
from trivium.benchmarks.variables.item import VariablesItem
from trivium.core.benchmark import Metric
from trivium.core.records import NO_ANSWER, Groups, Scores

# Where the gold hypothesis is invalid only validity and violations are defined, so the
# number of samples behind ind_acc is the number of valid hypotheses.
METRICS = (
    Metric("ctrl_nDCG", "right control variables first, none that are wrong", "mean"),
    Metric("ctrl_recall", "share of the control variables that were named", "mean"),
    Metric(
        "ctrl_fallout", "share of the other variables that were named as control", "mean", 0.0, 1.0
    ),
    Metric("hyp_valid_acc", "validity of the hypothesis is right"),
    Metric("ind_acc", "independent variable is right"),
    Metric("dep_acc", "dependent variable is right"),
    Metric("violation_rate", "no answer could be read", "proportion", 0.0, 1.0),
)
NAMING = METRICS[:3] + METRICS[4:6]  # defined for valid hypotheses only


def gold(item: VariablesItem) -> VariablesAnswer:
    """The right answer in names, the same whatever the printed order."""
    valid, control = item.gold
    if not valid:
        return INVALID
    independent, dependent = (item.names[variable] for variable in item.target)
    names = tuple(sorted([item.names[variable] for variable in control]))
    return VariablesAnswer(True, independent, dependent, names)


def score(item: VariablesItem, answer: VariablesAnswer | None) -> Scores:
    """Every metric of an attempt; None where it is undefined."""
    right = gold(item)
    scores: Scores = {metric.name: None for metric in NAMING}
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
    """The metrics of the variables that a reply named."""
    wanted = set(right.control or ())
    others = len(item.names) - len(wanted)
    # A name counts once, where it is named first; a list that was left out is one wrong name.
    named = dict.fromkeys(("?",) if answer.control is None else answer.control)
    hits = [name in wanted for name in named]
    return {
        "ctrl_nDCG": ndcg(hits, len(wanted), others),
        "ctrl_recall": sum(hits) / max(1, len(wanted)),
        "ctrl_fallout": min(1.0, (len(hits) - sum(hits)) / others),
        "ind_acc": float(answer.independent == right.independent),
        "dep_acc": float(answer.dependent == right.dependent),
    }


def ndcg(hits: list[bool], wanted: int, others: int) -> float:
    """Discounted gains, +1 for a right and -1 for a wrong name, between worst and best.

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
    """The sum of the discounts of the first so many ranks."""
    total = 0.0
    for rank in range(1, ranks + 1):  # sum() rounds differently from Python 3.12 on
        total += 1 / log2(rank + 1)
    return total


def kind(item: VariablesItem, answer: VariablesAnswer | None) -> str:
    """What kind of answer this is."""
    right = gold(item)
    if answer is None:
        return NO_ANSWER
    if answer.valid != right.valid:
        return "called-valid" if answer.valid else "called-invalid"
    if answer == right:
        return "right"
    named, wanted = (answer.independent, answer.dependent), (right.independent, right.dependent)
    if named != wanted:
        return "swapped-variables" if named[::-1] == wanted else "wrong-variables"
    return _control_kind(answer.control, set(right.control or ()))


def _control_kind(control: tuple[str, ...] | None, wanted: set[str]) -> str:
    if control is None:
        return "control-left-out"
    missed, wrong = wanted - set(control), set(control) - wanted
    if missed and wrong:
        return "control-missed-and-wrong"
    return "control-missed" if missed else "control-wrong" if wrong else "right"


def groups(item: VariablesItem) -> Groups:
    """What results are grouped by; what is defined for valid hypotheses only is left out."""
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
    """The largest distance from a variable to another of its tree, edges undirected."""
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
