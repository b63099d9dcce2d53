"""Plain rows for pictures, taken from digests: one function for each shape of data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import Any, ParamSpec

from trivium.core.results import Summary
from trivium.core.statistics import bootstrap_mean
from trivium.report.examples import replies_of, told_item
from trivium.report.results import Digest, Key, Row

Rows = list[dict[str, Any]]
P = ParamSpec("P")
LINES = ("ceiling", "best shortcut", "chance")


def printable(make: Callable[P, Rows]) -> Callable[P, Rows]:
    """The same rows with line ends and the like taken out of texts: Vega compiles some of them."""

    def clean(value: Any) -> Any:
        if not isinstance(value, str) or value.isprintable():
            return value
        return "".join(letter if letter.isprintable() else " " for letter in value)

    @wraps(make)
    def made(*args: P.args, **kwargs: P.kwargs) -> Rows:
        return [{key: clean(value) for key, value in row.items()} for row in make(*args, **kwargs)]

    return made


def column(group: str) -> str:
    """The name of a group's column, which no figure's name can be."""
    return f"group_{group}"


def figure(summary: Summary, metric: str) -> dict[str, Any]:
    """One metric of a summary, with its interval."""
    estimate = summary.metrics[metric]
    return {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "items": summary.items,
        "chance": summary.chance,
    }


@printable
def standings(digest: Digest, metric: str) -> Rows:
    """Every solver in every setting."""
    parts = digest.split(lambda key: (key.setting, key.solver))
    return [
        {"setting": setting, "solver": solver, "role": digest.role(solver)}
        | figure(parts[setting, solver], metric)
        for setting in digest.settings
        for solver in digest.solvers
        if (setting, solver) in parts and parts[setting, solver].metrics[metric].value is not None
    ]


@printable
def grouped(digest: Digest, metric: str, names: Sequence[str]) -> Rows:
    """Every solver in every group of these names, all else pooled."""

    def by(key: Key) -> Any:
        return (key.solver, *map(key.group, names))

    rows = [
        {"solver": solver, "role": digest.role(solver)}
        | dict(zip(map(column, names), values, strict=True))
        | figure(part, metric)
        for (solver, *values), part in digest.split(by).items()
        if part.metrics[metric].value is not None and None not in values
    ]
    return sorted(rows, key=lambda row: digest.solvers.index(row["solver"]))


def lines(rows: Iterable[Mapping[str, Any]], names: Sequence[str], *, lift: bool = False) -> Rows:
    """Chance, the best shortcut and the ceiling for each value of these columns."""
    best: dict[tuple[Any, ...], dict[str, float]] = {}
    for row in rows:
        own = best.setdefault(tuple(row[name] for name in names), {})
        own["chance"] = 0.0 if lift else row["chance"]
        line = {"shortcut": "best shortcut", "ceiling": "ceiling"}.get(row["role"])
        if line is not None:
            own[line] = max(own.get(line, row["value"]), row["value"])
    return [
        dict(zip(names, group, strict=True)) | {"line": line, "value": own[line]}
        for group, own in best.items()
        for line in LINES
        if line in own
    ]


@printable
def metrics(digest: Digest) -> Rows:
    """Every metric between 0 and 1 of every solver, all else pooled."""
    parts = digest.split(lambda key: key.solver)
    shares = [
        metric for metric in digest.benchmark.metrics if {metric.best, metric.worst} == {0, 1}
    ]
    return [
        {"solver": solver, "role": digest.role(solver), "metric": metric.name}
        | figure(parts[solver], metric.name)
        for solver in digest.solvers
        for metric in shares
        if parts[solver].metrics[metric.name].value is not None
    ]


@printable
def kinds(digest: Digest) -> Rows:
    """The share of every kind of answer of every solver."""
    rows = []
    parts = digest.split(lambda key: key.solver)
    for solver in digest.solvers:
        part = parts[solver]
        total = sum(part.kinds.values())
        counts: dict[str, int] = {}
        for full, count in part.kinds.items():
            kind = full.partition(":")[0]
            counts[kind] = counts.get(kind, 0) + count
        rows += [
            {"solver": solver, "kind": kind, "count": count, "share": count / total}
            for kind, count in counts.items()
        ]
    return rows


@printable
def agreement(digest: Digest) -> Rows:
    """Of items told several times: how many trials agreed, and how right the commonest was."""
    rows = []
    for solver in digest.solvers:
        groups: dict[float, list[float]] = {}
        for vote in digest.tally(lambda key, who=solver: key.solver == who).votes():  # type: ignore[misc]
            groups.setdefault(round(vote.share, 3), []).append(vote.score)
        rows += [
            {"solver": solver, "agreed": share, "right": sum(scores) / len(scores)}
            | {"items": len(scores)}
            for share, scores in sorted(groups.items())
        ]
    return rows


def published(digest: Digest, names: Sequence[str]) -> Rows:
    """Published figures that may stand beside these records, by the groups of these names."""
    fitting = [
        figure
        for figure in digest.benchmark.published
        if any(
            spec is not None and all(spec.get(key) == value for key, value in figure.spec.items())
            for spec in digest.specs.values()
        )
    ]
    return [
        {column(name): figure.groups[name] for name in names}
        | {"solver": figure.who, "role": "published", "value": figure.value, "about": figure.about}
        for figure in fitting
        if set(names) <= set(figure.groups)
    ]


@printable
def swept(digest: Digest, metric: str, fields: Sequence[str]) -> Rows:
    """Every solver at every value of these fields of the spec or the view, all else pooled."""
    found = digest.swept()

    def by(key: Key) -> Any:
        return (key.solver, *(found[name][key.setting] for name in fields))

    rows = [
        {"solver": solver, "role": digest.role(solver)}
        | dict(zip(map(column, fields), values, strict=True))
        | figure(part, metric)
        for (solver, *values), part in digest.split(by).items()
        if part.metrics[metric].value is not None
    ]
    return sorted(rows, key=lambda row: digest.solvers.index(row["solver"]))


@printable
def traces(digest: Digest) -> Rows:
    """How far attempts had come after every step: means over attempts, ended ones as they ended."""
    followed = {
        key: [path for record in records if (path := _trace(digest, record))]
        for key, records in digest.traced.items()
    }
    longest: dict[str, int] = {}
    for (setting, _), paths in followed.items():
        longest[setting] = max([longest.get(setting, 0), *map(len, paths)])
    rows: Rows = []
    for (setting, solver), paths in followed.items():
        for step in range(longest[setting] if paths else 0):
            values = [path[min(step, len(path) - 1)] for path in paths]
            estimate = bootstrap_mean(values)
            rows.append(
                {"setting": setting, "solver": solver, "role": digest.role(solver), "step": step}
                | {"value": estimate.value, "low": estimate.low, "high": estimate.high}
                | {"items": estimate.n}
            )
    return sorted(rows, key=lambda row: digest.solvers.index(row["solver"]))


def _trace(digest: Digest, record: Row) -> Sequence[float]:
    told, view = told_item(digest.benchmark, record)
    answer = digest.benchmark.parse(told, replies_of(record), view)
    return () if answer is None else digest.benchmark.trace(told, answer)


def trace_lines(rows: Rows) -> Rows:
    """Where the ideal observer and the best shortcut are after every step, and the start."""
    made: Rows = []
    for setting in dict.fromkeys(row["setting"] for row in rows):
        own = [row for row in rows if row["setting"] == setting]
        start = max(row["value"] for row in own if row["step"] == 0)
        for step in sorted({row["step"] for row in own}):
            made.append({"setting": setting, "step": step, "line": "chance", "value": start})
            for line, role in (("ceiling", "ceiling"), ("best shortcut", "shortcut")):
                values = [row["value"] for row in own if (row["step"], row["role"]) == (step, role)]
                if values:
                    made.append(
                        {"setting": setting, "step": step, "line": line, "value": min(values)}
                    )
    return made
