"""The answer that the page opens with: a grid of lifts, and a sentence for every model.

docs/report.md documents the rules behind the sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from urllib.parse import urlencode

from trivium.core.benchmark import Lifts
from trivium.core.results import Summary
from trivium.core.statistics import Estimate
from trivium.report.audits import CAUGHT, NOT_AUDITED
from trivium.report.charts import Styles
from trivium.report.plot import SeriesStyle
from trivium.report.results import BenchmarkResults, natural
from trivium.report.tables import unanswered

MAX_COLUMNS = 8  # of the grid of one benchmark
BASELINES = {"ceiling": "ceiling", "program": "best program", "shortcut": "best shortcut"}


@dataclass(frozen=True)
class Column:
    """One benchmark, or one setting of the only benchmark."""

    title: str
    link: str
    audit: str  # passed, caught, mixed or unknown
    note: str  # what the audit says, in a few words
    floor: str
    setting: str = ""  # where the column is one of several settings


@dataclass(frozen=True)
class GridCell:
    """A lift; None where there is none."""

    estimate: Estimate
    note: str = ""  # attempts without an answer, and what they could have changed
    who: str = ""  # the solver, in rows of baselines
    link: str = ""  # to its attempts that are not right

    @property
    def heat(self) -> int:
        """How strongly the cell is coloured, in percent; below 0 under the floor."""
        return round(100 * max(-1.0, min(1.0, self.estimate.value or 0.0)))


@dataclass(frozen=True)
class GridRow:
    """A model, or the best baseline of a role."""

    name: str
    style: SeriesStyle | None
    sentence: str
    cells: Sequence[GridCell | None]


@dataclass(frozen=True)
class Grid:
    """Models by benchmarks."""

    columns: Sequence[Column]
    rows: Sequence[GridRow]
    by: str = ""  # what the columns of one benchmark are


Part = tuple[Column, BenchmarkResults, dict[str, Summary]]


def grid(
    all_results: Sequence[BenchmarkResults], styles: Styles, *, of_section: bool = False
) -> Grid:
    """The lift of every model at every benchmark, or at every setting of the only one.

    The grid of a benchmark's section has no sentences and shows every setting.
    """
    parts, by = _columns(all_results, every_setting=of_section)
    rows = []
    for model in [name for name, style in styles.items() if not style.is_baseline]:
        cells = [
            _cell(own[model], failures_link(column, model)) if model in own else None
            for column, _, own in parts
        ]
        text = "" if of_section else sentence(all_results, model)
        rows.append(GridRow(model, styles[model], text, cells))
    for role, name in BASELINES.items():
        if role == "program" and of_section:
            continue  # the least informative row
        best = [results.best(own, role, "lift") for _, results, own in parts]
        cells = [
            found and GridCell(found[1], who=found[0], link=failures_link(column, found[0]))
            for found, (column, *_) in zip(best, parts, strict=True)
        ]
        if any(cells):
            rows.append(GridRow(name, None, "", cells))
    return Grid([column for column, *_ in parts], rows, by)


def _columns(
    all_results: Sequence[BenchmarkResults], *, every_setting: bool
) -> tuple[list[Part], str]:
    """A column for each benchmark, or for each setting or number of the only one; and by what."""
    first = all_results[0]
    if len(all_results) == 1 and 1 < len(first.settings) <= MAX_COLUMNS:
        columns = {one: replace(_column(first, one, [one]), setting=one) for one in first.settings}
        found = [(column, first, first.within([one])) for one, column in columns.items()]
        return found, "in every setting"
    parts = []
    for results in all_results:
        kept = results.settings if every_setting else results.sound_settings
        left_out = [one for one in results.settings if one not in kept]
        column = _column(results, results.benchmark.name, kept, left_out)
        parts.append((column, results, results.within(kept)))
    axis = next(iter(first.chart_axes), None)
    values = first.values(axis.value) if axis and len(all_results) == 1 else []
    numbers = all(isinstance(value, (int, float)) for value in values)
    if axis is None or not numbers or not 1 < len(values) <= MAX_COLUMNS:
        return parts, "in every setting"
    whole, by_value = replace(parts[0][0], floor=""), []
    for value in values:
        own = first.split(
            lambda key, value=value: key.solver if axis.value(key) == value else None,  # type: ignore[misc]
            first.settings if every_setting else first.sound_settings,
        )
        by_value.append((replace(whole, title=f"{value} {axis.label}"), first, own))
    return by_value, f"by number of {axis.label}"


def failures_link(column: Column, solver: str) -> str:
    """The address on the page of the attempts of a solver that are not right."""
    setting = {"setting": column.setting} if column.setting else {}
    return (
        f"#items?{urlencode({'benchmark': column.link, **setting, 'solver': solver})}&kind=!right"
    )


def _cell(part: Summary, link: str) -> GridCell:
    """A lift, with what attempts without an answer could have changed."""
    note = ", ".join(f"{count} {name}" for name, count in unanswered([part]).items() if count)
    if part.bounds is not None and part.ceiling != part.floor:
        low, high = ((end - part.floor) / (part.ceiling - part.floor) for end in part.bounds)
        note += f": {low:.2f} to {high:.2f}"
    return GridCell(part.metrics["lift"], note, link=link)


def _column(
    results: BenchmarkResults, title: str, kept: Sequence[str], left_out: Sequence[str] = ()
) -> Column:
    """A column with what audits say about its items, in a few words."""
    verdicts = [results.audit_verdict(one) for one in kept]
    passed, caught = verdicts.count("passed"), verdicts.count(CAUGHT)
    if len(set(verdicts)) == 1:
        audit = verdicts[0]
        note = {"passed": "audit passed", CAUGHT: "has shortcuts"}.get(audit, "not audited")
    else:
        audit = CAUGHT if caught else NOT_AUDITED
        note = f"{passed} of {len(kept)} passed an audit"
        note += f", {caught} with shortcuts" if caught else ""
        unknown = len(kept) - passed - caught
        note += f", {unknown} not audited" if unknown else ""
    if left_out:
        note += f"; without {left_out[0] if len(left_out) == 1 else len(left_out)} (shortcuts)"
    floors = [part.floor for part in results.within(kept).values() if part.answered]
    floor = f"floor {max(floors):.2f}" if floors else ""
    return Column(title, results.benchmark.name, audit, note, floor)


def sentence(all_results: Sequence[BenchmarkResults], model: str) -> str:
    """What a model can do, by the rules in docs/report.md."""
    phrases = []
    for results in all_results:
        kept = results.sound_settings
        own = results.within(kept).get(model)
        if own is None or own.metrics["lift"].value is None:
            continue
        axis = next(iter(results.chart_axes), None)
        parts = results.split(axis.value, kept, model) if axis else {}
        by_axis = {at: parts[at].metrics["lift"] for at in sorted(parts, key=natural)}
        lifts = Lifts(own.metrics["lift"], by_axis, _nearest_player(results, model))
        phrases.append(results.benchmark.headline_sentence(lifts))
    text = "; ".join(phrases)
    return f"{text[:1].upper()}{text[1:]}." if text else "Nothing could be scored."


def _nearest_player(results: BenchmarkResults, model: str) -> str:
    """The built-in solver that leaves most nearly as many bits after every step of a game."""
    distances: dict[str, list[float]] = {}
    for (setting, solver), trace in results.traces.items():
        own = results.traces.get((setting, model))
        if own and setting in results.sound_settings and solver in results.benchmark.solvers:
            gaps = [
                abs((a.value or 0.0) - (b.value or 0.0)) for a, b in zip(own, trace, strict=True)
            ]
            start = (trace[0].value or 1.0) * len(gaps)
            distances.setdefault(solver, []).append(sum(gaps) / start)
    return min(distances, key=lambda name: fmean(distances[name]), default="")
