"""The answer that the page opens with: who is best and by how much, and a grid of lifts.

docs/report.md documents the rules behind the sentences.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from statistics import fmean
from typing import Any
from urllib.parse import urlencode

import numpy as np

from trivium.auditing.stored import CAUGHT, NOT_AUDITED
from trivium.core.benchmark import Lifts
from trivium.core.results import Summary
from trivium.core.statistics import (
    Bounds,
    Estimate,
    mean_score,
    paired_difference,
    several,
)
from trivium.report.charts import Styles, charted_solvers
from trivium.report.overview import Bar, BarRow, bars, two
from trivium.report.plot import SeriesStyle
from trivium.report.results import BenchmarkResults, natural, studied_solvers
from trivium.report.tables import unanswered

UNIT = (0.0, 1.0)
MAX_LINES = 6  # models named in the terminal
MAX_COLUMNS = 8  # of the grid of one benchmark
BASELINES = {"ceiling": "ceiling", "program": "best program", "shortcut": "best shortcut"}
UNCLEAR = "makes no clear difference"
RULE = (
    "Ranked by the mean score over all items that count; differences are paired, on common items. "
    "Their 95% intervals are simultaneous over all pairs of models (Bonferroni); “beats” is by "
    "Holm's test."
)
Scores = Mapping[Any, float]  # by item
# A difference and whether it is clear; None without items in common.
Compared = tuple[Estimate, bool] | None


def differences_together(
    pairs: Sequence[tuple[Scores, Scores]], bounds: Bounds | None
) -> list[Compared]:
    """The first minus the second of every pair on common items.

    The 95% intervals hold together (Bonferroni); clear is by Holm's test.
    """
    common = [
        [(value, second[key]) for key, value in first.items() if key in second]
        for first, second in pairs
    ]
    known = [np.array(values).T for values in common if values]

    def interval(which: int, level: float) -> Estimate:
        first, second = known[which]
        return paired_difference(first, second, level, bounds)

    found = iter(several(interval, len(known)))
    return [next(found) if values else None for values in common]


@dataclass(frozen=True)
class Rank:
    """One model: its score, and how it compares with the next one."""

    solver: str
    figures: str  # over all items, with the interval
    bars: Sequence[Bar]  # the same between 0 and 1
    ahead: str  # of the next model, in words
    words: str  # whether it is above the floor, and how many attempts have no answer


def ranking(all_results: Sequence[BenchmarkResults]) -> list[Rank]:
    """The models of a run, the best first; empty where there are none, or none was scored."""
    scores: dict[str, dict[tuple[str, int], float]] = defaultdict(dict)  # benchmark and item
    for results in all_results:
        name, bounds = results.benchmark.name, results.benchmark.metrics[0].bounds
        for model in results.models if bounds == UNIT else ():
            by_item = {} if results.role(model) == "person" else results.item_scores(model)
            scores[model] |= {(name, item): value for item, value in by_item.items()}
    means = {
        model: mean_score([*by_item.values()], UNIT) for model, by_item in scores.items() if by_item
    }
    order = sorted(means, key=lambda model: -(means[model].value or 0.0))

    def compared(name: str | None = None) -> dict[tuple[str, str], Compared]:
        """The differences of all pairs of models, at one benchmark or at all."""
        chosen = {
            model: {key: value for key, value in scores[model].items() if name in (None, key[0])}
            for model in order
        }
        pairs = list(combinations(order, 2))
        found = differences_together([(chosen[one], chosen[two]) for one, two in pairs], UNIT)
        return dict(zip(pairs, found, strict=True))

    overall = compared()
    names = [results.benchmark.name for results in all_results]
    by_name = {name: compared(name) for name in names}
    ahead = {
        pair[0]: _ahead(pair[1], overall[pair], {name: by_name[name][pair] for name in by_name})
        for pair in pairwise(order)
    }
    return [
        Rank(
            model,
            two(means[model]),
            bars(means[model], (), UNIT),
            ahead.get(model, ""),
            _rank_words(all_results, model),
        )
        for model in order
    ]


def _ahead(following: str, overall: Compared, parts: Mapping[str, Compared]) -> str:
    """How a model compares with the next one, over all items and on every benchmark."""
    if overall is None:
        return f", has no items in common with {following}"
    estimate, clear = overall
    text = f", {'beats' if clear else 'is not shown to beat'} {following} by {two(estimate)}"
    known = {name: found for name, found in parts.items() if found}
    if len(known) < 2:
        return text
    unclear = [name for name, (_, seen) in known.items() if not seen]
    lower = [name for name, (one, seen) in known.items() if seen and (one.value or 0.0) < 0]
    higher = len(known) - len(unclear) - len(lower)
    text += f" ({'shown ' if not clear else ''}on {higher} of {len(known)} benchmarks"
    text += f"; lower on {', '.join(lower)}" if lower else ""
    text += f"; no difference shown on {', '.join(unclear)}" if higher and unclear else ""
    return f"{text})"


def _rank_words(all_results: Sequence[BenchmarkResults], model: str) -> str:
    """On which benchmarks a model is above the floor, and how many attempts have no answer."""
    found = {results.benchmark.name: results.within().get(model) for results in all_results}
    parts = {name: part for name, part in found.items() if part}
    missing = [name for name, part in parts.items() if not part.metrics["lift"].is_above(0)]
    above = len(parts) - len(missing)
    if len(parts) > 1:
        text = f"above the floor on {above} of {len(parts)} benchmarks"
        text += f" (not on {', '.join(missing)})" if above and missing else ""
    else:
        text = "above the floor" if above else "not above the floor"
    unread = sum(part.no_answers for part in parts.values())
    counts = {"without an answer": unread, **unanswered(parts.values())}
    named = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    attempts = sum(sum(part.kinds.values()) for part in parts.values())
    return f"{text}; {attempts:,} attempts: {named or 'all answered'}"


def closing_lines(all_results: Sequence[BenchmarkResults]) -> list[str]:
    """What a run ends with in the terminal: who is best, or what the baselines reach."""
    if ranks := ranking(all_results):
        lines = [
            f"{place}. {rank.solver} {rank.figures}{rank.ahead}; {rank.words}"
            for place, rank in enumerate(ranks[:MAX_LINES], start=1)
        ]
        more = len(ranks) - len(lines)
        return [*lines, f"and {more} more, in the report"] if more else lines
    lines = []
    for results in all_results:
        parts, name = results.within(), results.benchmark.metrics[0].name
        words = [
            f"{BASELINES[role]} {best[1].value:.2f}"
            for role in ("ceiling", "shortcut")
            if (best := results.best(parts, role, name))
        ]
        floor = max((part.floor for part in parts.values()), default=0.0)
        width = max(len(each.benchmark.name) for each in all_results)
        lines.append(
            f"{results.benchmark.name:<{width}}  {', '.join([*words, f'floor {floor:.2f}'])}"
        )
    return lines


@dataclass(frozen=True)
class Effect(BarRow):
    """What a variant of a diagnosis, its name, does to a solver."""

    solver: str = ""
    same_items: bool = False  # the variant changes how items are presented, not the items


def switch_effects(results: BenchmarkResults, styles: Styles) -> list[Effect]:
    """What every variant of a diagnosis changes for every model, variant by variant."""
    control, *variants = results.settings
    solvers = charted_solvers(results, styles)
    if not results.models:
        solvers = [name for name in solvers if results.role(name) == "shortcut"]
    effects = []
    for solver in solvers:
        before, *after = (
            {item: fmean(trials) for item, trials in results.scores.get((name, solver), {}).items()}
            for name in (control, *variants)
        )
        bounds = results.benchmark.metrics[0].bounds
        found = differences_together([(each, before) for each in after], bounds)
        for variant, difference in zip(variants, found, strict=True):
            if difference is not None:
                named = results.benchmark.diagnostics.get(variant)
                about, words = named.about if named else "", effect_words(*difference)
                drawn = bars(difference[0], [("zero", 0.0)], (-1, 1))
                same = results.specs[variant] == results.specs[control]
                effects.append(
                    Effect(variant, about, styles[solver], drawn, f"{solver}:", words, solver, same)
                )
    return sorted(effects, key=lambda one: variants.index(one.name))


def compared_items(effects: Sequence[Effect]) -> str:
    """Which items the differences of a diagnosis are between."""
    same = {effect.same_items for effect in effects}
    if same == {True}:
        return "on the same items"
    other = "between samples of different items, since these switches change the items"
    return other if same == {False} else "on the same items unless a switch changes them"


def effect_sentences(effects: Sequence[Effect]) -> list[str]:
    """For every solver the switches that change its score, and those not shown to."""
    sentences = []
    for solver in dict.fromkeys(effect.solver for effect in effects):
        known = [effect for effect in effects if effect.solver == solver]
        clear = [f"{one.name} {one.words}" for one in known if not one.words.startswith(UNCLEAR)]
        others = [one.name for one in known if one.words.startswith(UNCLEAR)]
        text = "; ".join(clear) or "no switch is shown to change its score"
        text += f"; no clear difference by {', '.join(others)}" if clear and others else ""
        sentences.append(f"{solver}: {text}.")
    return sentences


def effect_words(difference: Estimate, clear: bool) -> str:
    """A difference in points, in words: "costs 21 points [-28, -14]"."""
    value = round(100 * (difference.value or 0.0))
    if difference.low is None or difference.high is None:
        return f"changes the score by {value} points"
    ends = f"[{round(100 * difference.low):+}, {round(100 * difference.high):+}]"
    if not clear:
        return f"{UNCLEAR} ({value:+} points {ends})"
    return f"{'adds' if (difference.value or 0) > 0 else 'costs'} {abs(value)} points {ends}"


@dataclass(frozen=True)
class Column:
    """One benchmark, or one setting or number of the only benchmark."""

    title: str
    results: BenchmarkResults
    parts: Mapping[str, Summary]  # by solver
    audit: str  # passed, caught or not audited
    note: str  # what the audit says, in a few words
    floor: str
    setting: str = ""  # where the column is one of several settings

    def cell(self, solver: str, who: str = "") -> GridCell | None:
        """The lift of a solver, or None if it has no attempts here.

        The cell of a baseline names the solver (`who`); that of a model has a note on attempts
        without an answer and how far they could have moved the lift.
        """
        part = self.parts.get(solver)
        if part is None:
            return None
        counts = {} if who else {name: n for name, n in unanswered([part]).items() if n}
        failed = counts.pop("failed", 0)
        note = ", ".join(f"{count} {name}" for name, count in counts.items())
        if note and part.bounds is not None and part.ceiling != part.floor:
            low, high = ((end - part.floor) / (part.ceiling - part.floor) for end in part.bounds)
            note += f": {low:.2f} to {high:.2f}"
        if failed:  # the figures above are without them
            note = "; ".join(filter(None, [f"{failed} failed", note]))
        benchmark = self.results.benchmark
        fields = {"benchmark": benchmark.name, "setting": self.setting, "solver": solver}
        query = urlencode({name: text for name, text in fields.items() if text})
        headline = benchmark.metrics[0].name
        value = part.metrics[headline].value
        raw = "not scored" if value is None else f"{headline} {value:.2f}, no lift"
        return GridCell(part.metrics["lift"], raw, note, who, f"#items?{query}&kind=!right")


@dataclass(frozen=True)
class GridCell:
    """A lift."""

    estimate: Estimate
    raw: str  # shown where there is no lift, since the floor is the ceiling
    note: str  # attempts without an answer, and what they could have changed
    who: str  # the solver, in rows of baselines
    link: str  # to its attempts that are not right


@dataclass(frozen=True)
class GridRow:
    """A model, or the best baseline of a role."""

    name: str
    style: SeriesStyle | None
    sentence: str  # what its lifts say; empty for baselines and in a section
    cells: Sequence[GridCell | None]


@dataclass(frozen=True)
class Grid:
    """Models by benchmarks."""

    columns: Sequence[Column]
    rows: Sequence[GridRow]


def grid(
    all_results: Sequence[BenchmarkResults], styles: Styles, *, of_section: bool = False
) -> Grid:
    """The lift of every model at every benchmark, or at every setting of the only one.

    The grid of a benchmark's section has no sentences and shows every setting.
    """
    columns = _columns(all_results, every_setting=of_section)
    rows = []
    for model in studied_solvers(all_results, styles):
        text = "" if of_section else sentence(all_results, model)
        rows.append(GridRow(model, styles[model], text, [one.cell(model) for one in columns]))
    for role, name in BASELINES.items():
        if role == "program" and of_section:
            continue  # the least informative row
        best = [one.results.best(one.parts, role, "lift") for one in columns]
        cells = [
            found and one.cell(found[0], found[0]) for one, found in zip(columns, best, strict=True)
        ]
        if any(cells):
            rows.append(GridRow(name, None, "", cells))
    return Grid(columns, rows)


def _columns(all_results: Sequence[BenchmarkResults], *, every_setting: bool) -> list[Column]:
    """A column for each benchmark, or for each setting or number of the only one."""
    first = all_results[0]
    if len(all_results) == 1 and 1 < len(first.settings) <= MAX_COLUMNS:
        return [replace(_column(first, one, [one]), setting=one) for one in first.settings]
    columns = []
    for results in all_results:
        kept = results.settings if every_setting else results.sound_settings
        columns.append(_column(results, results.benchmark.name, kept))
    axis = next(iter(first.chart_axes), None)
    values = first.values(axis.value) if axis and len(all_results) == 1 else []
    numbers = all(isinstance(value, (int, float)) for value in values)
    if axis is None or not numbers or not 1 < len(values) <= MAX_COLUMNS:
        return columns
    by_value = []
    for value in values:
        parts = first.split(
            lambda key, value=value: key.solver if axis.value(key) == value else None,  # type: ignore[misc]
            first.settings if every_setting else first.sound_settings,
        )
        title = f"{value} {axis.label.partition(' (')[0]}"  # the axis of the chart has the remark
        by_value.append(replace(columns[0], title=title, parts=parts, floor=""))
    return by_value


def _column(results: BenchmarkResults, title: str, kept: Sequence[str]) -> Column:
    """A column with what audits say about its items, in a few words."""
    verdicts = Counter(results.audit_verdict(one) for one in kept)
    audit = verdicts.most_common(1)[0][0]
    if len(verdicts) == 1:
        note = {"passed": "audit passed", CAUGHT: "has shortcuts"}.get(audit, "not audited")
    else:
        audit = CAUGHT if verdicts[CAUGHT] else NOT_AUDITED
        others = {"with shortcuts": verdicts[CAUGHT], "not audited": verdicts[NOT_AUDITED]}
        note = f"{verdicts['passed']} of {len(kept)} passed an audit"
        note += "".join(f", {count} {words}" for words, count in others.items() if count)
    left_out = [one for one in results.settings if one not in kept]
    if left_out and title == results.benchmark.name:
        note += f"; without {left_out[0] if len(left_out) == 1 else len(left_out)} (shortcuts)"
    parts = results.within(kept)
    floors = [part.floor for part in parts.values() if part.answered]
    floor = f"floor {max(floors):.2f}" if floors else ""
    return Column(title, results, parts, audit, note, floor)


def sentence(all_results: Sequence[BenchmarkResults], model: str) -> str:
    """What a model can do, by the rules in docs/report.md."""
    phrases = []
    nothing = "Nothing could be scored."
    for results in all_results:
        summary = results.within().get(model)
        if summary is None or summary.metrics["lift"].value is None:
            if summary is not None and summary.metrics[results.benchmark.metrics[0].name].n:
                nothing = "There is no lift, since the floor is the ceiling."
            continue
        axis = next(iter(results.chart_axes), None)
        parts = results.split(axis.value, results.sound_settings, model) if axis else {}
        by_axis = {at: parts[at].metrics["lift"] for at in sorted(parts, key=natural)}
        lifts = Lifts(summary.metrics["lift"], by_axis, _nearest_player(results, model))
        phrases.append(results.benchmark.headline_sentence(lifts))
    text = "; ".join(phrases)
    return f"{text[:1].upper()}{text[1:]}." if text else nothing


def _nearest_player(results: BenchmarkResults, model: str) -> str:
    """The built-in solver that leaves most nearly as many bits after every step of a game."""
    distances: dict[str, list[float]] = {}
    for (setting, solver), trace in results.traces.items():
        played = results.traces.get((setting, model))
        if played and setting in results.sound_settings and solver in results.benchmark.solvers:
            pairs = zip(played, trace, strict=True)
            gaps = [abs((a.value or 0.0) - (b.value or 0.0)) for a, b in pairs]
            start = (trace[0].value or 1.0) * len(gaps)
            distances.setdefault(solver, []).append(sum(gaps) / start)
    return min(distances, key=lambda name: fmean(distances[name]), default="")
