"""The overview on the page: every solver between floor and ceiling, and a verdict in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from trivium.core.results import Summary
from trivium.core.statistics import Estimate, quantile
from trivium.report.audits import audit_sentence
from trivium.report.results import STUDIED, BenchmarkResults
from trivium.report.tables import number, scored_items

# Who comes first on a tie.
ROLES = ("ceiling", "person", "model", "program", "shortcut", "floor")
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
    estimate: str
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
    if len(results.settings) > MAX_SETTINGS:
        return [setting_table(results, None, results.by_solver)]
    return [setting_table(results, one, results.within([one])) for one in results.settings]


def setting_table(
    results: BenchmarkResults, setting: str | None, parts: Mapping[str, Summary]
) -> SettingTable:
    """The results of these solvers with a verdict in words."""
    metric = results.benchmark.metrics[0]
    roles = {solver: results.role(solver) for solver in parts}
    estimates = {solver: part.metrics[metric.name] for solver, part in parts.items()}
    # The floor is known for scored items only, so it is taken from the solver with the most.
    floor = max(parts.values(), key=lambda part: part.metrics[metric.name].n).floor
    best = {role: _best(estimates, roles, role) for role in ("shortcut", "ceiling")}
    lines = [("floor", floor)]
    lines += [(role, found[1]) for role, found in best.items() if found is not None]
    ranked = sorted(
        parts, key=lambda solver: (-(estimates[solver].value or 0.0), ROLES.index(roles[solver]))
    )
    rows = [
        ResultRow(
            solver,
            roles[solver],
            bar(estimates[solver], lines, (metric.worst, metric.best)),
            str(estimates[solver]),
            number(parts[solver].metrics["lift"].value),
            scored_items(parts[solver], metric.name),
        )
        for solver in ranked
    ]
    sentences = _verdict(estimates, roles, floor, best, metric.best)
    spec = None if setting is None else results.specs.get(setting)
    audit = audit_sentence(results.benchmark, spec)
    return SettingTable(setting, metric.name, rows, " ".join(sentences), audit)


def _best(
    estimates: Mapping[str, Estimate], roles: Mapping[str, str], role: str
) -> tuple[str, float] | None:
    """The best solver of a role and its value."""
    values = [
        (estimate.value, solver)
        for solver, estimate in estimates.items()
        if roles[solver] == role and estimate.value is not None
    ]
    return (max(values)[1], max(values)[0]) if values else None


def _verdict(
    estimates: Mapping[str, Estimate],
    roles: Mapping[str, str],
    floor: float,
    best: Mapping[str, tuple[str, float] | None],
    top: float,
) -> Iterator[str]:
    """Sentences on the floor, the best shortcut, the ceiling and every model."""
    if not any(estimate.n for estimate in estimates.values()):
        yield "Nothing could be scored."
        return
    yield f"The floor is {floor:.3f}."
    if shortcut := best["shortcut"]:
        tried = list(roles.values()).count("shortcut")
        best_of = best_of_several(estimates[shortcut[0]], tried)
        yield f"The best shortcut, {shortcut[0]}, reaches {best_of}"
        yield f"(an interval for the best of {tried}):" if tried > 1 else "(95% interval):"
        yield f"{'not ' * (not best_of.is_above(floor))}above the floor."
    if ceiling := best["ceiling"]:
        top = ceiling[1]
        yield f"The ceiling, {ceiling[0]}, is at {top:.3f}."
    for solver, estimate in estimates.items():
        if roles[solver] in STUDIED and estimate.value is not None and top > floor:
            share = (estimate.value - floor) / (top - floor)
            verb = "are" if roles[solver] == "person" else "is"
            value = f"{solver} {verb} at {estimate.value:.3f}"
            yield f"{value}, {share:.0%} of the way from floor to ceiling."


def best_of_several(estimate: Estimate, tried: int) -> Estimate:
    """The estimate of the best of `tried` solvers with an interval that is wide enough for that."""
    value, low, high = estimate.value, estimate.low, estimate.high
    if value is None or low is None or high is None:
        return estimate
    wider = quantile(1 - 0.05 / tried) / quantile(0.95)
    low, high = value - (value - low) * wider, value + (high - value) * wider
    return Estimate(value, low, high, estimate.n)


def bar(
    estimate: Estimate, lines: Sequence[tuple[str, float]], ends: tuple[float, float]
) -> Bar | None:
    """The positions of a result on a line from worst to best; None if it is undefined."""
    value = estimate.value
    if value is None:
        return None
    figures = [*ends, value, *(line for _, line in lines)]
    lowest, highest = min(figures), max(figures)

    def position(figure: float) -> float:
        share = (figure - lowest) / (highest - lowest)
        return round(BAR_START + share * (BAR_END - BAR_START), 1)

    return Bar(
        f"{estimate}; {', '.join(f'{name} {line:.3f}' for name, line in lines)}",
        dot=position(value),
        low=position(value if estimate.low is None else estimate.low),
        high=position(value if estimate.high is None else estimate.high),
        lines=[(name, position(line)) for name, line in lines],
    )
