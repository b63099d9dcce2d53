"""Tables of results, for the terminal, the page and Markdown."""

from __future__ import annotations

import math
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from trivium.benchmarks import get_benchmark
from trivium.core.benchmark import AnyBenchmark
from trivium.core.records import CUT_OFF, DECLINED, FAILED, TOKENS
from trivium.core.results import Summary, TokenCount
from trivium.core.statistics import Estimate
from trivium.report.results import ROLES, STUDIED, BenchmarkResults, GroupKey, natural, role_of

WIDTH = 160  # of output to a file or a pipe
# What is set to the right: a number, with an interval or a bracket behind it, or none.
FIGURE = re.compile(r"(?:[-+]?\d[\d.,%]*(?:$| of |\.\.| \[| \(|/\d).*|undefined|inf|-)?$")
MAX_DETAILS = 8  # hops, chains and the like named for one kind of answer
# Attempts without an answer that could be scored, and what they are called in tables.
UNANSWERED = {FAILED: "failed", CUT_OFF: "cut off", DECLINED: "declined"}
By = Callable[[GroupKey], tuple[Any, ...]]
Parts = Mapping[tuple[Any, ...], Summary]
Named = Sequence[tuple[str, Summary]]  # summaries with their settings


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
    note: str = ""  # what a reader has to know besides

    def show(self, console: Console) -> None:
        """Print it; no text is cut off, and texts from records are never read as markup."""
        console.print(Text(self.title, style="bold"))
        table = RichTable(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
        for heading, *cells in zip(self.columns, *self.rows, strict=True):
            figures = any(cells) and all(map(FIGURE.match, cells))
            justify = "right" if figures else "left"
            table.add_column(Text(heading), justify=justify, overflow="fold")  # type: ignore[arg-type]
        for row in self.rows:
            table.add_row(*map(Text, row))
        console.print(table)
        console.print(Text(f"{self.note}\n" if self.note else ""))

    def markdown(self) -> str:
        """The table in Markdown, without its title."""
        lines = [self.columns, ["---"] * len(self.columns), *self.rows]
        return "\n".join(f"| {' | '.join(map(markdown_text, line))} |" for line in lines)


def markdown_text(text: str) -> str:
    """One line of text with everything escaped that Markdown or HTML would read as markup."""
    line = " ".join(text.split())
    links = r"\[\]" if re.search(r"\]\s*[(\[:]", line) else ""  # an interval's brackets stay
    return re.sub(rf"[&<>|`{links}\\]", lambda mark: f"&#{ord(mark[0])};", line)


def result_table(benchmark: AnyBenchmark, named: Named) -> Table:
    """A row for each setting and solver: the headline metric, lift, floor, items, failures.

    Within a setting, which is named once, models come first, and better ones before worse ones.
    """
    metric = benchmark.metrics[0].name
    kinds = [kind for kind in UNANSWERED if any(kind in summary.kinds for _, summary in named)]
    rows: list[tuple[str, ...]] = []
    for setting, own in _by_setting(benchmark, named).items():
        for place, summary in enumerate(own):
            rows.append(
                (
                    "" if place else setting,
                    solver_name(benchmark, summary.solver),
                    str(summary.metrics[metric]),
                    number(summary.metrics["lift"].value),
                    f"{summary.floor:.3f}",
                    scored_items(summary, metric),
                    *(str(summary.kinds.get(kind, 0)) for kind in kinds),
                    *([bounds(summary)] if {CUT_OFF, DECLINED} & set(kinds) else []),
                )
            )
    heads: tuple[str, ...] = ("setting", "solver", f"{metric} [95%]", "lift", "floor", "items")
    heads += tuple(UNANSWERED[kind] for kind in kinds)
    heads += ("if those were wrong..right",) if {CUT_OFF, DECLINED} & set(kinds) else ()
    names = {summary.floor_name for _, summary in named}
    only = f" ({names.pop()})" if len(names) == 1 and names != {""} else ""
    note = f"floor: the best score without reading the item{only}"
    return Table(f"{benchmark.name}: {benchmark.title}", heads, tuple(rows), note)


def _by_setting(benchmark: AnyBenchmark, named: Named) -> dict[str, list[Summary]]:
    """The summaries of every setting, ranked."""
    settings = dict.fromkeys(name for name, _ in named)
    return {
        setting: ranked(benchmark, [summary for name, summary in named if name == setting])
        for setting in settings
    }


def solver_name(benchmark: AnyBenchmark, solver: str) -> str:
    """The name of a solver, and its role if it is built in."""
    role = role_of(benchmark, solver)
    return solver if role in STUDIED else f"{solver} ({role})"


def ranked(benchmark: AnyBenchmark, summaries: Sequence[Summary]) -> list[Summary]:
    """People and models before built-in solvers, the better before the worse."""
    headline = benchmark.metrics[0].name

    def place(summary: Summary) -> tuple[bool, float, int]:
        value = summary.metrics[headline].value
        role = role_of(benchmark, summary.solver)
        return role not in STUDIED, math.inf if value is None else -value, ROLES.index(role)

    return sorted(summaries, key=place)


def condensed(benchmark: AnyBenchmark, named: Named) -> list[tuple[str, Summary]]:
    """Of each setting the models, the best shortcut and the best of the ceiling."""
    kept: list[tuple[str, Summary]] = []
    for setting, own in _by_setting(benchmark, named).items():
        seen: set[str] = set()
        for summary in own:
            role = role_of(benchmark, summary.solver)
            if role in STUDIED or (role in ("shortcut", "ceiling") and role not in seen):
                kept.append((setting, summary))
            seen.add(role)
    return kept


def named_floor(summary: Summary) -> str:
    """The floor and the strategy that reaches it."""
    return f"{summary.floor:.3f}" + (f" ({summary.floor_name})" if summary.floor_name else "")


def metric_table(summary: Summary) -> Table:
    """Every metric of one summary and its meaning, between floor and ceiling."""
    benchmark = get_benchmark(summary.benchmark)
    rows = [
        (name, str(estimate), str(estimate.n), metric_meaning(benchmark, name))
        for place, (name, estimate) in enumerate(summary.metrics.items())
        if estimate.n or place == 0
    ]
    title = (
        f"{summary.benchmark}, {summary.solver}: {summary.items} items, {summary.answered} "
        f"answered, {summary.no_answers} without an answer, {summary.failed} failed"
    )
    if summary.cut_offs:
        title += f", {summary.cut_offs} cut off"
    if summary.declined:
        title += f", {summary.declined} declined"
    if summary.bounds is not None:
        title += f" ({bounds(summary)} with those wrong and right)"
    note = f"floor {named_floor(summary)}, ceiling {summary.ceiling:.3f}"
    note += f"\n{token_line([summary])}" if summary.tokens else ""
    return Table(title, ("metric", "value [95%]", "n", "meaning"), tuple(rows), note)


def metric_meaning(benchmark: AnyBenchmark, name: str) -> str:
    """What a metric of a summary means, in a line."""
    lift = {"lift": "the headline metric: 0 at the floor, 1 at the ceiling"}
    return ({metric.name: metric.about for metric in benchmark.metrics} | lift).get(name, "")


def token_line(summaries: Sequence[Summary]) -> str:
    """The tokens that models took, and of how many attempts they were not reported."""
    totals = {name: total_tokens(summaries, name) for name in TOKENS}
    if not any(total.reported for total in totals.values()):
        return "tokens: not reported"
    parts = (f"{name.removesuffix('_tokens')} {token_text(totals[name])}" for name in TOKENS)
    return f"tokens: {', '.join(parts)}"


def total_tokens(summaries: Sequence[Summary], name: str) -> TokenCount:
    """Tokens of one kind over several summaries; programs have none."""
    counts = [one.tokens[name] for one in summaries if one.tokens]
    return TokenCount(*map(sum, zip(*counts, strict=True))) if counts else TokenCount(0, 0, 0)


def token_text(count: TokenCount) -> str:
    """A number of tokens, with the attempts that it leaves out."""
    if not count.reported:
        return "not reported"
    missing = f" ({count.not_reported:,} attempts not reported)" if count.not_reported else ""
    return f"{count.total:,}{missing}"


def bounds(summary: Summary) -> str:
    """The headline metric with every attempt cut off or declined as wrong, and as right."""
    return "-" if summary.bounds is None else "..".join(map(number, summary.bounds))


def scored_items(summary: Summary, metric: str) -> str:
    """The number of items with this metric; "7 of 10" if some could not be scored."""
    scored = summary.metrics[metric].n
    return f"{scored:,}" if scored == summary.items else f"{scored:,} of {summary.items:,}"


def number(value: float | None, missing: str = "undefined") -> str:
    """A value with three decimals."""
    return missing if value is None else f"{value:.3f}"


def _splits(results: BenchmarkResults) -> list[tuple[list[str], By]]:
    """How results are split into tables: by groups, together or each, and by seed."""
    splits: list[tuple[list[str], By]] = []
    for names in results.groupings:
        splits.append((names, lambda key, names=names: tuple(map(key.group, names))))  # type: ignore[misc]
    if len(results.seeds) > 1:
        splits.append((["seed"], lambda key: (key.seed,)))
    return splits


def analysis_tables(results: BenchmarkResults) -> list[Table]:
    """What `analyze` prints for each solver: metrics, groups, seeds and kinds of answers."""
    benchmark = results.benchmark
    tables: list[Table] = []
    for solver in results.solvers:
        summary = results.by_solver[solver]
        own = [metric_table(summary)]
        own += [_solver_table(results, solver, names, by) for names, by in _splits(results)]
        own.append(kind_table(benchmark, f"{solver}: kinds of answers", summary.kinds))
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
        value, lift = part.metrics[headline], part.metrics["lift"].value
        return (str(value), number(lift), *_sizes(part, headline))

    parts = results.split(lambda key: by(key) if key.solver == solver else None)
    title = f"{results.benchmark.name}, {solver}: by {', '.join(columns)}"
    heads = (*columns, f"{headline} [95%]", "lift", "items", "lines", "characters")
    return Table(title, heads, _rows(parts, columns, cells))


def page_tables(results: BenchmarkResults) -> list[Table]:
    """The tables of the page; solvers are in a column, so that sorting compares them."""
    benchmark = results.benchmark
    headline = benchmark.metrics[0].name
    metric_rows = tuple(
        (solver, metric, *_interval(estimate), str(estimate.n), metric_meaning(benchmark, metric))
        for solver in results.solvers
        for metric, estimate in results.by_solver[solver].metrics.items()
        if estimate.value is not None
    )
    heads: tuple[str, ...] = ("solver", "metric", "value", "low", "high", "n", "meaning")
    tables = [Table(f"{benchmark.name}: every metric", heads, metric_rows)]

    def cells(part: Summary) -> tuple[str, ...]:
        interval = _interval(part.metrics[headline])
        lift = number(part.metrics["lift"].value)
        return (*interval, lift, named_floor(part), *_sizes(part, headline))

    splits = _splits(results)
    if len(results.settings) > 1:
        splits.insert(0, (["setting"], lambda key: (key.setting,)))
    for columns, by in splits:
        grouped = columns not in (["setting"], ["seed"])
        if grouped and not results.varying_groups:
            continue
        title = columns[0] if len(columns) == 1 else "group"
        parts = results.split(lambda key, by=by: (*by(key), key.solver))  # type: ignore[misc]
        heads = (*columns, "solver", headline, "low", "high", "lift", "floor", "items")
        heads += ("lines", "characters")
        rows = _rows(parts, columns, cells)
        tables.append(Table(f"{benchmark.name}: {headline} by {title}", heads, rows))
        if grouped:
            tables += _other_metrics(results, title, columns, parts)
    kinds = {solver: results.by_solver[solver].kinds for solver in results.solvers}
    rows = tuple(
        (solver, *row)
        for solver, counts in kinds.items()
        for row in kind_table(benchmark, "", counts).rows
    )
    heads = ("solver", "kind", "count", "share", "which", "meaning")
    return [*tables, Table(f"{benchmark.name}: kinds of answers", heads, rows)]


def _other_metrics(
    results: BenchmarkResults, title: str, columns: Sequence[str], parts: Parts
) -> list[Table]:
    """Every metric but the headline, which has a table of its own, by the values of a group."""
    names = [metric.name for metric in results.benchmark.metrics[1:]]
    names = [name for name in names if any(part.metrics[name].n for part in parts.values())]

    def cells(part: Summary) -> tuple[str, ...]:
        return tuple(str(part.metrics[name]) for name in names)

    heads = (*columns, "solver", *(f"{name} [95%]" for name in names))
    rows = _rows(parts, columns, cells)
    table = Table(f"{results.benchmark.name}: other metrics by {title}", heads, rows)
    return [table] if names else []


def _rows(
    parts: Parts, columns: Sequence[str], cells: Callable[[Summary], tuple[str, ...]]
) -> tuple[tuple[str, ...], ...]:
    """A row for each part, sorted by its values; settings keep the order of the run."""
    order = list(parts) if list(columns) == ["setting"] else sorted(parts, key=natural)
    return tuple(
        (*("-" if value is None else str(value) for value in values), *cells(parts[values]))
        for values in order
    )


def _interval(estimate: Estimate) -> tuple[str, str, str]:
    return number(estimate.value), number(estimate.low, "-"), number(estimate.high, "-")


def _sizes(part: Summary, metric: str) -> tuple[str, str, str]:
    """The items behind a figure, and the mean lines and characters of a prompt."""
    return scored_items(part, metric), f"{part.prompt_lines:.0f}", f"{part.prompt_chars:.0f}"


def kind_table(benchmark: AnyBenchmark, title: str, counts: Mapping[str, int]) -> Table:
    """Kinds of answers, the commonest first, with their commonest details and their meaning."""
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
            benchmark.kinds.get(kind, ""),
        )
        for kind, count in count_kinds(counts).most_common()
    )
    heads = ("kind", "count", "share", "which", "meaning")
    return Table(f"{benchmark.name}, {title}", heads, rows)


def count_kinds(counts: Mapping[str, int]) -> Counter[str]:
    """Answers by kind, without the detail after the colon."""
    kinds: Counter[str] = Counter()
    for full, count in counts.items():
        kinds[full.partition(":")[0]] += count
    return kinds
