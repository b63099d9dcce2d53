"""Writes report.html, a page that loads nothing from elsewhere, results.md and plots/."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from trivium import __version__
from trivium.benchmarks import benchmark_names
from trivium.core.files import write_file
from trivium.core.records import MANIFEST, PARTICIPANTS, TOKENS, read_manifest
from trivium.core.results import Summary
from trivium.core.spec import read_mapping
from trivium.core.streams import DEFAULT_SEED
from trivium.evaluation.cost import Price, Prices, money, spent
from trivium.evaluation.index import REPORT
from trivium.evaluation.plan import DERIVED
from trivium.report.answer import (
    RULE,
    Effect,
    Grid,
    compared_items,
    effect_sentences,
    grid,
    ranking,
    switch_effects,
)
from trivium.report.charts import Charts, charted_solvers, score_over_tokens, series_styles
from trivium.report.compare import loss_tables
from trivium.report.experiments import experiment_section
from trivium.report.item_browser import MAX_CHARACTERS, browser_items
from trivium.report.overview import SettingTable, card, overview
from trivium.report.plot import REFERENCES, Chart, SeriesStyle, number_text
from trivium.report.results import BenchmarkResults, read_results, record_files, studied_solvers
from trivium.report.tables import (
    Table,
    count_kinds,
    every_metric,
    markdown_text,
    pooled,
    result_table,
    solver_table,
    split_tables,
    token_text,
    total_tokens,
    unanswered,
)
from trivium.report.templates import chart_svg, render_page
from trivium.report.thresholds import ThresholdSection, threshold_sections

MARKDOWN, PLOTS = "results.md", "plots"
KINDS = {  # of runs: as the manifest has them, and as the page calls them
    "sweep": "sweep",
    "diag": "diagnosis",
    "run": "main run",
    "threshold": "threshold",
    "people": "experiment",
}
MAX_ROWS = 1000  # of a table
MAX_KIND_ROWS = 8  # of the figure of kinds of answers; rarer kinds are left out
EXAMPLE = "openai/gpt-4.1-mini"  # in the command that adds a model


@dataclass(frozen=True)
class Section:
    """One benchmark on the page."""

    results: BenchmarkResults
    legend: Sequence[str]  # the solvers with marks
    grid: Grid | None
    charts: Sequence[Chart]
    kinds: Sequence[tuple[str, Sequence[float]]]  # with shares of the solvers in the legend
    effects: Sequence[Effect]
    overview: Sequence[SettingTable]
    tables: Sequence[Table]

    @property
    def lines(self) -> list[str]:
        """The reference lines in its charts."""
        drawn = {name for chart in self.charts for name in chart.lines}
        return [name for name in REFERENCES if name in drawn]


@dataclass(frozen=True)
class ReportedRun:
    """A folder of records with its manifest."""

    folder: Path
    manifest: Mapping[str, Any]
    label: str | None
    results: Sequence[BenchmarkResults]
    date: str

    @property
    def title(self) -> str:
        """The title of the page."""
        kind = KINDS.get(str(self.manifest.get("kind")), "evaluation")
        if kind == "main run" and not self.label:
            return "Trivium: main run"
        about = self.label or ", ".join(results.benchmark.name for results in self.results)
        return f"Trivium {kind}: {about}"

    @cached_property
    def styles(self) -> dict[str, SeriesStyle]:
        """The style of every solver."""
        return series_styles(self.results)

    @cached_property
    def manifests(self) -> dict[Path, Mapping[str, Any]]:
        """The manifest of every run in the folder, by its own folder."""
        return {path.parent: read_mapping(path) for path in sorted(self.folder.rglob(MANIFEST))}

    @cached_property
    def thresholds(self) -> list[ThresholdSection]:
        """What searches for thresholds found."""
        folders = [
            folder
            for folder, found in self.manifests.items()
            if found.get("kind") == "threshold" or found.get("adaptive")
        ]
        return threshold_sections(folders, self.styles) if folders else []

    @cached_property
    def sections(self) -> list[Section]:
        """What the page says about every benchmark."""
        return [self._section(results) for results in self.results]

    def _section(self, results: BenchmarkResults) -> Section:
        several = len(self.results) > 1 and len(results.settings) > 1 and results.shows_failures
        legend, split = charted_solvers(results, self.styles), results.benchmark.loss_split
        tables = [every_metric(results), *split_tables(results)]
        if split and len({view.get(split.field) for view in results.views.values()}) > 1:
            # Solvers tried items both ways: what is lost where is read from the records again.
            tables = [*loss_tables([self.folder], [results.benchmark.name]), *tables]
        return Section(
            results,
            legend,
            grid([results], self.styles, of_section=True) if several else None,
            Charts(results, self.styles).all(),
            kind_shares(results, legend) if results.shows_failures else (),
            switch_effects(results, self.styles) if results.scores else (),
            overview(results, self.styles),
            tables,
        )


def kind_shares(results: BenchmarkResults, solvers: Iterable[str]) -> list[tuple[str, list[float]]]:
    """The shares of the commonest kinds of answers of these solvers, right ones first."""
    counts = [count_kinds(results.by_solver[solver].kinds) for solver in solvers]
    totals: Counter[str] = Counter()
    for counted in counts:
        totals.update({kind: count / counted.total() for kind, count in counted.items()})
    kinds = sorted(totals, key=lambda kind: (kind != "right", -totals[kind]))[:MAX_KIND_ROWS]
    return [(kind, [counted[kind] / counted.total() for counted in counts]) for kind in kinds]


def write_report(
    source: Path | ReportedRun,
    label: str | None = None,
    prices: Prices | None = None,
    max_characters: int = MAX_CHARACTERS,
) -> Path:
    """The path of report.html, written last, after plots/ and results.md.

    `max_characters` limits the texts in its item browser.
    """
    run = source if isinstance(source, ReportedRun) else read_run(source, label)
    _save_charts(run, run.folder / PLOTS)
    write_file(run.folder / MARKDOWN, results_markdown(run))
    write_file(run.folder / REPORT, page(run, prices or Prices(), max_characters))
    return run.folder / REPORT


def write_plots(folder: Path, label: str | None = None, out: Path | None = None) -> list[Path]:
    """The paths of a run's charts, which are drawn again."""
    return _save_charts(read_run(folder, label), out or folder / PLOTS)


def _save_charts(run: ReportedRun, folder: Path) -> list[Path]:
    groups = [*(found.charts for found in run.thresholds), *(one.charts for one in run.sections)]
    drawn = [chart for group in groups for chart in group if chart.panels]
    charts = {folder / f"{chart.name}.svg": chart for chart in drawn}
    for path, chart in charts.items():
        write_file(path, chart_svg(chart, run.styles, run.label))
    return list(charts)


def read_run(folder: Path, label: str | None = None) -> ReportedRun:
    """The results in a folder of records, for `write_report`."""
    manifest = read_manifest(folder)
    order = manifest.get("settings") or ()
    results = read_results([folder], manifest.get("kind"), order)
    ordered = [results[name] for name in benchmark_names() if name in results]
    newest = max(path.stat().st_mtime for path in record_files([folder]))
    date = time.strftime("%Y-%m-%d", time.gmtime(newest))
    return ReportedRun(folder, manifest, label or manifest.get("label"), ordered, date)


def results_markdown(run: ReportedRun) -> str:
    """The text of results.md: tables and charts that can be pasted anywhere."""
    parts = [f"# {markdown_text(run.title)}"]
    parts.append(
        f"Made by Trivium {__version__}, seed {seeds_text(run.results) or 'unknown'}. The page "
        f"beside it, {REPORT}, has every table."
    )
    for section in run.sections:
        results, benchmark = section.results, section.results.benchmark
        summaries = results.split(lambda key: (key.setting, key.solver))
        rows = [(setting, part) for (setting, _), part in summaries.items()]
        rows.sort(key=lambda row, order=results.settings: order.index(row[0]))  # type: ignore[misc]
        table = result_table(benchmark, rows)
        parts += [f"## {benchmark.name}", f"{markdown_text(benchmark.title.capitalize())}."]
        notes = (f"{line[:1].upper()}{line[1:]}." for line in table.note.split("\n"))
        parts += [table.markdown(), markdown_text(" ".join(notes))]
        parts += [f"### Every metric{pooled(results.settings)}", solver_table(results).markdown()]
        for chart in section.charts:
            label = " ".join([f"{chart.title}.", chart.about, chart.words]).strip()
            parts.append(f"![{markdown_text(label)}]({PLOTS}/{chart.name}.svg)")
    return "\n\n".join(parts) + "\n"


def page(run: ReportedRun, prices: Prices, max_characters: int) -> str:
    """The text of report.html; the template escapes every value."""
    models = studied_solvers(run.results, run.styles)
    names = {model: model.partition(" in ")[0] for model in models}  # without its folder
    of_models = prices.of(list(names.values())) if models else {}
    known = {model: of_models[name] for model, name in names.items() if name in of_models}
    cards = [] if models or run.thresholds else [card(results) for results in run.results]
    again = run.manifest.get("kind") in ("sweep", "diag") and "command" in run.manifest
    return render_page(
        "page.html.j2",
        run=run,
        facts=facts(run.results, models, known, run.date),
        grid=grid(run.results, run.styles),
        ranks=ranking(run.results),
        ranking_rule=RULE,
        # The items of a search are chosen by its solver's answers, so a pooled score says little.
        is_search=bool(run.thresholds),
        cards=cards,
        # The shortest prompt is the easiest to take in.
        sample=min(cards, key=lambda one: len(one.prompt), default=None),
        same_items=again,
        add_model=f"{run.manifest['command'] if again else 'trivium run'} --model {EXAMPLE}",
        effects={
            section.results.benchmark.name: effect_sentences(section.effects)
            for section in run.sections
            if section.effects
        },
        compared_items=compared_items,
        has_models=bool(models),
        rules=dict.fromkeys(results.benchmark.headline_rule for results in run.results),
        experiments=[
            experiment_section(found, run.folder)
            for found in run.manifests.values()
            if found.get("kind") == "people" and "analysis" in found
        ],
        usage=usage_table(run.results, models, known),
        token_chart=score_over_tokens(run.results, run.styles),
        max_rows=MAX_ROWS,
        items=browser_items(run.results, max_characters),
        attempts=sum(results.records for results in run.results),
        seeds=seeds_text(run.results),
        versions=[_version(results) for results in run.results],
        command=run.manifest.get("command"),
        # The config file that reproduces a sweep.
        config="".join(
            f"{key} = {json.dumps(value)}\n"
            for key, value in run.manifest.items()
            if run.manifest.get("kind") == "sweep" and key not in DERIVED
        ),
    )


def usage_table(
    all_results: Sequence[BenchmarkResults], models: Iterable[str], prices: Mapping[str, Price]
) -> list[tuple[str, ...]]:
    """The usage of every model over all benchmarks; empty where no solver is a model."""
    rows: list[dict[str, str]] = []
    latency = "median latency, by benchmark" if len(all_results) > 1 else "median latency"
    for model in models:
        parts = [results.by_solver[model] for results in all_results if model in results.by_solver]
        if not any(part.tokens for part in parts):
            continue
        sent, received, reasoning = (total_tokens(parts, name) for name in TOKENS)
        rows.append(
            {
                "model": model,
                "attempts": f"{sum(sum(part.kinds.values()) for part in parts):,}",
                **{name: f"{count:,}" for name, count in unanswered(parts).items()},
                "input tokens": token_text(sent),
                "output tokens": token_text(received),
                "of them reasoning": token_text(reasoning),
                "cost, in the prices' currency": (
                    money(spent(parts, prices)) if model in prices else ""
                ),
                latency: seconds_text(parts),
            }
        )
    # Columns that hold nothing are left out.
    heads = [name for name in rows[0] if {row[name] for row in rows} - {"", "0"}] if rows else []
    return [tuple(heads), *(tuple(row[name] for name in heads) for row in rows)] if rows else []


def seconds_text(summaries: Sequence[Summary]) -> str:
    """The median latency, or the range of several."""
    seconds = [part.median_seconds for part in summaries if part.median_seconds is not None]
    if not seconds:
        return ""
    low, high = (f"{value:.2g}" for value in (min(seconds), max(seconds)))
    return f"{low} s" if low == high else f"{low} to {high} s"


def facts(
    all_results: Sequence[BenchmarkResults],
    models: Sequence[str],
    prices: Mapping[str, Price],
    date: str,
) -> dict[str, str]:
    """What the header says about the run, without empty entries."""
    summaries = [results.by_solver[name] for results in all_results for name in results.models]
    asked = [part for part in summaries if part.tokens]
    priced = [part for part in asked if part.solver in prices]
    tokens = [
        number_text(count.total) if count.reported else "not reported"
        for count in (total_tokens(asked, name) for name in TOKENS[:2])
    ]
    items = sum(max(part.items for part in results.by_solver.values()) for results in all_results)
    people = [name for name in models if name in PARTICIPANTS.values()]
    others = [name for name in models if name not in people]
    found = {
        "participants": ", ".join(people),
        "models": ", ".join(others) if len(others) <= 4 else f"{len(others)}",
        "date": date,
        "items": f"{items:,}",
        "attempts": f"{sum(results.records for results in all_results):,}",
        **{name: f"{count:,}" for name, count in unanswered(summaries).items() if count},
        "tokens in, out": " / ".join(tokens) if asked else "",
        "cost, in the prices' currency": money(spent(priced, prices)) if priced else "",
        "seed": seeds_text(all_results),
    }
    return {name: value for name, value in found.items() if value}


def seeds_text(all_results: Sequence[BenchmarkResults]) -> str:
    """The seeds of a run, and which of them is public."""
    seeds = sorted({seed for results in all_results for seed in results.seeds})
    return ", ".join(
        f"{seed} (the public default)" if seed == DEFAULT_SEED else str(seed) for seed in seeds
    )


def _version(results: BenchmarkResults) -> str:
    """The version of a benchmark, and the digest of its items where all solvers have the same."""
    digests = {summary.digest for summary in results.by_solver.values()}
    items = f" (items {digests.pop()})" if len(digests) == 1 and digests != {""} else ""
    return f"{results.benchmark.name} {', '.join(sorted(results.versions))}{items}"
