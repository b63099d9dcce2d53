"""Structures in which only correlations and chains of hypotheses give the answer away.

Every item has sets of one size. The target lies within one of them (valid) or goes from one to
another (invalid), at the same places of trees of the same shape, so set sizes, roots and children
say nothing. Hypotheses are two trees of the same shape, one of which holds the target. The other
variables in them are drawn regardless of their set; the unobserved ones are all in one tree and
lead to its top, and that tree is the target's with the same probability with which an observed
variable is a control variable. So within an item every variable is a control variable with the same
probability, whatever can be seen of it alone, and that probability is below one half.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from trivium.benchmarks.variables.spec import UNOBSERVED, VariablesSpec
from trivium.benchmarks.variables.structure import Numbers, Structure
from trivium.benchmarks.variables.table import Bools, Floats, Ints
from trivium.core.errors import require

MAX_UNOBSERVED = 2
LOST = 0.2  # share of an observed variable's rows; two variables share at least six of ten
PAST = 2.0  # a sort key above all others


class Layout(NamedTuple):
    """The numbers of variables in an item, and whether hypotheses reach the target."""

    size: int  # of every set
    sets: int
    rest: int  # observed variables in a smaller set, if sets of one size do not fit
    unobserved: int
    reached: bool  # whether the unobserved variables are believed to cause the dependent one

    @property
    def observed(self) -> int:
        return self.size * self.sets + self.rest

    @property
    def variables(self) -> int:
        return self.observed + self.unobserved

    @property
    def control(self) -> int:
        """The number of control variables of a valid target."""
        return self.size - 2 + self.unobserved * self.reached

    @property
    def share(self) -> float:
        """The probability that a variable outside the target is a control variable."""
        return (self.size - 2) / (self.observed - 2)


class Layouts(NamedTuple):
    """All layouts of a spec, and their probabilities for items of each kind."""

    all: tuple[Layout, ...]
    shares: Floats  # (kinds, layouts)


def extra_hypotheses(spec: VariablesSpec) -> tuple[int, int]:
    """The smallest and largest number of hypotheses besides the first in each tree."""
    largest = spec.max_hyps // 2 - 1
    return max(min(1, largest), largest - 1), largest


@lru_cache(maxsize=64)
def layouts(spec: VariablesSpec) -> Layouts:
    """The layouts of a spec; with balance control all numbers of control variables are as likely.

    Hypotheses reach the target with the probability that an observed variable is a control
    variable. The probabilities of set sizes are chosen so that all kinds are equally frequent.
    """
    largest = spec.max_vars // 2
    sizes = range(2, largest + 1) if spec.controls is None else [spec.controls + 2]
    options = {size: _options(spec, size) for size in sizes}
    if spec.balance != "control" or spec.controls is not None:
        options = {size: own for size, own in options.items() if own}
        wanted = "any number of" if spec.controls is None else spec.controls
        require(
            bool(options),
            f"no matched item has {_range(spec)} variables and {wanted} control variables",
        )
        found = [_coins(own, 1 / len(options)) for own in options.values()]
        weights = {layout: share for part in found for layout, share in part.items()}
        shares = np.tile(list(weights.values()), (spec.strata, 1))
        return Layouts(tuple(weights), shares)
    kinds = spec.strata
    reached = np.zeros(kinds)  # the probability of each number of control variables so far
    weights = {}
    for size, own in options.items():
        part = _coins(own, 1.0)
        here = sum(share for layout, share in part.items() if layout.control == size - 2)
        scale = (1 / kinds - reached[size - 2]) / max(here, 1e-9)
        fits = bool(own) and scale > 0
        require(fits, f"{_range(spec)} variables cannot have {size - 2} control variables as often")
        for layout, share in part.items():
            weights[layout] = share * scale
            reached[layout.control] += share * scale
    control = np.array([layout.control for layout in weights])
    shares = np.where(control == np.arange(kinds)[:, None], list(weights.values()), 0.0)
    return Layouts(tuple(weights), shares / shares.sum(axis=1, keepdims=True))


def _range(spec: VariablesSpec) -> str:
    return f"min_vars={spec.min_vars} .. max_vars={spec.max_vars}"


def _options(spec: VariablesSpec, size: int) -> list[Layout]:
    """The layouts with sets of this size; a smaller set is left over only if it must be."""
    least, most = extra_hypotheses(spec)
    # The first variable that joins a tree of hypotheses is between these and the target.
    unobserved = max(0, min(MAX_UNOBSERVED, least - 1)) if spec.thinned else 0
    if spec.controls is not None:  # set sizes would show whether unobserved variables count
        unobserved = 0
    elif spec.balance == "control":  # no more control variables than there are kinds
        unobserved = min(unobserved, spec.strata + 1 - size)
    found = [
        Layout(size, sets, rest, hidden, False)
        for hidden in range(unobserved + 1)
        for sets in range(2, spec.max_vars // size + 1)
        for rest in range(size)
        if spec.min_vars <= size * sets + rest + hidden <= spec.max_vars
        and size * sets + rest >= 2 * most + 4
    ]
    even = [layout for layout in found if layout.rest == 0]
    plain = [layout for layout in found if layout.unobserved == 0]
    return even if any(layout in plain for layout in even) else plain or found


def _coins(options: list[Layout], total: float) -> dict[Layout, float]:
    """The layouts, equally likely, each with hypotheses that reach the target or do not."""
    each = total / len(options)
    weights = {}
    for layout in options:
        share = layout.share if layout.unobserved else 0.0
        weights[layout] = each * (1 - share)
        if share:
            weights[layout._replace(reached=True)] = each * share
    return weights


def matched_structures(
    spec: VariablesSpec, numbers: Numbers, kinds: Ints, valid: Bools
) -> tuple[Structure, Ints]:
    """The structures of items of these kinds, and the number of variables of each.

    Variables are numbered set by set, the unobserved ones last; they are shuffled before they
    are printed.
    """
    layout = _layouts_of(spec, numbers, kinds)
    size, sets, rest, unobserved, _ = layout
    observed = size * sets + rest
    most, item = spec.max_vars, np.arange(len(kinds))
    variable = np.arange(most)[:, None]
    at = variable % size
    # All trees of an item have one shape: the parent of each place is a place before it.
    above = (numbers.take(most) * np.arange(most)[:, None]).astype(np.int64)
    parents = np.where(at > 0, variable - at + above[at, item], -1)
    hidden = (variable >= observed) & (variable < observed + unobserved)
    parents = np.where(hidden, (numbers.take(most) * observed).astype(np.int64), parents)
    parents[variable >= observed + unobserved] = -1
    place = 1 + numbers.below(size - 1)
    independent = above[place, item] + np.where(valid, 0, size)
    target = np.stack([independent, place])
    structure = Structure(
        parents=parents[None],
        rates=_rates(spec, numbers, hidden),
        target=target,
        hypotheses=_hypotheses(spec, numbers, target, layout),
    )
    return structure, observed + unobserved


def _layouts_of(spec: VariablesSpec, numbers: Numbers, kinds: Ints) -> Ints:
    """The layout of each item: (fields, items)."""
    known = layouts(spec)
    table = np.array(known.all, dtype=np.int64)
    uniform = numbers.take(1)[0]
    chosen = np.empty(len(kinds), dtype=np.int64)
    for kind, shares in enumerate(known.shares):
        own = kinds == kind
        chosen[own] = np.searchsorted(np.cumsum(shares), uniform[own], side="right")
    # Rounding may leave the last sum below 1 and a number above it.
    return table[np.minimum(chosen, len(table) - 1)].T


def _rates(spec: VariablesSpec, numbers: Numbers, hidden: Bools) -> Floats:
    """The share of observations that each variable loses: the same for all observed ones.

    With missing cells in other rows of every column, what a column looks like from row to row
    (its steps, its trend) says little about which other column it belongs to.
    """
    nearly_all = UNOBSERVED + 0.001 + (1 - UNOBSERVED - 0.001) * numbers.take(len(hidden))
    return np.asarray(np.where(hidden, nearly_all, LOST * spec.thinned).round(3), dtype=np.float64)


def _hypotheses(spec: VariablesSpec, numbers: Numbers, target: Ints, layout: Ints) -> Ints:
    """Two trees of hypotheses of one shape, in pairs of lines: (hypotheses, 2, items).

    Nodes 0 and 1 of a tree are the effect and the cause of its first hypothesis. Each later node
    is the cause or the effect of an earlier one. Node 2 and the unobserved nodes, which come next
    and are attached to it or to each other, are always causes, so that they lead to node 0 but
    are never in one line with the target.
    """
    size, sets, rest, unobserved, reached = layout
    observed = size * sets + rest
    least, most = extra_hypotheses(spec)
    count, item = target.shape[1], np.arange(target.shape[1])
    extra = least + numbers.below(np.full(count, most - least + 1))
    variable = np.arange(spec.max_vars)[:, None]
    free = (variable < observed) & (variable != target[0]) & (variable != target[1])
    others = (numbers.take(spec.max_vars) + np.where(free, 0.0, PAST)).argsort(axis=0)
    nodes = np.empty((2, most + 2, count), dtype=np.int64)
    nodes[0, :2] = target[::-1]
    nodes[0, 2:] = others[:most]
    nodes[1] = others[most : 2 * most + 2]
    own = np.where(reached, 0, 1)
    for place in range(min(MAX_UNOBSERVED, most - 1)):
        has = item[unobserved > place]
        nodes[own[has], 3 + place, has] = observed[has] + place
    beliefs = np.full((most + 1, 2, 2, count), -1)  # (pairs of lines, trees, cause and effect, ...)
    beliefs[0] = nodes[:, 1::-1]
    for place in range(most):
        hidden = (place > 0) & (place <= unobserved)
        first = np.where(hidden, 2, 0)
        upon = first + numbers.below(place + 2 - first)
        as_cause = (numbers.take(1)[0] < 0.5) | hidden | ((place == 0) & (unobserved > 0))
        for tree in range(2):
            new, old = nodes[tree, place + 2], nodes[tree, upon, item]
            edge = np.where(as_cause, [new, old], [old, new])
            beliefs[place + 1, tree] = np.where(place < extra, edge, -1)
    return _in_pairs(numbers, beliefs)


def _in_pairs(numbers: Numbers, beliefs: Ints) -> Ints:
    """The lines in random order, with the same line of both trees side by side.

    Then the lines before and after a variable do not show which tree it is in: up to the order
    within pairs, they are the same for a variable of either tree.
    """
    pairs = len(beliefs)
    order = (numbers.take(pairs) + PAST * (beliefs[:, 0, 0] < 0)).argsort(axis=0)
    beliefs = np.take_along_axis(beliefs, order[:, None, None], axis=0)
    turned = numbers.take(pairs) < 0.5
    beliefs = np.where(turned[:, None, None], beliefs[:, ::-1], beliefs)
    return beliefs.reshape(2 * pairs, 2, -1)
