"""The direct backend: many concurrent calls, each attempt saved as soon as it is finished."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from trivium.core.dialogue import Dialogue, Reply, converse
from trivium.core.errors import UserError
from trivium.core.loops import aside, run_async
from trivium.core.records import Attempt
from trivium.core.task import PresentedItem
from trivium.models.backends import Batch
from trivium.models.calls import Caller, CallError, Usage
from trivium.models.endpoint import Endpoint
from trivium.models.framing import framing_groups, opening
from trivium.models.providers import find_address


def ask_directly(batches: Sequence[Batch]) -> None:
    """Run the attempts of batches of one model, `concurrency` at a time."""
    try:
        run_async(_Pool(batches).run())
    except ExceptionGroup as group:
        stopped = group.subgroup(UserError)
        if stopped is None:
            raise
        raise stopped.exceptions[0] from None


class _Pool:
    """Workers that each take the next item when free, so that a slow reply delays no other."""

    def __init__(self, batches: Sequence[Batch]) -> None:
        self._model, self._note = batches[0].model, batches[0].note
        self._left = ((batch, item) for batch in batches for item in batch.items)

    async def run(self) -> None:
        address = find_address(self._model)
        self._caller = Caller(self._model, address.shown_url, self._note)
        self._endpoint = Endpoint(self._model, address)
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
            return await self._caller.call(
                lambda: self._endpoint.ask([*first, *messages[1:]], settings.system, schema), usage
            )

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
