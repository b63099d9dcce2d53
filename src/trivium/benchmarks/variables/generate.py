"""Items drawn in batches; each depends on spec, seed and index only, not on its batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from trivium.benchmarks.variables.item import WORDINGS, Table, VariablesItem, reordered
from trivium.benchmarks.variables.layouts import layouts
from trivium.benchmarks.variables.matched import matched_structures
from trivium.benchmarks.variables.spec import VariablesSpec
from trivium.benchmarks.variables.structure import BATCH, Numbers, Structure, structures
from trivium.benchmarks.variables.table import Bools, Floats, Ints, observe, words_needed
from trivium.core.benchmark import Origin
from trivium.core.spec import spec_to_dict
from trivium.core.streams import Stream, balanced_kinds, mixed, spec_key, stream_key, word_block

BLOCK = 50  # items of which half are valid; a guess from those before it is right 58% of the time
BENT = 0.75  # the share of targets that are made parabolas
REST = np.uint64(2**63)  # the key of what is drawn after the structure


def item_id(index: int) -> str:
    """The id of an item, such as IV-000123."""
    return f"IV-{index:06d}"


def generate(
    spec: VariablesSpec, seed: int, start: int = 0, count: int = 1
) -> Iterator[VariablesItem]:
    """The items start .. start + count - 1."""
    for first in range(start, start + count, BATCH):
        yield from _batch(spec, seed, first, min(BATCH, start + count - first))


def _kinds(spec: VariablesSpec, key: int, start: int, count: int) -> tuple[Bools, Ints]:
    """Whether each target is plausible, and the kind of its number of control variables.

    Half of each block of targets are plausible; numbers are balanced among these and among the
    others, in the order of their indexes.
    """
    if spec.balance == "none":
        return word_block(stream_key("validity", key), start, count, 1)[:, 0] % 2 == 1, np.zeros(
            count, np.int64
        )
    if spec.design == "original" and spec.balance == "control":
        kinds = balanced_kinds(stream_key("strata", key), spec.max_vars - 1, start, count)
        return kinds >= 0, kinds
    first, last = start // BLOCK, (start + count - 1) // BLOCK
    blocks = last - first + 1
    order = balanced_kinds(stream_key("validity", key), BLOCK, first * BLOCK, blocks * BLOCK)
    valid = order % 2 == 1
    kinds = np.zeros(len(valid), np.int64)
    if spec.balance == "control":
        numbers = len(layouts(spec).shares)
        for part in (True, False):
            half = BLOCK // 2
            kinds[valid == part] = balanced_kinds(
                stream_key("strata", key, part), numbers, first * half, blocks * half
            )
    window = slice(start - first * BLOCK, start - first * BLOCK + count)
    return valid[window], kinds[window]


def _structures(
    spec: VariablesSpec, seed: int, start: int, count: int
) -> tuple[Structure, Ints, Numbers]:
    """The structures of a batch, the number of variables of each item, and numbers for the rest."""
    key = spec_key(spec, seed)
    valid, kinds = _kinds(spec, key, start, count)
    head = word_block(stream_key(key, "head"), start, count, 3)
    keys = head[:, :2].copy().view(np.uint64)[:, 0]
    if spec.design == "matched":
        numbers = Numbers(keys)
        return *matched_structures(spec, numbers, kinds, valid), numbers
    size = head[:, 2] / 2.0**32
    sizes = spec.min_vars + (size * (spec.max_vars - spec.min_vars + 1)).astype(np.int64)
    control = kinds if spec.balance == "control" else np.full(count, -1)
    wanted = np.stack([sizes, valid, control])
    return structures(spec, keys, wanted), sizes, Numbers(mixed(keys ^ REST))


def _batch(spec: VariablesSpec, seed: int, start: int, count: int) -> Iterator[VariablesItem]:
    """One batch of items: drawn in topological order, then put into printed order."""
    structure, sizes, numbers = _structures(spec, seed, start, count)
    shape = structure.parents.shape
    most = shape[1]

    def draw() -> Floats:
        return numbers.take(shape[0] * most).reshape(shape)

    grad = (draw() * 19).astype(np.int64) - 10
    grad += grad >= 0  # never 0
    bias = (draw() * 200).astype(np.int64) - 100
    terms = np.stack([structure.parents, draw() < 0.5, grad, bias])
    scales = None
    if spec.design == "matched" and spec.graph == "forest":
        _bend_target(terms, structure.target, numbers.take(1)[0] < BENT)
        _straighten(terms)
        # Half of the columns change their sign: otherwise all roots would be skewed one way.
        turned, size = np.modf(2 * numbers.take(most))[::-1]
        half_range = np.where(turned == 1, -1, 1) * 10 ** (1 + 2 * size)
        scales = np.stack([2000 * numbers.take(most) - 1000, half_range])
    order = numbers.order(sizes, most)  # the variables in printed order
    names = (1000 + numbers.distinct(most, 9000)).T.tolist()
    wording = (numbers.take(spec.max_hyps) * len(WORDINGS)).astype(np.int64)
    needed = words_needed(most, spec.observations, spec.snr is not None)
    words = word_block(stream_key(spec_key(spec, seed), "table"), start, count, needed)
    tables = observe(terms, structure.rates, words, spec.observations, spec.snr, scales=scales)
    tables = np.take_along_axis(tables, order.T[:, None, :], axis=2)
    functions, rates, targets, edges = _printed(structure, terms, order)
    fields, wordings = spec_to_dict(spec), wording.T.tolist()
    for row, size in enumerate(sizes.tolist()):
        believed = [(cause, effect) for cause, effect in edges[row] if cause >= 0]
        yield VariablesItem(
            id=item_id(start + row),
            names=tuple([f"x_{number}" for number in names[row][:size]]),
            terms=[[term for term in slots if term[0] >= 0] for slots in functions[row][:size]],
            rates=rates[row][:size],
            target=(targets[row][0], targets[row][1]),
            hypotheses=believed,
            wording=wordings[row][: len(believed)],
            snr=spec.snr,
            table=Table(tables[row, :, :size]),
            origin=Origin(fields, seed, start + row),
        )


def _bend_target(terms: Ints, target: Ints, chosen: Bools) -> None:
    """Make the dependent variable of these items a parabola of a line of its root, in place.

    Two lines of one variable rise and fall in the same rows, so single columns would show that
    they belong together; a parabola looks like any other column.
    """
    parents, squared = terms[0, 0], terms[1, 0]
    item = np.flatnonzero(chosen)
    above, dependent = target[:, item]
    while len(item):
        squared[above, item] = 0
        higher = parents[above, item]
        item, above = item[higher >= 0], higher[higher >= 0]
    squared[dependent, np.flatnonzero(chosen)] = 1


def _straighten(terms: Ints) -> None:
    """Turn parabolas of parabolas into lines, in place.

    Then any two variables of a tree are related by a line or a parabola, which a table shows
    without a third variable.
    """
    parents, squared = terms[0, 0], terms[1, 0]
    bent = np.zeros(parents.shape, dtype=np.bool_)
    item = np.arange(parents.shape[1])
    for variable, above in enumerate(parents):
        inherited = bent[above, item] & (above >= 0)
        squared[variable] *= ~inherited
        bent[variable] = inherited | ((squared[variable] == 1) & (above >= 0))


def _printed(structure: Structure, terms: Ints, order: Ints) -> tuple[list[Any], ...]:
    """The terms, rates, targets and hypotheses of every item, variables in printed order."""
    position = np.argsort(order, axis=0)
    item = np.arange(order.shape[1])

    def renumbered(variables: Ints) -> Ints:
        return np.where(variables >= 0, position[variables, item], -1)

    terms = np.concatenate([renumbered(terms[:1]), terms[1:]])
    return (
        np.take_along_axis(terms, order[None, None], axis=2).transpose(3, 2, 1, 0).tolist(),
        np.take_along_axis(structure.rates, order, axis=0).T.tolist(),
        renumbered(structure.target).T.tolist(),
        renumbered(structure.hypotheses).transpose(2, 0, 1).tolist(),
    )


def reshuffle(item: VariablesItem, trial: int) -> VariablesItem:
    """The same item printed in another order; trial 0 is the item itself."""
    if trial == 0:
        return item
    stream = Stream(stream_key("reshuffle", item.names, item.target, trial))
    order = stream.shuffled(range(len(item.names)))
    return reordered(item, order, stream.shuffled(range(len(item.hypotheses))))
