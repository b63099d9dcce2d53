"""The Inspect backend: natively, its figures, its logs and their way back."""

from __future__ import annotations

import json
import math
import os
import signal
import socket
import subprocess
import sys
import time
import tomllib
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

import inspect_ai
import orjson
import pytest
from inspect_ai._util.error import PrerequisiteError

import trivium
from tests.models.server import Server, SolverModel
from trivium.benchmarks import benchmark_names, get_benchmark, load_task
from trivium.cli import main
from trivium.core.results import summarise
from trivium.models.backends import choose_backend
from trivium.models.inspect.logs import log_files, read_attempts
from trivium.models.inspect.solvers import baseline
from trivium.models.inspect.tasks import TASKS
from trivium.models.settings import Model, ModelOptions

NHOP = load_task("nhop_implicit")
ROOT = Path(trivium.__file__).parents[2]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment in which the package is installed as pyproject.toml says."""
    info = tmp_path / "site" / f"trivium-{trivium.__version__}.dist-info"
    info.mkdir(parents=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    points = project["entry-points"]["inspect_ai"].items()
    lines = ["[inspect_ai]", *(f"{name} = {value}" for name, value in points)]
    (info / "entry_points.txt").write_text("\n".join(lines))
    (info / "METADATA").write_text(f"Name: trivium\nVersion: {trivium.__version__}\n")
    (info / "direct_url.json").write_text(
        json.dumps({"url": ROOT.as_uri(), "dir_info": {"editable": True}})
    )
    path = os.pathsep.join([str(info.parent), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path}


def rows(path: Path) -> list[dict[str, Any]]:
    held = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    return [{**row, "usage": None, "seconds": None, "solver": None} for row in held]


def test_inspect_itself_runs_a_task_and_views_and_hands_back_its_log(
    environment: dict[str, str], tmp_path: Path
) -> None:
    logs = tmp_path / "logs"
    command = [sys.executable, "-m", "inspect_ai"]
    values = ["-T", "hops=6", "-T", "items=5", "-T", "seed=4", "-T", "mode=steps"]
    flags = ["--model", "trivium/oracle", "--log-dir", str(logs), "--display", "plain"]
    words = [*command, "eval", "trivium/nhop_explicit", *values, *flags]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (log,) = log_files(logs)
    shown = _as_the_viewer_serves_it(command, environment, log)
    assert shown["status"] == "success"
    assert len(shown["samples"]) == 5

    assert main(["import", str(logs), "--out", str(tmp_path / "imported")]) == 0
    ours = ["eval", "nhop_explicit", "--hops", "6", "--items", "5", "--seed", "4"]
    ours += ["--mode", "steps", "--solver", "oracle", "--out", str(tmp_path / "ours")]
    assert main(ours) == 0
    (imported,) = (tmp_path / "imported").rglob("records.jsonl")
    assert rows(imported) == rows(tmp_path / "ours" / "records.jsonl")
    assert main(["import", str(logs), "--out", str(tmp_path / "imported")]) == 0
    assert len(rows(imported)) == 5, "what was imported is not imported twice"


def _as_the_viewer_serves_it(
    command: list[str], environment: dict[str, str], log: Path
) -> dict[str, Any]:
    """The log as `inspect view` hands it to its page."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [*command, "view", "start", "--log-dir", str(log.parent), "--port", str(port)]
    viewer = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=-1)
    address = f"http://127.0.0.1:{port}/api/logs/{urllib.parse.quote(str(log), safe='')}"
    try:
        for _ in range(300):
            try:
                with urllib.request.urlopen(address, timeout=10) as page:
                    found: dict[str, Any] = json.loads(page.read())
                    return found
            except OSError:
                time.sleep(0.1)
        raise AssertionError("inspect view does not answer")
    finally:
        viewer.terminate()
        viewer.communicate()


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"hopps": 6}, "unknown key 'hopps'; allowed are M, ablate_hop"),
        ({"hops": 1}, "hops must be in 3..200, got 1"),
        ({"hops": "six"}, "hops must be a whole number, got 'six'"),
        ({"preset": "none"}, "unknown preset 'none' of nhop_implicit"),
        ({"order_trials": 0}, "order_trials must be at least 1, got 0"),
    ],
)
def test_bad_parameters_of_a_task_are_refused(values: dict[str, Any], said: str) -> None:
    with pytest.raises(PrerequisiteError) as refused:
        TASKS["nhop_implicit"](**values)
    assert said in str(refused.value.message)


@pytest.mark.parametrize(
    ("name", "trials"), [*((name, 1) for name in benchmark_names()), ("nhop_implicit", 2)]
)
def test_figures_inside_inspect_agree_to_the_last_digit(
    name: str, trials: int, tmp_path: Path
) -> None:
    benchmark = get_benchmark(name)
    floor = next(solver.name for solver in benchmark.solvers.values() if solver.role == "floor")
    log = inspect_ai.eval(
        TASKS[name](items=15, seed=2, order_trials=trials),
        model=None,
        solver=baseline(solver=floor),
        log_dir=str(tmp_path),
        display="none",
    )[0]
    assert log.results is not None
    ours = tmp_path / "ours"
    words = ["eval", name, "--items", "15", "--seed", "2", "--order_trials", str(trials)]
    assert main([*words, "--solver", floor, "--out", str(ours)]) == 0
    figures = orjson.loads((ours / "summary.json").read_bytes())["metrics"]
    assert {score.name for score in log.results.scores} == {own.name for own in benchmark.metrics}
    for score in log.results.scores:
        theirs = {key.rpartition("/")[2]: held.value for key, held in score.metrics.items()}
        expected = figures[score.name]
        for key in ("value", "low", "high"):
            figure = math.nan if expected[key] is None else expected[key]
            assert theirs[key] == pytest.approx(figure, rel=0, abs=0, nan_ok=True), score.name
        # Inspect counts attempts; our denominator counts items, which trials share.
        scored, unscored = score.scored_samples or 0, score.unscored_samples or 0
        assert scored >= expected["n"]
        assert scored + unscored == 15 * trials
    attempts = read_attempts(Path(log.location))
    found = summarise([orjson.loads(orjson.dumps(row)) for row in attempts], benchmark.metrics)
    assert found.to_dict()["metrics"] == figures


def test_a_failed_sample_is_an_error_and_can_be_asked_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items = NHOP.items(8, seed=3)
    broken = {items[5].prompt}
    model = SolverModel(NHOP, "oracle", items)
    with Server(model, lambda prompt, nth: "400" if prompt in broken else None) as server:
        words = [
            "eval",
            "nhop_implicit",
            "--model",
            "vllm/m",
            "--backend",
            "inspect",
            "--seed",
            "3",
        ]
        words += ["--items", "8", "--base_url", server.url, "--out", str(tmp_path)]
        assert main(words) == 0
        summary = orjson.loads((tmp_path / "summary.json").read_bytes())
        assert (summary["answered"], summary["errors"]) == (7, 1)
        assert "the first of them: ..." in capsys.readouterr().out
        assert summary["metrics"]["em"]["n"] == 7
        broken.clear()
        before = server.asked.copy()
        assert main([*words, "--retry_errors"]) == 0
        assert sum((server.asked - before).values()) == 1
    held = [orjson.loads(line) for line in (tmp_path / "records.jsonl").read_bytes().splitlines()]
    assert [row["index"] for row in held] == list(range(8))
    assert all(row["kind"] == "right" for row in held)


def test_killed_in_the_middle_it_goes_on_with_what_is_left(tmp_path: Path) -> None:
    with Server(SolverModel(NHOP, "oracle", NHOP.items(60, seed=3)), latency=0.1) as server:
        words = [
            "eval",
            "nhop_implicit",
            "--model",
            "vllm/m",
            "--backend",
            "inspect",
            "--seed",
            "3",
        ]
        words += ["--items", "60", "--base_url", server.url, "--out", str(tmp_path)]
        words += ["--concurrency", "4"]
        run = subprocess.Popen([sys.executable, "-m", "trivium", *words])
        path = tmp_path / "records.jsonl"
        while not path.exists() or path.read_bytes().count(b"\n") < 10:
            time.sleep(0.02)
        run.send_signal(signal.SIGKILL)
        assert run.wait() == -signal.SIGKILL
        assert main(words) == 0
        assert set(server.answered.values()) <= {1, 2}
        assert sum(server.answered.values()) <= 60 + 4
    held = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    assert [row["index"] for row in held] == list(range(60))


@pytest.mark.parametrize(
    ("benchmark", "model", "options", "backend"),
    [
        ("nhop_implicit", "openai/gpt-4.1-mini", {}, "direct"),
        ("nhop_implicit", "ollama/llama3.2", {}, "direct"),
        ("nhop_implicit", "anthropic/claude-sonnet-4-5", {}, "inspect"),
        ("nhop_implicit", "mine/m", {"base_url": "http://localhost:1/v1"}, "direct"),
        ("nhop_implicit", "openai/gpt-4.1-mini", {"backend": "inspect"}, "inspect"),
        *(
            (name, "openai/m", {}, "inspect")
            for name in benchmark_names()
            if get_benchmark(name).multi_turn
        ),
    ],
)
def test_the_backend_that_fits_is_chosen(
    benchmark: str, model: str, options: dict[str, Any], backend: str
) -> None:
    asked = ModelOptions(**options)
    found = choose_backend(get_benchmark(benchmark), Model(model, asked.settings(), asked))
    assert found == backend


def test_what_is_no_log_is_refused_with_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.eval"
    broken.write_bytes(b"not a log")
    for path, said in ((broken, "not an Inspect log"), (tmp_path / "no.eval", "no such file")):
        assert main(["import", str(path), "--out", str(tmp_path / "out")]) == 2
        assert said in capsys.readouterr().err
