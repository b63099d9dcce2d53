"""Finds a participant's threshold with the items that are most informative about it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from trivium.core.dialogue import Dialogue
from trivium.core.task import PresentedItem, Task
from trivium.thresholds.fit import Fit
from trivium.thresholds.search import Axis, Search, ThresholdPlan, make_axis

Seen = tuple[tuple[float, float], ...]  # the value of the field and the score, item by item


def axis_of(task: Task, field: str, values: tuple[float, ...]) -> Axis:
    """The field with its values; raises UserError if they have no order or are not allowed."""
    axis = make_axis(task, field, [f"{value:g}" for value in values])
    Search(ThresholdPlan(task, (axis,)), "")  # raises UserError for values without an order
    return axis


def next_item(
    task: Task, axis: Axis, done: Sequence[Dialogue], index: int, seed: int
) -> PresentedItem:
    """A new item at the most informative value, given the answers so far."""
    return _next_task(task, axis, _seen(axis, done)).item(index, seed)


def fit_of(task: Task, axis: Axis, done: Sequence[Dialogue]) -> Fit:
    """The threshold and its curves, given the answers so far."""
    return _search(task, axis, _seen(axis, done)).fit


def _seen(axis: Axis, done: Sequence[Dialogue]) -> Seen:
    tasks = ((one.item.task, one.scores) for one in done)
    specs = ((task.spec, scores[task.benchmark.metrics[0].name]) for task, scores in tasks)
    return tuple((getattr(spec, axis.field), score) for spec, score in specs if score is not None)


@lru_cache(maxsize=4096)  # a session is rebuilt from all its steps at every request
def _next_task(task: Task, axis: Axis, seen: Seen) -> Task:
    search = _search(task, axis, seen)
    return search.tasks[search.fit.next_batch(1).index(1)]


def _search(task: Task, axis: Axis, seen: Seen) -> Search:
    search = Search(ThresholdPlan(task, (axis,)), "")
    for value, score in seen:
        search.fit.add(axis.values.index(value), [score])
    return search
