"""The answer that the page opens with: a grid of lifts, and a sentence for every model.

docs/report.md documents the rules behind the sentences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from trivium.core.benchmark import Lifts
from trivium.core.results import Summary
from trivium.core.statistics import Estimate
from trivium.report.audits import CAUGHT, NOT_AUDITED, audit_verdict
from trivium.report.charts import Styles, Traces
from trivium.report.plot import SeriesStyle
from trivium.report.results import BenchmarkResults, GroupKey, natural

MAX_COLUMNS = 8  # of the grid of one benchmark, whose columns are settings
BASELINES = {"ceiling": "ceiling", "program": "best program", "shortcut": "best shortcut"}


@dataclass(frozen=True)
class Column:
    """One benchmark, or one setting of the only benchmark."""

    title: str
    link: str
    audit: str  # passed, caught, mixed or unknown
    note: str  # what the audit says, in a few words
    floor: str


@dataclass(frozen=True)
class GridCell:
    """A lift; None where there is none."""

    estimate: Estimate
    note: str = ""  # attempts without an answer, and what they could have changed
    who: str = ""  # the solver, in rows of baselines

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
    by: str = "in every setting"  # what the columns of one benchmark are


def sound_settings(results: BenchmarkResults) -> list[str]:
    """The settings without known shortcuts; all of them if every one has some."""
    verdicts = {
        one: audit_verdict(results.benchmark, results.specs[one]) for one in results.settings
    }
    return [one for one, verdict in verdicts.items() if verdict != CAUGHT] or list(verdicts)


def grid(
    all_results: Sequence[BenchmarkResults],
    styles: Styles,
    traces: Mapping[str, Traces],
    sound: Mapping[str, Sequence[str]],
    *,
    sentences: bool = True,
) -> Grid:
    """The lift of every model at every benchmark, or at every setting of the only one."""
    parts: list[tuple[Column, BenchmarkResults, Mapping[str, Summary]]] = []
    by = Grid.by
    only = all_results[0] if len(all_results) == 1 else None
    groups = [] if only is None else _columns_by_group(only, sound[only.benchmark.name])
    if only is not None and 1 < len(only.settings) <= MAX_COLUMNS:
        for setting in only.settings:
            column = _column(only, [setting], [setting], setting)
            parts.append((column, only, only.within([setting])))
    elif only is not None and groups:
        parts = [(column, only, own) for column, own in groups]
        by = f"by number of {only.chart_axes[0].label}"
    else:
        for results in all_results:
            kept = sound[results.benchmark.name]
            column = _column(results, kept, results.settings, results.benchmark.name)
            parts.append((column, results, results.within(kept)))
    rows = []
    for model in [name for name, style in styles.items() if not style.is_baseline]:
        cells = [_cell(own[model]) if model in own else None for *_, own in parts]
        text = sentence(all_results, model, traces, sound) if sentences else ""
        rows.append(GridRow(model, styles[model], text, cells))
    for role, name in BASELINES.items():
        if role == "program" and not sentences:
            continue  # there are few of them, and they say least
        best = [results.best(own, role, "lift") for _, results, own in parts]
        cells = [None if found is None else GridCell(found[1], who=found[0]) for found in best]
        if any(cells):
            rows.append(GridRow(name, None, "", cells))
    return Grid([column for column, *_ in parts], rows, by)


def _columns_by_group(
    results: BenchmarkResults, kept: Sequence[str]
) -> list[tuple[Column, dict[str, Summary]]]:
    """A column for each value of the group that matters most, where there are a few of them."""
    axis = next(iter(results.chart_axes), None)
    values = results.values(axis.value) if axis else []
    numbers = all(isinstance(value, (int, float)) for value in values)
    if axis is None or not numbers or not 1 < len(values) <= MAX_COLUMNS:
        return []
    whole = _column(results, kept, results.settings, "")
    made = []
    for value in values:

        def solver(key: GroupKey, value: Any = value) -> str | None:
            own = key.setting in kept and axis.value(key) == value
            return key.solver if own else None

        title = f"{value} {axis.label}"
        made.append((replace(whole, title=title, floor=""), results.split(solver)))
    return made


def _cell(part: Summary) -> GridCell:
    """A lift, with what attempts without an answer could have changed."""
    counts = {"failed": part.failed, "declined": part.declined, "cut off": part.cut_offs}
    note = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    if part.bounds is not None and part.ceiling != part.floor:
        low, high = ((end - part.floor) / (part.ceiling - part.floor) for end in part.bounds)
        note += f": {low:.2f} to {high:.2f}"
    return GridCell(part.metrics["lift"], note)


def _column(
    results: BenchmarkResults, kept: Sequence[str], settings: Sequence[str], title: str
) -> Column:
    """A column with what audits say about its items, in a few words."""
    by = {one: audit_verdict(results.benchmark, results.specs[one]) for one in settings}
    verdicts = [by[one] for one in kept]
    passed, caught = verdicts.count("passed"), verdicts.count(CAUGHT)
    if len(set(verdicts)) == 1:
        audit = verdicts[0]
        note = {"passed": "audit passed", CAUGHT: "has shortcuts"}.get(audit, "not audited")
    else:
        audit = "passed" if passed else NOT_AUDITED
        note = f"{passed} of {len(kept)} audited, passed"
        if caught:
            note = f"{passed} of {len(kept)} passed an audit, {caught} with shortcuts"
    if left := [one for one in settings if one not in kept]:
        note += f"; without {left[0] if len(left) == 1 else len(left)} (shortcuts)"
    floors = [part.floor for part in results.within(kept).values() if part.answered]
    floor = f"floor {max(floors):.2f}" if floors else ""
    return Column(title, results.benchmark.name, audit, note, floor)


def sentence(
    all_results: Sequence[BenchmarkResults],
    model: str,
    traces: Mapping[str, Traces],
    sound: Mapping[str, Sequence[str]],
) -> str:
    """What a model can do, by the rules in docs/report.md."""
    phrases = []
    for results in all_results:
        name = results.benchmark.name
        kept = sound[name]
        own = results.within(kept).get(model)
        if own is None or own.metrics["lift"].value is None:
            continue
        lifts = Lifts(
            own.metrics["lift"],
            _lifts_by_axis(results, model, kept),
            _nearest_player(results, traces[name], model, kept),
        )
        phrases.append(results.benchmark.headline_sentence(lifts))
    text = "; ".join(phrases)
    return f"{text[:1].upper()}{text[1:]}." if text else "Nothing could be scored."


def _lifts_by_axis(
    results: BenchmarkResults, model: str, kept: Sequence[str]
) -> dict[Any, Estimate]:
    """The lift of a model at every value of the first chart axis."""
    axis = next(iter(results.chart_axes), None)
    if axis is None:
        return {}

    def value(key: GroupKey) -> Any:
        return axis.value(key) if key.solver == model and key.setting in kept else None

    parts = results.split(value)
    return {at: parts[at].metrics["lift"] for at in sorted(parts, key=natural)}


def _nearest_player(
    results: BenchmarkResults, traces: Traces, model: str, kept: Sequence[str]
) -> str:
    """The built-in solver that leaves most nearly as many bits after every step of a game."""
    distances: dict[str, list[float]] = {}
    for (setting, solver), trace in traces.items():
        own = traces.get((setting, model))
        if own and setting in kept and solver in results.benchmark.solvers:
            gaps = [
                abs((a.value or 0.0) - (b.value or 0.0)) for a, b in zip(own, trace, strict=True)
            ]
            start = (trace[0].value or 1.0) * len(gaps)
            distances.setdefault(solver, []).append(sum(gaps) / start)
    return min(distances, key=lambda name: fmean(distances[name]), default="")
