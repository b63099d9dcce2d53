"""The arguments of the API: what callers may write for tasks, items, solvers and options."""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from trivium.benchmarks import load_task
from trivium.core.errors import UserError, require, require_known
from trivium.core.spec import coerce, spec_from_dict
from trivium.core.task import PresentedItem, Task
from trivium.evaluation.evaluation import Function, Items
from trivium.models.providers import known_model
from trivium.models.settings import ModelOptions
from trivium.report.compare import SolverScores, scores_of
from trivium.result_set import ResultSet, open_results

_OPTIONS = dict.fromkeys(one.name for one in fields(ModelOptions))
_PLAIN = {int, float, str, bool, Path, type(None)}
P = ParamSpec("P")
T = TypeVar("T")


def checked(function: Callable[P, T]) -> Callable[P, T]:
    """A function of the API that refuses arguments that are not of the plain types in its hints."""

    @functools.wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> T:
        hints, signature = typing.get_type_hints(function), inspect.signature(function)
        for name, given in signature.bind(*args, **options).arguments.items():
            hint, kind = hints.get(name), signature.parameters[name].kind
            several = isinstance(hint, types.UnionType)
            if {*(typing.get_args(hint) if several else (hint,))} <= _PLAIN:
                for value in given if kind is inspect.Parameter.VAR_POSITIONAL else (given,):
                    coerce(value, hint, name)
        return function(*args, **options)

    return call


def as_task(task: Task | str | Path, options: dict[str, Any]) -> Task:
    """The task, or that of a benchmark's name with those options that are its fields."""
    if isinstance(task, Task):
        return task
    require(isinstance(task, str), f"task must be a Task or a benchmark's name, got {task!r:.60}")
    plain = load_task(str(task))
    known = {"preset", *plain.benchmark.field_aliases, *_fields_of(plain)} - {*_OPTIONS}
    given = {name: options.pop(name) for name in [*options] if name in known}
    return load_task(str(task), given.pop("preset", None), given) if given else plain


def _fields_of(task: Task) -> set[str]:
    parts = [part for part in (task.spec, task.view) if part is not None]
    return {one.name for part in parts for one in fields(part)}


def model_options(
    options: Mapping[str, Any], function: Any, task: Task | None = None
) -> ModelOptions:
    """The options of calls to models."""
    task_names = set() if task is None else {"preset", *_fields_of(task)}
    for name in options:
        if task is not None and name in task_names:
            how = f"trivium.load({task.benchmark.name!r}, {name}={options[name]!r})"
            raise UserError(f"{name} belongs to the task: {how}")
        if name not in _OPTIONS:
            known = [*inspect.unwrap(function).__kwdefaults__, *_OPTIONS, *sorted(task_names)]
            require_known(name, known, f"option {name!r}")
    others = dict(options)
    body = others.pop("extra_body", None)  # not repeated in a message, as it may hold a key
    return spec_from_dict(ModelOptions, others, base=ModelOptions(extra_body=body))


def as_items(
    task: Task, items: int | Sequence[int] | Sequence[PresentedItem], seed: int, start: int
) -> Items:
    """The items that an argument describes."""
    if isinstance(items, int) and not isinstance(items, bool):
        return Items(seed, start, items)
    fits = isinstance(items, Iterable) and not isinstance(items, str)
    require(fits, f"items must be a whole number or a list, got {items!r:.60}")
    listed = typing.cast(Iterable[Any], items)
    chosen = [task.item(one, seed) if isinstance(one, int) else one for one in listed]
    require(bool(chosen), "items is empty: name at least one")
    for one in chosen:
        fits = isinstance(one, PresentedItem) and one.task.benchmark is task.benchmark
        require(fits, f"items must be numbers or items of {task.benchmark.name}, got {one!r:.60}")
    name, times = Counter(one.id for one in chosen).most_common(1)[0]
    require(times == 1, f"items holds {name} {times} times; `repeats` presents every item again")
    return Items.of(task.benchmark, [one.original for one in chosen])


def named_solver(
    task: Task, solver: str | Function, name: str | None = None
) -> tuple[str, dict[str, Function]]:
    """The name of a solver in records, and the solver by this name if it is a function."""
    if not isinstance(solver, str):
        require(callable(solver), f"solver must be a name or a function, got {solver!r:.60}")
        function = solver.func if isinstance(solver, functools.partial) else solver
        qualified = getattr(function, "__qualname__", type(function).__name__)
        name = name or f"{getattr(function, '__module__', 'builtins')}:{qualified}"
        require(name not in task.benchmark.solvers, f"name {name!r} is that of a built-in solver")
        return name, {name: solver}
    require(name is None, f"name is for functions; {solver} has its own")
    known = None if solver in task.benchmark.solvers else known_model(solver)
    return known or solver, {}


def solver_scores(results: Sequence[ResultSet | str | Path]) -> list[SolverScores]:
    """The scores of every solver of some results."""
    found: list[SolverScores] = []
    for number, result in enumerate(results, start=1):
        fits = isinstance(result, (ResultSet, str, Path))
        require(fits, f"result {number} must be results or their folder, got {result!r:.60}")
        rows = result if isinstance(result, ResultSet) else open_results(result)
        found += scores_of(f"result {number}", rows)
    return found
