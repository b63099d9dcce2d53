"""The items and replies of records, and the bits left after every step of recorded games."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from statistics import fmean
from typing import Any

import orjson

from trivium.core.benchmark import AnyBenchmark
from trivium.core.reading import visible_replies
from trivium.core.records import Row, is_participant, row_order
from trivium.core.spec import spec_from_dict
from trivium.core.statistics import Estimate, mean_interval

Traces = Mapping[tuple[str, str], Sequence[Estimate]]  # by setting and solver


def replies_of(row: Row) -> list[str]:
    """The replies of a record, one for each turn."""
    reply = row.get("reply")
    return [reply] if isinstance(reply, str) else [str(part) for part in reply or []]


def presented_item(benchmark: AnyBenchmark, row: Row) -> tuple[Any, Any]:
    """The item of a record in its order of presentation, and its view."""
    item = _item(benchmark, orjson.dumps(row["spec"]), row["seed"], row["index"])
    view = _view(benchmark, orjson.dumps(row.get("view") or {}))
    return benchmark.reshuffle(item, row_order(row)), view


@lru_cache(maxsize=64)
def _view(benchmark: AnyBenchmark, view: bytes) -> Any:
    return spec_from_dict(benchmark.view_type, orjson.loads(view))


@lru_cache(maxsize=1024)
def _item(benchmark: AnyBenchmark, spec: bytes, seed: int, index: int) -> Any:
    fields = spec_from_dict(benchmark.spec_type, orjson.loads(spec))
    return next(iter(benchmark.generate(fields, seed, index, 1)))


def mean_traces(benchmark: AnyBenchmark, games: Mapping[tuple[str, str], Sequence[Row]]) -> Traces:
    """The mean bits left after every step; a game that has ended keeps its last value."""
    # What one person does at several items is one trace, their mean.
    traces: dict[tuple[str, str], dict[Any, list[Sequence[float]]]] = {}
    for key, records in games.items():
        own: dict[Any, list[Sequence[float]]] = defaultdict(list)
        for number, record in enumerate(records):
            item, view = presented_item(benchmark, record)
            steps = benchmark.explain(item, visible_replies(replies_of(record)), view)
            if steps:
                person = is_participant(record["solver"])
                own[record["solver"] if person else number].append([one.bits for one in steps])
        if own:
            traces[key] = own
    longest: dict[str, int] = defaultdict(int)
    for (setting, _), own in traces.items():
        lengths = [len(trace) for part in own.values() for trace in part]
        longest[setting] = max(longest[setting], *lengths)
    return {
        (setting, solver): [
            mean_interval([_mean_at(step, part) for part in own.values()])
            for step in range(longest[setting])
        ]
        for (setting, solver), own in traces.items()
    }


def _mean_at(step: int, traces: Sequence[Sequence[float]]) -> float:
    """The mean of some traces after a step, or after their last one."""
    return fmean(trace[min(step, len(trace) - 1)] for trace in traces)
