"""What the figures of studies share: estimates over seeds, and panels of the report's charts."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trivium.core.files import atomic_write
from trivium.core.statistics import Estimate, mean_interval
from trivium.report.plot import Chart, Panel, Point, Series, SeriesStyle
from trivium.report.templates import chart_svg

Rows = Sequence[Mapping[str, Any]]  # each with a value, its interval (low, high) and labels
Styles = Mapping[str, SeriesStyle]
MARKED = [SeriesStyle(f"m{number}", number) for number in range(8)]
LINES = [SeriesStyle(f"m{number}", None) for number in range(8)]
GREY, BLACK = SeriesStyle("base", 2), SeriesStyle("person", 3)
CEILING, FLOOR = SeriesStyle("ceiling", None), SeriesStyle("floor", None)


@dataclass(frozen=True)
class Figure:
    """A chart, the styles of what is in its legend, and how many panels are in a row."""

    title: str
    about: str
    panels: Sequence[Panel]
    styles: Styles
    columns: int = 2

    def save(self, path: Path) -> None:
        """Write it as SVG."""
        chart = Chart(path.stem, self.title, self.about, self.panels)
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            file.write(chart_svg(chart, self.styles, None, self.columns).encode())


def series(rows: Rows, x: str, by: str, styles: Styles, **options: Any) -> list[Series]:
    """The points of every style's name; a line without marks has a band for its intervals."""
    made = []
    for name, style in styles.items():
        own = [row for row in rows if row[by] == name and row["value"] is not None]
        if style.mark is None and own and own[0].get("low") is not None:
            edge = [Point(row[x], row["high"]) for row in own]
            edge += [Point(row[x], row["low"]) for row in reversed(own)]
            made.append(Series(f"{name}, 95%", SeriesStyle(f"band {style.colour}", None), edge))
        points = [
            Point(row[x], row["value"], row.get("low"), row.get("high"), _tip(row, name))
            for row in own
        ]
        if points:
            made.append(Series(name, style, points, **options))
    return made


def _tip(row: Mapping[str, Any], name: str) -> str:
    interval = "" if row.get("low") is None else f" [{row['low']:.2f}, {row['high']:.2f}]"
    note = f"; {row['note']}" if row.get("note") else ""
    return f"{name}: {row['value']:.2f}{interval}{note}"


def over_seeds(values: Sequence[float], low: float, high: float) -> Estimate:
    """A mean over seeds with Student's 95% interval, cut off where no value can lie."""
    found = mean_interval(values)
    if found.low is None or found.high is None:
        return found
    return Estimate(found.value, max(low, found.low), min(high, found.high), found.n)


def level(name: str, style: SeriesStyle, at: float, xs: Sequence[Any], label: str = "") -> Series:
    """A horizontal line."""
    return Series(name, style, [Point(x, at) for x in xs], label)


def tick_lines(name: str) -> str:
    """A name as the text of a tick, in short lines, which commas separate."""
    parts = textwrap.wrap(name.replace("transformer", "trans-former"), 9, break_long_words=False)
    return ", ".join(part.rstrip(",") for part in parts)


def distinct(rows: Rows, key: str) -> list[Any]:
    """The values of a column, in the order of the rows."""
    return list(dict.fromkeys(row[key] for row in rows if row.get(key) is not None))
