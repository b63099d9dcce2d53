"""How right an answer is, and what kind of wrong."""

from __future__ import annotations

from math import log2

from trivium.benchmarks.variables.answer import INVALID, VariablesAnswer
from trivium.benchmarks.variables.item import VariablesItem
from trivium.core.benchmark import Metric
from trivium.core.records import Groups, Scores

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
WORST: Scores = {
    "ctrl_nDCG": 0.0,
    "ctrl_recall": 0.0,
    "ctrl_fallout": 1.0,
    "ind_acc": 0.0,
    "dep_acc": 0.0,
}
UNKNOWN = "?"  # stands for the control variables that a reply did not state


def gold(item: VariablesItem) -> VariablesAnswer:
    """The right answer in names, the same whatever the order of print."""
    valid, control = item.gold
    if not valid:
        return INVALID
    independent, dependent = (item.names[number] for number in item.target)
    return VariablesAnswer(
        True, independent, dependent, tuple(sorted([item.names[number] for number in control]))
    )


def score(item: VariablesItem, answer: VariablesAnswer | None) -> Scores:
    """Every metric of an attempt; None where it is undefined."""
    right = gold(item)
    scores: Scores = dict.fromkeys(WORST)
    scores["hyp_valid_acc"] = float(answer is not None and answer.valid == right.valid)
    scores["violation_rate"] = float(answer is None)
    if not right.valid:
        return scores
    if answer is None or not answer.valid:
        scores |= WORST
    else:
        scores |= _named(item, answer, right)
    if not right.control:
        scores["ctrl_recall"] = None
    return scores


def _named(item: VariablesItem, answer: VariablesAnswer, right: VariablesAnswer) -> Scores:
    """The metrics of the variables that a reply named."""
    wanted = set(right.control or ())
    others = len(item.names) - len(wanted)
    # A name counts once, at its first place; a list that was left out counts as a wrong name.
    named = list(dict.fromkeys((UNKNOWN,) if answer.control is None else answer.control))
    found = sum(name in wanted for name in named)
    return {
        "ctrl_nDCG": ndcg([name in wanted for name in named], len(wanted), others),
        "ctrl_recall": found / len(wanted) if wanted else None,
        "ctrl_fallout": min(1.0, (len(named) - found) / others),
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


def discounts(ranks: int) -> float:
    """The sum of the discounts of the first so many ranks."""
    total = 0.0
    for rank in range(1, ranks + 1):
        total += 1 / log2(rank + 1)
    return total


def kind(item: VariablesItem, answer: VariablesAnswer | None) -> str:
    """What kind of answer this is."""
    right = gold(item)
    if answer is None:
        return "violation"
    if answer.valid != right.valid:
        return "called-valid" if answer.valid else "called-invalid"
    if answer == right:
        return "right"
    if (answer.independent, answer.dependent) != (right.independent, right.dependent):
        swapped = (answer.dependent, answer.independent) == (right.independent, right.dependent)
        return "swapped-variables" if swapped else "wrong-variables"
    return _control_kind(answer.control, set(right.control or ()))


def _control_kind(control: tuple[str, ...] | None, wanted: set[str]) -> str:
    if control is None:
        return "control-left-out"
    missed, wrong = wanted - set(control), set(control) - wanted
    if missed and wrong:
        return "control-missed-and-wrong"
    return "control-missed" if missed else "control-wrong" if wrong else "right"


def chance(item: VariablesItem) -> float:
    """The expected headline metric of the random solver.

    It calls the hypothesis invalid half of the time, which is worth nothing here, and else
    lists 0 .. n - 2 of the n variables that every renderer names, as many as it likes. Every
    place of its list holds each of them equally often, so each gain is right/n - wrong/n.
    """
    control = len(item.gold.control)
    mentioned = {number for edge in item.hypotheses for number in edge}
    printed = sum(known or number in mentioned for number, known in enumerate(item.seen))
    gain = (2 * control - printed) / printed
    listed = sum(discounts(length) for length in range(printed - 1)) / (printed - 1)
    best, worst = discounts(control), -discounts(len(item.names) - control)
    return 0.5 * (gain * listed - worst) / (best - worst)


def groups(item: VariablesItem) -> Groups:
    """What results are grouped by; what is defined for valid hypotheses alone is left out."""
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
    for number, above in enumerate(parents):
        for parent in above:
            near[parent].add(number)
    reached, edge, steps = {start}, {start}, -1
    while edge:
        steps += 1
        edge = {other for number in edge for other in near[number]} - reached
        reached |= edge
    return steps
