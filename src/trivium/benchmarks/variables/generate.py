"""Structures drawn in batches: (spec, seed, index) decides an item, whatever the batch.

An item is proposed from its own numbers until its kind is the one that its place in the
dataset calls for (rejection), so that nothing but the kind itself tells kinds apart.
Arrays have one row for each place in topological order and one column for each item;
sets of variables are bits of one number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from trivium.benchmarks.variables.spec import LEAST_LOST, UNOBSERVED, VariablesSpec
from trivium.core.streams import Stream, grown_uniforms, mixed, spec_key, stream_key, word_block

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Words = NDArray[np.uint64]
BATCH = 1024
MAX_TRIES = 64  # proposals for one item in one go
REST = np.uint64(2**63)  # the key of what is drawn once a structure is found


@dataclass
class Structure:
    """What a batch of items is about, before any value is drawn."""

    parents: Ints  # (parents, places, items); -1 where there is none
    rates: Floats  # (places, items): the share of observations that is lost
    target: Ints  # (2, items): independent, dependent
    hypotheses: Ints  # (hypotheses, 2, items); -1 where there is none


@dataclass(frozen=True)
class Links:
    """Parents, and what each adds to its child: grad * x + bias, or with x squared."""

    parents: Ints  # (parents, places, items); -1 where there is none
    quadratic: Bools
    grad: Ints
    bias: Ints


@dataclass(frozen=True)
class Sheet:
    """A batch of items in topological order, with the order in which each is told."""

    start: int
    sizes: Ints
    structure: Structure
    links: Links
    order: Ints  # (places, items): the place that is printed first, second, ...
    names: Ints  # (places, items): numbers in the names, in the order of print
    wording: Floats  # (hypotheses, items): a uniform number that picks the words
    words: NDArray[np.uint32]  # what the tables are drawn from


class _Numbers:
    """Hands out rows of uniform numbers, one column for each item."""

    def __init__(self, keys: Words) -> None:
        self._keys = keys
        self._taken = 0

    def take(self, count: int) -> Floats:
        # Grown as they are needed: a few rows at a time stay in the processor's cache.
        self._taken += count
        return grown_uniforms(self._keys, count, self._taken - count)

    def only(self, kept: Ints) -> _Numbers:
        """The same numbers for some of the items."""
        fewer = _Numbers(self._keys[kept])
        fewer._taken = self._taken
        return fewer

    def one(self) -> Floats:
        """One number for each item."""
        numbers: Floats = self.take(1)[0]
        return numbers

    def below(self, bound: Ints) -> Ints:
        """One whole number for each item, from 0 to its bound - 1."""
        return (self.one() * bound).astype(np.int64)

    def order(self, sizes: Ints, places: int) -> Ints:
        """A random order of 0 .. size - 1 in every column, then the places past the size."""
        past = np.arange(places)[:, None] >= sizes
        return (self.take(places) + past).argsort(axis=0, kind="stable")

    def distinct(self, count: int, bound: int) -> Ints:
        """Different numbers below `bound` in every column, in random order (Floyd's way)."""
        uniform = self.take(count)
        chosen = np.empty(uniform.shape, dtype=np.int64)
        for step in range(count):
            top = bound - count + step
            number = (uniform[step] * (top + 1)).astype(np.int64)
            seen = (chosen[:step] == number).any(axis=0)
            chosen[step] = np.where(seen, top, number)
        order = self.take(count).argsort(axis=0, kind="stable")
        return np.take_along_axis(chosen, order, axis=0)


def sheets(spec: VariablesSpec, seed: int, start: int, count: int) -> Iterator[Sheet]:
    """The items start .. start + count - 1 in batches."""
    for first in range(start, start + count, BATCH):
        yield draw(spec, seed, first, min(BATCH, start + count - first))


def stratum_order(spec: VariablesSpec, seed: int) -> list[int]:
    """Which kind of item stands at each place of a cycle; so any run of items is balanced."""
    return Stream(stream_key("strata", spec_key(spec, seed))).shuffled(range(spec.strata))


def table_words(places: int, observations: int, noisy: bool) -> int:
    """How many words a table takes: values, what is lost, and two for noise."""
    return places * observations * (4 if noisy else 2)


def draw(spec: VariablesSpec, seed: int, start: int, count: int) -> Sheet:
    """One batch of items."""
    most, parents, hyps = spec.max_vars, spec.parents, spec.max_hyps
    key = spec_key(spec, seed)
    head = word_block(stream_key(key, "head"), start, count, 4)
    keys = head[:, :2].copy().view(np.uint64)[:, 0]
    size, coin = head[:, 2:].T / 2.0**32
    sizes = spec.min_vars + (size * (most - spec.min_vars + 1)).astype(np.int64)
    strata = np.array(stratum_order(spec, seed))[np.arange(start, start + count) % spec.strata]
    wanted = strata if spec.balance == "control" else np.full(count, -1)
    plausible = {
        "control": np.ones(count, dtype=np.bool_),
        "hypotheses": strata == 1,
        "none": coin < 0.5,
    }[spec.balance]
    structure = _structures(spec, keys, sizes, plausible, wanted)
    numbers = _Numbers(mixed(keys ^ REST))
    shape = (parents, most, count)
    grad = (numbers.take(parents * most).reshape(shape) * 19).astype(np.int64) - 10
    return Sheet(
        start=start,
        sizes=sizes,
        structure=structure,
        links=Links(
            parents=structure.parents,
            grad=grad + (grad >= 0),  # never 0
            bias=(numbers.take(parents * most).reshape(shape) * 200).astype(np.int64) - 100,
            quadratic=numbers.take(parents * most).reshape(shape) < 0.5,
        ),
        order=numbers.order(sizes, most),
        names=1000 + numbers.distinct(most, 9000),
        wording=numbers.take(hyps),
        words=word_block(
            stream_key(key, "table"),
            start,
            count,
            table_words(most, spec.observations, spec.snr is not None),
        ),
    )


def _structures(
    spec: VariablesSpec, keys: Words, sizes: Ints, plausible: Bools, wanted: Ints
) -> Structure:
    """For every item its first proposal that is of the kind that is wanted."""
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
        # Rounds of about one size, however few items are left: numpy is slow on small arrays.
        tries = min(MAX_TRIES, max(1, BATCH // len(pending)))
        items = np.repeat(pending, tries)
        attempt = np.tile(np.arange(tried, tried + tries, dtype=np.uint64), len(pending))
        proposed, kept = propose(
            spec, mixed(keys[items] ^ attempt), sizes[items], plausible[items], wanted[items]
        )
        done, first = np.unique(items[kept], return_index=True)
        for field in fields(Structure):
            getattr(made, field.name)[..., done] = getattr(proposed, field.name)[..., first]
        pending = np.setdiff1d(pending, done, assume_unique=True)
        tried += tries
    return made


def propose(
    spec: VariablesSpec, keys: Words, sizes: Ints, plausible: Bools, wanted: Ints
) -> tuple[Structure, Ints]:
    """The structures of the wanted kind among those grown from these keys, and whose they are."""
    most = spec.max_vars
    numbers = _Numbers(keys)
    place, item = np.arange(most)[:, None], np.arange(len(keys))
    exists = place < sizes
    graph, ancestors = _graph(numbers, exists, _most_roots(spec, sizes, wanted), spec.parents)
    thin = numbers.take(most) < numbers.one() * spec.thinned
    rates = np.round(LEAST_LOST + (1 - LEAST_LOST) * numbers.take(most), 3)
    rates = np.where(thin, rates, 0.0)
    observed = exists & (rates <= UNOBSERVED)

    # A plausible target is an edge of the graph, an implausible one two observed strangers.
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

    # What is to be controlled for certain rules most proposals out before beliefs are drawn.
    other = exists & (place != independent) & (place != dependent)
    certain = observed & observed[independent, item]
    certain &= (ancestors & ancestors[independent, item]) != 0
    certain = other & (certain | (known & related))
    spare = wanted - certain.sum(axis=0)
    fits &= (wanted < 0) | ((spare >= 0) & (spare < spec.max_hyps))
    kept = item[fits]
    target = target[:, kept]
    beliefs, acyclic = _hypotheses(numbers.only(kept), spec, sizes[kept], *target)
    hypothesised = (_causes(beliefs, target[1]) >> place) & 1 == 1
    hypothesised &= (other & ~known & ~certain)[:, kept]
    fits = acyclic & ((wanted[kept] < 0) | (hypothesised.sum(axis=0) == spare[kept]))
    kept = kept[fits]
    return Structure(graph[..., kept], rates[:, kept], target[:, fits], beliefs[..., fits]), kept


def _most_roots(spec: VariablesSpec, sizes: Ints, wanted: Ints) -> Ints:
    """With how many roots the wanted number of control variables can still be reached.

    In a forest the target's tree has at most sizes - roots + 1 variables, and beliefs can
    add one for each hypothesis but the target. More roots would be rejected later anyway.
    """
    if spec.graph == "dag":
        return sizes
    reach = sizes + spec.max_hyps - 2 - wanted
    return np.where(wanted < 0, sizes, np.clip(reach, 1, sizes - 1))


def _graph(numbers: _Numbers, exists: Bools, most_roots: Ints, parents: int) -> tuple[Ints, Ints]:
    """The parents of every place, all of them before it, and the bits of all its ancestors."""
    most, count = exists.shape
    # Any number of roots: the first place, and those whose keys are the smallest.
    keys = np.where(exists, numbers.take(most), 2.0)
    keys[0] = -1.0
    roots = numbers.below(most_roots)[None]
    largest_root = np.take_along_axis(np.sort(keys, axis=0), roots, axis=0)
    child = exists & (keys > largest_root)
    place = np.arange(most)[:, None]
    graph: Ints = (numbers.take(parents * most).reshape(parents, most, count) * place).astype(
        np.int64
    )
    wanted = 1 + (numbers.take(most) * np.minimum(place, parents)).astype(np.int64)
    graph[:, ~child] = -1
    for slot in range(1, parents):
        repeated = (graph[:slot] == graph[slot]).any(axis=0)
        graph[slot][repeated | (slot >= wanted)] = -1
    graph = -np.sort(-graph, axis=0)  # those that are there first
    item = np.arange(count)
    ancestors = np.zeros((most, count), dtype=np.int64)
    for row in range(most):
        ancestors[row] = 1 << row
        for above in graph[:, row]:
            ancestors[row] |= np.where(above >= 0, ancestors[above, item], 0)
    return graph, ancestors


def _hypotheses(
    numbers: _Numbers, spec: VariablesSpec, sizes: Ints, independent: Ints, dependent: Ints
) -> tuple[Ints, Bools]:
    """Random forests of beliefs with the target put in, and which of them are acyclic."""
    hyps, item = spec.max_hyps, np.arange(len(sizes))
    slots = min(hyps, spec.max_vars - 1)
    number = 1 + numbers.below(np.minimum(slots, sizes - 1))
    order = numbers.order(sizes, spec.max_vars)
    # Effects are places of that order but the first; a cause stands anywhere before its effect.
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
    """The bits of everything that is believed to cause `effect`, itself included."""
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
