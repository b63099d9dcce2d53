"""What the charts of studies share: colours, titles, panels. Needs the extra [plots]."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

Rows = Sequence[Mapping[str, Any]]
Chart = alt.TopLevelMixin
# Colour-blind readers can tell these apart.
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
