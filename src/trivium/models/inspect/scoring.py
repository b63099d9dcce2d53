"""Scores and figures inside Inspect that agree with ours to the last digit."""

from __future__ import annotations

import math
from collections.abc import Sequence

import orjson
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import TaskState

from trivium.core.benchmark import AnyBenchmark
from trivium.core.benchmark import Metric as BenchmarkMetric
from trivium.core.dialogue import record
from trivium.core.files import dump_line
from trivium.core.results import summarise
from trivium.core.statistics import Estimate
from trivium.models.inspect.samples import REPLIES, read_sample


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


def metrics_of(benchmark: AnyBenchmark, *, repeated: bool) -> dict[str, list[Metric]]:
    """The figures of every metric; `repeated` where items are told more than once."""
    return {
        own.name: [
            value(own.kind, own.best, own.worst, repeated),
            low(own.kind, own.best, own.worst, repeated),
            high(own.kind, own.best, own.worst, repeated),
            n(),
        ]
        for own in benchmark.metrics
    }


@metric
def value(kind: str, best: float, worst: float, repeated: bool) -> Metric:
    """The figure itself."""

    def compute(scores: list[SampleScore]) -> float:
        return _number(_estimate(scores, kind, best, worst, repeated).value)

    return compute


@metric
def low(kind: str, best: float, worst: float, repeated: bool) -> Metric:
    """The lower end of its 95% interval."""

    def compute(scores: list[SampleScore]) -> float:
        return _number(_estimate(scores, kind, best, worst, repeated).low)

    return compute


@metric
def high(kind: str, best: float, worst: float, repeated: bool) -> Metric:
    """The upper end of its 95% interval."""

    def compute(scores: list[SampleScore]) -> float:
        return _number(_estimate(scores, kind, best, worst, repeated).high)

    return compute


@metric
def n() -> Metric:
    """The denominator: attempts for which the metric is defined."""

    def compute(scores: list[SampleScore]) -> float:
        return len(scores)

    return compute


def _estimate(
    scores: Sequence[SampleScore], kind: str, best: float, worst: float, repeated: bool
) -> Estimate:
    """The figure as our own summary makes it, from what it needs to know of each attempt."""
    blank = {"benchmark": "", "solver": "", "kind": "", "chance": 0.0, "answer": None}
    rows = [
        {
            **blank,
            "id": str((score.sample_metadata or {})["id"]),
            "trial": int(repeated),  # which trial it was does not matter, that there were some does
            "scores": {"figure": score.score.as_float()},
        }
        for score in scores
    ]
    own = BenchmarkMetric(
        "figure", "", "proportion" if kind == "proportion" else "mean", best, worst
    )
    return summarise(rows, [own]).metrics["figure"]


def _number(figure: float | None) -> float:
    return math.nan if figure is None else figure
