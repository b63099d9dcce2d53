"""The pictures: one function each, rows in, chart out.

Lines of chance, of the best shortcut and of the ceiling stand in every picture that has a place
for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt

from trivium.report.frames import column
from trivium.report.theme import (
    GREY,
    ROLES,
    Chart,
    Rows,
    dashes,
    distinct,
    extent,
    finish,
    inline,
    panels,
    role_colour,
    solver_colour,
    solver_shape,
    tip,
    tooltips,
)


def standing(rows: Rows, lines: Rows, metric: str) -> Chart:
    """Who is where between floor and ceiling, a panel for each setting."""
    both = [*rows, *lines]
    names = distinct(rows, "solver")
    solver = alt.Y("solver:N", title=None, sort=names)
    base = alt.Chart()
    own = base.transform_filter("isValid(datum.solver)")
    scale = alt.Scale(domain=extent(both))
    whiskers = own.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", title=metric, scale=scale), x2="high:Q", y=solver, color=role_colour()
    )
    dots = own.mark_point(filled=True, size=90, opacity=1).encode(
        x="value:Q",
        y=solver,
        color=role_colour(),
        shape=alt.Shape("role:N", title="role", scale=alt.Scale(domain=ROLES)),
        tooltip=["setting:N", "solver:N", "role:N", *tooltips()],
    )
    marks = base.mark_rule(strokeWidth=1.5, color=GREY).encode(
        x="value:Q", strokeDash=dashes(lines)
    )
    marks = marks.transform_filter("isValid(datum.line)")
    panel = alt.layer(marks, whiskers, dots, data=inline(both)).properties(
        width=300, height=alt.Step(20)
    )
    setting = alt.Facet(
        "setting:N",
        title=None,
        sort=distinct(rows, "setting"),
        header=alt.Header(labelLimit=300),
    )
    chart = panels(panel, setting, columns=2)
    return finish(
        chart,
        f"Who is where between chance and the ceiling ({metric})",
        "A dot is a solver with its 95% interval; grey lines are chance, the best shortcut "
        "and the ceiling.",
    )


def heatmap(rows: Rows, x: str, y: str, metric: str, *, lift: bool) -> Chart:
    """A metric over two parameters, a panel for each solver; published figures among them."""
    scale = (
        alt.Scale(scheme="blueorange", domain=[-1, 1], domainMid=0, reverse=True)
        if lift
        else alt.Scale(scheme="cividis", domain=[0, 1])
    )
    # Both scales are dark at one end: the figure is written in what can be read there.
    dark = "abs(datum.value) > 0.62" if lift else "datum.value < 0.55"
    across = alt.X(f"{column(x)}:O", title=x, axis=alt.Axis(labelAngle=0))
    down = alt.Y(f"{column(y)}:O", title=y)
    base = alt.Chart().encode(x=across, y=down)
    cells = base.mark_rect().encode(
        color=alt.Color("value:Q", title=metric, scale=scale),
        tooltip=["solver:N", tip(x), tip(y), *tooltips()],
    )
    texts = base.mark_text(fontSize=12).encode(
        text=alt.Text("value:Q", format=".2f"),
        color=alt.condition(dark, alt.value("white"), alt.value("black")),
    )
    panel = alt.layer(cells, texts, data=inline(rows)).properties(
        width=alt.Step(46), height=alt.Step(34)
    )
    chart = panels(panel, alt.Facet("solver:N", title=None, sort=distinct(rows, "solver")))
    about = "0 is chance and 1 is perfect." if lift else "Chance has a panel of its own."
    return finish(chart, f"{metric} over {x} and {y}", f"One panel for each solver. {about}")


def curve(
    rows: Rows, lines: Rows, published: Rows, x: str, panel: str | None, *, metric: str
) -> Chart:
    """A metric against one parameter with 95% intervals, a panel for each value of another."""
    both = [*rows, *lines, *({**row, "published": True} for row in published)]
    if panel is not None:
        both = [{**row, "panel": f"{panel} = {row[column(panel)]}"} for row in both]
    along = _along(rows, x)
    base = alt.Chart().encode(x=along)
    colour = solver_colour(rows)
    own = base.transform_filter("isValid(datum.solver) && !datum.published")
    height = alt.Y("value:Q", title=metric, scale=alt.Scale(domain=extent(both)))
    bands = own.mark_rule(strokeWidth=1.5, opacity=0.7).encode(
        y=alt.Y("low:Q", title=metric), y2="high:Q", color=colour
    )
    paths = own.mark_line(strokeWidth=2).encode(y=height, color=colour)
    dots = own.mark_point(filled=True, size=55, opacity=1).encode(
        y="value:Q",
        color=colour,
        shape=solver_shape(rows),
        tooltip=["solver:N", tip(x), *tooltips()],
    )
    marks = base.transform_filter("isValid(datum.line)")
    if along.shorthand.endswith(":Q"):
        marks, between = marks.mark_line(color=GREY, strokeWidth=1.5), [paths]
    else:  # between names there is nothing that a line could pass through
        across = alt.X(f"{column(x)}:N", bandPosition=0.1)
        ends = {"x": across, "x2": alt.X2(column(x), bandPosition=0.9)}
        marks, between = marks.mark_rule(color=GREY, strokeWidth=1.5).encode(**ends), []
    marks = marks.encode(y="value:Q", strokeDash=dashes(lines))
    layers = [bands, *between, dots, marks]
    told = "Bars are 95% intervals; grey lines are chance, the best shortcut and the ceiling."
    if published:
        layers.append(_published_points(base))
        told += f" Black diamonds: {published[0]['solver']}, {published[0]['about']}."
    chart: Any = alt.layer(*layers, data=inline(both)).properties(width=280, height=240)
    if panel is not None:
        order = distinct(sorted(both, key=lambda row: row[column(panel)]), "panel")
        chart = panels(chart, alt.Facet("panel:N", title=None, sort=order))
    return finish(chart, f"{metric} against {x}" + (f", by {panel}" if panel else ""), told)


def _along(rows: Rows, x: str) -> alt.X:
    """The axis of a parameter: ticks where it was set, in even steps where it is a name."""
    values = {row[column(x)] for row in rows}
    if not all(isinstance(value, (int, float)) for value in values):
        band = alt.Scale(type="band")
        return alt.X(f"{column(x)}:N", title=x, axis=alt.Axis(labelAngle=0), scale=band)
    # A format alone would round to the step between ticks: 6 and 11 would read 6 and 10.
    axis = alt.Axis(values=sorted(values), labelExpr="format(datum.value, '~r')")
    scale = alt.Scale(zero=False, padding=14)
    return alt.X(f"{column(x)}:Q", title=x, axis=axis, scale=scale)


def _published_points(base: alt.Chart) -> alt.Chart:
    # A white edge keeps a black mark visible on a dark page.
    mark = base.transform_filter("isValid(datum.published)").mark_point(
        shape="diamond", size=110, opacity=1, fill="black", stroke="white", strokeWidth=1
    )
    tips = ["solver:N", alt.Tooltip("value:Q", format=".3f"), "about:N"]
    points: alt.Chart = mark.encode(y="value:Q", tooltip=tips)
    return points


def metric_bars(rows: Rows, lines: Rows, titles: Mapping[str, str], heading: str) -> Chart:
    """Every proportion metric of every solver side by side: for ladders, block by block."""
    order = distinct(rows, "metric")
    names = distinct(rows, "solver")
    offset = alt.XOffset("solver:N", sort=names)
    base = alt.Chart(inline(rows)).encode(
        x=alt.X("metric:N", title=None, sort=order, axis=alt.Axis(labelAngle=0)), xOffset=offset
    )
    bars = base.mark_bar().encode(
        y=alt.Y("value:Q", title="share", scale=alt.Scale(domain=[0, 1])),
        color=solver_colour(rows),
        tooltip=["solver:N", "metric:N", *tooltips()],
    )
    whiskers = base.mark_rule(color=GREY).encode(y="low:Q", y2="high:Q")
    rule = (
        alt.Chart(inline(lines))
        .mark_rule(color=GREY, strokeWidth=1.5)
        .encode(y="value:Q", strokeDash=dashes(lines))
    )
    width = max(420, 18 * len(rows))
    chart = alt.layer(bars, whiskers, rule).properties(width=width, height=260)
    about = "; ".join(f"{name}: {titles[name]}" for name in order)
    return finish(chart, heading, f"{about}. Grey lines are those of {order[0]}.")


def kind_bars(rows: Rows, pooled: str) -> Chart:
    """What kinds of answers every solver gave."""
    totals: dict[str, float] = {}
    for row in rows:
        totals[row["kind"]] = totals.get(row["kind"], 0) + row["share"]
    first = [kind for kind in ("right", "violation", "error") if kind in totals]
    wrong = sorted((kind for kind in totals if kind not in first), key=lambda kind: -totals[kind])
    order = [*first[:1], *wrong, *first[1:]] if "right" in totals else [*wrong, *first]
    fixed = {"right": "#009E73", "violation": "#404040", "error": "#a0a0a0"}
    rest = iter(["#D55E00", "#E69F00", "#CC79A7", "#56B4E9", "#7F6BB3", "#8C6D46", "#0072B2"] * 4)
    colours = [fixed.get(kind) or next(rest) for kind in order]
    ranked = [{**row, "rank": order.index(row["kind"])} for row in rows]
    bars = (
        alt.Chart(inline(ranked))
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
        f"What kinds of answers were given{pooled}",
        "Right answers first, then kinds of error by how common they are.",
    )


def variant_bars(rows: Rows, lines: Rows, metric: str) -> Chart:
    """A metric by variant, a bar for each solver."""
    both = [*rows, *lines]
    names, settings = distinct(rows, "solver"), distinct(rows, "setting")
    base = alt.Chart()
    x = alt.X(
        "solver:N",
        title=None,
        sort=names,
        axis=alt.Axis(labels=False, ticks=False),
    )
    height = alt.Y("value:Q", title=metric, scale=alt.Scale(domain=extent(both)))
    own = base.transform_filter("isValid(datum.solver)")
    bars = own.mark_bar().encode(
        x=x,
        y=height,
        color=solver_colour(rows),
        tooltip=["setting:N", "solver:N", *tooltips()],
    )
    whiskers = own.mark_rule(color=GREY).encode(x=x, y="low:Q", y2="high:Q")
    marks = (
        base.transform_filter("isValid(datum.line)")
        .mark_rule(color=GREY, strokeWidth=1.5)
        .encode(y="value:Q", strokeDash=dashes(lines))
    )
    chart = (
        alt.layer(bars, whiskers, marks, data=inline(both))
        .properties(width=max(90, 18 * len(names), 7 * max(map(len, settings))), height=240)
        .facet(column=alt.Column("setting:N", title=None, sort=settings))
    )
    return finish(
        chart,
        f"{metric} by variant",
        "Whiskers are 95% intervals; grey lines are chance, the best shortcut and the ceiling.",
    )


def calibration(rows: Rows, metric: str) -> Chart:
    """Items told several times: does agreement with oneself mean being right?"""
    base = alt.Chart(inline(rows))
    dots = base.mark_point(filled=True, opacity=0.9).encode(
        x=alt.X(
            "agreed:Q",
            title="share of trials with the commonest answer",
            scale=alt.Scale(domain=[0, 1]),
        ),
        y=alt.Y(
            "right:Q", title=f"{metric} of the commonest answer", scale=alt.Scale(domain=[0, 1])
        ),
        color=solver_colour(rows),
        shape=solver_shape(rows),
        size=alt.Size("items:Q", scale=alt.Scale(range=[40, 500]), title="items"),
        tooltip=["solver:N", "agreed:Q", alt.Tooltip("right:Q", format=".3f"), "items:Q"],
    )
    paths = base.mark_line(opacity=0.5).encode(x="agreed:Q", y="right:Q", color=solver_colour(rows))
    ideal = alt.Chart(alt.InlineData(values=[{"x": 0, "y": 0}, {"x": 1, "y": 1}]))
    diagonal = ideal.mark_line(color=GREY, strokeDash=[2, 3]).encode(x="x:Q", y="y:Q")
    chart = alt.layer(diagonal, paths, dots).properties(width=380, height=340)
    return finish(
        chart,
        "Does agreement between orders mean being right?",
        "Each item was told in several orders. On the dotted diagonal a solver is right "
        "as often as it agrees with itself.",
    )


def exploration(rows: Rows, lines: Rows, measure: str) -> Chart:
    """What is left to learn after every step of an attempt, beside the ideal observer."""
    both = [*rows, *lines]
    across = alt.X("step:Q", title="tests made", axis=alt.Axis(tickMinStep=1, format="d"))
    base = alt.Chart().encode(x=across)
    own = base.transform_filter("isValid(datum.solver)")
    colour = solver_colour(rows)
    bands = own.mark_rule(strokeWidth=1.5, opacity=0.7).encode(
        y=alt.Y("low:Q", title=measure), y2="high:Q", color=colour
    )
    paths = own.mark_line(strokeWidth=2).encode(y="value:Q", color=colour)
    dots = own.mark_point(filled=True, size=55, opacity=1).encode(
        y="value:Q",
        color=colour,
        shape=solver_shape(rows),
        tooltip=["setting:N", "solver:N", "step:Q", *tooltips()],
    )
    marks = (
        base.transform_filter("isValid(datum.line)")
        .mark_line(color=GREY, strokeWidth=1.5)
        .encode(y="value:Q", strokeDash=dashes(lines))
    )
    panel = alt.layer(bands, paths, dots, marks, data=inline(both)).properties(
        width=280, height=240
    )
    chart = panels(panel, alt.Facet("setting:N", title=None, sort=distinct(rows, "setting")))
    return finish(
        chart,
        f"Exploration: {measure} after every test",
        "Bars are 95% intervals. Grey lines: the ceiling is the ideal observer's choice of tests, "
        "chance is knowing what one knew before the first.",
    )
