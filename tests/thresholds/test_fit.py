"""Fits of thresholds: laws, limits, and how often their intervals hold."""

from __future__ import annotations

import math
import runpy
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.core.errors import UserError
from trivium.core.statistics import Estimate
from trivium.thresholds.fit import Fit, Levels

CALIBRATION = runpy.run_path(str(Path(__file__).parents[2] / "perf" / "threshold_calibration.py"))
HOPS = (2.0, 3.0, 4.0, 6.0, 8.0)
LEVELS = Levels(HOPS, (0.125,) * 5)
# Right and wrong answers at every level.
answers = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=5, max_size=5)


def fit(found: list[tuple[int, int]], levels: Levels = LEVELS) -> Fit:
    made = Fit(levels)
    for level, (right, wrong) in enumerate(found):
        made.add(level, [1.0] * right + [0.0] * wrong)
    return made


def place(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value


@settings(max_examples=30)
@given(answers, st.integers(1, 10))
def test_better_answers_everywhere_never_put_the_threshold_below_that_of_worse_ones(
    found: list[tuple[int, int]], more: int
) -> None:
    falling = sorted(found, key=lambda each: (each[1] + 1) / (sum(each) + 2))
    better = fit([(right + more, wrong) for right, wrong in falling])
    worse = fit([(right, wrong + more) for right, wrong in falling])
    if not (better.misfits or worse.misfits):
        assert place(better.threshold().high, 99) >= place(worse.threshold().low, 0)


@settings(max_examples=30)
@given(answers)
def test_ends_are_values_that_were_tried(found: list[tuple[int, int]]) -> None:
    interval = fit(found).threshold()
    assert {interval.low, interval.high} <= {*HOPS, None}
    assert place(interval.low, 0) < place(interval.high, 99)


@settings(max_examples=20)
@given(answers, st.floats(0.01, 1000))
def test_the_unit_of_the_field_does_not_matter(found: list[tuple[int, int]], unit: float) -> None:
    here = fit(found).threshold()
    there = fit(found, Levels(tuple(unit * hops for hops in HOPS), (0.125,) * 5)).threshold()
    for one, other in ((here.value, there.value), (here.low, there.low), (here.high, there.high)):
        assert (one is None) == (other is None)
        assert one is None or other == pytest.approx(unit * one)


@settings(max_examples=20)
@given(answers)
def test_a_field_that_is_harder_when_smaller_is_the_mirror_image(
    found: list[tuple[int, int]],
) -> None:
    here = fit(found).threshold()
    there = fit(found, Levels(tuple(24 / hops for hops in HOPS), (0.125,) * 5)).threshold()
    for one, other in ((here.value, there.value), (here.low, there.high), (here.high, there.low)):
        assert (one is None) == (other is None)
        assert one is None or other is None or other == pytest.approx(24 / one)


@settings(max_examples=20)
@given(answers, st.randoms(use_true_random=False))
def test_the_order_of_scores_does_not_matter(found: list[tuple[int, int]], random: object) -> None:
    scores = [(n, s) for n, (r, w) in enumerate(found) for s in [1.0] * r + [0.0] * w]
    random.shuffle(scores)  # type: ignore[attr-defined]
    one_by_one = Fit(LEVELS)
    for level, score in scores:
        one_by_one.add(level, [score])
    assert one_by_one.threshold() == fit(found).threshold()
    assert one_by_one.next_batch(25) == fit(found).next_batch(25)


@settings(max_examples=30)
@given(answers, st.integers(1, 60))
def test_intervals_hold_the_median_and_batches_are_whole(
    found: list[tuple[int, int]], size: int
) -> None:
    made = fit(found)
    interval = made.threshold()
    if interval.value is not None:
        assert (interval.low or 0) <= interval.value <= (interval.high or math.inf)
    batch = made.next_batch(size)
    assert sum(batch) == size
    assert min(batch) >= 0


def test_limits_beyond_the_values_are_open() -> None:
    perfect, lost = fit([(30, 0)] * 5), fit([(4, 26)] * 5)
    assert perfect.threshold() == Estimate(None, 8.0, None, 150)
    assert lost.threshold() == Estimate(None, None, 2.0, 150)
    assert perfect.settled(0.1)
    assert lost.settled(0.1)
    assert not fit([(0, 0)] * 5).settled(0.1)


def test_between_two_values_the_interval_is_the_gap() -> None:
    cliff = fit([(40, 0), (40, 0), (40, 0), (5, 35), (5, 35)])
    found = cliff.threshold()
    assert (found.low, found.high) == (4, 6)
    assert cliff.settled(0.01), "no more can be learned from these values"


def test_values_may_begin_at_0_and_below() -> None:
    noise = Levels((0.0, 0.1, 0.2, 0.4), (0.1,) * 4)
    found = fit([(30, 0), (29, 1), (16, 14), (3, 27)], noise).threshold()
    assert found.value == pytest.approx(0.2, abs=0.05)
    snr = Levels((20.0, 10.0, 0.0, -10.0), (0.1,) * 4)
    found = fit([(30, 0), (29, 1), (16, 14), (3, 27)], snr).threshold()
    assert found.value == pytest.approx(0, abs=3)


def test_worse_than_the_floor_counts_as_the_floor() -> None:
    levels = Levels(HOPS, (0.7,) * 5)
    below = fit([(30, 0), (30, 0), (2, 28), (1, 29), (0, 30)], levels)
    at = fit([(30, 0), (30, 0), (21, 9), (21, 9), (21, 9)], levels)
    assert not below.misfits
    assert below.threshold() == at.threshold()


def test_a_model_that_recovers_does_not_fit_and_its_interval_is_read_from_levels() -> None:
    recovers = fit([(40, 0), (6, 34), (36, 4), (35, 5), (5, 35)])
    assert recovers.misfits
    found = recovers.threshold()
    assert (found.low, found.high) == (2, 3), "the first crossing"
    assert recovers.settled(0.01)


def test_what_does_not_fit_leaves_open_what_single_levels_leave_open() -> None:
    dips = fit([(30, 0), (6, 5), (40, 0), (38, 2), (5, 35)])
    assert dips.misfits
    found = dips.threshold()
    assert (found.low, found.high) == (2, 8), "3 may lie above the target or below it"
    assert not dips.settled(0.5)
    batch = dips.next_batch(24)
    assert batch[0] == batch[4] == 0
    assert batch[1] >= 20, "the level that is open and has fewest items"


def test_an_interval_starts_before_a_level_that_may_dip() -> None:
    seen, unseen = fit([(30, 0), (9, 0), *STEEP]), fit([(30, 0), (0, 0), *STEEP])
    assert seen.threshold().low == 4
    assert unseen.threshold().low == 2, "nothing is known about 3"
    assert not unseen.settled(0.15)
    assert unseen.next_batch(24)[1] >= 12


STEEP = [(30, 0), (15, 15), (4, 26)]


def test_ceilings_are_part_of_lift() -> None:
    """Half of what can be reached at every level is a lift below a half; all of it is 1."""
    ceilings = (0.6, 0.5, 0.4, 0.3, 0.3)
    at_ceiling = [(round(200 * ceiling), round(200 * (1 - ceiling))) for ceiling in ceilings]
    capped = Levels(HOPS, (0.125,) * 5, ceilings)
    assert fit(at_ceiling, capped).threshold() == Estimate(None, 8.0, None, 1000)
    perfect = fit(at_ceiling).threshold()
    assert perfect.high is not None
    assert perfect.high <= 4, "of a ceiling of 1 it is far less"
    lifts = [lift.value for lift in fit(at_ceiling, capped).lifts()]
    assert lifts == pytest.approx([1.0] * 5)


@pytest.mark.parametrize("target", [0.2, 0.5, 0.8])
def test_the_target_moves_the_threshold(target: float) -> None:
    made = Fit(LEVELS, target)
    for level, lift in enumerate((0.95, 0.75, 0.45, 0.1, 0.0)):
        right = round(400 * (0.125 + 0.875 * lift))
        made.add(level, [1.0] * right + [0.0] * (400 - right))
    found = made.threshold()
    low, high = {0.2: (4, 6), 0.5: (3, 4), 0.8: (2, 3)}[target]
    assert found.low is not None
    assert found.high is not None
    assert found.low <= low
    assert found.high >= high
    assert low <= (found.value or 0) <= high


@pytest.mark.parametrize("count", [2, 3])
def test_few_values_are_enough(count: int) -> None:
    levels = Levels(HOPS[:count], (0.125,) * count)
    found = fit([(30, 0), *[(4, 26)] * (count - 1)], levels).threshold()
    assert (found.low, found.high) == (2, 3)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [((2.0,), "at least two"), ((2.0, 4.0, 3.0), "easy to hard"), ((2.0, 2.0), "differ")],
)
def test_values_in_no_order_are_refused(values: tuple[float, ...], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        Levels(values, (0.1,) * len(values))


# Searches of 12 whose interval holds, or that do not fit, of each row of the table: 8 or fewer
# happen with a probability of 0.002 at 0.95, and of 0.007 at 0.93.
@pytest.mark.parametrize("name", CALIBRATION["FAMILIES"])
def test_intervals_hold_the_threshold(name: str) -> None:
    draw, levels = CALIBRATION["FAMILIES"][name]
    found = []
    for number in range(12):
        random = np.random.default_rng([5, number])
        found.append(CALIBRATION["search"](draw(random), levels, random))
    assert sum(one.held or not one.fits for one in found) > 8
    if name.startswith("logistic"):
        assert np.mean([one.items for one in found]) < 200
        assert all(one.fits for one in found)
    if name.startswith("dip at one easy level, to lift 0 "):
        assert sum(not one.fits for one in found) >= 6
