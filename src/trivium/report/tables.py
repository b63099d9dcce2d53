"""Tables of figures, made once for the terminal and for the page."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from trivium.core.benchmark import AnyBenchmark
from trivium.core.statistics import Estimate
from trivium.core.summary import Summary, summarise, summarise_groups

Row = Mapping[str, Any]
WIDTH = 160  # of output that goes to a file or a pipe


def terminal() -> Console:
    """Standard output: as wide as the window, or wide enough where there is none."""
    return Console(width=None if sys.stdout.isatty() else WIDTH, highlight=False)


@dataclass(frozen=True)
class Table:
    """A title, column names and rows of text."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def show(self, console: Console) -> None:
        """Print it on a terminal; what a model said is never read as markup."""
        made = RichTable(title=Text(self.title), title_justify="left")
        for number, column in enumerate(self.columns):
            made.add_column(
                Text(column), justify="left" if number == 0 else "right", overflow="fold"
            )
        for row in self.rows:
            made.add_row(*map(Text, row))
        console.print(made)


def result_table(title: str, named: Sequence[tuple[str, Summary]], metric: str) -> Table:
    """One line for each solver: the headline metric, lift, and what was counted."""
    rows = [
        (
            name,
            summary.solver,
            str(summary.metrics[metric]),
            number(summary.metrics["lift"]),
            f"{summary.chance:.3f}",
            str(summary.items),
        )
        for name, summary in named
    ]
    columns = ("preset", "solver", f"{metric} [95%]", "lift", "chance", "items")
    return Table(title, columns, tuple(rows))


def metric_table(summary: Summary) -> Table:
    """Every metric of one summary."""
    rows = [(name, str(estimate), str(estimate.n)) for name, estimate in summary.metrics.items()]
    title = f"{summary.benchmark}, {summary.solver}: {counts(summary)}"
    return Table(title, ("metric", "value [95%]", "n"), tuple(rows))


def counts(summary: Summary) -> str:
    """What was counted, in words."""
    return (
        f"{summary.items} items, {summary.answered} answered, "
        f"{summary.violations} violations, {summary.errors} errors"
    )


def number(estimate: Estimate) -> str:
    """The value alone."""
    return "undefined" if estimate.value is None else f"{estimate.value:.3f}"


def analysis_tables(benchmark: AnyBenchmark, rows: Sequence[Row]) -> list[Table]:
    """Everything there is to say of some records of one benchmark: by solver, group, seed, kind."""
    by_solver: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_solver[row["solver"]].append(row)
    tables = []
    for solver, own in by_solver.items():
        tables.append(metric_table(summarise(own, benchmark.metrics)))
        tables += _group_tables(benchmark, solver, own)
        seeds = {row.get("seed") for row in own}
        if len(seeds) > 1:
            tables.append(_seed_table(benchmark, solver, own))
        tables.append(_kind_table(benchmark, solver, own))
    return tables


def _group_tables(benchmark: AnyBenchmark, solver: str, rows: Sequence[Row]) -> list[Table]:
    """One table of all groups together, or one for each where they do not belong together."""
    keys = list(dict.fromkeys(key for row in rows for key in row["groups"]))
    together = [keys] if benchmark.crossed_groups else [[key] for key in keys]
    return [
        _split_table(
            f"{benchmark.name}, {solver}: by {'group' if benchmark.crossed_groups else own[0]}",
            benchmark,
            own,
            summarise_groups(rows, benchmark.metrics, own).items(),
        )
        for own in together
    ]


def _seed_table(benchmark: AnyBenchmark, solver: str, rows: Sequence[Row]) -> Table:
    seeded = [{**row, "groups": {"seed": row.get("seed")}} for row in rows]
    groups = summarise_groups(seeded, benchmark.metrics, ["seed"])
    title = f"{benchmark.name}, {solver}: by seed"
    return _split_table(title, benchmark, ["seed"], groups.items())


def _split_table(
    title: str,
    benchmark: AnyBenchmark,
    keys: Sequence[str],
    groups: Iterable[tuple[tuple[Any, ...], Summary]],
) -> Table:
    headline = benchmark.metrics[0].name
    rows = [
        (
            *("-" if value is None else str(value) for value in group),
            str(summary.metrics[headline]),
            number(summary.metrics["lift"]),
            str(summary.items),
            f"{summary.prompt_lines:.0f}",
            f"{summary.prompt_chars:.0f}",
        )
        for group, summary in groups
    ]
    columns = (*keys, f"{headline} [95%]", "lift", "items", "lines", "characters")
    return Table(title, columns, tuple(rows))


def _kind_table(benchmark: AnyBenchmark, solver: str, rows: Sequence[Row]) -> Table:
    """Kinds of answers; which hop or chain it was stands in brackets, the commonest first."""
    kinds: Counter[str] = Counter()
    which: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        kind, _, detail = row["kind"].partition(":")
        kinds[kind] += 1
        if detail:
            which[kind][detail] += 1
    made = [
        (
            kind,
            str(count),
            f"{count / len(rows):.3f}",
            ", ".join(f"{detail}: {times}" for detail, times in which[kind].most_common(8)),
        )
        for kind, count in kinds.most_common()
    ]
    title = f"{benchmark.name}, {solver}: kinds of answers"
    return Table(title, ("kind", "count", "share", "which"), tuple(made))
