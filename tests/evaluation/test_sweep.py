"""Sweeps: their layout, what resuming gives, and what is refused."""

from __future__ import annotations

import csv
import io
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from trivium.benchmarks import load_task
from trivium.cli import main
from trivium.core.files import locked
from trivium.core.spec import read_mapping
from trivium.evaluation.execute import claim_folder
from trivium.evaluation.index import COLUMNS, add_to_index, new_folder, newest_folder
from trivium.evaluation.plan import plan_sweep

CONFIG = """
approach = "implicit"
items = 15
hops = [4, 5]
m_list = [4, 6]
seeds = [7, 13]
order_trials = 2
label = "small"
"""


LISTED = plan_sweep(
    {"approach": "implicit", "items": 3, "seeds": [9, 7], "solver": "oracle", "label": 'a, "b"\nc'}
)


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "small.toml"
    path.write_text(CONFIG)
    return path


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed")
    (folder / "small.toml").write_text(CONFIG)
    out = folder / "runs" / "implicit" / "sweep_whole"
    words = ["sweep", str(folder / "small.toml"), "--out", str(out), "--processes", "1"]
    assert main(words) == 0
    return out


def test_the_layout_is_the_described_one(undisturbed: Path) -> None:
    names = {path.name for path in undisturbed.iterdir()} - {".lock"}
    assert names == {
        "data",
        "plots",
        "report.html",
        "results",
        "results.md",
        "run.json",
        "summary.csv",
    }
    assert {path.name for path in (undisturbed / "data").iterdir()} == {
        f"hops{hops}_m{m}_seed{seed}.jsonl" for hops in (4, 5) for m in (4, 6) for seed in (7, 13)
    }
    rows = list(csv.DictReader((undisturbed / "summary.csv").read_text().splitlines()))
    assert len(rows) == 2 * 2 * 2 * 6
    assert {row["items"] for row in rows} == {"15"}
    assert {row["correct"] for row in rows if row["solver"] == "oracle"} == {"1.000000"}
    assert {
        "hops",
        "m",
        "seed",
        "solver",
        "floor",
        "correct_low",
        "lift",
        "majority_correct",
    } <= set(rows[0])
    plots = {path.name for path in (undisturbed / "plots").iterdir()}
    for stem in ("lift_steps_m", "correct_by_steps", "order_trials"):
        assert f"nhop_implicit_{stem}.svg" in plots
    index = list(csv.reader((undisturbed.parents[1] / "index.csv").read_text().splitlines()))
    assert index[0] == list(COLUMNS)
    assert index[1][:4] == ["implicit/sweep_whole", "sweep", "nhop_implicit", "small"]


@pytest.mark.slow
def test_a_sweep_killed_at_random_moments_ends_the_same(config: Path, undisturbed: Path) -> None:
    """Killed again and again until it comes through; then every byte of the summary is the same."""
    command = [sys.executable, "-m", "trivium", "sweep", str(config), "--processes", "1"]
    chance = random.Random(5)
    kills = 0
    for attempt in range(60):
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        if kills < 6:
            # From the first import to the last picture; later ones come further.
            time.sleep(chance.uniform(0.3, 0.8 + 0.15 * attempt))
            process.send_signal(signal.SIGKILL)
        if process.wait() == 0:
            break
        kills += 1
    assert kills >= 3
    # One that was killed before it wrote its manifest left an empty folder, which is not continued.
    manifests = list((config.parent / "runs" / "implicit").glob("sweep_*/run.json"))
    runs = [path.parent for path in manifests]
    assert len(runs) == 1, "every start went on with the unfinished run"
    for name in ("summary.csv", "results.md"):
        assert (runs[0] / name).read_bytes() == (undisturbed / name).read_bytes()
    index = (config.parent / "runs" / "index.csv").read_text().splitlines()
    assert len(index) == 2


def test_the_newest_folder_of_the_same_run_is_continued(config: Path) -> None:
    run = plan_sweep({"approach": "implicit", "items": 3})
    root = config.parent / "runs"
    first = new_folder(run, root)
    assert first.parent == root / "implicit"
    claim_folder(first, run.manifest())
    assert newest_folder(run, root) == first
    (first / "report.html").touch()
    assert newest_folder(run, root) == first, "finished or not: calls may have failed"
    other = plan_sweep({"approach": "implicit", "items": 4})
    assert newest_folder(other, root) is None
    second = new_folder(run, root)
    assert newest_folder(run, root) == first, "a folder without run.json is of no run"
    (second / "run.json").write_text("{")
    assert newest_folder(run, root) == first
    (second / "run.json").unlink()
    claim_folder(second, run.manifest())
    assert newest_folder(run, root) == second


@pytest.fixture
def no_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing takes most of a small sweep's time, and is not what every test is about."""
    monkeypatch.setattr("trivium.commands.run_flags.write_report", lambda folder, **options: folder)


@pytest.mark.usefixtures("no_report")
def test_a_changed_config_is_refused_in_the_same_folder(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["sweep", str(config), "--out", "here", "--no_data", "--processes", "1"]
    config.write_text(CONFIG.replace("items = 15", "items = 4"))
    assert main(words) == 0
    before = Path("here/summary.csv").read_bytes()
    config.write_text(CONFIG.replace("items = 15", "items = 5"))
    assert main(words) == 2
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert "here holds another evaluation (items is 4 there, 5 was asked for)" in said
    config.write_text(CONFIG.replace("items = 15", "items = 4") + "k = 3\n")
    assert main(words) == 2
    config.write_text(CONFIG.replace("items = 15", "items = 4") + "id_width = 3\nM = 256\n")
    assert main(words) == 2
    assert Path("here/summary.csv").read_bytes() == before
    # What a run is called is not what it is; it is called as it was called last.
    config.write_text(CONFIG.replace("items = 15", "items = 4").replace("small", "renamed"))
    assert main([*words, "--data"]) == 0
    held = read_mapping("here/run.json")
    assert (held["label"], held["items"]) == ("renamed", 4)
    assert held["command"].endswith("--data")


def test_two_processes_cannot_share_a_folder(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with locked(Path("busy")):
        assert main(["sweep", str(config), "--out", "busy"]) == 2
    assert "another process is working there" in capsys.readouterr().err


def test_a_dry_run_does_nothing_but_say(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", str(config), "--dry_run"]) == 0
    said = capsys.readouterr().out
    assert "48 evaluations of 15 items" in said
    assert "hops=5 m=6" in said
    assert "a model, if one were named: 240 requests" in said
    assert not Path("runs").exists()


def test_the_index_lists_a_run_once(config: Path) -> None:
    for name in ("one", "two", "one"):
        folder = config.parent / "runs" / "implicit" / name
        folder.mkdir(parents=True, exist_ok=True)
        add_to_index(LISTED, folder)
    text = (config.parent / "runs" / "index.csv").read_text()
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert [row[0] for row in rows] == ["run", "implicit/one", "implicit/two"]
    assert rows[1][1:7] == ["sweep", "nhop_implicit", 'a, "b"\nc', "2", "3", "7 9"]


def test_a_run_elsewhere_leaves_nothing_beside_it(tmp_path: Path) -> None:
    add_to_index(LISTED, tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("no_report")
def test_processes_give_the_same_summary(config: Path, undisturbed: Path) -> None:
    assert main(["sweep", str(config), "--out", "two", "--no_data", "--processes", "2"]) == 0
    assert Path("two/summary.csv").read_bytes() == (undisturbed / "summary.csv").read_bytes()


def test_a_lock_ends_with_its_process(config: Path) -> None:
    code = "import os; from pathlib import Path; from trivium.core.files import locked\n"
    code += "with locked(Path('dead')): os._exit(9)"
    assert subprocess.run([sys.executable, "-c", code], env=os.environ, check=False).returncode == 9
    with locked(Path("dead")):
        pass


@pytest.mark.usefixtures("no_report")
def test_a_model_of_a_config_is_asked_as_the_config_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openai")
    from tests.models.server import Server, SolverModel

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    task = load_task("nhop_implicit", fields={"hops": 4, "m": 4})
    speaker = SolverModel(task, "oracle", task.items(5, seed=7))
    Path("asked.json").write_text(
        '{"approach": "implicit", "items": 5, "hops": 4, "m": 4, "seeds": 7, "temp": 0.5, '
        '"model": "openai/said-so", "max_output_tokens": 99, "baseline": "last_line"}'
    )
    with Server(speaker) as server:
        words = ["sweep", "asked.json", "--out", "asked", "--base_url", server.url]
        assert main([*words, "--processes", "1"]) == 0
        assert {body["temperature"] for body in server.bodies} == {0.5}
        assert main([*words, "--processes", "1"]) == 0, "nothing is left to ask"
        assert sum(server.answered.values()) == 5
    rows = list(csv.DictReader(Path("asked/summary.csv").read_text().splitlines()))
    assert [(row["solver"], row["role"]) for row in rows] == [
        ("last_line", "shortcut"),
        ("openai/said-so", "model"),
    ]
    assert rows[1]["correct"] == "1.000000"
    manifest = json.loads(Path("asked/results/one_seed7_openai_said-so/run.json").read_text())
    assert (manifest["shaping"]["temp"], manifest["shaping"]["max_output_tokens"]) == (0.5, 99)
