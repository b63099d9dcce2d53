"""Charts: which there are for which records, what they show, and where it is drawn."""

from __future__ import annotations

import itertools
import re
from dataclasses import asdict
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import trivium
from tests.report.records import attempts, results_of, scored
from trivium.benchmarks.blicket.game import GAME
from trivium.benchmarks.blicket.game.spec import GameView
from trivium.benchmarks.nhop import EXPLICIT
from trivium.benchmarks.nhop.spec import ExplicitSpec, ImplicitSpec, NhopView
from trivium.benchmarks.variables import VARIABLES
from trivium.benchmarks.variables.spec import VariablesSpec, VariablesView
from trivium.core.dialogue import attempt
from trivium.core.statistics import clustered_slope
from trivium.report.charts import (
    COLOURS,
    Charts,
    model_styles,
    score_over_tokens,
    series_styles,
)
from trivium.report.page import write_plots, write_report
from trivium.report.plot import (
    REFERENCES,
    Cell,
    Chart,
    Panel,
    Point,
    Series,
    SeriesStyle,
    draw,
    nice_ticks,
    number_text,
)
from trivium.report.results import BenchmarkResults
from trivium.report.templates import chart_svg, plain_css


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> BenchmarkResults:
    rows = [
        {**row, "solver": name}
        for hops in (4, 6)
        for m in (6, 8)
        for solver, name in (
            *(("oracle", "oracle"), ("last_line", "last_line"), ("oracle", "a/model")),
            ("random_candidate", "b/model"),
        )
        for row in attempts(ImplicitSpec(hops=hops, m=m), solver)
    ]
    return results_of(tmp_path_factory.mktemp("grid"), rows)


def drawn(results: BenchmarkResults, *, kind: str | None = None) -> dict[str, Chart]:
    prefix = f"{results.benchmark.name}_"
    results.kind = kind
    charts = Charts(results, series_styles([results])).all()
    return {chart.name.removeprefix(prefix): chart for chart in charts}


def points(chart: Chart, solver: str, panel: int = 0) -> dict[object, float]:
    """What a chart shows for a solver, or for a reference line."""
    found = [one for one in chart.panels[panel].series if one.name == solver]
    return {point.x: point.value for one in found for point in one.points}


def test_models_have_colours_and_baselines_those_of_their_roles(grid: BenchmarkResults) -> None:
    found = series_styles([grid])
    assert list(found) == ["a/model", "b/model", "oracle", "last_line"]
    colours = [style.colour for style in found.values()]
    assert colours[2:] == ["role-ceiling", "role-shortcut"]
    assert colours[0] != colours[1]
    assert found["oracle"].mark != found["last_line"].mark
    # The order is that of the lift, whatever the order of the records.
    assert next(iter(series_styles([grid]))) == "a/model"


def test_a_model_keeps_its_colour_whatever_else_is_on_the_page() -> None:
    names = [f"provider/model-{number}" for number in range(COLOURS)]
    together = model_styles(names)
    assert len({together[name] for name in names}) == COLOURS  # as many as there are colours
    # Alone, each has the colour of its name; of several only those that clash may move.
    alone = {name: model_styles([name])[name] for name in names}
    first = {alone[name].colour: name for name in sorted(names, reverse=True)}
    assert all(together[name] == alone[name] for name in first.values() if name == min(names))
    assert model_styles(reversed(names)) == together
    pair = [names[0], next(name for name in names if alone[name] != alone[names[0]])]
    assert {name: model_styles(pair)[name] for name in pair} == {name: alone[name] for name in pair}


def test_where_answers_break_is_a_bar_for_every_number_of_a_kind(tmp_path: Path) -> None:
    rows = scored("a/model", [1.0] * 4 + [0.0] * 6)
    for row, kind in zip(rows[4:], ("wrong-step:1", *["wrong-step:3"] * 4, "wrong"), strict=True):
        row |= {"kind": kind}
    rows += scored("b/model", [1.0] * 10)
    chart = drawn(results_of(tmp_path, rows))["breaks"]
    (panel,) = chart.panels
    assert (panel.title, panel.x_label) == ("wrong step", "the first step whose slot is wrong")
    assert points(chart, "a/model") == {1: 0.1, 2: 0.0, 3: 0.4}
    # A bar begins at 0 and is as high as its share.
    drawn_bars = panel.drawn.lines[0].dots
    zero = panel.drawn.bottom
    heights = [zero - dot.y for dot in drawn_bars]
    assert heights[0] * 4 == pytest.approx(heights[2], abs=1.0)


def test_a_late_step_breaks_in_a_share_of_the_items_that_have_it(tmp_path: Path) -> None:
    short, long = (
        scored("a/model", [0.0] * 10, str(n), groups={"steps": n, "m": 8}) for n in (3, 5)
    )
    for row in short[:2] + long[:2]:
        row |= {"kind": "wrong-step:1"}
    long[2] |= {"kind": "wrong-step:5"}
    chart = drawn(results_of(tmp_path, short + long))["breaks"]
    assert points(chart, "a/model") == {1: 0.2, 2: 0, 3: 0, 4: 0, 5: 0.1}


def test_a_second_group_has_lines_of_its_own_in_a_panel_for_each_model(
    grid: BenchmarkResults,
) -> None:
    found = drawn(grid)
    assert list(found) == ["correct_by_steps", "correct_steps_m", "lift_steps_m", "breaks"]
    chart = found["correct_by_steps"]
    assert [panel.title for panel in chart.panels] == ["a/model", "b/model"]
    lines = [one for one in chart.panels[0].series if one.name == "a/model"]
    assert [(one.label, one.shade) for one in lines] == [("m = 6", 100), ("m = 8", 35)]
    assert {point.value for one in lines for point in one.points} == {1.0}
    floors = [one.points[0].value for one in chart.panels[0].series if one.name == "floor"]
    assert floors == [pytest.approx(1 / 6), pytest.approx(1 / 8)]
    cells = found["lift_steps_m"].panels[0].cells
    assert [(cell.x, cell.y, cell.value) for cell in cells] == [
        *((3, 6, 1.0), (3, 8, 1.0), (5, 6, 1.0), (5, 8, 1.0))
    ]


def test_one_group_has_one_panel_with_the_reference_lines(tmp_path: Path) -> None:
    rows = [
        row
        for hops in (4, 6)
        for name, scores in (
            *(("oracle", [1, 1]), ("last_line", [1, 0]), ("pointer_f_n1", [0, 0])),
            *(("a/model", [1, 0]), ("b/model", [None, 1])),
        )
        for row in scored(name, scores, f"{hops}", groups={"steps": hops, "m": 8})
    ]
    chart = drawn(results_of(tmp_path, rows))["correct_by_steps"]
    assert points(chart, "a/model") == {4: 0.5, 6: 0.5}
    assert points(chart, "b/model") == {4: 1.0, 6: 1.0}
    assert points(chart, "ceiling") == {4: 1.0, 6: 1.0}
    assert points(chart, "shortcut") == {4: 0.5, 6: 0.5}
    assert points(chart, "floor") == {4: 0.125, 6: 0.125}
    assert "oracle" not in {one.name for one in chart.panels[0].series}


def test_without_models_the_baselines_are_drawn(tmp_path: Path) -> None:
    rows = [
        row
        for hops in (4, 6)
        for row in scored("oracle", [1, 1], f"{hops}", groups={"steps": hops, "m": 8})
    ]
    chart = drawn(results_of(tmp_path, rows))["correct_by_steps"]
    assert [one.style.colour for one in chart.panels[0].series] == ["role-ceiling", "floor"]


def test_published_figures_need_the_same_conditions(tmp_path: Path) -> None:
    figure = EXPLICIT.published[0]
    changed = ExplicitSpec(**{**figure.spec, "hops": figure.groups["steps"]})
    other = ExplicitSpec(**{**figure.spec, "hops": 8})
    rows = [
        asdict(attempt(EXPLICIT, item, EXPLICIT.solvers["oracle"], NhopView()))
        for spec in (changed, other)
        for item in EXPLICIT.generate(spec, 1, 0, 2)
    ]
    chart = drawn(results_of(tmp_path / "a", rows))["correct_by_steps"]
    assert points(chart, "published") == {4: 0.708, 8: 0.417}, "of L=3 only, and no 6 hops"
    easier = {**figure.spec, "path_collision_stress": False}
    rows = [
        asdict(attempt(EXPLICIT, item, EXPLICIT.solvers["oracle"], NhopView()))
        for hops in (4, 6)
        for item in EXPLICIT.generate(ExplicitSpec(**{**easier, "hops": hops}), 1, 0, 2)
    ]
    assert points(drawn(results_of(tmp_path / "b", rows))["correct_by_steps"], "published") == {}


def test_swept_numbers_that_no_group_mirrors_have_a_curve(tmp_path: Path) -> None:
    rows = [
        asdict(attempt(VARIABLES, item, VARIABLES.solvers["noctrl"], VariablesView()))
        for snr in (0.0, 20.0)
        for item in VARIABLES.generate(VariablesSpec(snr=snr), 1, 0, 9)
    ]
    results = results_of(tmp_path, rows)
    assert "correct_by_snr" not in drawn(results)
    found = drawn(results, kind="sweep")
    assert {"correct_by_snr", "correct_by_n_vars"} <= set(found)
    assert list(points(found["correct_by_snr"], "noctrl")) == [0.0, 20.0]


def test_variants_of_a_diagnosis_keep_their_order(tmp_path: Path) -> None:
    rows = scored("a/m", [1.0], spec={"M": 600}) + scored("a/m", [0.0], spec={})
    results = results_of(tmp_path, rows)
    results.setting_order = ("implicit", "M=600")
    chart = drawn(results, kind="diag")["correct_by_variant"]
    assert list(points(chart, "a/m").items()) == [("implicit", 0.0), ("M=600", 1.0)]
    assert [text for _, text in draw(chart.panels[0]).x_ticks] == ["implicit", "M=600"]


def test_tokens_are_drawn_with_what_one_more_costs(tmp_path: Path) -> None:
    rows = []
    for hops in (4, 6, 8):
        for number, row in enumerate(
            scored("a/model", [1.0] * 6, f"{hops}", groups={"steps": hops, "m": 8})
        ):
            tokens = 100 + 30 * hops + (1 if number % 2 else -1)
            rows.append({**row, "usage": {"output_tokens": tokens, "input_tokens": 5}})
    results = results_of(tmp_path, rows)
    chart = drawn(results)["tokens"]
    assert points(chart, "a/model") == {4: 220.0, 6: 280.0, 8: 340.0}
    assert chart.words == "One more step takes a/model 30 [30, 30] tokens."
    scatter = score_over_tokens([results], series_styles([results]))
    assert scatter is not None
    assert points(scatter, "a/model") == {280.0: 1.0}
    assert score_over_tokens([results_of(tmp_path / "b", scored("b/m", [1.0]))], {}) is None


def test_figures_that_are_all_0_lie_on_the_axis(tmp_path: Path) -> None:
    rows = [
        {**row, "usage": {"output_tokens": 0}}
        for hops in (4, 6)
        for row in scored("a/model", [0.0] * 3, f"{hops}", groups={"steps": hops, "m": 8})
    ]
    results = results_of(tmp_path, rows)
    chart = drawn(results)["tokens"]
    at = chart.panels[0].drawn
    assert {dot.y for line in at.lines for dot in line.dots} == {at.bottom}
    assert at.y_ticks[0] == (at.bottom, "0")
    assert at.y_ticks[-1][0] < at.bottom
    scatter = score_over_tokens([results], series_styles([results]))
    assert scatter is not None
    for one in (chart, scatter):
        text = chart_svg(one, series_styles([results]), None)
        assert "nan" not in text
        assert "inf" not in text
    assert write_report(tmp_path).exists()


def test_the_slope_is_that_of_least_squares() -> None:
    x, y = np.array([1.0, 1, 2, 2, 4]), np.array([1.0, 3, 4, 4, 9])
    found = clustered_slope(x, y, np.arange(5))
    # By hand: the means are 2 and 4.2, the sums of products and squares 14 and 6.
    assert found is not None
    assert found.value == pytest.approx(14 / 6)
    assert found.low is not None
    assert found.low < 14 / 6
    assert clustered_slope(np.ones(3), np.array([1.0, 2, 3]), np.arange(3)) is None
    # Two items are always on a line, three are not; and an item tried twice is one.
    assert clustered_slope(np.array([1.0, 2]), np.array([3.0, 4]), np.arange(2)) is None
    assert clustered_slope(x[1:4], y[1:4], np.array([0, 0, 1])) is None
    three = clustered_slope(x[1:4], y[1:4], np.arange(3))
    assert three is not None
    assert three.value == pytest.approx(1)
    # Trials that say the same again are worth nothing.
    again = clustered_slope(np.tile(x, 4), np.tile(y, 4), np.tile(np.arange(5), 4))
    assert again is not None
    assert again.low == pytest.approx(found.low)
    assert again.n == 5


def test_intervals_of_slopes_hold_for_items_tried_several_times() -> None:
    """Items differ, trials of one hardly do: 400 intervals miss at most 40 times (1 in 100,000)."""
    random = np.random.default_rng(5)
    items = np.repeat(np.arange(40), 5)
    x = np.repeat(np.tile([4.0, 6, 8, 12], 10), 5)
    missed = 0
    for _ in range(400):
        y = 30 * x + random.normal(0, 50, 40)[items] + random.normal(0, 5, 200)
        found = clustered_slope(x, y, items)
        assert found is not None
        missed += found.excludes(30)
    assert missed <= 40


def test_trials_of_an_item_are_one_figure_of_tokens(tmp_path: Path) -> None:
    rows = [
        {**row, "usage": {"output_tokens": tokens + trial}}
        for hops in (4, 6)
        for trial in range(4)
        for row, tokens in zip(
            scored("a/model", [1.0] * 3, f"{hops}", groups={"steps": hops, "m": 8}, trial=trial),
            (100, 200, 300),
            strict=True,
        )
    ]
    (panel,) = drawn(results_of(tmp_path, rows))["tokens"].panels
    assert [point.tip for point in panel.series[0].points] == [
        f"a/model, {hops} steps (hops - 1): 202 tokens, n = 3" for hops in (4, 6)
    ]


def test_agreement_of_trials_is_set_against_being_right(tmp_path: Path) -> None:
    rows = []
    # Answers of three trials of three items: agreed on a right one, on a wrong one, two of three.
    for item, answers in enumerate([(1, 1, 1), (0, 0, 0), (1, 0, 1)]):
        for trial, right in enumerate(answers):
            (row,) = scored("openai/model", [float(right)], f"item-{item}", trial=trial)
            rows.append(row)
    chart = drawn(results_of(tmp_path, rows))["order_trials"]
    assert points(chart, "openai/model") == {0.667: 1.0, 1.0: 0.5}


def test_exploration_is_traced_step_by_step(tmp_path: Path) -> None:
    rows = [
        {**asdict(attempt(GAME, item, GAME.solvers[name], GameView())), "solver": shown}
        for item in GAME.generate(GAME.presets["paper"], 3, 0, 30)
        for name, shown in (("optimal", "optimal"), ("random", "a/model"))
    ]
    chart = drawn(results_of(tmp_path, rows))["exploration"]
    ceiling, model = points(chart, "optimal"), points(chart, "a/model")
    # Six machines are log2(6) bits; the optimal explorer knows the machine after three tests.
    assert ceiling[0] == model[0] == pytest.approx(2.585, abs=0.001)
    assert ceiling[3] == pytest.approx(0, abs=1e-9)
    assert 0.5 < model[3] < model[2] < model[1] < model[0]


def test_if_every_call_failed_there_is_no_chart(tmp_path: Path) -> None:
    assert drawn(results_of(tmp_path, scored("openai/model", [None] * 3))) == {}


def test_values_are_drawn_where_they_are() -> None:
    series = Series(
        "s", SeriesStyle("m0", 0), [Point(4, 0.0), Point(6, 0.5, 0.25, 1.0), Point(8, 1.0)]
    )
    floor = Series("floor", REFERENCES["floor"], [Point(x, 0.5) for x in (4, 5, 6, 7, 8)])
    at = draw(Panel([series, floor], "x", "y"))
    ys = [dot.y for dot in at.lines[0].dots]
    assert (ys[0], ys[2]) == (at.bottom, 26)
    assert ys[1] == (at.bottom + 26) / 2
    dots = at.lines[0].dots
    assert dots[1].x - dots[0].x == dots[2].x - dots[1].x > 0
    assert dots[1].low == pytest.approx(at.bottom - (at.bottom - 26) / 4, abs=0.1)
    assert [text for _, text in at.x_ticks] == ["4", "6", "8"]
    assert [text for _, text in at.y_ticks] == ["0", "0.2", "0.4", "0.6", "0.8", "1"]


def test_reference_lines_join_numbers_and_not_names() -> None:
    def path(*values: object) -> str:
        line = Series("floor", REFERENCES["floor"], [Point(x, 0.5) for x in values])
        return draw(Panel([line], "x", "y")).lines[0].path

    assert path(4, 6).count("L") == 1
    assert path("one", "other").count("h40") == 2
    assert "L" not in path("one", "other")
    assert "H" in path(4)


def test_long_names_on_an_axis_are_on_two_lines() -> None:
    def ticks(*names: str) -> list[str]:
        series = Series("s", SeriesStyle("m0", 0), [Point(name, 0.5) for name in names])
        return [text for _, text in draw(Panel([series], "x", "y")).x_ticks]

    assert ticks("control", "path") == ["control", "path"]
    names = [f"unanswerable-{number}" for number in range(7)]
    assert ticks(*names) == [f", {n}" if at % 2 else n for at, n in enumerate(names)]


def test_labels_do_not_overlap() -> None:
    style, points = SeriesStyle("m0", 0), [Point(1, 0.5), Point(2, 0.5)]
    lines = [Series(f"s{n}", style, points, label="x") for n in range(3)]
    places = sorted(line.label_y for line in draw(Panel(lines, "x", "y")).lines)
    assert all(later - earlier >= 13 for earlier, later in itertools.pairwise(places))


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (0, 7900, [0, 2000, 4000, 6000, 8000]),
        (0, 0, [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (0, 1e-15, [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
    ],
)
def test_ticks_are_round_and_hold_both_ends(low: float, high: float, ticks: list[float]) -> None:
    assert nice_ticks(low, high) == ticks


def test_numbers_are_said_shortly() -> None:
    assert list(map(number_text, (0.25, 12, 1200.0, 25_000))) == ["0.25", "12", "1,200", "25k"]


def test_a_chart_file_has_its_label_and_needs_no_variables(grid: BenchmarkResults) -> None:
    text = chart_svg(drawn(grid)["correct_by_steps"], series_styles([grid]), "la<bel")
    lines = list(ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}text"))
    assert lines[0].text == "la<bel: correct over steps (hops - 1), by m"
    legend = [one.text for one in lines if one.get("x") == "20"]
    assert legend == ["a/model", "b/model", "floor"]
    assert "var(" not in plain_css()


def test_a_chart_file_is_well_formed_whatever_names_hold(tmp_path: Path) -> None:
    rows = scored('</svg>"\u2028<b>', [1.0, 0.0], groups={"steps": 4, "m": 8})
    rows += scored('</svg>"\u2028<b>', [1.0], "x", groups={"steps": 6, "m": 8})
    results = results_of(tmp_path, rows)
    for chart in drawn(results).values():
        ElementTree.fromstring(chart_svg(chart, series_styles([results]), None))


def test_answers_that_break_before_the_first_step_are_drawn(tmp_path: Path) -> None:
    """A reply with the question's own token has composed no step."""

    def start(prompt: str) -> str:
        return str(re.findall(r"\w+(?=\?)", prompt)[0])

    result = trivium.evaluate("nhop_implicit", start, items=4, out=tmp_path, name="start")
    assert result.summary.kinds == {"stopped-early:0": 4}
    assert write_plots(tmp_path)
    page = result.report(tmp_path / "page.html").read_text()
    assert "Where it breaks" in page


def test_cells_lie_side_by_side_within_the_axes() -> None:
    values = [(x, y) for x in ("a", "b", "c") for y in (2, 10)]
    drawn = Panel([], "x", "y", cells=[Cell(x, y, 0.5, "") for x, y in values]).drawn
    places = {(cell.x, cell.y): (x, y) for x, y, cell in drawn.boxes}
    wide, high = drawn.box_size
    steps = (places["b", 2][0] - places["a", 2][0], places["a", 2][1] - places["a", 10][1])
    assert 0 < steps[0] - wide <= 3, "a gap between columns"
    assert 0 < steps[1] - high <= 3, "and between rows, the larger one above"
    assert places["c", 2][0] + wide <= drawn.right < drawn.width
    assert places["c", 2][1] + high <= drawn.bottom < drawn.height
