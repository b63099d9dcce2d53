"""The documentation site: it builds strictly, loads nothing from elsewhere, and is complete."""

from __future__ import annotations

import html
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest

import trivium
from trivium.benchmarks import benchmark_names, get_benchmark
from trivium.cli import COMMANDS

ROOT = Path(__file__).parents[1]
EXTERNAL = re.compile(
    r"""<(?:script|img|iframe|source|video|audio|embed)[^>]*\ssrc=["']?(?:https?:)?//"""
    r"""|<link(?![^>]*rel=["']?canonical)[^>]*\shref=["']?(?:https?:)?//""",
    re.I,
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built without a network: every proxy leads nowhere."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(folder)]
    nowhere = "http://127.0.0.1:9"
    environment = {
        "PATH": "",
        "PYTHONPATH": str(ROOT / "src"),
        "NO_MKDOCS_2_WARNING": "1",
        "http_proxy": nowhere,
        "https_proxy": nowhere,
    }
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stdout + done.stderr
    return folder


def text_of(path: Path) -> str:
    """The words of a page."""
    return html.unescape(re.sub(r"<[^>]*>", "", path.read_text(encoding="utf-8")))


@pytest.mark.slow
def test_every_link_leads_to_a_page_of_the_site(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) >= 45
    for page in pages:
        text = page.read_text(encoding="utf-8")
        if page.parent.name == "examples" and page.name != "index.html":
            continue  # reports, which have tests of their own
        assert not EXTERNAL.search(text), page
        for target in re.findall(r"""(?:href|src)=["']([^"'#?]+)""", text):
            if not re.match(r"[a-z]+:", target):
                assert (page.parent / unquote(target)).exists() or page.name == "404.html", (
                    f"{page.name}: {target}"
                )


@pytest.mark.slow
def test_the_reference_is_complete(site: Path) -> None:
    commands = text_of(site / "reference" / "commands.html")
    assert all(f"trivium {name}" in commands for name in COMMANDS)
    assert "--max_output_tokens" in commands
    api = (site / "reference" / "api.html").read_text(encoding="utf-8")
    for name in trivium.__all__:
        assert re.search(rf'id="trivium\.[\w.]*\b{name}"', api), name
    glossary = text_of(site / "reference" / "glossary.html")
    for name in benchmark_names():
        benchmark = get_benchmark(name)
        page = text_of(site / "benchmarks" / f"{name}.html")
        for heading in ("What a number means", "Known limits", "Published figures"):
            assert heading in page, f"{name}: {heading}"
        for metric in benchmark.metrics:
            assert metric.about in glossary
            assert metric.about in page
        for kind, about in benchmark.kinds.items():
            assert kind in glossary
            assert about in glossary
