"""The best strategy that does not read the item, and what the best reader can reach.

The strategies searched call the hypothesis invalid, or call it valid, name the target's two
variables, and control nothing, everything that is printed, or k of the printed variables, drawn at
random, for every k.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from math import comb, fsum
from typing import NamedTuple

from trivium.benchmarks.variables.generate import generate
from trivium.benchmarks.variables.item import VariablesItem
from trivium.benchmarks.variables.layouts import LATENT, layouts
from trivium.benchmarks.variables.score import discounts
from trivium.benchmarks.variables.spec import VariablesSpec, VariablesView
from trivium.core.benchmark import UPPER_BOUND, Ceiling, Floor

SAMPLE = 2700  # items of the original design, in whole balanced blocks


class Outline(NamedTuple):
    """The counts that decide the score of a blind strategy on an item."""

    variables: int
    printed: int  # besides the target
    control: int | None  # None if the hypothesis is invalid


Outlines = Mapping[Outline, float]  # with their weights


def right_at_random(outline: Outline, listed: int) -> float:
    """The probability that `listed` printed variables, or all, are exactly the control variables.

    They are drawn at random.
    """
    count = min(listed, outline.printed)
    return (count == outline.control) / comb(outline.printed, count)


def gain_of_random(outline: Outline, listed: int) -> float:
    """The expected ctrl_nDCG of listing `listed` printed variables in random order."""
    control = outline.control or 0
    best, worst = discounts(control), -discounts(outline.variables - control)
    # Every rank holds each printed variable equally often.
    each = (2 * control - outline.printed) / max(1, outline.printed)
    return (each * discounts(min(listed, outline.printed)) - worst) / (best - worst)


def _precision(outline: Outline, listed: int) -> float:
    control = outline.control
    return (control or 0) / max(1, outline.printed) if listed else float(control == 0)


def _f1(outline: Outline, listed: int) -> float:
    control, count = outline.control or 0, min(listed, outline.printed)
    hits = count * control / max(1, outline.printed)
    return 2 * hits / (count + control) if count + control else 1.0


@lru_cache(maxsize=64)
def floor(spec: VariablesSpec, view: VariablesView) -> Floor:
    """The best blind strategy for items of this spec; a table prints all variables, prose not."""
    if spec.design == "matched":
        return best_blind(_exact(spec), exact=True)
    # In the original design validity and, in tables, both extreme numbers of control variables
    # are exactly balanced; what prose prints is not.
    exact = spec.balance != "control" or view.shows_table
    found = best_blind(outlines(generate(spec, 0, 0, SAMPLE), view), exact=exact)
    if not exact:
        return found
    value = 0.5 if spec.balance != "control" else 1 / (spec.max_vars - 1)
    return Floor(found.name, value, True, found.others)


def item_floor(item: VariablesItem, view: VariablesView) -> Floor:
    """The floor of an item alone, of which only the number of variables is known.

    Every number of control variables, and an invalid hypothesis, is taken to be as likely.
    """
    size = len(item.names)
    numbers = (*range(size - 1), None)
    return best_blind({Outline(size, size - 2, number): 1.0 for number in numbers}, exact=False)


def file_floor(items: Iterable[VariablesItem], view: VariablesView) -> Floor:
    """The strategy that is best on exactly these items."""
    return best_blind(outlines(items, view), exact=True)


def ceiling(spec: VariablesSpec, view: VariablesView) -> Ceiling:
    """Perfect, or an upper bound where noise or losses may hide what is correlated in a table.

    Matched tables lose so little that every pair of columns shares enough rows.
    """
    lost = spec.design == "original" and spec.thinned > 0
    return _ceiling(view, spec.snr is not None or lost)


def item_ceiling(item: VariablesItem, view: VariablesView) -> Ceiling:
    """The same for an item without a spec."""
    return _ceiling(view, item.snr is not None or any(item.rates))


def _ceiling(view: VariablesView, may_mislead: bool) -> Ceiling:
    return Ceiling(UPPER_BOUND) if may_mislead and view.shows_table else Ceiling()


def outlines(items: Iterable[VariablesItem], view: VariablesView) -> Outlines:
    """The outlines of some items, with their numbers."""
    found: Counter[Outline] = Counter()
    for item in items:
        valid, control = item.gold
        printed = set(range(len(item.names)))
        if not view.shows_table:
            printed = {v for v, seen in enumerate(item.seen) if seen}.union(item.hidden)
        rest = len(printed - set(item.target))
        found[Outline(len(item.names), rest, len(control) if valid else None)] += 1
    return found


def _exact(spec: VariablesSpec) -> Outlines:
    """The outlines of matched items with their probabilities; half of them are invalid."""
    known = layouts(spec)
    found: Counter[Outline] = Counter()
    for layout, share in zip(known.all, known.shares.mean(axis=0).tolist(), strict=True):
        for control in (layout.control, None):
            every = layout.variables + LATENT * (spec.graph == "dag")
            found[Outline(every, layout.variables - 2, control)] += share / 2
    return found


def best_blind(found: Outlines, *, exact: bool) -> Floor:
    """The best strategy for outlines with these weights, and every other metric at its best."""
    valid = {outline: share for outline, share in found.items() if outline.control is not None}
    total, of_valid = fsum(found.values()), fsum(valid.values())
    longest = max(outline.printed for outline in found)
    names = {0: "valid, control nothing", longest: "valid, control everything"}

    def expected(value: Callable[[Outline, int], float], listed: int) -> float:
        return fsum(share * value(outline, listed) for outline, share in valid.items())

    values = {"always invalid": (total - of_valid) / total}
    for listed in range(longest + 1):
        name = names.get(listed, f"valid, control {listed} at random")
        values[name] = expected(right_at_random, listed) / total
    best = max(values, key=lambda name: values[name])
    others = {"hyp_valid_acc": max(of_valid, total - of_valid) / total}
    if valid:
        # One list names every variable and another none; the prompt names the target.
        others |= {"ctrl_recall": 1.0, "ctrl_fallout": 0.0, "ind_acc": 1.0, "dep_acc": 1.0}
        lists = range(longest + 1)
        metrics = {"ctrl_nDCG": gain_of_random, "ctrl_precision": _precision, "ctrl_F1": _f1}
        for name, value in metrics.items():
            others[name] = max(expected(value, listed) for listed in lists) / of_valid
    return Floor(best, values[best], exact, others)
