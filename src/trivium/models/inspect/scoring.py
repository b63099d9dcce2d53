"""Scores and estimates in Inspect's logs, computed by the code that summarises records."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Literal

from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState

from trivium.core import benchmark as core
from trivium.core.files import dump_line
from trivium.core.records import NO_ANSWER, UNSCORED
from trivium.core.results import estimate_of
from trivium.models.inspect.samples import presented_item, sample_attempt


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


def metrics_of(benchmark: core.AnyBenchmark) -> dict[str, list[Metric]]:
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
