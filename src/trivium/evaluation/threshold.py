"""Thresholds of solvers: items in batches where they tell most, until enough is known.

Every level is an evaluation whose items grow, so records, resuming and backends are those of any
other run. Repeating the command makes the same decisions from the same records, and asks only
where something is missing.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from trivium.benchmarks import change_task, get_benchmark
from trivium.core.errors import require
from trivium.core.files import atomic_write, locked
from trivium.core.records import MANIFEST, RECORDS, UNSCORED, drop_errors, read_records
from trivium.core.results import Summary
from trivium.core.spec import changed_fields, read_mapping, spec_from_dict
from trivium.core.streams import DEFAULT_SEED
from trivium.core.task import Task
from trivium.core.thresholds import Levels, Posterior
from trivium.evaluation.axes import Axis
from trivium.evaluation.evaluation import Evaluation, Items, Run
from trivium.evaluation.execute import check_solver, claim_folder, execute, execute_in_steps
from trivium.evaluation.executors import Executor
from trivium.evaluation.index import write_table
from trivium.evaluation.plan import Setting, evaluations_of
from trivium.evaluation.solvers import Function
from trivium.models.names import full_model_name
from trivium.models.settings import ModelOptions, Settings, is_model

KIND = "threshold"
BATCH = 25  # items of one solver between two looks at the scores
TABLE = "thresholds.csv"


@dataclass(frozen=True)
class ThresholdPlan:
    """Which thresholds are looked for."""

    task: Task
    axis: Axis
    by: Axis | None = None  # a second field: a threshold for each of its values
    solvers: tuple[str, ...] = ()  # programs and models
    target: float = 0.5
    seed: int = DEFAULT_SEED
    settings: Settings = field(default_factory=Settings)
    label: str | None = None
    width: float = 0.15  # stop at an interval of this half-width, as a share of the threshold
    max_items: int = 400  # the most items for one threshold

    def __post_init__(self) -> None:
        require(self.width > 0, f"width must be above 0, got {self.width}")
        enough = self.max_items >= BATCH
        require(enough, f"max_items must be at least {BATCH}, got {self.max_items}")
        require(0 < self.target < 1, f"target must lie between 0 and 1, got {self.target}")
        require(
            self.by is None or self.by.field != self.axis.field,
            f"two fields must differ to be varied together, got {self.axis.field} twice",
        )
        names = [full_model_name(name) if is_model(name) else name for name in self.solvers]
        object.__setattr__(self, "solvers", tuple(names))
        require(len(set(names)) == len(names), f"a solver is named twice: {', '.join(names)}")
        for search in self.searches():
            assert search.levels  # refuses values in no order, and floors that are perfect

    def searches(self) -> list[Search]:
        """One for every solver and value of the second field."""
        values = self.by.values if self.by else (None,)
        return [Search(self, solver, value) for value in values for solver in self.solvers]

    def run_of(self, counts: Sequence[tuple[Search, Sequence[int]]]) -> Run:
        """So many items of every level as a run; its manifest does not say how many."""
        evaluations = [one for search, own in counts for one in search.evaluations(own).values()]
        return Run(KIND, tuple(evaluations), self.config, self.label)

    @property
    def config(self) -> dict[str, Any]:
        """What is looked for, as run.json holds it."""
        axes = [self.axis, *([self.by] if self.by else [])]
        return {
            "kind": KIND,
            "benchmark": self.task.benchmark.name,
            "label": self.label,
            "vary": {axis.field: list(axis.values) for axis in axes},
            "target": self.target,
            "seeds": [self.seed],
            "solvers": list(self.solvers),
            "spec": changed_fields(self.task.spec),
            "view": changed_fields(self.task.view),
        }

    @property
    def at_most(self) -> Run:
        """As many items as each threshold may take, spread evenly over the levels."""
        each = -(-self.max_items // len(self.axis.values))
        counts = [each] * len(self.axis.values)
        return self.run_of([(search, counts) for search in self.searches()])


@dataclass
class Search:
    """The threshold of one solver, at one value of the second field."""

    plan: ThresholdPlan
    solver: str
    by: float | None = None
    stopped: bool = False  # a whole batch could not be scored

    @cached_property
    def tasks(self) -> list[Task]:
        """The task at every level."""
        axis, by = self.plan.axis, self.plan.by
        second = {by.field: self.by} if by else {}
        return [change_task(self.plan.task, {axis.field: value, **second}) for value in axis.values]

    @cached_property
    def levels(self) -> Levels:
        """The levels with their floors."""
        return Levels(self.plan.axis.values, tuple(task.floor.value for task in self.tasks))

    @cached_property
    def posterior(self) -> Posterior:
        """What is known about the curve."""
        return Posterior(self.levels, self.plan.target)

    @cached_property
    def asked(self) -> list[int]:
        """How many items were asked at every level."""
        return [0] * len(self.tasks)

    @property
    def name(self) -> str:
        """The solver, and the value of the second field if there is one."""
        by = self.plan.by
        return self.solver if by is None else f"{self.solver}, {by.field} {self.by:g}"

    def evaluations(self, counts: Sequence[int]) -> dict[int, Evaluation]:
        """The first items of every level that has any, by level."""
        axis, by, settings = self.plan.axis, self.plan.by, self.plan.settings
        found = {}
        for level, (value, task) in enumerate(zip(axis.values, self.tasks, strict=True)):
            fields = {axis.field: value, **({by.field: self.by} if by else {})}
            name = " ".join(f"{key}={value}" for key, value in fields.items())
            if counts[level]:
                items = Items(self.plan.seed, 0, counts[level])
                setting = Setting(name, fields, task)
                (found[level],) = evaluations_of(setting, items, [self.solver], 1, settings)
        return found

    @property
    def all_items(self) -> list[int]:
        """More items of every level than there can be."""
        return [10**12] * len(self.tasks)

    def next_counts(self) -> list[int] | None:
        """How many items every level has after the next batch; None when the search is over."""
        left = self.plan.max_items - sum(self.asked)
        if left <= 0 or self.stopped or self.posterior.settled(self.plan.width):
            return None
        batch = self.posterior.next_batch(min(BATCH, left))
        return [count + more for count, more in zip(self.asked, batch, strict=True)]

    def read(self, out: Path, counts: Sequence[int]) -> None:
        """Take the scores of the items up to these counts into account."""
        scored = 0
        for level, evaluation in self.evaluations(counts).items():
            indexes = range(self.asked[level], counts[level])
            scores = list(_scores(out / evaluation.folder / RECORDS, self.tasks[level], indexes))
            self.posterior.add(level, scores)
            scored += len(scores)
        self.stopped = scored == 0
        self.asked[:] = counts


def _scores(path: Path, task: Task, indexes: range) -> Iterator[float]:
    """The headline scores of the items with these indexes, of all that could be scored."""
    headline = task.benchmark.metrics[0]
    for _, row in read_records(path) if path.exists() else ():
        value = row["scores"].get(headline.name)
        if row.get("index") in indexes and row["kind"] not in UNSCORED and value is not None:
            yield min(1.0, max(0.0, float(value)))


class Found(NamedTuple):
    """Thresholds, and what was asked to find them."""

    searches: list[Search]
    run: Run
    summaries: list[Summary]


def find_thresholds(
    plan: ThresholdPlan,
    out: Path,
    *,
    executor: Executor | None = None,
    options: ModelOptions | None = None,
    functions: Mapping[str, Function] | None = None,
    command: str | None = None,
    on_batch: Callable[[Sequence[Search]], None] = lambda searches: None,
) -> Found:
    """Ask batch after batch until every threshold is known well enough, and write the tables."""
    options, functions = options or ModelOptions(), functions or {}
    searches = plan.searches()
    everything = plan.run_of([(search, search.all_items) for search in searches])
    for evaluation in everything.evaluations:
        if evaluation.solver not in functions:
            check_solver(evaluation, options)
    with locked(out):
        claim_folder(out, everything.manifest())
        if options.retry_errors:  # a new score may lead elsewhere, where none would be asked again
            for evaluation in everything.evaluations:
                if (path := out / evaluation.folder / RECORDS).exists():
                    drop_errors(path, evaluation.asks)
    options = replace(options, retry_errors=False)
    groups = {name: [one for one in searches if one.solver == name] for name in plan.solvers}
    steps = {name: _batches(group, out, on_batch) for name, group in groups.items()}
    execute_in_steps(steps, out, executor=executor, options=options, functions=functions)
    run = plan.run_of([(search, search.asked) for search in searches])
    for search in searches:
        search.read(out, search.all_items)  # what else the folder holds
    summaries = execute(run, out, options=options, functions=functions, command=command)
    write_table(run, summaries, out)
    write_thresholds(searches, out)
    return Found(searches, run, summaries)


def _batches(
    searches: Sequence[Search], out: Path, on_batch: Callable[[Sequence[Search]], None]
) -> Iterator[Run]:
    """The batches of one solver, each chosen from the records of those before."""
    while True:
        found = [(search, search.next_counts()) for search in searches]
        batches = [(search, counts) for search, counts in found if counts is not None]
        if not batches:
            return
        run = searches[0].plan.run_of(batches)
        if any(len(one.held(out)) < one.attempts for one in run.evaluations):
            yield run
        for search, counts in batches:
            search.read(out, counts)
        on_batch([search for search, _ in batches])


def read_thresholds(folder: Path) -> list[Search]:
    """The thresholds of a folder from its manifest and records; none where it is no such run."""
    path = folder / MANIFEST
    manifest = read_mapping(path) if path.exists() else {}
    if manifest.get("kind") != KIND:
        return _thresholds_of_people(folder, manifest)
    searches = _read_plan(manifest).searches()
    for search in searches:
        search.read(folder, search.all_items)
    return searches


def _thresholds_of_people(folder: Path, manifest: Mapping[str, Any]) -> list[Search]:
    """Those of everybody in a study, whose records are in one file; none in any other folder."""
    searches = {
        (one["condition"], search.solver): search
        for one in manifest.get("adaptive", ())
        for search in _read_plan(one).searches()
    }
    for _, row in read_records(folder / RECORDS) if searches else ():
        search = searches.get((row["groups"].get("condition"), row["solver"]))
        if search is not None:
            axis, (headline, *_) = search.plan.axis, search.plan.task.benchmark.metrics
            score = row["scores"].get(headline.name)
            if score is not None:
                search.posterior.add(axis.values.index(row["spec"][axis.field]), [score])
    return list(searches.values())


def _read_plan(manifest: Mapping[str, Any]) -> ThresholdPlan:
    benchmark = get_benchmark(manifest["benchmark"])
    spec = spec_from_dict(benchmark.spec_type, manifest["spec"])
    view = spec_from_dict(benchmark.view_type, manifest["view"])
    axes = [Axis(name, tuple(values)) for name, values in manifest["vary"].items()]
    return ThresholdPlan(
        Task(benchmark, spec, view),
        axes[0],
        axes[1] if len(axes) > 1 else None,
        tuple(manifest["solvers"]),
        manifest["target"],
        manifest["seeds"][0],
        label=manifest.get("label"),
    )


@dataclass(frozen=True)
class Threshold:
    """Where the lift of a solver falls to the target, with a 95% credible interval.

    None lies beyond the values that were tried; `text` says on which side.
    """

    solver: str
    field: str
    value: float | None
    low: float | None
    high: float | None
    items: int  # that were scored
    fits: bool  # whether a falling curve does
    text: str
    by: float | None = None  # the value of the second field


def threshold_of(search: Search) -> Threshold:
    """What a search has found."""
    found, misfits = search.posterior.threshold(), search.posterior.misfits
    ends = (found.value, found.low, found.high)
    text = threshold_text(search)
    return Threshold(
        search.solver, search.plan.axis.field, *ends, found.n, not misfits, text, search.by
    )


def threshold_text(search: Search) -> str:
    """A threshold with its interval; what lies beyond the values is said in words."""
    found, levels = search.posterior.threshold(), search.levels
    beyond = search.posterior.beyond(found)
    if beyond is not None:
        which = "the hardest value" if beyond else "the easiest value"
        return f"{'beyond' if beyond else 'before'} {levels.values[beyond]:g}, {which}"
    low = f"below {min(levels.values):g}" if found.low is None else f"{found.low:.3g}"
    high = f"above {max(levels.values):g}" if found.high is None else f"{found.high:.3g}"
    value = "outside" if found.value is None else f"{found.value:.3g}"
    return f"{value} [{low}, {high}]"


def fit_sentence(search: Search) -> str:
    """What it means where no curve fits; nothing where one does."""
    if not search.posterior.misfits:
        return ""
    first, *_, last = search.posterior.lifts()
    if first.high is not None and last.low is not None and last.low > first.high:
        return "lift rises along these values: name them from easy to hard"
    return (
        "no falling curve fits the scores, so all values were tested evenly and the threshold "
        "is the first one on straight lines between them"
    )


def write_thresholds(searches: Sequence[Search], folder: Path) -> None:
    """thresholds.csv: a row for every threshold."""
    plan = searches[0].plan
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    by = [plan.by.field] if plan.by else []
    table.writerow(["solver", *by, "field", "target", "threshold", "low", "high", "items", "fits"])
    for found in map(threshold_of, searches):
        ends = ["" if end is None else f"{end:.6g}" for end in (found.value, found.low, found.high)]
        own = [] if found.by is None else [f"{found.by:g}"]
        fits = "yes" if found.fits else "no"
        table.writerow([found.solver, *own, found.field, plan.target, *ends, found.items, fits])
    with atomic_write(folder / TABLE) as file:
        file.write(text.getvalue().encode())
