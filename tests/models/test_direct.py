"""The direct backend against a real server: faults, resuming, errors, both protocols."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.models.common import (
    count_records,
    eval_words,
    oracle,
    prompts,
    records,
    same_for_all,
    summary,
)
from tests.models.server import Server, some_faults
from trivium.cli import main
from trivium.models.endpoint import Endpoint

# The kill test takes a second for each kill, most of it to start Python.
KILLS = int(os.environ.get("TRIVIUM_TEST_KILLS", "3"))


def words(server: Server, out: Path, *flags: str, items: int = 50) -> list[str]:
    return eval_words(server, out, "--retry_backoff", "0.01", *flags, items=items)


def test_items_with_every_fault_are_each_answered_once(tmp_path: Path) -> None:
    # 5% of the calls fail in each of seven ways: one call in three.
    with Server(oracle(700), some_faults(5), slow=0.5) as server:
        assert main(words(server, tmp_path, "--concurrency", "200", items=700)) == 0
    found = records(tmp_path)
    assert [row["index"] for row in found] == list(range(700))
    assert all(row["kind"] == "right" for row in found)
    assert set(server.answered.values()) == {1}
    assert sum(server.asked.values()) > 840
    assert sum(row["usage"]["requests"] for row in found) == sum(server.asked.values())


@pytest.mark.parametrize("kind", ["slow", "trickle"])
def test_a_call_that_takes_too_long_is_retried(kind: str, tmp_path: Path) -> None:
    late = some_faults(50, (kind,))
    with Server(oracle(6), late, slow=30.0) as server:
        assert main(words(server, tmp_path, "--timeout", "1", items=6)) == 0
    assert summary(tmp_path)["answered"] == 6
    assert sum(server.asked.values()) > 6


def test_an_item_that_always_fails_is_an_error_and_can_be_asked_again(tmp_path: Path) -> None:
    broken = set(prompts()[7:9])
    with Server(oracle(), lambda prompt, nth: "500" if prompt in broken else None) as server:
        flags = words(server, tmp_path, "--max_retries", "2")
        assert main(flags) == 1
        assert {server.asked[prompt] for prompt in broken} == {3}
        found = summary(tmp_path)
        assert (found["items"], found["answered"], found["failed"]) == (50, 48, 2)
        assert found["metrics"]["correct"] == {**found["metrics"]["correct"], "value": 1.0, "n": 48}
        failed = [row for row in records(tmp_path) if row["kind"] == "failed"]
        assert [row["index"] for row in failed] == [7, 8]
        assert all(row["error"].startswith("500:") and row["scores"] == {} for row in failed)

        before = server.asked.copy()
        assert main([*flags, "--no_retry_errors"]) == 1
        assert server.asked == before
        broken.clear()
        with (tmp_path / "records.jsonl").open("ab") as file:
            file.write(b'{"id": "half a li')  # left by a killed writer
        assert main(flags) == 0
        assert sum((server.asked - before).values()) == 2
    assert summary(tmp_path)["metrics"]["correct"]["n"] == 50
    assert [row["index"] for row in records(tmp_path)] == list(range(50))


def test_what_was_answered_is_never_asked_again(tmp_path: Path) -> None:
    with Server(oracle()) as server:
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
def test_the_protocol_that_the_server_supports_is_found_and_kept(
    protocol: str, forgiving: bool, tmp_path: Path
) -> None:
    with Server(oracle(), protocols=(protocol,), forgiving=forgiving) as server:
        assert main(words(server, tmp_path)) == 0
    assert sum(server.paths.values()) == 50
    assert summary(tmp_path)["answered"] == 50


def test_settings_reach_the_server(tmp_path: Path) -> None:
    system = tmp_path / "system.txt"
    system.write_text("Be brief.\n")
    flags = ("--temp", "0.5", "--max_output_tokens", "77", "--system", str(system), "--save_prompt")
    for protocol, limit in (("responses", "max_output_tokens"), ("chat", "max_tokens")):
        Endpoint._protocols.clear()
        with Server(oracle(), protocols=(protocol,)) as server:
            assert main(words(server, tmp_path / protocol, *flags, items=2)) == 0
        body = server.bodies[-1]
        assert (body["model"], body["temperature"], body[limit]) == ("m", 0.5, 77)
        first = body.get("instructions") or body["messages"][0]["content"]
        assert first == "Be brief."
        assert [row["prompt"] for row in records(tmp_path / protocol)] == prompts(2)


def test_the_limit_of_tokens_has_another_name_at_openai(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-unknown")
    # Elsewhere chat comes first: some servers answer all other paths with 401.
    with Server(oracle(), refuse={"/responses": 401}) as server:
        flags = ["--max_output_tokens", "77"]
        called = words(server, tmp_path, *flags, items=2)
        assert main(["openai/m" if word == "vllm/m" else word for word in called]) == 0
    assert server.bodies[-1]["max_completion_tokens"] == 77
    assert "max_tokens" not in server.bodies[-1]
    assert "temperature" not in server.bodies[-1]


@pytest.mark.parametrize("protocol", ["responses", "chat"])
@pytest.mark.parametrize("cut_off", [False, True])
def test_what_a_reply_took_is_recorded(protocol: str, cut_off: bool, tmp_path: Path) -> None:
    with Server(oracle(), protocols=(protocol,), cut_off=cut_off) as server:
        assert main(words(server, tmp_path, items=3)) == 0
    usage = {"requests": 1, "retries": 0, "input_tokens": 11, "output_tokens": 7}
    # Only one of the protocols of this server reports how many tokens were reasoning.
    expected = usage | {"reasoning_tokens": 0} if protocol == "responses" else usage
    found = records(tmp_path)
    assert [row["usage"] for row in found] == [expected] * 3
    assert {row["stop_reason"] for row in found} == {"length" if cut_off else "stop"}
    # The only line of a reply that met the limit may be incomplete.
    assert {row["kind"] for row in found} == {"cut-off" if cut_off else "right"}
    assert all(row["seconds"] > 0 for row in found)


def test_progress_is_printed_as_often_as_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Server(oracle()) as server:
        assert main(words(server, tmp_path, "--log_every", "20")) == 0
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(",")[0] for line in lines] == [
        "nhop_implicit vllm/m: 20/50",
        "nhop_implicit vllm/m: 40/50",
    ]


def test_every_trial_is_a_prompt_of_its_own(tmp_path: Path) -> None:
    with Server(oracle(trials=3)) as server:
        assert main(words(server, tmp_path, "--order_trials", "3")) == 0
    assert len(server.asked) == 150
    assert summary(tmp_path)["metrics"]["answered_alike"]["value"] == 1.0


def test_a_server_that_asks_to_wait_is_waited_for(tmp_path: Path) -> None:
    began = time.monotonic()
    with Server(oracle(), lambda prompt, nth: "429" if nth <= 3 else None) as server:
        assert main(words(server, tmp_path, items=1)) == 0
    assert time.monotonic() - began >= 3 * 0.2


@pytest.mark.parametrize(
    ("fault", "status"), [("401", 401), ("402", 402), ("403", 403), ("404", 404), ("quota", 429)]
)
def test_a_run_that_cannot_succeed_stops_with_a_sentence(
    fault: str,
    status: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The other calls do not wait for a hanging first one; a slow machine must not look like that.
    monkeypatch.setattr("trivium.models.endpoint.SECONDS_OF_PROBING", 60.0)
    with Server(oracle(), lambda prompt, nth: fault) as server:
        assert main(words(server, tmp_path)) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"trivium: vllm/m at {server.url} cannot be asked: {status}:")
    assert error.count("\n") == 1
    # One call for each protocol, and those that were waiting for the first.
    assert sum(server.asked.values()) <= 4


def test_a_run_in_which_everything_fails_stops_early(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Server(oracle(), lambda prompt, nth: "400") as server:
        assert main(words(server, tmp_path, "--concurrency", "1")) == 1
    assert "first 20 attempts" in capsys.readouterr().err
    assert len(server.asked) == 20


def test_a_server_that_is_not_there_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = Server(oracle(), port=9)  # never started: nothing listens on the discard port
    began = time.monotonic()
    assert main(words(gone, tmp_path)) == 1
    assert time.monotonic() - began < 5
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("trivium: vllm/m at http://127.0.0.1:9/v1 cannot be asked: no conn")


def test_many_requests_are_not_sent_without_consent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Server(oracle()) as server:
        assert main(words(server, tmp_path, "--confirm_above", "49")) == 2
        assert "This would send 50 requests" in capsys.readouterr().err
        assert not server.asked
        assert main(words(server, tmp_path, "--confirm_above", "49", "--yes")) == 0
        # All is answered now, so that nothing would be sent.
        assert main(words(server, tmp_path, "--confirm_above", "0")) == 0


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (["--model", "gpt"], "PROVIDER/MODEL"),
        (["--model", "unknown/m"], "--base_url"),
        (["--model", "openai/m"], "OPENAI_API_KEY is not set"),
        (["--model", "vllm/m", "--base_url", "ftp://x"], "base_url"),
        (["--model", "vllm/m", "--concurrency", "0"], "concurrency must be in 1..1000, got 0"),
        (["--model", "vllm/m", "--system", "nowhere.txt"], "nowhere.txt"),
        (["--model", "vllm/m", "--solver", "oracle"], "eval takes one solver or model, got oracle"),
    ],
)
def test_bad_flags_end_in_a_sentence(
    flags: list[str],
    sentence: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.chdir(tmp_path)
    assert main(["eval", "nhop_implicit", "--out", "o", "--backend", "direct", *flags]) == 2
    assert sentence in capsys.readouterr().err


def test_after_any_number_of_kills_the_records_are_those_of_an_undisturbed_run(
    tmp_path: Path,
) -> None:
    items, concurrency = 60 * KILLS, 8
    chance = random.Random(KILLS)
    killed, calm = tmp_path / "killed", tmp_path / "calm"
    with Server(oracle(items), latency=0.05) as server:
        flags = words(server, killed, "--concurrency", f"{concurrency}", "--yes", items=items)
        for _ in range(KILLS):
            already = count_records(killed)
            run = subprocess.Popen([sys.executable, "-m", "trivium", *flags])
            while count_records(killed) == already:
                time.sleep(0.01)
            time.sleep(chance.uniform(0, 0.3))
            run.send_signal(signal.SIGKILL)
            assert run.wait() == -signal.SIGKILL, "it must be killed in the middle"
        assert main(flags) == 0
        assert len(server.answered) == items
        assert sum(server.answered.values()) <= items + KILLS * concurrency
    with Server(oracle(items)) as server:
        assert main(words(server, calm, "--yes", items=items)) == 0
    assert same_for_all(killed) == same_for_all(calm)
