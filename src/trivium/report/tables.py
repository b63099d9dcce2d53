"""Tables of results, for the terminal, the page and Markdown."""

from __future__ import annotations

import math
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

import orjson
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from trivium.benchmarks import get_benchmark
from trivium.core.benchmark import UPPER_BOUND, AnyBenchmark
from trivium.core.records import CUT_OFF, DECLINED, FAILED, MANIFEST, RECORDS, TOKENS, UNSCORED
from trivium.core.results import Summary, TokenCount
from trivium.core.text import clean, one_line
from trivium.report.results import ROLES, STUDIED, BenchmarkResults, natural, role_of

WIDTH = 160  # of output to a file or a pipe
# What is set to the right: a number, with an interval or a bracket behind it, or none.
FIGURE = re.compile(r"(?:[-+]?\d[\d.,%]*(?:$| of |\.\.| \[| \(|/\d).*|undefined|inf|-)?$")
MAX_DETAILS = 8  # hops, chains and the like named for one kind of answer
MAX_KINDS = 5  # kinds of answers named for a solver
# Attempts without an answer that could be scored, and what they are called in tables.
UNANSWERED = {FAILED: "failed", CUT_OFF: "cut off", DECLINED: "declined"}
OTHER_METRICS = {
    "lift": "the headline metric: 0 at the floor, 1 at the ceiling",
    "answered_alike": "items whose answer was the same in all trials",
    "largest_order_difference": "of the headline metric, between two of n orders of presentation",
    "variance_of_repeats": "of the headline metric, between repeats of one prompt: chance",
    "variance_of_orders": "the same between orders of one item, less what chance explains",
}
Figures = Mapping[str, Callable[[Summary], str]]  # of a summary, by the heads of their columns
Named = Sequence[tuple[str, Summary]]  # summaries with their settings


class _Terminal(Console):
    """A console that raises when its pipe is closed, where rich would exit."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def terminal() -> Console:
    """Standard output, as wide as the window or 160 columns without one."""
    return _Terminal(width=None if sys.stdout.isatty() else WIDTH, highlight=False)


def say(text: str, *, stderr: bool = False) -> None:
    """Print a line, broken between words where the window is too narrow for it."""
    console = _Terminal(stderr=stderr, highlight=False)
    console.print(Text(clean(text)), soft_wrap=not console.is_terminal)


def say_left_out(paths: Iterable[Path]) -> None:
    """Name the runs in these folders that have no records, if there are some."""
    runs = sorted({file.parent for path in paths for file in path.rglob(MANIFEST)})
    names = [str(run) for run in runs if not any(one.stat().st_size for one in run.rglob(RECORDS))]
    if names:
        say(f"left out, as {RECORDS} is missing or empty: {one_line(', '.join(names))}")


def print_json(value: Any) -> None:
    """Print a value for other programs: one JSON document on standard output."""
    print(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS).decode())


@dataclass(frozen=True)
class Table:
    """A title, column names and rows of text."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""  # printed below the table

    def __post_init__(self) -> None:
        for name in ("title", "columns", "rows", "note"):
            object.__setattr__(self, name, _cleaned(getattr(self, name)))

    def show(self, console: Console) -> None:
        """Print it; no text is cut off, and texts from records are never read as markup."""
        fitted, bold = self.fitted(console.width), "" if "NO_COLOR" in os.environ else "bold"
        console.print(Text(fitted.title, style=bold))
        table = RichTable(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style=bold)
        table.padding = (0, 1, 0, 0)
        for heading, *cells in zip(fitted.columns, *fitted.rows, strict=True):
            figures = any(cells) and all(map(FIGURE.match, cells))
            justify = "right" if figures else "left"
            table.add_column(Text(heading), justify=justify, overflow="fold")  # type: ignore[arg-type]
        for row in fitted.rows:
            table.add_row(*map(Text, row))
        console.print(table)
        console.print(Text(f"{fitted.note}\n" if fitted.note else ""))

    def fitted(self, width: int) -> Table:
        """The table without columns whose cells are all equal, where it is too wide with them."""
        columns, notes = list(zip(self.columns, *self.rows, strict=True)), [self.note]
        for column in columns[::-1]:
            if sum(max(map(len, one)) + 2 for one in columns) <= width + 2:
                break
            head, *cells = column
            if len(cells) > 1 and len(set(cells)) == 1:
                columns.remove(column)
                notes.insert(0, f"{head} {cells[0] or 'none'} in every row")
        heads = tuple(head for head, *_ in columns)
        rows = tuple(zip(*(cells for _, *cells in columns), strict=True))
        return Table(self.title, heads, rows, "\n".join(filter(None, notes)))

    def html(self) -> str:
        """The table in HTML, for notebooks."""
        heads = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        rows = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in self.rows)
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        table = f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
        return f"<p><b>{escape(self.title)}</b></p>{table}<p>{escape(self.note)}</p>"

    def markdown(self) -> str:
        """The table in Markdown, without its title."""
        lines = [self.columns, ["---"] * len(self.columns), *self.rows]
        return "\n".join(f"| {' | '.join(map(markdown_text, line))} |" for line in lines)


def _cleaned(value: Any) -> Any:
    """A text, or tuples of texts, without what would control a terminal."""
    return clean(value) if isinstance(value, str) else tuple(map(_cleaned, value))


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
    figures: dict[str, Callable[[Summary], str]] = {
        f"{metric} [95%]": lambda part: str(part.metrics[metric]),
        "lift": lambda part: number(part.metrics["lift"].value),
        "floor": lambda part: f"{part.floor:.3f}",
        "items": lambda part: scored_items(part, metric),
    }
    for name, count in unanswered(summary for _, summary in named).items():
        if count:
            figures[name] = lambda part, name=name: str(unanswered([part])[name])  # type: ignore[misc]
    if any(summary.bounds for _, summary in named):
        figures["if those were wrong..right"] = bounds
    rows = [
        (
            "" if place else setting,
            solver_name(benchmark, summary.solver),
            *(figure(summary) for figure in figures.values()),
        )
        for setting, summaries in _by_setting(benchmark, named).items()
        for place, summary in enumerate(summaries)
    ]
    names = {summary.floor_name for _, summary in named}
    only = f" ({names.pop()})" if len(names) == 1 and names != {""} else ""
    note = f"floor: the best score without reasoning about the item{only}"
    note += f"\n{left_out_sentence(named)}"
    title = f"{benchmark.name}: {benchmark.title}"
    return Table(title, ("setting", "solver", *figures), tuple(rows), note.strip())


def unanswered(summaries: Iterable[Summary]) -> dict[str, int]:
    """How many attempts have no answer that could be scored, by what tables call them."""
    counts: Counter[str] = Counter()
    for summary in summaries:
        counts.update(summary.kinds)
    return {name: counts[kind] for kind, name in UNANSWERED.items()}


def left_out_sentence(named: Named) -> str:
    """Where the share of attempts in no score differs between solvers or settings, by how much."""
    shares = {
        f"{part.solver}, {setting}" if setting else part.solver: (
            sum(part.kinds.get(kind, 0) for kind in UNSCORED) / max(1, sum(part.kinds.values()))
        )
        for setting, part in named
    }
    if len(set(shares.values())) <= 1:
        return ""
    most, least = (pick(shares, key=lambda name: shares[name]) for pick in (max, min))
    return (
        "the share of attempts in no score (declined or failed) differs: "
        f"{shares[most]:.1%} for {most}, {shares[least]:.1%} for {least}; "
        "these scores are of different parts of the items"
    )


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
    for setting, summaries in _by_setting(benchmark, named).items():
        seen: set[str] = set()
        for summary in summaries:
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
    title = f"{summary.benchmark}, {summary.solver}: {counted(summary.items, 'item')}, "
    title += f"{summary.answered} answered, {summary.no_answers} without an answer"
    for name, count in unanswered([summary]).items():
        title += f", {count} {name}" if count or name == "failed" else ""
    if summary.bounds is not None:
        title += f" ({bounds(summary)} with those cut off or declined wrong and right)"
    note = f"floor {named_floor(summary)}, ceiling {summary.ceiling:.3f}"
    note += "" if summary.ceiling_exact else f" ({UPPER_BOUND})"
    note += f"\n{token_line([summary])}" if summary.tokens else ""
    return Table(title, ("metric", "value [95%]", "n", "meaning"), tuple(rows), note)


def metric_meaning(benchmark: AnyBenchmark, name: str) -> str:
    """What a metric of a summary means, in one line."""
    meanings = {metric.name: metric.about for metric in benchmark.metrics}
    if name.startswith("majority_"):
        return "of the most frequent answer to an item; the mean of equally frequent ones"
    return (meanings | OTHER_METRICS).get(name, "")


def token_line(summaries: Sequence[Summary]) -> str:
    """The tokens that models used, and how many attempts did not report them."""
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


def counted(count: int, noun: str) -> str:
    """A number of things: "1 item" or "1,200 items"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def number(value: float | None, missing: str = "undefined", digits: int = 3) -> str:
    """A value with this many decimals, without a sign where it is rounded to 0."""
    return missing if value is None else f"{round(value, digits) + 0.0:.{digits}f}"


def analysis_tables(results: BenchmarkResults) -> list[Table]:
    """What `analyze` prints: every metric of each solver, then the tables of the page."""
    metrics = []
    for solver, summary in results.by_solver.items():
        table = metric_table(summary)
        together = pooled({key.setting for key in results.tallies if key.solver == solver})
        metrics.append(replace(table, title=table.title + together))
    return [*metrics, *split_tables(results)]


def pooled(settings: Collection[str]) -> str:
    """The end of a title that says how many settings are pooled, if there are several."""
    return f" ({len(settings)} settings together)" if len(settings) > 1 else ""


def every_metric(results: BenchmarkResults) -> Table:
    """All metrics of all solvers, one to a row."""
    rows = tuple(
        (
            *(solver, metric, number(estimate.value)),
            *(number(estimate.low, "-"), number(estimate.high, "-"), str(estimate.n)),
            metric_meaning(results.benchmark, metric),
        )
        for solver in results.solvers
        for metric, estimate in results.by_solver[solver].metrics.items()
        if estimate.value is not None
    )
    heads = ("solver", "metric", "value", "low", "high", "n", "meaning")
    return Table(f"{results.benchmark.name}: every metric{pooled(results.settings)}", heads, rows)


def split_tables(results: BenchmarkResults) -> list[Table]:
    """Metrics by setting, groups and seed, and kinds of answers; solvers are in a column."""
    benchmark, headline = results.benchmark, results.benchmark.metrics[0].name
    figures: Figures = {
        headline: lambda part: number(part.metrics[headline].value),
        "low": lambda part: number(part.metrics[headline].low, "-"),
        "high": lambda part: number(part.metrics[headline].high, "-"),
        "lift": lambda part: number(part.metrics["lift"].value),
        "floor": named_floor,
        "items": lambda part: scored_items(part, headline),
        "lines": lambda part: f"{part.prompt_lines:.0f}",
        "characters": lambda part: f"{part.prompt_chars:.0f}",
    }
    together, tables = pooled(results.settings), []
    if together:
        by_setting = results.split(lambda key: (key.setting, key.solver))
        title = f"{benchmark.name}: {headline} by setting"
        tables.append(_table(title, ("setting", "solver"), by_setting, figures))
    for names in results.groupings if results.varying_groups else []:
        parts = results.split(
            lambda key, names=names: (*map(key.group, names), key.solver)  # type: ignore[misc]
        )
        others: Figures = {
            f"{name} [95%]": lambda part, name=name: str(part.metrics[name])  # type: ignore[misc]
            for name in [metric.name for metric in benchmark.metrics[1:]]
            if any(part.metrics[name].n for part in parts.values())
        }
        by = f"by {', '.join(names)}{together}"
        for title, columns in ((headline, figures), ("other metrics", others)):
            if columns:
                heads = (*names, "solver")
                tables.append(_table(f"{benchmark.name}: {title} {by}", heads, parts, columns))
    if len(results.seeds) > 1:
        by_seed = results.split(lambda key: (key.seed, key.solver))
        title = f"{benchmark.name}: {headline} by seed{together}"
        tables.append(_table(title, ("seed", "solver"), by_seed, figures))
    return [*tables, kind_table(results)]


def _table(
    title: str, columns: Sequence[str], parts: Mapping[tuple[Any, ...], Summary], figures: Figures
) -> Table:
    """A row for each part, sorted by its values; settings keep the order of the run."""
    order = list(parts) if columns[0] == "setting" else sorted(parts, key=natural)
    rows = tuple(
        (
            *("-" if value is None else str(value) for value in values),
            *(figure(parts[values]) for figure in figures.values()),
        )
        for values in order
    )
    return Table(title, (*columns, *figures), rows)


def kind_table(results: BenchmarkResults) -> Table:
    """Kinds of answers, the commonest first, with their commonest details and their meaning."""
    rows = []
    for solver in results.solvers:
        counts = results.by_solver[solver].kinds
        for kind, count in count_kinds(counts).most_common():
            details = Counter({f: n for f, n in counts.items() if f.startswith(f"{kind}:")})
            which = (f"{f.partition(':')[2]}: {n}" for f, n in details.most_common(MAX_DETAILS))
            share, meaning = count / sum(counts.values()), results.benchmark.kinds.get(kind, "")
            rows.append((solver, kind, str(count), f"{share:.3f}", ", ".join(which), meaning))
    heads = ("solver", "kind", "count", "share", "which", "meaning")
    title = f"{results.benchmark.name}: kinds of answers{pooled(results.settings)}"
    return Table(title, heads, tuple(rows))


def count_kinds(counts: Mapping[str, int]) -> Counter[str]:
    """The number of answers of every kind, without the detail after the colon."""
    kinds: Counter[str] = Counter()
    for full, count in counts.items():
        kinds[full.partition(":")[0]] += count
    return kinds


def solver_table(results: BenchmarkResults) -> Table:
    """A row for each solver: every metric, and the commonest kinds of its answers."""
    benchmark = results.benchmark
    parts = ranked(benchmark, list(results.by_solver.values()))
    metrics = [name for name in parts[0].metrics if any(part.metrics[name].n for part in parts)]
    rows = []
    for part in parts:
        total = max(1, sum(part.kinds.values()))
        kinds = count_kinds(part.kinds).most_common(MAX_KINDS)
        kind_shares = ", ".join(f"{kind} {count / total:.0%}" for kind, count in kinds)
        values = (number(part.metrics[name].value, "-") for name in metrics)
        rows.append((solver_name(benchmark, part.solver), *values, kind_shares))
    return Table("", ("solver", *metrics, "kinds of answers"), tuple(rows))
