"""Observations: what a causal graph and its functions produce, noisy and thinned out.

Values stay readable: a function is applied to its parent's values scaled into
[-100, 100] by the largest value that the parent could take, so chains of quadratics
neither overflow nor grow without bound.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.benchmarks.variables.generate import Floats, Ints, Links

RANGE = 100  # roots are whole numbers from -RANGE to RANGE - 1
DECIMALS = 3


class Table:
    """Rows of observations, one column for each variable; what is missing is nan."""

    __slots__ = ("values",)

    def __init__(self, values: Floats) -> None:
        self.values = values

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and np.array_equal(
            self.values, other.values, equal_nan=True
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Table({self.values!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        # A view of a batch must not take the whole batch along to another process.
        return Table, (self.values.copy(),)


def lost_counts(rates: Floats, rows: int) -> Ints:
    """How many of so many rows are lost: more than 80% exactly where the rate is above 0.8."""
    # A rate has three decimals; the small step back keeps 0.2 * 20 from becoming 5.
    return np.ceil(rates * rows - 1e-6).astype(np.int64)


def observe(
    links: Links,
    rates: Floats,
    words: NDArray[np.uint32],
    rows: int,
    snr: float | None,
) -> Floats:
    """Tables (items, rows, places), drawn from the words of each item."""
    _, places, items = links.parents.shape
    drawn = words.reshape(items, -1, places, rows).transpose(1, 2, 0, 3)
    values = true_values(links, drawn[0])
    if snr is not None:
        values = values + noise(values, drawn[2], drawn[3], snr)
    # Adding 0 turns -0.0, which would be printed, into 0.0.
    values = np.round(values, DECIMALS) + 0.0
    values[_lost(rates, drawn[1], rows)] = np.nan
    return values.transpose(1, 2, 0)


def true_values(links: Links, words: NDArray[np.uint32]) -> Floats:
    """The values (places, items, rows) without noise, parents before children."""
    width = 2 * RANGE
    roots = ((words >> np.uint32(8)) * (width / 2**24)).astype(np.int64) - RANGE
    values = roots.astype(np.float64)
    parents = links.parents
    item = np.arange(parents.shape[2])
    power = np.where(links.quadratic, RANGE**2, RANGE)
    terms = np.abs(links.grad) * power + np.abs(links.bias)
    bound = np.where(parents >= 0, terms, 0).sum(axis=0)
    scale = RANGE / np.where(bound > 0, bound, RANGE)
    for place in range(1, len(values)):
        children = parents[0, place] >= 0
        made = np.zeros_like(values[place])
        for slot, above in enumerate(parents[:, place]):
            base = values[above, item] * scale[above, item][:, None]
            base = np.where(links.quadratic[slot, place][:, None], base * base, base)
            term = links.grad[slot, place][:, None] * base
            term += links.bias[slot, place][:, None]
            made += term if slot == 0 else np.where((above >= 0)[:, None], term, 0.0)
        values[place][children] = made[children]
    return values


def noise(
    values: Floats, first: NDArray[np.uint32], second: NDArray[np.uint32], snr: float
) -> Floats:
    """Normal noise for every column, its power so many dB under the column's variance."""
    radius = np.sqrt(-2 * np.log((first + 1.0) / 2**32))
    normal = radius * np.cos(second * (2 * np.pi / 2**32))
    spread = values.std(axis=-1, keepdims=True) * 10 ** (-snr / 20)
    return np.asarray(normal * spread)


def _lost(rates: Floats, words: NDArray[np.uint32], rows: int) -> NDArray[np.bool_]:
    """Which values are lost: the same share of each half, so that half a table tells as much."""
    count = lost_counts(rates, rows)
    halves = np.stack([(count + 1) // 2, count // 2], axis=-1)[..., None]
    half = rows // 2
    keys = words.reshape(*words.shape[:-1], 2, half) >> np.uint32(10)
    # The place rides in the low bits: keys never tie, so every sort gives one result.
    keys = (keys << np.uint32(10)) | np.arange(half, dtype=np.uint32)
    limit = np.take_along_axis(np.sort(keys, axis=-1), np.maximum(halves - 1, 0), axis=-1)
    return np.asarray(((keys <= limit) & (halves > 0)).reshape(words.shape))
