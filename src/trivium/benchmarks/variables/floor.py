"""The best strategy that does not read the item.

The family that is searched: call the hypothesis valid, name the target's two variables, and
control nothing, everything that is printed, or so many of the printed variables, drawn at random.
Calling it invalid scores nothing in the headline metric, which only valid hypotheses have.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from trivium.benchmarks.variables.generate import generate
from trivium.benchmarks.variables.item import VariablesItem
from trivium.benchmarks.variables.matched import layouts
from trivium.benchmarks.variables.score import discounts
from trivium.benchmarks.variables.spec import VariablesSpec, VariablesView
from trivium.core.benchmark import Floor

NOTHING = "noctrl"  # also the name of the solver that plays it
SAMPLE = 2000  # items of a spec without exact layouts
SEED = 0


class Outline(NamedTuple):
    """What decides how well a blind strategy does on a valid item."""

    variables: int
    printed: int  # beside the target
    control: int


def gain_of_random(outline: Outline, listed: int) -> float:
    """The expected ctrl_nDCG of so many printed variables in random order."""
    best = discounts(outline.control)
    worst = -discounts(outline.variables - outline.control)
    # Every rank holds each printed variable equally often.
    each = (2 * outline.control - outline.printed) / max(1, outline.printed)
    total = each * discounts(min(listed, outline.printed))
    return (total - worst) / (best - worst)


@lru_cache(maxsize=64)
def floor(spec: VariablesSpec, view: VariablesView) -> Floor:
    """The best of the family for items of this spec; a table prints all variables, prose not."""
    outlines, valid = _exact(spec) if spec.design == "matched" else _sampled(spec, view)
    return _best(outlines, valid, exact=spec.design == "matched")


def item_floor(item: VariablesItem, view: VariablesView) -> Floor:
    """The same for an item that came without its spec: any number of control variables may be."""
    size = len(item.names)
    return _best({Outline(size, size - 2, count): 1.0 for count in range(size - 1)}, None, False)


def _best(outlines: Mapping[Outline, float], valid: float | None, exact: bool) -> Floor:
    """The best strategy on valid items that are so likely, and each other metric at its best."""
    total = sum(outlines.values())

    def mean(listed: int) -> float:
        return sum(share * gain_of_random(own, listed) for own, share in outlines.items()) / total

    most = max(outline.printed for outline in outlines)
    values = {listed: mean(listed) for listed in range(most + 1)}
    listed = max(values, key=lambda count: (values[count], -count))
    name = {0: NOTHING, most: "control everything"}.get(listed, f"control {listed} at random")
    # One list names every variable and another none; the target is printed for all to read.
    others = {"ctrl_recall": 1.0, "ctrl_fallout": 0.0, "ind_acc": 1.0, "dep_acc": 1.0}
    if valid is not None:
        others["hyp_valid_acc"] = max(valid, 1 - valid)
    return Floor(name, values[listed], exact, others)


def _exact(spec: VariablesSpec) -> tuple[dict[Outline, float], float]:
    """The outlines of matched items, each with its probability, and the share of valid ones."""
    known = layouts(spec)
    found: dict[Outline, float] = {}
    for layout, share in zip(known.all, known.shares.mean(axis=0).tolist(), strict=True):
        outline = Outline(layout.variables, layout.variables - 2, layout.control)
        found[outline] = found.get(outline, 0.0) + share
    return found, 1.0 if spec.balance == "control" else 0.5


def _sampled(spec: VariablesSpec, view: VariablesView) -> tuple[dict[Outline, float], float]:
    """The outlines of some items of the original design, and the share of valid ones."""
    found: dict[Outline, float] = {}
    valid = 0
    for item in generate(spec, SEED, 0, SAMPLE):
        is_valid, control = item.gold
        if is_valid:
            valid += 1
            names = len(item.names)
            printed = _told(item) if view.renderer.endswith("corrset") else names - 2
            outline = Outline(names, printed, len(control))
            found[outline] = found.get(outline, 0.0) + 1
    return found, valid / SAMPLE


def _told(item: VariablesItem) -> int:
    """How many variables beside the target a text of sets mentions."""
    mentioned = {v for v, seen in enumerate(item.seen) if seen} | set(item.hidden)
    return len(mentioned - set(item.target))
