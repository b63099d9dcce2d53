"""The overview on the page: every solver between floor and ceiling, and a verdict in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from trivium.core.statistics import Estimate, quantile
from trivium.report.audits import audit_sentence
from trivium.report.results import ROLES, STUDIED, BenchmarkResults
from trivium.report.tables import number, scored_items

MAX_SETTINGS = 12  # with a table each; more are pooled
BAR_START, BAR_END = 6, 274  # pixels
Best = Mapping[str, tuple[str, Estimate] | None]  # the best solver of a role


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
    # The floor is known for scored items only, so it is taken from the solver with the most.
    floor = max(parts.values(), key=lambda part: part.metrics[metric.name].n).floor
    best = {role: results.best(parts, role, metric.name) for role in ("shortcut", "ceiling")}
    lines = [("floor", floor)]
    lines += [(role, found[1].value or 0.0) for role, found in best.items() if found is not None]

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
    verdict = " ".join(_verdict(results, estimates, floor, best))
    shown = (results.specs.get(setting), results.views.get(setting)) if setting else (None, None)
    audit = audit_sentence(results.benchmark, *shown)
    return SettingTable(setting, metric.name, rows, verdict, audit)


def _verdict(
    results: BenchmarkResults, estimates: Mapping[str, Estimate], floor: float, best: Best
) -> Iterator[str]:
    """Sentences on the floor, the best shortcut, the ceiling and every model."""
    if not any(estimate.n for estimate in estimates.values()):
        yield "Nothing could be scored."
        return
    yield f"The floor is {floor:.3f}."
    if shortcut := best["shortcut"]:
        tried = [results.role(solver) for solver in estimates].count("shortcut")
        best_of = best_of_several(shortcut[1], tried)
        yield f"The best shortcut, {shortcut[0]}, reaches {best_of}"
        yield f"(an interval for the best of {tried}):" if tried > 1 else "(95% interval):"
        yield f"{'not ' * (not best_of.is_above(floor))}above the floor."
    top = results.benchmark.metrics[0].best
    if ceiling := best["ceiling"]:
        top = ceiling[1].value or 0.0
        yield f"The ceiling, {ceiling[0]}, is at {top:.3f}."
    for solver, estimate in estimates.items():
        role = results.role(solver)
        if role in STUDIED and estimate.value is not None and top > floor:
            share = (estimate.value - floor) / (top - floor)
            value = f"{solver} {'are' if role == 'person' else 'is'} at {estimate.value:.3f}"
            yield f"{value}, {share:.0%} of the way from floor to ceiling."


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
