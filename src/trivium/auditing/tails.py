"""One-sided tests and intervals that are valid at small error rates.

Hits are tested with the exact binomial distribution. Where the chance of a hit differs between
items, or guesses are compared with a permutation of them, hits vary less than that, and the test is
conservative. Other scores are tested with Student's t.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from trivium.core.statistics import beta_cdf, beta_quantile, student_quantile

Floats = NDArray[np.float64]


def upper_tail(values: Floats, chance: float) -> float:
    """The p-value of a mean above chance."""
    n = len(values)
    if n == 0:
        return 1.0
    if _are_hits(values):
        return binomial_tail(round(float(values.sum())), n, chance)
    t = (float(values.mean()) - chance) / _error(values)
    if t == 0:
        return 0.5
    one_side = beta_cdf((n - 1) / (n - 1 + t * t), (n - 1) / 2, 0.5) / 2
    return one_side if t > 0 else 1 - one_side


def interval(values: Floats, error: float) -> tuple[float, float]:
    """The interval of a mean, with this error rate on each side."""
    n = len(values)
    if n == 0:
        return 0.0, 1.0
    if _are_hits(values):
        return binomial_interval(round(float(values.sum())), n, error)
    half = student_quantile(1 - 2 * error, n - 1) * _error(values)
    mean = float(values.mean())
    return mean - half, mean + half


def _are_hits(values: Floats) -> bool:
    return len(values) < 2 or bool(((values == 0) | (values == 1)).all())


def _error(values: Floats) -> float:
    """The standard error of the mean, at least 1/n, since equal scores prove little."""
    return max(float(values.std(ddof=1)) / math.sqrt(len(values)), 1 / len(values))


def binomial_tail(hits: int, n: int, share: float) -> float:
    """The probability of at least this many hits in n items."""
    if hits <= 0 or share >= 1:
        return 1.0
    if hits > n or share <= 0:
        return 0.0
    return beta_cdf(share, hits, n - hits + 1)


def binomial_interval(hits: int, n: int, error: float) -> tuple[float, float]:
    """The exact interval of a proportion, with this error rate on each side."""
    low = 0.0 if hits == 0 else beta_quantile(error, hits, n - hits + 1)
    high = 1.0 if hits == n else beta_quantile(1 - error, hits + 1, n - hits)
    return low, high
