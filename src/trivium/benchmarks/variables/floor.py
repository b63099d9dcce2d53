"""The best strategy that does not read the item.

The strategies searched call the hypothesis valid, name the target's two variables, and control
nothing, everything that is printed, or k of the printed variables, drawn at random. Calling the
hypothesis invalid never helps: the headline metric is defined for valid ones only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from trivium.benchmarks.variables.generate import generate
from trivium.benchmarks.variables.item import VariablesItem
from trivium.benchmarks.variables.matched import layouts
from trivium.benchmarks.variables.score import discounts
from trivium.benchmarks.variables.spec import VariablesSpec, VariablesView
from trivium.core.benchmark import Floor

SAMPLE = 2000  # items of the original design on which its floor is measured


class Outline(NamedTuple):
    """The counts that decide the score of a blind strategy on a valid item."""

    variables: int
    printed: int  # besides the target
    control: int


def gain_of_random(outline: Outline, listed: int) -> float:
    """The expected ctrl_nDCG of listing `listed` printed variables in random order."""
    best = discounts(outline.control)
    worst = -discounts(outline.variables - outline.control)
    # Every rank holds each printed variable equally often.
    each = (2 * outline.control - outline.printed) / max(1, outline.printed)
    total = each * discounts(min(listed, outline.printed))
    return (total - worst) / (best - worst)


@lru_cache(maxsize=64)
def floor(spec: VariablesSpec, view: VariablesView) -> Floor:
    """The best blind strategy for items of this spec; a table prints all variables, prose not."""
    outlines, valid = _exact(spec) if spec.design == "matched" else _sampled(spec, view)
    return _best(outlines, valid, exact=spec.design == "matched")


def item_floor(item: VariablesItem, view: VariablesView) -> Floor:
    """The same for an item without a spec: every number of control variables is as likely."""
    size = len(item.names)
    return _best({Outline(size, size - 2, count): 1.0 for count in range(size - 1)}, None, False)


def _best(outlines: Mapping[Outline, float], valid: float | None, exact: bool) -> Floor:
    """The best strategy for outlines with these weights, and each other metric at its best."""
    total = sum(outlines.values())

    def mean(listed: int) -> float:
        return sum(share * gain_of_random(own, listed) for own, share in outlines.items()) / total

    everything = max(outline.printed for outline in outlines)
    values = {listed: mean(listed) for listed in range(everything + 1)}
    listed = max(values, key=lambda count: (values[count], -count))
    names = {0: "noctrl", everything: "control everything"}
    name = names.get(listed, f"control {listed} at random")
    # One list names every variable and another none; the prompt names the target.
    others = {"ctrl_recall": 1.0, "ctrl_fallout": 0.0, "ind_acc": 1.0, "dep_acc": 1.0}
    if valid is not None:
        others["hyp_valid_acc"] = max(valid, 1 - valid)
    return Floor(name, values[listed], exact, others)


def _exact(spec: VariablesSpec) -> tuple[dict[Outline, float], float]:
    """The outlines of matched items with their probabilities, and the share of valid items."""
    known = layouts(spec)
    found: dict[Outline, float] = defaultdict(float)
    for layout, share in zip(known.all, known.shares.mean(axis=0).tolist(), strict=True):
        found[Outline(layout.variables, layout.variables - 2, layout.control)] += share
    return found, 1.0 if spec.balance == "control" else 0.5


def _sampled(spec: VariablesSpec, view: VariablesView) -> tuple[dict[Outline, float], float]:
    """The outlines of some items of the original design with their counts, and the same share."""
    found: dict[Outline, float] = defaultdict(float)
    for item in generate(spec, 0, 0, SAMPLE):
        valid, control = item.gold
        if valid:
            names, printed = len(item.names), set(range(len(item.names)))
            if view.renderer.endswith("corrset"):
                printed = {v for v, seen in enumerate(item.seen) if seen}.union(item.hidden)
            found[Outline(names, len(printed - set(item.target)), len(control))] += 1
    return found, sum(found.values()) / SAMPLE
