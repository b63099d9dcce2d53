"""Charts: which there are for which records, their data, and the lines that each must have."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("altair")
converter = pytest.importorskip("vl_convert")

from tests.report.records import Row, attempts, results_of, scored  # noqa: E402
from trivium.benchmarks.blicket.game import GAME  # noqa: E402
from trivium.benchmarks.blicket.game.spec import GameView  # noqa: E402
from trivium.benchmarks.nhop import EXPLICIT  # noqa: E402
from trivium.benchmarks.nhop.spec import ExplicitSpec, ImplicitSpec, NhopView  # noqa: E402
from trivium.benchmarks.variables import VARIABLES  # noqa: E402
from trivium.benchmarks.variables.spec import VariablesSpec, VariablesView  # noqa: E402
from trivium.core.dialogue import attempt  # noqa: E402
from trivium.report import chart_rows  # noqa: E402
from trivium.report.charts import charts, exploration  # noqa: E402
from trivium.report.results import BenchmarkResults  # noqa: E402
from trivium.report.theme import ChartSpec, chart_spec, extent, save  # noqa: E402


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> BenchmarkResults:
    rows = [
        row
        for hops in (4, 6)
        for m in (6, 8)
        for solver in ("oracle", "last_line", "random_candidate")
        for row in attempts(ImplicitSpec(hops=hops, m=m), solver)
    ]
    return results_of(tmp_path_factory.mktemp("grid"), rows)


def drawn(results: BenchmarkResults, **options: Any) -> dict[str, ChartSpec]:
    prefix = f"{results.benchmark.name}_"
    return {chart.name.removeprefix(prefix): chart for chart in charts(results, **options)}


def data(chart: ChartSpec) -> list[Row]:
    """All rows of data in a chart."""
    return [row for rows in chart.spec["datasets"].values() for row in rows]


def lines(chart: ChartSpec, **where: object) -> dict[str, float]:
    """The value of each reference line in the rows that have these values."""
    return {
        row["line"]: row["value"]
        for row in data(chart)
        if "line" in row and all(row[key] == value for key, value in where.items())
    }


def test_a_grid_has_heatmaps_curves_and_kinds(grid: BenchmarkResults) -> None:
    assert list(drawn(grid)) == ["results", "em_n_m", "lift_n_m", "em_by_n", "metrics", "kinds"]


def test_lines_are_the_floor_the_best_shortcut_and_the_best_ceiling(
    tmp_path: Path,
) -> None:
    rows = scored("last_line", [1, 0, 0, 0]) + scored("pointer_f_n1", [1, 1, 0, 0])
    rows += scored("oracle", [1, 1, 1, 0]) + scored("openai/model", [1, 1, 1, 1])
    rows += [{**row, "groups": {"n": 6, "m": 8}} for row in scored("oracle", [1] * 4, "n6")]
    found = drawn(results_of(tmp_path, rows))
    assert lines(found["results"]) == {"floor": 0.125, "best shortcut": 0.5, "ceiling": 0.875}
    by_n = found["em_by_n"]
    assert lines(by_n, group_n=5) == {"floor": 0.125, "best shortcut": 0.5, "ceiling": 0.75}
    assert lines(by_n, group_n=6) == {"floor": 0.125, "ceiling": 1.0}
    own = {
        row["solver"]: row["value"]
        for row in data(by_n)
        if row.get("group_n") == 5 and "solver" in row
    }
    assert own == {"openai/model": 1.0, "oracle": 0.75, "pointer_f_n1": 0.5, "last_line": 0.25}


def test_heatmaps_show_the_floor_in_its_own_panel_and_lift_above_it(grid: BenchmarkResults) -> None:
    found = drawn(grid)
    floor = {
        (row["group_n"], row["group_m"]): row["value"]
        for row in data(found["em_n_m"])
        if row["solver"] == "floor"
    }
    assert floor == {(4, 6): 1 / 6, (4, 8): 1 / 8, (6, 6): 1 / 6, (6, 8): 1 / 8}
    lift = {row["solver"]: row["value"] for row in data(found["lift_n_m"])}
    assert set(lift) == {"oracle", "last_line", "random_candidate"}
    assert lift["oracle"] == 1.0


def test_published_figures_are_shown_only_beside_comparable_ones(
    grid: BenchmarkResults, tmp_path: Path
) -> None:
    shown = [row for row in data(drawn(grid)["em_by_n"]) if row.get("published")]
    assert {(row["group_n"], row["group_m"]): row["value"] for row in shown} == {
        (4, 6): 0.833,
        (4, 8): 0.792,
        (6, 6): 0.167,
        (6, 8): 0.083,
        (8, 6): 0.208,
        (8, 8): 0.167,
    }
    rows = [
        row
        for hops in (4, 6)
        for m in (8, 12)
        for row in attempts(ImplicitSpec(hops=hops, m=m), "oracle", items=1)
    ]
    other = drawn(results_of(tmp_path / "other", rows))["em_by_n"]
    assert other.about.endswith(
        "Black diamonds: gpt-4.1-mini (published), temperature 0, M=256, 24 items, seed 7."
    )
    # There is no panel for m = 6.
    shown = [row for row in data(other) if row.get("published")]
    assert {row["panel"] for row in shown} == {"m = 8"}
    assert other.spec["facet"]["sort"] == ["m = 8", "m = 12"]
    easy = [
        asdict(attempt(EXPLICIT, item, EXPLICIT.solvers["oracle"], NhopView()))
        for hops in (4, 6)
        for L in (2, 3)
        for item in EXPLICIT.generate(ExplicitSpec(hops=hops, L=L), 1, 0, 5)
    ]
    ladders = drawn(results_of(tmp_path / "easy", easy))["em_by_n"]
    # The published ladders had all three controls; these have none.
    assert len(data(ladders)) == 4 + 2 * 4  # the oracle, and its lines of floor and ceiling
    assert not [row for row in data(ladders) if row.get("published")]


def test_metrics_between_0_and_1_are_bars_under_the_heading_of_the_benchmark(
    tmp_path: Path,
) -> None:
    (row,) = scored("oracle", [0.0], benchmark="nhop_explicit")
    scores = {"em": 0.0, "fn_correct": 0.0, "fn_1_coherent": 1.0, "first_wrong_hop": 3.0}
    rows = [{**row, "scores": scores}]
    chart = drawn(results_of(tmp_path, rows))["metrics"]
    bars = [(row["metric"], row["value"]) for row in data(chart) if "metric" in row]
    # fn_correct is em by construction, so it has no bar.
    assert bars == [("em", 0.0), ("fn_1_coherent", 1.0)]
    assert lines(chart) == {"floor": 0.125, "ceiling": 0.0}  # of the headline metric
    assert chart.spec["title"]["text"] == "Block by block: where answers go wrong"


def test_a_label_is_in_every_title(grid: BenchmarkResults) -> None:
    titles = [chart.spec["title"]["text"] for chart in charts(grid, label="my\nlabel")]
    assert titles == [
        "my label: Results between floor and the ceiling (em)",
        "my label: em over n and m",
        "my label: lift over n and m",
        "my label: em against n, by m",
        "my label: Every metric between 0 and 1 (4 settings together)",
        "my label: Kinds of answers (4 settings together)",
    ]


def test_variants_have_bars_of_the_headline_and_of_lift(grid: BenchmarkResults) -> None:
    found = drawn(grid, variants=True)
    assert list(found)[:2] == ["variants_em", "variants_lift"]
    assert "results" not in found
    assert lines(found["variants_em"], setting="hops=4 m=6")["floor"] == pytest.approx(1 / 6)
    assert lines(found["variants_lift"], setting="hops=4 m=6")["floor"] == 0.0
    assert lines(found["variants_lift"], setting="hops=4 m=6")["ceiling"] == 1.0


def test_kinds_are_shares_of_all_attempts_in_a_fixed_order(tmp_path: Path) -> None:
    rows = scored("a/model", [1.0, 0.0, 0.0, 0.0, None])
    rows[1] |= {"kind": "violation"}
    rows[2] |= {"kind": "chain:1"}
    rows += scored("oracle", [1.0, 0.0, 0.0, 0.0, 0.0])
    chart = drawn(results_of(tmp_path, rows))["kinds"]
    shares = {(row["solver"], row["kind"]): (row["count"], row["share"]) for row in data(chart)}
    assert shares == {
        ("a/model", "right"): (1, 0.2),
        ("a/model", "chain"): (1, 0.2),
        ("a/model", "other"): (1, 0.2),
        ("a/model", "violation"): (1, 0.2),
        ("a/model", "error"): (1, 0.2),
        ("oracle", "right"): (1, 0.2),
        ("oracle", "other"): (4, 0.8),
    }
    order = ["right", "other", "chain", "violation", "error"]
    assert chart.spec["encoding"]["color"]["scale"]["domain"] == order
    assert {row["kind"]: row["rank"] for row in data(chart)} == dict(
        zip(order, range(5), strict=True)
    )


def test_agreement_of_trials_is_set_against_being_right(tmp_path: Path) -> None:
    rows = []
    # Answers of three trials of three items: agreed on a right one, on a wrong one, two of three.
    for item, answers in enumerate([(1, 1, 1), (0, 0, 0), (1, 0, 1)]):
        for trial, right in enumerate(answers):
            (row,) = scored("openai/model", [float(right)], f"item-{item}", trial=trial)
            rows.append(row)
    found = drawn(results_of(tmp_path, rows))["order_trials"]
    assert [row for row in data(found) if "agreed" in row] == [
        {"solver": "openai/model", "agreed": 0.667, "right": 1.0, "items": 1},
        {"solver": "openai/model", "agreed": 1.0, "right": 0.5, "items": 2},
    ]


def test_one_trial_has_no_chart_of_agreement(grid: BenchmarkResults) -> None:
    assert "order_trials" not in drawn(grid)


def test_charts_become_files(grid: BenchmarkResults, tmp_path: Path) -> None:
    paths = save([drawn(grid)["kinds"]], tmp_path)
    assert [path.name for path in paths] == ["nhop_implicit_kinds.png", "nhop_implicit_kinds.svg"]
    assert paths[0].read_bytes().startswith(b"\x89PNG")
    assert "other-chain-end" in paths[1].read_text()


def test_group_names_cannot_collide_with_figures(tmp_path: Path) -> None:
    rows = [
        {**row, "groups": {"value": number % 3, "items": number % 2}}
        for number, row in enumerate(scored("oracle", [1.0] * 12))
    ]
    found = drawn(results_of(tmp_path, rows))["em_by_value"]
    own = [row for row in data(found) if "solver" in row]
    assert [(row["group_value"], row["value"], row["items"]) for row in own] == [
        *((0, 1.0, 4), (1, 1.0, 4), (2, 1.0, 4))
    ]


def test_a_finished_attempt_keeps_its_last_value_in_the_mean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    traces = {0: [2.0, 1.0, 0.5], 1: [2.0, 0.25], 2: []}
    monkeypatch.setattr(chart_rows, "_trace", lambda _, record: traces[record["index"]])
    rows = [
        asdict(attempt(GAME, item, GAME.solvers["random"], GameView()))
        for item in GAME.generate(GAME.presets["paper"], 3, 0, 3)
    ]
    found = chart_rows.trace_rows(results_of(tmp_path, rows))
    assert [(row["group_step"], row["value"], row["items"]) for row in found] == [
        (0, 2.0, 2),
        (1, 0.625, 2),
        (2, 0.375, 2),
    ]
    assert {row["floor"] for row in found} == {2.0}


def test_exploration_is_traced_step_by_step(tmp_path: Path) -> None:
    rows = [
        asdict(attempt(GAME, item, GAME.solvers[name], GameView()))
        for item in GAME.generate(GAME.presets["paper"], 3, 0, 30)
        for name in ("optimal", "one_cause", "random")
    ]
    chart = drawn(results_of(tmp_path, rows))["exploration"]
    ceiling = {step: lines(chart, group_step=step)["ceiling"] for step in range(4)}
    # Six machines are log2(6) bits; the optimal explorer knows the machine after three tests.
    assert ceiling[0] == pytest.approx(2.585, abs=0.001)
    assert ceiling[3] == pytest.approx(0, abs=1e-9)
    assert lines(chart, group_step=3)["floor"] == pytest.approx(2.585, abs=0.001)
    random = [row["value"] for row in data(chart) if row.get("solver") == "random"]
    assert random[0] == pytest.approx(2.585, abs=0.001)
    assert 0.5 < random[3] < random[2] < random[1] < random[0]


def test_the_best_line_of_a_trace_is_the_lowest() -> None:
    rows = [
        {"solver": f"solver-{value}", "role": "shortcut", "value": value, "floor": 2.0}
        | {"group_setting": "paper", "group_step": 1, "low": value, "high": value, "items": 1}
        for value in (0.7, 0.4, 0.9)
    ]
    chart = chart_spec("name", exploration(rows, "bits"), None)
    assert lines(chart, group_step=1) == {"floor": 2.0, "best shortcut": 0.4}


def test_swept_numbers_that_no_group_mirrors_have_a_curve(tmp_path: Path) -> None:
    rows = [
        asdict(attempt(VARIABLES, item, VARIABLES.solvers["noctrl"], VariablesView()))
        for snr in (0.0, 20.0)
        for item in VARIABLES.generate(VariablesSpec(snr=snr), 1, 0, 9)
    ]
    results = results_of(tmp_path, rows)
    found = drawn(results)
    assert {"ctrl_nDCG_by_snr", "ctrl_nDCG_by_n_ctrl_vars"} <= set(found)
    own = [row for row in data(found["ctrl_nDCG_by_snr"]) if "solver" in row]
    assert [(row["group_snr"], row["items"]) for row in own] == [(0.0, 9), (20.0, 9)]
    # Its groups are not crossed: each has its own table.
    names = ["n_vars", "n_roots", "n_hyps", "n_ctrl_vars", "max_corr_depth"]
    assert results.groupings == [[name] for name in names]


def test_what_a_group_mirrors_is_not_drawn_twice(grid: BenchmarkResults) -> None:
    assert grid.swept_fields() == {}


@pytest.mark.parametrize(
    ("values", "marks"),
    [
        (("one", "other"), ["rule", "point", "rule"]),
        ((4, 6), ["rule", "line", "point", "line"]),
    ],
)
def test_lines_join_numbers_and_not_names(
    tmp_path: Path, values: tuple[object, object], marks: list[str]
) -> None:
    rows = [
        {**row, "groups": {"form": values[number % 2]}}
        for number, row in enumerate(scored("oracle", [1.0] * 12))
    ]
    found = drawn(results_of(tmp_path, rows))["em_by_form"]
    assert [layer["mark"]["type"] for layer in found.spec["layer"]] == marks


def test_ticks_are_at_the_values_and_show_them(tmp_path: Path) -> None:
    rows = [
        {**row, "groups": {"machines": (6, 11)[number % 2]}}
        for number, row in enumerate(scored("oracle", [1.0] * 12))
    ]
    found = drawn(results_of(tmp_path, rows))["em_by_machines"]
    svg = converter.vegalite_to_svg(found.spec)
    assert ">6</text>" in svg
    assert ">11</text>" in svg


def test_every_panel_has_its_own_axis(grid: BenchmarkResults) -> None:
    found = drawn(grid)
    for name in ("results", "em_n_m", "em_by_n"):
        assert found[name].spec["resolve"]["axis"]["x"] == "independent", name


def test_axes_hold_0_to_1_and_whatever_goes_further() -> None:
    assert extent([]) == [0.0, 1.0]
    assert extent([{"value": 0.5, "low": -0.25, "high": None}, {"value": 3.0}]) == [-0.25, 3.0]


def test_axes_with_too_many_values_and_settings_are_left_out(tmp_path: Path) -> None:
    rows = [
        {**row, "groups": {"n": number}, "spec": {"M": 500 + number // 2}}
        for number, row in enumerate(scored("oracle", [1.0] * 25))
    ]
    found = drawn(results_of(tmp_path / "a", rows))
    assert set(found) == {"em_by_M", "kinds"}
    found = drawn(results_of(tmp_path / "b", rows[:24]))
    assert set(found) == {"results", "em_by_n", "em_by_M", "kinds"}


def test_if_every_call_failed_there_are_only_kinds(tmp_path: Path) -> None:
    results = results_of(tmp_path, scored("openai/model", [None] * 3))
    assert list(drawn(results)) == list(drawn(results, variants=True)) == ["kinds"]


def test_no_text_in_a_chart_has_a_line_break(tmp_path: Path) -> None:
    rows = scored("bad\u2028model\n", [1.0], groups={"n": "x\ny"})
    rows += scored("oracle", [1.0, 0.0], groups={"n": "z"})
    found = drawn(results_of(tmp_path, rows))
    assert {row["solver"] for row in data(found["kinds"])} == {"bad model ", "oracle"}
    assert "x y" in {row.get("group_n") for row in data(found["em_by_n"])}
    assert "\\n" not in json.dumps([chart.spec for chart in found.values()])
