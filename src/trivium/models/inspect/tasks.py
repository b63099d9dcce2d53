"""Every registered benchmark as an Inspect task, `trivium/NAME`; the entry point of the package."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from inspect_ai import Task, task
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import Model
from inspect_ai.solver import TaskState

from trivium.benchmarks import benchmark_names, get_benchmark
from trivium.core.benchmark import AnyBenchmark
from trivium.core.errors import UserError, require
from trivium.core.spec import spec_from_dict
from trivium.evaluation.execute import Work
from trivium.evaluation.items import made_chunks
from trivium.models.inspect import local
from trivium.models.inspect.game import hint, play
from trivium.models.inspect.samples import dataset
from trivium.models.inspect.scoring import metrics_of, scores
from trivium.models.inspect.solvers import baseline, converse

__all__ = ["TASKS", "TaskFlags", "baseline", "build_task", "local"]


@dataclass(frozen=True)
class TaskFlags:
    """What a task takes with -T besides the fields of its benchmark's spec and view."""

    items: int = 500  # how many items are made
    seed: int = 0  # the seed of all of them
    start: int = 0  # the index of the first
    order_trials: int = 1  # how often each item is told, each time in another order
    preset: str | None = None  # a named spec to start from
    system: str | None = None  # a system message instead of the benchmark's own
    tool: bool = True  # games are played through a tool; false: in plain text


def build_task(
    benchmark: AnyBenchmark,
    view: Any,
    work: Iterable[tuple[Any, int]],
    *,
    name: str | None = None,
    model: Model | None = None,
    system: str | None = None,
    tool: bool = True,
    ended: Callable[[TaskState], Awaitable[None]] | None = None,
) -> Task:
    """A task over these items and trials; `ended` hears of every sample when it is over."""
    asked = list(work)
    through_tool = benchmark.multi_turn and tool
    return Task(
        dataset=dataset(
            benchmark, view, asked, system=system, hint=hint(benchmark) if through_tool else None
        ),
        solver=play() if through_tool else converse(),
        scorer=scores(),
        metrics=metrics_of(benchmark, repeated=any(trial for _, trial in asked)),
        cleanup=ended,
        name=name or benchmark.name,
        model=model,
        # One failed sample must not end the run; the denominators say how many there were.
        fail_on_error=False,
    )


def task_from_values(name: str, values: Mapping[str, Any]) -> Task:
    """The task of a benchmark with these -T values; unknown ones are refused."""
    benchmark = get_benchmark(name)
    own, spec_values, view_values = _sorted_out(benchmark, values)
    flags = spec_from_dict(TaskFlags, own)
    require(flags.order_trials >= 1, f"order_trials must be at least 1, got {flags.order_trials}")
    base = None
    if flags.preset is not None:
        allowed = ", ".join(benchmark.presets)
        known = flags.preset in benchmark.presets
        require(known, f"unknown preset {flags.preset!r} of {name}; there are {allowed}")
        base = benchmark.presets[flags.preset]
    spec = spec_from_dict(benchmark.spec_type, spec_values, base=base)
    view = spec_from_dict(benchmark.view_type, view_values)
    chunks = made_chunks(benchmark, spec, flags.seed, flags.start, flags.items)
    work = Work(benchmark, view, chunks, flags.order_trials, frozenset())
    return build_task(benchmark, view, work, system=flags.system, tool=flags.tool)


def _sorted_out(
    benchmark: AnyBenchmark, values: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The values of the task, the spec and the view."""
    kinds = (TaskFlags, benchmark.spec_type, benchmark.view_type)
    names = [{field.name for field in fields(kind)} for kind in kinds]
    allowed = sorted(set().union(*names))
    for key in values:
        require(
            key in allowed,
            f"{benchmark.name}: unknown parameter {key!r}; allowed are {', '.join(allowed)}",
        )
    own, spec, view = (
        {key: value for key, value in values.items() if key in known} for known in names
    )
    return own, spec, view


def _register(name: str) -> Any:
    # All parameters are taken, so that unknown ones reach us: Inspect itself only warns of them.
    def make(**parameters: Any) -> Task:
        try:
            return task_from_values(name, parameters)
        except UserError as problem:
            raise PrerequisiteError(str(problem)) from None

    make.__name__ = make.__qualname__ = name
    make.__doc__ = get_benchmark(name).title
    return task(name=name)(make)


def _registered() -> Iterator[tuple[str, Any]]:
    for name in benchmark_names():
        yield name, _register(name)


TASKS = dict(_registered())
