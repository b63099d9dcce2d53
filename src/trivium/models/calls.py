"""Calls to a model: their errors, retries and usage."""

from __future__ import annotations

import asyncio
import random
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from urllib.parse import urlsplit

from trivium.core.dialogue import Reply
from trivium.core.errors import FailedCallsError
from trivium.core.records import TOKENS, Attempt
from trivium.models.settings import Model

MAX_BACKOFF = 60.0  # seconds between two tries of a call, unless the server asks for more
MAX_WAIT = 600.0  # seconds that a server may ask us to wait
SECONDS_BETWEEN_NOTES = 10.0  # of a countdown; shorter waits are not announced
SECONDS_TO_FIRST_NOTE = 30.0  # without any reply before the user is notified
SECONDS_TO_DRAIN = 60.0  # for open calls to finish when a run is stopped: they are paid for
MAX_FIRST_FAILURES = 20  # a run stops if this many attempts fail and none succeeds


@dataclass(eq=False)
class CallError(Exception):
    """A call that returned no reply."""

    message: str
    _: KW_ONLY
    retryable: bool  # another try may help
    status: int | None = None  # of HTTP
    after: float | None = None  # seconds that the server asked to wait
    hopeless: bool = False  # no call of this run can succeed
    at_first: bool = False  # the same, if no call has succeeded yet
    unreachable: bool = False  # no connection
    usage: Mapping[str, int] = field(default_factory=dict)  # tokens of the failed call

    def __str__(self) -> str:
        return self.message


@dataclass
class Usage:
    """The requests, retries, tokens and reasoning of one attempt."""

    requests: int = 0
    retries: int = 0
    _tokens: Counter[str] = field(default_factory=Counter)
    _not_reported: set[str] = field(default_factory=set)
    _reasoning: list[str] = field(default_factory=list)

    def add(self, reply: Reply) -> None:
        """Add a reply; a count that any reply lacks is left out of the total."""
        self.add_tokens(reply.usage)
        self._not_reported.update(name for name in TOKENS if name not in reply.usage)
        if reply.reasoning:
            self._reasoning.append(reply.reasoning)

    def add_tokens(self, tokens: Mapping[str, int]) -> None:
        """Add the token counts of a call."""
        self._tokens.update(tokens)

    @property
    def reasoning(self) -> str | None:
        """The reasoning that the provider returned."""
        return "\n\n".join(self._reasoning) or None

    def to_dict(self) -> dict[str, int]:
        """The counts, as in records."""
        reported = [name for name in TOKENS if name in self._tokens]
        tokens = {name: self._tokens[name] for name in reported if name not in self._not_reported}
        return {"requests": self.requests, "retries": self.retries} | tokens


def print_note(text: str) -> None:
    """Print a note to standard error."""
    print(text, file=sys.stderr, flush=True)


class Caller:
    """Calls one model, retries errors that may pass, and stops a run that cannot succeed."""

    def __init__(self, model: Model, where: str, note: Callable[[str], None]) -> None:
        self._model, self._note = model, note
        self._name = f"{model.name} at {where}"
        self._short_url = not urlsplit(where).path.strip("/")
        self._answered = self._failed = 0  # attempts
        self._replied = self._warned = self._draining = False
        self._open = 0  # calls in progress
        self.stopped: FailedCallsError | None = None  # why the run was stopped
        self._countdown: asyncio.Task[None] | None = None
        self._waits_until = 0.0
        self._silence: asyncio.TimerHandle | None = None

    async def call(self, ask: Callable[[], Awaitable[Reply]], usage: Usage) -> Reply:
        """The reply to a call, retried until it succeeds or another try cannot help."""
        if self._silence is None:
            loop = asyncio.get_running_loop()
            self._silence = loop.call_later(SECONDS_TO_FIRST_NOTE, self._note_silence)
        for tried in range(self._model.options.max_retries + 1):
            if self.stopped is not None:
                raise self.stopped
            usage.retries += tried > 0
            usage.requests += 1
            self._open += 1
            try:
                reply = await ask()
            except CallError as problem:
                usage.add_tokens(problem.usage)
                if problem.hopeless or (problem.at_first and not self._replied):
                    raise self._stop(problem) from None
                if not problem.retryable or tried == self._model.options.max_retries:
                    if problem.unreachable:
                        raise self._stop(problem) from None
                    raise
                wait = self._wait(problem, tried)
            else:
                self._replied = True
                usage.add(reply)
                return reply
            finally:
                self._open -= 1
            await wait
        raise AssertionError("the last try returns or raises")

    def count(self, attempt: Attempt) -> None:
        """Stop a run in which no attempt succeeds."""
        self._answered += attempt.error is None
        self._failed += attempt.error is not None
        if self._failed >= MAX_FIRST_FAILURES and not self._answered:
            self.stopped = FailedCallsError(
                f"the first {self._failed} attempts of {self._name} all failed ({attempt.error})"
            )
            raise self.stopped

    async def drain(self) -> None:
        """Wait for open calls, whose replies are paid for and will be saved."""
        if self._open and self._replied and not self._draining:
            self._draining = True
            self._note(f"{self._name}: stopping after the {self._open} open calls")
        # Without any reply so far, none is expected now.
        deadline = time.monotonic() + (SECONDS_TO_DRAIN if self._replied else 0.0)
        while self._open and time.monotonic() < deadline:
            await asyncio.sleep(0.01)

    def close(self) -> None:
        """Cancel pending notes."""
        if self._silence is not None:
            self._silence.cancel()
        if self._countdown is not None:
            self._countdown.cancel()

    def _stop(self, problem: Exception) -> FailedCallsError:
        """The error that ends the run, to be raised by the caller."""
        if self.stopped is None:
            hint = " (does its URL end in /v1?)" if self._short_url else ""
            self.stopped = FailedCallsError(f"{self._name} cannot be asked: {problem}{hint}")
        return self.stopped

    async def _wait(self, problem: CallError, tried: int) -> None:
        # Jitter keeps calls that failed together from being retried together.
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
        """Print from time to time how long the server asks to wait."""
        while (left := self._waits_until - time.monotonic()) > 1:
            self._note(f"{self._name}: the server asks to wait, {left:.0f} s left ({why})")
            await asyncio.sleep(min(left, SECONDS_BETWEEN_NOTES))

    def _note_silence(self) -> None:
        """Print that no reply has come: the server may hang, or the model reason for minutes."""
        if not self._replied and not self._warned:
            self._warned = True
            limit = self._model.options.timeout
            self._note(
                f"{self._name}: no reply after {SECONDS_TO_FIRST_NOTE:g} s (--timeout is {limit:g})"
            )
