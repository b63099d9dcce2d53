"""Permutation tests and their correction, against counts by hand."""

from __future__ import annotations

import numpy as np
import pytest
from studies.blicket_learners.compare import above, above_verdict, between, holm, paired, verdict


def test_exchanging_seeds_counts_every_way() -> None:
    # Of the 20 ways to choose three of six, one is as large and one as small.
    assert between([4, 5, 6], [1, 2, 3]) == pytest.approx(2 / 20)
    assert between([1, 2, 3], [4, 5, 6]) == pytest.approx(2 / 20)
    assert between([3.0] * 8, [3.0] * 8) == 1.0
    assert between([3.0] * 8, [0.0] * 8) == pytest.approx(2 / 12_870)


def test_turning_signs_counts_every_way() -> None:
    assert paired([1.0, 2.0, 3.0]) == pytest.approx(2 / 8)
    assert above([1.0, 2.0, 3.0]) == pytest.approx(1 / 8)
    assert above([-1.0, -2.0]) == 1.0
    assert above([0.5] * 8) == pytest.approx(1 / 256)
    assert above([0.0] * 8) == 1.0


def test_equal_seeds_of_both_are_no_difference_and_of_one_need_not_be() -> None:
    """Eight seeds of 3.00 beside seven of 3.00: the interval has no width, and nothing is shown."""
    assert between([3.0] * 8, [3.0] * 7 + [2.0]) == 1.0


def test_a_true_null_is_rejected_at_most_as_often_as_it_says() -> None:
    """300 pairs of samples of one distribution: at 5%, more than 29 in 300 has a chance of 1e-4."""
    generator = np.random.default_rng(0)
    drawn = generator.normal(size=(300, 2, 6))
    assert sum(between(*pair) < 0.05 for pair in drawn.tolist()) <= 29


def test_holm_multiplies_by_what_is_left() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


def test_verdicts_say_which_way_and_how_sure() -> None:
    assert verdict(-0.1, 0.02, judged=True) == "below (p = 0.02)"
    assert verdict(0.1, 0.0004, judged=True) == "above (p < 0.001)"
    assert verdict(0.1, 0.3, judged=True) == "no difference shown (p = 0.30)"
    assert verdict(0.1, 0.0004, judged=False) == "too short to judge"
    assert above_verdict(0.004, judged=True) == "yes (p = 0.004)"
    assert above_verdict(0.2, judged=True) == "not shown (p = 0.20)"
    assert above_verdict(1.0, judged=True) == "no"
    assert above_verdict(0.004, judged=False) == "too short to judge"
