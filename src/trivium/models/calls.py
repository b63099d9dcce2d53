"""Calls to a model: what a reply and a failure are, how calls are retried, what attempts took."""

from __future__ import annotations

import asyncio
import random
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from trivium.core.dialogue import Reply, failed_attempt
from trivium.core.errors import UserError
from trivium.core.records import DECLINED, DECLINING, TOKENS, Attempt
from trivium.core.task import PresentedItem
from trivium.models.settings import Model

MAX_BACKOFF = 60.0  # seconds between two tries of one call, unless the server asks for more
MAX_WAIT = 600.0  # seconds that a server may ask us to wait
SECONDS_BETWEEN_NOTES = 10.0  # of a countdown; a shorter wait is not announced
SECONDS_TO_FIRST_NOTE = 30.0  # of silence before a run says that no reply has come
SECONDS_TO_DRAIN = 60.0  # that calls under way have when a run is stopped: they are paid for
# This many attempts failed permanently and none succeeded: something is set up wrong.
MAX_FIRST_FAILURES = 20


class CallError(Exception):
    """A call that gave no reply: whether another try may help, and when."""

    def __init__(
        self,
        message: str,
        *,
        retryable: bool,
        after: float | None = None,
        hopeless: bool = False,
        at_first: bool = False,
        unreachable: bool = False,
        usage: dict[str, int] | None = None,
    ) -> None:
        super().__init__(message)
        self.retryable = retryable  # another try may help
        self.after = after  # seconds that the server asked to wait
        self.hopeless = hopeless  # no call of this run can succeed
        self.at_first = at_first  # the same, as long as none has succeeded
        self.unreachable = unreachable  # nobody listens there
        self.usage = usage  # what the failed call took, where the provider reported


class RefusedError(Exception):
    """The provider declined to reply; its text is what it sent instead."""


@dataclass
class Taken:
    """What the calls of one attempt took, and how they ended."""

    requests: int = 0
    retries: int = 0
    stop_reason: str | None = None  # of the last reply
    _tokens: Counter[str] = field(default_factory=Counter)
    _not_reported: set[str] = field(default_factory=set)
    _reasoning: list[str] = field(default_factory=list)

    def add(self, reply: Reply) -> None:
        """Add what a reply took; a sum of which a part is not reported is not reported."""
        self._tokens.update(reply.usage)
        self._not_reported.update(name for name in TOKENS if name not in reply.usage)
        self.stop_reason = reply.stop_reason
        if reply.reasoning:
            self._reasoning.append(reply.reasoning)

    def add_failure(self, problem: CallError) -> None:
        """Add what a failed call took, which most providers do not tell and do not charge."""
        self._tokens.update(problem.usage or {})

    def noted(self) -> dict[str, Any]:
        """What `finish` takes, as plain data that a log can hold."""
        reported = {name: self._tokens[name] for name in TOKENS if name in self._tokens}
        known = {name: count for name, count in reported.items() if name not in self._not_reported}
        return {
            "usage": {"requests": self.requests, "retries": self.retries} | known,
            "stop_reason": self.stop_reason,
            "reasoning": "\n\n".join(self._reasoning) or None,
        }


def finish(attempt: Attempt, noted: Mapping[str, Any]) -> Attempt:
    """The attempt with what it took."""
    attempt.usage = noted.get("usage") or {}
    attempt.stop_reason, attempt.reasoning = noted.get("stop_reason"), noted.get("reasoning")
    return attempt


def unanswered(
    item: PresentedItem,
    solver: str,
    replies: Sequence[str],
    noted: Mapping[str, Any],
    error: str | None,
) -> Attempt:
    """An attempt whose call failed permanently; without an error, one that was declined."""
    attempt = failed_attempt(item, solver, error or "")
    if replies:
        attempt.reply = list(replies) if item.task.benchmark.multi_turn else replies[0]
    if error is None:
        attempt.error, attempt.kind = None, DECLINED
    return finish(attempt, noted)


async def call_once(ask: Callable[[], Awaitable[Reply]], taken: Taken) -> Reply:
    """The reply to one call, counted; RefusedError where the provider declined."""
    taken.requests += 1
    try:
        reply = await ask()
    except CallError as problem:
        taken.add_failure(problem)
        raise
    taken.add(reply)
    if reply.stop_reason in DECLINING:
        raise RefusedError(reply.text)
    return reply


def print_note(text: str) -> None:
    """Say something about the progress of a run; a bar on the terminal stays whole."""
    print(text, file=sys.stderr, flush=True)


class Caller:
    """Calls one model: retries what may succeed, and stops a run in which nothing can."""

    def __init__(
        self,
        model: Model,
        where: str | None,
        note: Callable[[str], None] = print_note,
    ) -> None:
        self._model, self._note = model, note
        self._name = model.name if where is None else f"{model.name} at {where}"
        self._short_url = where is not None and not urlsplit(where).path.strip("/")
        self._answered = self._failed = 0  # attempts
        self._replied = self._warned = self._draining = False
        self._open = 0  # calls under way
        self.stopped: UserError | None = None  # why no call is made any more
        self._countdown: asyncio.Task[None] | None = None
        self._waits_until = 0.0
        self._silence: asyncio.TimerHandle | None = None

    async def call(self, ask: Callable[[], Awaitable[Reply]], taken: Taken) -> Reply:
        """The reply, asked for until it comes or there is no point in asking again."""
        self._expect_a_reply()
        for tried in range(self._model.options.max_retries + 1):
            if self.stopped is not None:
                raise self.stopped
            taken.retries += tried > 0
            try:
                reply = await self._call_once(ask, taken)
            except CallError as problem:
                if problem.hopeless or (problem.at_first and not self._replied):
                    raise self._stop(problem) from None
                if not problem.retryable or tried == self._model.options.max_retries:
                    if problem.unreachable:
                        raise self._stop(problem) from None
                    raise
                await self._wait(problem, tried)
            except RefusedError:
                self._replied = True
                raise
            else:
                self._replied = True
                return reply
        raise AssertionError("the last try returns or raises")

    async def _call_once(self, ask: Callable[[], Awaitable[Reply]], taken: Taken) -> Reply:
        self._open += 1
        try:
            return await call_once(ask, taken)
        finally:
            self._open -= 1

    def count(self, attempt: Attempt) -> None:
        """Stop a run in which no attempt succeeds."""
        self._answered += attempt.error is None
        self._failed += attempt.error is not None
        if self._failed >= MAX_FIRST_FAILURES and not self._answered:
            self.stopped = UserError(
                f"the first {self._failed} attempts of {self._name} all failed ({attempt.error})"
            )
            raise self.stopped

    async def drain(self) -> None:
        """Wait for the calls that are under way: their replies are paid for, and are saved."""
        if self._open and self._replied and not self._draining:
            self._draining = True
            self._note(f"{self._name}: stopping when the {self._open} calls under way have ended")
        # Where no reply has come before, none is expected.
        deadline = time.monotonic() + (SECONDS_TO_DRAIN if self._replied else 0.0)
        while self._open and time.monotonic() < deadline:
            await asyncio.sleep(0.01)

    def close(self) -> None:
        """Stop what is left of notes and countdowns."""
        if self._silence is not None:
            self._silence.cancel()
        if self._countdown is not None:
            self._countdown.cancel()

    def _stop(self, problem: Exception) -> UserError:
        """Why the run ends, for the caller to raise."""
        if self.stopped is None:
            hint = " (does its URL end in /v1?)" if self._short_url else ""
            self.stopped = UserError(f"{self._name} cannot be asked: {problem}{hint}")
        return self.stopped

    async def _wait(self, problem: CallError, tried: int) -> None:
        # Jitter keeps calls that failed together from coming back together.
        backoff = self._model.options.retry_backoff * 2.0 ** min(tried, 60)
        seconds = min(backoff * (0.5 + random.random()), MAX_BACKOFF)
        seconds = max(seconds, min(problem.after or 0.0, MAX_WAIT))
        if not self._replied and not self._warned:
            self._warned = True
            self._note(f"{self._name}: no reply yet, trying again ({problem})")
        if (problem.after or 0.0) > SECONDS_BETWEEN_NOTES:
            self._waits_until = max(self._waits_until, time.monotonic() + seconds)
            if self._countdown is None or self._countdown.done():
                self._countdown = asyncio.create_task(self._count_down(str(problem)))
        await asyncio.sleep(seconds)

    async def _count_down(self, why: str) -> None:
        """Say now and then how long the server wants us to wait."""
        while (left := self._waits_until - time.monotonic()) > 1:
            self._note(f"{self._name}: the server asks to wait, {left:.0f} s left ({why})")
            await asyncio.sleep(min(left, SECONDS_BETWEEN_NOTES))

    def _expect_a_reply(self) -> None:
        """Say so when nothing comes back for long: a server may hang, or reason for minutes."""
        if self._silence is None:
            loop = asyncio.get_running_loop()
            self._silence = loop.call_later(SECONDS_TO_FIRST_NOTE, self._note_silence)

    def _note_silence(self) -> None:
        if not self._replied and not self._warned:
            self._warned = True
            limit = self._model.options.timeout
            self._note(
                f"{self._name}: no reply after {SECONDS_TO_FIRST_NOTE:g} s (--timeout is {limit:g})"
            )
