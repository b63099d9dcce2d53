"""Charts as files: SVG by the template of the page, and PNG where the extra [plots] is there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from trivium.core.errors import MissingExtraError, import_extra
from trivium.core.files import atomic_write
from trivium.report.charts import Look
from trivium.report.plot import REFERENCES, Chart
from trivium.report.templates import asset, render

PNG_SCALE = 2
COLUMNS = 3  # of panels
TITLE, LEGEND_STEP = 56, 20  # heights
CHARACTER = 6.4  # about how wide one is in the legend


def save_charts(
    charts: Iterable[Chart], looks: Mapping[str, Look], folder: Path, label: str | None
) -> list[Path]:
    """The files of these charts."""
    try:
        convert = import_extra("vl_convert", "plots")
    except MissingExtraError:
        convert = None
    paths = []
    for chart in charts:
        svg = chart_svg(chart, looks, label)
        files = {".svg": svg.encode("utf-8", "replace")}
        if convert is not None:
            files[".png"] = convert.svg_to_png(svg, scale=PNG_SCALE)
        for suffix, content in files.items():
            paths.append(folder / f"{chart.name}{suffix}")
            with atomic_write(paths[-1]) as file:
                file.write(content)
    return paths


def chart_svg(chart: Chart, looks: Mapping[str, Look], label: str | None) -> str:
    """A chart with its title and its legend as a file of its own."""
    drawn = [panel.drawn for panel in chart.panels]
    columns = min(COLUMNS, len(drawn))
    wide = max(one.width for one in drawn) + 16
    high = max(one.height for one in drawn) + 26
    width = max(wide * columns, 520)
    legend, top = _legend(chart, looks, width)
    placed = [
        (panel, 8 + number % columns * wide, top + 24 + number // columns * high)
        for number, panel in enumerate(chart.panels)
    ]
    return render(
        "chart.svg.j2",
        css=plain_css(),
        chart=chart,
        title=f"{label}: {chart.title}" if label else chart.title,
        legend=legend,
        placed=placed,
        width=width,
        height=top + 24 + -(-len(drawn) // columns) * high,
    )


def _legend(
    chart: Chart, looks: Mapping[str, Look], width: float
) -> tuple[Sequence[tuple[str, str, int | None, float, float]], float]:
    """Where each solver and each reference line stands in the legend, and where that ends."""
    names = {one.name for panel in chart.panels for one in panel.series if one.mark is not None}
    entries: list[tuple[str, str, int | None]] = []
    entries += [(name, *look) for name, look in looks.items() if name in names]
    entries += [(REFERENCES[one][0], one, REFERENCES[one][1]) for one in chart.lines]
    x, y, placed = 12.0, float(TITLE), []
    for name, colour, mark in entries:
        own = 30 + CHARACTER * len(name)
        if x + own > width:
            x, y = 12.0, y + LEGEND_STEP
        placed.append((name, colour, mark, x, y))
        x += own
    return placed, y + 8


def plain_css() -> str:
    """The style of charts without variables, which few programs but browsers know."""
    text = asset("chart.css")
    colours = dict(re.findall(r"(--\w+): (#\w+)", text))
    return re.sub(r"var\((--\w+)\)", lambda found: colours[found[1]], text.split("}", 1)[1])
