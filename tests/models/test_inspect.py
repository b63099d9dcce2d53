"""The Inspect backend: tasks inside Inspect, its estimates, its logs and reading them back."""

from __future__ import annotations

import asyncio
import json
import math
import os
import re
import signal
import socket
import subprocess
import sys
import time
import tomllib
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import inspect_ai
import orjson
import pytest
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import ModelOutput, ModelUsage

import trivium
from tests.models.common import (
    NHOP,
    count_records,
    eval_words,
    oracle,
    prompts,
    records,
    same_for_all,
    summary,
)
from tests.models.server import Server
from trivium.benchmarks import benchmark_names, get_benchmark
from trivium.cli import main
from trivium.core.errors import UserError
from trivium.core.results import summarise
from trivium.core.task import PresentedItem
from trivium.models.backends import CallError
from trivium.models.inspect.models import inspect_model, read_output
from trivium.models.inspect.samples import log_files, presented_item, read_attempts
from trivium.models.inspect.tasks import TASKS, build_task
from trivium.models.providers import Model
from trivium.models.settings import ModelOptions, Settings

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


def test_inspect_runs_a_task_and_shows_its_log_which_is_imported(
    environment: dict[str, str], tmp_path: Path
) -> None:
    logs = tmp_path / "logs"
    command = [sys.executable, "-m", "inspect_ai"]
    values = ["-T", "hops=6", "-T", "items=5", "-T", "seed=4", "-T", "mode=steps"]
    flags = ["--model", "trivium/oracle", "--log-dir", str(logs), "--display", "plain"]
    words = [*command, "eval", "trivium/nhop_explicit", *values, *flags]
    with _viewer(command, environment, logs) as view:
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        (log,) = log_files(logs)
        shown = view(log)
    assert shown["status"] == "success"
    assert len(shown["samples"]) == 5

    assert main(["import", str(logs), "--out", str(tmp_path / "imported")]) == 0
    ours = ["eval", "nhop_explicit", "--hops", "6", "--items", "5", "--seed", "4"]
    ours += ["--mode", "steps", "--solver", "oracle", "--out", str(tmp_path / "ours")]
    assert main(ours) == 0
    (imported,) = (tmp_path / "imported").rglob("records.jsonl")
    assert same_for_all(imported.parent) == same_for_all(tmp_path / "ours")
    assert main(["import", str(logs), "--out", str(tmp_path / "imported")]) == 0
    assert len(records(imported.parent)) == 5, "what was imported is not imported twice"


@contextmanager
def _viewer(
    command: list[str], environment: dict[str, str], logs: Path
) -> Iterator[Callable[[Path], dict[str, Any]]]:
    """Runs `inspect view`; yields a function from a log to what is sent to the page."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    logs.mkdir()
    words = [*command, "view", "start", "--log-dir", str(logs), "--port", str(port)]
    viewer = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=-1)

    def view(log: Path) -> dict[str, Any]:
        address = f"http://127.0.0.1:{port}/api/logs/{urllib.parse.quote(str(log), safe='')}"
        for _ in range(300):
            try:
                with urllib.request.urlopen(address, timeout=10) as page:
                    found: dict[str, Any] = json.loads(page.read())
                    return found
            except OSError:
                time.sleep(0.1)
        raise AssertionError("inspect view does not answer")

    try:
        yield view
    finally:
        viewer.terminate()
        viewer.communicate()


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"hopps": 6}, "nhop_implicit: unknown key 'hopps'; did you mean hops?"),
        ({"hops": 1}, "hops must be in 3..200, got 1"),
        ({"hops": "six"}, "hops must be a whole number, got 'six'"),
        ({"items": 0}, "items must be at least 1, got 0"),
        ({"preset": "none"}, "unknown preset 'none' of nhop_implicit"),
        ({"order_trials": 0}, "order_trials must be at least 1, got 0"),
    ],
)
def test_bad_parameters_of_a_task_are_refused(values: dict[str, Any], sentence: str) -> None:
    with pytest.raises(PrerequisiteError) as refused:
        TASKS["nhop_implicit"](**values)
    assert sentence in str(refused.value.message)


def test_parameters_of_a_task_choose_its_items() -> None:
    preset = next(iter(NHOP.benchmark.presets))
    task = TASKS["nhop_implicit"](
        items=2, seed=4, start=7, order_trials=2, preset=preset, mode="steps", system="Think."
    )
    ids = ["IMP-000007", "IMP-000007~1", "IMP-000008", "IMP-000008~1"]
    assert [sample.id for sample in task.dataset] == ids
    expected = trivium.load("nhop_implicit", preset=preset, mode="steps").item(7, seed=4)
    system, prompt = task.dataset[0].input
    assert (system.role, system.text, prompt.text) == ("system", "Think.", expected.prompt)
    assert task.dataset[0].target == expected.gold


@pytest.mark.parametrize(
    ("name", "trials"), [*((name, 1) for name in benchmark_names()), ("nhop_implicit", 2)]
)
def test_estimates_inside_inspect_agree_to_the_last_digit(
    name: str, trials: int, tmp_path: Path
) -> None:
    benchmark = get_benchmark(name)
    floor = next(solver.name for solver in benchmark.solvers.values() if solver.role == "floor")
    log = inspect_ai.eval(
        TASKS[name](items=15, seed=2, order_trials=trials),
        model=f"trivium/{floor}",
        log_dir=str(tmp_path),
        display="none",
    )[0]
    assert log.results is not None
    ours = tmp_path / "ours"
    words = ["eval", name, "--items", "15", "--seed", "2", "--order_trials", str(trials)]
    assert main([*words, "--solver", floor, "--out", str(ours)]) == 0
    figures = summary(ours)["metrics"]
    assert {score.name for score in log.results.scores} == {own.name for own in benchmark.metrics}
    for score in log.results.scores:
        theirs = {part.name: part.value for part in score.metrics.values()}
        expected = figures[score.name]
        for key in ("value", "low", "high"):
            figure = math.nan if expected[key] is None else expected[key]
            assert theirs[key] == pytest.approx(figure, rel=0, abs=0, nan_ok=True), score.name
        assert theirs["n"] == expected["n"]
        assert (score.scored_samples or 0) + (score.unscored_samples or 0) == 15 * trials
    attempts = list(read_attempts(Path(log.location)))
    assert {attempt.solver for attempt in attempts} == {f"trivium/{floor}"}
    found = summarise([orjson.loads(orjson.dumps(row)) for row in attempts], benchmark.metrics)
    assert found.to_dict()["metrics"] == figures


def test_repeated_epochs_are_imported_as_more_trials(tmp_path: Path) -> None:
    (log,) = inspect_ai.eval(
        TASKS["nhop_implicit"](items=2, order_trials=2),
        model="trivium/oracle",
        epochs=2,
        log_dir=str(tmp_path),
        display="none",
    )
    attempts = read_attempts(Path(log.location))
    assert sorted(attempt.key for attempt in attempts) == [
        (id, trial) for id in ("IMP-000000", "IMP-000001") for trial in range(4)
    ]


def test_what_is_no_log_is_refused_with_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.eval"
    broken.write_bytes(b"not a log")
    (tmp_path / "empty").mkdir()
    for path, sentence in (
        (broken, "not an Inspect log"),
        (tmp_path / "no.eval", "no such file"),
        (tmp_path / "empty", "no Inspect logs in this folder"),
        (Path(__file__), "an Inspect log ends in .eval or .json"),
    ):
        assert main(["import", str(path), "--out", str(tmp_path / "out")]) == 2
        assert sentence in capsys.readouterr().err
    with pytest.raises(UserError, match="not a sample of a Trivium task"):
        presented_item({"id": "someone else's"})


def test_samples_of_the_same_item_differ_by_view_and_trial() -> None:
    original, steps = NHOP.item(0).original, trivium.load("nhop_implicit", mode="steps")
    items = [PresentedItem(task, original, trial) for task in (NHOP, steps) for trial in (0, 1)]
    samples = [build_task([item], Settings(), tool=True).dataset[0] for item in items]
    expected = [item.prompt for item in items]
    assert len(set(expected)) == 4
    assert [presented_item(sample.metadata or {}).prompt for sample in samples] == expected


def test_private_modules_of_inspect_are_imported_in_one_file() -> None:
    sources = Path(trivium.__file__).parent.rglob("*.py")
    users = [path for path in sources if re.search(r"inspect_ai\.(\w+\.)*_", path.read_text())]
    assert [path.name for path in users] == ["tasks.py"]


def test_settings_and_options_reach_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-unused")
    options = ModelOptions(
        base_url="http://localhost:1/v1",
        temp=0.5,
        max_output_tokens=77,
        timeout=9.6,
        max_retries=3,
        concurrency=5,
    )
    own = replace(options, base_url=None)
    for name, given, provider in (
        ("openai/m", options, "EndpointAPI"),
        ("openai/m", own, "OpenAIAPI"),
    ):
        model = inspect_model(Model(name, given.settings(), given))
        config = model.config
        assert (config.temperature, config.max_tokens) == (0.5, 77)
        assert (config.max_retries, config.max_connections) == (3, 5)
        assert config.attempt_timeout == (10 if given is own else None)
        assert model.model_args == {}
        assert type(model.api).__name__ == provider
    secret = ModelOptions(extra_body='{"api_key": "abcdefgh1"}')
    with pytest.raises(UserError, match="extra_body can hold no secret for openai/m on Inspect"):
        inspect_model(Model("openai/m", secret.settings(), secret))
    with pytest.raises(UserError, match=r"unknown.*with --base_url"):
        inspect_model(Model("unknown/m", options.settings(), ModelOptions()))


@pytest.mark.parametrize(("timeout", "seconds"), [(0.2, 1), (1.2, 1), (1.7, 2)])
def test_a_short_timeout_is_a_whole_second_at_least_on_inspect(
    timeout: float, seconds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-unused")
    options = ModelOptions(timeout=timeout)
    model = inspect_model(Model("openai/m", options.settings(), options))
    assert model.config.attempt_timeout == seconds


def test_an_endpoint_waits_as_on_the_direct_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("random.random", lambda: 0.5)
    options = ModelOptions(base_url="http://localhost:1/v1", retry_backoff=2)
    wait = inspect_model(Model("vllm/m", Settings(), options)).api.retry_wait()

    def seconds(tried: int, problem: CallError) -> float:
        outcome = SimpleNamespace(exception=lambda: problem)
        return wait(SimpleNamespace(attempt_number=tried, outcome=outcome))  # type: ignore

    busy = CallError("503", retryable=True)
    assert [seconds(tried, busy) for tried in (1, 2, 3, 9)] == [2, 4, 8, 60]
    assert seconds(1, CallError("429", retryable=True, after=90)) == 90


def test_tokens_of_a_cache_are_tokens_of_the_input() -> None:
    output = ModelOutput.from_content("m", "B_0001")
    output.usage = ModelUsage(
        input_tokens=5,
        output_tokens=7,
        total_tokens=17,
        input_tokens_cache_read=3,
        input_tokens_cache_write=2,
        reasoning_tokens=4,
    )
    assert read_output(output).usage == {
        "input_tokens": 10,
        "output_tokens": 7,
        "reasoning_tokens": 4,
    }
    output.usage = ModelUsage(input_tokens=5, output_tokens=7, total_tokens=12)
    assert read_output(output).usage == {"input_tokens": 5, "output_tokens": 7}


@pytest.mark.parametrize("cut_off", [False, True])
def test_what_was_sent_and_what_it_took_is_as_on_the_direct_backend(
    cut_off: bool, tmp_path: Path
) -> None:
    system = tmp_path / "system.txt"
    system.write_text("Be brief.\n")
    flags = ("--temp", "0.5", "--max_output_tokens", "77", "--system", str(system), "--save_prompt")
    with Server(oracle(), cut_off=cut_off) as server:
        words = eval_words(server, tmp_path / "out", *flags, backend="inspect", items=2)
        assert main(words) == 0
    body = server.bodies[-1]
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("m", 0.5, 77)
    assert body["messages"][0]["content"] == "Be brief."
    found = records(tmp_path / "out")
    usage = {"requests": 1, "retries": 0, "input_tokens": 11, "output_tokens": 7}
    assert [row["usage"] for row in found] == [usage] * 2
    assert {row["stop_reason"] for row in found} == {"length" if cut_off else "stop"}
    assert all(row["seconds"] > 0 for row in found)
    assert [row["prompt"] for row in found] == prompts(2)


def test_a_failed_sample_is_an_error_and_can_be_asked_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = {prompts(8)[5]}
    with Server(oracle(8), lambda prompt, nth: "400" if prompt in broken else None) as server:
        words = eval_words(server, tmp_path, backend="inspect", items=8)
        assert main(words) == 1
        found = summary(tmp_path)
        assert (found["answered"], found["failed"]) == (7, 1)
        assert "no: 400 for Bearer" in capsys.readouterr().out
        assert found["metrics"]["correct"]["n"] == 7
        broken.clear()
        before = server.asked.copy()
        assert main(words) == 0
        assert sum((server.asked - before).values()) == 1
    assert [row["index"] for row in records(tmp_path)] == list(range(8))
    assert all(row["kind"] == "right" for row in records(tmp_path))


def test_killed_in_the_middle_it_resumes_with_what_is_left(tmp_path: Path) -> None:
    with Server(oracle(40), latency=0.1) as server:
        words = eval_words(server, tmp_path, "--concurrency", "4", backend="inspect", items=40)
        run = subprocess.Popen([sys.executable, "-m", "trivium", *words])
        while count_records(tmp_path) < 10:
            time.sleep(0.02)
        run.send_signal(signal.SIGKILL)
        assert run.wait() == -signal.SIGKILL
        assert main(words) == 0
        assert set(server.answered.values()) <= {1, 2}
        assert sum(server.answered.values()) <= 40 + 4
    assert [row["index"] for row in records(tmp_path)] == list(range(40))


def test_a_run_prints_nothing_of_inspect(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = "eval nhop_implicit --items 2 --model trivium/oracle --backend inspect --out"
    assert main([*words.split(), str(tmp_path)]) == 0
    captured = capfd.readouterr()
    assert "Inspect" not in captured.out
    assert captured.err == ""
    assert log_files(tmp_path)[0].parent == tmp_path / "logs"


def test_a_solver_as_a_model_needs_a_sample_of_ours(tmp_path: Path) -> None:
    model = inspect_ai.model.get_model("trivium/oracle")
    with pytest.raises(UserError, match="only replies to samples of Trivium tasks"):
        asyncio.run(model.generate("hello"))
    (log,) = inspect_ai.eval(
        build_task(NHOP.items(1), Settings(), tool=True),
        model="trivium/absent",
        log_dir=str(tmp_path),
        display="none",
    )
    (attempt,) = read_attempts(Path(log.location))
    assert attempt.kind == "failed"
    assert "unknown solver 'absent'; there are" in str(attempt.error)
