"""report.html, one file that loads nothing from elsewhere, and results.md with its plots.

`page.html.j2` lays out the page; this module prepares what goes into it.
"""

from __future__ import annotations

import base64
import hashlib
import importlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup, escape

from trivium import __version__
from trivium.benchmarks import benchmark_names
from trivium.core.errors import MissingExtraError, import_extra
from trivium.core.files import atomic_write
from trivium.core.records import MANIFEST
from trivium.core.spec import read_mapping
from trivium.evaluation.index import REPORT
from trivium.evaluation.plan import DERIVED
from trivium.report.item_browser import browser_items
from trivium.report.markdown import MARKDOWN, PLOTS, results_markdown
from trivium.report.overview import overview
from trivium.report.results import BenchmarkResults, read_results
from trivium.report.tables import Table, page_tables

if TYPE_CHECKING:
    from trivium.report.theme import ChartSpec

    Charts = Mapping[str, Sequence[ChartSpec]]  # by benchmark

Tables = Mapping[str, Sequence[Table]]  # by benchmark
HERE = Path(__file__).parent
KINDS = {"sweep": "sweep", "diag": "diagnosis", "run": "main run"}
MAX_ROWS = 1000  # of a table


@dataclass(frozen=True)
class Run:
    """A folder of records with its manifest."""

    folder: Path
    manifest: Mapping[str, Any]
    label: str | None
    results: Sequence[BenchmarkResults]

    @property
    def title(self) -> str:
        """The title of the page."""
        kind = KINDS.get(str(self.manifest.get("kind")), "evaluation")
        if kind == "main run" and not self.label:
            return "Trivium: main run"
        about = self.label or ", ".join(own.benchmark.name for own in self.results)
        return f"Trivium {kind}: {about}"


def write_report(folder: Path, label: str | None = None) -> Path:
    """The path of report.html, written last, after plots/ and results.md."""
    run = _read_run(folder, label)
    missing = missing_plots()
    charts = {} if missing else _write_charts(run)
    tables = {own.benchmark.name: page_tables(own) for own in run.results}
    _write(folder / MARKDOWN, results_markdown(run.title, run.results, charts, missing))
    _write(folder / REPORT, page(run, tables, charts, missing))
    return folder / REPORT


def write_plots(folder: Path, label: str | None = None) -> list[Path]:
    """The paths of the PNG files of a run's charts, which are drawn again."""
    missing = missing_plots()
    if missing is not None:
        raise MissingExtraError(missing)
    charts = _write_charts(_read_run(folder, label))
    return [folder / PLOTS / f"{chart.name}.png" for own in charts.values() for chart in own]


def missing_plots() -> str | None:
    """Why charts cannot be drawn and how to change that; None if they can be."""
    try:
        for module in ("altair", "vl_convert"):
            import_extra(module, "plots")
    except MissingExtraError as missing:
        return str(missing)
    return None


def _read_run(folder: Path, label: str | None) -> Run:
    manifest = read_mapping(folder / MANIFEST) if (folder / MANIFEST).exists() else {}
    results = read_results([folder])
    for own in results.values():
        own.setting_order = tuple(manifest.get("settings") or ())
    ordered = [results[name] for name in benchmark_names() if name in results]
    return Run(folder, manifest, label or manifest.get("label"), ordered)


def _write_charts(run: Run) -> dict[str, list[ChartSpec]]:
    """The charts of each benchmark, saved in plots/."""
    # Imported here, since both modules need the plots extra.
    charts, theme = (
        importlib.import_module(f"trivium.report.{name}") for name in ("charts", "theme")
    )
    variants = run.manifest.get("kind") == "diag"
    specs: dict[str, list[ChartSpec]] = {
        own.benchmark.name: charts.charts(own, variants=variants, label=run.label)
        for own in run.results
    }
    theme.save([chart for own in specs.values() for chart in own], run.folder / PLOTS)
    return specs


def _write(path: Path, text: str) -> None:
    with atomic_write(path) as file:
        file.write(text.encode("utf-8", "replace"))


def page(run: Run, tables: Tables, charts: Charts, missing: str | None) -> str:
    """report.html; the template escapes every text, whoever wrote it."""
    scripts = [_asset("page.js")]
    specs = {chart.name: chart.spec for own in charts.values() for chart in own}
    if specs:
        scripts.insert(0, import_extra("vl_convert", "plots").javascript_bundle())
    seeds = ", ".join(map(str, sorted({seed for own in run.results for seed in own.seeds})))
    attempts = sum(own.records for own in run.results)
    facts = {
        "benchmarks": ", ".join(own.benchmark.name for own in run.results),
        "settings": sum(len(own.settings) for own in run.results),
        "solvers": len({solver for own in run.results for solver in own.solvers}),
        "attempts": f"{attempts:,}",
        "seeds": seeds or "-",
        "version": __version__,
    }
    return _template().render(
        title=run.title,
        facts=facts,
        overview=[(own, overview(own)) for own in run.results],
        charts=charts,
        chart_specs=specs,
        no_charts=missing,
        tables=[table for own in tables.values() for table in own],
        max_rows=MAX_ROWS,
        items=browser_items(run.results),
        attempts=attempts,
        seeds=seeds,
        version=__version__,
        command=run.manifest.get("command"),
        config=_toml(run.manifest) if run.manifest.get("kind") == "sweep" else None,
        css=_asset("page.css"),
        scripts=scripts,
        policy=content_policy(scripts),
    )


def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["breakable"] = breakable
    # orjson writes NaN as null, which a browser can parse.
    environment.policies["json.dumps_function"] = lambda value, **_: orjson.dumps(value).decode()
    return environment.get_template("page.html.j2")


def _asset(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def content_policy(scripts: Sequence[str]) -> str:
    """A policy that runs only these scripts and fetches nothing, should escaping ever fail."""
    hashes = [
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
        for script in scripts
    ]
    # Vega compiles the expressions of a chart, which a policy counts as eval.
    allowed = " ".join([*hashes, *(["'unsafe-eval'"] if len(scripts) > 1 else [])])
    return f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src {allowed}"


def breakable(name: str) -> Markup:
    """A name that a narrow page may break after _, / and -."""
    return Markup(re.sub(r"([_/-])", r"\1<wbr>", str(escape(name))))


def _toml(manifest: Mapping[str, Any]) -> str:
    """The config file that reproduces a sweep."""
    fields = {key: value for key, value in manifest.items() if key not in DERIVED}
    return "\n".join(f"{key} = {json.dumps(value)}" for key, value in fields.items()) + "\n"
