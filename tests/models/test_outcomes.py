"""How replies end: whole, cut off, declined, broken off; on both backends, none of it as wrong."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from tests.models.common import eval_words, oracle, prompts, records, summary
from tests.models.server import Alter, Server
from trivium.cli import main
from trivium.core.benchmark import Benchmark
from trivium.core.errors import UserError
from trivium.models.bodies import read_error
from trivium.models.endpoint import read_reply
from trivium.models.settings import ModelOptions

BACKENDS = pytest.mark.parametrize("backend", ["direct", "inspect"])
# Both backends read bodies by the same code; what only the direct backend has is tested there.
DIRECT = pytest.mark.parametrize("backend", ["direct"])


def ask(server: Server, out: Path, backend: str, *flags: str, items: int = 3) -> int:
    quick = ("--retry_backoff", "0.01", "--max_retries", "2")
    return main(eval_words(server, out, *quick, *flags, backend=backend, items=items))


def chat(**changes: Any) -> Alter:
    """Changes of the choice in a chat completion; `message_` ones are of its message."""

    def alter(body: dict[str, Any], nth: int) -> None:
        for key, value in changes.items():
            inner = key.startswith("message_")
            target = body["choices"][0]["message"] if inner else body["choices"][0]
            target[key.removeprefix("message_")] = value

    return alter


@DIRECT
def test_thinking_in_the_content_is_kept_with_the_reply(backend: str, tmp_path: Path) -> None:
    own = oracle(3)
    with Server(lambda messages: f"<think>\nA, then B\n</think>\n\n{own(messages)}") as server:
        assert ask(server, tmp_path, backend) == 0
    for row, prompt in zip(records(tmp_path), prompts(3), strict=True):
        assert row["reply"] == f"<think>\nA, then B\n</think>\n\n{own([prompt])}"
        assert (row["kind"], row["reasoning"]) == ("right", None)


@BACKENDS
def test_reasoning_of_the_provider_is_kept_apart_from_the_reply(
    backend: str, tmp_path: Path
) -> None:
    def alter(body: dict[str, Any], nth: int) -> None:
        body["choices"][0]["message"]["reasoning_content"] = "first A, then B"
        body["usage"]["completion_tokens_details"] = {"reasoning_tokens": 5}

    with Server(oracle(3), alter=alter) as server:
        assert ask(server, tmp_path, backend) == 0
    found = records(tmp_path)
    assert {row["reasoning"] for row in found} == {"first A, then B"}
    assert {row["kind"] for row in found} == {"right"}
    reported = {"total": 15, "reported": 3, "not_reported": 0, "mean": 5.0}
    assert summary(tmp_path)["tokens"]["reasoning_tokens"] == reported


@DIRECT
def test_content_in_parts_is_read(backend: str, tmp_path: Path) -> None:
    def alter(body: dict[str, Any], nth: int) -> None:
        message = body["choices"][0]["message"]
        thought = {"type": "thinking", "thinking": [{"type": "text", "text": "first A"}]}
        message["content"] = [thought, {"type": "text", "text": message["content"]}]

    with Server(oracle(3), alter=alter) as server:
        assert ask(server, tmp_path, backend) == 0
    assert {(row["kind"], row["reasoning"]) for row in records(tmp_path)} == {("right", "first A")}


@DIRECT
@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("context", "400: no: context"),
        ("cut", "the connection broke off before the reply was complete"),
        ("dropped", "the connection broke off before the reply was complete"),
        ("slow", "no whole reply within 1 seconds"),
    ],
)
def test_errors_can_be_read(fault: str, error: str, backend: str, tmp_path: Path) -> None:
    with Server(oracle(2), lambda prompt, nth: fault, slow=3.0) as server:
        flags = ("--timeout", "1", "--max_retries", "0")
        assert ask(server, tmp_path, backend, *flags, items=2) == 1
    found = [(row["kind"], row["error"], row["reply"]) for row in records(tmp_path)]
    assert found == [("failed", error, None)] * 2


def test_reasoning_of_the_other_protocol_is_kept_too(tmp_path: Path) -> None:
    def alter(body: dict[str, Any], nth: int) -> None:
        summary = [{"type": "summary_text", "text": "first A"}]
        body["output"][0]["summary"] = [*summary, {"type": "summary_text", "text": "then B"}]
        body["usage"]["output_tokens_details"]["reasoning_tokens"] = 4

    with Server(oracle(3), alter=alter) as server:
        assert ask(server, tmp_path, "direct", "--api", "responses") == 0
    assert {row["reasoning"] for row in records(tmp_path)} == {"first A\n\nthen B"}
    assert summary(tmp_path)["tokens"]["reasoning_tokens"]["total"] == 12


@DIRECT
def test_a_model_that_gives_up_is_wrong(backend: str, tmp_path: Path) -> None:
    own, solved = oracle(8), set(prompts(8)[:3])

    def answer(messages: list[str]) -> str:
        return own(messages) if messages[0] in solved else "Sorry, I can't solve this."

    with Server(answer) as server:
        assert ask(server, tmp_path, backend, items=8) == 0
    assert [row["kind"] for row in records(tmp_path)] == ["right"] * 3 + ["no-answer"] * 5
    assert summary(tmp_path)["metrics"]["correct"]["value"] == 0.375


@BACKENDS
@pytest.mark.parametrize("restate", [False, True])
def test_a_model_may_be_asked_once_more_for_its_answer(
    restate: bool, backend: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own, (first, second, _) = oracle(3), prompts(3)

    def answer(messages: list[str]) -> str:
        if messages[0] == first and len(messages) == 1:
            return "It is clear to me."
        return "I give up." if messages[0] == second else own(messages[:1])

    flags = ["--restate"] if restate else []
    with Server(answer) as server:
        assert ask(server, tmp_path, backend, *flags) == 0
    printed = capsys.readouterr().out
    found = records(tmp_path)
    if not restate:
        assert [row["kind"] for row in found] == ["no-answer", "no-answer", "right"]
        assert "--restate" in printed
        return
    assert [row["kind"] for row in found] == ["right", "no-answer", "right"]
    assert [row["usage"]["requests"] for row in found] == [2, 2, 1]
    assert found[0]["reply"] == ["It is clear to me.", found[0]["gold"]]
    assert found[1]["reply"] == ["I give up.", "I give up."]
    assert isinstance(found[2]["reply"], str)
    asked = [body["messages"][-1]["content"] for body in server.bodies]
    assert sum(text.startswith("Give your final answer in the form") for text in asked) == 2
    assert "--restate" not in printed


def test_asking_once_more_is_not_suggested_for_games(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Server(lambda messages: "I give up.") as server:
        words = eval_words(server, tmp_path, items=2)
        words[1] = "blicket_game"
        assert main(words) == 0
    assert [row["kind"] for row in records(tmp_path)] == ["no-answer"] * 2
    printed = capsys.readouterr().out
    assert "none of 2 replies holds an answer" in printed
    assert "--restate" not in printed


@BACKENDS
@pytest.mark.parametrize("api", ["chat", "responses"])
def test_replies_can_be_held_to_a_schema(
    api: str, backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = {
        "type": "object",
        "properties": {"answer": {"type": "string"}},
        "required": ["answer"],
        "additionalProperties": False,
    }
    monkeypatch.setattr(Benchmark, "schema", lambda self, item, view: schema)
    with Server(oracle(3)) as server:
        assert ask(server, tmp_path, backend, "--structured", "--api", api) == 0
    for body in server.bodies:
        form = body["response_format"] if api == "chat" else body["text"]["format"]
        inner = form["json_schema"] if api == "chat" else form
        assert (form["type"], inner["name"], inner["schema"]) == ("json_schema", "answer", schema)


@BACKENDS
def test_a_reply_cut_off_before_an_answer_is_wrong_with_bounds(
    backend: str, tmp_path: Path
) -> None:
    own, first = oracle(4), prompts(4)[0]

    def answer(messages: list[str]) -> str:
        return "Let me think about" if messages[0] == first else own(messages)

    def alter(body: dict[str, Any], nth: int) -> None:
        if body["choices"][0]["message"]["content"].startswith("Let me"):
            body["choices"][0]["finish_reason"] = "length"

    with Server(answer, alter=alter) as server:
        assert ask(server, tmp_path, backend, items=4) == 0
    cut = records(tmp_path)[0]
    assert (cut["kind"], cut["stop_reason"], cut["scores"]["correct"]) == ("cut-off", "length", 0.0)
    assert cut["reply"] == "Let me think about"
    found = summary(tmp_path)
    assert (found["cut_offs"], found["failed"], found["answered"]) == (1, 0, 3)
    assert found["metrics"]["correct"]["n"] == 4
    assert found["metrics"]["correct"]["value"] == 0.75
    assert found["bounds"] == [0.75, 1.0]


@BACKENDS
@pytest.mark.parametrize(
    ("changes", "reply"),
    [
        ({"finish_reason": "content_filter", "message_content": "I"}, "I"),
        ({"message_content": None, "message_refusal": "I must not."}, "I must not."),
    ],
)
def test_what_a_provider_declines_is_left_out(
    changes: dict[str, Any], reply: str, backend: str, tmp_path: Path
) -> None:
    with Server(oracle(3), alter=chat(**changes)) as server:
        assert ask(server, tmp_path, backend) == 1
    found = records(tmp_path)
    assert [(row["kind"], row["reply"], row["scores"]) for row in found] == [
        ("declined", reply, {})
    ] * 3
    figures = summary(tmp_path)
    assert (figures["declined"], figures["failed"], figures["answered"]) == (3, 0, 0)
    assert figures["metrics"]["correct"]["n"] == 0
    assert set(server.asked.values()) == {1}, "a declined prompt is not sent again"


def test_a_prompt_that_the_server_declines_is_declined(tmp_path: Path) -> None:
    body = b'{"error": {"message": "no", "code": "content_filter"}}'
    assert read_error(body, None, str) == ("no", "declined")
    assert read_error(b'{"error": {"message": "m", "metadata": {"reasons": ["x"]}}}', None, str)[
        1
    ] == ("declined")
    assert read_error(b'{"detail": "Not Found"}', None, str) == ("Not Found", "None")
    assert read_error(b"<html>", None, str) == ("<html>", None)
    assert read_error(b'"text"', None, str) == ("text", None)


@DIRECT
@pytest.mark.parametrize("reason", ["error", "cancelled"])
def test_a_reply_that_broke_off_is_asked_for_again(
    reason: str, backend: str, tmp_path: Path
) -> None:
    def alter(body: dict[str, Any], nth: int) -> None:
        if nth == 1:
            chat(finish_reason=reason, message_content="B_00", error={"message": "gone"})(body, nth)

    with Server(oracle(3), alter=alter) as server:
        assert ask(server, tmp_path, backend) == 0
    found = records(tmp_path)
    assert [row["kind"] for row in found] == ["right"] * 3
    assert {row["usage"]["retries"] for row in found} == {1}
    assert summary(tmp_path)["retries"] == 3


@DIRECT
def test_what_always_breaks_off_is_an_error_with_what_it_took(backend: str, tmp_path: Path) -> None:
    broken = prompts(3)[1]

    def answer(messages: list[str]) -> str:
        return "B_00" if messages[0] == broken else oracle(3)(messages)

    def alter(body: dict[str, Any], nth: int) -> None:
        if body["choices"][0]["message"]["content"] == "B_00":
            chat(finish_reason="error", error={"message": "gone"})(body, nth)

    with Server(answer, alter=alter) as server:
        assert ask(server, tmp_path, backend) == 1
    failed = records(tmp_path)[1]
    assert (failed["kind"], failed["error"]) == ("failed", "the reply ended with 'error': gone")
    assert failed["usage"]["requests"] == 3
    if backend == "direct":
        assert failed["usage"]["output_tokens"] == 3 * 7


@pytest.mark.parametrize(
    ("status", "details", "kind"),
    [
        ("cancelled", None, "failed"),
        ("failed", None, "failed"),
        ("incomplete", None, "failed"),
        ("incomplete", {"reason": "content_filter"}, "declined"),
        ("incomplete", {"reason": "max_output_tokens"}, "cut-off"),
    ],
)
def test_responses_that_are_not_complete(
    status: str, details: dict[str, str] | None, kind: str, tmp_path: Path
) -> None:
    def alter(body: dict[str, Any], nth: int) -> None:
        body.update(status=status, incomplete_details=details)
        body["output"][1]["content"][0]["text"] = "so"

    with Server(oracle(3), alter=alter) as server:
        assert ask(server, tmp_path, "direct", "--api", "responses") == int(kind != "cut-off")
    assert {row["kind"] for row in records(tmp_path)} == {kind}


@DIRECT
@pytest.mark.parametrize(
    "usage",
    ["many", ["a"], {"prompt_tokens": "raw:NaN"}, {"prompt_tokens": "raw:1e999"}, "raw:1e999"],
)
def test_odd_usage_throws_no_reply_away(usage: object, backend: str, tmp_path: Path) -> None:
    def alter(body: dict[str, Any], nth: int) -> None:
        body["usage"] = usage

    with Server(oracle(3), alter=alter) as server:
        assert ask(server, tmp_path, backend) == 0
    found = records(tmp_path)
    assert [row["kind"] for row in found] == ["right"] * 3
    assert {frozenset(row["usage"].items()) for row in found} == {
        frozenset({("requests", 1), ("retries", 0)})
    }
    not_reported = {"total": 0, "reported": 0, "not_reported": 3, "mean": None}
    assert summary(tmp_path)["tokens"]["input_tokens"] == not_reported


def test_of_odd_usage_what_can_be_read_is_kept() -> None:
    def usage(text: str) -> Mapping[str, int]:
        choice = '{"message": {"content": "x"}, "finish_reason": "stop"}'
        body = f'{{"choices": [{choice}], "usage": {{"prompt_tokens": 3, {text}}}}}'
        return read_reply(body.encode(), None, str).usage

    assert usage('"completion_tokens": 4.0') == {"input_tokens": 3, "output_tokens": 4}
    for odd in ("-1", "true", '"7"', "null", "18446744073709551616", "2.5", "{}"):
        assert usage(f'"completion_tokens": {odd}') == {"input_tokens": 3}


@DIRECT
@pytest.mark.parametrize("fault", ["truncated", "empty", "500"])
def test_what_is_no_reply_is_asked_for_again_and_counted(
    fault: str, backend: str, tmp_path: Path
) -> None:
    def alter(body: dict[str, Any], nth: int) -> None:
        if fault == "empty" and nth == 1:
            body["choices"] = []

    def fail(prompt: str, nth: int) -> str | None:
        return fault if nth == 1 and fault != "empty" else None

    with Server(oracle(3), fail, alter=alter) as server:
        assert ask(server, tmp_path, backend) == 0
    found = records(tmp_path)
    assert [row["kind"] for row in found] == ["right"] * 3
    assert sum(row["usage"]["requests"] for row in found) >= 6
    assert {row["usage"]["retries"] for row in found} == {1}


@BACKENDS
def test_retries_do_not_multiply_and_errors_can_be_read(backend: str, tmp_path: Path) -> None:
    broken, retries = prompts(3)[1], 4
    with Server(oracle(3), lambda prompt, nth: "503" if prompt == broken else None) as server:
        assert ask(server, tmp_path, backend, "--max_retries", str(retries)) == 1
    assert server.asked[broken] == retries + 1
    failed = records(tmp_path)[1]
    assert "503" in failed["error"]
    assert "no: 503 for Bearer" in failed["error"]
    assert (failed["usage"]["requests"], failed["usage"]["retries"]) == (retries + 1, retries)


def test_on_inspect_a_refused_key_fails_every_attempt(tmp_path: Path) -> None:
    with Server(oracle(3), lambda prompt, nth: "401") as server:
        assert ask(server, tmp_path, "inspect") == 1
    assert [row["scores"] for row in records(tmp_path)] == [{}] * 3
    assert all("401" in row["error"] for row in records(tmp_path))
    assert set(server.asked.values()) == {1}


@DIRECT
@pytest.mark.parametrize("status", [401, 403, 404])
def test_what_cannot_succeed_stops_at_once(
    status: int, backend: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Server(oracle(50), lambda prompt, nth: str(status)) as server:
        assert ask(server, tmp_path, backend, "--concurrency", "4", items=50) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"trivium: vllm/m at {server.url} cannot be asked: {status}: no:")
    assert error.count("\n") == 1
    assert sum(server.asked.values()) <= 8


@DIRECT
def test_replies_under_way_when_a_run_stops_are_kept(
    backend: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, last = prompts(8)[0], prompts(8)[-1]

    def fault(prompt: str, nth: int) -> str | None:
        return None if prompt == first else "quota" if prompt == last else "slow"

    with Server(oracle(8), fault, slow=2.0, latency=0.5) as server:
        assert ask(server, tmp_path, backend, "--concurrency", "8", items=8) == 1
    assert sum(server.asked.values()) == 8
    assert [row["kind"] for row in records(tmp_path)] == ["right"] * 7
    error = capsys.readouterr().err
    assert "stopping after the 6 open calls" in error
    assert "7 of 8 attempts are made; in a folder, the same call makes the rest" in error


@DIRECT
@pytest.mark.parametrize("host", ["127.0.0.1:9", "no-such-host.invalid"])
def test_a_server_that_is_not_there_stops_at_once(
    host: str, backend: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = eval_words(Server(oracle()), tmp_path, backend=backend, items=50)
    words[words.index("--base_url") + 1] = f"http://{host}/v1"
    assert main(words) == 1
    error = capsys.readouterr().err
    start = f"trivium: vllm/m at http://{host}/v1 cannot be asked: no connection ("
    assert error.startswith(start)
    assert "invalid" in host or error == f"{start}Connection refused)\n"
    assert error.count("\n") == 1


@DIRECT
def test_a_server_that_goes_away_ends_the_run(
    backend: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is left is not recorded as failed: the same command makes it later."""
    third = prompts(8)[2]

    def fault(prompt: str, nth: int) -> str | None:
        if prompt != third:
            return None
        server.stop()
        return "dropped"

    flags = ("--concurrency", "1", "--max_retries", "5", "--retry_backoff", "0.05")
    with Server(oracle(8), fault) as server:
        assert ask(server, tmp_path, backend, *flags, items=8) == 1
    assert [row["kind"] for row in records(tmp_path)] == ["right"] * 2
    error = capsys.readouterr().err
    assert "cannot be asked: no connection (Connection refused) (2 of 8 attempts" in error


def test_a_server_that_hangs_is_not_asked_one_call_at_a_time(tmp_path: Path) -> None:
    with Server(oracle(), lambda prompt, nth: "slow", slow=30) as server:
        began = time.monotonic()
        flags = ("--timeout", "1.2", "--max_retries", "0", "--concurrency", "20")
        assert ask(server, tmp_path, "direct", *flags, items=20) == 1
        assert time.monotonic() - began < 8
    assert len(server.asked) == 20


def test_a_server_that_hangs_is_announced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trivium.models.backends.SECONDS_TO_FIRST_NOTE", 0.2)
    with Server(oracle(3), latency=0.6) as server:
        assert ask(server, tmp_path, "direct") == 0
    assert capsys.readouterr().err == (
        f"vllm/m at {server.url}: no reply after 0.2 s (--timeout is 600)\n"
    )


@DIRECT
@pytest.mark.parametrize("status", [401, 503])
def test_a_server_with_one_protocol_is_asked_by_that(
    status: int, backend: str, tmp_path: Path
) -> None:
    with Server(oracle(3), refuse={"/responses": status}) as server:
        assert ask(server, tmp_path / "auto", backend) == 0
        assert ask(server, tmp_path / "chat", backend, "--api", "chat") == 0
    assert set(server.paths) == {"/v1/chat/completions"}
    with Server(oracle(3), refuse={"/chat/completions": status}) as server:
        assert ask(server, tmp_path / "responses", backend, "--api", "responses") == 0
    assert set(server.paths) == {"/v1/responses"}


@DIRECT
@pytest.mark.parametrize("protocol", ["chat", "responses"])
def test_effort_and_more_fields_reach_the_server(
    backend: str, protocol: str, tmp_path: Path
) -> None:
    flags = ["--api", protocol, "--reasoning_effort", "low", "--extra_body", '{"user": "me"}']
    with Server(oracle(3)) as server:
        assert ask(server, tmp_path, backend, *flags) == 0
    body = server.bodies[-1]
    effort = body["reasoning"]["effort"] if protocol == "responses" else body["reasoning_effort"]
    assert effort == "low"
    assert body["user"] == "me"
    assert not {"max_tokens", "max_output_tokens", "max_completion_tokens"} & set(body)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("{", "extra_body must be a JSON object such as"),
        ("[1]", "extra_body must be a JSON object such as"),
        ('{"stream": true}', "extra_body must not set stream"),
    ],
)
def test_more_fields_must_be_an_object(given: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        ModelOptions(extra_body=given)


def test_what_shapes_replies_identifies_a_run() -> None:
    more = ModelOptions(
        max_output_tokens=4096, reasoning_effort="low", extra_body='{"b": 1, "a": 2}', restate=True
    )
    assert asdict(more.settings()) == {
        "temp": None,
        "max_output_tokens": 4096,
        "system": None,
        "reasoning_effort": "low",
        "extra_body": '{"a": 2, "b": 1}',
        "api": "auto",
        "preamble": None,
        "stop": (),
        "structured": False,
        "restate": True,
        "template": None,
        "shots": 0,
    }
    assert ModelOptions().settings().max_output_tokens is None
