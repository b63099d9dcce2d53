"""Asking models through Inspect: one or many batches as one eval set."""

from __future__ import annotations

import asyncio
import gc
import math
import signal
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import inspect_ai
import rich
from inspect_ai.log import EvalLog
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.model import Model as InspectModel
from inspect_ai.solver import TaskState
from rich.console import Console
from rich.text import Text

from trivium.core.errors import UserError
from trivium.core.records import Attempt, AttemptKey
from trivium.core.task import PresentedItem
from trivium.models.backends import Batch
from trivium.models.calls import Caller
from trivium.models.inspect.calls import CheckedClient
from trivium.models.inspect.logs import failed_samples, read_header, remove_keys, sample_attempt
from trivium.models.inspect.private import PrerequisiteError
from trivium.models.inspect.samples import ATTEMPT, logged_attempt
from trivium.models.inspect.tasks import build_task
from trivium.models.providers import (
    find_address,
    find_key,
    is_compatible,
    key_hider,
    keys_hidden_in_logs,
    one_line,
    scrub_urls,
)
from trivium.models.settings import Model, read_extra_body

# Providers of Inspect's that do more than speak the protocol. The others go through its provider
# for anything compatible: its own for vLLM would start servers and write to the environment.
OWN_PROVIDER = {"openai", "openrouter"}
MAX_SAMPLES = 5000  # of one eval set, all of which Inspect holds in memory
SECONDS_TO_SCORE = 0.5  # between two looks at whether samples still end when a run is stopped


def ask_through_inspect(batches: Sequence[Batch], logs: Path) -> None:
    """Make the attempts of all batches as one eval set; each finished sample is saved at once.

    What an interrupted command has left is known from the records, which hold every finished
    sample, and not from Inspect's logs, which are written a little later. So every call has a log
    folder of its own: in an old one Inspect would take a batch for done, or delete the log of what
    is not asked again. Many samples are several eval sets, one after the other, since Inspect
    holds all samples of a set in memory.
    """
    for path in logs.glob("*/*.eval"):
        remove_keys(path)  # a run that was killed had no time for it
    for portion in _portions(batches):
        eval_set = EvalSet()
        tasks = [eval_set.task(batch, items) for batch, items in portion]
        _ask(eval_set, tasks, _new_folder(logs))


def _portions(batches: Sequence[Batch]) -> Iterator[list[tuple[Batch, list[PresentedItem]]]]:
    """What is asked together: as many batches, or as much of one, as memory should hold."""
    portion, free = [], MAX_SAMPLES
    for batch in batches:
        items = iter(batch.items)
        while taken := list(islice(items, free)):
            portion.append((batch, taken))
            free -= len(taken)
            if not free:
                yield portion
                portion, free = [], MAX_SAMPLES
    if portion:
        yield portion


def _ask(eval_set: EvalSet, tasks: list[inspect_ai.Task], folder: Path) -> None:
    try:
        try:
            concurrency = min(model.options.concurrency for model in eval_set.models)
            _evaluate(tasks, concurrency, folder)
        finally:  # a log of what was interrupted keeps no key either
            for path in folder.glob("*.eval"):
                remove_keys(path)
        unfinished = [log for path in sorted(folder.glob("*.eval")) if (log := eval_set.end(path))]
        if any(log.status == "cancelled" for log in unfinished):
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        if eval_set.stopped is None:
            raise
    if eval_set.stopped is not None:
        raise eval_set.stopped
    for log in unfinished:
        why = "its log breaks off; is the disk full?"
        if log.status != "started":
            why = log.error.message if log.error is not None else log.status
        raise UserError(f"Inspect did not finish {log.eval.task}: {eval_set.hide(why)}")


@dataclass
class EvalSet:
    """The batches that are asked together, and what of them is not saved yet."""

    batches: dict[str, Batch] = field(default_factory=dict)
    left: dict[str, set[AttemptKey]] = field(default_factory=dict)  # by name of the batch
    models: dict[Model, InspectModel] = field(default_factory=dict)
    callers: dict[Model, Caller] = field(default_factory=dict)
    samples: Counter[Model] = field(default_factory=Counter)  # that have not ended
    stopped: UserError | None = None  # why nothing more can be asked or saved
    unwritable: bool = False  # whether an attempt could not be saved

    def __post_init__(self) -> None:
        self.hide = key_hider()

    def task(self, batch: Batch, items: list[PresentedItem]) -> inspect_ai.Task:
        """The Inspect task of some items of a batch."""
        model = batch.model
        self.batches[batch.name] = batch
        self.left[batch.name] = {(item.id, item.trial) for item in items}
        self.samples[model] += len(items)
        if model not in self.models:
            self.models[model] = inspect_model(model)
            where = find_address(model).shown_url if is_compatible(model) else None
            self.callers[model] = Caller(model, where, batch.note, self.stop, self._error_line)

        async def on_end(state: TaskState) -> None:
            self.samples[model] -= 1
            if not self.samples[model]:  # connections must be closed where they were opened
                self.callers[model].close()
                await self.models[model].api.aclose()
            failed = (state.metadata.get(ATTEMPT) or {}).get("error")
            # What else failed is taken from the log, which knows why.
            if not self.unwritable and (state.scores or failed):
                store = dict(state.store.items())
                attempt = logged_attempt(state.metadata, store, model.name, self.hide)
                try:
                    self.save(batch, attempt, state.input_text)
                    if self.stopped is None:
                        self.callers[model].count(attempt)
                except UserError as problem:  # a full disk; Inspect itself would go on asking
                    await self.stop(problem)

        return build_task(
            items,
            name=batch.name,
            model=self.models[model],
            system=model.settings.system,
            caller=self.callers[model],
            on_end=on_end,
        )

    async def stop(self, problem: UserError) -> None:
        """End the eval set, in the only way that Inspect knows."""
        if self.stopped is None:
            self.stopped = problem
            for model, own in self.models.items():
                self.callers[model].close()
                if not self.unwritable:
                    await self.callers[model].drain()
                with suppress(Exception):  # a call may be under way
                    await own.api.aclose()
            if not self.unwritable:
                await self._end_of_samples()
            signal.raise_signal(signal.SIGINT)

    async def _end_of_samples(self) -> None:
        """Wait until samples whose replies have come are scored and saved."""
        left = -1
        while left != (left := self.samples.total()):
            await asyncio.sleep(SECONDS_TO_SCORE)

    def _error_line(self, text: str) -> str:
        return one_line(scrub_urls(self.hide(text)))

    def save(self, batch: Batch, attempt: Attempt, prompt: str) -> None:
        """Save an attempt; a sample that Inspect had to run twice is saved once."""
        if attempt.key in self.left[batch.name]:
            self.left[batch.name].remove(attempt.key)
            self.unwritable = True  # unless what follows comes to its end
            batch.save(attempt, prompt)
            self.unwritable = False

    def end(self, path: Path) -> EvalLog | None:
        """Save the samples of a log that failed permanently; returns a log that is unfinished."""
        log = read_header(path)
        batch = self.batches[log.eval.task]
        # What was being asked when it was cancelled has not failed.
        if self.left[batch.name] and log.status != "cancelled" and self.stopped is None:
            for sample in failed_samples(path):
                sent = sample.input if isinstance(sample.input, str) else sample.input[-1].text
                self.save(batch, sample_attempt(sample, batch.model.name, self.hide), sent)
        return None if log.status == "success" else log


def _evaluate(tasks: list[inspect_ai.Task], concurrency: int, folder: Path) -> None:
    """Run the tasks as an eval set, small ones side by side so that together they fill it."""
    largest = max(len(task.dataset) for task in tasks)
    together = min(len(tasks), math.ceil(concurrency / largest))
    with (
        _in_one_sentence(),
        keys_hidden_in_logs(),
        _quiet_console(),
        _rare_collections(),
        _interruptible(),
    ):
        inspect_ai.eval_set(
            tasks,
            log_dir=str(folder),
            log_format="eval",
            model=None,  # every task has its own
            display="none",
            max_tasks=together,
            max_samples=concurrency // together,
            fail_on_error=False,
            # Both cost much for each sample, for views that few look at.
            log_realtime=False,
            log_model_api=False,
            score_display=False,  # estimates so far, which nobody sees
            ctl_server=False,  # nobody steers it from outside
        )


def _new_folder(logs: Path) -> Path:
    """The next numbered folder."""
    taken = [int(path.name) for path in logs.glob("*") if path.name.isdigit()]
    return logs / str(max(taken, default=0) + 1)


@contextmanager
def _interruptible() -> Iterator[None]:
    """An interrupt, which is how an eval set is ended, works in background jobs of a shell too."""
    before = signal.getsignal(signal.SIGINT)
    ignored = before is signal.SIG_IGN and threading.current_thread() is threading.main_thread()
    if ignored:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        if ignored:
            signal.signal(signal.SIGINT, before)


@contextmanager
def _quiet_console() -> Iterator[None]:
    """Inspect renders nothing: an eval set has a table of every task, whatever its display."""
    console, render = rich.get_console(), Console.print
    quiet = console.quiet

    def print_elsewhere(self: Console, *parts: Any, **options: Any) -> None:
        if self is not console:
            render(self, *parts, **options)

    # Not on the console itself, whose attributes Inspect resets.
    Console.print = print_elsewhere  # type: ignore[method-assign]
    try:
        yield
    finally:
        Console.print = render  # type: ignore[method-assign]
        console.quiet = quiet  # Inspect makes it quiet permanently


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Garbage is collected less often: at Python's own rate that takes a quarter of the time."""
    before = gc.get_threshold()
    gc.set_threshold(50_000, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def _in_one_sentence() -> Iterator[None]:
    """Turns what Inspect finds missing into a UserError."""
    try:
        yield
    except PrerequisiteError as problem:
        text = Text.from_markup(key_hider()(str(problem.message))).plain
        raise UserError(" ".join(text.removeprefix("ERROR: ").split())) from None


def inspect_model(model: Model) -> InspectModel:
    """The model as Inspect knows it; UserError for what is missing."""
    options, settings = model.options, model.settings
    extra_body = read_extra_body(settings.extra_body)
    config = GenerateConfig(
        temperature=settings.temp,
        max_tokens=settings.max_output_tokens,
        reasoning_effort=settings.reasoning_effort,
        extra_body=extra_body or None,
        attempt_timeout=max(1, round(options.timeout)),
        max_retries=0,  # retries are made and counted by the caller
        max_connections=options.concurrency,
    )
    url: str | None = None
    key: str | None
    more: dict[str, Any] = {}
    with _in_one_sentence():
        if is_compatible(model):
            address = find_address(model)
            name = model.name if model.provider in OWN_PROVIDER else f"openai-api/{model.name}"
            url, key = address.base_url.partition("?")[0], address.key
            more = {
                "default_query": address.query,
                "max_retries": 0,
                "http_client": CheckedClient(address, extra_body),
            }
            if settings.api != "auto":
                more["responses_api"] = settings.api == "responses"
        else:
            name, key = model.name, find_key(model.provider)[1]
        try:
            made = get_model(name, config=config, base_url=url, api_key=key, memoize=False, **more)
        except ValueError as problem:  # a provider that it does not know
            raise UserError(
                f"{problem} Where it speaks OpenAI's protocol, --base_url says where it is"
            ) from None
        made.model_args = {}  # they would be written to the log
        return made
