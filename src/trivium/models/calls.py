"""Calls to a model: what a reply and a failure are, how calls are retried, what attempts took."""

from __future__ import annotations

import asyncio
import random
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from trivium.core.dialogue import Reply
from trivium.core.errors import UserError
from trivium.core.records import TOKENS, Attempt
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
        usage: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__(message)
        self.retryable = retryable  # another try may help
        self.after = after  # seconds that the server asked to wait
        self.hopeless = hopeless  # no call of this run can succeed
        self.at_first = at_first  # the same, as long as none has succeeded
        self.unreachable = unreachable  # nobody listens there
        self.usage = usage  # what the failed call took, where the provider reported


@dataclass
class Usage:
    """What the calls of one attempt took, and the reasoning that came with the replies."""

    requests: int = 0
    retries: int = 0
    _tokens: Counter[str] = field(default_factory=Counter)
    _not_reported: set[str] = field(default_factory=set)
    _reasoning: list[str] = field(default_factory=list)

    def add(self, reply: Reply) -> None:
        """Add what a reply took; a sum of which a part is not reported is not reported."""
        self._tokens.update(reply.usage)
        self._not_reported.update(name for name in TOKENS if name not in reply.usage)
        if reply.reasoning:
            self._reasoning.append(reply.reasoning)

    def add_failure(self, problem: CallError) -> None:
        """Add what a failed call took, which most providers neither report nor charge."""
        self._tokens.update(problem.usage or {})

    @property
    def reasoning(self) -> str | None:
        """What the provider sent as reasoning."""
        return "\n\n".join(self._reasoning) or None

    def to_dict(self) -> dict[str, int]:
        """As records hold it."""
        reported = [name for name in TOKENS if name in self._tokens]
        tokens = {name: self._tokens[name] for name in reported if name not in self._not_reported}
        return {"requests": self.requests, "retries": self.retries} | tokens


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

    async def call(self, ask: Callable[[], Awaitable[Reply]], usage: Usage) -> Reply:
        """The reply, asked for until it comes or there is no point in asking again."""
        self._expect_a_reply()
        for tried in range(self._model.options.max_retries + 1):
            if self.stopped is not None:
                raise self.stopped
            usage.retries += tried > 0
            try:
                reply = await self._call_once(ask, usage)
            except CallError as problem:
                if problem.hopeless or (problem.at_first and not self._replied):
                    raise self._stop(problem) from None
                if not problem.retryable or tried == self._model.options.max_retries:
                    if problem.unreachable:
                        raise self._stop(problem) from None
                    raise
                await self._wait(problem, tried)
            else:
                self._replied = True
                return reply
        raise AssertionError("the last try returns or raises")

    async def _call_once(self, ask: Callable[[], Awaitable[Reply]], usage: Usage) -> Reply:
        usage.requests += 1
        self._open += 1
        try:
            reply = await ask()
        except CallError as problem:
            usage.add_failure(problem)
            raise
        finally:
            self._open -= 1
        usage.add(reply)
        return reply

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
