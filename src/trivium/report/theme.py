"""The look that all pictures share: colours, shapes, lines, titles.

Colours can be told apart by colour-blind readers, and shapes say the same again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from trivium.report.frames import column

Rows = Sequence[Mapping[str, Any]]
Chart = alt.TopLevelMixin
PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F6BB3", "#8C6D46"]
GREY = "#808080"
FONT = "Helvetica Neue, Arial, Liberation Sans, DejaVu Sans, sans-serif"
DASHES = {"ceiling": [1, 0], "best shortcut": [8, 3], "chance": [2, 3]}
ROLES = ["model", "ceiling", "program", "shortcut", "floor"]
ROLE_COLOURS = ["#0072B2", "#009E73", "#CC79A7", "#D55E00", "#808080"]


def finish(chart: Any, title: str, subtitle: str) -> Chart:
    """The look that all pictures share, with a title that says what is seen."""
    made: Chart = (
        chart.properties(
            title=alt.TitleParams(title, subtitle=_wrapped(subtitle), anchor="start", offset=14)
        )
        .configure(font=FONT, background="white")
        .configure_title(fontSize=16, subtitleFontSize=12, subtitleColor="#555555")
        .configure_axis(labelFontSize=12, titleFontSize=12, labelLimit=260, gridColor="#e4e4e4")
        .configure_header(labelFontSize=12, titleFontSize=12)
        .configure_legend(
            labelFontSize=12,
            titleFontSize=12,
            labelLimit=280,
            symbolLimit=60,
            orient="bottom",
            columns=5,
            offset=16,
        )
        .configure_view(stroke=None)
    )
    return made


def _wrapped(text: str, width: int = 92) -> list[str]:
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return lines


def inline(rows: Rows) -> alt.InlineData:
    """The rows as the data of a chart."""
    return alt.InlineData(values=[dict(row) for row in rows])


def panels(chart: Any, by: alt.Facet, columns: int = 3) -> alt.FacetChart:
    """The chart in panels, each above an axis of its own: a last row may be short of some."""
    made: alt.FacetChart = chart.facet(facet=by, columns=columns).resolve_axis(x="independent")
    return made


def distinct(rows: Rows, key: str) -> list[str]:
    """The values of a column, in the order of the rows."""
    return list(dict.fromkeys(row[key] for row in rows if row.get(key) is not None))


def extent(rows: Rows) -> list[float]:
    """From 0 to 1, and further where the figures go further."""
    seen = [
        row[key] for row in rows for key in ("value", "low", "high") if row.get(key) is not None
    ]
    return [min(0.0, *seen), max(1.0, *seen)]


def tooltips() -> list[alt.Tooltip]:
    """A figure with its interval, on pointing at it."""
    return [
        alt.Tooltip("value:Q", format=".3f"),
        alt.Tooltip("low:Q", format=".3f", title="95% from"),
        alt.Tooltip("high:Q", format=".3f", title="95% to"),
        alt.Tooltip("items:Q"),
    ]


def tip(group: str) -> alt.Tooltip:
    """A group, on pointing at a mark."""
    return alt.Tooltip(f"{column(group)}:N", title=group)


def solver_colour(rows: Rows) -> alt.Color:
    """A colour for every solver, in the order of the rows."""
    names = distinct(rows, "solver")
    colours = [PALETTE[place % len(PALETTE)] for place in range(len(names))]
    return alt.Color("solver:N", title="solver", scale=alt.Scale(domain=names, range=colours))


def solver_shape(rows: Rows) -> alt.Shape:
    """A shape for every solver: the same as its colour, for whoever cannot tell those."""
    names = distinct(rows, "solver")
    return alt.Shape("solver:N", title="solver", scale=alt.Scale(domain=names))


def role_colour() -> alt.Color:
    """A colour for every role."""
    return alt.Color("role:N", title="role", scale=alt.Scale(domain=ROLES, range=ROLE_COLOURS))


def dashes(lines: Rows) -> alt.StrokeDash:
    """How each of the lines that are there is dashed."""
    drawn = [name for name in DASHES if any(row["line"] == name for row in lines)]
    scale = alt.Scale(domain=drawn, range=[DASHES[name] for name in drawn])
    legend = alt.Legend(symbolSize=500, symbolStrokeWidth=2)
    return alt.StrokeDash("line:N", title="line", scale=scale, legend=legend)
