"""The overview: verdicts with known numbers, ranks, and bars with the dot where the value is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.report.records import Row, results_of, scored
from trivium.benchmarks.nhop import IMPLICIT
from trivium.core.spec import spec_to_dict
from trivium.core.statistics import Estimate, proportion
from trivium.report.charts import series_styles
from trivium.report.overview import SettingTable, bars, best_of_several, overview


def tables(folder: Path, rows: list[Row]) -> list[SettingTable]:
    results = results_of(folder, rows)
    return overview(results, series_styles([results]))


def table(folder: Path, rows: list[Row]) -> SettingTable:
    (only,) = tables(folder, rows)
    return only


def shares(right: int, items: int) -> list[float]:
    return [1.0] * right + [0.0] * (items - right)


def test_lift_in_words_goes_from_the_floor_to_the_stated_ceiling(tmp_path: Path) -> None:
    rows = scored("oracle", shares(6, 8)) + scored("openai/model", shares(5, 8))
    # (0.625 - 0.125) / (0.75 - 0.125) is 0.8; 0.625 / 0.75 would be 0.83.
    lower = [{**row, "ceiling": 0.75} for row in rows]
    said = table(tmp_path / "a", lower).verdict
    assert said.startswith(
        "The ceiling is 0.75, and oracle reaches 0.75 on these items; the floor is "
    )
    assert "openai/model is at 0.625, a lift of 0.800 [" in said
    # What a ceiling solver happens to reach does not move the ceiling: 0.5 / 0.875.
    assert "a lift of 0.571 [" in table(tmp_path / "b", rows).verdict


def test_a_ceiling_at_the_floor_leaves_no_lift(tmp_path: Path) -> None:
    rows = scored("openai/model", shares(5, 8), ceiling=0.125)
    assert table(tmp_path, rows).verdict.startswith(
        "The ceiling is 0.12; the floor is 0.12. Audit:"
    )


def test_the_best_of_several_shortcuts_needs_a_wider_interval(tmp_path: Path) -> None:
    """25% [13.5%, 40.1%] beats 13% when it is the only one tried, not as the best of three."""
    alone = scored("last_line", shares(10, 40), floor=0.13)
    verdict = table(tmp_path / "a", alone).verdict
    said = "the only shortcut, last_line, reaches 0.25 [0.13, 0.40], above the floor of 0.13."
    assert said in verdict
    others = scored("pointer_f_n1", shares(2, 40)) + scored("most_frequent_token", shares(9, 40))
    verdict = table(tmp_path / "b", alone + [{**row, "floor": 0.13} for row in others]).verdict
    said = (
        "the best of 3 shortcuts, last_line, reaches 0.25 [0.11, 0.44] (corrected for the choice), "
    )
    said += "not shown to be above "
    assert said in verdict


def test_intervals_of_the_best_of_several() -> None:
    """The quantile of 99% is 1.3143 times that of 95%."""
    found = best_of_several(Estimate(0.5, 0.4, 0.6, 100), 5, None)
    assert found.low == pytest.approx(0.3686, abs=1e-4)
    assert found.high == pytest.approx(0.6314, abs=1e-4)
    assert best_of_several(Estimate(0.5, 0.4, 0.6, 100), 1, None).low == pytest.approx(0.4)
    assert best_of_several(Estimate(0.5, None, None, 1), 2, None) == Estimate(0.5, None, None, 1)


@pytest.mark.parametrize(("right", "low", "high"), [(2, 0.01, 0.58), (0, 0, 0.32), (12, 0.68, 1)])
def test_the_interval_of_the_best_of_several_stays_within_the_scale(
    right: int, low: float, high: float
) -> None:
    """Close to the exact interval of 99%: [0.013, 0.544] for 2 of 12, [0, 0.319] for 0 of 12."""
    found = best_of_several(proportion(right, 12), 5, (0.0, 1.0))
    assert found.low == pytest.approx(low, abs=0.03)
    assert found.high == pytest.approx(high, abs=0.03)
    assert 0 <= (found.low or 0) <= right / 12 <= (found.high or 1) <= 1


def test_solvers_are_ranked_and_models_come_first_on_a_tie(tmp_path: Path) -> None:
    rows = scored("random_candidate", shares(1, 4)) + scored("last_line", shares(1, 4))
    rows += scored("z/model", shares(4, 4)) + scored("oracle", shares(4, 4))
    rows += scored("y/model", shares(3, 4))
    found = table(tmp_path, rows)
    assert [(row.name, row.about) for row in found.rows] == [
        ("z/model", "model"),
        ("oracle", "ceiling"),
        ("y/model", "model"),
        ("last_line", "shortcut"),
        ("random_candidate", "floor"),
    ]
    # The lift is (0.75 - 0.125) / (1 - 0.125).
    said = ("0.750 [0.242, 0.987]", "lift 0.714, items 4")
    assert (found.rows[2].figure, found.rows[2].words) == said


def test_failed_calls_are_not_in_the_denominator(tmp_path: Path) -> None:
    rows = scored("openai/some_model", [None, None, None, *shares(7, 7)])
    rows += scored("oracle", shares(10, 10))
    items = {row.name: row.words.partition(", ")[2] for row in table(tmp_path, rows).rows}
    assert items == {"oracle": "items 10", "openai/some_model": "items 7 of 10"}


def test_a_model_whose_calls_all_failed_does_not_hide_chance(tmp_path: Path) -> None:
    rows = scored("a/model", [None] * 4) + scored("oracle", shares(4, 4))
    found = table(tmp_path / "a", rows)
    assert found.verdict.startswith("The ceiling is 1.00, and oracle reaches 1.00 on these items;")
    assert "differs: 100.0% for a/model, 0.0% for oracle;" in found.verdict
    assert [len(row.bars) for row in found.rows] == [1, 0]
    assert table(tmp_path / "b", rows[:4]).verdict.startswith("Nothing could be scored.")


def test_more_than_twelve_settings_are_pooled(tmp_path: Path) -> None:
    rows = [
        row for number in range(12) for row in scored("oracle", [1.0], spec={"M": 500 + number})
    ]
    found = tables(tmp_path / "a", rows)
    assert [one.setting for one in found] == [f"M={500 + number}" for number in range(12)]
    rows += scored("oracle", [0.0], spec={"M": 600})
    (pooled,) = tables(tmp_path / "b", rows)
    assert pooled.setting is None
    assert pooled.rows[0].words.endswith(", items 13")
    assert pooled.rows[0].figure.startswith("0.923 ")


def test_a_verdict_ends_with_the_audit_of_its_own_setting(tmp_path: Path) -> None:
    rows = scored("oracle", [1.0], spec={"M": 500})
    rows += scored("oracle", [1.0], spec=spec_to_dict(IMPLICIT.default_spec))
    said = {one.setting: one.verdict.partition("Audit: ")[2] for one in tables(tmp_path, rows)}
    assert said["M=500"].startswith("this view was not audited")
    assert said["implicit"].startswith("passed.")


LINES = [("chance", 0.25), ("ceiling", 1.0)]


@pytest.mark.parametrize(("value", "x"), [(0.0, 0.0), (0.25, 25.0), (0.5, 50.0), (1.0, 100.0)])
def test_a_bar_puts_the_dot_where_the_value_is(value: float, x: float) -> None:
    (drawn,) = bars(Estimate(value, 0.0, 1.0, 40), LINES, (0.0, 1.0))
    assert (drawn.dot, drawn.low, drawn.high) == (x, 0.0, 100.0)
    assert drawn.lines == [("chance", 25.0), ("ceiling", 100.0)]


def test_a_bar_without_an_interval_is_a_dot_and_has_a_label() -> None:
    (drawn,) = bars(Estimate(0.5, None, None, 1), LINES, (0.0, 1.0))
    assert (drawn.low, drawn.dot, drawn.high) == (50.0, 50.0, 50.0)
    assert drawn.label == "0.500; chance 0.250, ceiling 1.000"


def test_a_bar_reaches_as_far_as_its_values(tmp_path: Path) -> None:
    (drawn,) = bars(Estimate(-1.0, -1.0, 0.0, 9), LINES, (1.0, 0.0))
    assert (drawn.dot, drawn.lines) == (0.0, [("chance", 62.5), ("ceiling", 100.0)])


def test_an_undefined_value_has_no_bar() -> None:
    assert bars(Estimate(None, None, None, 0), LINES, (0.0, 1.0)) == []
