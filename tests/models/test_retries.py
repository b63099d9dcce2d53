"""Retries, waits, early stops and counts of the direct backend, with scripted calls."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from email.utils import formatdate
from typing import Any

import pytest

from trivium.benchmarks import load_task
from trivium.core.dialogue import Reply
from trivium.core.errors import UserError
from trivium.core.records import Attempt
from trivium.core.task import PresentedItem
from trivium.models import endpoint
from trivium.models.backends import Batch, CallError, ask_directly
from trivium.models.endpoint import retry_delay
from trivium.models.providers import Model
from trivium.models.settings import ModelOptions, Settings

NHOP = load_task("nhop_implicit")
BUSY = CallError("503: busy", retryable=True)
REFUSED = CallError("400: refused", retryable=False)
ANSWER = Reply("B_0001", {"input_tokens": 5, "output_tokens": 2})


class Script:
    """An endpoint that replies or fails as it is written down, one outcome for each call."""

    def __init__(self, outcomes: Sequence[Reply | CallError]) -> None:
        self.left = list(outcomes)
        self.waits: list[float] = []
        self.clock = 0.0

    async def ask(self, turns: Sequence[Any], schema: dict[str, Any] | None) -> Reply:
        outcome = self.left.pop(0)
        if isinstance(outcome, CallError):
            raise outcome
        return outcome

    async def close(self) -> None:
        pass

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.clock += seconds

    def monotonic(self) -> float:
        return self.clock


@pytest.fixture
def jitter(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """The random number that jitter is made from: 0.5 leaves waits as they are."""
    value = {"random": 0.5}
    monkeypatch.setattr("random.random", lambda: value["random"])
    return value


def ask(
    monkeypatch: pytest.MonkeyPatch,
    outcomes: Sequence[Reply | CallError],
    items: Sequence[PresentedItem] | None = None,
    **options: Any,
) -> tuple[list[Attempt], Script]:
    """The attempts saved, and the script with what it saw."""
    script, saved = Script(outcomes), []
    monkeypatch.setattr(endpoint, "Endpoint", lambda model: script)
    monkeypatch.setattr(asyncio, "sleep", script.sleep)
    monkeypatch.setattr("trivium.models.backends.time", script)
    model = Model("vllm/m", Settings(), ModelOptions(**{"concurrency": 1, **options}))
    asked = NHOP.items(1) if items is None else items

    def save(attempt: Attempt, prompt: str) -> None:
        assert prompt == next(item.prompt for item in asked if item.id == attempt.id)
        saved.append(attempt)

    ask_directly([Batch("nhop_implicit", asked[0].task.benchmark, asked, model, save)])
    return saved, script


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_a_call_is_retried_as_often_as_is_allowed(
    retries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    (failed,), script = ask(monkeypatch, [BUSY] * 9, max_retries=retries)
    assert len(script.left) == 9 - (retries + 1)
    assert (failed.kind, failed.error) == ("failed", "503: busy")
    (answered,), script = ask(monkeypatch, [BUSY] * retries + [ANSWER], max_retries=retries)
    assert (answered.error, answered.usage["requests"]) == (None, retries + 1)


def test_what_cannot_succeed_is_not_retried(monkeypatch: pytest.MonkeyPatch) -> None:
    (failed,), script = ask(monkeypatch, [REFUSED, ANSWER])
    assert (failed.error, script.left, script.waits) == ("400: refused", [ANSWER], [])


def test_waits_double_up_to_a_minute(
    monkeypatch: pytest.MonkeyPatch, jitter: dict[str, float]
) -> None:
    _, script = ask(monkeypatch, [BUSY] * 9 + [ANSWER], max_retries=9, retry_backoff=0.5)
    assert script.waits == [0.5, 1, 2, 4, 8, 16, 32, 60, 60]


@pytest.mark.parametrize(("random", "factor"), [(0.0, 0.5), (0.25, 0.75), (1.0, 1.5)])
def test_waits_are_spread_around_their_mean(
    random: float, factor: float, monkeypatch: pytest.MonkeyPatch, jitter: dict[str, float]
) -> None:
    jitter["random"] = random
    _, script = ask(monkeypatch, [BUSY, BUSY, ANSWER], retry_backoff=2)
    assert script.waits == [2 * factor, 4 * factor]


@pytest.mark.parametrize(("asked", "waited"), [(0.1, 2), (7.0, 7), (90.0, 90), (5000.0, 600)])
def test_a_server_may_ask_for_a_longer_wait(
    asked: float, waited: float, monkeypatch: pytest.MonkeyPatch, jitter: dict[str, float]
) -> None:
    busy = CallError("429: slow down", retryable=True, after=asked)
    _, script = ask(monkeypatch, [busy, ANSWER], retry_backoff=2)
    assert script.waits == [waited]


def test_a_wait_is_given_in_seconds_or_as_a_date() -> None:
    assert retry_delay({}) is None
    assert retry_delay({"retry-after": "2.5"}) == 2.5
    assert retry_delay({"retry-after": "-3"}) == 0
    assert retry_delay({"retry-after": "soon"}) is None
    assert retry_delay({"retry-after": "inf"}) is retry_delay({"retry-after": "nan"}) is None
    assert retry_delay({"retry-after": formatdate(time.time() + 90, usegmt=True)}) == pytest.approx(
        90, abs=5
    )
    assert retry_delay({"retry-after": formatdate(time.time() - 90, usegmt=True)}) == 0


@pytest.mark.parametrize("concurrency", [1, 4])
def test_twenty_failures_at_the_start_stop_a_run(
    concurrency: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UserError, match=r"the first 20 attempts of vllm/m at \S+ all failed \(400"):
        ask(monkeypatch, [REFUSED] * 40, NHOP.items(40), concurrency=concurrency)


@pytest.mark.parametrize("before", [0, 19])
def test_failures_after_a_success_do_not_stop_a_run(
    before: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcomes = [REFUSED] * before + [ANSWER] + [REFUSED] * 25
    attempts, script = ask(monkeypatch, outcomes, NHOP.items(len(outcomes)))
    assert [attempt.kind == "failed" for attempt in attempts] == [
        isinstance(outcome, CallError) for outcome in outcomes
    ]
    assert not script.left


def test_a_call_that_no_other_could_better_stops_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    no_key = CallError("401: no such key", retryable=False, hopeless=True)
    with pytest.raises(UserError, match=r"vllm/m at \S+ cannot be asked: 401: no such key"):
        ask(monkeypatch, [ANSWER, no_key], NHOP.items(9))


@pytest.mark.usefixtures("jitter")
def test_a_wait_for_the_first_reply_is_announced_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ask(monkeypatch, [BUSY, BUSY, ANSWER, BUSY, ANSWER], NHOP.items(2))
    assert capsys.readouterr().err == (
        "vllm/m at http://localhost:8000/v1: trying again in 0.5 s (503: busy)\n"
    )
    ask(monkeypatch, [ANSWER, BUSY, ANSWER], NHOP.items(2))
    assert capsys.readouterr().err == ""


def test_what_calls_took_is_added_up_over_turns_and_retries(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game = load_task("blicket_game").item(0)
    move = Reply("TEST A", {"input_tokens": 10, "output_tokens": 3}, "length")
    last = Reply("ANSWER blickets: A; form: disjunctive", {"input_tokens": 1, "output_tokens": 1})
    (attempt,), _ = ask(monkeypatch, [move, BUSY, move, last], [game])
    assert attempt.reply == ["TEST A", "TEST A", "ANSWER blickets: A; form: disjunctive"]
    assert attempt.usage == {"requests": 4, "retries": 1, "input_tokens": 21, "output_tokens": 7}
    assert attempt.stop_reason is None


@pytest.mark.usefixtures("jitter")
def test_a_long_wait_is_announced(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    busy = CallError("429: busy", retryable=True, after=30.0)
    ask(monkeypatch, [ANSWER, busy, busy, ANSWER], NHOP.items(2))
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["vllm/m at http://localhost:8000/v1: trying again in 30.0 s (429: busy)"] * 2


@pytest.mark.usefixtures("jitter")
def test_a_wait_of_ten_seconds_is_not_announced(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    busy = CallError("429: busy", retryable=True, after=10.0)
    _, script = ask(monkeypatch, [ANSWER, busy, ANSWER], NHOP.items(2))
    assert script.waits == [10.0]
    assert capsys.readouterr().err == ""
