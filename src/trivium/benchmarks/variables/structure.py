"""Causal graphs, losses, targets and hypotheses, drawn for many items at once.

Structures are proposed from an item's own numbers until one is of the kind that the item's index
calls for (rejection sampling), so that kinds differ in nothing else. Arrays have one row for each
variable in topological order and one column for each item; sets of variables are bits of a number.
The order and size of all draws are part of the items: changing them needs a new version.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from trivium.benchmarks.variables.spec import MIN_LOST, UNOBSERVED, VariablesSpec
from trivium.benchmarks.variables.table import Bools, Floats, Ints
from trivium.core.streams import grown_uniforms, mixed

Keys = NDArray[np.uint64]
BATCH = 1024
MAX_TRIES = 64  # proposals for an item in one round


@dataclass
class Structure:
    """The graphs, losses, targets and hypotheses of many items."""

    parents: Ints  # (parents, variables, items); -1 for none
    rates: Floats  # (variables, items): the share of observations that is lost
    target: Ints  # (2, items): independent, dependent
    hypotheses: Ints  # (hypotheses, 2, items); -1 for none


class Numbers:
    """A stream of rows of uniform numbers, one column for each item."""

    def __init__(self, keys: Keys, taken: int = 0) -> None:
        self._keys = keys
        self._taken = taken

    def take(self, count: int) -> Floats:
        # Drawn when needed: a few rows at a time stay in the processor's cache.
        self._taken += count
        return grown_uniforms(self._keys, count, self._taken - count)

    def only(self, kept: Ints) -> Numbers:
        """The same stream for some of the items."""
        return Numbers(self._keys[kept], self._taken)

    def below(self, bound: Ints) -> Ints:
        """One integer for each item, from 0 to its bound - 1."""
        numbers: Ints = (self.take(1)[0] * bound).astype(np.int64)
        return numbers

    def order(self, sizes: Ints, most: int) -> Ints:
        """A random order of 0 .. size - 1 in every column, followed by the numbers up to `most`."""
        past = np.arange(most)[:, None] >= sizes
        return (self.take(most) + past).argsort(axis=0, kind="stable")

    def distinct(self, count: int, bound: int) -> Ints:
        """Different numbers below `bound` in every column, in random order (Floyd's method)."""
        uniform = self.take(count)
        chosen = np.empty(uniform.shape, dtype=np.int64)
        for step in range(count):
            top = bound - count + step
            number = (uniform[step] * (top + 1)).astype(np.int64)
            seen = (chosen[:step] == number).any(axis=0)
            chosen[step] = np.where(seen, top, number)
        order = self.take(count).argsort(axis=0, kind="stable")
        return np.take_along_axis(chosen, order, axis=0)


def structures(spec: VariablesSpec, keys: Keys, wanted: Ints) -> Structure:
    """The first proposal of every item that is as wanted.

    `wanted` (3, items) holds the number of variables, whether the target must be plausible, and
    the number of control variables (-1 for any).
    """
    count, most = len(keys), spec.max_vars
    made = Structure(
        parents=np.empty((spec.parents, most, count), dtype=np.int64),
        rates=np.empty((most, count)),
        target=np.empty((2, count), dtype=np.int64),
        hypotheses=np.empty((spec.max_hyps, 2, count), dtype=np.int64),
    )
    pending = np.arange(count)
    tried = 0
    while len(pending):
        # Rounds have about one size, however few items are left: numpy is slow on small arrays.
        tries = min(MAX_TRIES, max(1, BATCH // len(pending)))
        items = np.repeat(pending, tries)
        attempt = np.tile(np.arange(tried, tried + tries, dtype=np.uint64), len(pending))
        proposed, kept = _propose(spec, mixed(keys[items] ^ attempt), wanted[:, items])
        done, first = np.unique(items[kept], return_index=True)
        for field in fields(Structure):
            getattr(made, field.name)[..., done] = getattr(proposed, field.name)[..., first]
        pending = np.setdiff1d(pending, done, assume_unique=True)
        tried += tries
    return made


def _propose(spec: VariablesSpec, keys: Keys, wanted: Ints) -> tuple[Structure, Ints]:
    """The structures drawn from these keys that are as wanted, and their columns."""
    most, numbers = spec.max_vars, Numbers(keys)
    sizes, plausible, control = wanted
    variable, item = np.arange(most)[:, None], np.arange(len(keys))
    exists = variable < sizes
    graph, ancestors = _graph(numbers, exists, _max_roots(spec, sizes, control), spec.parents)
    thin = numbers.take(most) < numbers.take(1)[0] * spec.thinned
    rates = np.round(MIN_LOST + (1 - MIN_LOST) * numbers.take(most), 3)
    rates = np.where(thin, rates, 0.0)
    observed = exists & (rates <= UNOBSERVED)

    # A plausible target is an edge of the graph, an implausible one two unrelated variables.
    child = np.where(graph[0] >= 0, numbers.take(most), -1.0).argmax(axis=0)
    options = (graph[:, child, item] >= 0).sum(axis=0)
    parent = graph[numbers.below(options), child, item]
    first = numbers.below(sizes)
    second = numbers.below(sizes - 1)
    second += second >= first
    target = np.where(plausible, [parent, child], [first, second])
    independent, dependent = target
    related = (ancestors & ancestors[dependent, item]) != 0
    known = observed & observed[dependent, item]
    fits = np.where(plausible, options > 0, (known & ~related)[independent, item])
    fits &= observed.sum(axis=0) >= 2

    # The variables that must be controlled whatever is believed rule out most proposals early
    # (`decision.CONTROL_TREE`, for all proposals at once).
    other = exists & (variable != independent) & (variable != dependent)
    certain = observed & observed[independent, item]
    certain &= (ancestors & ancestors[independent, item]) != 0
    certain = other & (certain | (known & related))
    spare = control - certain.sum(axis=0)
    any_number = control < 0
    fits &= any_number | ((spare >= 0) & (spare < spec.max_hyps))
    kept = item[fits]
    target = target[:, kept]
    beliefs, acyclic = _hypotheses(numbers.only(kept), spec, sizes[kept], *target)
    hypothesised = (_causes(beliefs, target[1]) >> variable) & 1 == 1
    hypothesised &= (other & ~known & ~certain)[:, kept]
    fits = acyclic & (any_number[kept] | (hypothesised.sum(axis=0) == spare[kept]))
    kept = kept[fits]
    return Structure(graph[..., kept], rates[:, kept], target[:, fits], beliefs[..., fits]), kept


def _max_roots(spec: VariablesSpec, sizes: Ints, control: Ints) -> Ints:
    """The largest number of roots with which there can be enough control variables.

    In a forest the target's tree has at most sizes - roots + 1 variables, and beliefs can
    add one for each hypothesis but the target. More roots would be rejected later anyway.
    """
    if spec.graph == "dag":
        return sizes
    reach = sizes + spec.max_hyps - 2 - control
    return np.where(control < 0, sizes, np.clip(reach, 1, sizes - 1))


def _graph(numbers: Numbers, exists: Bools, max_roots: Ints, parents: int) -> tuple[Ints, Ints]:
    """The parents of every variable, which precede it, and the bits of all its ancestors."""
    most, count = exists.shape
    # The roots are the first variable and those with the smallest keys.
    keys = np.where(exists, numbers.take(most), 2.0)
    keys[0] = -1.0
    roots = numbers.below(max_roots)[None]
    largest_root = np.take_along_axis(np.sort(keys, axis=0), roots, axis=0)
    child = exists & (keys > largest_root)
    variable = np.arange(most)[:, None]
    drawn = numbers.take(parents * most).reshape(parents, most, count)
    graph: Ints = (drawn * variable).astype(np.int64)
    # A variable keeps its first `allowed` parents, less those that were drawn before.
    allowed = 1 + (numbers.take(most) * np.minimum(variable, parents)).astype(np.int64)
    graph[:, ~child] = -1
    for slot in range(1, parents):
        repeated = (graph[:slot] == graph[slot]).any(axis=0)
        graph[slot][repeated | (slot >= allowed)] = -1
    graph = -np.sort(-graph, axis=0)  # those that exist come first
    item = np.arange(count)
    ancestors = np.zeros((most, count), dtype=np.int64)
    for row in range(most):
        ancestors[row] = 1 << row
        for above in graph[:, row]:
            ancestors[row] |= np.where(above >= 0, ancestors[above, item], 0)
    return graph, ancestors


def _hypotheses(
    numbers: Numbers, spec: VariablesSpec, sizes: Ints, independent: Ints, dependent: Ints
) -> tuple[Ints, Bools]:
    """Random forests of hypotheses that include the target, and which of them are acyclic."""
    hyps, item = spec.max_hyps, np.arange(len(sizes))
    slots = min(hyps, spec.max_vars - 1)
    number = 1 + numbers.below(np.minimum(slots, sizes - 1))
    order = numbers.order(sizes, spec.max_vars)
    # Effects are at any place in that order but the first; a cause is anywhere before its effect.
    effect = 1 + numbers.order(sizes - 1, spec.max_vars)[:slots]
    effect = np.minimum(effect, spec.max_vars - 1)
    cause = (numbers.take(hyps)[:slots] * effect).astype(np.int64)
    beliefs = np.full((hyps, 2, len(sizes)), -1)
    beliefs[:slots, 0] = np.take_along_axis(order, cause, axis=0)
    beliefs[:slots, 1] = np.take_along_axis(order, effect, axis=0)
    past = np.arange(hyps)[:, None] >= number
    beliefs[:, 0][past] = beliefs[:, 1][past] = -1
    held = ((beliefs[:, 0] == independent) & (beliefs[:, 1] == dependent)).any(axis=0)
    replaced, absent = numbers.below(number), item[~held]
    beliefs[replaced[absent], 0, absent] = independent[absent]
    beliefs[replaced[absent], 1, absent] = dependent[absent]
    return beliefs, (_causes(beliefs, independent) >> dependent) & 1 == 0


def _causes(beliefs: Ints, effect: Ints) -> Ints:
    """The bits of all hypothesised causes of `effect`, and of `effect` itself."""
    bits = np.int64(1) << effect
    cause = np.where(beliefs[:, 0] >= 0, np.int64(1) << np.maximum(beliefs[:, 0], 0), 0)
    caused = np.maximum(beliefs[:, 1], 0)
    for _ in range(len(beliefs)):
        before = bits
        for slot in range(len(beliefs)):
            bits = bits | np.where((bits >> caused[slot]) & 1 == 1, cause[slot], 0)
        if np.array_equal(bits, before):
            break
    return bits
