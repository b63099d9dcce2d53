"""The direct lane against a real server: faults, resuming, errors, both protocols."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.models.server import Server, SolverModel, some_faults
from trivium.benchmarks import load_task
from trivium.cli import main
from trivium.models.endpoint import Endpoint

NHOP = load_task("nhop_implicit")
SEED = 3
# The kill test takes a second for each kill, most of it to start Python.
KILLS = int(os.environ.get("TRIVIUM_TEST_KILLS", "3"))


@pytest.fixture(autouse=True)
def _no_memory_of_other_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Endpoint, "_spoken", {})


def solver_model(solver: str = "oracle", items: int = 50, trials: int = 1) -> SolverModel:
    return SolverModel(NHOP, solver, NHOP.items(items, SEED), trials)


def prompts(items: int = 50) -> list[str]:
    return [item.prompt for item in NHOP.items(items, SEED)]


def words(server: Server, out: Path, *flags: str, items: int = 50) -> list[str]:
    start = [
        "eval",
        "nhop_implicit",
        "--model",
        "vllm/m",
        "--backend",
        "direct",
        "--seed",
        f"{SEED}",
    ]
    start += ["--base_url", server.url, "--items", str(items), "--out", str(out)]
    return [*start, "--retry_backoff", "0.01", *flags]


def rows(out: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in (out / "records.jsonl").read_bytes().splitlines()]


def summary(out: Path) -> dict[str, Any]:
    held: dict[str, Any] = orjson.loads((out / "summary.json").read_bytes())
    return held


def test_two_thousand_items_with_every_fault_are_each_answered_once(tmp_path: Path) -> None:
    # 5% of the calls go wrong in each of seven ways: one call in three.
    with Server(solver_model(items=2000), some_faults(5), slow=0.5) as server:
        assert main(words(server, tmp_path, "--concurrency", "200", "--yes", items=2000)) == 0
    found = rows(tmp_path)
    assert [row["index"] for row in found] == list(range(2000))
    assert all(row["kind"] == "right" for row in found)
    assert set(server.answered.values()) == {1}
    assert sum(server.asked.values()) > 2400


@pytest.mark.parametrize("kind", ["slow", "trickle"])
def test_a_call_that_takes_too_long_is_made_again(kind: str, tmp_path: Path) -> None:
    late = some_faults(50, (kind,))
    with Server(solver_model(items=6), late, slow=30.0) as server:
        assert main(words(server, tmp_path, "--timeout", "1", items=6)) == 0
    assert summary(tmp_path)["answered"] == 6
    assert sum(server.asked.values()) > 6


def test_an_item_that_always_fails_is_an_error_and_can_be_asked_again(tmp_path: Path) -> None:
    broken = set(prompts()[7:9])
    with Server(solver_model(), lambda prompt, nth: "500" if prompt in broken else None) as server:
        flags = words(server, tmp_path, "--max_retries", "2")
        assert main(flags) == 0
        assert {server.asked[prompt] for prompt in broken} == {3}
        found = summary(tmp_path)
        assert (found["items"], found["answered"], found["errors"]) == (50, 48, 2)
        assert found["metrics"]["em"] == {**found["metrics"]["em"], "value": 1.0, "n": 48}
        failed = [row for row in rows(tmp_path) if row["kind"] == "error"]
        assert [row["index"] for row in failed] == [7, 8]
        assert all(row["error"].startswith("500:") and row["scores"] == {} for row in failed)

        before = server.asked.copy()
        assert main(flags) == 0
        assert server.asked == before, "an error is not asked again unless it is wished"
        broken.clear()
        with (tmp_path / "records.jsonl").open("ab") as file:
            file.write(b'{"id": "half a li')  # as a killed writer leaves it
        assert main([*flags, "--retry_errors"]) == 0
        assert sum((server.asked - before).values()) == 2
    assert summary(tmp_path)["metrics"]["em"]["n"] == 50
    assert [row["index"] for row in rows(tmp_path)] == list(range(50))


def test_what_was_answered_is_never_asked_again(tmp_path: Path) -> None:
    with Server(solver_model()) as server:
        assert main(words(server, tmp_path, items=20)) == 0
        assert main(words(server, tmp_path, items=50)) == 0
        assert set(server.asked.values()) == {1}
        assert len(server.asked) == 50
        # Other settings would make other replies: not in the same folder.
        assert main(words(server, tmp_path, "--temp", "1.0")) == 2
    assert summary(tmp_path)["answered"] == 50


@pytest.mark.parametrize(
    ("protocol", "forgiving"), [("responses", False), ("chat", False), ("chat", True)]
)
def test_the_protocol_that_the_server_speaks_is_found_and_kept_to(
    protocol: str, forgiving: bool, tmp_path: Path
) -> None:
    with Server(solver_model(), protocols=(protocol,), forgiving=forgiving) as server:
        assert main(words(server, tmp_path)) == 0
    assert sum(server.paths.values()) == 50
    assert summary(tmp_path)["answered"] == 50


def test_settings_reach_the_server(tmp_path: Path) -> None:
    system = tmp_path / "system.txt"
    system.write_text("Be brief.\n")
    flags = ("--temp", "0.5", "--max_output_tokens", "77", "--system", str(system), "--save_prompt")
    for protocol, told in (("responses", "max_output_tokens"), ("chat", "max_tokens")):
        Endpoint._spoken.clear()
        with Server(solver_model(), protocols=(protocol,)) as server:
            assert main(words(server, tmp_path / protocol, *flags, items=2)) == 0
        body = server.bodies[-1]
        assert (body["model"], body["temperature"], body[told]) == ("m", 0.5, 77)
        opening = body.get("instructions") or body["messages"][0]["content"]
        assert opening == "Be brief."
        assert [row["prompt"] for row in rows(tmp_path / protocol)] == prompts(2)


def test_progress_is_said_as_often_as_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Server(solver_model()) as server:
        assert main(words(server, tmp_path, "--log_every", "20")) == 0
    said = capsys.readouterr().err.splitlines()
    assert [line.split(",")[0] for line in said] == [
        "nhop_implicit vllm/m: 20/50",
        "nhop_implicit vllm/m: 40/50",
    ]


def test_order_trials_are_told_and_asked_apart(tmp_path: Path) -> None:
    with Server(solver_model(trials=3)) as server:
        assert main(words(server, tmp_path, "--order_trials", "3")) == 0
    assert len(server.asked) == 150
    assert summary(tmp_path)["metrics"]["answered_alike"]["value"] == 1.0


def test_a_server_that_asks_to_wait_is_waited_for(tmp_path: Path) -> None:
    began = time.monotonic()
    with Server(solver_model(), lambda prompt, nth: "429" if nth <= 3 else None) as server:
        assert main(words(server, tmp_path, items=1)) == 0
    assert time.monotonic() - began >= 3 * 0.2


@pytest.mark.parametrize("status", ["401", "404"])
def test_a_run_that_cannot_succeed_stops_with_a_sentence(
    status: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Server(solver_model(), lambda prompt, nth: status) as server:
        assert main(words(server, tmp_path)) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"trivium: vllm/m cannot be asked: {status}:")
    assert said.count("\n") == 1
    # One call for each protocol, and those of the next in line before the word is out.
    assert sum(server.asked.values()) <= 4


def test_a_run_in_which_everything_fails_stops_early(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Server(solver_model(), lambda prompt, nth: "400") as server:
        assert main(words(server, tmp_path, "--concurrency", "1")) == 2
    assert "first 20 attempts" in capsys.readouterr().err
    assert len(server.asked) == 20


def test_a_server_that_is_not_there_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = Server(solver_model(), port=9)  # never started; nobody listens on the discard port
    assert main(words(gone, tmp_path, "--max_retries", "1")) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2
    assert said[0].startswith("vllm/m: no reply yet, trying again (Connect")
    assert "127.0.0.1:9" in said[1]


def test_many_requests_are_not_sent_without_being_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Server(solver_model()) as server:
        assert main(words(server, tmp_path, "--confirm_above", "49")) == 2
        assert "This would send 50 requests" in capsys.readouterr().err
        assert not server.asked
        assert main(words(server, tmp_path, "--confirm_above", "49", "--yes")) == 0
        # All is answered now, so that nothing would be sent.
        assert main(words(server, tmp_path, "--confirm_above", "0")) == 0


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--model", "gpt"], "PROVIDER/MODEL"),
        (["--model", "nobody/m"], "--base_url"),
        (["--model", "openai/m"], "OPENAI_API_KEY is not set"),
        (["--model", "vllm/m", "--base_url", "ftp://x"], "base_url"),
        (["--model", "vllm/m", "--concurrency", "0"], "concurrency must be in 1..1000, got 0"),
        (["--model", "vllm/m", "--system", "nowhere.txt"], "nowhere.txt"),
        (["--model", "vllm/m", "--solver", "oracle"], "either"),
    ],
)
def test_bad_flags_end_in_a_sentence(
    flags: list[str],
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.chdir(tmp_path)
    assert main(["eval", "nhop_implicit", "--out", "o", "--engine", "direct", *flags]) == 2
    assert said in capsys.readouterr().err


def test_killed_again_and_again_the_records_end_as_if_nothing_had_happened(tmp_path: Path) -> None:
    items, concurrency = 60 * KILLS, 8
    chance = random.Random(KILLS)
    with Server(solver_model(items=items), latency=0.05) as server:
        flags = words(server, tmp_path, "--concurrency", f"{concurrency}", "--yes", items=items)
        for _ in range(KILLS):
            already = len(rows(tmp_path)) if (tmp_path / "records.jsonl").exists() else 0
            run = subprocess.Popen([sys.executable, "-m", "trivium", *flags])
            while _lines(tmp_path) == already:
                time.sleep(0.01)
            time.sleep(chance.uniform(0, 0.3))
            run.send_signal(signal.SIGKILL)
            assert run.wait() == -signal.SIGKILL, "it must be killed in the middle"
        assert main(flags) == 0
        assert len(server.answered) == items
        assert sum(server.answered.values()) <= items + KILLS * concurrency
    with Server(solver_model(items=items)) as server:
        assert main(words(server, tmp_path / "calm", "--yes", items=items)) == 0
    assert _bare(tmp_path) == _bare(tmp_path / "calm")


def _lines(out: Path) -> int:
    path = out / "records.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def _bare(out: Path) -> list[dict[str, Any]]:
    """The records without what differs from run to run."""
    return [{**row, "usage": None, "seconds": None} for row in rows(out)]
