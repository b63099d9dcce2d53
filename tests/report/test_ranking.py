"""Who is best: ranks with paired differences of known size, and what a run ends with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.report.records import Row, results_of, scored, write_records
from trivium.core.results import summarise
from trivium.core.statistics import paired_difference, several
from trivium.report.answer import closing_lines, ranking
from trivium.report.overview import card
from trivium.report.results import BenchmarkResults, read_results

RIGHT = {"a/best": 60, "b/middle": 40, "c/worst": 38}


def rows(benchmark: str = "nhop_implicit", items: int = 80) -> list[Row]:
    return [
        {**row, "benchmark": benchmark}
        for name, right in RIGHT.items()
        for row in scored(name, [1.0] * right + [0.0] * (items - right), benchmark)
    ]


def two_benchmarks(folder: Path) -> list[BenchmarkResults]:
    other = rows("nhop_explicit")
    for row in other:  # where the best two are as good
        if row["solver"] == "b/middle" and row["id"] in {
            f"nhop_explicit-{n}" for n in range(40, 60)
        }:
            row |= {"scores": {"correct": 1.0}, "kind": "right"}
    return list(read_results([write_records(folder, rows() + other)]).values())


def test_ranks_follow_the_scores_and_differences_hold_together(tmp_path: Path) -> None:
    ranks = ranking([results_of(tmp_path, rows())])
    assert [rank.solver for rank in ranks] == ["a/best", "b/middle", "c/worst"]
    assert ranks[0].figures.startswith("0.75 [")
    assert [bar.dot for bar in ranks[0].bars] == [75.0]
    # Three pairs: the interval of 20 gained of 80 is that of 98.3%, as `several` makes it.
    scores = {name: [1.0] * right + [0.0] * (80 - right) for name, right in RIGHT.items()}
    pairs = [("a/best", "b/middle"), ("a/best", "c/worst"), ("b/middle", "c/worst")]
    expected = several(
        lambda which, level: paired_difference(
            scores[pairs[which][0]], scores[pairs[which][1]], level, (0.0, 1.0)
        ),
        3,
    )
    first = expected[0][0]
    assert ranks[0].ahead == f", beats b/middle by 0.25 [{first.low:.2f}, {first.high:.2f}]"
    # Two items of 80 are no clear difference.
    assert ranks[1].ahead.startswith(", is not shown to beat c/worst by 0.03 [")
    assert ranks[2].ahead == ""


def test_a_rank_says_on_which_benchmarks(tmp_path: Path) -> None:
    ranks = ranking(two_benchmarks(tmp_path))
    assert ranks[0].figures.startswith("0.75 [")
    assert ", beats b/middle by 0.12 [" in ranks[0].ahead
    assert "(on 1 of 2 benchmarks; no difference shown on nhop_explicit)" in ranks[0].ahead
    assert ranks[0].words.startswith(
        "above the floor on 2 of 2 benchmarks; 160 attempts: all answered"
    )


def test_one_model_has_a_rank_without_a_difference_and_baselines_have_none(tmp_path: Path) -> None:
    model = scored("a/model", [0.0] * 18 + [None] * 2) + scored("oracle", [1.0] * 20)
    (rank,) = ranking([results_of(tmp_path / "a", model)])
    assert rank.ahead == ""
    assert rank.words == "not above the floor; 20 attempts: 2 failed"
    assert ranking([results_of(tmp_path / "b", scored("oracle", [1.0] * 4))]) == []
    assert ranking([results_of(tmp_path / "c", scored("a/model", [None] * 4))]) == []


def test_models_without_common_items_are_ranked_and_it_says_so(tmp_path: Path) -> None:
    apart = scored("a/one", [1.0] * 9, "x") + scored("b/other", [0.0] * 9, "y")
    first, second = ranking([results_of(tmp_path, apart)])
    assert first.ahead == ", has no items in common with b/other"
    assert second.ahead == ""


def test_item_scores_are_means_over_attempts_at_an_item(tmp_path: Path) -> None:
    twice = scored("a/model", [1.0, 0.0, 1.0]) + scored("a/model", [0.0, 0.0, 1.0], trial=1)
    results = results_of(tmp_path, twice)
    assert sorted(results.item_scores("a/model").values()) == [0.0, 0.5, 1.0]
    own = summarise(twice, results.benchmark.metrics)
    assert own.metrics["correct"].value == pytest.approx(0.5)


def test_a_run_without_models_ends_with_a_line_for_each_benchmark(tmp_path: Path) -> None:
    baselines = scored("oracle", [1.0] * 16) + scored("last_line", [1.0] * 2 + [0.0] * 14)
    baselines += scored("most_frequent_token", [0.0] * 16)
    baselines += scored("random_candidate", [1.0, 1.0] + [0.0] * 14)
    results = results_of(tmp_path, baselines)
    assert closing_lines([results]) == [
        "nhop_implicit  ceiling 1.00, best shortcut 0.12, floor 0.12"
    ]
    shown = card(results)
    assert shown.sentence == (
        "The ceiling is 1.00, and oracle reaches 1.00 on these items; the best of 2 shortcuts, "
        "last_line, reaches 0.12 [0.01, 0.42] (corrected for the choice), not shown to be above "
        "the floor of 0.12."
    )
    assert [(row.name, row.words, len(row.bars)) for row in shown.rows] == [
        ("ceiling", "oracle", 1), ("shortcut", "last_line", 2), ("floor", "random_candidate", 1)
    ]  # fmt: skip
    ends = closing_lines([results_of(tmp_path / "m", rows())])
    assert [line[:2] for line in ends] == ["1.", "2.", "3."]
    assert ends[0].startswith("1. a/best 0.75 [")
