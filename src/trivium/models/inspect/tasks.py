"""Every benchmark as an Inspect task, `trivium/NAME`: the package's entry point for Inspect."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

import inspect_ai

# Not exported, but the only exception that Inspect prints without a traceback.
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import Dataset, MemoryDataset
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState

from trivium.benchmarks import benchmark_names, load_task
from trivium.core import benchmark as core
from trivium.core.benchmark import AnyBenchmark
from trivium.core.errors import UserError, require
from trivium.core.files import dump_line
from trivium.core.records import NO_ANSWER, UNSCORED
from trivium.core.results import estimate_of
from trivium.core.spec import spec_from_dict
from trivium.core.streams import DEFAULT_SEED
from trivium.core.task import PresentedItem
from trivium.models.inspect.samples import make_sample, presented_item, sample_attempt
from trivium.models.inspect.solvers import BuiltIn, attempt, moves_of
from trivium.models.settings import Settings

# The entry point: Inspect lists these as ours.
__all__ = ["TASKS", "BuiltIn", "TaskParameters", "build_task", "item_dataset"]


@dataclass(frozen=True)
class TaskParameters:
    """The parameters of a task (-T) besides the fields of its benchmark's spec and view."""

    items: int = 500  # the number of items
    seed: int = DEFAULT_SEED  # the seed of the items
    start: int = 0  # the index of the first item
    order_trials: int = 1  # trials of each item, each in another order
    preset: str | None = None  # a named spec to start from
    system: str | None = None  # a system message instead of the benchmark's own
    tool: bool = True  # whether games are played through tools instead of plain text

    def __post_init__(self) -> None:
        require(self.order_trials >= 1, f"order_trials must be at least 1, got {self.order_trials}")


def item_dataset(
    items: Sequence[PresentedItem], settings: Settings | None = None, *, tool: bool = True
) -> MemoryDataset:
    """Items of one task as samples."""
    task, hint = items[0].task, None
    if tool and task.benchmark.multi_turn:  # the rules ask for lines of text
        names = " or ".join(f"`{move.__name__}`" for move in moves_of(task))
        hint = f"Make every move by calling the tool {names} instead of writing the line."
    framing = settings or Settings()
    return MemoryDataset([make_sample(item, framing, hint) for item in items], task.benchmark.name)


@scorer(metrics=[], name="trivium")
def scores() -> Scorer:
    """The benchmark's own scores of an attempt."""

    async def score(state: TaskState, target: Target) -> Score:
        attempt = sample_attempt(state.metadata, str(state.model))
        if attempt.kind in UNSCORED:
            return Score.unscored(reason="no_response")
        names = [own.name for own in presented_item(state.metadata).task.benchmark.metrics]
        values = {name: attempt.scores.get(name) for name in names}
        answer = None if attempt.answer is None else dump_line(attempt.answer).decode().rstrip()
        return Score(
            # NaN is skipped and counted; a missing or None value would count as 0.
            value={name: math.nan if own is None else own for name, own in values.items()},
            answer=answer,
            explanation=attempt.kind,
            reason="invalid_response_format" if attempt.kind == NO_ANSWER else None,
        )

    return score


def metrics_of(benchmark: AnyBenchmark) -> dict[str, list[Metric]]:
    """The estimate of every metric, by name."""
    return {own.name: [estimate(own.kind, own.best, own.worst)] for own in benchmark.metrics}


@metric
def estimate(kind: Literal["proportion", "mean"], best: float, worst: float) -> Metric:
    """A metric's value, its interval (low, high) and its denominator n."""
    own = core.Metric("", "", kind, best, worst)

    def compute(scores: list[SampleScore]) -> Value:
        values = [score.score.as_float() for score in scores]
        items = [hash((score.sample_metadata or {})["id"]) for score in scores]
        parts = asdict(estimate_of(values, items, own))
        return {name: math.nan if part is None else part for name, part in parts.items()}

    return compute


def build_task(benchmark: AnyBenchmark, dataset: Dataset, **options: Any) -> inspect_ai.Task:
    """An Inspect task over a benchmark's samples; `options` are further arguments of `Task`."""
    return inspect_ai.Task(
        dataset=dataset,
        scorer=scores(),
        metrics=metrics_of(benchmark),
        # One failed sample must not end the run; the denominators leave it out.
        fail_on_error=False,
        **{"name": benchmark.name, "solver": attempt(), **options},
    )


def _task_from_values(name: str, values: Mapping[str, Any]) -> inspect_ai.Task:
    """The task of a benchmark with these -T values; unknown ones are refused."""
    others = dict(values)
    known = [field.name for field in fields(TaskParameters) if field.name in values]
    own = spec_from_dict(TaskParameters, {name: others.pop(name) for name in known})
    task = load_task(name, own.preset, others)
    items = [
        PresentedItem(task, item.original, trial)
        for item in task.generate(own.seed, own.start, own.items)
        for trial in range(own.order_trials)
    ]
    dataset = item_dataset(items, Settings(system=own.system), tool=own.tool)
    return build_task(task.benchmark, dataset, solver=attempt(tool=own.tool))


def _register(name: str) -> Any:
    # Any parameter is accepted, so that we refuse unknown ones: Inspect only warns of them.
    def make(**parameters: Any) -> inspect_ai.Task:
        try:
            return _task_from_values(name, parameters)
        except UserError as problem:
            raise PrerequisiteError(str(problem)) from None

    make.__name__ = make.__qualname__ = name
    # Not the benchmark's own title, which would import every benchmark.
    make.__doc__ = f"The benchmark {name}; -T sets the fields of its spec and view."
    return inspect_ai.task(name=name)(make)


TASKS = {name: _register(name) for name in benchmark_names()}
