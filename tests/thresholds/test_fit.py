"""The posterior of a threshold: laws, limits, and how often its interval is right."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.core.errors import UserError
from trivium.core.statistics import Estimate
from trivium.thresholds.posterior import Levels, Posterior

HOPS = (2.0, 3.0, 4.0, 6.0, 8.0)
LEVELS = Levels(HOPS, (0.125,) * 5)
# Right and wrong answers at every level.
answers = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=5, max_size=5)


def posterior(found: list[tuple[int, int]], levels: Levels = LEVELS) -> Posterior:
    made = Posterior(levels)
    for level, (right, wrong) in enumerate(found):
        made.add(level, [1.0] * right + [0.0] * wrong)
    return made


def place(made: Posterior) -> float:
    """The logarithm of the threshold; of the nearest value where it is beyond them."""
    found = made.threshold(0.02)  # near enough to the median to say on which side it is
    return math.log(found.value or (HOPS[-1] if found.high is None else HOPS[0]))


@settings(max_examples=30)
@given(answers, st.integers(1, 10))
def test_better_answers_everywhere_never_lower_the_threshold(
    found: list[tuple[int, int]], more: int
) -> None:
    # Of scores that fall: better ones after a fall speak for a recovery, and for an earlier fall.
    falling = sorted(found, key=lambda each: (each[1] + 1) / (sum(each) + 2))
    better = posterior([(right + more, wrong) for right, wrong in falling])
    worse = posterior([(right, wrong + more) for right, wrong in falling])
    if not (better.misfits or worse.misfits):
        assert place(better) >= place(worse) - 0.05, "by more than two cells of the grid"


@settings(max_examples=20)
@given(answers, st.floats(0.01, 1000))
def test_the_unit_of_the_field_does_not_matter(found: list[tuple[int, int]], unit: float) -> None:
    here = posterior(found).threshold()
    there = posterior(found, Levels(tuple(unit * hops for hops in HOPS), (0.125,) * 5)).threshold()
    for one, other in ((here.value, there.value), (here.low, there.low), (here.high, there.high)):
        assert (one is None) == (other is None)
        assert one is None or other == pytest.approx(unit * one)


@settings(max_examples=20)
@given(answers)
def test_a_field_that_is_harder_when_smaller_is_the_mirror_image(
    found: list[tuple[int, int]],
) -> None:
    here = posterior(found).threshold()
    there = posterior(found, Levels(tuple(24 / hops for hops in HOPS), (0.125,) * 5)).threshold()
    for one, other in ((here.value, there.value), (here.low, there.high), (here.high, there.low)):
        assert (one is None) == (other is None)
        assert one is None or other is None or other == pytest.approx(24 / one)


@settings(max_examples=20)
@given(answers, st.randoms(use_true_random=False))
def test_the_order_of_scores_does_not_matter(found: list[tuple[int, int]], random: object) -> None:
    scores = [(n, s) for n, (r, w) in enumerate(found) for s in [1.0] * r + [0.0] * w]
    random.shuffle(scores)  # type: ignore[attr-defined]
    one_by_one = Posterior(LEVELS)
    for level, score in scores:
        one_by_one.add(level, [score])
    assert one_by_one.threshold() == posterior(found).threshold()
    assert one_by_one.next_batch(25) == posterior(found).next_batch(25)


@settings(max_examples=30)
@given(answers, st.integers(1, 60))
def test_intervals_hold_the_median_and_batches_are_whole(
    found: list[tuple[int, int]], size: int
) -> None:
    made = posterior(found)
    for level in (0.95, 0.5):
        interval = made.threshold(level)
        if interval.value is not None:
            assert (interval.low or 0) <= interval.value <= (interval.high or math.inf)
    batch = made.next_batch(size)
    assert sum(batch) == size
    assert min(batch) >= 0


def test_limits_beyond_the_values_are_open() -> None:
    perfect, lost = posterior([(30, 0)] * 5), posterior([(4, 26)] * 5)
    assert perfect.threshold() == Estimate(None, 8.0, None, 150)
    assert lost.threshold() == Estimate(None, None, 2.0, 150)
    assert perfect.settled(0.1)
    assert lost.settled(0.1)
    assert not posterior([(0, 0)] * 5).settled(0.1)


def test_between_two_values_the_interval_is_the_gap() -> None:
    cliff = posterior([(40, 0), (40, 0), (40, 0), (5, 35), (5, 35)])
    found = cliff.threshold()
    assert (found.low, found.high) == (4, 6)
    assert cliff.settled(0.01), "no more can be learned from these values"


def test_values_may_begin_at_0_and_below() -> None:
    noise = Levels((0.0, 0.1, 0.2, 0.4), (0.1,) * 4)
    found = posterior([(30, 0), (29, 1), (16, 14), (3, 27)], noise).threshold()
    assert found.value == pytest.approx(0.2, abs=0.05)
    snr = Levels((20.0, 10.0, 0.0, -10.0), (0.1,) * 4)
    found = posterior([(30, 0), (29, 1), (16, 14), (3, 27)], snr).threshold()
    assert found.value == pytest.approx(0, abs=3)


def test_scores_between_0_and_1_say_more_than_right_and_wrong() -> None:
    graded, binary = Posterior(LEVELS), Posterior(LEVELS)
    for level, mean in enumerate((0.95, 0.9, 0.8, 0.55, 0.3)):
        graded.add(level, [mean - 0.05, mean + 0.05] * 10)
        right = round(20 * mean)
        binary.add(level, [1.0] * right + [0.0] * (20 - right))
    assert binary.dispersion == 1
    assert graded.dispersion < 0.1
    first, second = graded.threshold(), binary.threshold()
    assert (first.high or 0) - (first.low or 0) < (second.high or 0) - (second.low or 0)


def test_worse_than_the_floor_counts_as_the_floor() -> None:
    levels = Levels(HOPS, (0.7,) * 5)
    below = posterior([(30, 0), (30, 0), (2, 28), (1, 29), (0, 30)], levels)
    at = posterior([(30, 0), (30, 0), (21, 9), (21, 9), (21, 9)], levels)
    assert not below.misfits
    assert below.threshold() == at.threshold()


def test_a_model_that_recovers_is_a_misfit_and_gets_a_grid() -> None:
    recovers = posterior([(40, 0), (6, 34), (36, 4), (35, 5), (5, 35)])
    assert recovers.misfits
    found = recovers.threshold()
    assert found.low is not None
    assert found.high is not None
    assert 2 <= found.low <= found.high <= 3, "the first crossing"
    assert recovers.next_batch(25) == [5] * 5


def test_better_scores_after_the_fall_do_not_hide_it() -> None:
    """Lift was 0.72 at 4, 0.4 at 5, 0.18 at 6 and 0.54 at 8: it first falls to a half at 4.67."""
    levels = Levels((3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 16.0), (0.125,) * 8)
    found = [(3, 0), (5, 1), (9, 0), (5, 9), (58, 36), (3, 19), (4, 17), (0, 6)]
    made = posterior(found, levels)
    assert not made.misfits, "it may be chance yet"
    assert (made.threshold().low or 0) < 4.67
    assert not made.settled(0.15)
    assert made.next_batch(25)[3] > 12, "most items go to where it may have fallen"


@pytest.mark.parametrize("count", [2, 3])
def test_few_values_are_enough(count: int) -> None:
    levels = Levels(HOPS[:count], (0.125,) * count)
    found = posterior([(30, 0), *[(4, 26)] * (count - 1)], levels).threshold()
    assert (found.low, found.high) == (2, 3)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [((2.0,), "at least two"), ((2.0, 4.0, 3.0), "easy to hard"), ((2.0, 2.0), "differ")],
)
def test_values_in_no_order_are_refused(values: tuple[float, ...], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        Levels(values, (0.1,) * len(values))


def search(lift: Callable[[float], float], generator: np.random.Generator) -> Posterior:
    """The search for a threshold with at most 300 items."""
    made = Posterior(LEVELS)
    while made.counts.sum() < 300 and not made.settled(0.15):
        for level, count in enumerate(made.next_batch(25)):
            chance = 0.125 + 0.875 * lift(HOPS[level])
            made.add(level, list((generator.random(count) < chance).astype(float)))
    return made


def curve(generator: np.random.Generator) -> tuple[Callable[[float], float], float]:
    """The lift of a solver, and where it is a half."""
    threshold, slope = np.exp(generator.normal((1.4, 1.6), (0.4, 0.6)))
    lapse = generator.choice([0, 0, 0.05, 0.1])
    # Lapses lower the place where lift is 0.5.
    truth = threshold * (1 / (0.5 / (1 - lapse)) - 1) ** (1 / slope)
    return lambda hops: (1 - lapse) / (1 + (hops / threshold) ** slope), truth


def recovery(generator: np.random.Generator) -> tuple[Callable[[float], float], float]:
    """The lift of a solver that recovers at 6, and where it first falls to a half."""
    truth, height = generator.uniform((2.2, 0.3), (4.0, 0.9))
    return lambda hops: height if hops == 6 else 1 / (1 + (hops / truth) ** 6), truth


@pytest.mark.parametrize("kind", [curve, recovery])
def test_the_interval_holds_the_threshold(
    kind: Callable[[np.random.Generator], tuple[Callable[[float], float], float]],
) -> None:
    """Of 60 intervals of 95%, 50 or fewer hold the truth with a probability of 0.001."""
    generator = np.random.default_rng(11)
    held = misfits = 0
    for _ in range(60):
        lift, truth = kind(generator)
        made = search(lift, generator)
        found = made.threshold()
        misfits += made.misfits
        held += (found.low or 0) <= truth <= (found.high or math.inf)
    assert held > 50
    assert (misfits > 6) if kind is recovery else (misfits <= 4), "few, or many"
