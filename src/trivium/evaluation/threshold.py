"""Which thresholds are looked for, and what is known of each after some items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from trivium.benchmarks import change_task
from trivium.core.errors import require
from trivium.core.records import RECORDS, UNSCORED, read_records
from trivium.core.spec import changed_fields
from trivium.core.streams import DEFAULT_SEED
from trivium.core.task import Task
from trivium.core.thresholds import Levels, Posterior
from trivium.evaluation.axes import Axis
from trivium.evaluation.evaluation import Evaluation, Items, Run
from trivium.evaluation.plan import Setting, evaluations_of
from trivium.models.names import full_model_name
from trivium.models.settings import Settings, is_model

KIND = "threshold"
BATCH = 25  # items of one solver between two looks at the scores


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
