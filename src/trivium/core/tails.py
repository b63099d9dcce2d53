"""One-sided tests and intervals that hold at small error rates.

Hits are tested by the exact binomial distribution. Where the chance of a hit differs between items,
or guesses are compared with the same guesses in another order, hits vary less than that, and the
test errs on the safe side. Other scores are tested by Student's t, whose tail is taken in Wallace's
form.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_STEPS = 26  # of a bisection: more digits than anybody prints


def upper_tail(values: Floats, chance: float) -> float:
    """How probable a mean as high as this would be if it were chance's."""
    n = len(values)
    if n == 0:
        return 1.0
    if _are_hits(values):
        return binomial_tail(round(float(values.sum())), n, chance)
    t = (float(values.mean()) - chance) / _error(values)
    z = math.sqrt((n - 1) * math.log1p(t * t / (n - 1))) * (8 * n - 7) / (8 * n - 5)
    return NormalDist().cdf(-math.copysign(z, t))


def interval(values: Floats, error: float) -> tuple[float, float]:
    """The interval of a mean; each side misses with at most this probability."""
    n = len(values)
    if n == 0:
        return 0.0, 1.0
    if _are_hits(values):
        return binomial_interval(round(float(values.sum())), n, error)
    z = -NormalDist().inv_cdf(error) * (8 * n - 5) / (8 * n - 7)
    half = math.sqrt((n - 1) * math.expm1(z * z / (n - 1))) * _error(values)
    mean = float(values.mean())
    return mean - half, mean + half


def _are_hits(values: Floats) -> bool:
    return len(values) < 2 or bool(((values == 0) | (values == 1)).all())


def _error(values: Floats) -> float:
    """The standard error of the mean; not zero, since equal scores prove little."""
    return max(float(values.std(ddof=1)) / math.sqrt(len(values)), 1 / len(values))


def binomial_tail(hits: int, n: int, share: float) -> float:
    """The probability of at least so many hits in n items."""
    if hits <= 0 or share >= 1:
        return 1.0
    if hits > n or share <= 0:
        return 0.0
    if hits < n * share:
        return 1.0 - binomial_tail(n - hits + 1, n, 1 - share)
    table, counts = _log_factorials(n), np.arange(hits, n + 1)
    ways = table[n] - table[counts] - table[n - counts]
    logs = ways + counts * math.log(share) + (n - counts) * math.log1p(-share)
    return min(1.0, float(np.exp(logs).sum()))


def binomial_interval(hits: int, n: int, error: float) -> tuple[float, float]:
    """The exact interval of a share; each side misses with at most this probability."""
    low = 0.0 if hits == 0 else _first(lambda share: binomial_tail(hits, n, share) >= error)
    high = 1.0
    if hits < n:
        high = _first(lambda share: 1 - binomial_tail(hits + 1, n, share) <= error)
    return low, high


def _first(holds: Callable[[float], bool]) -> float:
    """The smallest share for which this holds, and for all larger ones."""
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return high


@lru_cache(maxsize=8)
def _log_factorials(n: int) -> Floats:
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])
