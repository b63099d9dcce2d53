"""Charts as geometry: where lines, dots, intervals and ticks go. Templates draw them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from trivium.core.statistics import Estimate
from trivium.report.results import natural

WIDTH, HEIGHT = 480, 280  # of a panel, in SVG units
SMALL = (300, 225)  # of a panel among many
LARGE = (720, 320)  # of the panel that answers the question of a page
LEFT, RIGHT, TOP, BOTTOM = 44, 14, 26, 42  # margins
LABEL_WIDTH = 52  # of labels at the ends of lines, at least
CHARACTER = 6.2  # the width of one, about
TICK_LINE = 12  # how high a line of a tick's text is
MIN_GAP = 13  # between two labels
MIN_TICKS, MAX_TICKS = 3, 9
MIN_SPAN = 1e-6  # of an axis; smaller differences are rounding errors
# Paths around the origin; a shape repeats what a colour says.
MARKS = (
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",  # circle
    "M-3.6-3.6h7.2v7.2h-7.2z",  # square
    "M0-4.8L4.6 3.4H-4.6z",  # triangle
    "M0-5L5 0L0 5L-5 0z",  # diamond
    "M0 4.8L4.6-3.4H-4.6z",  # triangle, upside down
    "M-1.6-4.6h3.2v3h3v3.2h-3v3h-3.2v-3h-3v-3.2h3z",  # cross
    "M0-5L4.8-1.5L3 4L-3 4L-4.8-1.5z",  # pentagon
    "M-4.8-2L4.8-2L4.8 2L-4.8 2z",  # bar
)


class SeriesStyle(NamedTuple):
    """How a solver or a reference line is drawn on the whole page."""

    colour: str  # a class: m0, m1, ... for models, person for people, role-... for baselines
    mark: int | None  # None for a line without marks


# Built-in solvers are drawn hollow, in the colour and the shape of their role.
ROLE_STYLES = {
    "ceiling": SeriesStyle("role-ceiling", 2),
    "program": SeriesStyle("role-program", 3),
    "shortcut": SeriesStyle("role-shortcut", 4),
    "floor": SeriesStyle("role-floor", 7),
}
# Lines and published scores that are drawn beside solvers, and their names in a legend.
REFERENCES = {
    "ceiling": SeriesStyle("ceiling", None),
    "shortcut": SeriesStyle("shortcut", None),
    "floor": SeriesStyle("floor", None),
    "published": SeriesStyle("published", 3),
}
REFERENCE_NAMES = {name: name for name in REFERENCES} | {"shortcut": "best shortcut"}


@dataclass(frozen=True)
class Point:
    """One figure with its interval, and the text that is shown over it."""

    x: Any
    value: float
    low: float | None = None
    high: float | None = None
    tip: str = ""
    x_low: float | None = None
    x_high: float | None = None

    @classmethod
    def of(cls, x: Any, estimate: Estimate, name: str) -> Point:
        """The point of an estimate that has a value."""
        tip = f"{name}: {estimate}, n = {estimate.n}"
        return cls(x, estimate.value or 0.0, estimate.low, estimate.high, tip)

    def positive(self) -> Point:
        """The same with an interval that ends at 0, for figures that cannot be negative."""
        return self if self.low is None else replace(self, low=max(0.0, self.low))


@dataclass(frozen=True)
class Series:
    """The figures of one solver, or of one reference line."""

    name: str
    style: SeriesStyle
    points: Sequence[Point]
    label: str = ""  # at the end of its line
    shade: int = 100  # percent of its colour, where lines differ in a second thing
    joined: bool = True
    bars: bool = False  # columns from 0, as wide as the panel's gap


class Cell(NamedTuple):
    """A figure over two things."""

    x: Any
    y: Any
    value: float  # from 0 to 1, or below 0
    tip: str
    text: str = ""  # in place of the value


@dataclass(frozen=True)
class Panel:
    """What one pair of axes shows: lines, or cells in their place."""

    series: Sequence[Series]
    x_label: str
    y_label: str
    title: str = ""
    y_range: tuple[float, float] | None = (0.0, 1.0)  # at least; None: from 0 as far as needed
    small: bool = False
    large: bool = False
    log: bool = False  # the x axis
    cells: Sequence[Cell] = ()
    ticks: Sequence[float] = ()  # of the x axis; none: where there are figures
    gap: float = 3  # between the marks of two solvers at one place

    @property
    def drawn(self) -> Drawing:
        """Where everything goes."""
        return draw_cells(self) if self.cells else draw(self)


@dataclass(frozen=True)
class Chart:
    """Panels under one title."""

    name: str  # of its file
    title: str
    about: str
    panels: Sequence[Panel]
    words: str = ""  # what the chart says, in a sentence
    last: bool = False  # below the others of its section

    @property
    def wide(self) -> bool:
        """Whether the chart needs the full width of the page."""
        return len(self.panels) > (2 if self.panels[0].small else 1)

    @property
    def lines(self) -> list[str]:
        """The names of the references (REFERENCES) that the chart draws."""
        drawn = {series.style for panel in self.panels for series in panel.series}
        return [name for name, style in REFERENCES.items() if style in drawn]


class Dot(NamedTuple):
    """A value, placed on the chart."""

    x: float
    y: float
    low: float
    high: float
    left: float
    right: float
    tip: str


@dataclass(frozen=True)
class Line:
    """A series, placed on the chart."""

    series: Series
    path: str
    dots: Sequence[Dot]
    shape: str
    label_y: float = 0.0


@dataclass(frozen=True)
class Drawing:
    """A panel in SVG units."""

    width: float
    height: float
    right: float  # where the axes end
    bottom: float
    x_ticks: Sequence[tuple[float, str]]
    y_ticks: Sequence[tuple[float, str]]
    lines: Sequence[Line] = ()
    boxes: Sequence[tuple[float, float, Cell]] = ()  # cells in their places
    box_size: tuple[float, float] = (0.0, 0.0)
    left: float = LEFT

    @property
    def two_lines(self) -> bool:
        """Whether a tick needs two lines, which leave no space for the name of the axis."""
        return any(", " in text for _, text in self.x_ticks)


def draw(panel: Panel) -> Drawing:
    """The panel with the positions of lines, dots and ticks."""
    width, height = SMALL if panel.small else LARGE if panel.large else (WIDTH, HEIGHT)
    longest = max((len(one.label) for one in panel.series), default=0)
    right = width - (max(LABEL_WIDTH, CHARACTER * longest) if longest else RIGHT)
    points = [point for one in panel.series for point in one.points]
    place_x, x_ticks = _x_axis(panel, points, LEFT, right)
    lines_of_ticks = max((text.count(", ") + 1 for _, text in x_ticks), default=1)
    bottom = height - BOTTOM - TICK_LINE * max(0, lines_of_ticks - 2)
    ends = [end for p in points for end in (p.value, p.low, p.high) if end is not None]
    lowest, highest = panel.y_range or (0.0, 0.0)
    ticks = nice_ticks(min([lowest, *ends]), max([highest, *ends]))
    low_tick, high_tick = ticks[0], ticks[-1]

    def place_y(value: float) -> float:
        return round(bottom - (value - low_tick) / (high_tick - low_tick) * (bottom - TOP), 1)

    def dot_at(point: Point, shift: float) -> Dot:
        low, high = (point.value if end is None else end for end in (point.low, point.high))
        ends = (point.x if end is None else end for end in (point.x, point.x_low, point.x_high))
        x, x_low, x_high = (round(place_x(end) + shift, 1) for end in ends)
        return Dot(x, place_y(point.value), place_y(low), place_y(high), x_low, x_high, point.tip)

    marked = [one for one in panel.series if one.style.mark is not None]
    lines = []
    for one in panel.series:
        mark = one.style.mark
        # Intervals of several solvers at one place are drawn beside each other.
        shift = 0.0 if mark is None else (marked.index(one) - (len(marked) - 1) / 2) * panel.gap
        dots = [dot_at(point, shift) for point in one.points]
        path = "M" + "L".join(f"{dot.x:g} {dot.y:g}" for dot in dots) if one.joined else ""
        if mark is None and any(isinstance(point.x, str) for point in one.points):
            # Lines between names would mean nothing: each name gets a short line.
            path = "".join(f"M{dot.x - 20:g} {dot.y:g}h40" for dot in dots)
        elif mark is None and len(dots) == 1:  # a level: as wide as the axes
            path = f"M{LEFT} {dots[0].y:g}H{right}"
        lines.append(Line(one, path, dots, MARKS[(mark or 0) % len(MARKS)]))
    y_ticks = [(place_y(tick), number_text(tick)) for tick in ticks]
    return Drawing(width, height, right, bottom, x_ticks, y_ticks, _labelled(lines))


def draw_cells(panel: Panel) -> Drawing:
    """The panel with a box for every cell, the lowest y at the bottom."""
    width, height = SMALL
    right, bottom = width - RIGHT, height - BOTTOM
    columns = list(dict.fromkeys(cell.x for cell in panel.cells))
    rows = sorted({cell.y for cell in panel.cells}, key=natural)
    left = max(LEFT, 10 + CHARACTER * max(len(str(row)) for row in rows))
    wide, high = (right - left) / len(columns), (bottom - TOP) / len(rows)
    boxes = [
        (
            round(left + columns.index(cell.x) * wide, 1),
            round(bottom - (rows.index(cell.y) + 1) * high, 1),
            cell,
        )
        for cell in panel.cells
    ]
    size = (round(wide - 2, 1), round(high - 2, 1))
    x_ticks = [(left + (n + 0.5) * wide, str(x)) for n, x in enumerate(columns)]
    y_ticks = [(bottom - (n + 0.5) * high, str(y)) for n, y in enumerate(rows)]
    return Drawing(width, height, right, bottom, x_ticks, y_ticks, (), boxes, size, left)


def _x_axis(
    panel: Panel, points: Sequence[Point], left: float, right: float
) -> tuple[Callable[[Any], float], list[tuple[float, str]]]:
    """A function from values to places, and the ticks."""
    marked = [point for one in panel.series if one.style.mark is not None for point in one.points]
    values = sorted(panel.ticks or {point.x for point in marked or points}, key=natural)
    margin = 16
    if not all(isinstance(value, (int, float)) for value in values):
        names = list(dict.fromkeys(point.x for point in points))
        step = (right - left) / max(1, len(names))
        places = {name: left + step * (number + 0.5) for number, name in enumerate(names)}
        longest = max((len(part) for name in names for part in str(name).split(", ")), default=0)
        crowded = step < CHARACTER * longest  # then every other name is a line lower
        ticks = [
            (round(place, 1), f", {name}" if crowded and number % 2 else str(name))
            for number, (name, place) in enumerate(places.items())
        ]
        return places.__getitem__, ticks
    ends = [end for p in points for end in (p.x, p.x_low, p.x_high) if end is not None]
    scale: Callable[[float], float] = (lambda x: math.log10(max(x, 1))) if panel.log else float
    low, high = scale(min(ends, default=0)), scale(max(ends, default=1))
    width = (high - low) or 1.0

    def place(value: Any) -> float:
        share = (scale(value) - low) / width if high > low else 0.5
        return left + margin + share * (right - left - 2 * margin)

    if panel.log:
        for digits in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 8)):
            steps = [digit * 10**power for power in range(10) for digit in digits]
            shown = [step for step in steps if low <= math.log10(step) <= high]
            if len(shown) >= MIN_TICKS:
                break
        values = shown or values
    every = math.ceil(len(values) / MAX_TICKS) or 1
    return place, [(round(place(value), 1), number_text(value)) for value in values[::every]]


def _labelled(lines: Sequence[Line]) -> list[Line]:
    """The lines with a place for their labels, none on top of another."""
    ends = {id(line): line.dots[-1].y + 4 for line in lines if line.series.label and line.dots}
    last = -math.inf
    for key in sorted(ends, key=lambda key: ends[key]):
        last = ends[key] = max(ends[key], last + MIN_GAP)
    return [replace(line, label_y=ends.get(id(line), 0.0)) for line in lines]


def nice_ticks(low: float, high: float) -> list[float]:
    """From 4 to 7 round numbers that hold both ends between them, at least MIN_SPAN apart."""
    if high - low < MIN_SPAN:  # such as figures that are all 0
        high = low + 1
    span = high - low
    step = 10 ** math.floor(math.log10(span))
    for factor in (0.1, 0.2, 0.25, 0.5, 1.0, 2.0):
        first, last = math.floor(low / (step * factor)), math.ceil(high / (step * factor))
        if last - first <= 6:
            break
    return [round(number * step * factor, 10) for number in range(first, last + 1)]


def number_text(value: float) -> str:
    """A number as a short text: 0.5, 12, 32k, 1.5M."""
    if abs(value) >= 1_000_000:
        return f"{value / 1_000_000:.1f}M"
    if abs(value) >= 10_000:
        return f"{value / 1000:,.0f}k"
    return f"{value:,.0f}" if value == round(value) else f"{value:.3g}"
