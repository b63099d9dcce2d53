"""Plain rows of data for charts, from results; no chart library is needed here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter, methodcaller
from typing import Any

from trivium.core.reading import visible_replies
from trivium.core.records import Row
from trivium.core.results import Summary, merged
from trivium.core.statistics import mean_interval
from trivium.report.item_browser import presented_item, replies_of
from trivium.report.results import BenchmarkResults, GroupKey
from trivium.report.tables import count_kinds

Rows = list[dict[str, Any]]


def column(group: str) -> str:
    """The column of a group, which no other column's name can equal."""
    return f"group_{group}"


def summary_rows(
    results: BenchmarkResults, metric: str, columns: Mapping[str, Callable[[GroupKey], Any]]
) -> Rows:
    """A row for every solver and combination of column values, all else pooled."""
    parts = results.split(lambda key: (key.solver, *(value(key) for value in columns.values())))
    rows = [
        {"solver": solver, "role": results.role(solver)}
        | dict(zip(columns, values, strict=True))
        | _figures(summary, metric)
        for (solver, *values), summary in parts.items()
        if summary.metrics[metric].value is not None and None not in values
    ]
    return _in_order(rows, "solver", results.solvers)


def _in_order(rows: Rows, key: str, order: Sequence[Any]) -> Rows:
    return sorted(rows, key=lambda row: order.index(row[key]))


def _figures(summary: Summary, metric: str) -> dict[str, Any]:
    estimate = summary.metrics[metric]
    return {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "items": summary.items,
        "floor": 0.0 if metric == "lift" else summary.floor,
    }


def setting_rows(results: BenchmarkResults, metric: str) -> Rows:
    """Every solver in every setting."""
    rows = summary_rows(results, metric, {"setting": attrgetter("setting")})
    return _in_order(rows, "setting", results.settings)


def group_rows(results: BenchmarkResults, metric: str, names: Sequence[str]) -> Rows:
    """Every solver in every combination of these groups."""
    return summary_rows(
        results, metric, {column(name): methodcaller("group", name) for name in names}
    )


def field_rows(results: BenchmarkResults, metric: str, names: Sequence[str]) -> Rows:
    """Every solver at every value of these swept fields of the spec or the view."""
    swept = results.swept_fields()

    def value_of(name: str) -> Callable[[GroupKey], Any]:
        return lambda key: swept[name][key.setting]

    return summary_rows(results, metric, {column(name): value_of(name) for name in names})


def metric_rows(results: BenchmarkResults) -> Rows:
    """Every metric between 0 and 1 of every solver."""
    return [
        {"metric": metric.name, "solver": solver, "role": results.role(solver)}
        | _figures(results.by_solver[solver], metric.name)
        for solver in results.solvers
        for metric in results.benchmark.metrics
        if metric.bounds is not None
        and metric.charted
        and results.by_solver[solver].metrics[metric.name].value is not None
    ]


def kind_rows(results: BenchmarkResults) -> Rows:
    """The share of every kind of answer of every solver."""
    rows = []
    for solver in results.solvers:
        counts = count_kinds(results.by_solver[solver].kinds)
        rows += [
            {"solver": solver, "kind": kind, "count": count, "share": count / counts.total()}
            for kind, count in counts.items()
        ]
    return rows


def agreement_rows(results: BenchmarkResults) -> Rows:
    """How right the commonest answer of an item is, by the share of its trials that gave it."""
    parts = results.parts(lambda key: key.solver)
    rows = []
    for solver in results.solvers:
        scores: dict[float, list[float]] = {}
        for vote in merged(parts[solver], results.benchmark.metrics).votes():
            scores.setdefault(round(vote.share, 3), []).append(vote.score)
        rows += [
            {"solver": solver, "agreed": share, "right": sum(own) / len(own), "items": len(own)}
            for share, own in sorted(scores.items())
        ]
    return rows


def published_rows(results: BenchmarkResults, names: Sequence[str]) -> Rows:
    """Published figures with these groups whose conditions match the spec of some setting."""

    def matches(conditions: Mapping[str, Any]) -> bool:
        return any(
            spec is not None and all(spec.get(key) == value for key, value in conditions.items())
            for spec in results.specs.values()
        )

    return [
        {column(name): figure.groups[name] for name in names}
        | {"solver": figure.who, "role": "published", "value": figure.value, "about": figure.about}
        for figure in results.benchmark.published
        if set(names) <= set(figure.groups) and matches(figure.spec)
    ]


def trace_rows(results: BenchmarkResults) -> Rows:
    """The mean trace of every solver and setting; a finished attempt keeps its last value."""
    traces = {
        key: [trace for record in records if (trace := _trace(results, record))]
        for key, records in results.traced.items()
    }
    steps: dict[str, int] = {}
    for (setting, _), own in traces.items():
        steps[setting] = max([steps.get(setting, 0), *map(len, own)])
    rows: Rows = []
    for (setting, solver), own in traces.items():
        for step in range(steps[setting] if own else 0):
            estimate = mean_interval([trace[min(step, len(trace) - 1)] for trace in own])
            rows.append(
                {"solver": solver, "role": results.role(solver)}
                | {column("setting"): setting, column("step"): step, "items": estimate.n}
                | {"value": estimate.value, "low": estimate.low, "high": estimate.high}
            )
    # The floor is what was known before the first step.
    start: dict[str, float] = {}
    for row in rows:
        if row[column("step")] == 0:
            setting = row[column("setting")]
            start[setting] = max(start.get(setting, row["value"]), row["value"])
    rows = [{**row, "floor": start[row[column("setting")]]} for row in rows]
    return _in_order(rows, "solver", results.solvers)


def _trace(results: BenchmarkResults, record: Row) -> Sequence[float]:
    item, view = presented_item(results.benchmark, record)
    answer = results.benchmark.parse(item, visible_replies(replies_of(record)), view)
    return () if answer is None else results.benchmark.trace(item, answer)


def reference_lines(
    rows: Iterable[Mapping[str, Any]],
    columns: Sequence[str],
    best: Callable[[float, float], float] = max,
) -> Rows:
    """The floor, the best shortcut and the ceiling for each combination of these columns."""
    lines: dict[tuple[Any, ...], dict[str, float]] = {}
    for row in rows:
        own = lines.setdefault(tuple(row[name] for name in columns), {})
        own["floor"] = row["floor"]
        line = {"shortcut": "best shortcut", "ceiling": "ceiling"}.get(row["role"])
        if line is not None:
            own[line] = best(own.get(line, row["value"]), row["value"])
    return [
        dict(zip(columns, values, strict=True)) | {"line": line, "value": value}
        for values, own in lines.items()
        for line, value in own.items()
    ]
