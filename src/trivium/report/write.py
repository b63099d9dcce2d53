"""A folder of records becomes pictures, results.md and one page."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from trivium import __version__
from trivium.benchmarks import benchmark_names
from trivium.core.errors import MissingExtraError, import_extra, require
from trivium.core.files import atomic_write
from trivium.core.records import MANIFEST
from trivium.core.spec import read_mapping
from trivium.evaluation.index import REPORT
from trivium.evaluation.plan import DERIVED
from trivium.report.examples import examples
from trivium.report.page import Content, page
from trivium.report.results import Digest, digest
from trivium.report.sections import Picture, page_tables

PLOTS, RESULTS = "plots", "results.md"
KINDS = {"sweep": "sweep", "diag": "diagnosis", "run": "main run"}


def write_report(folder: Path, label: str | None = None) -> Path:
    """Pictures (where they can be drawn), results.md and report.html of a run, the page last."""
    manifest = _manifest(folder)
    label = label or manifest.get("label")
    digests = _digests(folder, manifest)
    undrawn = missing_plots()
    drawn = {} if undrawn else draw(digests, folder, manifest, label)
    title = _title(digests, manifest, label)
    _write(folder / RESULTS, _markdown(title, digests, drawn, undrawn))
    content = Content(
        title=title,
        digests=digests,
        command=manifest.get("command"),
        config=_toml(manifest) if manifest.get("kind") == "sweep" else None,
        pictures=drawn,
        undrawn=undrawn,
        bundle=import_extra("vl_convert", "plots").javascript_bundle() if drawn else None,
        items=examples(digests),
    )
    _write(folder / REPORT, page(content))
    return folder / REPORT


def write_plots(folder: Path, label: str | None = None) -> list[Path]:
    """The pictures of a run alone."""
    require((undrawn := missing_plots()) is None, str(undrawn))
    manifest = _manifest(folder)
    drawn = draw(_digests(folder, manifest), folder, manifest, label or manifest.get("label"))
    names = [picture.name for own in drawn.values() for picture in own]
    return [folder / PLOTS / f"{name}.png" for name in names]


def missing_plots() -> str | None:
    """Why no picture can be drawn here, with what to do about it; None where they can be."""
    try:
        for module in ("altair", "vl_convert"):
            import_extra(module, "plots")
    except MissingExtraError as missing:
        return str(missing)
    return None


def draw(
    digests: Sequence[Digest], folder: Path, manifest: Mapping[str, Any], label: str | None
) -> dict[str, list[Picture]]:
    """The pictures by benchmark, saved beside the page."""
    pictures = importlib.import_module("trivium.report.pictures")
    drawn: dict[str, list[Picture]] = {
        own.benchmark.name: pictures.pictures(
            own, variants=manifest.get("kind") == "diag", label=label
        )
        for own in digests
    }
    pictures.save([picture for own in drawn.values() for picture in own], folder / PLOTS)
    return drawn


def _digests(folder: Path, manifest: Mapping[str, Any]) -> list[Digest]:
    found = digest([folder])
    for own in found.values():
        own.order = tuple(manifest.get("settings") or ())
    return [found[name] for name in benchmark_names() if name in found]


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    return read_mapping(path) if path.exists() else {}


def _title(digests: Sequence[Digest], manifest: Mapping[str, Any], label: str | None) -> str:
    kind = KINDS.get(str(manifest.get("kind")), "evaluation")
    about = label or ", ".join(own.benchmark.name for own in digests)
    return f"Trivium: {kind}" if kind == "main run" and not label else f"Trivium {kind}: {about}"


def _toml(manifest: Mapping[str, Any]) -> str:
    """The keys of a sweep as a config file that makes it again."""
    kept = {key: value for key, value in manifest.items() if key not in DERIVED}
    return "\n".join(f"{key} = {json.dumps(value)}" for key, value in kept.items()) + "\n"


def _markdown(
    title: str,
    digests: Sequence[Digest],
    drawn: Mapping[str, Sequence[Picture]],
    undrawn: str | None,
) -> str:
    parts = [f"# {_cell(title)}", f"Made by Trivium {__version__}. The page beside it: {REPORT}."]
    parts += [f"There are no pictures, since {_cell(undrawn)}"] if undrawn else []
    for own in digests:
        parts.append(f"## {own.benchmark.name}")
        for table in page_tables(own):
            parts += [f"### {_cell(table.title)}", _markdown_table(table.columns, table.rows)]
        parts += [
            f"![{_cell(picture.about)}]({PLOTS}/{picture.name}.png)"
            for picture in drawn.get(own.benchmark.name, ())
        ]
    return "\n\n".join(parts) + "\n"


def _markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(text: str) -> str:
    """One line that no table mark and no HTML can break out of."""
    plain = " ".join(text.split())
    return re.sub(r"[&<>|`\[\]\\]", lambda mark: f"&#{ord(mark[0])};", plain)


def _write(path: Path, text: str) -> None:
    with atomic_write(path) as file:
        file.write(text.encode("utf-8", "replace"))
