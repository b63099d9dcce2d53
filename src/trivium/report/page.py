"""Writes report.html, a page that loads nothing from elsewhere, results.md and plots/."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from trivium.benchmarks import benchmark_names
from trivium.core.files import atomic_write
from trivium.core.records import MANIFEST
from trivium.core.spec import read_mapping
from trivium.evaluation.index import REPORT
from trivium.evaluation.plan import DERIVED
from trivium.evaluation.prices import Prices
from trivium.report.answer import grid
from trivium.report.chart_files import save_charts
from trivium.report.charts import Charts, charted_solvers, score_over_tokens, series_styles
from trivium.report.experiments import experiment_sections
from trivium.report.item_browser import MAX_CHARACTERS, browser_items, packed
from trivium.report.loss import loss_tables
from trivium.report.markdown import MARKDOWN, PLOTS, results_markdown
from trivium.report.overview import card, overview
from trivium.report.plot import SeriesStyle
from trivium.report.ranking import RULE, ranking
from trivium.report.results import BenchmarkResults, read_results, record_files
from trivium.report.sections import (
    Section,
    effect_sentences,
    facts,
    kind_shares,
    seeds_text,
    switch_effects,
    usage_table,
)
from trivium.report.tables import Table, page_tables
from trivium.report.templates import render_page
from trivium.report.thresholds import ThresholdSection, threshold_sections

KINDS = {
    "sweep": "sweep",
    "diag": "diagnosis",
    "run": "main run",
    "threshold": "threshold",
    "people": "experiment",
}
MAX_ROWS = 1000  # of a table
EXAMPLE = "openai/gpt-4.1-mini"  # in the command that adds a model


@dataclass(frozen=True)
class Run:
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
        about = self.label or ", ".join(own.benchmark.name for own in self.results)
        return f"Trivium {kind}: {about}"

    @cached_property
    def styles(self) -> dict[str, SeriesStyle]:
        """The style of every solver."""
        return series_styles(self.results)

    @cached_property
    def thresholds(self) -> list[ThresholdSection]:
        """What searches for thresholds found."""
        return threshold_sections(self.folder, self.styles)

    @cached_property
    def sections(self) -> list[Section]:
        """What the page says about every benchmark."""
        several = len(self.results) > 1
        return [
            Section(
                own,
                grid([own], self.styles, of_section=True)
                if several and len(own.settings) > 1
                else None,
                Charts(own, self.styles).all(),
                kind_shares(own, self.styles),
                switch_effects(own, self.styles) if own.scores else (),
                overview(own),
                [*self._loss_tables(own), *page_tables(own)],
                charted_solvers(own, self.styles),
            )
            for own in self.results
        ]

    def _loss_tables(self, own: BenchmarkResults) -> list[Table]:
        """What is lost where, read from the records again if solvers tried items both ways."""
        split = own.benchmark.loss_split
        ways = {view.get(split.field) for view in own.views.values()} if split else set()
        return loss_tables([self.folder], [own.benchmark.name]) if len(ways) > 1 else []


def write_report(
    source: Path | Run,
    label: str | None = None,
    prices: Prices | None = None,
    max_characters: int = MAX_CHARACTERS,
) -> Path:
    """The path of report.html, written last, after plots/ and results.md.

    `max_characters` limits the texts in its item browser.
    """
    run = source if isinstance(source, Run) else read_run(source, label)
    folder = run.folder
    _save_charts(run)
    charts = {section.results.benchmark.name: section.charts for section in run.sections}
    _write(folder / MARKDOWN, results_markdown(run.title, run.results, charts))
    _write(folder / REPORT, page(run, prices or Prices(), max_characters))
    return folder / REPORT


def write_plots(folder: Path, label: str | None = None, out: Path | None = None) -> list[Path]:
    """The paths of a run's charts, which are drawn again."""
    return _save_charts(read_run(folder, label), out)


def _save_charts(run: Run, out: Path | None = None) -> list[Path]:
    groups = [*(found.charts for found in run.thresholds), *(one.charts for one in run.sections)]
    charts = [chart for group in groups for chart in group if chart.panels]
    return save_charts(charts, run.styles, out or run.folder / PLOTS, run.label)


def read_run(folder: Path, label: str | None = None) -> Run:
    """The results in a folder of records, for `write_report`."""
    manifest = read_mapping(folder / MANIFEST) if (folder / MANIFEST).exists() else {}
    order = manifest.get("settings") or ()
    results = read_results([folder], kind=manifest.get("kind"), setting_order=order)
    ordered = [results[name] for name in benchmark_names() if name in results]
    newest = max(path.stat().st_mtime for path in record_files([folder]))
    date = time.strftime("%Y-%m-%d", time.gmtime(newest))
    return Run(folder, manifest, label or manifest.get("label"), ordered, date)


def _write(path: Path, text: str) -> None:
    with atomic_write(path) as file:
        file.write(text.encode("utf-8", "replace"))


def page(run: Run, prices: Prices, max_characters: int) -> str:
    """The text of report.html; the template escapes every value."""
    models = [name for name, style in run.styles.items() if not style.is_baseline]
    known = prices.of(models)
    again = run.manifest.get("kind") in ("sweep", "diag") and "command" in run.manifest
    seeds = seeds_text(sorted({seed for own in run.results for seed in own.seeds}))
    return render_page(
        "page.html.j2",
        title=run.title,
        facts=facts(run.results, models, known, run.date),
        styles=run.styles,
        grid=grid(run.results, run.styles),
        ranks=ranking(run.results),
        ranking_rule=RULE,
        # The items of a search are chosen by its solver's answers, so a pooled score says little.
        is_search=bool(run.thresholds),
        cards=[] if models or run.thresholds else [card(own) for own in run.results],
        same_items=again,
        add_model=f"{run.manifest['command'] if again else 'trivium run'} --model {EXAMPLE}",
        effects={
            section.results.benchmark.name: effect_sentences(section.effects)
            for section in run.sections
            if section.effects
        },
        has_models=bool(models),
        rules=dict.fromkeys(own.benchmark.headline_rule for own in run.results),
        thresholds=run.thresholds,
        experiments=experiment_sections(run.folder),
        sections=run.sections,
        usage=usage_table(run.results, models, known),
        token_chart=score_over_tokens(run.results, run.styles),
        max_rows=MAX_ROWS,
        items=packed(browser_items(run.results, max_characters)),
        folder=run.folder,
        attempts=sum(own.records for own in run.results),
        seeds=seeds,
        versions=[_version(own) for own in run.results],
        command=run.manifest.get("command"),
        config=_toml(run.manifest) if run.manifest.get("kind") == "sweep" else None,
    )


def _version(results: BenchmarkResults) -> str:
    """The version of a benchmark, and the digest of its items where all solvers have the same."""
    digests = {own.digest for own in results.by_solver.values()}
    items = f" (items {digests.pop()})" if len(digests) == 1 and digests != {""} else ""
    return f"{results.benchmark.name} {', '.join(sorted(results.versions))}{items}"


def _toml(manifest: Mapping[str, Any]) -> str:
    """The config file that reproduces a sweep."""
    fields = {key: value for key, value in manifest.items() if key not in DERIVED}
    return "\n".join(f"{key} = {json.dumps(value)}" for key, value in fields.items()) + "\n"
