"""The threshold of a participant, found with the items that are most informative about it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from trivium.core.dialogue import Dialogue
from trivium.core.task import PresentedItem, Task
from trivium.thresholds.fit import Fit
from trivium.thresholds.search import Axis, Search, ThresholdPlan, make_axis

Seen = tuple[tuple[float, float], ...]  # the value of the field and the score, item by item


@lru_cache(maxsize=64)
def axis_of(task: Task, field: str, values: tuple[float, ...]) -> Axis:
    """The field with its values; UserError where they have no order or the spec refuses them."""
    axis = make_axis(task, field, [f"{value:g}" for value in values])
    Search(ThresholdPlan(task, axis), "")  # refuses values in no order
    return axis


def next_item(
    task: Task, axis: Axis, done: Sequence[Dialogue], index: int, seed: int
) -> PresentedItem:
    """A new item at the most informative value, given the answers so far."""
    level = _next_level(task, axis, _seen(axis, done))
    return Search(ThresholdPlan(task, axis), "").tasks[level].item(index, seed)


def fit_of(task: Task, axis: Axis, done: Sequence[Dialogue]) -> Fit:
    """The threshold and its curves, given the answers so far."""
    return _fit(task, axis, _seen(axis, done))


def _seen(axis: Axis, done: Sequence[Dialogue]) -> Seen:
    found = []
    for dialogue in done:
        task = dialogue.item.task
        score = dialogue.scores[task.benchmark.metrics[0].name]
        if score is not None:
            found.append((getattr(task.spec, axis.field), score))
    return tuple(found)


@lru_cache(maxsize=4096)  # a session is rebuilt from all its steps at every request
def _next_level(task: Task, axis: Axis, seen: Seen) -> int:
    return _fit(task, axis, seen).next_batch(1).index(1)


def _fit(task: Task, axis: Axis, seen: Seen) -> Fit:
    fit = Search(ThresholdPlan(task, axis), "").fit
    for value, score in seen:
        fit.add(axis.values.index(value), [score])
    return fit
