"""Evaluation of models by Inspect, which runs, retries and logs; every sample becomes a record."""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import anyio
import inspect_ai
from inspect_ai.solver import Generate, Solver, TaskState, solver

from trivium.core.errors import UserError
from trivium.core.files import naming_errors
from trivium.core.task import PresentedItem
from trivium.core.text import one_line
from trivium.models.backends import Batch
from trivium.models.inspect.models import inspect_model
from trivium.models.inspect.samples import ATTEMPT, sample_attempt
from trivium.models.inspect.tasks import attempt, build_task, item_dataset
from trivium.models.providers import Model, hider

PORTION = 1000  # samples of one run of Inspect, which keeps all of them in memory


def ask_through_inspect(batches: Sequence[Batch], logs: Path) -> None:
    """Run every batch as Inspect tasks; an attempt is saved when its sample ends.

    Resuming relies on the records alone: a sample is recorded before Inspect logs it, so
    nothing that is in a log is asked again.
    """
    left = [(batch, iter(batch.items)) for batch in batches]
    share = max(1, PORTION // len(batches))
    while portion := [(batch, items) for batch, own in left if (items := [*islice(own, share)])]:
        _ask(portion, logs)


def _ask(portion: Sequence[tuple[Batch, Sequence[PresentedItem]]], logs: Path) -> None:
    recording = _Recording(Counter({batch.model: 0 for batch, _ in portion}))
    tasks = [recording.task(batch, items) for batch, items in portion]
    # A full disk would print a traceback for every line of a log.
    shown, logging.raiseExceptions = logging.raiseExceptions, False
    try:
        with naming_errors(logs):
            ended = inspect_ai.eval(
                [*tasks],
                model=None,  # every task has its own
                log_dir=str(logs),
                log_format="eval",
                display="log",
                # Errors only: the warning about a failed sample would print the whole prompt.
                log_level=os.environ.get("INSPECT_LOG_LEVEL", "error"),
                max_tasks=len(tasks),  # the load is limited by the connections of each model
                log_header_only=True,
                log_level_transcript="warning",  # the level "info" has requests with their URLs
                # These are slow for each sample.
                log_realtime=False,
                log_model_api=False,
                score_display=False,
                ctl_server=False,
            )
    finally:
        logging.raiseExceptions = shown
    if recording.problem is not None:
        raise recording.problem
    # Inspect handles Ctrl-C and returns the logs that it has.
    if len(ended) < len(tasks) or any(log.status == "cancelled" for log in ended):
        raise KeyboardInterrupt
    for log in ended:
        if log.status == "error" and log.error is not None:
            why = one_line(recording.hide(log.error.message))
            raise UserError(f"{logs}: Inspect did not finish {log.eval.task}: {why}")


class _Recording:
    """Saves attempts as they end."""

    def __init__(self, unfinished: Counter[Model]) -> None:
        self.hide = hider()
        self.problem: UserError | None = None  # why an attempt could not be saved
        self._unfinished = unfinished  # samples
        self._models = {model: inspect_model(model) for model in unfinished}
        self._slots = {model: anyio.Semaphore(model.options.concurrency) for model in unfinished}

    def task(self, batch: Batch, items: Sequence[PresentedItem]) -> inspect_ai.Task:
        """The Inspect task of some items of a batch."""
        model, settings = batch.model, batch.model.settings
        self._unfinished[model] += len(items)
        tool = settings.api != "completions"  # a base model plays games in text
        made = attempt(tool=tool, structured=settings.structured, restate=settings.restate)
        return build_task(
            batch.benchmark,
            item_dataset(items, settings, tool=tool),
            solver=self._recorded(made, batch),
            name=batch.name,
            model=self._models[model],
        )

    @solver
    def _recorded(self, made: Solver, batch: Batch) -> Solver:
        """Saves an attempt before the next one begins.

        A connection of Inspect is free before its reply is saved. A slot is not, so a kill
        loses no more replies than there are slots.
        """
        model = batch.model

        async def solve(state: TaskState, generate: Generate) -> TaskState:
            async with self._slots[model]:
                if self.problem is not None:
                    raise self.problem
                try:
                    return await made(state, generate)
                finally:
                    if ATTEMPT in state.metadata:  # not cancelled
                        ended = sample_attempt(state.metadata, model.name, self.hide)
                        try:
                            batch.save(ended, state.input_text)
                        except UserError as problem:
                            self.problem = problem
                    self._unfinished[model] -= 1
                    if not self._unfinished[model]:  # in the event loop that opened it
                        await self._models[model].api.aclose()

        return solve
