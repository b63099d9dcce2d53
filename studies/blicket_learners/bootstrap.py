"""Bootstrap intervals of means over seeds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trivium.core.statistics import UNDEFINED, Estimate

RESAMPLES = 2000


def bootstrap_mean(values: Sequence[float] | NDArray[np.float64]) -> Estimate:
    """A mean with its 95% percentile interval; the same values give the same interval."""
    data = np.asarray(values, dtype=np.float64)
    if data.size == 0:
        return UNDEFINED
    # Resampling draws how often each distinct value comes up, which is the same
    # experiment as drawing the values themselves.
    distinct, counts = np.unique(data, return_counts=True)
    mean = float(distinct @ counts / data.size)
    draws = np.random.default_rng(0).multinomial(data.size, counts / data.size, RESAMPLES)
    low, high = np.quantile(draws @ distinct / data.size, [0.025, 0.975])
    return Estimate(mean, float(low), float(high), int(data.size))
