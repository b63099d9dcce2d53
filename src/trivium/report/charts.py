"""The charts of a benchmark: which ones its results have data for, and what they show."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from operator import attrgetter, methodcaller
from typing import Any, NamedTuple

import numpy as np

from trivium.core.benchmark import Metric
from trivium.core.reading import visible_replies
from trivium.core.records import PEOPLE, PERSON
from trivium.core.results import Summary, estimate_of, merged
from trivium.core.statistics import Estimate, mean_interval, student_quantile
from trivium.report.item_browser import presented_item, replies_of
from trivium.report.plot import REFERENCES, Cell, Chart, Panel, Point, Series, number_text
from trivium.report.results import BenchmarkResults, GroupKey

MAX_PANELS = 4  # with lines for the values of a second group
MAX_SMALL = 12  # small panels
MAX_LINES = 6
MAX_VALUES = 24  # along an axis; a table is better for more
# The groups that matter most: what is on the x axis, and what the lines of a panel differ in.
FOCUS = {
    "nhop_explicit": ("n", "L"),
    "nhop_implicit": ("n", "m"),
    "identifying_variables": ("n_ctrl_vars",),
    "blicket_prompts": ("condition",),
    "blicket_game": ("N",),
}
WORDS = {"n": "hops", "n_ctrl_vars": "control variables", "N": "objects", "tests": "tests made"}
WORDS |= {"snr": "signal to noise (dB)", "form": "form of the machine"}
ONE = {"n": "hop", "n_ctrl_vars": "control variable", "N": "object", "tests": "test"}
TOKENS = Metric("output_tokens", "output tokens of an attempt", kind="mean", best=math.inf)
Values = np.ndarray[Any, Any]
Figures = tuple[Values, Values]  # x and output tokens of attempts, and the items of these
Value = Callable[[GroupKey], Any]
Traces = Mapping[tuple[str, str], Sequence[Estimate]]  # by setting and solver


class Look(NamedTuple):
    """How a solver is drawn on the whole page."""

    colour: str  # a class: m0, m1, ... for models, person for people, base for baselines
    mark: int


def looks(all_results: Sequence[BenchmarkResults]) -> dict[str, Look]:
    """Every solver, the best model first; baselines are grey and differ in their marks."""
    lifts: dict[str, list[float]] = {}
    for results in all_results:
        for solver in results.models:
            lift = results.by_solver[solver].metrics["lift"].value
            lifts.setdefault(solver, []).append(-1.0 if lift is None else lift)
    best_first = sorted(lifts, key=lambda solver: -sum(lifts[solver]) / len(lifts[solver]))
    colours = (f"m{number % 8}" for number in count())
    found = {
        solver: Look("person" if solver == PEOPLE else next(colours), number)
        for number, solver in enumerate(best_first)
    }
    for results in all_results:
        baselines = [solver for solver in results.solvers if solver not in found]
        found |= {name: Look("base", number) for number, name in enumerate(baselines)}
    return found


def _field(values: Mapping[str, Any]) -> Value:
    """The value of a field in the setting of a key."""
    return lambda key: values[key.setting]


def _condition(key: GroupKey) -> str | None:
    """The condition of a prompt: the form of its machine, and what it says about forms."""
    form, given = key.group("form"), key.group("hypotheses")
    return None if form is None else f"{form}, {str(given).replace('_', ' ')}"


def shown(results: BenchmarkResults, order: Iterable[str]) -> list[str]:
    """The solvers that charts are about: models, or baselines where there are none."""
    names = results.models or results.solvers
    return [name for name in order if name in names]


@dataclass(frozen=True)
class Charts:
    """The charts of one benchmark's results, of these settings only."""

    results: BenchmarkResults
    looks: Mapping[str, Look]
    settings: Collection[str]
    traces: Traces
    kind: str | None = None  # of the run: only a sweep varies fields on purpose

    def all(self) -> list[Chart]:
        """Every chart that there is data for."""
        headline = self.results.benchmark.metrics[0].name
        if not any(part.metrics[headline].n for part in self.results.by_solver.values()):
            return []
        made = [*self._curves(headline), *self._heat(), *self._exploration(), *self._others()]
        return [chart for chart in made if chart.panels]

    def _split(self, by: Callable[[GroupKey], tuple[Any, ...]]) -> dict[Any, Summary]:
        """Summaries by what `by` gives, where nothing in it is missing."""

        def value(key: GroupKey) -> Any:
            found = by(key) if key.setting in self.settings else (None,)
            return None if None in found else found

        return self.results.split(value)

    @property
    def _shown(self) -> list[str]:
        return shown(self.results, self.looks)

    def _values(self, of: Value) -> list[Any]:
        values = {of(key) for key in self.results.tallies if key.setting in self.settings}
        return sorted(values - {None}, key=lambda value: (isinstance(value, str), value))

    def _axes(self) -> list[tuple[str, Value]]:
        """The groups to draw by: those that matter most, or the first two that vary."""
        names = FOCUS.get(self.results.benchmark.name, tuple(self.results.varying_groups[:2]))
        axes = [
            (name, _condition if name == "condition" else methodcaller("group", name))
            for name in names
        ]
        return [(name, of) for name, of in axes if 1 < len(self._values(of)) <= MAX_VALUES]

    def _curves(self, metric: str) -> Iterator[Chart]:
        """The headline metric over the group that matters most, and over what was swept."""
        axes = self._axes()
        if self.kind == "diag":
            yield self._curve(metric, "variant", attrgetter("setting"), None)
        elif axes:
            yield self._curve(metric, *axes[0], axes[1] if len(axes) > 1 else None)
        swept = self.results.swept_fields() if self.kind == "sweep" else {}
        counts = {name: len(set(values.values())) for name, values in swept.items()}
        for name in sorted(counts, key=lambda name: -counts[name])[:2]:
            if counts[name] <= MAX_VALUES:
                yield self._curve(metric, name, _field(swept[name]), None)

    def _curve(self, metric: str, name: str, of: Value, second: tuple[str, Value] | None) -> Chart:
        """A metric over one thing; a panel for each model where a second thing varies."""
        x_label = WORDS.get(name, name)
        title = f"{metric} over {x_label}"
        values = self._values(second[1]) if second else []
        file = f"{self.results.benchmark.name}_{metric}_by_{name}"
        if second is None or len(self._shown) > MAX_PANELS or len(values) > MAX_LINES:
            parts = self._split(lambda key: (key.solver, of(key)))
            series = [self._line(solver, parts, metric) for solver in self._shown]
            series += references(self.results, parts, metric) + self._published(name)
            return Chart(file, title, "", [Panel(series, x_label, metric)])
        parts = self._split(lambda key: (key.solver, of(key), second[1](key)))
        panels = []
        for solver in self._shown:
            series = []
            for number, value in enumerate(values):
                own = {key[:2]: part for key, part in parts.items() if key[2] == value}
                shade = 100 - round(65 * number / max(1, len(values) - 1))
                line = self._line(solver, own, metric, shade, f"{second[0]} = {value}")
                floor = [
                    one for one in references(self.results, own, metric) if one.look == "floor"
                ]
                series += [line, *floor]
            lines = [one for one in series if one.points]
            small = len(self._shown) > 2
            panels.append(Panel(lines, x_label, metric, solver, small=small))
        about = f"Lines differ in {WORDS.get(second[0], second[0])}."
        return Chart(file, f"{title}, by {second[0]}", about, panels)

    def _line(
        self,
        solver: str,
        parts: Mapping[tuple[Any, ...], Summary],
        metric: str,
        shade: int = 100,
        label: str = "",
    ) -> Series:
        look = self.looks[solver]
        points = []
        settings = self.results.settings
        ranks = {x: (settings.index(x),) if x in settings else _order(x) for _, x in parts}
        for (who, x), part in sorted(parts.items(), key=lambda one: ranks[one[0][1]]):
            estimate = part.metrics[metric]
            if who == solver and estimate.value is not None:
                tip = f"{solver}, {x}{f' ({label})' if label else ''}: {estimate}, n = {estimate.n}"
                points.append(Point(x, estimate.value, estimate.low, estimate.high, tip))
        joined = all(isinstance(point.x, (int, float)) for point in points)
        return Series(solver, look.colour, points, look.mark, label, shade, joined)

    def _published(self, name: str) -> list[Series]:
        """Published figures whose conditions match the spec of some setting."""
        specs = [self.results.specs[setting] or {} for setting in self.settings]
        points = [
            Point(figure.groups[name], figure.value, tip=f"{figure.who}: {figure.about}")
            for figure in self.results.benchmark.published
            if name in figure.groups
            and all(v in self._values(methodcaller("group", k)) for k, v in figure.groups.items())
            and any(all(s.get(k) == v for k, v in figure.spec.items()) for s in specs if s)
        ]
        mark = REFERENCES["published"][1]
        return [Series("published", "published", points, mark, joined=False)] if points else []

    def _heat(self) -> Iterator[Chart]:
        """Lift over two groups that were set, not sampled: constant within every setting."""
        axes = self._axes()
        names = [of for _, of in axes]
        seen = {(key.setting, *(of(key) for of in names)) for key in self.results.tallies}
        if len(axes) < 2 or len(seen) != len(self.results.settings):
            return
        (x, x_of), (y, y_of) = axes[:2]
        parts = self._split(lambda key: (key.solver, x_of(key), y_of(key)))
        solvers = [name for name in self._shown if self.results.role(name) != "ceiling"]
        panels = []
        for solver in solvers[:MAX_SMALL]:
            cells = []
            for (who, *at), part in sorted(parts.items(), key=lambda one: _order(one[0])):
                lift = part.metrics["lift"]
                if who == solver and lift.value is not None:
                    tip = f"{solver}, {x} {at[0]}, {y} {at[1]}: {lift}"
                    cells.append(Cell(at[0], at[1], lift.value, tip))
            panels.append(
                Panel((), WORDS.get(x, x), WORDS.get(y, y), solver, small=True, cells=cells)
            )
        name = f"{self.results.benchmark.name}_lift_{x}_{y}"
        yield Chart(name, f"Lift over {WORDS.get(x, x)} and {y}", "", panels)

    def _exploration(self) -> Iterator[Chart]:
        """What is left to learn after every test, against the optimal player."""
        panels = []
        for setting in [one for one in self.results.settings if one in self.settings][:MAX_SMALL]:
            own = {who: trace for (where, who), trace in self.traces.items() if where == setting}
            series = []
            for solver in [name for name in self._shown if own.get(name)]:
                points = [
                    _positive(step, e, f"{solver}, after {step} tests: {e}")
                    for step, e in enumerate(own[solver])
                ]
                series.append(
                    Series(solver, *self.looks[solver][:1], points, self.looks[solver][1])
                )
            for solver, trace in own.items():
                if self.results.role(solver) == "ceiling" and solver not in self._shown:
                    points = [Point(step, one.value or 0.0) for step, one in enumerate(trace)]
                    series.append(Series(solver, "ceiling", points, None))
            if series:
                title = setting if len(self.settings) > 1 else ""
                panels.append(
                    Panel(series, "tests made", "bits", title, None, len(self.settings) > 1)
                )
        if panels:
            measure = self.results.benchmark.trace_label
            about = (
                "The solid grey line is the optimal player; a game that ended stays where it was."
            )
            name = f"{self.results.benchmark.name}_exploration"
            yield Chart(name, f"{measure} after every test".capitalize(), about, panels)

    def _others(self) -> Iterator[Chart]:
        name = self.results.benchmark.name
        yield from self._tokens()
        if any(tally.has_trials for tally in self.results.tallies.values()):
            parts = self.results.parts(lambda key: key.solver)
            series = []
            for solver in self._shown:
                scores: dict[float, list[float]] = defaultdict(list)
                for vote in merged(parts[solver], self.results.benchmark.metrics).votes():
                    scores[round(vote.share, 3)].append(vote.score)
                points = [
                    Point(share, sum(own) / len(own), tip=f"{solver}: {len(own)} items")
                    for share, own in sorted(scores.items())
                ]
                series.append(
                    Series(solver, self.looks[solver].colour, points, self.looks[solver].mark)
                )
            panel = Panel(series, "share of orders with the commonest answer", "right")
            about = "Each item was presented in several orders: is what a solver repeats right?"
            yield Chart(f"{name}_order_trials", "Agreement and being right", about, [panel])

    def _tokens(self) -> Iterator[Chart]:
        """Output tokens over what makes an item hard, and what one more of it costs."""
        game = self.results.benchmark.multi_turn
        name, of = next(iter(self._axes()), ("", lambda key: None))
        name = "tests" if game else name
        label = WORDS.get(name, name)
        spent: dict[str, list[Figures]] = {}
        for key, own in self.results.spent.items():
            x = np.asarray(own.tests) if game else np.full(len(own.tokens), _figure(of(key)))
            known = ~np.isnan(x)
            if key.setting in self.settings and known.any():
                figures = np.array([x, own.tokens])[:, known], np.asarray(own.items)[known]
                spent.setdefault(key.solver, []).append(figures)
        series, words = [], []
        for solver in [one for one in self.looks if one in spent]:
            x, tokens = np.concatenate([figures for figures, _ in spent[solver]], axis=1)
            items = np.concatenate([items for _, items in spent[solver]])
            points = []
            for at in np.unique(x).tolist():
                e = estimate_of(tokens[x == at], items[x == at], TOKENS)
                tip = f"{solver}, {at:g} {label}: {e.value:,.0f} tokens, n = {e.n}"
                points.append(_positive(at, e, tip))
            look = self.looks[solver]
            series.append(Series(solver, look.colour, points, look.mark))
            cost = slope(x, tokens, items)
            if cost is not None and cost.value is not None:
                ends = (cost.value, cost.low or 0.0, cost.high or 0.0)
                value, low, high = (number_text(round(end)) for end in ends)
                words.append(f"{solver} {value} [{low}, {high}]")
        if any(len(one.points) > 1 for one in series):
            panel = Panel(series, label, "output tokens", y_range=None)
            file = f"{self.results.benchmark.name}_tokens"
            about = "Reasoning included."
            said = (
                f"One more {ONE.get(name, name)} takes {', '.join(words)} tokens." if words else ""
            )
            yield Chart(file, f"Output tokens over {label}", about, [panel], said)


def _figure(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) else math.nan


def _positive(x: Any, estimate: Estimate, tip: str) -> Point:
    """A figure that cannot be below 0, whatever its interval says."""
    low = None if estimate.low is None else max(0.0, estimate.low)
    return Point(x, estimate.value or 0.0, low, estimate.high, tip)


def slope(x: Values, y: Values, items: Values) -> Estimate | None:
    """What one more of x costs, by least squares over all attempts, with its 95% interval.

    Its standard error is robust, and clustered by item: attempts at one are not independent.
    """
    _, groups = np.unique(items, return_inverse=True)
    count = int(groups.max(initial=-1)) + 1
    centred = x - x.mean() if x.size else x
    spread = float((centred**2).sum())
    if count < 3 or spread == 0:
        return None
    value = float((centred * y).sum()) / spread
    scores = np.bincount(groups, centred * (y - y.mean() - value * centred))
    error = (float((scores**2).sum()) * count / (count - 2)) ** 0.5 / spread
    half = student_quantile(0.95, count - 2) * error
    return Estimate(value, value - half, value + half, count)


def references(
    results: BenchmarkResults, parts: Mapping[tuple[Any, ...], Summary], metric: str
) -> list[Series]:
    """The floor, the best shortcut and the ceiling at every x."""
    lines: dict[str, dict[Any, float]] = {"floor": {}, "shortcut": {}, "ceiling": {}}
    for (solver, x), part in sorted(parts.items(), key=lambda one: _order(one[0][1])):
        value = part.metrics[metric].value
        if value is None:
            continue
        lines["floor"].setdefault(x, part.floor)
        role = results.role(solver)
        if role in ("shortcut", "ceiling") and results.models:
            lines[role][x] = max(lines[role].get(x, value), value)
    return [
        Series(name, name, [Point(x, value) for x, value in own.items()], None)
        for name, own in lines.items()
        if own
    ]


def mean_traces(results: BenchmarkResults) -> Traces:
    """The mean trace of every setting and solver; a finished attempt keeps its last value."""
    if results.benchmark.trace_label is None:
        return {}
    # What one person does at several items is one trace, their mean.
    traces: dict[tuple[str, str], dict[Any, list[Sequence[float]]]] = {}
    for key, records in results.traced.items():
        own = traces.setdefault(key, defaultdict(list))
        for number, record in enumerate(records):
            if trace := _trace(results, record):
                person = record["solver"].startswith(PERSON)
                own[record["solver"] if person else number].append(trace)
    steps: dict[str, int] = {}
    for (setting, _), own in traces.items():
        steps[setting] = max(
            [steps.get(setting, 0), *(len(t) for part in own.values() for t in part)]
        )
    return {
        (setting, solver): [
            mean_interval([_at(step, part) for part in own.values()])
            for step in range(steps[setting])
        ]
        for (setting, solver), own in traces.items()
        if own
    }


def _at(step: int, traces: Sequence[Sequence[float]]) -> float:
    """The mean of some traces after as many steps."""
    return float(np.mean([trace[min(step, len(trace) - 1)] for trace in traces]))


def _trace(results: BenchmarkResults, record: dict[str, Any]) -> Sequence[float]:
    item, view = presented_item(results.benchmark, record)
    answer = results.benchmark.parse(item, visible_replies(replies_of(record)), view)
    return () if answer is None else results.benchmark.trace(item, answer)


def score_over_tokens(
    all_results: Sequence[BenchmarkResults], found: Mapping[str, Look]
) -> Chart | None:
    """The lift of every model over the tokens that it took, a panel for each benchmark."""
    panels = []
    for results in all_results:
        series = []
        for solver in shown(results, found) if results.models else ():
            own = [spent for key, spent in results.spent.items() if key.solver == solver]
            lift = results.by_solver[solver].metrics["lift"]
            if own and lift.value is not None:
                tokens = np.concatenate([spent.tokens for spent in own])
                used = estimate_of(tokens, np.concatenate([one.items for one in own]), TOKENS)
                tip = f"{solver}: lift {lift}, {used.value:,.0f} output tokens"
                point = Point(used.value, lift.value, lift.low, lift.high, tip, used.low, used.high)
                look = found[solver]
                series.append(Series(solver, look.colour, [point], look.mark, joined=False))
        if series:
            title = results.benchmark.name if len(all_results) > 1 else ""
            panels.append(
                Panel(series, "output tokens", "lift", title, small=len(all_results) > 1, log=True)
            )
    about = "Mean output tokens of an attempt, reasoning included, on a logarithmic axis."
    return Chart("lift_over_tokens", "Lift over tokens", about, panels) if panels else None


def _order(value: Any) -> list[tuple[bool, Any]]:
    """A sorting key with numbers before texts."""
    values = value if isinstance(value, tuple) else (value,)
    return [(isinstance(one, str), one) for one in values]
