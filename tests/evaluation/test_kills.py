"""Killed evaluations: nothing lost, nothing doubled, nothing recorded asked again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.evaluation.kills import KINDS, STATUSES, kill_often
from trivium.cli import main

pytest.importorskip("aiohttp")


@pytest.mark.parametrize(
    "kind", [KINDS[0], *(pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS[1:])]
)
def test_a_killed_evaluation_of_a_model_is_resumed(kind: signal.Signals, tmp_path: Path) -> None:
    outcome = kill_often(kind, 1, tmp_path / "killed")
    assert outcome.statuses <= STATUSES[kind]
    assert (outcome.recorded_asked_again, outcome.tracebacks) == (0, 0)


def children(process: int) -> list[int]:
    found = subprocess.run(["pgrep", "-P", str(process)], capture_output=True, check=False)
    return [int(line) for line in found.stdout.split()]


def alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").exists(), reason="processes are looked up in /proc")
@pytest.mark.parametrize(("kind", "status"), [(signal.SIGKILL, -9), (signal.SIGTERM, 143)])
def test_workers_end_with_their_parent(kind: signal.Signals, status: int, tmp_path: Path) -> None:
    words = "eval nhop_explicit --items 900000 --solver oracle --processes 2 --out"
    command = [sys.executable, "-m", "trivium", *words.split(), str(tmp_path / "e")]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        records = tmp_path / "e" / "records.jsonl"
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not (records.exists() and records.stat().st_size):
            time.sleep(0.02)
        workers = children(process.pid)
        assert len(workers) >= 2
        process.send_signal(kind)
        said = process.communicate(timeout=30)[1].decode()
    assert process.returncode == status
    assert "Traceback" not in said
    deadline = time.monotonic() + 20
    while any(map(alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(alive, workers))


def test_ctrl_c_ends_in_one_sentence(tmp_path: Path) -> None:
    """As in a terminal: the whole process group is interrupted."""
    words = "eval nhop_explicit --items 900000 --solver oracle --processes 2 --out e"
    command = [sys.executable, "-m", "trivium", *words.split()]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not any(
            path.stat().st_size for path in tmp_path.rglob("records.jsonl")
        ):
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)
        said = process.communicate(timeout=60)[1].decode()
    assert process.returncode == 130
    assert said.splitlines()[-1] == "trivium: interrupted; the same command resumes from here"
    assert "Traceback" not in said


@pytest.mark.parametrize(
    "words", ["audit nhop_implicit", "generate nhop_implicit --out -", "list", "report e"]
)
def test_nothing_claims_to_resume_that_does_not(
    words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(words: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("trivium.cli._dispatch", interrupt)
    assert main(words.split()) == 130
    assert capsys.readouterr().err == "trivium: interrupted\n"
