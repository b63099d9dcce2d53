"""The charts of a benchmark: which ones its results have data for, and what they show."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any
from zlib import crc32

import numpy as np

from trivium.core.benchmark import ChartAxis, Metric
from trivium.core.records import PEOPLE
from trivium.core.results import Summary, estimate_of, merged
from trivium.core.statistics import clustered_slope
from trivium.report.plot import (
    REFERENCES,
    ROLE_STYLES,
    Cell,
    Chart,
    Panel,
    Point,
    Series,
    SeriesStyle,
    number_text,
)
from trivium.report.results import BenchmarkResults, GroupKey, axis_words, kind_words, natural

MAX_PANELS = 4  # with lines for the values of a second group
MAX_SMALL = 12  # small panels
MAX_LINES = 6
MAX_VALUES = 24  # along an axis; a table is better for more
COLOURS = 12  # of models
TOKENS = Metric("output_tokens", "output tokens of an attempt", kind="mean", best=math.inf)
Values = np.ndarray[Any, Any]
Styles = Mapping[str, SeriesStyle]  # by solver
Curves = Mapping[str, Mapping[Any, Summary]]  # by solver and value along an axis


def series_styles(all_results: Sequence[BenchmarkResults]) -> dict[str, SeriesStyle]:
    """The style of every solver, best model first; that of a baseline is its role's."""
    lifts: dict[str, list[float]] = {}
    for results in all_results:
        for solver in results.models:
            lift = results.by_solver[solver].metrics["lift"].value
            lifts.setdefault(solver, []).append(-1.0 if lift is None else lift)
    best_first = sorted(lifts, key=lambda solver: -sum(lifts[solver]) / len(lifts[solver]))
    named = model_styles(best_first)
    found = {solver: named[solver] for solver in best_first}
    for results in all_results:
        found |= {
            solver: ROLE_STYLES[results.role(solver)]
            for solver in results.solvers
            if solver not in found
        }
    return found


def model_styles(names: Iterable[str]) -> dict[str, SeriesStyle]:
    """A colour and a shape for each model, by its name, so that all pages draw it alike.

    Where two names share a colour, the later one in the alphabet takes the next free one.
    """
    found: dict[str, SeriesStyle] = {}
    for name in sorted(set(names) - {PEOPLE}):
        first = crc32(name.encode()) % COLOURS
        used = {style.colour for style in found.values()}
        free = [n for n in range(COLOURS) if f"m{n}" not in used]
        number = min(free or range(COLOURS), key=lambda n: (n - first) % COLOURS)
        found[name] = SeriesStyle(f"m{number}", number)
    return {**found, PEOPLE: SeriesStyle("person", 0)}


def charted_solvers(results: BenchmarkResults, order: Iterable[str]) -> list[str]:
    """The solvers that charts are about: models, or the best baseline of each role."""
    names = results.models
    if not names:
        parts, headline = results.within(), results.benchmark.metrics[0].name
        best = [results.best(parts, role, headline) for role in ROLE_STYLES]
        names = [found[0] for found in best if found] or results.solvers
    return [name for name in order if name in names]


def _field(values: Mapping[str, Any]) -> Callable[[GroupKey], Any]:
    """The value of a field in the setting of a key."""
    return lambda key: values[key.setting]


@dataclass(frozen=True)
class Charts:
    """The charts of one benchmark's results in the settings that count."""

    results: BenchmarkResults
    styles: Styles

    def all(self) -> list[Chart]:
        """Every chart that there is data for."""
        headline = self.results.benchmark.metrics[0].name
        if not any(part.metrics[headline].n for part in self.results.by_solver.values()):
            return []
        made = [
            *self._curves(headline),
            *self._heat(),
            *self._breaks(),
            *self._exploration(),
            *self._tokens(),
            *self._order_trials(),
        ]
        return [chart for chart in made if chart.panels]

    def _split(self, by: Callable[[GroupKey], Any]) -> Curves:
        """Summaries by solver and by what `by` gives."""
        settings = self.results.sound_settings
        return {who: self.results.split(by, settings, who) for who in self.results.by_solver}

    @property
    def _solvers(self) -> list[str]:
        return charted_solvers(self.results, self.styles)

    def _axes(self) -> list[ChartAxis]:
        """The axes along which these results have a few values."""
        axes = self.results.chart_axes
        return [axis for axis in axes if 1 < len(self._values(axis)) <= MAX_VALUES]

    def _values(self, axis: ChartAxis) -> list[Any]:
        return self.results.values(axis.value, self.results.sound_settings)

    def _chart(
        self, name: str, title: str, about: str, panels: Sequence[Panel], words: str = ""
    ) -> Chart:
        return Chart(f"{self.results.benchmark.name}_{name}", title, about, panels, words)

    def _curves(self, metric: str) -> Iterator[Chart]:
        """The headline metric over the group that matters most, and over what was swept."""
        axes = self._axes()
        if self.results.kind == "diag":
            yield self._curve(metric, "variant", attrgetter("setting"))
        elif (
            len(axes) > 1
            and len(self._solvers) <= MAX_PANELS
            and len(self._values(axes[1])) <= MAX_LINES
        ):
            yield self._curves_by(metric, *axes[:2])
        elif axes:
            yield self._curve(metric, axes[0].name, axes[0].value)
        swept = self.results.swept_fields() if self.results.kind == "sweep" else {}
        counts = {name: len(set(values.values())) for name, values in swept.items()}
        for name in sorted(counts, key=lambda name: -counts[name])[:2]:
            if counts[name] <= MAX_VALUES:
                yield self._curve(metric, name, _field(swept[name]))
                if any(isinstance(value, str) for value in swept[name].values()):
                    yield self._other_metrics(name, _field(swept[name]))

    def _curve(self, metric: str, name: str, of: Callable[[GroupKey], Any]) -> Chart:
        """A metric over one axis, all solvers in one panel."""
        words = axis_words(self.results.benchmark, name)
        curves = self._split(of)
        series = [self._line(solver, curves, metric) for solver in self._solvers]
        published = self._published(name)
        series += references(self.results, curves, metric) + published
        sources = dict.fromkeys(p.tip for one in published for p in one.points)
        source = f"Diamonds: {'; '.join(sources)}; see the benchmark's README." if sources else ""
        panel = Panel(series, words, metric)
        return self._chart(f"{metric}_by_{name}", f"{metric} over {words}", "", [panel], source)

    def _other_metrics(self, name: str, of: Callable[[GroupKey], Any]) -> Chart:
        """Every metric but the headline over one axis, each in its own panel."""
        words, curves = axis_words(self.results.benchmark, name), self._split(of)
        panels = [
            Panel(
                [self._line(solver, curves, metric.name) for solver in self._solvers],
                words,
                metric.name,
                metric.name,
                small=True,
            )
            for metric in self.results.benchmark.metrics[1:]
            if metric.bounds is not None
        ]
        return self._chart(f"metrics_by_{name}", f"Other metrics over {words}", "", panels)

    def _curves_by(self, metric: str, axis: ChartAxis, second: ChartAxis) -> Chart:
        """A metric over one axis, a panel for each solver, a line for each value of the second."""
        values = self._values(second)
        curves = {
            value: self._split(
                lambda key, value=value: axis.value(key) if second.value(key) == value else None  # type: ignore[misc]
            )
            for value in values
        }
        panels = []
        for solver in self._solvers:
            series = []
            for number, (value, by_axis) in enumerate(curves.items()):
                shade = 100 - round(65 * number / max(1, len(values) - 1))
                lines = references(self.results, by_axis, metric)
                label = f"{second.name} = {value}"
                series.append(self._line(solver, by_axis, metric, shade, label))
                series += [line for line in lines if line.name == "floor"]
            series = [line for line in series if line.points]
            small = len(self._solvers) > 2
            panels.append(Panel(series, axis.label, metric, solver, small=small))
        title = f"{metric} over {axis.label}, by {second.name}"
        about = f"Lines differ in {second.label}."
        return self._chart(f"{metric}_by_{axis.name}", title, about, panels)

    def _line(
        self, solver: str, curves: Curves, metric: str, shade: int = 100, label: str = ""
    ) -> Series:
        """The points of a solver; settings are in the order of the run."""
        settings = self.results.settings
        estimates = {x: part.metrics[metric] for x, part in curves[solver].items()}
        order = sorted(estimates, key=lambda x: settings.index(x) if x in settings else natural(x))
        points = [
            Point.of(x, estimates[x], f"{solver}, {x}{f' ({label})' if label else ''}")
            for x in order
            if estimates[x].value is not None
        ]
        joined = all(isinstance(point.x, (int, float)) for point in points)
        return Series(solver, self.styles[solver], points, label, shade, joined)

    def _published(self, name: str) -> list[Series]:
        """Published scores of groups in these results, measured on the spec of some setting."""
        specs = [self.results.specs[setting] or {} for setting in self.results.sound_settings]
        points = [
            Point(score.groups[name], score.value, tip=f"{score.who}: {score.about}")
            for score in self.results.benchmark.published
            if name in score.groups
            and all(value in self._values(ChartAxis(g)) for g, value in score.groups.items())
            and any(score.spec.items() <= spec.items() for spec in specs if spec)
        ]
        series = Series("published", REFERENCES["published"], points, joined=False)
        return [series] if points else []

    def _heat(self) -> Iterator[Chart]:
        """Headline and lift over two groups that were set: constant within every setting."""
        axes = self._axes()[:2]
        seen = {(key.setting, *(axis.value(key) for axis in axes)) for key in self.results.tallies}
        if len(axes) < 2 or len(seen) != len(self.results.settings):
            return
        x, y = axes
        curves = self._split(lambda key: (x.value(key), y.value(key)))
        solvers = [name for name in self._solvers if self.results.role(name) != "ceiling"]
        for metric in (self.results.benchmark.metrics[0].name, "lift"):
            panels = []
            for solver in solvers[:MAX_SMALL]:
                cells = []
                for at in sorted(curves[solver], key=natural):
                    found = curves[solver][at].metrics[metric]
                    if None not in at and found.value is not None:
                        tip = f"{solver}, {x.name} {at[0]}, {y.name} {at[1]}: {found}"
                        cells.append(Cell(at[0], at[1], found.value, tip))
                panels.append(Panel((), x.label, y.label, solver, small=True, cells=cells))
            title = f"{metric.capitalize()} over {x.label} and {y.name}"
            yield self._chart(f"{metric}_{x.name}_{y.name}", title, "", panels)

    def _breaks(self) -> Iterator[Chart]:
        """Where answers go wrong: a bar for every number that kinds of answers come with."""
        if not self.results.shows_failures:
            return
        summaries = self.results.within()
        steps = next((axis for axis in self.results.chart_axes if axis.one), None)
        by_steps = self._split(steps.value) if steps else {}
        counts: dict[str, dict[str, dict[int, int]]] = defaultdict(lambda: defaultdict(dict))
        for solver in self._solvers:
            for full, times in summaries[solver].kinds.items() if solver in summaries else ():
                kind, _, detail = full.partition(":")
                if detail.isdecimal():
                    counts[kind][solver][int(detail)] = times
        panels = []
        for kind in [kind for kind in self.results.benchmark.kinds if kind in counts]:
            label = self.results.benchmark.kinds[kind].partition("the number is ")[2] or "number"
            found_numbers = {number for found in counts[kind].values() for number in found}
            numbers = range(min(1, *found_numbers), min(max(found_numbers), MAX_VALUES) + 1)
            series = []
            for solver, found in counts[kind].items():
                points = []
                for number in numbers:
                    parts = [summaries[solver]]
                    if steps and steps.one in label:  # step 5 can be wrong in items that have it
                        own_steps = by_steps[solver].items()
                        least = natural(number)
                        parts = [one for n, one in own_steps if natural(n) >= least] or parts
                    share = found.get(number, 0) / sum(sum(part.kinds.values()) for part in parts)
                    if share or len(counts[kind]) == 1:
                        tip = f"{solver}, {kind_words(kind)} {number}: {share:.1%}"
                        points.append(Point(number, share, tip=tip))
                series.append(Series(solver, self.styles[solver], points, joined=False, bars=True))
            gap = min(14, 190 / (len(series) * len(numbers)))
            title = kind_words(kind)
            panels.append(
                Panel(series, label, "share", title, None, small=True, ticks=numbers, gap=gap)
            )
        about = "Shares of the attempts in which the number is possible, by kind of answer."
        chart = self._chart("breaks", "Where it breaks", about, panels)
        yield replace(chart, last=True)

    def _exploration(self) -> Iterator[Chart]:
        """The bits that are left after every step of a game, against the ceiling."""
        panels = []
        axes = self.results.benchmark.chart_axes
        words = next((axis.label for axis in axes if axis.metric), "steps")
        settings, traces = self.results.sound_settings, self.results.traces
        several = len(settings) > 1
        for setting in settings[:MAX_SMALL]:
            by_solver = {who: trace for (where, who), trace in traces.items() if where == setting}
            series = []
            for solver in [name for name in self._solvers if by_solver.get(name)]:
                points = [
                    Point.of(step, bits, f"{solver}, after {step}").positive()
                    for step, bits in enumerate(by_solver[solver])
                ]
                series.append(Series(solver, self.styles[solver], points))
            for solver, trace in by_solver.items():
                if self.results.role(solver) == "ceiling" and solver not in self._solvers:
                    points = [Point(step, one.value or 0.0) for step, one in enumerate(trace)]
                    series.append(Series(solver, REFERENCES["ceiling"], points))
            if series:
                title = setting if several else ""
                panels.append(Panel(series, words, "bits", title, None, small=several))
        about = "A game that ended stays at its last value."
        if any(one.style == REFERENCES["ceiling"] for panel in panels for one in panel.series):
            about = f"The solid grey line is the ceiling. {about}"
        yield self._chart("exploration", "Bits still unknown after every step", about, panels)

    def _order_trials(self) -> Iterator[Chart]:
        """Whether an answer that a solver repeats in several orders of an item is right."""
        if not any(tally.has_trials for tally in self.results.tallies.values()):
            return
        series = []
        for solver in self._solvers:
            tallies = [tally for key, tally in self.results.tallies.items() if key.solver == solver]
            scores: dict[float, list[float]] = defaultdict(list)
            for vote in merged(tallies, self.results.benchmark.metrics).votes():
                scores[round(vote.share, 3)].append(vote.score)
            points = [
                Point(share, sum(votes) / len(votes), tip=f"{solver}: {len(votes)} items")
                for share, votes in sorted(scores.items())
            ]
            series.append(Series(solver, self.styles[solver], points))
        panel = Panel(series, "share of orders with the commonest answer", "right")
        about = "Each item was presented in several orders: is what a solver repeats right?"
        yield self._chart("order_trials", "Agreement and being right", about, [panel])

    def _tokens(self) -> Iterator[Chart]:
        """Output tokens over what makes an item hard, and what one more of it costs."""
        named = [one for one in self.results.benchmark.chart_axes if one.metric]
        axis = next(iter([*named, *self._axes()]), None)
        if axis is None:
            return
        series, sentences = [], []
        for solver, (items, x, tokens) in self._output_tokens(axis).items():
            points = []
            for at in np.unique(x):
                used = estimate_of(tokens[x == at], items[x == at], TOKENS)
                tip = f"{solver}, {at:g} {axis.label}: {used.value:,.0f} tokens, n = {used.n}"
                place = float(at)
                points.append(Point(place, used.value or 0.0, used.low, used.high, tip).positive())
            series.append(Series(solver, self.styles[solver], points))
            cost = clustered_slope(x, tokens, items)
            if cost is not None:
                ends = (cost.value or 0.0, cost.low or 0.0, cost.high or 0.0)
                value, low, high = (number_text(round(end)) for end in ends)
                sentences.append(f"{solver} {value} [{low}, {high}]")
        if any(len(one.points) > 1 for one in series):
            one = axis.one or axis.name
            words = f"One more {one} takes {', '.join(sentences)} tokens." if sentences else ""
            panel = Panel(series, axis.label, "output tokens", y_range=None)
            title = f"Output tokens over {axis.label}"
            yield self._chart("tokens", title, "Reasoning included.", [panel], words)

    def _output_tokens(self, axis: ChartAxis) -> dict[str, tuple[Values, Values, Values]]:
        """By solver: the item, the value along the axis and the tokens of every attempt."""
        found: dict[str, list[list[Values]]] = defaultdict(list)
        for key, tally in self.results.tallies.items():
            value = axis.value(key)
            if key.setting not in self.results.sound_settings:
                continue
            if axis.metric:
                found[key.solver].append(tally.output_tokens(axis.name))
            elif isinstance(value, (int, float)):
                items, tokens = tally.output_tokens()
                found[key.solver].append([items, np.full(items.size, float(value)), tokens])
        joined = {}
        for solver in self.styles:
            if sum(part[0].size for part in found[solver]):
                items, x, tokens = map(np.concatenate, zip(*found[solver], strict=True))
                joined[solver] = (items, x, tokens)
        return joined


def references(results: BenchmarkResults, curves: Curves, metric: str) -> list[Series]:
    """The floor, the best shortcut and the ceiling at every x."""
    lines: dict[str, dict[Any, float]] = {"floor": {}, "shortcut": {}, "ceiling": {}}
    places = [(solver, x) for solver, by_x in curves.items() for x in by_x]
    for solver, x in sorted(places, key=lambda place: natural(place[1])):
        part = curves[solver][x]
        value = part.metrics[metric].value
        if value is None:
            continue
        lines["floor"].setdefault(x, part.floor)
        if results.models:
            lines["ceiling"].setdefault(x, part.ceiling)
        if results.role(solver) == "shortcut" and results.models:
            lines["shortcut"][x] = max(lines["shortcut"].get(x, value), value)
    return [
        Series(name, REFERENCES[name], [Point(x, value) for x, value in line.items()])
        for name, line in lines.items()
        if line
    ]


def score_over_tokens(all_results: Sequence[BenchmarkResults], styles: Styles) -> Chart | None:
    """The lift of every model over the tokens that it used, a panel for each benchmark."""
    panels, several = [], len(all_results) > 1
    for results in all_results:
        series = []
        for solver in charted_solvers(results, styles) if results.models else ():
            tallies = [tally for key, tally in results.tallies.items() if key.solver == solver]
            items, tokens = merged(tallies, results.benchmark.metrics).output_tokens()
            lift = results.by_solver[solver].metrics["lift"]
            if items.size and lift.value is not None:
                used = estimate_of(tokens, items, TOKENS)
                tip = f"{solver}: lift {lift}, {used.value:,.0f} output tokens"
                point = Point(used.value, lift.value, lift.low, lift.high, tip, used.low, used.high)
                series.append(Series(solver, styles[solver], [point], joined=False))
        if series:
            title = results.benchmark.name if several else ""
            panels.append(Panel(series, "output tokens", "lift", title, small=several, log=True))
    about = "Mean output tokens of an attempt, reasoning included, on a logarithmic axis."
    return Chart("lift_over_tokens", "Lift over tokens", about, panels) if panels else None
