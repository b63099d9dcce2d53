"""Paired differences on common items: between solvers and runs, and what a solver loses where."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
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
from trivium.core.records import (
    MANIFEST,
    PEOPLE,
    UNSCORED,
    Row,
    is_participant,
    read_records,
    solver_group,
)
from trivium.core.results import item_number
from trivium.core.spec import read_mapping
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
from trivium.report.results import record_files
from trivium.report.tables import UNANSWERED, Table, counted
from trivium.report.templates import render_page

Item = str  # its digest
Label = tuple[str, int | None, bytes]  # id, seed and spec, which name one item in one version
TOGETHER = (
    "the {count} intervals hold together at 95% (Bonferroni); higher and lower are by Holm's test, "
    "which may see a difference whose interval reaches 0"
)
Limits = tuple[int | None, str | None]  # max_output_tokens and reasoning_effort


@dataclass
class SolverScores:
    """The headline metric of one solver in one run."""

    run: str
    solver: str
    benchmark: str
    tried: dict[Item, list[float]] = field(default_factory=dict)  # the scores of its trials
    labels: dict[Label, Item] = field(default_factory=dict)  # of generated items
    versions: set[str] = field(default_factory=set)  # of the benchmark
    limits: set[Limits] = field(default_factory=set)  # of a model; none for programs
    people: list[tuple[str, Item, float]] = field(default_factory=list)  # person, item and score
    unscored: Counter[str] = field(default_factory=Counter)  # attempts by kind, in no difference
    only_run: bool = False  # whose name is left out

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
        self.tried.setdefault(item, []).append(value)
        if is_participant(solver):
            self.people.append((solver, item, value))

    @cached_property
    def scores(self) -> dict[Item, float]:
        """For every item the mean over its trials."""
        return {item: fmean(values) for item, values in self.tried.items()}

    @property
    def is_baseline(self) -> bool:
        """Whether the solver is one of the benchmark's own."""
        return self.solver in get_benchmark(self.benchmark).solvers

    def same_solver(self, other: SolverScores) -> bool:
        """Whether both are of one solver in one run, perhaps at different benchmarks."""
        return (self.run, self.solver) == (other.run, other.solver)

    def count_people(self, items: Collection[Item]) -> int:
        """How many people tried these items."""
        return len({name for name, item, _ in self.people if item in items})


@dataclass(frozen=True, repr=False)
class Difference:
    """How much better the first is than the second on common items."""

    first: SolverScores
    second: SolverScores
    items: int
    estimate: Estimate  # with an interval that holds together with the others' (Bonferroni)
    is_clear: bool  # whether it differs from 0 (Holm's test)
    people: int = 0  # on both sides together; none where both are models or programs

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
        """How many items were compared, and how many people tried them."""
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
    found: list[SolverScores] = []
    for run in runs:
        paths = record_files([run])
        own = scores_of(str(run), (row for path in paths for _, row in read_records(path)))
        for path in paths:
            manifest = path.parent / MANIFEST
            fields = read_mapping(manifest) if manifest.exists() else {}
            if shaping := fields.get("shaping"):
                limits = (shaping.get("max_output_tokens"), shaping.get("reasoning_effort"))
                for one in own:
                    one.limits |= {limits} if one.solver == fields["solver"] else set()
        found += [replace(one, only_run=len(runs) == 1) for one in own]
    return found


def scores_of(run: str, rows: Iterable[Row]) -> list[SolverScores]:
    """The scores of every solver of one run that has any."""
    found: dict[tuple[str, str], SolverScores] = {}
    for row in rows:
        key = (row["benchmark"], solver_group(row["solver"]))
        if key not in found:
            found[key] = SolverScores(run, key[1], key[0])
        found[key].add(row)
    return [one for one in found.values() if one.tried]


def require_same_limits(found: Sequence[SolverScores]) -> None:
    """Refuse models with different limits on tokens or different reasoning efforts."""
    limits = set().union(*(one.limits for one in found))
    for position, name in enumerate(("max_output_tokens", "reasoning_effort")):
        values = sorted({str(one[position] or "the default") for one in limits})
        require(
            len(values) <= 1,
            f"{name} differs between the runs ({', '.join(values)}), so that a difference may be "
            "that of the settings; --any_settings compares them all the same",
        )


def require_same_items(found: Sequence[SolverScores]) -> None:
    """Refuse runs in which one id, seed and spec names different items."""
    known: dict[tuple[str, Label], tuple[Item, SolverScores]] = {}
    for one in found:
        for label, item in one.labels.items():
            same, other = known.setdefault((one.benchmark, label), (item, one))
            require(
                same == item,
                f"{one.benchmark}: item {label[0]} of seed {label[1]} in {one} (version "
                f"{_listed(one.versions)}) is not the one in {other} (version "
                f"{_listed(other.versions)}), so they cannot be compared: run both with one "
                "version of Trivium",
            )


def _listed(names: Collection[str]) -> str:
    return ", ".join(sorted(names))


def worth_comparing(found: Sequence[SolverScores]) -> list[SolverScores]:
    """The models of every run, or all its solvers where it has none."""
    with_models = {one.run for one in found if not one.is_baseline}
    return [one for one in found if one.run not in with_models or not one.is_baseline]


def differences(found: Sequence[SolverScores], *, pairs: bool) -> list[Difference]:
    """Every other solver minus the first one, which is the baseline, or all pairs.

    The intervals of one benchmark hold together at 95% (Bonferroni).
    """
    require_same_items(found)
    made = []
    for benchmark in dict.fromkeys(one.benchmark for one in found):
        own = [one for one in found if one.benchmark == benchmark]
        if pairs:
            chosen = list(combinations(own, 2))
        else:
            bases = [one for one in own if one.same_solver(found[0])]
            chosen = [(one, other) for one in bases for other in own if other is not one]
        compared = [(after, base) for base, after in chosen if common_items(after, base)]
        bounds = get_benchmark(benchmark).metrics[0].bounds
        intervals = [_interval_of(after, base, bounds) for after, base in compared]
        estimates = several(lambda which, level: intervals[which](level), len(compared))  # noqa: B023
        for (one, other), (estimate, clear) in zip(compared, estimates, strict=True):
            common = set(common_items(one, other))
            people = one.count_people(common) + other.count_people(common)
            made.append(Difference(one, other, len(common), estimate, clear, people))
    return made


def left_out(
    runs: Sequence[str], found: Sequence[SolverScores], made: Sequence[Difference]
) -> list[str]:
    """Why solvers and attempts are in no difference, a line for each."""
    compared = {id(side) for one in made for side in (one.first, one.second)}
    notes = [
        f"{run}: left out, since it holds no scored attempts"
        for run in runs
        if run not in {one.run for one in found}
    ]
    for benchmark in dict.fromkeys(one.benchmark for one in found):
        versions = {frozenset(one.versions) for one in found if one.benchmark == benchmark}
        if len(versions) > 1:
            notes.append(
                f"{benchmark}: versions {_listed(frozenset().union(*versions))} are compared; "
                "the items are the same, but their prompts may not be"
            )
    for one in found:
        kinds = (f"{one.unscored[kind]:,} {UNANSWERED[kind]}" for kind in one.unscored)
        if one.unscored:
            notes.append(f"{one}, {one.benchmark}: {', '.join(kinds)} are in no difference")
        if id(one) not in compared:
            base, own = found[0], [other for other in found if other.benchmark == one.benchmark]
            scored = any(other.same_solver(base) for other in own)
            no_items = f"it has no items in common with {base}"
            why = no_items if scored else f"{base} was not scored there"
            notes.append(f"{one}, {one.benchmark}: left out, since {why}")
    return notes


def common_items(first: SolverScores, second: SolverScores) -> list[Item]:
    """The items that both tried."""
    return [item for item in second.scores if item in first.scores]


def _interval_of(
    first: SolverScores, second: SolverScores, bounds: Bounds | None
) -> Callable[[float], Estimate]:
    """The difference of two solvers with its interval at any level."""
    common = common_items(first, second)
    if not first.people and not second.people:
        values = [[one.scores[item] for item in common] for one in (first, second)]
        return lambda level: paired_difference(values[0], values[1], level, bounds)
    width = None if bounds is None else bounds[1] - bounds[0]
    within = None if width is None else (-width, width)
    both = bool(first.people and second.people)
    sides = [
        _side(one, {} if both else other.scores, set(common), sign)
        for one, other, sign in ((first, second, 1), (second, first, -1))
        if one.people
    ]
    return lambda level: clustered_mean(sides, level, within)


def _side(own: SolverScores, others: Mapping[Item, float], common: Set[Item], sign: int) -> Side:
    """The scores of people on common items, minus those of the other solver there."""
    tried = [(name, item, value) for name, item, value in own.people if item in common]
    values = [sign * (value - others.get(item, 0.0)) for _, item, value in tried]
    return Side(values, [name for name, _, _ in tried], [item for _, item, _ in tried])


def comparison_page(
    runs: Sequence[str], found: Sequence[SolverScores], made: Sequence[Difference]
) -> str:
    """The differences as a page: a sentence for each solver, and every difference as a bar."""
    named = model_styles([one.first.solver for one in made])
    pairs: dict[tuple[str, str], list[Difference]] = defaultdict(list)
    by_benchmark: dict[str, list[Difference]] = defaultdict(list)
    for one in made:
        pairs[str(one.first), str(one.second)].append(one)
        by_benchmark[one.first.benchmark].append(one)
    answers, rows = [], []
    for (first, second), own in pairs.items():
        name = first if second == str(found[0]) else f"{first} against {second}"
        style = named[PEOPLE if own[0].first.people else own[0].first.solver]
        answers.append((name, style, directions(own)))
        for one in own:
            drawn = bars(one.estimate, [("zero", 0.0)], (-1.0, 1.0))
            words = f"{one.estimate}, {one.count}"
            rows.append(BarRow(name, one.first.benchmark, style, drawn, f"{one.direction}:", words))
    tables = [difference_table(name, own) for name, own in by_benchmark.items()]
    return render_page(
        "compare.html.j2",
        title=f"Trivium comparison with {found[0]}",
        baseline=found[0],
        answers=answers,
        rows=rows,
        notes=left_out(runs, found, made),
        runs=runs,
        tables=[*tables, *loss_tables([Path(run) for run in runs], by_benchmark)],
    )


def directions(made: Sequence[Difference]) -> str:
    """Where a solver is higher, lower or neither: "higher by 0.21 to 0.40 at all 5 benchmarks."."""
    found: dict[str, list[Difference]] = defaultdict(list)
    for one in made:
        found[one.direction].append(one)
    parts = []
    for words, own in found.items():
        sizes = [f"{abs(one.estimate.value or 0.0):.2f}" for one in own if one.is_clear]
        by = f" by {' to '.join(sorted({min(sizes), max(sizes)}))}" if sizes else ""
        everywhere = f"all {len(made)} benchmarks" if len(own) == len(made) > 1 else ""
        where = everywhere or ", ".join(one.first.benchmark for one in own)
        parts.append(f"{words}{by} at {where}")
    return f"{'; '.join(parts)}."


def difference_table(benchmark: str, made: Sequence[Difference]) -> Table:
    """Every difference with its interval, and whether it is clear."""
    rows = [
        (str(one.first), one.direction, str(one.second), one.count, str(one.estimate))
        for one in made
    ]
    note = TOGETHER.format(count=len(made)) if len(made) > 1 else ""
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
    """The items needed, by the worse solver's score and their correlation, or from two runs."""
    graded = False
    if runs is None:
        variance = difference_variance(score, score + difference, correlation)
        how = f"scores of {score:g} and {score + difference:g}, assumed, with a correlation of "
        how += f"{correlation:g}"
    else:
        found = worth_comparing([one for one in runs if one.benchmark == benchmark])
        require(len(found) >= 2, f"runs must hold two solvers of {benchmark}, got {len(found)}")
        require_same_items(found[:2])
        common = common_items(found[0], found[1])
        require(len(common) >= 2, "runs: the solvers have fewer than two items in common")
        first, second = ([one.scores[item] for item in common] for one in found[:2])
        how = f"from {found[0]} and {found[1]} on {len(common):,} items"
        graded = not {*first, *second} <= {0.0, 1.0}
        variance = float(np.var(np.subtract(first, second), ddof=1))
    items, more = (
        items_to_compare(difference, variance, power, graded=graded) for power in (0.8, 0.9)
    )
    return Power(difference, items, more, how)


@dataclass(frozen=True)
class Loss:
    """What one solver loses on the items that it tried both ways."""

    solver: str
    items: int
    total: Estimate  # the ceiling minus the score with tests of its own
    first: Estimate  # the score with tests shown to it, minus that with its own
    second: Estimate  # the ceiling minus the score with tests shown to it


def losses(benchmark: AnyBenchmark, split: LossSplit, rows: Iterable[Row]) -> list[Loss]:
    """The loss of every solver that tried items both ways."""
    headline = benchmark.metrics[0]
    # by solver and way, the scores of every item
    tried: dict[str, dict[Any, dict[int, list[float]]]] = defaultdict(lambda: defaultdict(dict))
    ceilings: dict[int, float] = {}
    for row in rows:
        value, way = row["scores"].get(headline.name), (row.get("view") or {}).get(split.field)
        if row["benchmark"] == benchmark.name and value is not None:
            item = item_number(row)
            tried[solver_group(row["solver"])][way].setdefault(item, []).append(value)
            if way == split.given:
                ceilings[item] = row.get("ceiling", 1.0)
    found = []
    for solver, ways in tried.items():
        own, given = ways[split.own], ways[split.given]
        common = [item for item in own if item in given]
        if common:
            best = [ceilings[item] for item in common]
            alone, helped = ([fmean(way[item]) for item in common] for way in (own, given))
            parts = ((best, alone), (helped, alone), (best, helped))
            estimates = [paired_difference(*part, bounds=headline.bounds) for part in parts]
            found.append(Loss(solver, len(common), *estimates))
    return found


def loss_tables(runs: Sequence[Path], names: Iterable[str]) -> list[Table]:
    """A table for every benchmark that splits losses and whose items were tried both ways."""
    tables = []
    for benchmark in map(get_benchmark, names):
        split = benchmark.loss_split
        if split is None:
            continue
        rows = (row for path in record_files(runs) for _, row in read_records(path))
        lines = [
            (one.solver, f"{one.items:,}", *map(str, (one.total, one.first, one.second)))
            for one in losses(benchmark, split, rows)
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
