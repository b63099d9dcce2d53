"""Differences between people and other solvers, clustered by person and by item."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trivium.core.statistics import (
    UNDEFINED,
    Bounds,
    Estimate,
    bounded_limits,
    proportion,
    student_quantile,
)

Floats = NDArray[np.float64]
NO_SPREAD = 1e-12  # a variance of 0, up to rounding


class Side(NamedTuple):
    """Attempts of people: the value, the person and the item of each."""

    values: Sequence[float]
    people: Sequence[Hashable]
    items: Sequence[Hashable]


def clustered_mean(
    sides: Sequence[Side], level: float = 0.95, bounds: Bounds | None = None
) -> Estimate:
    """The sum of the sides' means, in which every person counts alike, with its interval.

    People against another solver are one side: their scores less the other's at the same item.
    People against people are two, the second with its sign changed. What a person does at several
    items is not independent, nor what several people do at one item: the variance is that of
    Cameron, Gelbach and Miller (2011), by people and by items less by both at once. Its degrees
    of freedom are Satterthwaite's.
    """
    if not all(side.values for side in sides):
        return UNDEFINED
    value, parts = 0.0, []
    for side in sides:
        values, weights = np.asarray(side.values, dtype=np.float64), _weights(side.people)
        mean = float(weights @ values)
        value += mean
        parts.append(weights * (values - mean))
    left = np.concatenate(parts)
    people = [one for side in sides for one in side.people]
    items = [one for side in sides for one in side.items]
    by = [_variance(left, people, len(sides)), _variance(left, items, 1)]
    known = [(variance, freedom) for variance, freedom in by if freedom > 0]
    count = len(set(people))
    if not known:
        return Estimate(value, None, None, count)
    at_once, _ = _variance(left, list(zip(people, items, strict=True)), 1)
    largest = max(variance for variance, _ in known)
    if largest < NO_SPREAD:
        return _all_alike(value, known[0][1] + 1, count, level, bounds)
    variance = max(sum(variance for variance, _ in known) - at_once, largest)
    freedom = sum(one for one, _ in known) ** 2 / sum(one**2 / own for one, own in known)
    freedom = min(freedom, max(own for _, own in known))  # both may be the same clusters
    if bounds is not None:
        return Estimate(value, *bounded_limits(value, variance, freedom + 1, level, bounds), count)
    half = student_quantile(level, freedom) * math.sqrt(variance)
    return Estimate(value, value - half, value + half, count)


def _weights(people: Sequence[Hashable]) -> Floats:
    """The weight of every attempt; those of each person have the same sum."""
    own, counts = _numbered(people)
    return np.asarray(1 / (counts[own] * len(counts)))


def _variance(left: Floats, clusters: Sequence[Hashable], means: int) -> tuple[float, int]:
    """The variance of the sum over independent clusters, and its degrees of freedom."""
    own, counts = _numbered(clusters)
    count, freedom = len(counts), len(counts) - means
    if freedom <= 0:
        return 0.0, 0
    return float((np.bincount(own, left) ** 2).sum()) * count / freedom, freedom


def _numbered(clusters: Sequence[Hashable]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The number of every attempt's cluster, and how many attempts each cluster has."""
    numbers: dict[Hashable, int] = {}
    own = np.array([numbers.setdefault(one, len(numbers)) for one in clusters])
    return own, np.bincount(own)


def _all_alike(value: float, n: int, count: int, level: float, bounds: Bounds | None) -> Estimate:
    """The interval where all values are equal: other values were seen 0 times in n."""
    if bounds is None:
        return Estimate(value, value, value, count)
    others = proportion(0, n, level).high or 0.0
    low, high = value - others * (value - bounds[0]), value + others * (bounds[1] - value)
    return Estimate(value, low, high, count)
