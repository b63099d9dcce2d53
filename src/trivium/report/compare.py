"""Runs side by side: differences on the items that they have in common."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import orjson

from trivium.benchmarks import get_benchmark
from trivium.core.records import Row, read_records
from trivium.core.statistics import Estimate, paired_difference
from trivium.report.results import record_files
from trivium.report.tables import Table

Item = tuple[str, int | None, bytes]


@dataclass(frozen=True)
class Contestant:
    """One solver of one run, at one benchmark."""

    run: str
    solver: str
    benchmark: str
    scores: dict[Item, float]  # the headline metric of every item, the mean over its trials


@dataclass(frozen=True)
class Difference:
    """How much better the first is than the second on common items."""

    first: Contestant
    second: Contestant
    items: int
    estimate: Estimate


def contestants(runs: Sequence[Path]) -> list[Contestant]:
    """Every solver of every run, in the order of the runs."""
    found: list[Contestant] = []
    for run in runs:
        rows = (row for path in record_files([run]) for _, row in read_records(path))
        found += contestants_of(str(run), rows)
    return found


def contestants_of(run: str, rows: Iterable[Row]) -> list[Contestant]:
    """Every solver of one run, from its records."""
    scores: dict[tuple[str, str], dict[Item, list[float]]] = defaultdict(dict)
    for row in rows:
        headline = get_benchmark(row["benchmark"]).metrics[0].name
        value = row["scores"].get(headline)
        if value is not None:
            item = (row["id"], row.get("seed"), orjson.dumps(row.get("spec")))
            scores[row["benchmark"], row["solver"]].setdefault(item, []).append(value)
    return [
        Contestant(
            run, solver, benchmark, {item: float(np.mean(own)) for item, own in items.items()}
        )
        for (benchmark, solver), items in scores.items()
    ]


def compare_records(named: Mapping[str, Iterable[Row]]) -> list[Difference]:
    """Paired differences between sets of records, each solver against the first."""
    found = [one for name, rows in named.items() for one in contestants_of(name, rows)]
    return differences(found, pairs=False)


def differences(found: Sequence[Contestant], *, pairs: bool) -> list[Difference]:
    """Every later contestant against the first of its benchmark, or all pairs of them."""
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
    """Every difference with its interval; one that leaves out 0 is marked."""
    headline = get_benchmark(benchmark).metrics[0].name
    rows = []
    for one in made:
        low, high = one.estimate.low, one.estimate.high
        apart = low is not None and high is not None and (low > 0 or high < 0)
        rows.append(
            (
                _name(one.first),
                _name(one.second),
                str(one.items),
                str(one.estimate),
                "differ" if apart else "-",
            )
        )
    title = f"{benchmark}: {headline} of the first minus {headline} of the second, on common items"
    columns = ("first", "second", "items", "difference [95%]", "verdict")
    return Table(title, columns, tuple(rows))


def _name(one: Contestant) -> str:
    return f"{one.solver} ({one.run})"
