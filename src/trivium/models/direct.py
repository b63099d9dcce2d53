"""The direct backend: many short calls at once, each attempt saved as soon as it is finished."""

from __future__ import annotations

import asyncio
import random
import sys
from collections import Counter
from collections.abc import Sequence

from trivium.core.dialogue import Dialogue, converse, failed_attempt
from trivium.core.errors import UserError
from trivium.core.records import Attempt
from trivium.core.task import PresentedItem
from trivium.models.backends import Batch
from trivium.models.endpoint import CallError, Endpoint
from trivium.models.providers import find_address

MAX_BACKOFF = 60.0  # seconds between two tries of one call, unless the server asks for more
MAX_WAIT = 600.0  # seconds that a server may ask us to wait
# This many attempts failed permanently and none succeeded: something is set up wrong.
MAX_FIRST_FAILURES = 20


def ask_directly(batch: Batch) -> None:
    """Make the attempts of a batch, `concurrency` of them at a time."""
    try:
        asyncio.run(_Pool(batch).run())
    except ExceptionGroup as group:
        stopped = group.subgroup(UserError)
        if stopped is None:
            raise
        raise _first(stopped) from None


class _Pool:
    """Workers that take the next item when they are free, so that a slow reply delays nobody."""

    def __init__(self, batch: Batch) -> None:
        self._batch, self._model = batch, batch.model
        self._left = iter(batch.items)
        self._answered = self._failed = 0
        self._warned = False

    async def run(self) -> None:
        self._endpoint = Endpoint(self._model, find_address(self._model))
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self._model.options.concurrency):
                    group.create_task(self._worker())
        finally:
            await self._endpoint.close()

    async def _worker(self) -> None:
        for item in self._left:
            attempt = await self._attempt(item)
            self._batch.save(attempt, item.prompt)
            self._count(attempt)

    async def _attempt(self, item: PresentedItem) -> Attempt:
        usage: Counter[str] = Counter()
        own = self._model.settings.system
        system = item.system if own is None else own

        async def ask(messages: Sequence[str]) -> str:
            return await self._ask(messages, system, usage)

        try:
            dialogue = await converse(Dialogue(item), ask)
        except CallError as problem:
            if problem.hopeless:
                raise UserError(f"{self._model.name} cannot be asked: {problem}") from None
            return failed_attempt(item, self._model.name, str(problem))
        return dialogue.attempt(self._model.name, usage=dict(usage))

    async def _ask(self, messages: Sequence[str], system: str | None, usage: Counter[str]) -> str:
        """The reply, asked for until it comes or there is no point in asking again."""
        options = self._model.options
        for tried in range(options.max_retries + 1):
            usage["requests"] += 1
            try:
                reply = await self._endpoint.ask(messages, system)
            except CallError as problem:
                if not problem.retryable or tried == options.max_retries:
                    raise
                self._warn_once(problem)
                # Jitter keeps calls that failed together from coming back together.
                backoff = options.retry_backoff * 2**tried * (0.5 + random.random())
                wait = min(problem.after or 0.0, MAX_WAIT)
                await asyncio.sleep(max(wait, min(backoff, MAX_BACKOFF)))
            else:
                usage.update(reply.usage)
                return reply.text
        raise AssertionError("the last try returns or raises")

    def _warn_once(self, problem: CallError) -> None:
        """Nobody should wait for minutes on a server that was never started."""
        if not self._answered and not self._warned:
            self._warned = True
            print(f"{self._model.name}: no reply yet, trying again ({problem})", file=sys.stderr)

    def _count(self, attempt: Attempt) -> None:
        """Stop where nothing at all succeeds."""
        self._answered += attempt.error is None
        self._failed += attempt.error is not None
        if self._failed >= MAX_FIRST_FAILURES and not self._answered:
            raise UserError(
                f"the first {self._failed} attempts of {attempt.solver} all failed "
                f"({attempt.error}); --retry_errors asks them again"
            )


def _first(group: BaseExceptionGroup[Exception]) -> BaseException:
    inner = group.exceptions[0]
    return _first(inner) if isinstance(inner, BaseExceptionGroup) else inner
