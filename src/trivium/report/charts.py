"""The charts of a benchmark: which ones its results have data for, and how each is drawn.

Every chart with room for them shows the floor, the best shortcut and the ceiling as grey lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import altair as alt

from trivium.report import chart_rows, theme
from trivium.report.chart_rows import column, reference_lines
from trivium.report.results import BenchmarkResults
from trivium.report.theme import GREY, REFERENCE, Chart, ChartSpec, Rows, distinct, finish, inline

MAX_PANELS = 6  # of one chart
MAX_SETTINGS = 12  # of the chart of results by setting
MAX_VALUES = 24  # along an axis; a table is better for more
LEGEND = "grey lines are the floor, the best shortcut and the ceiling."
KIND_COLOURS = {"right": "#009E73", "violation": "#404040", "error": "#a0a0a0"}
ERROR_COLOURS = ["#D55E00", "#E69F00", "#CC79A7", "#56B4E9", "#7F6BB3", "#8C6D46", "#0072B2"]


def charts(
    results: BenchmarkResults, *, variants: bool = False, label: str | None = None
) -> list[ChartSpec]:
    """Every chart that these results have data for."""
    name = results.benchmark.name
    return [
        theme.chart_spec(f"{name}_{suffix}", chart, label)
        for suffix, chart in _charts(results, variants)
    ]


def _charts(results: BenchmarkResults, variants: bool) -> Iterator[tuple[str, Chart]]:
    benchmark = results.benchmark
    headline = benchmark.metrics[0].name
    settings = len(results.settings)
    pooled = f" ({settings} settings together)" if settings > 1 else ""
    kinds = kind_bars(chart_rows.kind_rows(results), pooled)
    if not any(part.metrics[headline].n for part in results.by_solver.values()):
        yield "kinds", kinds
        return
    if variants:
        for metric in (headline, "lift"):
            rows = chart_rows.setting_rows(results, metric)
            yield f"variants_{metric}", variant_bars(rows, metric)
    elif settings <= MAX_SETTINGS:
        yield "results", result_dots(chart_rows.setting_rows(results, headline), headline)
    yield from _group_charts(results, headline)
    yield from _swept_charts(results, headline)
    if benchmark.trace_label is not None and (rows := chart_rows.trace_rows(results)):
        yield "exploration", exploration(rows, benchmark.trace_label)
    rows = chart_rows.metric_rows(results)
    if len(distinct(rows, "metric")) > 1:
        titles = {metric.name: metric.about for metric in benchmark.metrics}
        yield "metrics", metric_bars(rows, titles, benchmark.metrics_heading + pooled)
    yield "kinds", kinds
    if any(tally.has_trials for tally in results.tallies.values()):
        yield "order_trials", calibration(chart_rows.agreement_rows(results), headline)


def _group_charts(results: BenchmarkResults, headline: str) -> Iterator[tuple[str, Chart]]:
    """Heatmaps over two groups that were set, and the headline metric against every group."""
    values = {name: results.group_values(name) for name in results.varying_groups}
    names = [name for name in values if len(values[name]) <= MAX_VALUES]
    grid = len(names) > 1 and _is_grid(results, names)
    if grid:
        x, y = names[:2]
        for metric in (headline, "lift"):
            rows = chart_rows.group_rows(results, metric, [x, y])
            if metric == headline:
                lines = reference_lines(rows, [column(x), column(y)])
                rows += [{**row, "solver": "floor"} for row in lines if row["line"] == "floor"]
                rows += chart_rows.published_rows(results, [x, y])
            yield f"{metric}_{x}_{y}", heatmap(rows, x, y, metric)
    if grid and len(names) == 2 and len(values[names[1]]) <= MAX_PANELS:
        rows = chart_rows.group_rows(results, headline, names)
        published = [
            row
            for row in chart_rows.published_rows(results, names)
            if row[column(names[1])] in values[names[1]]
        ]
        yield f"{headline}_by_{names[0]}", curve(rows, names, headline, published)
        return
    for name in names:
        rows = chart_rows.group_rows(results, headline, [name])
        yield f"{headline}_by_{name}", curve(rows, [name], headline)


def _is_grid(results: BenchmarkResults, names: Sequence[str]) -> bool:
    """Whether these groups were set, not sampled: constant within every setting."""
    seen = {(key.setting, tuple(map(key.group, names))) for key in results.tallies}
    return len(seen) == len(results.settings)


def _swept_charts(results: BenchmarkResults, headline: str) -> Iterator[tuple[str, Chart]]:
    """The headline metric against the swept field with the most values, by the next one."""
    counts = {name: len(set(values.values())) for name, values in results.swept_fields().items()}
    names = [name for name, count in counts.items() if count <= MAX_VALUES]
    if names:
        by = sorted(names, key=lambda name: -counts[name])[:2]
        rows = chart_rows.field_rows(results, headline, by)
        yield f"{headline}_by_{by[0]}", curve(rows, by, headline)


def result_dots(rows: Rows, metric: str) -> Chart:
    """Every solver between floor and the ceiling, a panel for each setting."""
    lines = reference_lines(rows, ["setting"])
    both = [*rows, *lines]
    solver = alt.Y("solver:N", title=None, sort=distinct(rows, "solver"))
    own = alt.Chart().transform_filter("isValid(datum.solver)").encode(y=solver)
    scale = alt.Scale(domain=theme.extent(both))
    whiskers = own.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", title=metric, scale=scale), x2="high:Q", color=theme.role_colour()
    )
    dots = own.mark_point(filled=True, size=90, opacity=1).encode(
        x="value:Q",
        color=theme.role_colour(),
        shape=alt.Shape("role:N", title="role", scale=alt.Scale(domain=theme.ROLES)),
        tooltip=["setting:N", "solver:N", "role:N", *theme.tooltips()],
    )
    marks = alt.Chart().transform_filter("isValid(datum.line)").mark_rule(**REFERENCE)
    marks = marks.encode(x="value:Q", strokeDash=theme.dashes(lines))
    panel = alt.layer(marks, whiskers, dots, data=inline(both)).properties(
        width=300, height=alt.Step(20)
    )
    header = alt.Header(labelLimit=300)
    order = distinct(rows, "setting")
    setting = alt.Facet("setting:N", title=None, sort=order, header=header)
    return finish(
        theme.panels(panel, setting, columns=2),
        f"Results between floor and the ceiling ({metric})",
        f"A dot is a solver with its 95% interval; {LEGEND}",
    )


def heatmap(rows: Rows, x: str, y: str, metric: str) -> Chart:
    """A metric over two groups, a panel for each solver; published figures among them."""
    lift = metric == "lift"
    scale = (
        alt.Scale(scheme="blueorange", domain=[-1, 1], domainMid=0, reverse=True)
        if lift
        else alt.Scale(scheme="cividis", domain=[0, 1])
    )
    # Both scales are dark at one end, where the figure must be white to be read.
    dark = "abs(datum.value) > 0.62" if lift else "datum.value < 0.55"
    base = alt.Chart().encode(
        x=alt.X(f"{column(x)}:O", title=x, axis=alt.Axis(labelAngle=0)),
        y=alt.Y(f"{column(y)}:O", title=y),
    )
    cells = base.mark_rect().encode(
        color=alt.Color("value:Q", title=metric, scale=scale),
        tooltip=["solver:N", theme.group_tooltip(x), theme.group_tooltip(y), *theme.tooltips()],
    )
    texts = base.mark_text(fontSize=12).encode(
        text=alt.Text("value:Q", format=".2f"),
        color=alt.condition(dark, alt.value("white"), alt.value("black")),
    )
    panel = alt.layer(cells, texts, data=inline(rows)).properties(
        width=alt.Step(46), height=alt.Step(34)
    )
    chart = theme.panels(panel, alt.Facet("solver:N", title=None, sort=distinct(rows, "solver")))
    about = "0 is the floor and 1 is perfect." if lift else "The floor has its own panel."
    return finish(chart, f"{metric} over {x} and {y}", f"One panel for each solver. {about}")


def curve(rows: Rows, by: Sequence[str], metric: str, published: Rows = ()) -> Chart:
    """A metric against one group or field, a panel for each value of the second one."""
    columns = [column(name) for name in by]
    lines: Rows = reference_lines(rows, columns)
    order: list[str] = []
    if len(by) > 1:
        rows, lines, published = (
            [{**row, "panel": f"{by[1]} = {row[columns[1]]}"} for row in part]
            for part in (rows, lines, published)
        )
        order = distinct(sorted(rows, key=lambda row: row[columns[1]]), "panel")
    x, tooltip = theme.group_axis(rows, by[0]), [theme.group_tooltip(by[0])]
    chart = theme.interval_lines(rows, lines, published, x=x, y=metric, tooltip=tooltip)
    if order:
        chart = theme.panels(chart, alt.Facet("panel:N", title=None, sort=order))
    about = f"Bars are 95% intervals; {LEGEND}"
    if published:
        about += f" Black diamonds: {published[0]['solver']}, {published[0]['about']}."
    title = f"{metric} against {by[0]}"
    return finish(chart, f"{title}, by {by[1]}" if order else title, about)


def exploration(rows: Rows, measure: str) -> Chart:
    """What is left to learn after every test, a panel for each setting."""
    setting, step = column("setting"), column("step")
    lines = reference_lines(rows, [setting, step], best=min)
    x = alt.X(f"{step}:Q", title="tests made", axis=alt.Axis(tickMinStep=1, format="d"))
    tooltip = [theme.group_tooltip("setting"), theme.group_tooltip("step")]
    panel = theme.interval_lines(rows, lines, (), x=x, y=measure, tooltip=tooltip)
    facet = alt.Facet(f"{setting}:N", title=None, sort=distinct(rows, setting))
    return finish(
        theme.panels(panel, facet),
        f"Exploration: {measure} after every test",
        "Bars are 95% intervals. Grey lines: the ceiling is the ideal observer's choice of tests, "
        "the floor is what is known before the first test.",
    )


def metric_bars(rows: Rows, titles: Mapping[str, str], heading: str) -> Chart:
    """Every metric between 0 and 1, a bar for each solver."""
    names = distinct(rows, "metric")
    lines = reference_lines([row for row in rows if row["metric"] == names[0]], [])
    x = alt.X("metric:N", title=None, sort=names, axis=alt.Axis(labelAngle=0))
    offset = alt.XOffset("solver:N", sort=distinct(rows, "solver"))
    y = alt.Y("value:Q", title="share", scale=alt.Scale(domain=[0, 1]))
    bars = theme.bars(rows, lines, y, "metric:N", x=x, xOffset=offset)
    about = "; ".join(f"{name}: {titles[name]}" for name in names)
    return finish(
        bars.properties(width=max(420, 18 * len(rows)), height=260),
        heading,
        f"{about}. Grey lines are those of {names[0]}.",
    )


def variant_bars(rows: Rows, metric: str) -> Chart:
    """A metric by variant, a bar for each solver."""
    lines = reference_lines(rows, ["setting"])
    solvers, settings = distinct(rows, "solver"), distinct(rows, "setting")
    x = alt.X("solver:N", title=None, sort=solvers, axis=alt.Axis(labels=False, ticks=False))
    y = alt.Y("value:Q", title=metric, scale=alt.Scale(domain=theme.extent([*rows, *lines])))
    width = max(90, 18 * len(solvers), 7 * max(map(len, settings)))
    bars = theme.bars(rows, lines, y, "setting:N", x=x).properties(width=width, height=240)
    chart = bars.facet(column=alt.Column("setting:N", title=None, sort=settings))
    return finish(chart, f"{metric} by variant", f"Whiskers are 95% intervals; {LEGEND}")


def kind_bars(rows: Rows, pooled: str) -> Chart:
    """The kinds of answers of every solver: right ones, then kinds of error by frequency."""
    totals: Counter[str] = Counter()
    for row in rows:
        totals[row["kind"]] += row["share"]
    position = {"right": 0, "violation": 2, "error": 3}
    order = sorted(totals, key=lambda kind: (position.get(kind, 1), -totals[kind]))
    errors = iter(ERROR_COLOURS * (len(order) // len(ERROR_COLOURS) + 1))
    colours = [KIND_COLOURS.get(kind) or next(errors) for kind in order]
    bars = (
        alt.Chart(inline([{**row, "rank": order.index(row["kind"])} for row in rows]))
        .mark_bar()
        .encode(
            x=alt.X("share:Q", title="share of attempts", axis=alt.Axis(format="%")),
            y=alt.Y("solver:N", title=None, sort=distinct(rows, "solver")),
            color=alt.Color("kind:N", scale=alt.Scale(domain=order, range=colours), title="kind"),
            order=alt.Order("rank:Q"),
            tooltip=["solver:N", "kind:N", "count:Q", alt.Tooltip("share:Q", format=".1%")],
        )
        .properties(width=520, height=alt.Step(26))
    )
    return finish(
        bars,
        f"Kinds of answers{pooled}",
        "Right answers first, then kinds of error by frequency.",
    )


def calibration(rows: Rows, metric: str) -> Chart:
    """Whether the answers on which a solver's trials agree are right."""
    unit = alt.Scale(domain=[0, 1])
    base = alt.Chart(inline(rows)).encode(
        x=alt.X("agreed:Q", title="share of trials with the commonest answer", scale=unit),
        y=alt.Y("right:Q", title=f"{metric} of the commonest answer", scale=unit),
        color=theme.solver_colour(rows),
    )
    dots = base.mark_point(filled=True, opacity=0.9).encode(
        shape=theme.solver_shape(rows),
        size=alt.Size("items:Q", scale=alt.Scale(range=[40, 500]), title="items"),
        tooltip=["solver:N", "agreed:Q", alt.Tooltip("right:Q", format=".3f"), "items:Q"],
    )
    ideal = alt.Chart(alt.InlineData(values=[{"x": 0, "y": 0}, {"x": 1, "y": 1}]))
    diagonal = ideal.mark_line(color=GREY, strokeDash=[2, 3]).encode(x="x:Q", y="y:Q")
    layers = alt.layer(diagonal, base.mark_line(opacity=0.5), dots)
    return finish(
        layers.properties(width=380, height=340),
        "Agreement between orders and being right",
        "Each item was presented in several orders. On the dotted diagonal a solver is right "
        "as often as it agrees with itself.",
    )
