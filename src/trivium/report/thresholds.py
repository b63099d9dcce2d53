"""Thresholds: tables for the terminal and the page, and charts of the curves behind them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from trivium.core.records import solver_group
from trivium.report.charts import Styles
from trivium.report.plot import Chart, Panel, Point, Series, SeriesStyle
from trivium.report.results import axis_words
from trivium.report.tables import Table, number
from trivium.thresholds.results import (
    read_thresholds,
    threshold_note,
    threshold_of,
    threshold_text,
)
from trivium.thresholds.search import Search

STEPS = 60  # of a fitted curve
DOTS = 41  # characters of a curve in the terminal
MAX_PANELS = 24
MAX_TOGETHER = 4  # solvers in one large panel
BASE = SeriesStyle("base", 0)


@dataclass(frozen=True)
class ThresholdSection:
    """The thresholds of one benchmark on the page."""

    title: str
    sentences: Sequence[tuple[str, str]]  # by solver, the farthest first
    table: Table
    charts: Sequence[Chart]


def threshold_sections(folders: Iterable[Path], styles: Styles) -> list[ThresholdSection]:
    """What searches in these folders found, those along one field of a benchmark together."""
    found: dict[tuple[str, str, str | None, float], list[Search]] = {}
    for folder in folders:
        for search in read_thresholds(folder):
            plan = search.plan
            by = plan.by.field if plan.by else None
            key = (plan.task.benchmark.name, plan.axis.field, by, plan.target)
            found.setdefault(key, []).append(search)
    sections = []
    for number_of, (key, searches) in enumerate(found.items(), 1):
        name = f"threshold_{key[0]}_{key[1]}_{number_of}"
        charts = [curve_chart(searches, styles, name)]
        if searches[0].plan.by:
            charts.insert(0, map_chart(searches, styles, f"{name}_map"))
        table, sentences = threshold_table(searches), threshold_sentences(searches)
        title = f"{key[0]} along {axis_words(searches[0].plan.task.benchmark, key[1])}"
        sections.append(ThresholdSection(title, sentences, table, charts))
    return sections


def threshold_sentences(searches: Sequence[Search]) -> list[tuple[str, str]]:
    """For each solver where its lift falls to the target; empty for a map, which is a chart."""
    plan = searches[0].plan
    if plan.by is not None:
        return []
    sentences = [(_reach(one), one.solver, _sentence(one)) for one in searches]
    return [(solver, text) for _, solver, text in sorted(sentences, key=lambda one: -one[0])]


def _reach(search: Search) -> float:
    """How far a solver goes, to sort by: its threshold, or the side on which that lies."""
    found, rising = search.fit.threshold(), search.levels.rising
    if not found.n:
        return -math.inf
    if found.value is not None:
        return found.value if rising else -found.value
    return math.inf if (found.high if rising else found.low) is None else -math.inf


def _sentence(search: Search) -> str:
    """How far the lift of a solver stays at the target."""
    field, found = search.plan.axis.field, search.fit.threshold()
    lift, text = f"a lift of {search.plan.target:g}", threshold_text(search)
    if not found.n:
        return text
    beyond = search.fit.beyond(found)
    if beyond is not None:
        at = f"{field} {search.levels.values[beyond]:g}"
        kept = f"keeps {lift} as far as {at}, the hardest tried"
        return kept if beyond else f"has lost {lift} before {at}"
    if found.value is None:
        return f"falls below {lift} somewhere within {field} {text.partition(' ')[2]}"
    return f"keeps {lift} up to {field} {text}"


def threshold_table(searches: Sequence[Search]) -> Table:
    """A row for every threshold: its place, the items behind it, and whether a curve fits."""
    plan = searches[0].plan
    by = (plan.by.field,) if plan.by else ()
    rows = []
    for search in searches:
        second = () if search.by is None else (f"{search.by:g}",)
        found = threshold_of(search)
        fits = {True: "yes", False: "does not fit", None: "-"}[found.fits]
        rows.append((search.solver, *second, found.text, str(found.items), fits))
    field = axis_words(plan.task.benchmark, plan.axis.field)
    heads = ("solver", *by, "threshold [95%]", "items", "curve fits")
    title = f"{plan.task.benchmark.name}: where lift falls to {plan.target:g}, along {field}"
    notes = ["threshold: the estimate and the 95% interval, whose ends are values that were tried"]
    notes += [f"{search.name} {note}" for search in searches if (note := threshold_note(search))]
    return Table(title, heads, tuple(rows), ". ".join(notes))


def curve_table(search: Search) -> Table:
    """The lift at every value, measured and fitted, and both as a plain text curve."""
    field = search.plan.axis.field
    fit, values = search.fit, search.levels.values
    rows = []
    for value, count, lift, fitted in zip(
        values, fit.counts, fit.lifts(), fit.band(values), strict=True
    ):
        measured = "-" if lift.value is None else str(lift)
        curve = None if fit.misfits or not fit.counts.any() else fitted.value
        figures = (f"{value:g}", f"{count:.0f}", measured, number(curve, "-"))
        rows.append((*figures, _dots(lift.value, curve)))
    heads = (field, "items", "lift [95%]", "curve", f"0{' ' * (DOTS - 2)}1")
    title, note = f"{search.name}: lift along {field}", "o measured, + curve, # both"
    return Table(title, heads, tuple(rows), note)


def _dots(measured: float | None, fitted: float | None) -> str:
    """Both figures on a line from 0 to 1."""
    line = ["."] * DOTS
    for figure, mark in ((fitted, "+"), (measured, "o")):
        if figure is not None:
            place = round(min(1.0, max(0.0, figure)) * (DOTS - 1))
            line[place] = mark if line[place] == "." else "#"
    return "".join(line)


def curve_chart(searches: Sequence[Search], styles: Styles, name: str) -> Chart:
    """The lift of every solver at every value, and the curve through it with its band.

    A few solvers share one large panel; more, or those of a map, have a small one each.
    """
    plan = searches[0].plan
    label = axis_words(plan.task.benchmark, plan.axis.field)
    ticks = searches[0].levels.values
    together = len(searches) <= MAX_TOGETHER and plan.by is None
    if together:
        series = [one for search in searches for one in _curve_series(search, styles)]
        panels = [Panel(series, label, "lift", large=True, ticks=ticks, gap=4)]
    else:
        panels = [
            Panel(_curve_series(one, styles), label, "lift", one.name, small=True, ticks=ticks)
            for one in searches[:MAX_PANELS]
        ]
    about = "Dots: lift with 95% intervals. Line and band: the best curve, and those that fit too. "
    about += f"Thick line at {plan.target:g}: the threshold with its interval."
    more = len(searches) - MAX_PANELS
    words = f"{more} more are in the table." if more > 0 and not together else ""
    return Chart(name, f"Lift over {label}, and the threshold", about, panels, words)


def _curve_series(search: Search, styles: Styles) -> list[Series]:
    """The band, the curve, the measured lifts and the threshold of one search."""
    fit, levels = search.fit, search.levels
    style = styles.get(solver_group(search.solver), BASE)
    series = []
    if fit.counts.any() and not fit.misfits:
        places = np.linspace(levels.difficulty[0], levels.difficulty[-1], STEPS)
        along = [levels.value_at(float(place)) for place in places]
        band = list(zip(along, fit.band(along), strict=True))
        edge = [Point(x, one.high or 0.0) for x, one in band]
        edge += [Point(x, one.low or 0.0) for x, one in reversed(band)]
        series.append(Series("curves that fit", SeriesStyle(f"band {style.colour}", None), edge))
        line = [Point(x, one.value or 0.0) for x, one in band]
        series.append(Series("the curve", SeriesStyle(f"curve {style.colour}", None), line))
    measured = [
        Point(value, lift.value, lift.low, lift.high, f"{value:g}: {lift}, {lift.n} items")
        for value, lift in zip(levels.values, fit.lifts(), strict=True)
        if lift.value is not None
    ]
    series.append(Series(search.solver, style, measured, joined=fit.misfits))
    found = fit.threshold()
    if found.value is not None:
        low = min(levels.values) if found.low is None else found.low
        high = max(levels.values) if found.high is None else found.high
        ends = [Point(x, search.plan.target) for x in (low, high)]
        name = f"threshold {threshold_text(search)}"
        series.append(Series(name, SeriesStyle(f"threshold {style.colour}", None), ends))
    return series


def map_chart(searches: Sequence[Search], styles: Styles, name: str) -> Chart:
    """The threshold of every solver over the second field."""
    plan = searches[0].plan
    assert plan.by is not None
    series = []
    for solver in dict.fromkeys(search.solver for search in searches):
        points = []
        for search in searches:
            found = search.fit.threshold()
            if search.solver == solver and found.value is not None:
                tip = f"{search.name}: {threshold_text(search)}"
                low, high = (found.value if end is None else end for end in (found.low, found.high))
                points.append(Point(search.by, found.value, low, high, tip))
        if points:
            series.append(Series(solver, styles.get(solver, BASE), points))
    field, by = axis_words(plan.task.benchmark, plan.axis.field), plan.by.field
    panel = Panel(series, by, f"threshold of {field}", y_range=None)
    about = "Thresholds beyond the values that were tried are in the table only."
    return Chart(name, f"Threshold of {field} over {by}", about, [panel] if series else [])
