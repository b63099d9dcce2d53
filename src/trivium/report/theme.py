"""What all charts share: colours, shapes, layers, titles, and the files they are saved in.

Colour-blind readers can tell the colours apart, and shapes repeat what colours say.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert

from trivium.core.files import atomic_write
from trivium.report.chart_rows import column

Rows = Sequence[Mapping[str, Any]]
Chart = alt.TopLevelMixin
PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F6BB3", "#8C6D46"]
GREY = "#808080"
SIZES = {"labelFontSize": 12, "titleFontSize": 12}
CONFIG: dict[str, Any] = {
    "font": "Helvetica Neue, Arial, Liberation Sans, DejaVu Sans, sans-serif",
    "background": "white",
    "title": {"fontSize": 16, "subtitleFontSize": 12, "subtitleColor": "#555555"},
    "axis": {**SIZES, "labelLimit": 260, "gridColor": "#e4e4e4"},
    "header": SIZES,
    "legend": {**SIZES, "labelLimit": 280, "symbolLimit": 60}
    | {"orient": "bottom", "columns": 5, "offset": 16},
    "view": {"stroke": None},
}
# The lines for the floor, the best shortcut and the ceiling.
REFERENCE: dict[str, Any] = {"color": GREY, "strokeWidth": 1.5}
DASHES = {"ceiling": [1, 0], "best shortcut": [8, 3], "floor": [2, 3]}
PNG_SCALE = 2
ROLES = ["model", "ceiling", "program", "shortcut", "floor"]
ROLE_COLOURS = ["#0072B2", "#009E73", "#CC79A7", "#D55E00", "#808080"]


@dataclass(frozen=True)
class ChartSpec:
    """A chart: the name of its files, a description for who cannot see it, and Vega-Lite."""

    name: str
    about: str
    spec: dict[str, Any]


def finish(chart: Any, title: str, subtitle: str) -> Chart:
    """The chart with the shared theme, a title and a subtitle."""
    lines = textwrap.wrap(subtitle, 92, break_long_words=False, break_on_hyphens=False)
    heading = alt.TitleParams(title, subtitle=lines, anchor="start", offset=14)
    finished: Chart = chart.properties(title=heading).configure(**CONFIG)
    return finished


def inline(rows: Rows) -> alt.InlineData:
    """The rows as the data of a chart."""
    return alt.InlineData(values=[dict(row) for row in rows])


def panels(chart: Any, by: alt.Facet, columns: int = 3) -> alt.FacetChart:
    """The chart in panels, each with its own x axis, since the last row may be short."""
    faceted: alt.FacetChart = chart.facet(facet=by, columns=columns).resolve_axis(x="independent")
    return faceted


def distinct(rows: Rows, key: str) -> list[str]:
    """The values of a column, in the order of the rows."""
    return list(dict.fromkeys(row[key] for row in rows if row.get(key) is not None))


def extent(rows: Rows) -> list[float]:
    """From 0 to 1, or further if the figures go further."""
    keys = ("value", "low", "high")
    figures = [row[key] for row in rows for key in keys if row.get(key) is not None]
    return [min([0.0, *figures]), max([1.0, *figures])]


def tooltips() -> list[alt.Tooltip]:
    """The tooltip of a figure with its interval."""
    return [
        alt.Tooltip("value:Q", format=".3f"),
        alt.Tooltip("low:Q", format=".3f", title="95% from"),
        alt.Tooltip("high:Q", format=".3f", title="95% to"),
        alt.Tooltip("items:Q"),
    ]


def group_tooltip(group: str) -> alt.Tooltip:
    """The tooltip of a group."""
    return alt.Tooltip(f"{column(group)}:N", title=group)


def solver_colour(rows: Rows) -> alt.Color:
    """A colour for every solver, in the order of the rows."""
    names = distinct(rows, "solver")
    colours = [PALETTE[number % len(PALETTE)] for number in range(len(names))]
    return alt.Color("solver:N", title="solver", scale=alt.Scale(domain=names, range=colours))


def solver_shape(rows: Rows) -> alt.Shape:
    """A shape for every solver, in the order of the rows."""
    scale = alt.Scale(domain=distinct(rows, "solver"))
    return alt.Shape("solver:N", title="solver", scale=scale)


def role_colour() -> alt.Color:
    """A colour for every role."""
    return alt.Color("role:N", title="role", scale=alt.Scale(domain=ROLES, range=ROLE_COLOURS))


def dashes(lines: Rows) -> alt.StrokeDash:
    """The dash pattern of each reference line that is present."""
    names = [name for name in DASHES if any(row["line"] == name for row in lines)]
    scale = alt.Scale(domain=names, range=[DASHES[name] for name in names])
    legend = alt.Legend(symbolSize=500, symbolStrokeWidth=2)
    return alt.StrokeDash("line:N", title="line", scale=scale, legend=legend)


def interval_lines(
    rows: Rows, lines: Rows, published: Rows, *, x: alt.X, y: str, tooltip: list[alt.Tooltip]
) -> Any:
    """Every solver's figures along x with their intervals, among the reference lines."""
    data = [*rows, *lines, *({**row, "published": True} for row in published)]
    base = alt.Chart().encode(x=x)
    own = base.transform_filter("isValid(datum.solver) && !datum.published").encode(
        color=solver_colour(rows)
    )
    scale = alt.Scale(domain=extent(data), nice=True)
    layers = [
        own.mark_rule(strokeWidth=1.5, opacity=0.7).encode(
            y=alt.Y("low:Q", title=y, scale=scale), y2="high:Q"
        ),
        own.mark_point(filled=True, size=55, opacity=1).encode(
            y="value:Q",
            shape=solver_shape(rows),
            tooltip=["solver:N", *tooltip, *tooltips()],
        ),
    ]
    marks = base.transform_filter("isValid(datum.line)").encode(
        y="value:Q", strokeDash=dashes(lines)
    )
    if str(x.shorthand).endswith(":Q"):
        layers.insert(1, own.mark_line(strokeWidth=2).encode(y="value:Q"))
        layers.append(marks.mark_line(**REFERENCE))
    else:  # lines between names would mean nothing: each name has its own short ones
        group = str(x.shorthand).removesuffix(":N")
        ends = {"x": alt.X(f"{group}:N", bandPosition=0.1), "x2": alt.X2(group, bandPosition=0.9)}
        layers.append(marks.mark_rule(**REFERENCE).encode(**ends))
    if published:
        # A white edge keeps a black mark visible on a dark page.
        points = base.transform_filter("isValid(datum.published)").mark_point(
            shape="diamond", size=110, opacity=1, fill="black", stroke="white", strokeWidth=1
        )
        tips = ["solver:N", alt.Tooltip("value:Q", format=".3f"), "about:N"]
        layers.append(points.encode(y="value:Q", tooltip=tips))
    return alt.layer(*layers, data=inline(data)).properties(width=280, height=240)


def group_axis(rows: Rows, name: str) -> alt.X:
    """The axis of a group: ticks at its values, or bands if they are names."""
    values = {row[column(name)] for row in rows}
    if not all(isinstance(value, (int, float)) for value in values):
        band = alt.Scale(type="band")
        return alt.X(f"{column(name)}:N", title=name, axis=alt.Axis(labelAngle=0), scale=band)
    # A format alone would round to the step between ticks: 6 and 11 would read 6 and 10.
    axis = alt.Axis(values=sorted(values), labelExpr="format(datum.value, '~r')")
    scale = alt.Scale(zero=False, padding=14)
    return alt.X(f"{column(name)}:Q", title=name, axis=axis, scale=scale)


def bars(rows: Rows, lines: Rows, y: alt.Y, tooltip: str, **across: Any) -> Any:
    """A bar with its interval for each row, among the reference lines."""
    own = alt.Chart().transform_filter("isValid(datum.solver)").encode(**across)
    bars = own.mark_bar().encode(
        y=y, color=solver_colour(rows), tooltip=[tooltip, "solver:N", *tooltips()]
    )
    whiskers = own.mark_rule(color=GREY).encode(y="low:Q", y2="high:Q")
    marks = alt.Chart().transform_filter("isValid(datum.line)").mark_rule(**REFERENCE)
    marks = marks.encode(y="value:Q", strokeDash=dashes(lines))
    return alt.layer(bars, whiskers, marks, data=inline([*rows, *lines]))


def save(specs: Sequence[ChartSpec], folder: Path) -> list[Path]:
    """The PNG and SVG files of these charts."""
    paths = []
    for chart in specs:
        png = vl_convert.vegalite_to_png(chart.spec, scale=PNG_SCALE)
        svg = vl_convert.vegalite_to_svg(chart.spec).encode()
        for suffix, content in ((".png", png), (".svg", svg)):
            path = folder / f"{chart.name}{suffix}"
            with atomic_write(path) as file:
                file.write(content)
            paths.append(path)
    return paths


def chart_spec(name: str, chart: Chart, label: str | None) -> ChartSpec:
    """The chart as Vega-Lite, with the label in its title."""
    spec = _printable(chart.to_dict())
    # Vega-Lite passes this on to Vega, which stacks the legends; Altair's schema omits it.
    spec["config"]["legend"]["layout"] = {"bottom": {"direction": "vertical", "anchor": "start"}}
    if label:
        spec["title"]["text"] = _printable(f"{label}: {spec['title']['text']}")
    return ChartSpec(name, f"{spec['title']['text']}. {' '.join(spec['title']['subtitle'])}", spec)


def _printable(value: Any) -> Any:
    """The same with line breaks and the like removed from texts: Vega compiles some of them."""
    if isinstance(value, dict):
        return {key: _printable(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_printable(part) for part in value]
    if not isinstance(value, str) or value.isprintable():
        return value
    return "".join(letter if letter.isprintable() else " " for letter in value)
