"""Tables of results, for the terminal, the page and Markdown."""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from trivium.core.records import CUT_OFF, ERROR, REFUSAL
from trivium.core.results import Summary
from trivium.core.statistics import Estimate
from trivium.report.results import BenchmarkResults, GroupKey

WIDTH = 160  # of output to a file or a pipe
MAX_DETAILS = 8  # hops, chains and the like named for one kind of answer
# Attempts without an answer that could be scored, and what they are called in tables.
UNANSWERED = {ERROR: "errors", CUT_OFF: "cut-offs", REFUSAL: "refusals"}
By = Callable[[GroupKey], tuple[Any, ...]]


class _Terminal(Console):
    """A console that leaves it to its caller what a closed pipe means."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def terminal() -> Console:
    """Standard output, as wide as the window or 160 columns without one."""
    return _Terminal(width=None if sys.stdout.isatty() else WIDTH, highlight=False)


@dataclass(frozen=True)
class Table:
    """A title, column names and rows of text."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def show(self, console: Console) -> None:
        """Print it; texts from records are never read as markup."""
        console.print(Text(self.title, style="italic"))  # rich cuts its own titles to the width
        table = RichTable()
        for number, column in enumerate(self.columns):
            table.add_column(
                Text(column), justify="left" if number == 0 else "right", overflow="fold"
            )
        for row in self.rows:
            table.add_row(*map(Text, row))
        console.print(table)

    def markdown(self) -> str:
        """The table in Markdown, without its title."""
        lines = [self.columns, ["---"] * len(self.columns), *self.rows]
        return "\n".join(f"| {' | '.join(map(markdown_text, line))} |" for line in lines)


def markdown_text(text: str) -> str:
    """One line of text with everything escaped that Markdown or HTML would read as markup."""
    line = " ".join(text.split())
    return re.sub(r"[&<>|`\[\]\\]", lambda mark: f"&#{ord(mark[0])};", line)


def result_table(title: str, named: Sequence[tuple[str, Summary]], metric: str) -> Table:
    """One row for each setting and solver: the headline metric, lift, floor, items, failures."""
    kinds = [kind for kind in UNANSWERED if any(kind in summary.kinds for _, summary in named)]
    rows = tuple(
        (
            name,
            summary.solver,
            str(summary.metrics[metric]),
            number(summary.metrics["lift"].value),
            named_floor(summary),
            scored_items(summary, metric),
            *(str(summary.kinds.get(kind, 0)) for kind in kinds),
            *([bounds(summary)] if CUT_OFF in kinds else []),
        )
        for name, summary in named
    )
    heads: tuple[str, ...] = ("setting", "solver", f"{metric} [95%]", "lift", "floor", "items")
    heads += tuple(UNANSWERED[kind] for kind in kinds)
    heads += ("cut-offs wrong..right",) if CUT_OFF in kinds else ()
    return Table(title, heads, rows)


def named_floor(summary: Summary) -> str:
    """The floor and the strategy that reaches it."""
    return f"{summary.floor:.3f}" + (f" ({summary.floor_name})" if summary.floor_name else "")


def metric_table(summary: Summary) -> Table:
    """Every metric of one summary."""
    rows = [(name, str(estimate), str(estimate.n)) for name, estimate in summary.metrics.items()]
    title = (
        f"{summary.benchmark}, {summary.solver}: {summary.items} items, {summary.answered} "
        f"answered, {summary.violations} violations, {summary.errors} errors"
    )
    if summary.cut_offs:
        title += f", {summary.cut_offs} cut-offs ({bounds(summary)} with them wrong and right)"
    if summary.refusals:
        title += f", {summary.refusals} refusals"
    return Table(title, ("metric", "value [95%]", "n"), tuple(rows))


def bounds(summary: Summary) -> str:
    """The headline metric with every cut-off attempt taken as wrong, and as right."""
    return "-" if summary.bounds is None else "..".join(map(number, summary.bounds))


def scored_items(summary: Summary, metric: str) -> str:
    """The number of items with this metric; "7 of 10" if some could not be scored."""
    scored = summary.metrics[metric].n
    return f"{scored:,}" if scored == summary.items else f"{scored:,} of {summary.items:,}"


def number(value: float | None, missing: str = "undefined") -> str:
    """A value with three decimals."""
    return missing if value is None else f"{value:.3f}"


def analysis_tables(results: BenchmarkResults) -> list[Table]:
    """What `analyze` prints for each solver: metrics, groups, seeds and kinds of answers."""
    tables: list[Table] = []
    for solver in results.solvers:
        own = [metric_table(results.by_solver[solver])]
        own += [
            _solver_table(results, solver, names, by_groups(names)) for names in results.groupings
        ]
        if len(results.seeds) > 1:
            own.append(_solver_table(results, solver, ["seed"], lambda key: (key.seed,)))
        title = f"{results.benchmark.name}, {solver}: kinds of answers"
        own.append(kind_table(title, results.by_solver[solver].kinds))
        settings = {key.setting for key in results.tallies if key.solver == solver}
        if len(settings) > 1:
            # A figure for several settings belongs to none of them, and must say so.
            pooled = f"({len(settings)} settings together)"
            own = [replace(table, title=f"{table.title} {pooled}") for table in own]
            own.insert(1, _solver_table(results, solver, ["setting"], lambda key: (key.setting,)))
        tables += own
    return tables


def _solver_table(results: BenchmarkResults, solver: str, columns: Sequence[str], by: By) -> Table:
    """The headline metric of one solver, a row for each value of `by`."""
    headline = results.benchmark.metrics[0].name

    def cells(part: Summary) -> tuple[str, ...]:
        return (str(part.metrics[headline]), number(part.metrics["lift"].value), *_sizes(part))

    parts = results.split(lambda key: by(key) if key.solver == solver else None)
    title = f"{results.benchmark.name}, {solver}: by {', '.join(columns)}"
    heads = (*columns, f"{headline} [95%]", "lift", "items", "lines", "characters")
    return Table(title, heads, _rows(parts, columns, cells))


def page_tables(results: BenchmarkResults) -> list[Table]:
    """The tables of the page; solvers are in a column, so that sorting compares them."""
    benchmark = results.benchmark
    headline = benchmark.metrics[0].name
    metric_rows = tuple(
        (solver, metric, *_interval(estimate), str(estimate.n))
        for solver in results.solvers
        for metric, estimate in results.by_solver[solver].metrics.items()
        if estimate.value is not None
    )
    heads: tuple[str, ...] = ("solver", "metric", "value", "low", "high", "n")
    tables = [Table(f"{benchmark.name}: every metric", heads, metric_rows)]
    splits: list[tuple[str, list[str], By]] = []
    if len(results.settings) > 1:
        splits.append(("setting", ["setting"], lambda key: (key.setting,)))
    for names in results.groupings if results.varying_groups else []:
        splits.append(("group" if benchmark.crossed_groups else names[0], names, by_groups(names)))
    if len(results.seeds) > 1:
        splits.append(("seed", ["seed"], lambda key: (key.seed,)))

    def cells(part: Summary) -> tuple[str, ...]:
        interval = _interval(part.metrics[headline])
        lift = number(part.metrics["lift"].value)
        return (*interval, lift, named_floor(part), *_sizes(part))

    for title, columns, by in splits:
        parts = results.split(lambda key, by=by: (*by(key), key.solver))  # type: ignore[misc]
        heads = (*columns, "solver", headline, "low", "high", "lift", "floor", "items")
        heads += ("lines", "characters")
        rows = _rows(parts, columns, cells)
        tables.append(Table(f"{benchmark.name}: {headline} by {title}", heads, rows))
    kinds = tuple(
        (solver, *row)
        for solver in results.solvers
        for row in kind_table("", results.by_solver[solver].kinds).rows
    )
    heads = ("solver", "kind", "count", "share", "which")
    return [*tables, Table(f"{benchmark.name}: kinds of answers", heads, kinds)]


def by_groups(names: Sequence[str]) -> By:
    """A function from a key to its values of these groups."""
    return lambda key: tuple(map(key.group, names))


def _rows(
    parts: Mapping[tuple[Any, ...], Summary],
    columns: Sequence[str],
    cells: Callable[[Summary], tuple[str, ...]],
) -> tuple[tuple[str, ...], ...]:
    """A row for each part, sorted by its values; settings keep the order of the run."""
    order = list(parts) if list(columns) == ["setting"] else sorted(parts, key=_sorting_key)
    return tuple(
        (*("-" if value is None else str(value) for value in values), *cells(parts[values]))
        for values in order
    )


def _sorting_key(values: tuple[Any, ...]) -> list[tuple[bool, bool, Any]]:
    """Numbers before texts before missing values."""
    return [(value is None, isinstance(value, str), value) for value in values]


def _interval(estimate: Estimate) -> tuple[str, str, str]:
    return number(estimate.value), number(estimate.low, "-"), number(estimate.high, "-")


def _sizes(part: Summary) -> tuple[str, str, str]:
    """Items, and the mean lines and characters of a prompt."""
    return str(part.items), f"{part.prompt_lines:.0f}", f"{part.prompt_chars:.0f}"


def kind_table(title: str, counts: Mapping[str, int]) -> Table:
    """Kinds of answers, the commonest first, each with its commonest details such as hops."""
    details: dict[str, Counter[str]] = defaultdict(Counter)
    for full, count in counts.items():
        kind, _, detail = full.partition(":")
        if detail:
            details[kind][detail] += count
    total = sum(counts.values())
    rows = tuple(
        (
            kind,
            str(count),
            f"{count / total:.3f}",
            ", ".join(f"{name}: {times}" for name, times in details[kind].most_common(MAX_DETAILS)),
        )
        for kind, count in count_kinds(counts).most_common()
    )
    return Table(title, ("kind", "count", "share", "which"), rows)


def count_kinds(counts: Mapping[str, int]) -> Counter[str]:
    """Answers by kind, without the detail after the colon."""
    kinds: Counter[str] = Counter()
    for full, count in counts.items():
        kinds[full.partition(":")[0]] += count
    return kinds
