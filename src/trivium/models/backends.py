"""The backends: direct calls for throughput, Inspect for everything else."""

from __future__ import annotations

import asyncio
import random
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from trivium.core.benchmark import AnyBenchmark
from trivium.core.dialogue import Dialogue, Reply, aside, converse, run_async
from trivium.core.errors import FailedCallsError, UserError, import_extra
from trivium.core.records import TOKENS, Attempt
from trivium.core.task import PresentedItem
from trivium.models.providers import Model, find_address, is_compatible, is_local, scrub_urls
from trivium.models.settings import as_turns, framing_groups, opening

LOGS = "logs"  # the folder of Inspect's logs, beside the records
SECONDS_BETWEEN_NOTES = 10.0  # of waits; shorter ones are not announced
SECONDS_TO_FIRST_NOTE = 30.0  # without any reply before the user is notified
SECONDS_TO_DRAIN = 60.0  # for open calls to finish when a run is stopped: they are paid for
MAX_BACKOFF = 60.0  # seconds between two tries of a call, unless the server asks for more
MAX_WAIT = 600.0  # seconds that a server may ask us to wait
MAX_FIRST_FAILURES = 20  # a run stops if this many attempts fail and none succeeds


@dataclass(frozen=True)
class Batch:
    """The items of one task for one model, and a callback for its attempts."""

    name: str  # unique among the batches of a run
    benchmark: AnyBenchmark
    items: Iterable[PresentedItem]
    model: Model
    save: Callable[[Attempt, str], None]  # an attempt and the prompt that was sent


def ask_models(batches: Sequence[Batch], logs: Path) -> dict[str, FailedCallsError]:
    """Run every attempt: model by model on the direct backend, all together on Inspect.

    Returns why the batches of models that could not be asked were stopped, by name.
    """
    if any(is_local(batch.model) for batch in batches):
        from trivium.models.local import served_locally  # noqa: PLC0415

        with served_locally([batch.model for batch in batches]) as served:
            batches = [replace(b, model=served.get(b.model, b.model)) for b in batches]
            return ask_models(batches, logs)
    stopped: dict[str, FailedCallsError] = {}
    direct: dict[Model, list[Batch]] = {}
    inspected = []
    for batch in batches:
        if choose_backend(batch.benchmark, batch.model) == "direct":
            direct.setdefault(batch.model, []).append(batch)
        else:
            inspected.append(batch)
    for of_model in direct.values():
        try:
            ask_directly(of_model)
        except FailedCallsError as problem:
            stopped |= {batch.name: problem for batch in of_model}
    if inspected:
        from trivium.models.inspect.run import ask_through_inspect  # noqa: PLC0415

        ask_through_inspect(inspected, logs)
    return stopped


def choose_backend(benchmark: AnyBenchmark, model: Model) -> str:
    """The backend that the options name, or the default for this benchmark and model."""
    if model.options.backend != "auto":
        return model.options.backend
    compatible = is_local(model) or is_compatible(model)
    return "direct" if compatible and not benchmark.multi_turn else "inspect"


def require_reachable(benchmark: AnyBenchmark, model: Model) -> None:
    """Raise UserError if a key, a URL or a package is missing, before any work is done."""
    if is_local(model):
        from trivium.models.local import model_file  # noqa: PLC0415

        model_file(model)
        model = replace(model, options=replace(model.options, base_url="http://127.0.0.1/v1"))
    if choose_backend(benchmark, model) == "direct":
        for package in ("aiohttp", "certifi"):
            import_extra(package, "models")
        find_address(model)
    else:
        import_extra("inspect_ai", "models")
        from trivium.models.inspect.models import inspect_model  # noqa: PLC0415

        inspect_model(model)


def ask_directly(batches: Sequence[Batch]) -> None:
    """Run the attempts of batches of one model, `concurrency` at a time."""
    run_async(_Pool(batches).run())


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
    """The requests, retries, replies and failed calls of one attempt."""

    requests: int = 0
    retries: int = 0
    replies: list[Reply] = field(default_factory=list)
    failed: list[Mapping[str, int]] = field(default_factory=list)  # the tokens of failed calls

    @property
    def reasoning(self) -> str | None:
        """The reasoning that the provider returned."""
        return "\n\n".join(reply.reasoning for reply in self.replies if reply.reasoning) or None

    def to_dict(self) -> dict[str, int]:
        """The counts, as in records; a count that any reply lacks is left out."""
        counts = [reply.usage for reply in self.replies]
        return {"requests": self.requests, "retries": self.retries} | {
            name: sum(one.get(name, 0) for one in [*counts, *self.failed])
            for name in TOKENS
            if all(name in one for one in counts or self.failed or [{}])
        }


class _Pool:
    """Workers that each take the next item when free, so that a slow reply delays no other."""

    def __init__(self, batches: Sequence[Batch]) -> None:
        self._model = batches[0].model
        self._left = ((batch, item) for batch in batches for item in batch.items)

    async def run(self) -> None:
        from trivium.models.endpoint import Endpoint  # noqa: PLC0415 - it needs an extra

        self._caller = _Caller(self._model, scrub_urls(find_address(self._model).base_url))
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


def retry_seconds(problem: CallError, tried: int, first: float) -> float:
    """The seconds before the next try; `first` is doubled for each that failed."""
    # Jitter keeps calls that failed together from being retried together.
    backoff = first * 2.0 ** min(tried, 60) * (0.5 + random.random())
    return max(min(backoff, MAX_BACKOFF), min(problem.after or 0.0, MAX_WAIT))
