"""The direct lane: many short calls at once, each attempt on disk as soon as it is finished."""

from __future__ import annotations

import asyncio
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from trivium.core.benchmark import AnyBenchmark, Attempt
from trivium.core.dialogue import MAX_TURNS, failed, record
from trivium.core.errors import UserError
from trivium.core.records import Appender
from trivium.evaluation.execute import Work
from trivium.evaluation.progress import Progress
from trivium.models.endpoint import CallError, Endpoint, Reply
from trivium.models.providers import Address, find_address
from trivium.models.settings import ModelSettings

MAX_BACKOFF = 60.0  # seconds between two tries of one call, unless the server asks for more
MAX_WAIT = 600.0  # seconds that a server may ask us to wait
# So many attempts that failed for good and not one that went well: something is set up wrong.
HOPELESS = 20


def ask_directly(
    work: Work, settings: ModelSettings, records: Appender, progress: Progress
) -> None:
    """Attempt all the work, `concurrency` attempts at a time."""
    address = find_address(settings)
    try:
        asyncio.run(_Pool(work, settings, address, records, progress).run())
    except ExceptionGroup as group:
        stopped = group.subgroup(UserError)
        if stopped is None:
            raise
        raise _first(stopped) from None


class _Pool:
    """Workers that take the next item when they are free, so that a slow reply delays nobody."""

    def __init__(
        self,
        work: Work,
        settings: ModelSettings,
        address: Address,
        records: Appender,
        progress: Progress,
    ) -> None:
        self._work, self._settings, self._address = work, settings, address
        self._records, self._progress = records, progress
        self._left = iter(work)
        self._answered = self._failed = 0
        self._said = False
        own = work.benchmark.system(work.view)
        self._system = own if settings.system is None else settings.system

    async def run(self) -> None:
        self._endpoint = Endpoint(self._settings, self._address)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self._settings.flags.concurrency):
                    group.create_task(self._worker())
        finally:
            await self._endpoint.close()

    async def _worker(self) -> None:
        for item, trial in self._left:
            row, prompt = await self._attempt(item, trial)
            kept = asdict(row) | {"prompt": prompt} if self._settings.flags.save_prompt else row
            self._records.add([kept])
            self._progress.advance(1)
            self._count(row)

    async def _attempt(self, item: Any, trial: int) -> tuple[Attempt, str]:
        benchmark: AnyBenchmark = self._work.benchmark
        view, solver = self._work.view, self._settings.model
        told = benchmark.reshuffle(item, trial)
        began = time.perf_counter()
        messages = [benchmark.render(told, view)]
        replies: list[str] = []
        usage: Counter[str] = Counter()
        while len(replies) < MAX_TURNS:
            try:
                reply = await self._ask(messages, usage)
            except CallError as problem:
                if problem.stop:
                    raise UserError(f"{solver} cannot be asked: {problem}") from None
                row = failed(benchmark, told, solver, view, trial=trial, error=str(problem))
                return row, messages[0]
            replies.append(reply.text)
            usage.update(reply.usage)
            answer = benchmark.respond(told, replies, view)
            if answer is None:
                break
            messages += [reply.text, answer]
        seconds = time.perf_counter() - began
        row = record(
            benchmark, told, solver, replies, view, trial=trial, usage=dict(usage), seconds=seconds
        )
        return row, messages[0]

    async def _ask(self, messages: Sequence[str], usage: Counter[str]) -> Reply:
        """The reply, asked for until it comes or there is no point in asking again."""
        flags = self._settings.flags
        for tried in range(flags.max_retries + 1):
            usage["requests"] += 1
            try:
                return await self._endpoint.ask(messages, self._system)
            except CallError as problem:
                if not problem.again or tried == flags.max_retries:
                    raise
                self._say_once(problem)
                # Jitter keeps calls that failed together from coming back together.
                backoff = flags.retry_backoff * 2**tried * (0.5 + random.random())
                asked = min(problem.after or 0.0, MAX_WAIT)
                await asyncio.sleep(max(asked, min(backoff, MAX_BACKOFF)))
        raise AssertionError("the last try returns or raises")

    def _say_once(self, problem: CallError) -> None:
        """Nobody should wait for minutes on a server that was never started."""
        if not self._answered and not self._said:
            self._said = True
            print(
                f"{self._settings.model}: no reply yet, trying again ({problem})", file=sys.stderr
            )

    def _count(self, row: Attempt) -> None:
        """Stop where nothing at all goes well."""
        self._answered += row.error is None
        self._failed += row.error is not None
        if self._failed >= HOPELESS and not self._answered:
            raise UserError(
                f"the first {self._failed} attempts of {row.solver} all failed ({row.error}); "
                f"--retry_errors asks them again"
            )


def _first(group: BaseExceptionGroup[Exception]) -> BaseException:
    inner = group.exceptions[0]
    return _first(inner) if isinstance(inner, BaseExceptionGroup) else inner
