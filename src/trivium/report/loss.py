"""What solvers lose, split in two by scores with evidence of their own and with evidence given."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from trivium.benchmarks import get_benchmark
from trivium.core.benchmark import AnyBenchmark, LossSplit
from trivium.core.records import Row, read_records, solver_group
from trivium.core.results import item_number
from trivium.core.statistics import Estimate, paired_difference
from trivium.report.results import record_files
from trivium.report.tables import Table

Tried = dict[int, list[float]]  # the scores of every item


@dataclass(frozen=True)
class Loss:
    """What one solver loses on the items that it tried both ways."""

    solver: str
    items: int
    total: Estimate  # the ceiling minus the score with tests of its own
    first: Estimate  # the score with tests shown to it, minus that with its own
    second: Estimate  # the ceiling minus the score with tests shown to it


def losses(benchmark: AnyBenchmark, split: LossSplit, rows: Iterable[Row]) -> list[Loss]:
    """The loss of every solver that tried items both ways."""
    headline = benchmark.metrics[0]
    tried: dict[str, dict[Any, Tried]] = defaultdict(lambda: defaultdict(dict))
    ceilings: dict[int, float] = {}
    for row in rows:
        value, way = row["scores"].get(headline.name), (row.get("view") or {}).get(split.field)
        if row["benchmark"] == benchmark.name and value is not None:
            item = item_number(row)
            tried[solver_group(row["solver"])][way].setdefault(item, []).append(value)
            if way == split.given:
                ceilings[item] = row.get("ceiling", 1.0)
    found = []
    for solver, ways in tried.items():
        own, given = ways[split.own], ways[split.given]
        common = [item for item in own if item in given]
        if common:
            best = [ceilings[item] for item in common]
            alone, helped = ([fmean(way[item]) for item in common] for way in (own, given))
            parts = ((best, alone), (helped, alone), (best, helped))
            estimates = [paired_difference(*part, bounds=headline.bounds) for part in parts]
            found.append(Loss(solver, len(common), *estimates))
    return found


def loss_tables(runs: Sequence[Path], names: Iterable[str]) -> list[Table]:
    """A table for every benchmark that splits losses and whose items were tried both ways."""
    tables = []
    for benchmark in map(get_benchmark, names):
        split = benchmark.loss_split
        if split is None:
            continue
        rows = (row for path in record_files(runs) for _, row in read_records(path))
        lines = [
            (one.solver, f"{one.items:,}", *map(str, (one.total, one.first, one.second)))
            for one in losses(benchmark, split, rows)
        ]
        title = f"{benchmark.name}: what is lost in {split.first}, and in {split.second}"
        heads = ("solver", "items", "lost in all", f"in {split.first}", f"in {split.second} [95%]")
        note = (
            f"In {split.first}: {benchmark.metrics[0].name} with {split.field} {split.given} minus "
            f"{split.field} {split.own}; in {split.second}: the ceiling minus that with "
            f"{split.given}."
        )
        tables += [Table(title, heads, tuple(lines), note)] if lines else []
    return tables
