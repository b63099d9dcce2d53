"""Every solver between floor and ceiling: tables for the page, and a sentence in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from trivium.auditing.stored import audit_sentence
from trivium.core.results import Summary
from trivium.core.statistics import (
    Bounds,
    Estimate,
    bounded_limits,
    mean_interval,
    two_sided_z,
)
from trivium.core.task import Task
from trivium.report.item_browser import conversation
from trivium.report.plot import ROLE_STYLES, SeriesStyle
from trivium.report.results import ROLES, STUDIED, BenchmarkResults
from trivium.report.tables import left_out_sentence, number, ranked, scored_items

MAX_SETTINGS = 12  # with a table each; more are pooled
ROLE_MEANINGS = {
    "ceiling": "the best that can be done with the same text",
    "program": "does part of the reasoning",
    "shortcut": "reads the surface of the prompt and does not reason",
    "floor": "does not read the item at all",
}


@dataclass(frozen=True)
class Bar:
    """A result in words, and as horizontal positions in percent."""

    label: str
    dot: float
    low: float
    high: float
    lines: Sequence[tuple[str, float]]


@dataclass(frozen=True)
class BarRow:
    """Results on one line between worst and best, with what they are of and what they say."""

    name: str
    about: str  # small, below the name
    style: SeriesStyle
    bars: Sequence[Bar]  # the first with its interval; none if the result is undefined
    figure: str
    words: str = ""


@dataclass(frozen=True)
class SettingTable:
    """All solvers in one setting (None: in all of them), best first."""

    setting: str | None
    rows: Sequence[BarRow]
    verdict: str  # with what is known about shortcuts in these items


@dataclass(frozen=True)
class Card:
    """A benchmark without models: what its built-in solvers reach by role, and an item."""

    results: BenchmarkResults
    sentence: str
    rows: Sequence[BarRow]
    prompt: str
    answer: str


def card(results: BenchmarkResults) -> Card:
    """What the built-in solvers of a benchmark reach, by role, and its first item."""
    parts, metric = results.within(), results.benchmark.metrics[0]
    most = _most_items(parts, metric.name)
    lines = [("floor", most.floor), ("ceiling", most.ceiling)]
    rows = []
    for role, about in ROLE_MEANINGS.items():
        scores = [
            (part.solver, part.metrics[metric.name])
            for part in ranked(results.benchmark, list(parts.values()))
            if results.role(part.solver) == role and part.metrics[metric.name].value is not None
        ]
        ends = metric.worst, metric.best
        drawn = [bar for _, score in scores for bar in bars(score, lines, ends)]
        if scores:
            best, estimate = scores[0]
            figure = number(estimate.value, digits=2)
            rows.append(BarRow(role, about, ROLE_STYLES[role], drawn, figure, best))
    row = next((row for rows in results.examples.values() for row in rows), None)
    shown = None if row is None else conversation(results.benchmark, row)
    prompt = "" if shown is None else dict(reversed(shown.turns)).get("environment", "")
    sentence = limits_sentence(results, parts)
    return Card(results, sentence, rows, prompt, shown.expected if shown else "")


def _most_items(parts: Mapping[str, Summary], metric: str) -> Summary:
    """The solver with the most scored items: floor and ceiling are known for these only."""
    return max(parts.values(), key=lambda part: part.metrics[metric].n)


def limits_sentence(results: BenchmarkResults, parts: Mapping[str, Summary]) -> str:
    """The ceiling, the floor, and what the best solver and the best shortcut reach."""
    headline = results.benchmark.metrics[0].name
    most = _most_items(parts, headline)
    if not most.metrics[headline].n:
        return "Nothing could be scored."
    text = f"The ceiling is {most.ceiling:.2f}"
    if best := results.best(parts, "ceiling", headline):
        text += f", and {best[0]} reaches {best[1].value:.2f} on these items"
    shortcut = results.best(parts, "shortcut", headline)
    if shortcut is None:
        return f"{text}; the floor is {most.floor:.2f}."
    tried = [results.role(solver) for solver in parts].count("shortcut")
    reached = best_of_several(shortcut[1], tried, results.benchmark.metrics[0].bounds)
    which = f"the best of {tried} shortcuts" if tried > 1 else "the only shortcut"
    corrected = " (corrected for the choice)" if tried > 1 else ""
    above = "above" if reached.is_above(most.floor) else "not shown to be above"
    text += f"; {which}, {shortcut[0]}, reaches {two(reached)}{corrected}, {above} the floor of "
    return f"{text}{most.floor:.2f}."


def overview(results: BenchmarkResults, styles: Mapping[str, SeriesStyle]) -> list[SettingTable]:
    """A table for each setting, or one for all of them if there are many."""
    several = len(results.settings) > MAX_SETTINGS
    settings = [None] if several else results.settings
    return [_setting_table(results, styles, one) for one in settings]


def _setting_table(
    results: BenchmarkResults, styles: Mapping[str, SeriesStyle], setting: str | None
) -> SettingTable:
    """The results of all solvers in a setting, with a verdict in words."""
    parts = results.by_solver if setting is None else results.within([setting])
    metric = results.benchmark.metrics[0]
    most = _most_items(parts, metric.name)
    shortcut = results.best(parts, "shortcut", metric.name)
    lines = [("floor", most.floor)]
    lines += [("shortcut", shortcut[1].value or 0.0)] if shortcut else []
    lines += [("ceiling", most.ceiling)]

    def place(part: Summary) -> tuple[float, int]:
        return -(part.metrics[metric.name].value or 0.0), ROLES.index(results.role(part.solver))

    rows, sentences = [], [limits_sentence(results, parts)]
    for part in sorted(parts.values(), key=place):
        estimate, lift = part.metrics[metric.name], part.metrics["lift"]
        drawn, role = bars(estimate, lines, (metric.worst, metric.best)), results.role(part.solver)
        words = f"lift {number(lift.value)}, items {scored_items(part, metric.name)}"
        rows.append(BarRow(part.solver, role, styles[part.solver], drawn, str(estimate), words))
        if role in STUDIED and lift.value is not None:
            are = "are" if role == "person" else "is"
            sentences.append(f"{part.solver} {are} at {estimate.value:.3f}, a lift of {lift}.")
    if left_out := left_out_sentence([("", part) for part in parts.values()]):
        sentences.append(f"{left_out[:1].upper()}{left_out[1:]}.")
    task = results.task(setting) if setting else Task(results.benchmark, None, None)
    sentences.append(audit_sentence(task))
    return SettingTable(setting, rows, " ".join(sentences))


def two(estimate: Estimate) -> str:
    """An estimate with two decimals."""
    ends = (estimate.value, estimate.low, estimate.high)
    value, low, high = (number(end, digits=2) for end in ends)
    return value if None in ends else f"{value} [{low}, {high}]"


def best_of_several(estimate: Estimate, tried: int, bounds: Bounds | None) -> Estimate:
    """The estimate of the best of `tried` solvers with an interval that is wide enough for that."""
    value, low, high, n = estimate.value, estimate.low, estimate.high, estimate.n
    if value is None or low is None or high is None or tried == 1:
        return estimate
    level = 1 - 0.05 / tried
    if bounds is None:
        wider = two_sided_z(level) / two_sided_z(0.95)
        return Estimate(value, value - (value - low) * wider, value + (high - value) * wider, n)
    if value in bounds:
        return mean_interval(np.full(n, value), level, bounds)
    variance = ((high - low) / (2 * two_sided_z(0.95))) ** 2
    return Estimate(value, *bounded_limits(value, variance, n, level, bounds), n)


def bars(
    estimate: Estimate, lines: Sequence[tuple[str, float]], ends: tuple[float, float]
) -> list[Bar]:
    """The bar of a result on a line from worst to best; none if it is undefined."""
    value = estimate.value
    if value is None:
        return []
    figures = [*ends, value, *(line for _, line in lines)]
    lowest, highest = min(figures), max(figures)

    def position(figure: float | None) -> float:
        share = ((value if figure is None else figure) - lowest) / (highest - lowest)
        return round(100 * share, 1)

    label = f"{estimate}; {', '.join(f'{name} {line:.3f}' for name, line in lines)}"
    places = [(name, position(line)) for name, line in lines]
    return [Bar(label, position(value), position(estimate.low), position(estimate.high), places)]
