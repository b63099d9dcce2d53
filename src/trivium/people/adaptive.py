"""Finds a participant's threshold with the items that are most informative about it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from trivium.core.dialogue import Dialogue
from trivium.core.task import PresentedItem, Task
from trivium.thresholds.fit import Fit
from trivium.thresholds.search import Search, ThresholdPlan, make_axis

Seen = tuple[tuple[float, float], ...]  # the value of the field and the score, item by item


def plan_of(task: Task, field: str, values: Sequence[float]) -> ThresholdPlan:
    """The search along a field; raises UserError if its values have no order or are not allowed."""
    axis = make_axis(task, field, [f"{value:g}" for value in values])
    return ThresholdPlan(task, (axis,), solvers=("participant",))


def next_item(
    plan: ThresholdPlan, done: Sequence[Dialogue], index: int, seed: int
) -> PresentedItem:
    """A new item at the most informative value, given the answers so far."""
    return _next_task(plan, _seen(plan, done)).item(index, seed)


def fit_of(plan: ThresholdPlan, done: Sequence[Dialogue]) -> Fit:
    """The threshold and its curves, given the answers so far."""
    return _search(plan, _seen(plan, done)).fit


def _seen(plan: ThresholdPlan, done: Sequence[Dialogue]) -> Seen:
    headline = plan.task.benchmark.metrics[0].name
    found = ((getattr(one.item.task.spec, plan.axis.field), one.scores[headline]) for one in done)
    return tuple((value, score) for value, score in found if score is not None)


@lru_cache(maxsize=4096)  # a session is rebuilt from all its steps at every request
def _next_task(plan: ThresholdPlan, seen: Seen) -> Task:
    search = _search(plan, seen)
    return search.tasks[search.fit.next_batch(1).index(1)]


def _search(plan: ThresholdPlan, seen: Seen) -> Search:
    (search,) = plan.searches()
    for value, score in seen:
        search.fit.add(plan.axis.values.index(value), [score])
    return search
