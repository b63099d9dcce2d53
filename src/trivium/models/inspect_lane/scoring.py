"""Scores and figures inside Inspect that agree with ours to the last digit."""

from __future__ import annotations

import math
from collections.abc import Sequence

import orjson
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import TaskState

from trivium.core.benchmark import AnyBenchmark
from trivium.core.jsonl import dump_line
from trivium.core.pipeline import record
from trivium.core.statistics import Estimate
from trivium.core.summary import estimate_of
from trivium.models.inspect_lane.samples import REPLIES, read_sample


@scorer(metrics=[], name="trivium")
def scores() -> Scorer:
    """Every metric of the benchmark, parsed and scored by the benchmark itself."""

    async def score(state: TaskState, target: Target) -> Score:
        known = read_sample(state.metadata)
        replies: list[str] = state.store.get(REPLIES, [])
        if not replies:
            return Score.unscored(reason="no_response")
        row = record(known.benchmark, known.told, str(state.model), replies, known.view)
        # NaN is skipped and counted; a missing or None value would count as 0.
        value = {
            metric.name: math.nan if (own := row.scores.get(metric.name)) is None else own
            for metric in known.benchmark.metrics
        }
        answer = None if row.answer is None else orjson.loads(dump_line(row.answer))
        return Score(
            value=value,
            answer=None if answer is None else orjson.dumps(answer).decode(),
            explanation=row.kind,
            reason="invalid_response_format" if row.kind == "violation" else None,
        )

    return score


def metrics_of(benchmark: AnyBenchmark) -> dict[str, list[Metric]]:
    """The figures of every metric: value, interval and the number of attempts behind it."""
    return {
        own.name: [value(own.kind), low(own.kind), high(own.kind), n()] for own in benchmark.metrics
    }


@metric
def value(kind: str) -> Metric:
    """The figure itself."""

    def compute(scores: list[SampleScore]) -> float:
        return _number(_estimate(scores, kind).value)

    return compute


@metric
def low(kind: str) -> Metric:
    """The lower end of its 95% interval."""

    def compute(scores: list[SampleScore]) -> float:
        return _number(_estimate(scores, kind).low)

    return compute


@metric
def high(kind: str) -> Metric:
    """The upper end of its 95% interval."""

    def compute(scores: list[SampleScore]) -> float:
        return _number(_estimate(scores, kind).high)

    return compute


@metric
def n() -> Metric:
    """The denominator: attempts for which the metric is defined."""

    def compute(scores: list[SampleScore]) -> float:
        return len(scores)

    return compute


def _estimate(scores: Sequence[SampleScore], kind: str) -> Estimate:
    told = [score.sample_metadata or {} for score in scores]
    return estimate_of(
        [score.score.as_float() for score in scores],
        [str(metadata["id"]) for metadata in told],
        kind,
        repeated=any(metadata["trial"] for metadata in told),
    )


def _number(figure: float | None) -> float:
    return math.nan if figure is None else figure
