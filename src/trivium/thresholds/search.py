"""The search for thresholds: which fields vary, which items come next, and when to stop.

Every level is an evaluation whose number of items grows, so records, resuming and backends are
those of any other run. Repeating the command makes the same decisions from the same records and
makes only the attempts that are missing.
"""

from __future__ import annotations

import math
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import NoneType
from typing import Any

from trivium.benchmarks import change_task
from trivium.core.benchmark import AnyBenchmark
from trivium.core.errors import UserError, require
from trivium.core.files import locked
from trivium.core.records import RECORDS, UNSCORED, drop_errors, read_records
from trivium.core.results import Summary
from trivium.core.spec import changed_fields
from trivium.core.streams import DEFAULT_SEED
from trivium.core.task import Task
from trivium.evaluation.evaluation import Evaluation, Function, Items, Run
from trivium.evaluation.execute import check_solver, claim_folder, execute
from trivium.evaluation.executors import Executor
from trivium.evaluation.index import write_table
from trivium.evaluation.plan import evaluations_of
from trivium.models.local import served_locally
from trivium.models.providers import Model, full_model_name
from trivium.models.settings import ModelOptions, Settings, is_model
from trivium.thresholds.fit import Fit, Levels, share_grows

KIND = "threshold"
BATCH = 25  # items of one solver between two fits
MAX_LEVELS = 10  # where no values are given
WHOLE = (0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128)
SHARES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)


@dataclass(frozen=True)
class Axis:
    """A field of the spec with values from easy to hard."""

    field: str
    values: tuple[float, ...]


def make_axes(
    task: Task, vary: str | Sequence[str] | Mapping[str, Sequence[object]]
) -> tuple[Axis, ...]:
    """One or two fields, each with its given values or with default ones."""
    names = [vary] if isinstance(vary, str) else list(vary)
    require(1 <= len(names) <= 2, f"vary takes one field or two, got {', '.join(names) or 'none'}")
    values = vary if isinstance(vary, Mapping) else {}
    return tuple(make_axis(task, name, list(map(str, values.get(name, ())))) for name in names)


def make_axis(task: Task, name: str, texts: Sequence[str] = ()) -> Axis:
    """The field of this name with these values, or with default ones."""
    benchmark = task.benchmark
    key = benchmark.field_aliases.get(name, name)
    kinds = ordered_fields(benchmark)
    require(
        key in kinds,
        f"vary must name a field of numbers, got {name!r}; {benchmark.name} has {', '.join(kinds)}",
    )
    if texts:
        values = [_number(text, kinds[key], name) for text in texts]
    else:
        values = _default_values(task, key, kinds[key])
    for value in values:
        change_task(task, {key: value})  # refuses invalid values
    return Axis(key, tuple(values))


def ordered_fields(benchmark: AnyBenchmark) -> dict[str, type]:
    """The numeric fields of a spec with their types."""
    found: dict[str, type] = {}
    for name, hint in typing.get_type_hints(benchmark.spec_type).items():
        kinds = ({hint, *typing.get_args(hint)} - {NoneType}) & {int, float}
        if kinds and hint is not bool:
            found[name] = float if float in kinds else int
    return found


def _number(text: str, kind: type, name: str) -> float:
    try:
        return kind(text)  # type: ignore[no-any-return]
    except ValueError:
        what = "whole numbers" if kind is int else "numbers"
        raise UserError(f"values of {name} must be {what}, got {text!r}") from None


def _default_values(task: Task, key: str, kind: type) -> list[float]:
    """Valid values up to four times the current one, from easy to hard."""
    current = getattr(task.spec, key)
    require(current is not None, f"{key} has no value to start from: name some with --values")
    found: list[float] = []
    for value in WHOLE if kind is int else SHARES:
        try:
            change_task(task, {key: value})
        except UserError:
            continue
        if kind is float or value <= 4 * current:
            found.append(value)
    require(len(found) >= 2, f"{key} allows too few values here: name some with --values")
    step = (len(found) - 1) / (MAX_LEVELS - 1)
    if step > 1:
        found = [found[round(number * step)] for number in range(MAX_LEVELS)]
    tasks = {value: change_task(task, {key: value}) for value in found}
    found = [value for value, one in tasks.items() if one.floor.value < one.ceiling.value]
    return found[::-1] if key in task.benchmark.easier_with_more else found


@dataclass(frozen=True)
class ThresholdPlan:
    """The thresholds to search for."""

    task: Task
    axes: tuple[Axis, ...]  # the field along which thresholds lie, and perhaps a second one
    solvers: tuple[str, ...] = ()  # programs and models
    target: float = 0.5
    seed: int = DEFAULT_SEED
    settings: Settings = field(default_factory=Settings)
    label: str | None = None
    width: float = 0.3  # stop at an interval of this half-width, as a share of the threshold
    max_items: int = 400  # for one threshold

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
        self.searches()  # refuses unordered values and floors at the ceiling

    @property
    def axis(self) -> Axis:
        """The field along which the thresholds lie."""
        return self.axes[0]

    @property
    def by(self) -> Axis | None:
        """The second field, with a threshold for each of its values."""
        return self.axes[1] if len(self.axes) > 1 else None

    def searches(self) -> list[Search]:
        """A search for every solver and value of the second field."""
        values = self.by.values if self.by else (None,)
        return [Search(self, solver, value) for value in values for solver in self.solvers]

    def run_of(self, counts: Sequence[tuple[Search, Sequence[int]]]) -> Run:
        """A run of these numbers of items per level, which are not part of its manifest."""
        by_level = [search.evaluations(items) for search, items in counts]
        evaluations = [evaluation for part in by_level for evaluation in part.values()]
        return Run(KIND, tuple(evaluations), self.config, self.label)

    @property
    def config(self) -> dict[str, Any]:
        """The content of run.json."""
        return {
            "kind": KIND,
            "benchmark": self.task.benchmark.name,
            "label": self.label,
            "vary": {axis.field: list(axis.values) for axis in self.axes},
            "target": self.target,
            "seeds": [self.seed],
            "solvers": list(self.solvers),
            "spec": changed_fields(self.task.spec),
            "view": changed_fields(self.task.view),
        }

    def largest_run(self) -> Run:
        """A run of `max_items` for each threshold, spread evenly over the levels."""
        levels = len(self.axis.values)
        counts = [math.ceil(self.max_items / levels)] * levels
        return self.run_of([(search, counts) for search in self.searches()])


class Search:
    """The search for the threshold of one solver, at one value of the second field."""

    def __init__(self, plan: ThresholdPlan, solver: str, by: float | None = None) -> None:
        self.plan, self.solver, self.by = plan, solver, by
        second = {plan.by.field: by} if plan.by else {}
        fields = [{plan.axis.field: value, **second} for value in plan.axis.values]
        self.fields: list[dict[str, Any]] = fields  # of every level
        self.tasks = [change_task(plan.task, values) for values in fields]
        floors = tuple(task.floor.value for task in self.tasks)
        ceilings = tuple(task.ceiling.value for task in self.tasks)
        self.levels = Levels(plan.axis.values, floors, ceilings)
        self.fit = Fit(self.levels, plan.target)  # of the scores so far
        self.asked = [0] * len(self.tasks)  # items so far at every level
        self.unscored = [0] * len(self.tasks)  # of them declined or failed
        self.silent = False  # no attempt of the last batch was scored

    @property
    def unscored_grow(self) -> bool:
        """Whether harder levels have a larger share of unscored attempts, which bends the curve."""
        return share_grows(self.unscored, self.fit.counts + self.unscored)

    @property
    def name(self) -> str:
        """The solver, and the value of the second field if there is one."""
        by = self.plan.by
        return self.solver if by is None else f"{self.solver}, {by.field} {self.by:g}"

    def evaluations(self, counts: Sequence[int]) -> dict[int, Evaluation]:
        """The evaluations of the first items of every level that has any, by level."""
        plan, found = self.plan, {}
        for level, count in enumerate(counts):
            if count:
                fields, items = self.fields[level], Items(plan.seed, 0, count)
                name = " ".join(f"{key}={value}" for key, value in fields.items())
                evaluation = Evaluation(
                    self.tasks[level], items, settings=plan.settings, setting=name, fields=fields
                )
                (found[level],) = evaluations_of(evaluation, [self.solver])
        return found

    @property
    def all_items(self) -> list[int]:
        """Numbers of items that include every record."""
        return [10**12] * len(self.tasks)

    def next_counts(self) -> list[int] | None:
        """The number of items at every level after the next batch; None if the search is over."""
        left = self.plan.max_items - sum(self.asked)
        stopped = left <= 0 or self.silent or self.unscored_grow
        if stopped or self.fit.settled(self.plan.width):
            return None
        batch = self.fit.next_batch(min(BATCH, left))
        return [count + more for count, more in zip(self.asked, batch, strict=True)]

    def read(self, out: Path, counts: Sequence[int]) -> None:
        """Add the recorded scores of the items up to these counts."""
        before = self.fit.counts.sum()
        for level, evaluation in self.evaluations(counts).items():
            indexes = range(self.asked[level], counts[level])
            scores = list(_scores(out / evaluation.folder / RECORDS, evaluation.task, indexes))
            self.fit.add(level, [score for score in scores if score is not None])
            self.unscored[level] += scores.count(None)
        self.silent = self.fit.counts.sum() == before
        self.asked[:] = counts


def _scores(path: Path, task: Task, indexes: range) -> Iterator[float | None]:
    """The headline scores of the items with these indexes; None for unscored attempts."""
    headline = task.benchmark.metrics[0]
    for _, row in read_records(path) if path.exists() else ():
        value = row["scores"].get(headline.name)
        if row.get("index") not in indexes:
            continue
        if row["kind"] in UNSCORED:
            yield None
        elif value is not None:
            yield min(1.0, max(0.0, float(value)))


def find_thresholds(
    plan: ThresholdPlan,
    out: Path,
    *,
    executor: Executor | None = None,
    options: ModelOptions | None = None,
    functions: Mapping[str, Function] | None = None,
    command: str | None = None,
    on_batch: Callable[[Sequence[Search]], None] = lambda searches: None,
) -> tuple[list[Search], Run, list[Summary]]:
    """The finished searches of a plan, the run of all their items, and its summaries."""
    options, functions = options or ModelOptions(), functions or {}
    searches = plan.searches()
    largest = plan.run_of([(search, search.all_items) for search in searches])
    for evaluation in largest.evaluations:
        if evaluation.solver not in functions:
            check_solver(evaluation, options)
    with locked(out):
        claim_folder(out, largest.manifest())
        if options.retry_errors:  # now, as the search may not come back to these levels
            for evaluation in largest.evaluations:
                if (path := out / evaluation.folder / RECORDS).exists():
                    drop_errors(path, evaluation.includes)
    # Later failures are left to the next command, since decisions depend on what is recorded.
    options = replace(options, retry_errors=False)
    models = [name for name in plan.solvers if is_model(name) and name not in functions]
    # Local servers run through all batches: `execute` finds them running.
    with served_locally([Model(name, Settings(), options) for name in models]):
        for name in plan.solvers:
            of_solver = [search for search in searches if search.solver == name]
            for batch in _batches(of_solver, out, on_batch):
                execute(batch, out, executor=executor, options=options, functions=functions)
    run = plan.run_of([(search, search.asked) for search in searches])
    for search in searches:
        search.read(out, search.all_items)  # records of earlier, larger searches
    summaries = execute(run, out, options=options, functions=functions, command=command)
    write_table(run, summaries, out)
    return searches, run, summaries


def _batches(
    searches: Sequence[Search], out: Path, on_batch: Callable[[Sequence[Search]], None]
) -> Iterator[Run]:
    """The batches of one solver, each chosen from the records of the previous ones."""
    while True:
        found = [(search, search.next_counts()) for search in searches]
        batches = [(search, counts) for search, counts in found if counts is not None]
        if not batches:
            return
        run = searches[0].plan.run_of(batches)
        if any(len(one.recorded_keys(out)) < one.attempts for one in run.evaluations):
            yield run
        for search, counts in batches:
            search.read(out, counts)
        on_batch([search for search, _ in batches])
