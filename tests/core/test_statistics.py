"""Intervals against known values and by simulation."""

from __future__ import annotations

import math
import runpy
from collections.abc import Callable
from pathlib import Path
from random import Random
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from trivium.core.errors import UserError
from trivium.core.statistics import (
    UNDEFINED,
    Estimate,
    beta_quantile,
    difference_variance,
    items_to_compare,
    items_to_see,
    lift_over_floor,
    mean_interval,
    paired_difference,
    proportion,
    several,
    two_sided_t,
)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    # Worked examples of the mid-P interval (Newcombe 1998, table I, method 6).
    [(81, 263, 0.2544, 0.3658), (15, 148, 0.0601, 0.1581), (0, 20, 0.0, 0.1391),
     (1, 29, 0.0017, 0.1585)],
)  # fmt: skip
def test_proportions_have_published_intervals(
    successes: int, n: int, low: float, high: float
) -> None:
    found = proportion(successes, n)
    assert found.low == pytest.approx(low, abs=5e-5)
    assert found.high == pytest.approx(high, abs=5e-5)


@given(st.integers(0, 500), st.integers(0, 500))
def test_a_proportion_lies_inside_its_interval(first: int, second: int) -> None:
    n, successes = max(first, second), min(first, second)
    found = proportion(successes, n)
    if n == 0:
        assert found == UNDEFINED
        return
    assert found.low is not None
    assert found.value is not None
    assert found.high is not None
    assert 0 <= found.low <= found.value <= found.high <= 1
    mirrored = proportion(n - successes, n)
    assert mirrored.low == pytest.approx(1 - found.high, abs=1e-9)


def test_more_successes_than_trials_are_refused() -> None:
    with pytest.raises(UserError, match=r"0\.\.3"):
        proportion(4, 3)


@pytest.mark.parametrize(
    ("level", "freedom", "expected"),
    [(0.95, 1, 12.7062), (0.95, 7, 2.3646), (0.95, 19, 2.0930), (0.99, 10, 3.1693)],
)
def test_quantiles_of_student(level: float, freedom: int, expected: float) -> None:
    assert two_sided_t(level, freedom) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(
    ("share", "a", "b", "expected"),
    # The median of beta(2, 3), quantiles in closed form of beta(a, 1) and beta(1, b), a symmetry.
    [(0.5, 2, 3, 0.385728), (0.025, 4, 1, 0.025**0.25), (0.975, 1, 5, 1 - 0.025**0.2),
     (0.5, 7e5, 7e5, 0.5), (0.5, 0.2, 0.2, 0.5)],
)  # fmt: skip
def test_quantiles_of_beta(share: float, a: float, b: float, expected: float) -> None:
    assert beta_quantile(share, a, b) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("n", [20, 200])
@pytest.mark.parametrize("p", [0.01, 0.05, 0.5, 0.95, 0.99])
def test_intervals_of_proportions_cover_exactly(p: float, n: int) -> None:
    """No simulation: the probability of every count is known. Counts are coarse near 0 and 1."""
    covered = 0.0
    for hits in range(n + 1):
        found = proportion(hits, n)
        assert found.low is not None
        assert found.high is not None
        if found.low <= p <= found.high:
            covered += math.comb(n, hits) * p**hits * (1 - p) ** (n - hits)
    assert covered >= 0.93
    assert covered <= (0.97 if n * min(p, 1 - p) > 2.5 else 0.99)


MEANS: dict[str, tuple[float, Callable[[np.random.Generator, int], NDArray[np.float64]]]] = {
    "mostly 1, the rest anywhere": (
        0.97 + 0.03 / 2,
        lambda draw, n: np.where(draw.random(n) < 0.97, 1.0, draw.random(n)),
    ),
    "always near 1": (0.98, lambda draw, n: draw.beta(9.8, 0.2, n)),
    "uniform": (0.5, lambda draw, n: draw.random(n)),
    "five trials of items that differ (ICC 0.7), near 1": (
        0.99,
        lambda draw, n: draw.binomial(5, draw.beta(0.99 * 3 / 7, 0.01 * 3 / 7, n)) / 5,
    ),
    "five trials of items that differ (ICC 0.7)": (
        0.5,
        lambda draw, n: draw.binomial(5, draw.beta(0.5 * 3 / 7, 0.5 * 3 / 7, n)) / 5,
    ),
}


@pytest.mark.parametrize("n", [20, 200])
@pytest.mark.parametrize("name", MEANS)
def test_intervals_of_bounded_means_cover(name: str, n: int) -> None:
    """At least 93% in 500 studies; less than 455 of 500 has probability 1e-3 at a true 93%."""
    mean, draw = MEANS[name]
    generator = np.random.default_rng(5)
    found = [mean_interval(draw(generator, n), bounds=(0, 1)) for _ in range(500)]
    covered = sum(not one.excludes(mean) for one in found)
    assert covered >= 455
    assert all(0 <= (one.low or 0) <= (one.value or 0) <= (one.high or 0) <= 1 for one in found)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.randoms())
def test_a_mean_lies_inside_its_interval_whatever_the_order(
    values: list[float], random: Random
) -> None:
    found = mean_interval(values, bounds=(0, 1))
    random.shuffle(values)
    assert found == mean_interval(values, bounds=(0, 1))
    assert found.low is not None
    assert found.value is not None
    assert found.high is not None
    assert 0 <= found.low <= found.value + 1e-12
    assert found.value - 1e-12 <= found.high <= 1
    assert found.value == pytest.approx(np.mean(values))


def test_a_mean_without_bounds_has_the_interval_of_student() -> None:
    """Mean 3, standard deviation sqrt(2.5) of five values, 2.7764 for four degrees of freedom."""
    found = mean_interval([1.0, 2.0, 3.0, 4.0, 5.0])
    half = 2.776445 * math.sqrt(2.5) / math.sqrt(5)
    assert found.low == pytest.approx(3 - half, abs=1e-5)
    assert found.high == pytest.approx(3 + half, abs=1e-5)
    assert mean_interval([3.0]) == Estimate(3.0, None, None, 1)


@pytest.mark.parametrize("n", [1, 5, 200])
def test_a_mean_of_equal_values_is_as_unsure_as_a_proportion(n: int) -> None:
    for share in (0.0, 1.0):
        found, expected = mean_interval([share] * n, bounds=(0, 1)), proportion(share * n, n)
        assert (found.value, found.n) == (share, n)
        assert found.low == pytest.approx(expected.low)
        assert found.high == pytest.approx(expected.high)
    others = proportion(0, n).high
    assert others is not None
    middle = mean_interval([0.5] * n, bounds=(0, 1))
    assert middle.low == pytest.approx(0.5 - others / 2)
    assert middle.high == pytest.approx(0.5 + others / 2)


def test_a_bounded_mean_of_0s_and_1s_allows_for_a_third_of_an_unseen_value() -> None:
    """Four 1s of 8 1/3 values count as 7 1/3 trials of share 0.48, times (1.96 / 2.3646)^2."""
    found = mean_interval([0.0] * 4 + [1.0] * 4, bounds=(0, 1))
    assert found.low == pytest.approx(0.111388, abs=1e-6)
    assert found.high == pytest.approx(1 - 0.111388, abs=1e-6)


def test_a_mean_of_nothing_is_undefined() -> None:
    assert mean_interval([]) == UNDEFINED


def test_paired_differences_are_tighter_than_unpaired() -> None:
    generator = np.random.default_rng(2)
    skill = generator.random(300)
    found = paired_difference(list(skill + 0.1), list(skill))
    assert found.value == pytest.approx(0.1)
    assert found.low == pytest.approx(0.1)
    with pytest.raises(UserError, match="one length"):
        paired_difference([1.0], [])


def changes(gained: int, lost: int, n: int) -> Estimate:
    """The paired difference of n right or wrong answers, so many gained and lost."""
    same = n - gained - lost
    first = [1.0] * gained + [0.0] * lost + [1.0] * same
    second = [0.0] * gained + [1.0] * lost + [1.0] * same
    return paired_difference(first, second, bounds=(0, 1))


def test_a_paired_difference_of_right_answers_has_tangos_interval() -> None:
    found = changes(1, 7, 21)  # an example of Fagerland, Lydersen and Laake (2014)
    assert found.value == pytest.approx(-6 / 21)
    assert found.low == pytest.approx(-0.517, abs=0.0005)
    assert found.high == pytest.approx(-0.026, abs=0.0005)
    alike = changes(0, 0, 20)
    assert alike.value == 0
    assert alike.high == pytest.approx(0.161, abs=0.0005)
    assert alike.low == pytest.approx(-0.161, abs=0.0005)


@pytest.mark.parametrize(
    ("gained", "lost", "n"), [(0.02, 0, 200), (0.05, 0, 200), (0.15, 0.05, 20), (0.09, 0.04, 200)]
)
def test_paired_differences_near_the_ceiling_are_covered(
    gained: float, lost: float, n: int
) -> None:
    covered = 0.0
    for more in range(min(n, 60) + 1):
        for less in range(min(n - more, 60 if lost else 0) + 1):
            same = n - more - less
            ways = math.comb(n, more) * math.comb(n - more, less)
            chance = ways * gained**more * lost**less * (1 - gained - lost) ** same
            if chance > 1e-7 and not changes(more, less, n).excludes(gained - lost):
                covered += chance
    assert 0.93 <= covered <= 0.98


def test_lift_is_the_share_of_the_way_to_perfect() -> None:
    assert lift_over_floor(Estimate(0.25, 0.25, 1.0, 4), 0.25) == Estimate(0.0, 0.0, 1.0, 4)
    assert lift_over_floor(UNDEFINED, 0.25) == UNDEFINED


def test_enough_items_show_the_gain() -> None:
    """The number promised shows 3 points over 1/6 at 99.5% in about 95 of 100 studies."""
    n = items_to_see(1 / 6, 0.03, level=0.995, power=0.95)
    generator = np.random.default_rng(3)
    seen = 0
    for hits in generator.binomial(n, 1 / 6 + 0.03, 400):
        low = proportion(int(hits), n, level=0.99).low
        assert low is not None
        seen += low > 1 / 6
    assert 0.90 < seen / 400 < 0.99


def test_holm_decides_and_bonferroni_measures() -> None:
    """Normal intervals by hand: 3.0, 2.3 and 1.0 standard errors from 0.

    Holm's test: at 5% / 3 the first is clear (2.394), at 5% / 2 the second (2.241), at 5% the
    third is not (1.960). Were the second at 2.2, neither it nor the third would be clear. All
    intervals are at 5% / 3.
    """

    def interval(errors: list[float]) -> Callable[[int, float], Estimate]:
        def of(which: int, level: float) -> Estimate:
            half = NormalDist().inv_cdf(0.5 + level / 2)
            return Estimate(errors[which], errors[which] - half, errors[which] + half, 9)

        return of

    found = several(interval([1.0, 3.0, 2.3]), 3)
    assert [clear for _, clear in found] == [False, True, True]
    assert [one.excludes(0) for one, _ in found] == [False, True, False]
    halves = [round((one.high or 0) - (one.value or 0), 3) for one, _ in found]
    assert halves == [2.394, 2.394, 2.394]
    assert [clear for _, clear in several(interval([2.2, -3.0, 2.1]), 3)] == [False, True, False]


def test_holm_raises_a_false_alarm_in_one_of_twenty_tables() -> None:
    """Six true nulls, 400 tables: more than 34 alarms have probability 1e-3 at a true 5%."""
    generator = np.random.default_rng(8)
    alarms = 0
    for _ in range(400):
        data = generator.normal(size=(6, 30))

        def interval(which: int, level: float, data: NDArray[np.float64] = data) -> Estimate:
            return mean_interval(data[which], level)

        alarms += any(clear for _, clear in several(interval, 6))
    assert alarms <= 34


@pytest.mark.parametrize(
    ("first", "second", "correlation", "items"),
    # by hand for the first: one right .41, ((1.96 * .6403 + .842 * .6239) / .1)^2
    [(0.5, 0.6, 0.18371, 317), (0.9, 0.95, 0.3, 298), (0.2, 0.4, 0.0, 82), (0.5, 0.55, 0.4, 939)],
)
def test_the_stated_power_is_that_of_simulated_comparisons(
    first: float, second: float, correlation: float, items: int
) -> None:
    """2,000 pairs of models: 80% are seen, within 2 points and three standard errors (2.7)."""
    found = items_to_compare(second - first, difference_variance(first, second, correlation))
    assert found == items
    both = first * second + correlation * math.sqrt(first * (1 - first) * second * (1 - second))
    shares = [second - both, first - both, 1 - second - first + 2 * both]
    counts = np.random.default_rng(6).multinomial(items, shares, 2000)
    seen = 0
    for gained, lost, _ in counts:
        values = [1.0] * gained + [-1.0] * lost + [0.0] * (items - gained - lost)
        seen += paired_difference(values, [0.0] * items, bounds=(0, 1)).is_above(0)
    assert seen / 2000 == pytest.approx(0.8, abs=0.047)


def test_the_stated_power_holds_for_graded_scores() -> None:
    """Differences of means of four tries, SD about 0.25 and mean 0.05, 1,000 studies."""
    generator = np.random.default_rng(8)
    shares = np.array([0.55, 0.5])

    def studies(items: int, count: int) -> NDArray[np.float64]:
        return generator.binomial(4, shares[:, None], (count, 2, items)) / 4

    values = studies(20_000, 1)[0]
    variance = float(np.var(values[0] - values[1], ddof=1))
    items = items_to_compare(0.05, variance, graded=True)
    seen = sum(
        paired_difference(one, other, bounds=(0, 1)).is_above(0)
        for one, other in studies(items, 1000)
    )
    assert seen / 1000 == pytest.approx(0.8, abs=0.05)


@pytest.mark.parametrize(("models", "pairs"), [(2, False), (5, True), (10, False)])
def test_intervals_of_a_comparison_hold_together(models: int, pairs: bool) -> None:
    """200 comparisons: fewer than 179 have probability 1e-3 at a true 95%."""
    joint = runpy.run_path(str(Path(__file__).parents[2] / "perf/interval_coverage.py"))["joint"]
    assert joint(models, 200, 200, pairs=pairs, seed=4) >= 179 / 200


def test_values_whose_squares_vanish_count_as_equal() -> None:
    assert (
        mean_interval([0.0, 5e-324], bounds=(0, 1)).high
        == mean_interval([0, 0], bounds=(0, 1)).high
    )


def test_nothing_is_printed_as_minus_zero() -> None:
    assert str(Estimate(-1e-9, -0.0004, 0.25, 3)) == "0.000 [0.000, 0.250]"
    assert str(Estimate(-0.0006, None, None, 3)) == "-0.001"
