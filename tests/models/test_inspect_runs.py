"""The evaluations of a sweep on Inspect: one eval, our records, and resuming."""

from __future__ import annotations

import logging
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
from inspect_ai.log import read_eval_log

from tests.models.common import SEED, count_records, same_for_all
from tests.models.server import Server, SolverModel
from tests.models.test_hostile import KEY, everything_written
from trivium.benchmarks import load_task
from trivium.cli import main
from trivium.models.inspect.samples import log_files

HOPS, ITEMS = (4, 5, 6), 8
CONFIG = f"""
benchmark = "nhop_implicit"
hops = {list(HOPS)}
seeds = {SEED}
items = {ITEMS}
solvers = ["oracle"]
"""
BUILT_IN = ITEMS * len(HOPS)  # records of the built-in solver


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("trivium.commands.run_flags.write_report", lambda folder, **options: folder)
    Path("small.toml").write_text(CONFIG)
    return ["sweep", "small.toml", "--backend", "inspect", "--processes", "1", "--no_data"]


@pytest.fixture
def model() -> SolverModel:
    tasks = [load_task("nhop_implicit", fields={"hops": hops}) for hops in HOPS]
    items = [item for task in tasks for item in task.items(ITEMS, SEED)]
    return SolverModel(tasks[0], "oracle", items)


def folder(out: str, hops: int, solver: str) -> Path:
    return Path(out) / "results" / f"hops{hops}_seed{SEED}_{solver}"


def test_an_error_of_inspect_ends_a_run_with_its_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    task, error = SimpleNamespace(task="nhop"), SimpleNamespace(message="it broke")
    log = SimpleNamespace(status="error", error=error, eval=task)
    monkeypatch.setattr("inspect_ai.eval", lambda *_, **__: [log])
    words = "eval nhop_implicit --items 2 --model trivium/oracle --backend inspect --out"
    assert main([*words.split(), str(tmp_path / "run")]) == 1
    assert "Inspect did not finish nhop: it broke" in capsys.readouterr().err


def test_problems_of_logging_are_silent_during_a_run_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk prints no traceback for every line of Inspect's log; ours are shown again."""
    monkeypatch.setattr(logging, "raiseExceptions", True)
    shown = []

    def broken(*_: object, **__: object) -> None:
        shown.append(logging.raiseExceptions)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("inspect_ai.eval", broken)
    words = "eval nhop_implicit --items 2 --model trivium/oracle --backend inspect --out"
    assert main([*words.split(), str(tmp_path / "run")]) == 1
    assert shown == [False]
    assert logging.raiseExceptions


def test_a_main_run_asks_models_about_every_preset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    models = ["--model", "trivium/oracle", "--model", "trivium/last_line"]
    words = ["run", "--benchmarks", "nhop_explicit", "--all", "--items", "2"]
    words += ["--backend", "inspect", "--processes", "1", "--out", "here"]
    assert main([*words, *models]) == 0
    for preset in ("explicit-easy", "explicit-hard", "explicit-ladder"):
        for model in ("oracle", "last_line"):
            asked = Path("here") / "nhop_explicit" / preset / f"trivium_{model}"
            assert same_for_all(asked) == same_for_all(asked.with_name(model))


def test_a_sweep_has_a_log_for_each_evaluation_and_asks_nothing_twice(words: list[str]) -> None:
    words += ["--out", "here", "--model", "trivium/oracle", "--model", "trivium/last_line"]
    assert main(words) == 0
    here = Path("here")
    assert len(log_files(here)) == 2 * len(HOPS)
    for hops in HOPS:
        assert same_for_all(folder("here", hops, "trivium_oracle")) == same_for_all(
            folder("here", hops, "oracle")
        )
    before = (here / "summary.csv").read_bytes()
    assert main(words) == 0, "nothing is left to ask"
    assert len(log_files(here)) == 2 * len(HOPS)
    assert (here / "summary.csv").read_bytes() == before


@pytest.mark.slow
def test_a_sweep_killed_in_the_middle_ends_the_same(words: list[str], model: SolverModel) -> None:
    words += ["--model", "vllm/m", "--concurrency", "4"]
    with Server(model, latency=0.1) as server:
        words += ["--base_url", server.url]
        assert main([*words, "--out", "whole"]) == 0
        assert set(server.answered.values()) == {1}
        server.answered.clear()
        for finished in (3, 13):
            run = subprocess.Popen([sys.executable, "-m", "trivium", *words, "--out", "killed"])
            while count_records(Path("killed")) < BUILT_IN + finished:
                time.sleep(0.02)
            run.send_signal(signal.SIGKILL)
            assert run.wait() == -signal.SIGKILL
        assert main([*words, "--out", "killed"]) == 0
        # Asked again is only what was being asked at each kill.
        assert sum(server.answered.values()) <= ITEMS * len(HOPS) + 2 * 4
    for hops in HOPS:
        assert same_for_all(folder("killed", hops, "vllm_m")) == same_for_all(
            folder("whole", hops, "vllm_m")
        )
    assert Path("killed/summary.csv").read_bytes() == Path("whole/summary.csv").read_bytes()


def test_what_failed_permanently_in_one_evaluation_is_asked_again(
    words: list[str], model: SolverModel
) -> None:
    broken = {load_task("nhop_implicit", fields={"hops": HOPS[1]}).item(2, SEED).prompt}
    out = folder("here", HOPS[1], "vllm_m")
    with Server(model, lambda prompt, nth: "400" if prompt in broken else None) as server:
        words += ["--out", "here", "--model", "vllm/m", "--base_url", server.url]
        assert main(words) == 1
        kinds = Counter(row["kind"] for row in same_for_all(out))
        assert kinds == {"right": ITEMS - 1, "failed": 1}
        broken.clear()
        before = server.asked.copy()
        assert main([*words, "--retry_errors"]) == 0
        assert sum((server.asked - before).values()) == 1
    assert [(row["index"], row["kind"]) for row in same_for_all(out)] == [
        (index, "right") for index in range(ITEMS)
    ]


def test_an_interrupt_keeps_the_records_and_no_key(
    words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VLLM_API_KEY", KEY)
    words += ["--out", "here", "--model", "vllm/m", "--concurrency", "2"]
    with Server(lambda messages: f"my key is {KEY}", latency=0.1) as server:
        words += ["--base_url", server.url]
        run = subprocess.Popen([sys.executable, "-m", "trivium", *words])
        while count_records(Path("here")) < BUILT_IN + 3:
            time.sleep(0.02)
        run.send_signal(signal.SIGINT)
        assert run.wait() == 130
    assert count_records(Path("here")) >= BUILT_IN + 3
    assert log_files(Path("here"))
    written = everything_written(Path("here"))
    assert b"my key is [key]" in written
    assert KEY.encode() not in written


def test_items_are_run_in_portions_so_that_memory_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trivium.models.inspect.run.PORTION", 6)
    words = ["run", "--benchmarks", "nhop_implicit", "--items", "7", "--processes", "1"]
    words += ["--model", "trivium/oracle", "--model", "trivium/last_line", "--backend", "inspect"]
    assert main([*words, "--out", str(tmp_path)]) == 0
    logs = [read_eval_log(str(path)) for path in log_files(tmp_path / "logs")]
    assert sorted(len(log.samples or []) for log in logs) == [1, 1, 3, 3, 3, 3]
    for name in ("oracle", "last_line"):
        (own,) = tmp_path.rglob(f"trivium_{name}")
        assert same_for_all(own) == same_for_all(own.with_name(name))
