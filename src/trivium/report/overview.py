"""Every solver between floor and ceiling: tables for the page, and a sentence in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from trivium.core.results import Summary
from trivium.core.statistics import Estimate, quantile
from trivium.report.audits import audit_sentence
from trivium.report.item_browser import conversation
from trivium.report.plot import ROLE_STYLES, SeriesStyle
from trivium.report.results import ROLES, STUDIED, BenchmarkResults
from trivium.report.tables import left_out_sentence, number, ranked, scored_items

MAX_SETTINGS = 12  # with a table each; more are pooled


@dataclass(frozen=True)
class Bar:
    """A solver's result in words and as horizontal positions in percent."""

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


@dataclass(frozen=True)
class RoleRow:
    """The built-in solvers of one role on one line, and the best of them."""

    role: str
    about: str
    style: SeriesStyle
    bars: Sequence[tuple[str, Bar]]  # by solver, the best first
    best: str
    score: Estimate  # of the best


@dataclass(frozen=True)
class Card:
    """A benchmark without models: what its built-in solvers reach, and an item."""

    results: BenchmarkResults
    sentence: str
    rows: Sequence[RoleRow]
    prompt: str
    answer: str

    @property
    def size(self) -> int:
        """The characters of the prompt."""
        return len(self.prompt)


ROLE_MEANINGS = {
    "ceiling": "the best that can be done with the same text",
    "program": "does part of the reasoning",
    "shortcut": "reads the surface of the prompt and does not reason",
    "floor": "does not read the item at all",
}


def card(results: BenchmarkResults) -> Card:
    """What the built-in solvers of a benchmark reach, by role, and its first item."""
    parts, metric = results.within(results.sound_settings), results.benchmark.metrics[0]
    most = max(parts.values(), key=lambda part: part.metrics[metric.name].n)
    lines = [("floor", most.floor), ("ceiling", most.ceiling)]
    rows = []
    for role, about in ROLE_MEANINGS.items():
        own = [
            part
            for part in ranked(results.benchmark, list(parts.values()))
            if results.role(part.solver) == role and part.metrics[metric.name].value is not None
        ]
        found = [(one.solver, one.metrics[metric.name]) for one in own]
        bars = [(name, bar(one, lines, (metric.worst, metric.best))) for name, one in found]
        if bars:
            drawn = [(name, one) for name, one in bars if one]
            rows.append(RoleRow(role, about, ROLE_STYLES[role], drawn, *found[0]))
    row = next((row for rows in results.examples.values() for row in rows), None)
    shown = None if row is None else conversation(results.benchmark, row)
    prompt = "" if shown is None else dict(reversed(shown.turns)).get("environment", "")
    return Card(results, tour_sentence(results), rows, prompt, shown.expected if shown else "")


def tour_sentence(results: BenchmarkResults) -> str:
    """What the ceiling and the shortcuts of a benchmark reach, in a sentence."""
    parts, headline = results.within(results.sound_settings), results.benchmark.metrics[0].name
    if not any(part.metrics[headline].n for part in parts.values()):
        return "Nothing could be scored."
    most = max(parts.values(), key=lambda part: part.metrics[headline].n)
    best = results.best(parts, "ceiling", headline)
    words = [f"the ceiling is {most.ceiling:.2f}"]
    if best:
        words[0] += f", and {best[0]} reaches {best[1].value:.2f} on these items"
    if shortcut := results.best(parts, "shortcut", headline):
        tried = [results.role(solver) for solver in parts].count("shortcut")
        wider = best_of_several(shortcut[1], tried)
        of = f"the best of {tried} shortcuts" if tried > 1 else "the only shortcut"
        above = "above" if wider.is_above(most.floor) else "not shown to be above"
        words.append(
            f"{of}, {shortcut[0]}, reaches {shortcut[1].value:.2f}, {above} the floor of "
            f"{most.floor:.2f}"
        )
    else:
        words.append(f"the floor is {most.floor:.2f}")
    text = "; ".join(words)
    return f"{text[:1].upper()}{text[1:]}."


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
        return round(100 * share, 1)

    label = f"{estimate}; {', '.join(f'{name} {line:.3f}' for name, line in lines)}"
    places = [(name, position(line)) for name, line in lines]
    return Bar(label, position(value), position(estimate.low), position(estimate.high), places)
