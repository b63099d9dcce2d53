"""Tables of figures, made once for the terminal and for the page."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from trivium.core.results import Summary
from trivium.core.statistics import Estimate
from trivium.report.results import Digest, Key

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
        console.print(Text(self.title, style="italic"))  # a title of its own is cut to the table
        made = RichTable()
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
            denominator(summary, metric),
        )
        for name, summary in named
    ]
    columns = ("preset", "solver", f"{metric} [95%]", "lift", "chance", "items")
    return Table(title, columns, tuple(rows))


def metric_table(summary: Summary) -> Table:
    """Every metric of one summary."""
    rows = [(name, str(estimate), str(estimate.n)) for name, estimate in summary.metrics.items()]
    title = f"{summary.benchmark}, {summary.solver}: {counted(summary)}"
    return Table(title, ("metric", "value [95%]", "n"), tuple(rows))


def counted(summary: Summary) -> str:
    """What was counted, in words."""
    return (
        f"{summary.items} items, {summary.answered} answered, "
        f"{summary.violations} violations, {summary.errors} errors"
    )


def denominator(summary: Summary, metric: str) -> str:
    """How many items a metric is the mean of, and of how many where some could not be scored."""
    scored = summary.metrics[metric].n
    return f"{scored:,}" if scored == summary.items else f"{scored:,} of {summary.items:,}"


def number(estimate: Estimate) -> str:
    """The value alone."""
    return "undefined" if estimate.value is None else f"{estimate.value:.3f}"


def analysis_tables(digest: Digest) -> list[Table]:
    """Everything there is to say of some records: by solver, setting, group, seed and kind."""
    tables = []
    name = digest.benchmark.name
    pooled = digest.split(lambda key: key.solver)
    for solver in digest.solvers:
        own = [metric_table(pooled[solver])]
        own += [_group_table(digest, solver, names) for names in digest.crossings]
        if len(digest.seeds) > 1:
            own.append(_split_table(digest, solver, ("seed",), lambda key: (key.seed,)))
        own.append(kind_table(f"{name}, {solver}: kinds of answers", pooled[solver].kinds))
        settings = {key.setting for key in digest.tallies if key.solver == solver}
        if len(settings) > 1:
            # A figure of several settings belongs to none of them, and must say so.
            own = [
                replace(one, title=f"{one.title} ({len(settings)} settings together)")
                for one in own
            ]
            by_setting = _split_table(
                digest, solver, ("setting",), lambda key: (key.setting,), False
            )
            own.insert(1, by_setting)
        tables += own
    return tables


def _group_table(digest: Digest, solver: str, names: Sequence[str]) -> Table:
    return _split_table(digest, solver, names, lambda key: tuple(map(key.group, names)))


def _split_table(
    digest: Digest,
    solver: str,
    columns: Sequence[str],
    by: Callable[[Key], tuple[Any, ...]],
    ordered: bool = True,
) -> Table:
    """The headline metric of one solver, a line for each value of `by`."""
    headline = digest.benchmark.metrics[0].name
    parts = digest.split(lambda key: by(key) if key.solver == solver else None)
    values = sorted(parts, key=natural) if ordered else list(parts)
    rows = [
        (
            *("-" if value is None else str(value) for value in group),
            str(parts[group].metrics[headline]),
            number(parts[group].metrics["lift"]),
            str(parts[group].items),
            f"{parts[group].prompt_lines:.0f}",
            f"{parts[group].prompt_chars:.0f}",
        )
        for group in values
    ]
    title = f"{digest.benchmark.name}, {solver}: by {', '.join(columns)}"
    heads = (*columns, f"{headline} [95%]", "lift", "items", "lines", "characters")
    return Table(title, heads, tuple(rows))


def natural(values: tuple[Any, ...]) -> list[tuple[bool, bool, Any]]:
    """A sorting key for values that may be numbers, texts or missing."""
    return [(value is None, isinstance(value, str), value) for value in values]


def kind_table(title: str, counts: Mapping[str, int]) -> Table:
    """Kinds of answers; which hop or chain it was stands in brackets, the commonest first."""
    kinds: Counter[str] = Counter()
    which: dict[str, Counter[str]] = defaultdict(Counter)
    for full, times in counts.items():
        kind, _, detail = full.partition(":")
        kinds[kind] += times
        if detail:
            which[kind][detail] += times
    total = sum(kinds.values())
    made = [
        (
            kind,
            str(count),
            f"{count / total:.3f}",
            ", ".join(f"{detail}: {times}" for detail, times in which[kind].most_common(8)),
        )
        for kind, count in kinds.most_common()
    ]
    return Table(title, ("kind", "count", "share", "which"), tuple(made))
