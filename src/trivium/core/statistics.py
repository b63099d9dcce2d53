"""Intervals and paired differences, also of people, clustered by person and by item."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trivium.core.errors import require

Bounds = tuple[float, float]  # the lowest and the highest possible value
# The share of one unseen value at the far bound that the interval of a mean allows for. A third
# makes the centre of a beta distribution approximately its median; without it, intervals of means
# near a bound would be too short, because rare values are often not observed at all.
UNSEEN = 1 / 3


@dataclass(frozen=True, repr=False)
class Estimate:
    """A value with its interval and the number of observations behind it."""

    value: float | None
    low: float | None
    high: float | None
    n: int

    def is_above(self, value: float) -> bool:
        """Whether the interval is known and lies above the value."""
        return self.low is not None and self.low > value

    def excludes(self, value: float) -> bool:
        """Whether the interval is known and does not hold the value."""
        return self.low is not None and self.high is not None and not self.low <= value <= self.high

    def to_dict(self) -> dict[str, float | int | None]:
        """The content of summary.json."""
        return asdict(self)

    def __repr__(self) -> str:
        return f"<{self}, n {self.n}>"

    def __str__(self) -> str:
        if self.value is None:
            return "undefined"
        if self.low is None or self.high is None:
            return _decimals(self.value)
        return f"{_decimals(self.value)} [{_decimals(self.low)}, {_decimals(self.high)}]"


def _decimals(value: float) -> str:
    return f"{round(value, 3) + 0.0:.3f}"  # adding 0 turns -0.0 into 0.0


UNDEFINED = Estimate(None, None, None, 0)


def two_sided_z(level: float) -> float:
    """The two-sided normal quantile of a level: 1.96 for 0.95."""
    return NormalDist().inv_cdf(0.5 + level / 2)


@lru_cache(maxsize=4096)
def proportion(successes: float, n: int, level: float = 0.95) -> Estimate:
    """A proportion with its mid-P interval: exact tails with half the observed probability."""
    if n == 0:
        return UNDEFINED
    require(0 <= successes <= n, f"successes must be within 0..{n}, got {successes}")
    others = n - successes
    log_binomial = math.lgamma(n + 1) - math.lgamma(successes + 1) - math.lgamma(others + 1)

    def as_many(share: float) -> float:
        """P(more successes) + P(as many successes) / 2."""
        seen = math.exp(log_binomial + successes * math.log(share) + others * math.log1p(-share))
        return (beta_cdf(share, successes, others + 1) if successes else 1.0) - seen / 2

    tail = (1 - level) / 2
    low = 0.0 if successes == 0 else _crossing(as_many, tail)
    high = 1.0 if others == 0 else _crossing(as_many, 1 - tail)
    return Estimate(successes / n, low, high, n)


def mean_interval(
    values: Sequence[float] | NDArray[np.float64],
    level: float = 0.95,
    bounds: Bounds | None = None,
) -> Estimate:
    """The mean of independent values with its interval, which stays within `bounds` if given.

    Without bounds it is Student's interval. Within bounds it is that of Korn and Graubard
    (1998), which treats a mean as a proportion with the number of trials that has the same
    variance, and a fraction of an unseen value at the far bound. Where all values are equal,
    other values occurred 0 times in n, which bounds their share.
    """
    # Sorted, so that the sum does not depend on the order of the records.
    data = np.sort(np.asarray(values, dtype=np.float64))
    n = int(data.size)
    if n == 0:
        return UNDEFINED
    mean = float(data.mean())
    if bounds is None:
        if n == 1:
            return Estimate(mean, None, None, 1)
        half = two_sided_t(level, n - 1) * float(data.std(ddof=1)) / math.sqrt(n)
        return Estimate(mean, mean - half, mean + half, n)
    lowest, highest = bounds
    if data[-1] - data[0] <= 1e-12 * (highest - lowest):  # equal up to rounding
        return _all_alike(mean, n, n, level, bounds)
    limits = bounded_limits(mean, float(data.var(ddof=1)) / n, n, level, bounds)
    return Estimate(mean, *limits, n)


def mean_score(scores: Sequence[float], bounds: Bounds | None = None) -> Estimate:
    """The mean of scores with its interval, that of a proportion where each is 0 or 1."""
    if {*scores} <= {0.0, 1.0}:
        return proportion(sum(scores), len(scores))
    return mean_interval(scores, bounds=bounds)


def bounded_limits(
    mean: float, variance: float, n: float, level: float, bounds: Bounds
) -> tuple[float, float]:
    """The limits of a mean within bounds, whose variance was estimated from n clusters."""
    lowest, width = bounds[0], bounds[1] - bounds[0]
    share, spread = (mean - lowest) / width, variance / width**2
    low = _lower_limit(share, spread, n, level)
    high = 1 - _lower_limit(1 - share, spread, n, level)
    return lowest + width * low, lowest + width * high


def _lower_limit(share: float, variance: float, n: float, level: float) -> float:
    """The lower limit of the mean of values in [0, 1] and a fraction of an unseen 0."""
    weight = n + UNSEEN
    mean = share * n / weight
    spread = variance * n * (n - 1) + n * (share - mean) ** 2 + UNSEEN * mean**2
    trials = mean * (1 - mean) * weight * (weight - 1) / spread
    trials *= (two_sided_z(level) / two_sided_t(level, n - 1)) ** 2
    return beta_quantile((1 - level) / 2, trials * mean, trials * (1 - mean))


def paired_difference(
    first: Sequence[float],
    second: Sequence[float],
    level: float = 0.95,
    bounds: Bounds | None = None,
) -> Estimate:
    """The mean of first - second over common items, with both within `bounds`.

    Where every difference is 0 or the whole width of the bounds, as for right and wrong answers,
    the interval is Tango's (1998).
    """
    require(
        len(first) == len(second),
        f"paired values must be of one length, got {len(first)} and {len(second)}",
    )
    differences = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    if bounds is None:
        return mean_interval(differences, level)
    widest = bounds[1] - bounds[0]
    gained, lost = (int((differences == sign * widest).sum()) for sign in (1, -1))
    if not differences.size or gained + lost < np.count_nonzero(differences):
        return mean_interval(differences, level, (-widest, widest))
    low, high = _tango_limits(gained, lost, len(first), level)
    return Estimate(float(differences.mean()), widest * low, widest * high, len(first))


@lru_cache(maxsize=4096)
def _tango_limits(gained: int, lost: int, n: int, level: float) -> tuple[float, float]:
    """The limits of (gained - lost) / n by the score test of Tango (1998)."""
    found, strictest = (gained - lost) / n, two_sided_z(level) ** 2

    def is_clear(difference: float) -> bool:
        """Whether the score test rejects this difference."""
        linear = gained + lost - (2 * n - gained + lost) * difference
        both = difference * (1 - difference)
        losses = (math.sqrt(linear * linear + 8 * n * lost * both) + linear) / (4 * n)
        return (n * (found - difference)) ** 2 > strictest * n * (2 * losses + both)

    def limit(end: float) -> float:
        """The difference farthest towards `end` that is not rejected."""
        return found + (end - found) * _crossing(lambda x: is_clear(found + (end - found) * x), 0.5)

    return limit(-1.0), limit(1.0)


def several(interval: Callable[[int, float], Estimate], count: int) -> list[tuple[Estimate, bool]]:
    """`count` differences, and whether each is clear; `interval(which, level)` is one of them.

    The intervals are Bonferroni's: all of them hold the truth together in 95% of studies. Whether
    a difference from 0 is clear is Holm's test, whose errors are as rare and which sees more. So a
    difference may be clear though its interval reaches 0.
    """
    left = set(range(count))
    while seen := {one for one in left if interval(one, 1 - 0.05 / len(left)).excludes(0)}:
        left -= seen
    return [(interval(which, 1 - 0.05 / count), which not in left) for which in range(count)]


def lift_over_floor(estimate: Estimate, floor: float, ceiling: float = 1.0) -> Estimate:
    """The estimate on a scale from floor to ceiling: (value - floor) / (ceiling - floor)."""
    if estimate.value is None or floor >= ceiling:
        return UNDEFINED

    def scaled(value: float | None) -> float | None:
        return None if value is None else (value - floor) / (ceiling - floor)

    return Estimate(scaled(estimate.value), scaled(estimate.low), scaled(estimate.high), estimate.n)


def items_to_see(chance: float, gain: float, level: float, power: float) -> int:
    """The number of items that detect `gain` over chance at a one-sided level with this power."""
    require(0 < chance < 1 and 0 < gain < 1 - chance, "chance and gain must lie inside (0, 1)")
    raised = chance + gain
    null_term = NormalDist().inv_cdf(level) * math.sqrt(chance * (1 - chance))
    power_term = NormalDist().inv_cdf(power) * math.sqrt(raised * (1 - raised))
    return math.ceil(((null_term + power_term) / gain) ** 2)


def items_to_compare(
    difference: float, variance: float, power: float = 0.8, *, graded: bool = False
) -> int:
    """The number of common items that detect this difference of two solvers with this power.

    `variance` is that of the difference at one item. The test is the two-sided one of
    `paired_difference` at 95%; for right and wrong answers, unless scores are `graded`, the
    formula is Miettinen's (1968): the number of items on which they differ is random as well.
    """
    require(0 < abs(difference) < 1, f"a difference must lie between 0 and 1, got {difference}")
    second_moment = variance + difference**2  # the variance if there were no difference
    discordant = second_moment - difference**2 * (3 + second_moment) / (4 * second_moment)
    null_term = two_sided_z(0.95) * math.sqrt(second_moment)
    spread = math.sqrt(variance if graded else max(0.0, discordant))
    power_term = NormalDist().inv_cdf(power) * spread
    return math.ceil(((null_term + power_term) / difference) ** 2)


def difference_variance(first: float, second: float, correlation: float) -> float:
    """The variance of the difference of two right or wrong answers with these shares right."""
    for share in (first, second):
        require(0 < share < 1, f"a score must lie between 0 and 1, got {share:g}")
    spreads = [math.sqrt(share * (1 - share)) for share in (first, second)]
    both = first * second + correlation * spreads[0] * spreads[1]  # the share that both have right
    require(
        max(0.0, first + second - 1) - 1e-9 <= both <= min(first, second) + 1e-9,
        f"scores of {first:g} and {second:g} cannot have a correlation of {correlation:g}",
    )
    return first + second - 2 * both - (first - second) ** 2


def two_sided_t(level: float, freedom: float) -> float:
    """The two-sided quantile of Student's distribution: 2.09 for 0.95 and 19."""
    x = beta_quantile(1 - level, freedom / 2, 0.5)
    return math.sqrt(freedom * (1 / x - 1))


@lru_cache(maxsize=4096)
def beta_quantile(share: float, a: float, b: float) -> float:
    """The quantile of a beta distribution."""
    return _crossing(lambda x: beta_cdf(x, a, b), share)


def beta_cdf(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function, by its continued fraction (Lentz's method)."""
    if x <= 0:
        return 0.0
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_cdf(1 - x, b, a)
    scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(scale + a * math.log(x) + b * math.log1p(-x)) / a
    tiny = 1e-300
    c, d = 1.0, 1 / ((1 - (a + b) * x / (a + 1)) or tiny)
    value, m = d, 0
    change = 0.0
    while abs(change - 1) > 1e-14 and m < 100_000:
        m += 1
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        change = 1.0
        for step in (even, odd):
            d = 1 / ((1 + step * d) or tiny)
            c = (1 + step / c) or tiny
            change *= c * d
        value *= change
    return front * value


def _crossing(rising: Callable[[float], float], target: float) -> float:
    """The argument at which a rising function on (0, 1) reaches the target."""
    low, high = 0.0, 1.0
    for _ in range(52):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < target else (low, middle)
    return (low + high) / 2


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
    total = sum(variance for variance, _ in known)
    variance = max(total - at_once, largest)
    freedom = total**2 / sum(part**2 / degrees for part, degrees in known)
    freedom = min(freedom, max(degrees for _, degrees in known))  # both may be the same clusters
    if bounds is not None:
        return Estimate(value, *bounded_limits(value, variance, freedom + 1, level, bounds), count)
    half = two_sided_t(level, freedom) * math.sqrt(variance)
    return Estimate(value, value - half, value + half, count)


def _weights(people: Sequence[Hashable]) -> Floats:
    """The weight of every attempt; those of each person have the same sum."""
    cluster, counts = _numbered(people)
    return np.asarray(1 / (counts[cluster] * len(counts)))


def _variance(left: Floats, clusters: Sequence[Hashable], means: int) -> tuple[float, int]:
    """The variance of the sum over independent clusters, and its degrees of freedom."""
    cluster, counts = _numbered(clusters)
    count, freedom = len(counts), len(counts) - means
    if freedom <= 0:
        return 0.0, 0
    return float((np.bincount(cluster, left) ** 2).sum()) * count / freedom, freedom


def _numbered(clusters: Sequence[Hashable]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The number of every attempt's cluster, and how many attempts each cluster has."""
    numbers: dict[Hashable, int] = {}
    cluster = np.array([numbers.setdefault(one, len(numbers)) for one in clusters])
    return cluster, np.bincount(cluster)


def _all_alike(value: float, n: int, count: int, level: float, bounds: Bounds | None) -> Estimate:
    """The interval where all values are equal: other values were seen 0 times in n."""
    if bounds is None:
        return Estimate(value, value, value, count)
    others = proportion(0, n, level).high or 0.0
    low, high = value - others * (value - bounds[0]), value + others * (bounds[1] - value)
    return Estimate(value, low, high, count)


def clustered_slope(x: NDArray[Any], y: NDArray[Any], items: NDArray[Any]) -> Estimate | None:
    """How much y grows with one more of x, by least squares, with its 95% interval.

    Its standard error is robust, and clustered by item: attempts at one are not independent.
    """
    _, groups = np.unique(items, return_inverse=True)
    count = int(groups.max(initial=-1)) + 1
    centred = x - x.mean() if x.size else x
    spread = float((centred**2).sum())
    if count < 3 or spread == 0:
        return None
    value = float((centred * y).sum()) / spread
    scores = np.bincount(groups, centred * (y - y.mean() - value * centred))
    error = (float((scores**2).sum()) * count / (count - 2)) ** 0.5 / spread
    half = two_sided_t(0.95, count - 2) * error
    return Estimate(value, value - half, value + half, count)
