"""Scores and estimates inside Inspect that agree with ours to the last digit."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import TaskState

from trivium.core import benchmark as core
from trivium.core.files import dump_line
from trivium.core.records import NO_ANSWER, UNSCORED
from trivium.core.results import estimate_of
from trivium.models.inspect.samples import presented_item, sample_attempt


@scorer(metrics=[], name="trivium")
def scores() -> Scorer:
    """Every metric of the benchmark, parsed and scored by the benchmark itself."""

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


def metrics_of(benchmark: core.AnyBenchmark) -> dict[str, list[Metric]]:
    """The estimate of every metric."""
    return {
        own.name: [make(own.kind, own.best, own.worst) for make in (value, low, high)] + [n()]
        for own in benchmark.metrics
    }


Kind = Literal["proportion", "mean"]


def _part(name: str) -> Callable[[Kind, float, float], Metric]:
    """One part of an estimate as an Inspect metric."""

    def make(kind: Kind, best: float, worst: float) -> Metric:
        own = core.Metric(name, "", kind, best, worst)

        def compute(scores: list[SampleScore]) -> float:
            values = [score.score.as_float() for score in scores]
            items = [hash((score.sample_metadata or {})["id"]) for score in scores]
            estimate = estimate_of(values, items, own)
            part: float | None = getattr(estimate, name)
            return math.nan if part is None else part

        return compute

    return metric(name)(make)


value, low, high = _part("value"), _part("low"), _part("high")


@metric
def n() -> Metric:
    """The denominator: attempts for which the metric is defined."""

    def compute(scores: list[SampleScore]) -> float:
        return len(scores)

    return compute
