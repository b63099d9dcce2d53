"""Paired differences on common items between solvers and runs, and where a solver loses points."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import orjson

from trivium.benchmarks import get_benchmark
from trivium.core.benchmark import AnyBenchmark, LossSplit
from trivium.core.errors import require
from trivium.core.records import PEOPLE, UNSCORED, Row, is_participant, read_manifest, solver_group
from trivium.core.results import item_number
from trivium.core.statistics import (
    Bounds,
    Estimate,
    Side,
    clustered_mean,
    difference_variance,
    items_to_compare,
    paired_difference,
    several,
)
from trivium.evaluation.cost import Power
from trivium.report.charts import model_styles
from trivium.report.overview import BarRow, bars
from trivium.report.results import record_files, rows_of
from trivium.report.tables import UNANSWERED, Table, counted
from trivium.report.templates import render_page

Item = str  # its digest
Label = tuple[str, int | None, bytes]  # id, seed and spec, which name one item in one version
INTERVAL_NOTE = (
    "the {count} intervals are simultaneous at 95% (Bonferroni); higher and lower are by Holm's "
    "test, which may see a difference whose interval reaches 0"
)
Limits = tuple[int | None, str | None]  # max_output_tokens and reasoning_effort


@dataclass
class SolverScores:
    """The headline metric of one solver in one run."""

    run: str
    solver: str
    benchmark: str
    trials: dict[Item, list[float]] = field(default_factory=dict)  # the score of each
    labels: dict[Label, Item] = field(default_factory=dict)  # of generated items
    versions: set[str] = field(default_factory=set)  # of the benchmark
    limits: set[Limits] = field(default_factory=set)  # of a model; none for programs
    people: list[tuple[str, Item, float]] = field(default_factory=list)  # person, item and score
    unscored: Counter[str] = field(default_factory=Counter)  # attempts by kind, not compared
    only_run: bool = False  # names leave out the run

    def __str__(self) -> str:
        return self.solver if self.only_run else f"{self.solver} ({self.run})"

    def add(self, row: Row) -> None:
        """Count one record."""
        value, solver = row["scores"].get(_headline(self.benchmark)), row["solver"]
        if row["kind"] in UNSCORED:
            self.unscored[row["kind"]] += 1
        if value is None:
            return
        item = row.get("digest") or ""
        require(
            bool(item),
            f"{self.run}: {row['id']} has no digest, so that it cannot be distinguished from "
            "others of that name; evaluate or score the replies again",
        )
        if row.get("spec") is not None:
            spec = orjson.dumps(row["spec"], option=orjson.OPT_SORT_KEYS)
            self.labels[row["id"], row.get("seed"), spec] = item
        self.versions.add(str(row.get("version")))
        self.trials.setdefault(item, []).append(value)
        if is_participant(solver):
            self.people.append((solver, item, value))

    @cached_property
    def scores(self) -> dict[Item, float]:
        """For every item the mean over its trials."""
        return {item: fmean(values) for item, values in self.trials.items()}

    @property
    def is_baseline(self) -> bool:
        """Whether the solver is one of the benchmark's own."""
        return self.solver in get_benchmark(self.benchmark).solvers

    def same_solver(self, other: SolverScores) -> bool:
        """Whether both are from the same solver and run, perhaps at different benchmarks."""
        return (self.run, self.solver) == (other.run, other.solver)

    def count_people(self, items: Collection[Item]) -> int:
        """The number of people who attempted any of these items."""
        return len({name for name, item, _ in self.people if item in items})


@dataclass(frozen=True, repr=False)
class Difference:
    """The mean score of the first minus that of the second on common items."""

    first: SolverScores
    second: SolverScores
    items: int
    estimate: Estimate  # its interval is simultaneous with the others' (Bonferroni)
    is_clear: bool  # whether it differs from 0 (Holm's test)
    people: int = 0  # on both sides together; 0 if both are models or programs

    def __str__(self) -> str:
        verdict = f"{self.direction} than" if self.is_clear else "not shown to differ from"
        where = f"{self.first.benchmark}, {self.count}"
        return f"{self.first} is {verdict} {self.second} by {self.estimate} ({where})"

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """The difference for other programs."""
        return {
            "benchmark": self.first.benchmark,
            "first": str(self.first),
            "second": str(self.second),
            "items": self.items,
            "difference": self.estimate.to_dict(),
            "is_clear": self.is_clear,
            "direction": self.direction,
        }

    @property
    def count(self) -> str:
        """The number of items compared, and of people who attempted them."""
        people = f"{self.people:,} {'person' if self.people == 1 else 'people'}"
        return counted(self.items, "item") + (f" by {people}" if self.people else "")

    @property
    def direction(self) -> str:
        """What Holm's test says about the first of the two, in words."""
        if not self.is_clear:
            return "no difference seen"
        return "higher" if (self.estimate.value or 0) > 0 else "lower"


def read_scores(runs: Sequence[Path]) -> list[SolverScores]:
    """The scores of every solver of every run, in the order of the runs."""
    scores: list[SolverScores] = []
    for run in runs:
        run_scores = scores_of(str(run), rows_of([run]))
        for path in record_files([run]):
            fields = read_manifest(path.parent)
            if shaping := fields.get("shaping"):
                limits = (shaping.get("max_output_tokens"), shaping.get("reasoning_effort"))
                for entry in run_scores:
                    entry.limits |= {limits} if entry.solver == fields["solver"] else set()
        scores += [replace(entry, only_run=len(runs) == 1) for entry in run_scores]
    return scores


def scores_of(run: str, rows: Iterable[Row]) -> list[SolverScores]:
    """The scores of every solver of one run that has at least one."""
    scores: dict[tuple[str, str], SolverScores] = {}
    for row in rows:
        benchmark, solver = key = (row["benchmark"], solver_group(row["solver"]))
        if key not in scores:
            scores[key] = SolverScores(run, solver, benchmark)
        scores[key].add(row)
    return [entry for entry in scores.values() if entry.trials]


def require_same_limits(scores: Sequence[SolverScores]) -> None:
    """Refuse models with different limits on tokens or different reasoning efforts."""
    limits = set().union(*(entry.limits for entry in scores))
    for position, name in enumerate(("max_output_tokens", "reasoning_effort")):
        values = sorted({str(pair[position] or "the default") for pair in limits})
        require(
            len(values) <= 1,
            f"{name} differs between the runs ({', '.join(values)}), so that a difference may be "
            "that of the settings; --any_settings compares them all the same",
        )


def require_same_items(scores: Sequence[SolverScores]) -> None:
    """Refuse runs in which one id, seed and spec names different items."""
    known: dict[tuple[str, Label], tuple[Item, SolverScores]] = {}
    for entry in scores:
        for label, item in entry.labels.items():
            same, other = known.setdefault((entry.benchmark, label), (item, entry))
            require(
                same == item,
                f"{entry.benchmark}: item {label[0]} of seed {label[1]} in {entry} (version "
                f"{_listed(entry.versions)}) is not the one in {other} (version "
                f"{_listed(other.versions)}), so they cannot be compared: run both with one "
                "version of Trivium",
            )


def _listed(names: Collection[str]) -> str:
    return ", ".join(sorted(names))


def worth_comparing(scores: Sequence[SolverScores]) -> list[SolverScores]:
    """The models of every run; all solvers of a run without models."""
    with_models = {entry.run for entry in scores if not entry.is_baseline}
    return [entry for entry in scores if entry.run not in with_models or not entry.is_baseline]


def differences(scores: Sequence[SolverScores], *, pairs: bool) -> list[Difference]:
    """The difference of every other solver from the first, the baseline, or those of all pairs.

    The 95% intervals of one benchmark are simultaneous (Bonferroni).
    """
    require_same_items(scores)
    comparisons = []
    for benchmark in dict.fromkeys(entry.benchmark for entry in scores):
        entries = [entry for entry in scores if entry.benchmark == benchmark]
        if pairs:
            chosen = list(combinations(entries, 2))
        else:
            bases = [entry for entry in entries if entry.same_solver(scores[0])]
            chosen = [(base, other) for base in bases for other in entries if other is not base]
        compared = [(after, base) for base, after in chosen if common_items(after, base)]
        bounds = get_benchmark(benchmark).metrics[0].bounds
        intervals = [_interval_of(after, base, bounds) for after, base in compared]
        estimates = several(lambda which, level: intervals[which](level), len(compared))  # noqa: B023
        for (first, second), (estimate, clear) in zip(compared, estimates, strict=True):
            common = set(common_items(first, second))
            people = first.count_people(common) + second.count_people(common)
            comparisons.append(Difference(first, second, len(common), estimate, clear, people))
    return comparisons


def comparison_notes(
    runs: Sequence[str], scores: Sequence[SolverScores], comparisons: Sequence[Difference]
) -> list[str]:
    """The notes under a comparison, one per line.

    They say which runs, solvers and attempts were left out and why, and which benchmarks were
    compared in different versions.
    """
    compared = {id(side) for one in comparisons for side in (one.first, one.second)}
    notes = [
        f"{run}: left out, since it holds no scored attempts"
        for run in runs
        if run not in {entry.run for entry in scores}
    ]
    for benchmark in dict.fromkeys(entry.benchmark for entry in scores):
        versions = {frozenset(entry.versions) for entry in scores if entry.benchmark == benchmark}
        if len(versions) > 1:
            notes.append(
                f"{benchmark}: versions {_listed(frozenset().union(*versions))} are compared; "
                "the items are the same, but their prompts may not be"
            )
    base = scores[0]
    for entry in scores:
        name = f"{entry}, {entry.benchmark}"
        kinds = (f"{count:,} {UNANSWERED[kind]}" for kind, count in entry.unscored.items())
        if entry.unscored:
            notes.append(f"{name}: {', '.join(kinds)} are not part of any comparison")
        if id(entry) not in compared:
            others = (other for other in scores if other.benchmark == entry.benchmark)
            base_scored = any(other.same_solver(base) for other in others)
            no_items = f"it has no items in common with {base}"
            why = no_items if base_scored else f"{base} was not scored there"
            why = "no other solver was scored there" if entry.same_solver(base) else why
            notes.append(f"{name}: left out, since {why}")
    return notes


def common_items(first: SolverScores, second: SolverScores) -> list[Item]:
    """The items with a score from both, in the order of the second."""
    return [item for item in second.scores if item in first.scores]


def _interval_of(
    first: SolverScores, second: SolverScores, bounds: Bounds | None
) -> Callable[[float], Estimate]:
    """The difference of two solvers as a function of the confidence level."""
    common = common_items(first, second)
    if not first.people and not second.people:
        values = [[side.scores[item] for item in common] for side in (first, second)]
        return lambda level: paired_difference(values[0], values[1], level, bounds)
    width = None if bounds is None else bounds[1] - bounds[0]
    difference_bounds = None if width is None else (-width, width)
    # Two groups of people are two sides, whose means add up to the difference. People against a
    # model are one side: its score at each item is subtracted from theirs.
    sides, shared = [], set(common)
    for people, other, sign in ((first, second, 1), (second, first, -1)):
        attempts = [(name, item, value) for name, item, value in people.people if item in shared]
        subtracted = {} if other.people else other.scores
        scores = [sign * (value - subtracted.get(item, 0.0)) for _, item, value in attempts]
        if people.people:
            names, items = [name for name, _, _ in attempts], [item for _, item, _ in attempts]
            sides.append(Side(scores, names, items))
    return lambda level: clustered_mean(sides, level, difference_bounds)


def comparison_page(
    runs: Sequence[str], scores: Sequence[SolverScores], comparisons: Sequence[Difference]
) -> str:
    """The page with the differences: a sentence for each solver, and a bar for each difference."""
    styles = model_styles([one.first.solver for one in comparisons])
    by_pair: dict[tuple[str, str], list[Difference]] = defaultdict(list)
    for difference in comparisons:
        by_pair[str(difference.first), str(difference.second)].append(difference)
    answers, rows = [], []
    for (first, second), group in by_pair.items():
        name = first if second == str(scores[0]) else f"{first} against {second}"
        style = styles[PEOPLE if group[0].first.people else group[0].first.solver]
        answers.append((name, style, directions(group)))
        for difference in group:
            benchmark, direction = difference.first.benchmark, f"{difference.direction}:"
            bar = bars(difference.estimate, [("zero", 0.0)], (-1.0, 1.0))
            words = f"{difference.estimate}, {difference.count}"
            rows.append(BarRow(name, benchmark, style, bar, direction, words))
    return render_page(
        "compare.html.j2",
        title=f"Trivium comparison with {scores[0]}",
        baseline=scores[0],
        answers=answers,
        rows=rows,
        notes=comparison_notes(runs, scores, comparisons),
        runs=runs,
        tables=comparison_tables(runs, scores, comparisons),
    )


def directions(comparisons: Sequence[Difference]) -> str:
    """Where a solver is higher, lower or neither: "higher by 0.21 to 0.40 at all 5 benchmarks."."""
    by_direction: dict[str, list[Difference]] = defaultdict(list)
    for difference in comparisons:
        by_direction[difference.direction].append(difference)
    clauses = []
    for direction, group in by_direction.items():
        sizes = [f"{abs(one.estimate.value or 0.0):.2f}" for one in group if one.is_clear]
        by = f" by {' to '.join(sorted({min(sizes), max(sizes)}))}" if sizes else ""
        where = ", ".join(one.first.benchmark for one in group)
        if len(group) == len(comparisons) > 1:
            where = f"all {len(group)} benchmarks"
        clauses.append(f"{direction}{by} at {where}")
    return f"{'; '.join(clauses)}."


def comparison_tables(
    runs: Sequence[str], scores: Sequence[SolverScores], comparisons: Sequence[Difference]
) -> list[Table]:
    """The differences at every benchmark, then what is lost where."""
    groups: dict[str, list[Difference]] = defaultdict(list)
    for one in comparisons:
        groups[one.first.benchmark].append(one)
    tables = [difference_table(name, group) for name, group in groups.items()]
    names = dict.fromkeys(entry.benchmark for entry in scores)
    return tables + loss_tables([Path(run) for run in runs], names)


def difference_table(benchmark: str, comparisons: Sequence[Difference]) -> Table:
    """Every difference with its interval, and whether it is clear."""
    rows = [
        (str(one.first), one.direction, str(one.second), one.count, str(one.estimate))
        for one in comparisons
    ]
    note = INTERVAL_NOTE.format(count=len(comparisons)) if len(comparisons) > 1 else ""
    columns = ("solver", "is", "than", "on", "difference [95%]")
    title = f"{benchmark}: {_headline(benchmark)} on common items"
    return Table(title, columns, tuple(rows), note)


@cache
def _headline(benchmark: str) -> str:
    return get_benchmark(benchmark).metrics[0].name


def power_to_compare(
    benchmark: str,
    difference: float,
    score: float = 0.5,
    correlation: float = 0.3,
    runs: Sequence[SolverScores] | None = None,
) -> Power:
    """The items needed to see a difference between two solvers.

    The variance follows from the worse solver's score and the correlation of both, or from the
    first two solvers in `runs`.
    """
    require(0 < difference < 1, f"power must lie between 0 and 1, got {difference:g}")
    graded = False
    if runs is None:
        variance = difference_variance(score, score + difference, correlation)
        basis = f"scores of {score:g} and {score + difference:g}, assumed, with a correlation of "
        basis += f"{correlation:g}"
    else:
        solvers = worth_comparing([entry for entry in runs if entry.benchmark == benchmark])
        require(len(solvers) >= 2, f"runs must hold two solvers of {benchmark}, got {len(solvers)}")
        require_same_items(solvers[:2])
        common = common_items(solvers[0], solvers[1])
        require(len(common) >= 2, "runs: the solvers have fewer than two items in common")
        first, second = ([entry.scores[item] for item in common] for entry in solvers[:2])
        basis = f"from {solvers[0]} and {solvers[1]} on {len(common):,} items"
        graded = not {*first, *second} <= {0.0, 1.0}
        variance = float(np.var(np.subtract(first, second), ddof=1))
    items, items_at_90 = (
        items_to_compare(difference, variance, power, graded=graded) for power in (0.8, 0.9)
    )
    return Power(difference, items, items_at_90, basis)


def losses(
    benchmark: AnyBenchmark, split: LossSplit, rows: Iterable[Row]
) -> dict[str, list[Estimate]]:
    """What each solver loses on the items that it attempted both with and without given tests.

    In all, the ceiling minus its score with its own tests; in the first part, its score with given
    tests minus that; in the second part, the ceiling minus its score with given tests.
    """
    headline = benchmark.metrics[0]
    # By solver and view, the scores of each item's trials.
    trials: dict[str, dict[Any, dict[int, list[float]]]] = defaultdict(lambda: defaultdict(dict))
    ceilings: dict[int, float] = {}
    for row in rows:
        value, view = row["scores"].get(headline.name), (row.get("view") or {}).get(split.field)
        if row["benchmark"] == benchmark.name and value is not None:
            item = item_number(row)
            trials[solver_group(row["solver"])][view].setdefault(item, []).append(value)
            if view == split.given:
                ceilings[item] = row.get("ceiling", 1.0)
    found = {}
    for solver, by_view in trials.items():
        own, given = by_view[split.own], by_view[split.given]
        common = [item for item in own if item in given]
        if common:
            best = [ceilings[item] for item in common]
            alone, helped = ([fmean(side[item]) for item in common] for side in (own, given))
            parts = ((best, alone), (helped, alone), (best, helped))
            found[solver] = [paired_difference(*part, bounds=headline.bounds) for part in parts]
    return found


def loss_tables(runs: Sequence[Path], names: Iterable[str]) -> list[Table]:
    """A table for every benchmark that splits losses and whose items were attempted both ways."""
    tables = []
    for benchmark in map(get_benchmark, names):
        split = benchmark.loss_split
        if split is None:
            continue
        lines = [
            (solver, f"{lost[0].n:,}", *map(str, lost))
            for solver, lost in losses(benchmark, split, rows_of(runs)).items()
        ]
        title = f"{benchmark.name}: what is lost in {split.first}, and in {split.second}"
        heads = ("solver", "items", "lost in all", f"in {split.first}", f"in {split.second} [95%]")
        note = (
            f"In {split.first}: {benchmark.metrics[0].name} with {split.field} {split.given} minus "
            f"{split.field} {split.own}; in {split.second}: the ceiling minus that with "
            f"{split.given}."
        )
        tables += [Table(title, heads, tuple(lines), note)] if lines else []
    return tables
