"""Paired differences between solvers and runs on the items that they share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import orjson

from trivium.benchmarks import get_benchmark
from trivium.core.errors import require
from trivium.core.records import MANIFEST, Row, read_records
from trivium.core.spec import read_mapping
from trivium.core.statistics import Estimate, paired_difference
from trivium.report.results import record_files
from trivium.report.tables import Table

Item = tuple[str, int | None, bytes]  # id, seed and spec
Limits = tuple[int | None, str | None]  # max_output_tokens and reasoning_effort


@dataclass(frozen=True)
class SolverScores:
    """The headline metric of one solver in one run, for every item the mean over its trials."""

    run: str
    solver: str
    benchmark: str
    scores: dict[Item, float]
    limits: frozenset[Limits] = frozenset()  # under which a model replied; none for programs

    def __str__(self) -> str:
        return f"{self.solver} ({self.run})"


@dataclass(frozen=True)
class Difference:
    """How much better the first is than the second on common items."""

    first: SolverScores
    second: SolverScores
    items: int
    estimate: Estimate


def read_scores(runs: Sequence[Path]) -> list[SolverScores]:
    """The scores of every solver of every run, in the order of the runs."""
    found: list[SolverScores] = []
    for run in runs:
        paths = record_files([run])
        rows = (row for path in paths for _, row in read_records(path))
        own = [limits for path in paths if (limits := _limits(path.parent / MANIFEST)) is not None]
        for one in scores_of(str(run), rows):
            models = frozenset(limits for solver, limits in own if solver == one.solver)
            found.append(replace(one, limits=models))
    return found


def _limits(manifest: Path) -> tuple[str, Limits] | None:
    """The model of a folder of records and what it was allowed; None where there is no model."""
    held = read_mapping(manifest) if manifest.exists() else {}
    shaping = held.get("shaping")
    if not isinstance(shaping, dict):
        return None
    limits = (shaping.get("max_output_tokens"), shaping.get("reasoning_effort"))
    return str(held.get("solver")), limits


def require_same_limits(found: Sequence[SolverScores]) -> None:
    """Refuse models that were allowed different numbers of tokens or efforts."""
    limits = set().union(*(one.limits for one in found))
    for position, name in enumerate(("max_output_tokens", "reasoning_effort")):
        values = sorted({str(one[position] or "the default") for one in limits})
        require(
            len(values) <= 1,
            f"{name} differs between the runs ({', '.join(values)}), so that a difference may be "
            "that of the settings; --any_settings compares them all the same",
        )


def scores_of(run: str, rows: Iterable[Row]) -> list[SolverScores]:
    """The scores of every solver of one run."""
    scores: dict[tuple[str, str], dict[Item, list[float]]] = defaultdict(dict)
    for row in rows:
        value = row["scores"].get(_headline(row["benchmark"]))
        if value is not None:
            item = (row["id"], row.get("seed"), orjson.dumps(row.get("spec")))
            scores[row["benchmark"], row["solver"]].setdefault(item, []).append(value)
    return [
        SolverScores(run, solver, benchmark, {item: float(np.mean(v)) for item, v in own.items()})
        for (benchmark, solver), own in scores.items()
    ]


def differences(found: Sequence[SolverScores], *, pairs: bool) -> list[Difference]:
    """Every later solver minus the first one of its benchmark, or all pairs."""
    made = []
    for benchmark in dict.fromkeys(one.benchmark for one in found):
        own = [one for one in found if one.benchmark == benchmark]
        chosen = combinations(own, 2) if pairs else ((own[0], other) for other in own[1:])
        for first, second in chosen:
            common = [item for item in first.scores if item in second.scores]
            if common:
                estimate = paired_difference(
                    [second.scores[item] for item in common],
                    [first.scores[item] for item in common],
                    bounds=get_benchmark(benchmark).metrics[0].bounds,
                )
                made.append(Difference(second, first, len(common), estimate))
    return made


def difference_table(benchmark: str, made: Sequence[Difference]) -> Table:
    """Every difference with its interval; "differ" if that excludes 0."""
    rows = []
    for one in made:
        low, high = one.estimate.low, one.estimate.high
        apart = low is not None and high is not None and (low > 0 or high < 0)
        verdict = "differ" if apart else "-"
        rows.append((str(one.first), str(one.second), str(one.items), str(one.estimate), verdict))
    headline = _headline(benchmark)
    title = f"{benchmark}: {headline} of the first minus {headline} of the second, on common items"
    columns = ("first", "second", "items", "difference [95%]", "verdict")
    return Table(title, columns, tuple(rows))


@cache
def _headline(benchmark: str) -> str:
    return get_benchmark(benchmark).metrics[0].name
