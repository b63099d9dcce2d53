"""`trivium new` writes a benchmark that everything else knows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import trivium

COMMANDS = [
    "list",
    "show kth_number --people 4",
    "generate kth_number --items 3 --out items.jsonl",
    "eval kth_number --solver first_named --in items.jsonl --out file_run",
    "run --benchmarks kth_number --items 5 --processes 2 --out run",
    "audit kth_number --preset second --items 100",
    "report run",
    "sweep grid.json --out swept --processes 1",
    "estimate kth_number",
]
GRID = '{"benchmark": "kth_number", "people": [3, 5], "rank": 1, "items": 40}'


def call(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command run in a folder."""
    return subprocess.run(
        [sys.executable, *words], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    made = call(folder, "-m", "trivium", "new", "kth_number")
    assert made.returncode == 0, made.stderr
    (folder / "grid.json").write_text(GRID)
    return folder


def test_it_is_one_short_file_that_keeps_the_contract(project: Path) -> None:
    assert len((project / "kth_number.py").read_text().splitlines()) <= 100
    assert (project / "trivium.toml").read_text() == (
        '[benchmarks]\nkth_number = "kth_number.py:BENCHMARK"\n'
    )
    done = call(project, "kth_number.py")
    assert done.stdout == "kth_number keeps the contract\n", done.stderr


def test_every_command_knows_it(project: Path) -> None:
    for words in COMMANDS:
        done = call(project, "-m", "trivium", *words.split())
        assert done.returncode == 0, done.stderr
        if words == "list":
            assert "kth_number: say who has the k-th largest number" in done.stdout


def test_the_api_knows_it(project: Path) -> None:
    code = (
        "import trivium; task = trivium.load('kth_number', people=3); "
        "print(trivium.evaluate(task, 'sort_numbers', items=9).summary.metrics['correct'].value)"
    )
    assert call(project, "-c", code).stdout == "1.0\n"


@pytest.mark.slow
def test_inspect_knows_it(project: Path) -> None:
    pytest.importorskip("inspect_ai")
    words = "eval trivium/kth_number --model trivium/sort_numbers -T items=3 -T people=4"
    inspect = Path(sys.executable).with_name("inspect")
    done = subprocess.run(
        [inspect, *words.split(), "--display", "none"],
        cwd=project,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    imported = call(project, "-m", "trivium", "import", "logs", "--out", "imported")
    assert imported.returncode == 0, imported.stderr
    assert "1.000" in imported.stdout


def test_names_that_cannot_be_are_refused(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    for name, message in (
        ("kth_number", "there is a benchmark 'kth_number' already"),
        ("nhop_implicit", "there is a benchmark 'nhop_implicit' already"),
        ("json", "'json' is the name of a Python module"),
        ("My-Task", "NAME must begin with a letter, have only a to z, 0 to 9 and underscores"),
        ("größe", "NAME must begin with a letter, have only a to z"),
        ("_task", "NAME must begin with a letter"),
        ("class", "and be no keyword of Python, got 'class'"),
        ("none", "and be no keyword of Python, got 'none'"),
    ):
        with pytest.raises(trivium.UserError, match=message):
            trivium.new_benchmark(name)
    assert sorted(path.suffix for path in project.glob("[!o]*.py")) == [".py"]
    assert trivium.new_benchmark("other_task") == Path("other_task.py")
    lines = (project / "trivium.toml").read_text().splitlines()
    assert lines[2:] == ['other_task = "other_task.py:BENCHMARK"']


def test_a_project_file_that_names_nothing_says_so(tmp_path: Path) -> None:
    (tmp_path / "trivium.toml").write_text('[benchmarks]\nlost = "lost.py:BENCHMARK"\n')
    done = call(tmp_path, "-m", "trivium", "show", "lost")
    assert done.returncode == 2
    assert "benchmark 'lost' cannot be loaded from lost.py:BENCHMARK" in done.stderr
