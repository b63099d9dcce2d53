"""Intervals against known values and by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.core.errors import UserError
from trivium.core.statistics import (
    MAX_DISTINCT,
    UNDEFINED,
    Estimate,
    bootstrap_mean,
    items_to_see,
    lift_over_chance,
    paired_difference,
    wilson,
)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    # Worked examples of the score interval (Newcombe 1998, table I).
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611),
     (1, 29, 0.0061, 0.1718)],
)  # fmt: skip
def test_wilson_gives_published_intervals(successes: int, n: int, low: float, high: float) -> None:
    found = wilson(successes, n)
    assert found.low == pytest.approx(low, abs=5e-5)
    assert found.high == pytest.approx(high, abs=5e-5)


@given(st.integers(0, 500), st.integers(0, 500))
def test_wilson_holds_its_value_inside_zero_and_one(first: int, second: int) -> None:
    n, successes = max(first, second), min(first, second)
    found = wilson(successes, n)
    if n == 0:
        assert found == UNDEFINED
        return
    assert found.low is not None
    assert found.value is not None
    assert found.high is not None
    assert 0 <= found.low <= found.value <= found.high <= 1


def test_wilson_refuses_more_successes_than_trials() -> None:
    with pytest.raises(UserError, match=r"0\.\.3"):
        wilson(4, 3)


def test_intervals_cover_at_their_level() -> None:
    """400 simulated studies: coverage below 0.90 at a true 0.95 has probability < 1e-4."""
    generator = np.random.default_rng(1)
    covered = {"wilson": 0, "bootstrap": 0}
    for _ in range(400):
        data = (generator.random(200) < 0.3).astype(float)
        for name, found in (
            ("wilson", wilson(data.sum(), 200)),
            ("bootstrap", bootstrap_mean(generator.permutation(data), resamples=400)),
        ):
            assert found.low is not None
            assert found.high is not None
            covered[name] += found.low <= 0.3 <= found.high
    assert min(covered.values()) > 0.90 * 400


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=30))
def test_a_bootstrap_is_deterministic_and_holds_the_mean(values: list[float]) -> None:
    found = bootstrap_mean(values)
    assert found == bootstrap_mean(values)
    assert found.low is not None
    assert found.value is not None
    assert found.high is not None
    assert min(values) - 1e-9 <= found.low <= found.high <= max(values) + 1e-9
    assert found.value == pytest.approx(np.mean(values))


def test_many_different_values_get_the_interval_that_resampling_would_give() -> None:
    # Both intervals estimate the same two ends; 2,000 resamples leave about 2% of a half width.
    values = np.random.default_rng(3).gamma(2.0, size=MAX_DISTINCT + 1)
    normal, resampled = bootstrap_mean(values), bootstrap_mean(values[:MAX_DISTINCT])
    assert normal.low is not None
    assert normal.high is not None
    assert resampled.low is not None
    assert resampled.high is not None
    widths = (normal.high - normal.low, resampled.high - resampled.low)
    assert widths[0] == pytest.approx(widths[1], rel=0.1)
    assert normal.low == pytest.approx(resampled.low, abs=0.1 * widths[0])


@pytest.mark.parametrize("n", [1, 5, 200])
def test_a_mean_of_equal_values_is_as_unsure_as_a_proportion(n: int) -> None:
    for share in (0.0, 1.0):
        found, expected = bootstrap_mean([share] * n, bounds=(0, 1)), wilson(share * n, n)
        assert (found.value, found.n) == (share, n)
        assert found.low == pytest.approx(expected.low)
        assert found.high == pytest.approx(expected.high)
    others = wilson(0, n).high
    assert others is not None
    middle = bootstrap_mean([0.5] * n, bounds=(0, 1))
    assert middle.low == pytest.approx(0.5 - others / 2)
    assert middle.high == pytest.approx(0.5 + others / 2)
    alike = paired_difference([1.0] * n, [1.0] * n, bounds=(0, 1))
    assert alike.low == pytest.approx(-others)
    assert alike.high == pytest.approx(others)
    assert bootstrap_mean([3.0] * n) == Estimate(3.0, 3.0, 3.0, n), "nothing bounds a count"


def test_a_bootstrap_of_nothing_is_undefined() -> None:
    assert bootstrap_mean([]) == UNDEFINED


def test_paired_differences_are_tighter_than_unpaired() -> None:
    generator = np.random.default_rng(2)
    skill = generator.random(300)
    found = paired_difference(list(skill + 0.1), list(skill))
    assert found.value == pytest.approx(0.1)
    assert found.low == pytest.approx(0.1)
    with pytest.raises(UserError, match="one length"):
        paired_difference([1.0], [])


def test_lift_is_the_share_of_the_way_to_perfect() -> None:
    assert lift_over_chance(Estimate(0.25, 0.25, 1.0, 4), 0.25) == Estimate(0.0, 0.0, 1.0, 4)
    assert lift_over_chance(UNDEFINED, 0.25) == UNDEFINED


def test_enough_items_show_the_gain() -> None:
    """The number promised shows 3 points over 1/6 at 99.5% in about 95 of 100 studies."""
    n = items_to_see(1 / 6, 0.03, level=0.995)
    generator = np.random.default_rng(3)
    seen = 0
    for hits in generator.binomial(n, 1 / 6 + 0.03, 400):
        low = wilson(int(hits), n, level=0.99).low
        assert low is not None
        seen += low > 1 / 6
    assert 0.90 < seen / 400 < 0.99
