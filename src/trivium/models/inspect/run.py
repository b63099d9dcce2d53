"""Asking models through Inspect: one or many batches as one eval set."""

from __future__ import annotations

import asyncio
import math
import signal
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any

import inspect_ai
from inspect_ai import SampleSource
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.model import Model as InspectModel
from inspect_ai.solver import TaskState

from trivium.core.errors import UserError
from trivium.core.records import Attempt
from trivium.core.task import PresentedItem
from trivium.models.backends import Batch
from trivium.models.calls import Caller
from trivium.models.inspect.calls import CheckedClient
from trivium.models.inspect.logs import failed_samples, read_header, remove_keys, sample_attempt
from trivium.models.inspect.process import (
    in_one_sentence,
    interruptible,
    quiet_console,
    rare_collections,
)
from trivium.models.inspect.samples import ATTEMPT, ItemDataset, logged_attempt, sample_id
from trivium.models.inspect.tasks import build_task, item_dataset
from trivium.models.providers import (
    find_address,
    find_key,
    is_compatible,
    key_hider,
    keys_hidden_in_logs,
    one_line,
    scrub_urls,
)
from trivium.models.settings import Model, folder_name, read_extra_body

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
    for portion in _portions(batches):
        eval_set = EvalSet()
        tasks = [eval_set.task(batch, items) for batch, items in portion]
        _ask(eval_set, tasks, logs)


def ask_through_inspect_in_steps(
    models: Mapping[Model, Iterator[Sequence[Batch]]], logs: Path
) -> None:
    """Ask every model step by step, all in one eval set: its next batches are chosen meanwhile.

    Every model has a task of its own, to which Inspect adds samples as they are chosen. Its early
    stopping could only skip samples of a fixed list, which would have to hold all that might be
    chosen, and does not hear of those that fail.
    """
    eval_set = EvalSet()
    tasks = [eval_set.growing_task(model, steps) for model, steps in models.items()]
    _ask(eval_set, tasks, logs)


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


def _ask(eval_set: EvalSet, tasks: list[inspect_ai.Task], logs: Path) -> None:
    for path in logs.glob("*/*.eval"):
        remove_keys(path)  # a run that was killed had no time for it
    folder = _new_folder(logs)
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
    """What is asked together, and what of it is not saved yet."""

    # By name of the task and id of the sample; the items live here while Inspect copies samples.
    left: dict[tuple[str, str | int], tuple[Batch, PresentedItem]] = field(default_factory=dict)
    models: dict[Model, InspectModel] = field(default_factory=dict)
    callers: dict[Model, Caller] = field(default_factory=dict)
    samples: Counter[Model] = field(default_factory=Counter)  # that have not ended
    stopped: Exception | None = None  # why nothing more can be asked or saved
    unwritable: bool = False  # whether an attempt could not be saved

    def __post_init__(self) -> None:
        self.hide = key_hider()

    def task(self, batch: Batch, items: list[PresentedItem]) -> inspect_ai.Task:
        """The Inspect task of some items of a batch."""
        return self._task(batch.name, batch, self._dataset(batch.name, batch, items))

    def growing_task(self, model: Model, steps: Iterator[Sequence[Batch]]) -> inspect_ai.Task:
        """The task of a model to which samples are added step by step."""
        first = next(steps)
        waiting = chain([first], steps)
        name = folder_name(model.name)
        self.samples[model] += 1  # until the last step is over

        async def next_samples() -> list[Sample] | None:
            """What is asked when all that was asked before is saved; None: nothing more."""
            try:
                batches = None if self.stopped else next(waiting, None)
                if batches is not None:
                    return [
                        sample
                        for batch in batches
                        for sample in self._dataset(
                            name, batch, list(batch.items), f"{batch.name}/"
                        )
                    ]
                await self._ended(model)
            except Exception as problem:  # Inspect would try this task again
                await self.stop(problem)
            return None

        return self._task(name, first[0], SampleSource.from_samples([], next_samples=next_samples))

    def _dataset(
        self, name: str, batch: Batch, items: Sequence[PresentedItem], prefix: str = ""
    ) -> ItemDataset:
        """Some items for the task of this name; the prefix tells them from others there."""
        self.samples[batch.model] += len(items)
        for item in items:
            self.left[name, prefix + sample_id(item)] = (batch, item)
        return item_dataset(items, batch.model.settings.system, prefix=prefix)

    def _task(
        self, name: str, batch: Batch, dataset: ItemDataset | SampleSource
    ) -> inspect_ai.Task:
        model = batch.model
        if model not in self.models:
            self.models[model] = inspect_model(model)
            where = find_address(model).shown_url if is_compatible(model) else None
            self.callers[model] = Caller(model, where, batch.note, self.stop, self._error_line)

        async def on_end(state: TaskState) -> None:
            await self._ended(model)
            failed = (state.metadata.get(ATTEMPT) or {}).get("error")
            # What else failed is taken from the log, which knows why.
            if not self.unwritable and (state.scores or failed):
                store = dict(state.store.items())
                attempt = logged_attempt(state.metadata, store, model.name, self.hide)
                try:
                    self.save(name, state.sample_id, attempt, state.input_text)
                    if self.stopped is None:
                        self.callers[model].count(attempt)
                except UserError as problem:  # a full disk; Inspect itself would go on asking
                    await self.stop(problem)

        return build_task(
            batch.benchmark,
            dataset,
            name=name,
            model=self.models[model],
            caller=self.callers[model],
            on_end=on_end,
        )

    async def _ended(self, model: Model) -> None:
        """Count a sample of a model, after the last of which its connections are closed."""
        self.samples[model] -= 1
        if not self.samples[model]:  # they must be closed where they were opened
            self.callers[model].close()
            await self.models[model].api.aclose()

    async def stop(self, problem: Exception) -> None:
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

    def save(self, task: str, sample: str | int, attempt: Attempt, prompt: str) -> None:
        """Save the attempt of a sample; one that Inspect had to run twice is saved once."""
        if (found := self.left.pop((task, sample), None)) is not None:
            self.unwritable = True  # unless what follows comes to its end
            found[0].save(attempt, prompt)
            self.unwritable = False

    def end(self, path: Path) -> EvalLog | None:
        """Save the samples of a log that failed permanently; returns a log that is unfinished."""
        log = read_header(path)
        name = log.eval.task
        # What was being asked when it was cancelled has not failed.
        if log.status != "cancelled" and self.stopped is None:
            left = {
                sample: batch for (task, sample), (batch, _) in self.left.items() if task == name
            }
            for sample in failed_samples(path) if left else ():
                if sample.id in left:
                    sent = sample.input if isinstance(sample.input, str) else sample.input[-1].text
                    solver = left[sample.id].model.name
                    self.save(name, sample.id, sample_attempt(sample, solver, self.hide), sent)
        return None if log.status == "success" else log


def _evaluate(tasks: list[inspect_ai.Task], concurrency: int, folder: Path) -> None:
    """Run the tasks as an eval set, small ones side by side so that together they fill it."""
    largest = max(len(task.dataset) for task in tasks) or 1  # a growing one starts with nothing
    together = min(len(tasks), math.ceil(concurrency / largest))
    with (
        in_one_sentence(),
        keys_hidden_in_logs(),
        quiet_console(),
        rare_collections(),
        interruptible(),
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
    with in_one_sentence():
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
