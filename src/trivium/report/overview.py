"""The overview on the page: every solver between floor and ceiling, and a verdict in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from trivium.core.results import Summary
from trivium.core.statistics import Estimate, quantile
from trivium.report.audits import audit_sentence
from trivium.report.results import ROLES, STUDIED, BenchmarkResults
from trivium.report.tables import left_out_sentence, number, scored_items

MAX_SETTINGS = 12  # with a table each; more are pooled
BAR_START, BAR_END = 6, 274  # pixels


@dataclass(frozen=True)
class Bar:
    """A solver's result in words and as horizontal positions in pixels."""

    label: str
    dot: float
    low: float
    high: float
    lines: Sequence[tuple[str, float]]


@dataclass(frozen=True)
class ResultRow:
    """One solver in a table of results."""

    solver: str
    role: str
    bar: Bar | None  # None if the metric is undefined
    estimate: Estimate
    lift: str
    items: str


@dataclass(frozen=True)
class SettingTable:
    """All solvers in one setting (None: in all of them), the best first."""

    setting: str | None
    metric: str
    rows: Sequence[ResultRow]
    verdict: str
    audit: str  # what is known about shortcuts in these items


def overview(results: BenchmarkResults) -> list[SettingTable]:
    """A table for each setting, or one for all of them if there are many."""
    pooled = len(results.settings) > MAX_SETTINGS
    return [_setting_table(results, one) for one in ([None] if pooled else results.settings)]


def _setting_table(results: BenchmarkResults, setting: str | None) -> SettingTable:
    """The results of all solvers in a setting, with a verdict in words."""
    parts = results.by_solver if setting is None else results.within([setting])
    metric = results.benchmark.metrics[0]
    estimates = {solver: part.metrics[metric.name] for solver, part in parts.items()}
    # Floor and ceiling are known for scored items only: those of the solver with the most.
    most = max(parts.values(), key=lambda part: part.metrics[metric.name].n)
    shortcut = results.best(parts, "shortcut", metric.name)
    lines = [("floor", most.floor)]
    lines += [("shortcut", shortcut[1].value or 0.0)] if shortcut else []
    lines += [("ceiling", most.ceiling)]

    def place(solver: str) -> tuple[float, int]:
        return -(estimates[solver].value or 0.0), ROLES.index(results.role(solver))

    rows = [
        ResultRow(
            solver,
            results.role(solver),
            bar(estimates[solver], lines, (metric.worst, metric.best)),
            estimates[solver],
            number(parts[solver].metrics["lift"].value),
            scored_items(parts[solver], metric.name),
        )
        for solver in sorted(parts, key=place)
    ]
    verdict = " ".join(_verdict(results, parts, most, shortcut))
    shown = (results.specs.get(setting), results.views.get(setting)) if setting else (None, None)
    audit = audit_sentence(results.benchmark, *shown)
    return SettingTable(setting, metric.name, rows, verdict, audit)


def _verdict(
    results: BenchmarkResults,
    parts: Mapping[str, Summary],
    most: Summary,
    shortcut: tuple[str, Estimate] | None,
) -> Iterator[str]:
    """Sentences on the floor, the ceiling, the best shortcut and every model."""
    headline = results.benchmark.metrics[0].name
    if not any(part.metrics[headline].n for part in parts.values()):
        yield "Nothing could be scored."
        return
    yield f"The floor is {most.floor:.3f} and the ceiling {most.ceiling:.3f}."
    if shortcut:
        tried = [results.role(solver) for solver in parts].count("shortcut")
        best_of = best_of_several(shortcut[1], tried)
        yield f"The best shortcut, {shortcut[0]}, reaches {best_of}"
        yield f"(an interval for the best of {tried}):" if tried > 1 else "(95% interval):"
        yield f"{'not ' * (not best_of.is_above(most.floor))}above the floor."
    for solver, part in parts.items():
        role, lift = results.role(solver), part.metrics["lift"]
        if role in STUDIED and lift.value is not None:
            are = "are" if role == "person" else "is"
            yield f"{solver} {are} at {part.metrics[headline].value:.3f}, a lift of {lift}."
    for sentence in left_out_sentence([("", part) for part in parts.values()]):
        yield f"{sentence[:1].upper()}{sentence[1:]}."


def best_of_several(estimate: Estimate, tried: int) -> Estimate:
    """The estimate of the best of `tried` solvers with an interval that is wide enough for that."""
    value, low, high, n = estimate.value, estimate.low, estimate.high, estimate.n
    if value is None or low is None or high is None:
        return estimate
    wider = quantile(1 - 0.05 / tried) / quantile(0.95)
    return Estimate(value, value - (value - low) * wider, value + (high - value) * wider, n)


def bar(
    estimate: Estimate, lines: Sequence[tuple[str, float]], ends: tuple[float, float]
) -> Bar | None:
    """The positions of a result on a line from worst to best; None if it is undefined."""
    value = estimate.value
    if value is None:
        return None
    figures = [*ends, value, *(line for _, line in lines)]
    lowest, highest = min(figures), max(figures)

    def position(figure: float | None) -> float:
        share = ((value if figure is None else figure) - lowest) / (highest - lowest)
        return round(BAR_START + share * (BAR_END - BAR_START), 1)

    label = f"{estimate}; {', '.join(f'{name} {line:.3f}' for name, line in lines)}"
    places = [(name, position(line)) for name, line in lines]
    return Bar(label, position(value), position(estimate.low), position(estimate.high), places)
