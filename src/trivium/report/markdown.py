"""results.md: the results of a run in a few tables that can be pasted anywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trivium import __version__
from trivium.evaluation.index import REPORT
from trivium.report.plot import Chart
from trivium.report.results import BenchmarkResults
from trivium.report.sections import seeds_text
from trivium.report.tables import (
    Table,
    count_kinds,
    markdown_text,
    number,
    ranked,
    result_table,
    solver_name,
)

MARKDOWN, PLOTS = "results.md", "plots"
MAX_KINDS = 5  # kinds of answers named for a solver


def results_markdown(
    title: str,
    results: Sequence[BenchmarkResults],
    charts: Mapping[str, Sequence[Chart]],
) -> str:
    """The text of results.md; charts are by benchmark."""
    parts = [f"# {markdown_text(title)}"]
    seeds = seeds_text(sorted({seed for own in results for seed in own.seeds}))
    parts.append(
        f"Made by Trivium {__version__}, seed {seeds or 'unknown'}. The page beside it, {REPORT}, "
        "has every table."
    )
    for own in results:
        benchmark = own.benchmark
        by_setting = own.split(lambda key: (key.setting, key.solver))
        rows = [
            (setting, part)
            for setting in own.settings
            for (name, _), part in by_setting.items()
            if name == setting
        ]
        parts += [f"## {benchmark.name}", f"{markdown_text(benchmark.title.capitalize())}."]
        table = result_table(benchmark, rows)
        parts += [table.markdown(), f"{markdown_text(table.note.capitalize())}."]
        together = "" if len(own.settings) == 1 else ", all settings together"
        parts += [f"### Every metric{together}", solver_table(own).markdown()]
        for chart in charts.get(benchmark.name, ()):
            label = " ".join([f"{chart.title}.", chart.about, chart.words]).strip()
            parts.append(f"![{markdown_text(label)}]({PLOTS}/{chart.name}.svg)")
    return "\n\n".join(parts) + "\n"


def solver_table(results: BenchmarkResults) -> Table:
    """A row for each solver: every metric, and the commonest kinds of its answers."""
    benchmark = results.benchmark
    parts = ranked(benchmark, list(results.by_solver.values()))
    metrics = [name for name in parts[0].metrics if any(part.metrics[name].n for part in parts)]
    rows = []
    for part in parts:
        total = max(1, sum(part.kinds.values()))
        kinds = count_kinds(part.kinds).most_common(MAX_KINDS)
        said = ", ".join(f"{kind} {count / total:.0%}" for kind, count in kinds)
        values = (number(part.metrics[name].value, "-") for name in metrics)
        rows.append((solver_name(benchmark, part.solver), *values, said))
    return Table(benchmark.name, ("solver", *metrics, "kinds of answers"), tuple(rows))
