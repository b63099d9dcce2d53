"""Tables of observations: the values of a causal graph, with noise and losses.

A function is applied to its parent's values after scaling them into [-100, 100] by the largest
value that the parent can take, so chains of quadratics do not grow without bound.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Words = NDArray[np.uint32]
RANGE = 100  # roots are integers from -RANGE to RANGE - 1
DECIMALS = 3


def in_root_range(values: Floats) -> Bools:
    """Whether each value is in -RANGE .. RANGE - 1, where the whole numbers of roots are."""
    return (values >= -RANGE) & (values <= RANGE - 1)


def words_needed(variables: int, rows: int, noisy: bool) -> int:
    """The number of random words for a table: values, losses, and two for noise."""
    return variables * rows * (4 if noisy else 2)


def lost_counts(rates: Floats, rows: int) -> Ints:
    """The number of lost rows: more than 80% of them exactly if the rate is above 0.8."""
    # A rate has three decimals; the small step back keeps ceil(0.2 * 20) at 4.
    return np.ceil(rates * rows - 1e-6).astype(np.int64)


def observe(
    terms: Ints,
    rates: Floats,
    words: Words,
    rows: int,
    snr: float | None,
    *,
    scales: Floats | None = None,
) -> Floats:
    """Tables (items, rows, variables) drawn from the random words of each item.

    `terms` (4, parents, variables, items) holds the parent (-1 for none), whether its value is
    squared, grad and bias; variables are in topological order. With `scales` (2, variables,
    items), a middle and half of a range, all columns have one distribution.
    """
    _, _, variables, items = terms.shape
    drawn = words.reshape(items, -1, variables, rows).transpose(1, 2, 0, 3)
    if scales is None:
        values = true_values(terms, drawn[0])
    else:
        values = matched_values(terms, drawn[0])
        values = scales[0][..., None] + scales[1][..., None] * values
    if snr is not None:
        values = values + noise(values, drawn[2], drawn[3], snr)
    # Adding 0 turns -0.0, which would be printed as such, into 0.0.
    values = np.round(values, DECIMALS) + 0.0
    values[_lost(rates, drawn[1], rows)] = np.nan
    return values.transpose(1, 2, 0)


def true_values(terms: Ints, words: Words) -> Floats:
    """The values (variables, items, rows) without noise, parents before children."""
    roots = ((words >> np.uint32(8)) * (2 * RANGE / 2**24)).astype(np.int64) - RANGE
    values = roots.astype(np.float64)
    parents, squared, grad, bias = terms
    item = np.arange(parents.shape[2])
    largest = np.abs(grad) * np.where(squared, RANGE**2, RANGE) + np.abs(bias)
    bound = np.where(parents >= 0, largest, 0).sum(axis=0)
    scale = RANGE / np.where(bound > 0, bound, RANGE)
    for variable in range(len(values)):
        made = np.zeros_like(values[variable])
        for slot, above in enumerate(parents[:, variable]):
            base = values[above, item] * scale[above, item][:, None]
            base = np.where(squared[slot, variable][:, None], base * base, base)
            term = grad[slot, variable][:, None] * base
            term += bias[slot, variable][:, None]
            made += term if slot == 0 else np.where((above >= 0)[:, None], term, 0.0)
        children = parents[0, variable] >= 0
        values[variable][children] = made[children]
    return values


def matched_values(terms: Ints, words: Words) -> Floats:
    """The values (variables, items, rows) in [-1, 1] without noise: one set of numbers for all.

    The numbers are cosines of angles that are closed under doubling. A root has them in random
    order; if x is one of them, 2x^2 - 1 = cos(2 angle) is another one. So lines and parabolas of a
    root are the same numbers in another order, possibly with the other sign: only a comparison of
    two columns row by row shows whether one is a function of the other. Each half of the rows has
    its own set of numbers, so that half a table shows no more.
    """
    parents, squared, grad, _ = terms[:, 0]
    values = np.zeros(words.shape)
    roots = parents < 0
    half = words.shape[-1] // 2
    order = words[roots].reshape(-1, 2, half).argsort(axis=-1, kind="stable")
    numbers = np.broadcast_to(closed_cosines(half), order.shape)
    values[roots] = np.take_along_axis(numbers, order, axis=-1).reshape(len(order), -1)
    item = np.arange(parents.shape[1])
    for variable in range(1, len(values)):
        child = parents[variable] >= 0
        base = values[parents[variable], item]
        bent = squared[variable][:, None] == 1
        made = np.sign(grad[variable])[:, None] * np.where(bent, 2 * base * base - 1, base)
        values[variable] = np.where(child[:, None], made, values[variable])
    return values


@cache
def closed_cosines(half: int) -> Floats:
    """Two sets of numbers in [-1, 1], each closed under x -> 2x^2 - 1, different if possible.

    They are cos(2 pi j / n) for odd n, since doubling only permutes the j. With n = 4 half + 1
    there are 2 half different ones; whole cycles of doubling are dealt into two sets of one size.
    If that is impossible, both sets are those of n = 2 half + 1.
    """
    count = 4 * half + 1
    sets: list[list[int]] = [[], []]
    left = set(range(1, 2 * half + 1))
    while left:
        cycle = [min(left)]
        while (following := min(2 * cycle[-1] % count, -2 * cycle[-1] % count)) != cycle[0]:
            cycle.append(following)
        left -= set(cycle)
        smaller = min(sets, key=len)
        smaller += cycle
    if len(sets[0]) != half:
        count, sets = 2 * half + 1, [list(range(1, half + 1))] * 2
    cosines: Floats = np.cos(2 * np.pi / count * np.array(sets))
    return cosines


def noise(values: Floats, first: Words, second: Words, snr: float) -> Floats:
    """Normal noise for every column, with a power `snr` dB below the column's variance."""
    radius = np.sqrt(-2 * np.log((first + 1.0) / 2**32))
    normal = radius * np.cos(second * (2 * np.pi / 2**32))
    spread = values.std(axis=-1, keepdims=True) * 10 ** (-snr / 20)
    return np.asarray(normal * spread)


def _lost(rates: Floats, words: Words, rows: int) -> Bools:
    """Whether each value is lost: the same share of each half, so that half a table suffices."""
    count = lost_counts(rates, rows)
    halves = np.stack([(count + 1) // 2, count // 2], axis=-1)[..., None]
    half = rows // 2
    keys = words.reshape(*words.shape[:-1], 2, half) >> np.uint32(10)
    # With the row in their low bits keys never tie, so the result is well defined.
    keys = (keys << np.uint32(10)) | np.arange(half, dtype=np.uint32)
    limit = np.take_along_axis(np.sort(keys, axis=-1), np.maximum(halves - 1, 0), axis=-1)
    return np.asarray(((keys <= limit) & (halves > 0)).reshape(words.shape))
