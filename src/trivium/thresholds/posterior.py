"""The posterior of a solver's curve of lift over difficulty, and of its threshold.

The floor of every level is known, so it is part of lift and is not estimated. Lift falls along a
log-logistic curve from 1 minus the lapse rate (failures that do not depend on difficulty). Lapses
may begin at a later level, which is a plateau before the fall. A solver may recover: then levels
after the fall are independent, and the threshold is where lift first falls to the target. The
posterior is computed on a grid.
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
from trivium.core.statistics import UNDEFINED, Estimate, beta_quantile, lift_over_floor

Floats = NDArray[np.float64]
THRESHOLDS = 101  # on the grid
MARGIN = math.log(1.5)  # of the grid beyond the levels
SLOPES = np.geomspace(1.0, 60.0, 10)
LAPSES = np.array([0.0, 0.03, 0.08, 0.15, 0.22, 0.3, 0.4, 0.55])
USUAL_LAPSE = 0.2  # the scale of their exponential prior
PLATEAU_LAPSES = np.array([0.1, 0.2, 0.3, 0.4])
PLATEAU_SLOPES = np.geomspace(2.0, 60.0, 5)
ONSET = 15.0  # the slope with which lapses begin
PLATEAU = 0.3  # the prior probability of a plateau
RECOVERY = 0.1  # the prior probability of independent levels after the fall
MISFIT = 20.0  # odds at which falling curves are rejected
NEGLIGIBLE = 20.0  # log posterior below the best curve at which a curve is left out
MIN_COUNT = 20  # items at every level before a threshold without a curve is accepted
MIN_AT_END = 10  # items at the easiest or hardest level before a threshold beyond it is accepted
DRAWS = 4000  # of an interpolated threshold
TAILS = ((1 - 0.95) / 2, (1 + 0.95) / 2)  # of the intervals of lift


@dataclass(frozen=True)
class Levels:
    """The values of a spec field, from easy to hard, with the floor at each of them."""

    values: tuple[float, ...]
    floors: tuple[float, ...]

    def __post_init__(self) -> None:
        values = list(self.values)
        require(len(values) >= 2, f"a threshold needs at least two values, got {len(values)}")
        ordered = values in (sorted(set(values)), sorted(set(values), reverse=True))
        listed = ", ".join(f"{value:g}" for value in values)
        require(ordered, f"values must differ and go from easy to hard, got {listed}")
        for value, floor in zip(self.values, self.floors, strict=True):
            require(floor < 1, f"at {value:g} the floor is perfect: nothing can be measured there")

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
        """The step on a linear axis that counts as much as a factor of e."""
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


@dataclass(frozen=True)
class Curves:
    """Every curve of the grid, sorted by threshold."""

    thresholds: Floats  # on the axis of difficulty
    middles: Floats  # where the fall is halfway
    slopes: Floats
    lapses: Floats
    starts: Floats  # where lapses begin
    recover: NDArray[np.bool_]  # whether levels after the fall are independent
    prior: Floats  # log probabilities

    def lifts(self, places: Floats, which: NDArray[np.intp]) -> Floats:
        """The lift of some of the curves; a row for each position."""
        column = places[:, None]
        lapsing = self.lapses[which] * (1 - _fall(column - self.starts[which], ONSET))
        return (1 - lapsing) * _fall(column - self.middles[which], self.slopes[which])


class Grid(NamedTuple):
    """All curves with their log likelihoods of answers; a row for each level."""

    curves: Curves
    log_right: Floats  # log probability of a right answer
    log_wrong: Floats
    free: Floats  # 1 where a level is independent of the curve, and both logarithms are 0


@lru_cache(maxsize=16)  # a few megabytes each
def make_grid(levels: Levels, target: float) -> Grid:
    """The grid for these levels."""
    require(0 < target < 1, f"target must lie between 0 and 1, got {target}")
    places = levels.difficulty
    lowest = places[0] - MARGIN
    thresholds = np.linspace(lowest, places[-1] + MARGIN, THRESHOLDS)
    # Plateaus begin at a level or between two, after the easiest and before the last two.
    starts = np.append(places[1:-2], (places[:-3] + places[1:-2]) / 2)
    above = np.array([lapse for lapse in PLATEAU_LAPSES if 1 - lapse > target])
    axes = [
        (1 - PLATEAU - RECOVERY, SLOPES, LAPSES, -math.inf, False),
        (RECOVERY, SLOPES, LAPSES, -math.inf, True),
    ]
    if above.size:
        axes += [(PLATEAU / len(starts), PLATEAU_SLOPES, above, start, False) for start in starts]
    parts = []
    for share, slopes, lapses, onset, independent in axes:
        after = thresholds[thresholds > onset + 2 / ONSET]  # a plateau comes before the threshold
        grid = np.meshgrid(after, slopes, lapses, onset, independent, indexing="ij")
        threshold, slope, lapse, start, recover = (each.ravel() for each in grid)
        prior = -0.5 * (np.log(slope / 6) / 1.2) ** 2 - lapse / USUAL_LAPSE
        # Where lapses keep lift below the target, the threshold is below all levels.
        reaches = lapse < 1 - target
        height = np.where(reaches, target / (1 - lapse), 0.5)  # of the fall, at the threshold
        middle = threshold - np.log(1 / height - 1) / slope
        threshold = np.where(reaches, threshold, lowest)
        prior += math.log(share) - _log_sum(prior)
        parts.append((threshold, middle, slope, lapse, start, recover, prior))
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    order = np.argsort(columns[0], kind="stable")
    curves = Curves(*(column[order] for column in columns))
    floors = np.array(levels.floors)[:, None]
    lifts = curves.lifts(places, np.arange(len(order)))
    chances = np.clip(floors + (1 - floors) * lifts, 1e-4, 1 - 1e-4)
    # The first level after the threshold shows the fall and is never free.
    fallen = np.searchsorted(places + 1e-9, curves.thresholds)  # tolerates rounding
    free = (np.arange(len(places))[:, None] > fallen) & curves.recover
    log_right, log_wrong = np.where(free, 0.0, [np.log(chances), np.log1p(-chances)])
    return Grid(curves, log_right, log_wrong, free.astype(float))


class Posterior:
    """The posterior of a solver's curve given its scores."""

    def __init__(self, levels: Levels, target: float = 0.5) -> None:
        self.levels, self.target = levels, target
        self._grid = make_grid(levels, target)
        self.counts, self.totals, self._squares = np.zeros((3, len(levels.values)))

    def add(self, level: int, scores: Sequence[float]) -> None:
        """Add scores at a level."""
        self.counts[level] += len(scores)
        self.totals[level] += math.fsum(scores)
        self._squares[level] += math.fsum(score * score for score in scores)
        self.__dict__.pop("_fit", None)

    @property
    def dispersion(self) -> float:
        """The variance of scores relative to that of binary ones with the same means."""
        seen = self.counts > 1
        means = self.totals[seen] / self.counts[seen]
        within = float((self._squares[seen] - self.counts[seen] * means**2).sum())
        binary = float((self.counts[seen] * means * (1 - means)).sum())
        if np.array_equal(self.totals, self._squares) or binary < 1e-9:
            return 1.0
        return min(1.0, max(0.02, within / binary))

    @property
    def _evidence(self) -> tuple[Floats, Floats]:
        """Right and wrong answers at every level that are worth as much as the scores.

        A mean below the floor counts as the floor: it says no more about difficulty.
        """
        totals = np.maximum(self.totals, self.counts * np.array(self.levels.floors))
        return totals / self.dispersion, (self.counts - totals) / self.dispersion

    @cached_property
    def _fit(self) -> tuple[NDArray[np.intp], Floats, float]:
        """The curves that matter, their weights, and the log odds against curves that only fall.

        The alternatives are independent levels, all of them or those after the fall, with uniform
        priors. The odds are a martingale while a falling curve holds, so that checking after every
        batch does little harm; docs/thresholds-measured.md has the rate of false alarms.
        """
        right, wrong = self._evidence
        grid = self._grid
        free = np.array(list(map(_log_beta, 1 + right, 1 + wrong)))
        joint = grid.curves.prior + right @ grid.log_right + wrong @ grid.log_wrong
        joint += free @ grid.free
        kept = np.flatnonzero(joint > joint.max() - NEGLIGIBLE)
        weights = np.exp(joint[kept] - joint.max())
        recover, prior = grid.curves.recover, grid.curves.prior
        fall, recovery = (
            _log_sum(joint[own]) - _log_sum(prior[own]) for own in (~recover, recover)
        )
        against = _log_sum(np.array([recovery, free.sum()])) - math.log(2)
        return kept, weights / weights.sum(), against - fall

    @property
    def misfits(self) -> bool:
        """Whether no falling curve fits the scores."""
        return self._fit[2] > math.log(MISFIT)

    def threshold(self, level: float = 0.95) -> Estimate:
        """Where lift falls to the target: the median and a credible interval.

        If no curve fits, it is where straight lines between the levels first reach the target. A
        None lies beyond the levels, where nothing was measured: the value on the side on which
        the limit is None too.
        """
        shares = [0.5, (1 - level) / 2, (1 + level) / 2]
        if self.misfits:
            middle, low, high = np.quantile(self._crossings(), shares)
        else:  # each threshold of the grid is the middle of a cell
            kept, weights, _ = self._fit
            places = self._grid.curves.thresholds
            half = (places[-1] - places[0]) / (THRESHOLDS - 1) / 2
            ends = (places[0] - half, places[-1] + half)
            mass, edges = np.histogram(places[kept], THRESHOLDS, ends, weights=weights)
            middle, low, high = np.interp(shares, np.append(0, np.cumsum(mass)), edges)
        # Nothing was measured between two levels, so an interval inside a gap is the whole gap.
        marks = self.levels.difficulty
        above = int(np.searchsorted(marks, low, side="right"))
        if 0 < above < len(marks) and high < marks[above]:
            low, high = marks[above - 1], marks[above]
        value = self.levels.value_at(float(middle)) if marks[0] <= middle <= marks[-1] else None
        first = None if low < marks[0] else self.levels.value_at(float(min(low, marks[-1])))
        last = None if high > marks[-1] else self.levels.value_at(float(max(high, marks[0])))
        low, high = (first, last) if self.levels.rising else (last, first)
        return Estimate(value, low, high, int(self.counts.sum()))

    def beyond(self, found: Estimate) -> int | None:
        """The first or last level (0 or -1) if the whole interval lies beyond it, else None."""
        hard, easy = (found.low, found.high) if self.levels.rising else (found.high, found.low)
        if easy is None and hard == self.levels.values[-1]:
            return -1
        return 0 if hard is None and easy == self.levels.values[0] else None

    def settled(self, width: float) -> bool:
        """Whether the interval is narrow enough, or as narrow as these values allow."""
        if self.misfits and self.counts.min() < MIN_COUNT:
            return False
        found, values = self.threshold(), sorted(self.levels.values)
        end = self.beyond(found)
        if end is not None:
            return bool(self.counts[end] >= MIN_AT_END)
        if found.value is None or found.low is None or found.high is None:
            return False
        scale = abs(found.value) if values[0] >= 0 else values[-1] - values[0]
        a_gap = (found.low, found.high) in pairwise(values)
        return a_gap or (found.high - found.low) / 2 <= width * scale

    def _crossings(self) -> Floats:
        """Draws of the position where lines between the levels first fall to the target."""
        right, wrong = self._evidence
        chances = np.random.default_rng(0).beta(right + 0.5, wrong + 0.5, (DRAWS, len(right)))
        floors = np.array(self.levels.floors)
        # Lift 1 before the easiest level and 0 after the hardest, so that there is a crossing.
        lifts = np.pad((chances - floors) / (1 - floors), ((0, 0), (1, 1)))
        lifts[:, 0] = 1.0
        first, *_, last = self.levels.difficulty
        places = np.array([first - MARGIN, *self.levels.difficulty, last + MARGIN])
        draws, below = np.arange(DRAWS), (lifts < self.target).argmax(axis=1)
        before, after = lifts[draws, below - 1], lifts[draws, below]
        share = (before - self.target) / (before - after)
        return np.asarray(places[below - 1] + share * (places[below] - places[below - 1]))

    def lifts(self) -> list[Estimate]:
        """The measured lift at every level, with Jeffreys' interval."""
        found = []
        for count, total, floor in zip(self.counts, self.totals, self.levels.floors, strict=True):
            right, wrong = total / self.dispersion + 0.5, (count - total) / self.dispersion + 0.5
            low, high = (beta_quantile(share, right, wrong) for share in TAILS)
            score = Estimate(total / count, low, high, int(count)) if count else UNDEFINED
            found.append(lift_over_floor(score, floor))
        return found

    def band(self, values: Sequence[float]) -> list[Estimate]:
        """The lift of the curves at some values of the field, with its interval."""
        kept, weights, _ = self._fit
        places = np.array([self.levels.difficulty_of(value) for value in values])
        found = []
        for lifts in self._grid.curves.lifts(places, kept):
            low, high = np.quantile(lifts, TAILS, weights=weights, method="inverted_cdf")
            found.append(Estimate(float(lifts @ weights), float(low), float(high), 0))
        return found

    def next_batch(self, size: int) -> list[int]:
        """The number of items at every level of a batch: most where they are most informative.

        If no curve fits, the levels with the fewest items come first.
        """
        counts = np.zeros(len(self.counts), dtype=int)
        if self.misfits:
            for _ in range(size):
                counts[np.argmin(self.counts + counts)] += 1
        else:
            # Squared, to favour the best levels; the others must reveal a misfit.
            gains = self._gains() ** 2
            shares = gains / gains.sum() * size
            counts += np.floor(shares).astype(int)
            counts[np.argsort(counts - shares, kind="stable")[: size - counts.sum()]] += 1
        return [int(count) for count in counts]

    def _gains(self) -> Floats:
        """The information about the threshold from one more item at every level."""
        kept, weights, _ = self._fit
        right, wrong = self._evidence
        measured = ((1 + right) / (2 + right + wrong))[:, None]
        free = self._grid.free[:, kept] > 0
        chances = np.where(free, measured, np.exp(self._grid.log_right[:, kept]))
        places = self._grid.curves.thresholds[kept]
        groups = np.flatnonzero(np.diff(places, prepend=-math.inf))
        mass = np.add.reduceat(weights, groups)
        within = np.add.reduceat(chances * weights, groups, axis=1) / mass
        return np.maximum(_entropy(chances @ weights) - _entropy(within) @ mass, 1e-12)


def _fall(distance: Floats, slope: Floats | float) -> Floats:
    return np.asarray(1 / (1 + np.exp(np.clip(slope * distance, -50, 50))))


def _log_sum(logs: Floats) -> float:
    highest = float(logs.max())
    return highest + math.log(float(np.exp(logs - highest).sum()))


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def _entropy(chance: Floats) -> Floats:
    clipped = np.clip(chance, 1e-12, 1 - 1e-12)
    return np.asarray(-clipped * np.log(clipped) - (1 - clipped) * np.log1p(-clipped))
