"""The threshold of a solver with its interval, from its scores at every level of difficulty.

Lift falls along a log-logistic curve from 1 minus a lapse rate to a lower asymptote. The interval
holds the threshold of every curve whose likelihood is near that of the best one. Its ends are
levels, because nothing was measured between them, and it starts before the first level whose own
scores cannot rule out a dip there. Where no curve fits, the threshold is read level by level.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trivium.core.errors import require
from trivium.core.statistics import Estimate, lift_over_floor, proportion

Floats = NDArray[np.float64]
# `perf/threshold_calibration.py` measures what a change of these costs.
CELLS = 61  # of the axis of difficulty; a threshold for each
MARGIN = math.log(1.5)  # of that axis beyond the levels
SLOPES = np.geomspace(0.8, 40.0, 8)
# Lapse rates and asymptotes: shares of the way from nothing to where the target is never crossed.
PARTS = np.array([0.0, 0.1, 0.25, 0.4, 0.6, 0.8, 0.92, 1.2])
DROP = 2.2  # in log likelihood: 1.92 would be a test at 5%, if it were made only once
DEVIATION = 0.045  # of the lift at a level from any curve (a standard deviation)
ODDS = 12.0  # at which the scores of a level decide between two hypotheses about it
DIP = 0.3  # below the curve, and at least down to the target
MIN_UNSCORED = 5  # attempts before their trend is tested
MIN_AT_END = 10  # items at the easiest or hardest level before a threshold beyond it is accepted


@dataclass(frozen=True)
class Levels:
    """The values of a spec field, from easy to hard, with floor and ceiling at each of them."""

    values: tuple[float, ...]
    floors: tuple[float, ...]
    ceilings: tuple[float, ...] = ()  # 1 by default

    def __post_init__(self) -> None:
        values = list(self.values)
        require(len(values) >= 2, f"a threshold needs at least two values, got {len(values)}")
        ordered = values in (sorted(set(values)), sorted(set(values), reverse=True))
        listed = ", ".join(f"{value:g}" for value in values)
        require(ordered, f"values must differ and go from easy to hard, got {listed}")
        object.__setattr__(self, "ceilings", self.ceilings or (1.0,) * len(values))
        for value, floor, ceiling in zip(values, self.floors, self.ceilings, strict=True):
            differ = f"at {value:g} the floor is the ceiling: nothing can be measured there"
            require(floor < ceiling, differ)

    def chances(self, lifts: Floats) -> Floats:
        """The expected scores of lifts; a row for each level."""
        floors, ceilings = (np.array(each)[:, None] for each in (self.floors, self.ceilings))
        return np.asarray(np.clip(floors + (ceilings - floors) * lifts, 1e-3, 1 - 1e-3))

    @property
    def rising(self) -> bool:
        """Whether larger values are harder."""
        return self.values[-1] > self.values[0]

    @cached_property
    def _offset(self) -> float | None:
        """What is added before taking the logarithm; None where values are negative."""
        lowest = min(self.values)
        if lowest < 0:
            return None
        return 0.0 if lowest > 0 else min(value for value in self.values if value > 0)

    @property
    def _unit(self) -> float:
        """The step on a linear axis that counts as much as a factor of e on a logarithmic one."""
        return (max(self.values) - min(self.values)) / 2

    @cached_property
    def difficulty(self) -> Floats:
        """The levels on the axis of the curve, which rises with difficulty."""
        return np.array([self.difficulty_of(value) for value in self.values])

    def difficulty_of(self, value: float) -> float:
        """The position of a value on that axis."""
        place = value / self._unit if self._offset is None else math.log(value + self._offset)
        return place if self.rising else -place

    def value_at(self, difficulty: float) -> float:
        """The value at a position on that axis."""
        place = difficulty if self.rising else -difficulty
        value = place * self._unit if self._offset is None else math.exp(place) - self._offset
        nearest = min(self.values, key=lambda level: abs(level - value))
        return nearest if abs(nearest - value) <= 1e-9 * abs(self._unit) else value


class Grid(NamedTuple):
    """Every curve, sorted by threshold."""

    edges: Floats  # of the cells of the axis of difficulty
    starts: NDArray[np.intp]  # the first curve of every cell
    middles: Floats  # where the fall is halfway
    slopes: Floats
    tops: Floats  # 1 minus the lapse rate
    asymptotes: Floats
    chances: Floats  # of a right answer; a row for each level
    log_right: Floats
    log_wrong: Floats

    def lifts(self, places: Floats, which: NDArray[np.intp]) -> Floats:
        """The lifts of some curves; a row for each position."""
        steps = self.slopes[which] * (places[:, None] - self.middles[which])
        falls = 1 / (1 + np.exp(np.clip(steps, -50, 50)))
        low = self.asymptotes[which]
        return np.asarray(low + (self.tops[which] - low) * falls)


@lru_cache(maxsize=16)  # a few megabytes each
def make_grid(levels: Levels, target: float) -> Grid:
    """The curves with a threshold within the levels or a little beyond."""
    require(0 < target < 1, f"target must lie between 0 and 1, got {target}")
    places = levels.difficulty
    edges = np.linspace(places[0] - MARGIN, places[-1] + MARGIN, CELLS + 1)
    axes = (range(CELLS), SLOPES, 1 - PARTS * (1 - target), PARTS * target)
    grid = [axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")]
    cells, slopes, tops, asymptotes = (axis[grid[3] < grid[2] - 0.05] for axis in grid)
    # A curve that stays below the target has its threshold before all levels; above, after them.
    below, above = tops <= target, asymptotes >= target
    share = np.where(below | above, 0.5, (target - asymptotes) / (tops - asymptotes))
    middles = (edges[cells] + edges[cells + 1]) / 2 - np.log(1 / share - 1) / slopes
    cells = np.where(below, 0, np.where(above, CELLS - 1, cells))
    order = np.argsort(cells, kind="stable")
    columns = (column[order] for column in (middles, slopes, tops, asymptotes))
    starts = np.searchsorted(cells[order], range(CELLS))
    curves = Grid(edges, starts, *columns, *np.zeros((3, 0)))
    chances = levels.chances(curves.lifts(places, np.arange(len(order))))
    return curves._replace(chances=chances, log_right=np.log(chances), log_wrong=np.log1p(-chances))


class Fit:
    """The curves that explain a solver's scores, and its threshold."""

    def __init__(self, levels: Levels, target: float = 0.5) -> None:
        self.levels, self.target = levels, target
        self._grid = make_grid(levels, target)
        self._goals = levels.chances(np.array([target]))[:, 0]  # scores at the target
        self.counts, self.totals = np.zeros((2, len(levels.values)))

    def add(self, level: int, scores: Sequence[float]) -> None:
        """Add scores at a level."""
        self.counts[level] += len(scores)
        self.totals[level] += math.fsum(scores)
        for name in ("_means", "_likelihoods", "_best", "_median", "misfits"):
            self.__dict__.pop(name, None)

    @cached_property
    def _means(self) -> Floats:
        """The mean score at every level, within floor and ceiling; the target where there is none.

        A score below the floor says no more about difficulty than the floor.
        """
        means = np.divide(self.totals, self.counts, out=self._goals.copy(), where=self.counts > 0)
        means = np.clip(means, self.levels.floors, self.levels.ceilings)
        return np.asarray(np.clip(means, 1e-3, 1 - 1e-3))

    @property
    def _weights(self) -> Floats:
        """What the items of a level weigh against a curve, which is only roughly right there."""
        span = np.subtract(self.levels.ceilings, self.levels.floors)
        return np.asarray(self.counts / (1 + self.counts * (2 * DEVIATION * span) ** 2))

    @cached_property
    def _likelihoods(self) -> Floats:
        """The log likelihood of every curve."""
        right, grid = self._means * self._weights, self._grid
        return np.asarray(right @ grid.log_right + (self._weights - right) @ grid.log_wrong)

    @cached_property
    def _best(self) -> int:
        return int(self._likelihoods.argmax())

    @cached_property
    def misfits(self) -> bool:
        """Whether no curve fits: levels of their own explain the scores far better than any.

        Twice the difference in log likelihood has about a chi-squared distribution, and exceeds
        the limit once in a thousand times if a curve holds.
        """
        means = self._means
        entropy = means * np.log(means) + (1 - means) * np.log1p(-means)
        excess = self._weights @ entropy - self._likelihoods[self._best]
        return bool(excess > len(means) + 3)

    def _evidence(self, one: Floats, other: Floats) -> Floats:
        """The log likelihood ratio of two expected scores at every level, from its own scores."""
        right = self._means * self.counts
        odds = right * np.log(one / other)
        return np.asarray(odds + (self.counts - right) * np.log((1 - one) / (1 - other)))

    @property
    def _no_dip(self) -> NDArray[np.bool_]:
        """Whether the scores of each level favour the curve above the target over a dip."""
        curve = self._grid.lifts(self.levels.difficulty, np.array([self._best]))
        dip = np.minimum(self.target, np.maximum(curve - DIP, 0))
        odds = self._evidence(*(self.levels.chances(lift)[:, 0] for lift in (curve, dip)))
        return np.asarray((curve[:, 0] > self.target) & (odds > math.log(ODDS)))

    def _curve_ends(self) -> tuple[float, float]:
        """The interval of the curves on the axis of difficulty."""
        best = np.maximum.reduceat(self._likelihoods, self._grid.starts)
        near = np.flatnonzero(best > best.max() - DROP)
        return float(self._grid.edges[near[0]]), float(self._grid.edges[near[-1] + 1])

    def _level_ends(self) -> tuple[float, float]:
        """From the last of the first levels that are all above the target to one below it."""
        clear = self._evidence(self._means, self._goals) > math.log(ODDS)
        above, below = clear & (self._means > self._goals), clear & (self._means < self._goals)
        marks = np.array([-math.inf, *self.levels.difficulty, math.inf])
        return float(marks[_first(~above)]), float(marks[_first(below) + 1])

    def _ends(self) -> tuple[float, float]:
        """The interval on the axis of difficulty, before its ends become levels."""
        if self.misfits:
            return self._level_ends()
        low, high = self._curve_ends()
        marks = np.array([-math.inf, *self.levels.difficulty, math.inf])
        unclear = _first(~self._no_dip)
        return (low if low < marks[unclear + 1] else float(marks[unclear])), high

    def threshold(self) -> Estimate:
        """Where lift first falls to the target, with its 95% interval, whose ends are levels.

        An end that lies beyond the levels is None. So is a threshold beyond them, on the side
        whose end is None, and one of no scores.
        """
        if not self.counts.any():
            return Estimate(None, None, None, 0)
        marks, values = self.levels.difficulty, self.levels.values
        low, high = self._ends()
        first = int(np.searchsorted(marks, low + 1e-9, side="right")) - 1
        last = int(np.searchsorted(marks, high - 1e-9))
        # Both ends move outward to a level: its value, and its place on the axis of difficulty.
        easy, low = (None, -math.inf) if first < 0 else (values[first], marks[first])
        hard, high = (None, math.inf) if last == len(marks) else (values[last], marks[last])
        place = min(max(self._crossing() if self.misfits else self._median, low), high)
        value = self.levels.value_at(place) if marks[0] <= place <= marks[-1] else None
        ends = (easy, hard) if self.levels.rising else (hard, easy)
        return Estimate(value, *ends, int(self.counts.sum()))

    @cached_property
    def _median(self) -> float:
        """The middle threshold of all curves, weighed by likelihood."""
        likelihoods = np.exp(self._likelihoods - self._likelihoods[self._best])
        sums = np.append(0, np.cumsum(np.add.reduceat(likelihoods, self._grid.starts)))
        return float(np.interp(0.5, sums / sums[-1], self._grid.edges))

    def _crossing(self) -> float:
        """Where straight lines between the levels first fall to the target."""
        marks, heights = self.levels.difficulty, self._means - self._goals
        below = _first(heights <= 0)
        if below in (0, len(marks)):
            return math.inf if below else -math.inf
        return float(np.interp(0, heights[[below, below - 1]], marks[[below, below - 1]]))

    def beyond(self, found: Estimate) -> int | None:
        """The first or last level (0 or -1) if the whole interval lies beyond it, else None."""
        hard, easy = (found.low, found.high) if self.levels.rising else (found.high, found.low)
        if easy is None and hard == self.levels.values[-1]:
            return -1
        return 0 if hard is None and easy == self.levels.values[0] else None

    def settled(self, width: float) -> bool:
        """Whether the interval is narrow enough, or as narrow as these values allow."""
        found, values = self.threshold(), sorted(self.levels.values)
        end = self.beyond(found)
        if end is not None:
            return bool(self.counts[end] >= MIN_AT_END)
        if found.value is None or found.low is None or found.high is None:
            return False
        scale = abs(found.value) if values[0] >= 0 else values[-1] - values[0]
        narrow = (found.high - found.low) / 2 <= width * scale and not self.misfits
        return narrow or (found.low, found.high) in pairwise(values)

    def lifts(self) -> list[Estimate]:
        """The measured lift at every level with its interval."""
        limits = zip(self.levels.floors, self.levels.ceilings, strict=True)
        scores = map(proportion, self.totals.tolist(), self.counts.astype(int).tolist())
        return [lift_over_floor(score, *pair) for score, pair in zip(scores, limits, strict=True)]

    def band(self, values: Sequence[float]) -> list[Estimate]:
        """The lift of the best curve at some values of the field, between those near it."""
        near = np.flatnonzero(self._likelihoods > self._likelihoods[self._best] - DROP)
        places = np.array([self.levels.difficulty_of(value) for value in values])
        best = self._grid.lifts(places, np.array([self._best]))[:, 0]
        lifts = self._grid.lifts(places, near)
        rows = np.stack([best, lifts.min(axis=1), lifts.max(axis=1)], axis=1).tolist()
        return [Estimate(value, low, high, 0) for value, low, high in rows]

    def next_batch(self, size: int) -> list[int]:
        """The number of items at every level of a batch.

        Up to half of it, rounded up, goes to levels before the interval where a dip is not ruled
        out yet, and the rest to where curves with a lower and with a higher threshold differ most.
        If no curve fits, all go to the levels that are left open by single levels.
        """
        counts, marks = np.zeros(len(self.counts), dtype=int), self.levels.difficulty
        low, high = self._level_ends() if self.misfits else self._curve_ends()
        if self.misfits:
            wanted = (marks > low) & (marks < high)
            wanted |= ~wanted.any()
        else:
            wanted = (marks < low) & ~self._no_dip
        for _ in range(size if self.misfits else wanted.any() * math.ceil(size / 2)):
            counts[np.argmin(np.where(wanted, self.counts + counts, math.inf))] += 1
        gains = self._gains()
        shares = gains / gains.sum() * (size - counts.sum())
        counts += np.floor(shares).astype(int)
        counts[np.argsort(-(shares % 1), kind="stable")[: size - counts.sum()]] += 1
        return [int(count) for count in counts]

    def _gains(self) -> Floats:
        """How much the curves with thresholds below and above the median differ at every level."""
        grid = self._grid
        middle = int(np.searchsorted(self._grid.edges, self._median, side="right"))
        split = int(grid.starts[min(max(middle, 1), CELLS - 1)])
        near = self._likelihoods - self._likelihoods[self._best]
        chances = []
        for part in (slice(None, split), slice(split, None)):
            weights = np.exp(near[part] - near[part].max())
            chances.append(grid.chances[:, part] @ weights / weights.sum())
        mean = (chances[0] + chances[1]) / 2
        return np.asarray((chances[0] - chances[1]) ** 2 / (mean * (1 - mean)) + 1e-9)


def _first(which: NDArray[np.bool_]) -> int:
    """The index of the first that is true; the length if none is."""
    return int(which.argmax()) if which.any() else len(which)


def share_grows(some: Sequence[float], counts: Floats) -> bool:
    """Whether a share rises along the levels: the trend test of Cochran and Armitage, z above 3."""
    total, part = counts.sum(), float(np.sum(some))
    if part < MIN_UNSCORED:
        return False
    steps = np.arange(len(counts))
    steps = steps - counts @ steps / total
    spread = part / total * (1 - part / total) * float(counts @ steps**2)
    return bool(some @ steps > 3 * math.sqrt(spread) + 1e-9)  # tolerates rounding
