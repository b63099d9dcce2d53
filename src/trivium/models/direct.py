"""The direct backend: many concurrent calls, each attempt saved as soon as it is finished."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from urllib.parse import urlsplit

from trivium.core.dialogue import Dialogue, Reply, aside, converse, run_async
from trivium.core.errors import FailedCallsError, UserError
from trivium.core.records import Attempt
from trivium.core.task import PresentedItem
from trivium.models.backends import Batch
from trivium.models.endpoint import CallError, Endpoint, Usage, retry_seconds
from trivium.models.framing import as_turns, framing_groups, opening
from trivium.models.providers import find_address
from trivium.models.settings import Model

SECONDS_BETWEEN_NOTES = 10.0  # of waits; shorter ones are not announced
SECONDS_TO_FIRST_NOTE = 30.0  # without any reply before the user is notified
SECONDS_TO_DRAIN = 60.0  # for open calls to finish when a run is stopped: they are paid for
MAX_FIRST_FAILURES = 20  # a run stops if this many attempts fail and none succeeds


def ask_directly(batches: Sequence[Batch]) -> None:
    """Run the attempts of batches of one model, `concurrency` at a time."""
    run_async(_Pool(batches).run())


class _Pool:
    """Workers that each take the next item when free, so that a slow reply delays no other."""

    def __init__(self, batches: Sequence[Batch]) -> None:
        self._model = batches[0].model
        self._left = ((batch, item) for batch in batches for item in batch.items)

    async def run(self) -> None:
        self._caller = _Caller(self._model, find_address(self._model).shown_url)
        self._endpoint = Endpoint(self._model)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self._model.options.concurrency):
                    group.create_task(self._worker())
        finally:
            self._caller.close()
            await self._endpoint.close()

    async def _worker(self) -> None:
        try:
            for batch, item in self._left:
                attempt = await self._attempt(item)
                batch.save(attempt, item.prompt)
                self._caller.count(attempt)
                if self._caller.stopped is not None:
                    return
        except UserError as problem:
            if problem is self._caller.stopped:
                await self._caller.drain()  # raising cancels the other workers
            raise

    async def _attempt(self, item: PresentedItem) -> Attempt:
        settings, task = self._model.settings, item.task
        schema = task.benchmark.schema(item.content, task.view) if settings.structured else None
        dialogue, usage = Dialogue(item, restate=settings.restate), Usage()
        first = opening(item, settings)

        async def ask(messages: Sequence[str]) -> Reply:
            turns = as_turns([*first, *messages[1:]])
            return await self._caller.call(lambda: self._endpoint.ask(turns, schema), usage)

        error: str | None = None
        try:
            await converse(dialogue, ask)
        except CallError as problem:
            error = str(problem)
        size = max(map(len, dialogue.replies), default=0)
        attempt = await aside(size, dialogue.attempt, self._model.name, error=error)
        attempt.usage, attempt.reasoning = usage.to_dict(), usage.reasoning
        attempt.groups = attempt.groups | framing_groups(settings)
        return attempt


class _Caller:
    """Calls one model, retries errors that may pass, and stops a run that cannot succeed."""

    def __init__(self, model: Model, where: str) -> None:
        self._model = model
        self._name = f"{model.name} at {where}"
        self._short_url = not urlsplit(where).path.strip("/")
        self._answered = self._failed = 0  # attempts
        self._replied = self._warned = self._draining = False
        self._open = 0  # calls in progress
        self.stopped: FailedCallsError | None = None  # why the run was stopped
        self._next_note = 0.0  # when a long wait may be announced again
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
                usage.failed.append(problem.usage)
                if problem.hopeless or (problem.at_first and not self._replied):
                    raise self._stop(problem) from None
                if not problem.retryable or tried == self._model.options.max_retries:
                    if problem.unreachable:
                        raise self._stop(problem) from None
                    raise
                wait = self._wait(problem, tried)
            else:
                self._replied = True
                usage.replies.append(reply)
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
            self._note(f"stopping after the {self._open} open calls")
        # Without any reply so far, none is expected now.
        deadline = time.monotonic() + (SECONDS_TO_DRAIN if self._replied else 0.0)
        while self._open and time.monotonic() < deadline:
            await asyncio.sleep(0.01)

    def close(self) -> None:
        """Cancel pending notes."""
        if self._silence is not None:
            self._silence.cancel()

    def _stop(self, problem: Exception) -> FailedCallsError:
        """The error that ends the run, to be raised by the caller."""
        if self.stopped is None:
            hint = " (does its URL end in /v1?)" if self._short_url else ""
            self.stopped = FailedCallsError(f"{self._name} cannot be asked: {problem}{hint}")
        return self.stopped

    def _note(self, text: str) -> None:
        print(f"{self._name}: {text}", file=sys.stderr, flush=True)

    async def _wait(self, problem: CallError, tried: int) -> None:
        seconds = retry_seconds(problem, tried, self._model.options.retry_backoff)
        first = not self._replied and not self._warned
        if first or (seconds > SECONDS_BETWEEN_NOTES and time.monotonic() >= self._next_note):
            self._warned, self._next_note = True, time.monotonic() + SECONDS_BETWEEN_NOTES
            self._note(f"trying again in {seconds:.1f} s ({problem})")
        await asyncio.sleep(seconds)

    def _note_silence(self) -> None:
        """Print that no reply has come: the server may hang, or the model reason for minutes."""
        if not self._replied and not self._warned:
            self._warned = True
            limit = self._model.options.timeout
            self._note(f"no reply after {SECONDS_TO_FIRST_NOTE:g} s (--timeout is {limit:g})")
