"""Intervals and paired differences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from trivium.core.errors import require

Bounds = tuple[float, float]  # the lowest and the highest value that there can be
RESAMPLES = 2000
MAX_DISTINCT = 20_000  # different values that are resampled
# Enough for a resampling step to stay in a few megabytes at any number of values.
_CHUNK = 4_000_000


@dataclass(frozen=True)
class Estimate:
    """A value with its interval and the number of observations behind it."""

    value: float | None
    low: float | None
    high: float | None
    n: int

    def to_dict(self) -> dict[str, float | int | None]:
        """As summary.json holds it."""
        return {"value": self.value, "low": self.low, "high": self.high, "n": self.n}

    def __str__(self) -> str:
        if self.value is None:
            return "undefined"
        if self.low is None or self.high is None:
            return f"{self.value:.3f}"
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


UNDEFINED = Estimate(None, None, None, 0)


def quantile(level: float) -> float:
    """The two-sided normal quantile of a level: 1.96 for 0.95."""
    return NormalDist().inv_cdf(0.5 + level / 2)


def wilson(successes: float, n: int, level: float = 0.95) -> Estimate:
    """A proportion with its Wilson score interval."""
    if n == 0:
        return UNDEFINED
    require(0 <= successes <= n, f"successes must be within 0..{n}, got {successes}")
    z = quantile(level)
    share = successes / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    # The interval touches the ends exactly there; rounding must not push it past them.
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == n else min(1.0, centre + half)
    return Estimate(share, low, high, n)


def bootstrap_mean(
    values: Sequence[float] | NDArray[np.float64],
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
    bounds: Bounds | None = None,
) -> Estimate:
    """A mean with its percentile bootstrap interval; the same values give the same interval.

    Where all n values are equal, resampling cannot tell that others are possible, and its
    interval would have no width. If the values are known to lie within `bounds`, one rule
    stands in: other values came up 0 times in n, so by Wilson's interval their share is at
    most w = wilson(0, n).high, and the mean lies between v - w (v - lowest) and
    v + w (highest - v). For a proportion of 0 or 1 that is Wilson's interval itself. Of things
    that were tried several times, the values are means of one thing each, and n counts things.
    """
    data = np.asarray(values, dtype=np.float64)
    if data.size == 0:
        return UNDEFINED
    # Resampling draws how often each distinct value comes up, which is the same
    # experiment as drawing the values themselves and far less work on scores.
    distinct, counts = np.unique(data, return_counts=True)
    # Summed in the order of the values, so that the order of the records cannot matter.
    mean = float(distinct @ counts / data.size)
    if distinct.size == 1:
        lowest, highest = bounds or (mean, mean)
        others = wilson(0, data.size, level).high or 0.0
        low, high = mean - others * (mean - lowest), mean + others * (highest - mean)
        return Estimate(mean, low, high, int(data.size))
    if distinct.size > MAX_DISTINCT:
        # So many values that the mean is normal, and resampling would take minutes to say so.
        half = quantile(level) * float(data.std()) / math.sqrt(data.size)
        return Estimate(mean, mean - half, mean + half, int(data.size))
    generator = np.random.default_rng(seed)
    step = max(1, _CHUNK // distinct.size)
    means = np.concatenate(
        [
            generator.multinomial(data.size, counts / data.size, min(step, resamples - done))
            @ distinct
            / data.size
            for done in range(0, resamples, step)
        ]
    )
    tail = (1 - level) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return Estimate(mean, float(low), float(high), int(data.size))


def paired_difference(
    first: Sequence[float],
    second: Sequence[float],
    level: float = 0.95,
    seed: int = 0,
    bounds: Bounds | None = None,
) -> Estimate:
    """The mean of first - second over common items; each of them lies within `bounds`."""
    require(
        len(first) == len(second),
        f"paired values must be of one length, got {len(first)} and {len(second)}",
    )
    return bootstrap_mean(
        np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64),
        level,
        seed=seed,
        bounds=None if bounds is None else (bounds[0] - bounds[1], bounds[1] - bounds[0]),
    )


def lift_over_chance(estimate: Estimate, chance: float) -> Estimate:
    """The share of the way from chance to perfect: (value - chance) / (1 - chance)."""
    if estimate.value is None or chance >= 1:
        return UNDEFINED

    def scaled(value: float | None) -> float | None:
        return None if value is None else (value - chance) / (1 - chance)

    return Estimate(scaled(estimate.value), scaled(estimate.low), scaled(estimate.high), estimate.n)


def items_to_see(chance: float, gain: float, level: float, power: float = 0.95) -> int:
    """How many items show `gain` over chance at this one-sided level with this power."""
    require(0 < chance < 1 and 0 < gain < 1 - chance, "chance and gain must lie inside (0, 1)")
    raised = chance + gain
    miss = NormalDist().inv_cdf(level) * math.sqrt(chance * (1 - chance))
    seen = NormalDist().inv_cdf(power) * math.sqrt(raised * (1 - raised))
    return math.ceil(((miss + seen) / gain) ** 2)
