"""The answer: lifts in a grid, and sentences that follow from them by the documented rules."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

from tests.report.records import Row, results_of, scored, write_records
from trivium.benchmarks.blicket.game import GAME
from trivium.benchmarks.blicket.game.spec import GameView
from trivium.benchmarks.nhop import EXPLICIT
from trivium.benchmarks.nhop.spec import NhopView
from trivium.core.benchmark import Lifts
from trivium.core.dialogue import attempt
from trivium.core.statistics import Estimate
from trivium.report.answer import (
    UNCLEAR,
    Effect,
    Grid,
    effect_sentences,
    effect_words,
    grid,
    sentence,
)
from trivium.report.charts import series_styles
from trivium.report.overview import overview
from trivium.report.page import kind_shares, usage_table
from trivium.report.plot import SeriesStyle
from trivium.report.results import BenchmarkResults, read_results
from trivium.report.tables import result_table


def grid_of(*all_results: BenchmarkResults) -> Grid:
    return grid(all_results, series_styles(all_results))


def by_steps(model: str, right: dict[int, int], items: int = 40) -> list[Row]:
    """Records with this number of right answers among `items` at each number of steps."""
    return [
        row
        for steps, count in right.items()
        for row in scored(
            model,
            [1.0] * count + [0.0] * (items - count),
            str(steps),
            groups={"steps": steps, "m": 8},
        )
    ]


@pytest.mark.parametrize(
    ("right", "words"),
    [
        ({4: 40, 6: 36, 8: 30}, "Composes 8 steps from a bag of facts."),
        ({4: 40, 6: 36, 8: 10, 10: 5}, "Composes 6 steps from a bag of facts, fails from 8."),
        ({4: 40, 6: 10, 8: 36}, "Composes 4 steps from a bag of facts, fails from 6."),
        ({4: 40, 6: 24, 8: 36}, "Composes 4 steps from a bag of facts, unclear from 6."),
        ({4: 24, 6: 5}, "Composes some items of 4 steps from a bag of facts."),
        ({4: 5, 6: 5}, "Does not compose 4 steps from a bag of facts."),
    ],
)
def test_steps_are_composed_up_to_a_lift_of_a_half(
    tmp_path: Path, right: dict[int, int], words: str
) -> None:
    """The lower end of the interval decides: 24 of 40 is a lift of .54 and shows nothing."""
    assert sentence([results_of(tmp_path, by_steps("a/model", right))], "a/model") == words


@pytest.mark.parametrize(
    ("value", "low", "word"),
    [
        *((0.95, 0.9, "almost perfectly"), (0.99, 0.89, "well"), (0.7, 0.6, "well")),
        *((0.9, 0.5, "in part"), (0.4, 0.25, "in part"), (0.9, 0.01, "barely")),
        *((0.4, -0.1, "no better than the floor"), (-0.4, -0.8, "no better than the floor")),
    ],
)
def test_grades_follow_the_lower_end(value: float, low: float, word: str) -> None:
    assert Lifts(Estimate(value, low, 1.0, 9), {}).grade == word


def test_unequal_shares_of_attempts_without_a_score_are_said_beside_the_numbers(
    tmp_path: Path,
) -> None:
    """A model is declined on 15 of 40 items, another on none: 37.5% against 0."""
    declined = scored("a/model", [1.0] * 40)
    for row in declined[:15]:
        row |= {"kind": "declined", "scores": {}, "answer": None}
    results = results_of(tmp_path, declined + scored("b/model", [1.0] * 40))
    said = "he share of attempts in no score (declined or failed) differs: 37.5% for a/model"
    (table,) = overview(results, series_styles([results]))
    assert said in table.verdict
    named = [("five", part) for part in results.by_solver.values()]
    note = result_table(results.benchmark, named).note
    assert f"t{said}, five, 0.0% for b/model, five" in note
    alike = results_of(tmp_path / "b", scored("a/m", [1.0, None]) + scored("b/m", [None, 0.0]))
    assert "differs" not in overview(alike, series_styles([alike]))[0].verdict


def test_the_figures_beside_a_cell_leave_failed_attempts_out(tmp_path: Path) -> None:
    """Of 10 items 4 are right, 2 wrong, 3 declined and 1 failed: the 9 give 4/9 to 7/9."""
    rows = scored("a/model", [1.0] * 4 + [0.0] * 6)
    for row, kind in zip(rows[6:], ("declined", "declined", "declined", "failed"), strict=True):
        row |= {"kind": kind, "scores": {}, "answer": None}
    cell = grid_of(results_of(tmp_path, rows)).rows[0].cells[0]
    assert cell is not None
    low, high = ((share - 0.125) / 0.875 for share in (4 / 9, 7 / 9))
    assert cell.note == f"1 failed; 3 declined: {low:.2f} to {high:.2f}"


def test_a_player_tests_like_the_nearest_built_in_one(tmp_path: Path) -> None:
    rows = [
        asdict(attempt(GAME, item, GAME.solvers[name], GameView())) | {"solver": shown}
        for item in GAME.generate(GAME.presets["mixed"], 3, 0, 12)
        for name, shown in (
            *(("optimal", "optimal"), ("one_at_a_time", "one_at_a_time"), ("random", "random")),
            *(("information_gain", "a/good"), ("one_cause", "a/child")),
        )
    ]
    results = results_of(tmp_path, rows)
    assert sentence([results], "a/good").startswith("Picks informative tests; solves games ")
    child = "Tests like a child who varies one thing at a time; solves games "
    assert sentence([results], "a/child").startswith(child)


def test_models_come_first_and_the_best_baseline_of_each_role_after_them(tmp_path: Path) -> None:
    rows = scored("b/weak", [1, 0, 0, 0] * 5) + scored("a/strong", [1, 1, 1, 0] * 5)
    rows += scored("oracle", [1] * 20) + scored("last_line", [0] * 20)
    rows += scored("pointer_f_n1", [1, 0] * 10) + scored("random_candidate", [0] * 20)
    found = grid_of(results_of(tmp_path, rows))
    assert [row.name for row in found.rows] == ["a/strong", "b/weak", "ceiling", "best shortcut"]
    values = [row.cells[0].estimate.value for row in found.rows if row.cells[0]]
    # The floor is 0.125, so a lift is (share - 0.125) / 0.875.
    assert values == [pytest.approx((share - 0.125) / 0.875) for share in (0.75, 0.25, 1.0, 0.5)]
    assert found.rows[3].cells[0] is not None
    assert found.rows[3].cells[0].who == "pointer_f_n1"
    assert found.columns[0].floor == "floor 0.12"


def test_settings_with_shortcuts_are_left_out_of_the_answer_and_it_says_so(tmp_path: Path) -> None:
    rows = [
        asdict(attempt(EXPLICIT, item, EXPLICIT.solvers[solver], NhopView())) | {"solver": "a/m"}
        for preset, solver in (("explicit-easy", "oracle"), ("explicit-hard", "last_line"))
        for item in EXPLICIT.generate(EXPLICIT.presets[preset], 1, 0, 20)
    ]
    other = scored("a/m", [1.0] * 4)
    results = read_results([write_records(tmp_path, rows + other)], kind="run")
    assert results["nhop_explicit"].sound_settings == ["explicit-hard"]
    found = grid_of(results["nhop_explicit"], results["nhop_implicit"])
    notes = [column.note for column in found.columns]
    assert notes == ["audit passed; without explicit-easy (shortcuts)", "not audited"]
    cell = found.rows[0].cells[0]
    assert cell is not None
    assert cell.estimate.n == 20
    # Where every setting has shortcuts there is nothing else to show.
    easy = read_results([write_records(tmp_path / "easy", rows[:20])], kind="run")
    assert easy["nhop_explicit"].sound_settings == ["explicit-easy"]


def test_one_benchmark_has_its_settings_or_its_groups_as_columns(tmp_path: Path) -> None:
    def rows(count: int) -> list[Row]:
        return [
            row
            for number in range(count)
            for row in scored(
                *("a/m", [1.0], str(number)),
                spec={"M": 500 + number},
                groups={"steps": 4 + number % 2, "m": 8},
            )
        ]

    titles = [column.title for column in grid_of(results_of(tmp_path / "a", rows(3))).columns]
    assert titles == ["M=500", "M=501", "M=502"]
    titles = [column.title for column in grid_of(results_of(tmp_path / "b", rows(9))).columns]
    assert titles == ["4 steps", "5 steps"]


def test_without_models_the_grid_shows_baselines(tmp_path: Path) -> None:
    found = grid_of(results_of(tmp_path, scored("oracle", [1] * 4) + scored("last_line", [0] * 4)))
    assert [row.name for row in found.rows] == ["ceiling", "best shortcut"]


def test_people_show_up_as_solvers(tmp_path: Path) -> None:
    rows = scored("person:3fa9", [1.0] * 8, groups={"steps": 5, "m": 8, "condition": "timed"})
    found = grid_of(results_of(tmp_path, rows + scored("oracle", [1.0] * 8)))
    assert [row.name for row in found.rows] == ["people", "ceiling"]


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        ((-0.21, -0.28, -0.14), "costs 21 points [-28, -14]"),
        ((0.21, 0.14, 0.28), "adds 21 points [+14, +28]"),
        ((0.02, -0.05, 0.09), "makes no clear difference (+2 points [-5, +9])"),
    ],
)
def test_effects_are_said_in_points(ends: tuple[float, float, float], words: str) -> None:
    assert effect_words(Estimate(*ends, 60), not ends[1] <= 0 <= ends[2]) == words


def test_kinds_are_shares_of_all_attempts_right_ones_first(tmp_path: Path) -> None:
    rows = scored("a/model", [1.0, 0.0, 0.0, 0.0, None])
    rows[1] |= {"kind": "no-answer"}
    rows[2] |= {"kind": "other:1"}
    results = results_of(tmp_path, rows + scored("oracle", [1.0]))
    assert kind_shares(results, ["a/model"]) == [
        ("right", [0.2]),
        ("other", [0.4]),
        ("failed", [0.2]),
        ("no-answer", [0.2]),
    ]


def test_usage_is_that_of_models_and_leaves_out_empty_columns(tmp_path: Path) -> None:
    usage = {"input_tokens": 100, "output_tokens": 10}
    rows = scored("a/model", [1.0, None], usage=usage, seconds=2.0) + scored("oracle", [1.0])
    results = results_of(tmp_path, rows)
    assert usage_table([results], ["a/model"], {}) == [
        ("model", "attempts", "failed", "input tokens", "output tokens", "of them reasoning",
         "median latency"),
        ("a/model", "2", "1", "200", "20", "not reported", "2 s"),
    ]  # fmt: skip
    assert usage_table([results_of(tmp_path / "b", scored("a/m", [1.0]))], ["a/m"], {}) == []


def test_tokens_that_some_attempts_did_not_report_are_no_whole_sum(tmp_path: Path) -> None:
    rows = scored("a/model", [1.0, 1.0, 0.0], usage={"requests": 1, "retries": 0})
    rows[0] |= {"usage": {"requests": 1, "retries": 0, "output_tokens": 10}}
    (_, cells) = usage_table([results_of(tmp_path, rows)], ["a/model"], {})
    assert cells[:5] == ("a/model", "3", "not reported", "10 (2 attempts not reported)",
                         "not reported")  # fmt: skip


def test_switches_without_a_clear_effect_are_named_after_those_with_one() -> None:
    style = SeriesStyle("m0", 0)

    def effect(name: str, words: str, solver: str) -> Effect:
        return Effect(name, "", style, (), "", words, solver)

    unclear = f"{UNCLEAR} (+2 points [-5, +9])"
    effects = [
        effect("path", "lowers it by 9 points", "a/b"),
        effect("bal", unclear, "a/b"),
        effect("alias", unclear, "a/b"),
        effect("path", unclear, "c/d"),
        effect("bal", "raises it", "e/f"),
    ]
    assert effect_sentences(effects) == [
        "a/b: path lowers it by 9 points; no clear difference by bal, alias.",
        "c/d: no switch is shown to change its score.",
        "e/f: bal raises it.",
    ]
