"""The package: its metadata agree with each other, and a build has everything that it needs."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

import trivium

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_citation_the_changelog_and_the_package_agree() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == trivium.__version__
    assert citation["license"] == PROJECT["license"]
    assert citation["keywords"] == PROJECT["keywords"]
    assert [one["name"] for one in citation["authors"]] == [
        one["name"] for one in PROJECT["authors"]
    ]
    assert {url.partition("/trivium")[0] for url in PROJECT["urls"].values()} == {
        PROJECT["urls"]["Repository"].removesuffix("/trivium")
    }
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert headings[0] == f"{trivium.__version__} ({citation['date-released']})"


def test_the_documented_extras_are_those_of_the_package() -> None:
    page = (ROOT / "docs" / "getting-started.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `[")]
    named = {name for row in rows for name in re.findall(r"`\[([\w-]+)\]`", row)}
    assert named == set(PROJECT["optional-dependencies"])


@pytest.mark.slow
def test_a_build_has_everything_and_an_index_accepts_it(tmp_path: Path) -> None:
    source = tmp_path / "source"
    ignored = shutil.ignore_patterns(".*", "*.egg-info", "build", "dist", "site", "runs")
    shutil.copytree(ROOT, source, ignore=ignored)
    build = [sys.executable, *["-m", "pip", "wheel", "-q", "--no-deps", "-w", ".", "./source"]]
    subprocess.run(build, cwd=tmp_path, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        described = archive.read(f"trivium-{trivium.__version__}.dist-info/METADATA").decode()
    package = ROOT / "src" / "trivium"
    kept = {
        path for path in package.rglob("*") if path.is_file() and "__pycache__" not in str(path)
    }
    assert {f"trivium/{path.relative_to(package)}" for path in kept} <= names
    assert "Classifier: Typing :: Typed" in described
    links = re.findall(r"\]\(([^)\s]+)\)", described)
    assert len(links) > 10
    assert all(link.startswith(("https://", "#")) for link in links)
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", str(wheel)], check=True)
