"""What the audit is given: both questions with the looks of columns, sets and mentions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from trivium.auditing.engine import audit as run_audit
from trivium.benchmarks.variables import VARIABLES
from trivium.benchmarks.variables.audit import column_statistics, probes
from trivium.benchmarks.variables.generate import generate
from trivium.benchmarks.variables.item import Table
from trivium.benchmarks.variables.spec import PRESETS, view_of

# x_10 -> x_20 is the target and x_30 belongs to their tree; x_40 is by itself, x_50 unobserved.
BY_HAND = next(generate(PRESETS["original-ctrl"], 1))._replace(
    names=("x_40", "x_20", "x_50", "x_10", "x_30"),
    terms=[[], [[3, 0, 1, 0]], [], [], [[3, 0, 1, 0]]],
    rates=[0, 0, 1.0, 0, 0],
    target=(3, 1),
    hypotheses=[(4, 3), (3, 1), (0, 3), (2, 0)],
    wording=[2, 3, 1, 0],
    table=Table(np.array([[1, 2.5, np.nan, 3, 4], [2, 2.5, np.nan, 5, 150.25]] * 2)),
)


def test_features_of_sets_in_plain_numbers() -> None:
    validity, control = probes(BY_HAND, view_of("corrset"))
    assert (validity.name, validity.candidates, validity.right) == ("validity", ["valid"], [True])
    assert validity.marked == control.marked == {"ind": "x_10", "dep": "x_20"}
    assert control.candidates == ["x_40", "x_30", "x_50"]
    assert control.right == [False, True, True]  # x_50 through x_40 and x_10
    found = control.candidate_features
    assert found["set_size"] == [1, 3, 0]
    assert found["as_cause"] == [1, 1, 1]
    assert found["as_effect"] == [1, 0, 0]
    assert found["mentioned_first"] == [2, 0, 3]
    assert found["mentioned_last"] == [3, 0, 3]
    assert validity.item_features["ind_set_size"] == 3
    assert validity.item_features["target_at"] == 1
    assert validity.item_features["unobserved"] == 1


def test_an_invalid_hypothesis_has_no_control_variables_to_guess() -> None:
    invalid = BY_HAND._replace(target=(0, 3), hypotheses=[(0, 3)], wording=[0])
    (probe,) = probes(invalid, view_of("markdown"))
    assert (probe.name, probe.right) == ("validity", [False])


def test_statistics_of_columns_in_plain_numbers() -> None:
    found = column_statistics(BY_HAND.table.values)
    assert found["missing"] == [0, 0, 1, 0, 0]
    assert found["whole"] == [1, 0, 0, 1, 0.5]
    assert found["like_root"] == [1, 1, 0, 1, 0.5]
    assert found["lowest"] == [1, 2.5, 0, 3, 4]
    assert found["spread"] == [0.5, 0, 0, 1, 73.125]
    assert found["distinct"] == [0.5, 0.25, 0, 0.5, 0.5]
    assert all(math.isfinite(value) for values in found.values() for value in values)


@pytest.mark.parametrize("preset", ["balanced-hypotheses", "original-hypotheses"])
def test_features_have_one_length_and_one_order_in_all_items(preset: str) -> None:
    for view in VARIABLES.audit_views():
        names: dict[str, set[tuple[str, ...]]] = {}
        for item in generate(PRESETS[preset], 3, 0, 60):
            for probe in VARIABLES.probes(item, view):
                own = (*probe.candidate_features, "/", *probe.item_features)
                names.setdefault(probe.name, set()).add(own)
                for values in probe.candidate_features.values():
                    assert len(values) == len(probe.candidates) == len(probe.right)
        assert {name: len(own) for name, own in names.items()} == {"validity": 1, "control": 1}


def test_the_looks_of_related_columns_are_as_different_as_those_of_others() -> None:
    """Shapes of a column (skew, kurtosis) agree within an item no more than between two sets.

    Without losses all columns of one sign have the same, so these are the same numbers.
    """
    gaps: dict[bool, list[float]] = {True: [], False: []}
    for item in generate(PRESETS["balanced-hypotheses"], 4, 0, 800):
        shapes = column_statistics(item.table.values[:, list(item.target)])["kurtosis"]
        gaps[item.gold.valid].append(abs(shapes[0] - shapes[1]))
    together = np.array(gaps[True]), np.array(gaps[False])
    error = np.hypot(*(part.std() / len(part) ** 0.5 for part in together))
    assert abs(together[0].mean() - together[1].mean()) < 4 * error


def test_items_that_leave_nothing_to_guess_are_left_out() -> None:
    """Two variables are both in the target, so none could be a control variable."""
    audit = run_audit(VARIABLES, PRESETS["original-hypotheses"], 0, 100)
    assert audit.verdict == "caught"
    assert audit.keeps_leaks
