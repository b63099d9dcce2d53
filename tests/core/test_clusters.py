"""Differences between people and other solvers: clusters of people crossed with items."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.core.statistics import UNDEFINED, Estimate, Side, clustered_mean, mean_interval

Generator = np.random.Generator


def people_against(
    generator: Generator, people: int, each: int, items: int, spread: float, *, guesses: bool
) -> tuple[Side, float]:
    """A study: people whose abilities and items whose difficulty vary, against a model.

    The model guesses (right half of the time, once at every item) or is always right.
    """
    able, easy = generator.normal(0, spread, people), generator.normal(0, spread, items)
    model = (generator.random(items) < 0.5) if guesses else np.ones(items)
    person = np.repeat(np.arange(people), each)
    item = (np.arange(people * each) + generator.integers(items)) % items
    right = generator.random(people * each) < np.clip(0.6 + able[person] + easy[item], 0, 1)
    values = right.astype(float) - model[item]
    return Side(values.tolist(), person.tolist(), item.tolist()), 0.5 if guesses else 1.0


@pytest.mark.parametrize("guesses", [True, False])
@pytest.mark.parametrize(
    ("people", "each", "items", "spread"),
    [(40, 3, 24, 0.2), (10, 5, 20, 0.2), (20, 20, 20, 0.2), (100, 1, 24, 0.0)],
)
def test_the_true_difference_is_covered(
    people: int, each: int, items: int, spread: float, guesses: bool
) -> None:
    """95% intervals hold the truth in 92 to 99.5 of 100 studies.

    Of 400 studies with a true coverage of 95% fewer than 92% hold it with a probability of
    0.005; with person-clustered intervals alone, guessing models are covered in about 75%.
    """
    generator = np.random.default_rng([people, each, items, guesses])
    held = 0
    for _ in range(400):
        side, model = people_against(generator, people, each, items, spread, guesses=guesses)
        # clipping at 1 lowers the mean a little below 0.6
        truth = {0.2: 0.5895, 0.0: 0.6}[spread] - model
        held += not clustered_mean([side], bounds=(-1, 1)).excludes(truth)
    assert 0.92 <= held / 400 <= 0.995


def test_people_against_people_are_covered() -> None:
    """Two groups of 12 people with 6 items each of the same 12; 400 studies, as above."""
    generator, held, narrow = np.random.default_rng(5), 0, 0
    for _ in range(400):
        easy = generator.normal(0, 0.1, 12)
        sides = []
        for sign in (1, -1):
            able = generator.normal(0, 0.25, 12)
            person = np.repeat(np.arange(12), 6)
            item = np.arange(72) % 12
            chance = np.clip(0.5 + able[person] + easy[item], 0, 1)
            values = sign * (generator.random(72) < chance)
            sides.append(Side(values.tolist(), [(sign, one) for one in person], item.tolist()))
        held += not clustered_mean(sides, bounds=(-1, 1)).excludes(0)
        pooled = np.array(sides[0].values) + np.array(sides[1].values)
        narrow += not mean_interval(pooled, bounds=(-1, 1)).excludes(0)
    assert 0.92 <= held / 400 <= 0.995
    assert narrow / 400 < 0.92  # without clusters the intervals would be too short


def test_people_with_one_item_of_their_own_are_independent_values() -> None:
    """Then people, items and both at once are the same clusters: the interval of a mean."""
    values = [1.0, 0.0, 0.5, 1.0, -1.0, 0.0, 1.0]
    side = Side(values, list("abcdefg"), list("tuvwxyz"))
    for bounds in (None, (-1.0, 1.0)):
        expected, found = mean_interval(values, bounds=bounds), clustered_mean([side], 0.95, bounds)
        assert found.n == 7
        for end in ("value", "low", "high"):
            assert getattr(found, end) == pytest.approx(getattr(expected, end))


def test_every_person_counts_alike() -> None:
    side = Side([1.0, 1.0, 1.0, 0.0], ["a", "a", "a", "b"], [1, 2, 3, 1])
    assert clustered_mean([side]).value == pytest.approx(0.5)


def test_what_cannot_be_known() -> None:
    assert clustered_mean([Side([], [], [])]) == UNDEFINED
    assert clustered_mean([Side([0.5], ["a"], [1])]) == Estimate(0.5, None, None, 1)
    one = clustered_mean([Side([1.0, 0.0, 1.0, 1.0], ["a"] * 4, [1, 2, 3, 4])], bounds=(-1, 1))
    assert one.low is not None  # over items, about this one person
    alike = clustered_mean([Side([0.0] * 30, list(range(30)), [1] * 30)], bounds=(-1, 1))
    assert alike.low == pytest.approx(-0.0951, abs=1e-3)  # others came up 0 times in 30
    assert alike.high == pytest.approx(0.0951, abs=1e-3)


@given(
    st.lists(
        st.tuples(st.sampled_from([-1.0, -0.5, 0.0, 1.0]), st.integers(0, 5), st.integers(0, 4)),
        min_size=1,
        max_size=30,
    ),
    st.randoms(use_true_random=False),
)
def test_intervals_lie_within_bounds_and_do_not_depend_on_order(
    attempts: list[tuple[float, int, int]], random: object
) -> None:
    def found(rows: list[tuple[float, int, int]]) -> Estimate:
        return clustered_mean([Side(*map(list, zip(*rows, strict=True)))], bounds=(-1, 1))

    one, shuffled = found(attempts), list(attempts)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    other = found(shuffled)
    assert one.value == pytest.approx(other.value, abs=1e-9)
    if one.low is not None:
        assert one.high is not None
        assert -1 - 1e-9 <= one.low <= (one.value or 0) + 1e-9
        assert (one.value or 0) - 1e-9 <= one.high <= 1 + 1e-9
        assert one.low == pytest.approx(other.low, abs=1e-6)
