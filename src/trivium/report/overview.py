"""The overview on the page: every solver between floor and ceiling, and a verdict in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trivium.core.results import Summary
from trivium.core.statistics import Estimate, quantile
from trivium.report.results import BenchmarkResults
from trivium.report.tables import number, scored_items

ROLES = ("ceiling", "model", "program", "shortcut", "floor")  # who comes first on a tie
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
class ResultTable:
    """All solvers in one setting (None: in all of them), the best first."""

    setting: str | None
    metric: str
    rows: Sequence[ResultRow]
    verdict: str


def result_tables(results: BenchmarkResults) -> list[ResultTable]:
    """A table for each setting, or one for all of them if there are many."""
    if len(results.settings) > MAX_SETTINGS:
        return [result_table(results, None, results.split(lambda key: key.solver))]
    by_setting: dict[str, dict[str, Summary]] = {setting: {} for setting in results.settings}
    for (setting, solver), part in results.split(lambda key: (key.setting, key.solver)).items():
        by_setting[setting][solver] = part
    return [result_table(results, setting, parts) for setting, parts in by_setting.items()]


def result_table(
    results: BenchmarkResults, setting: str | None, parts: Mapping[str, Summary]
) -> ResultTable:
    """All solvers in one setting, the best first, with a verdict in words."""
    metric = results.benchmark.metrics[0]
    references = reference_results(results, parts)
    lines = [(name, value) for name, (_, value) in references.items()]
    rows = []
    for solver, part in parts.items():
        estimate = part.metrics[metric.name]
        rows.append(
            ResultRow(
                solver,
                results.role(solver),
                bar(estimate, lines, (metric.worst, metric.best)),
                str(estimate),
                number(part.metrics["lift"].value),
                scored_items(part, metric.name),
            )
        )
    rows.sort(
        key=lambda row: (
            -(parts[row.solver].metrics[metric.name].value or 0.0),
            ROLES.index(row.role),
        )
    )
    return ResultTable(setting, metric.name, rows, verdict(results, parts, references))


def reference_results(
    results: BenchmarkResults, parts: Mapping[str, Summary]
) -> dict[str, tuple[str, float]]:
    """Chance, the best shortcut and the best ceiling: the solver and its headline metric."""
    metric = results.benchmark.metrics[0].name
    # Chance is known for scored items only, so it is taken from who has the most of them.
    most = max(parts.values(), key=lambda part: part.metrics[metric].n)
    if most.metrics[metric].n == 0:
        return {}
    references = {"chance": ("chance", most.chance)}
    for role in ("shortcut", "ceiling"):
        values = [
            (value, solver)
            for solver, part in parts.items()
            if results.role(solver) == role and (value := part.metrics[metric].value) is not None
        ]
        if values:
            value, solver = max(values)
            references[role] = (solver, value)
    return references


def verdict(
    results: BenchmarkResults,
    parts: Mapping[str, Summary],
    references: Mapping[str, tuple[str, float]],
) -> str:
    """Chance, the best shortcut, the ceiling and every model, in sentences."""
    if not references:
        return "Nothing could be scored."
    metric = results.benchmark.metrics[0]
    floor = references["chance"][1]
    sentences = [f"Chance is {floor:.3f}."]
    if "shortcut" in references:
        solver, value = references["shortcut"]
        tried = sum(results.role(name) == "shortcut" for name in parts)
        above = best_is_above(parts[solver].metrics[metric.name], floor, tried)
        sentences.append(
            f"The best shortcut, {solver}, reaches {value:.3f}: "
            f"{'above' if above else 'not above'} chance."
        )
    top = metric.best
    if "ceiling" in references:
        solver, top = references["ceiling"]
        sentences.append(f"The ceiling, {solver}, is at {top:.3f}.")
    for name, part in parts.items():
        reached = part.metrics[metric.name].value
        if results.role(name) == "model" and reached is not None and top > floor:
            share = (reached - floor) / (top - floor)
            sentences.append(
                f"{name} is at {reached:.3f}, {share:.0%} of the way from chance to ceiling."
            )
    return " ".join(sentences)


def best_is_above(estimate: Estimate, floor: float, tried: int) -> bool:
    """Whether the best of `tried` solvers is above the floor, by a Bonferroni interval."""
    if estimate.value is None or estimate.low is None:
        return False
    wider = quantile(1 - 0.05 / tried) / quantile(0.95)
    return estimate.value - (estimate.value - estimate.low) * wider > floor


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
        f"{estimate} between {', '.join(f'{name} {line:.3f}' for name, line in lines)}",
        dot=position(value),
        low=position(value if estimate.low is None else estimate.low),
        high=position(value if estimate.high is None else estimate.high),
        lines=[(name, position(line)) for name, line in lines],
    )
