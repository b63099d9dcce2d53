"""Charts as SVG files, by the template of the page."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path

from trivium.core.files import atomic_write
from trivium.report.charts import Styles
from trivium.report.plot import CHARACTER, REFERENCE_NAMES, REFERENCES, Chart, SeriesStyle
from trivium.report.templates import asset, render

COLUMNS = 3  # of panels
TITLE, LEGEND_STEP, LINE = 60.0, 20, 15  # heights


def save_charts(
    charts: Iterable[Chart], styles: Styles, folder: Path, label: str | None
) -> list[Path]:
    """The paths of these charts, which are written."""
    paths = []
    for chart in charts:
        paths.append(folder / f"{chart.name}.svg")
        with atomic_write(paths[-1]) as file:
            file.write(chart_svg(chart, styles, label).encode("utf-8", "replace"))
    return paths


def chart_svg(chart: Chart, styles: Styles, label: str | None, columns: int = COLUMNS) -> str:
    """A chart as SVG, with its title and its legend."""
    drawn = [panel.drawn for panel in chart.panels]
    columns = min(columns, len(drawn))
    wide = max(one.width for one in drawn) + 16
    high = max(one.height for one in drawn) + 26
    width = max(wide * columns, 520)
    about = textwrap.wrap(chart.about, int((width - 24) / CHARACTER))
    legend, top = _legend(chart, styles, width, TITLE + LINE * max(0, len(about) - 1))
    placed = [
        (panel, 8 + number % columns * wide, top + 24 + number // columns * high)
        for number, panel in enumerate(chart.panels)
    ]
    return render(
        "chart.svg.j2",
        css=plain_css(),
        title=f"{label}: {chart.title}" if label else chart.title,
        about=about,
        legend=legend,
        placed=placed,
        width=width,
        height=top + 24 + -(-len(drawn) // columns) * high,
    )


def _legend(
    chart: Chart, styles: Styles, width: float, top: float
) -> tuple[Sequence[tuple[str, SeriesStyle, float, float]], float]:
    """The places of solvers and reference lines in the legend, and where it ends."""
    drawn = {(one.name, one.style) for panel in chart.panels for one in panel.series}
    entries = [(name, style) for name, style in styles.items() if (name, style) in drawn]
    named = {style for _, style in entries}
    lines = [name for name in chart.lines if REFERENCES[name] not in named]
    entries += [(REFERENCE_NAMES[name], REFERENCES[name]) for name in lines]
    x, y, placed = 12.0, top, []
    for name, style in entries:
        own = 30 + CHARACTER * len(name)
        if x + own > width:
            x, y = 12.0, y + LEGEND_STEP
        placed.append((name, style, x, y))
        x += own
    return placed, y + 8


def plain_css() -> str:
    """The style of charts without variables, which few programs other than browsers support."""
    text = asset("chart.css")
    colours = dict(re.findall(r"(--\w+): (#\w+)", text))
    return re.sub(r"var\((--\w+)\)", lambda found: colours[found[1]], text.split("}", 1)[1])
