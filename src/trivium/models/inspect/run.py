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
from trivium.models.inspect.tasks import build_task
from trivium.models.providers import Model, hider

PORTION = 1000  # samples of one run of Inspect, which keeps all of them in memory


def ask_through_inspect(batches: Sequence[Batch], logs: Path) -> None:
    """Run every batch as Inspect tasks; an attempt is saved when its sample ends.

    Resuming relies on the records alone: a sample is recorded before Inspect logs it, so
    nothing that is in a log is asked again.
    """
    left = [(batch, iter(batch.items)) for batch in batches]
    share = max(1, PORTION // len(batches))
    while portion := [(batch, items) for batch, rest in left if (items := [*islice(rest, share)])]:
        _Run(portion).run(logs)


class _Run:
    """One run of Inspect, which saves attempts as they end."""

    def __init__(self, portion: Sequence[tuple[Batch, Sequence[PresentedItem]]]) -> None:
        models = dict.fromkeys(batch.model for batch, _ in portion)
        self._hide = hider()
        self._problem: UserError | None = None  # why an attempt could not be saved
        self._models = {model: inspect_model(model) for model in models}
        self._slots = {model: anyio.Semaphore(model.options.concurrency) for model in models}
        self._unfinished: Counter[Model] = Counter()  # samples
        self._tasks = [self._task(batch, items) for batch, items in portion]

    def _task(self, batch: Batch, items: Sequence[PresentedItem]) -> inspect_ai.Task:
        model = batch.model
        self._unfinished[model] += len(items)
        # A base model plays games in text.
        task = build_task(items, model.settings, tool=model.settings.api != "completions")
        saved = self._saved(task.solver, batch)
        return inspect_ai.task_with(task, solver=saved, name=batch.name, model=self._models[model])

    @solver
    def _saved(self, attempt: Solver, batch: Batch) -> Solver:
        """Saves an attempt before the next one begins.

        A connection of Inspect is free before its reply is saved. A slot is not, so a kill
        loses no more replies than there are slots.
        """
        model = batch.model

        async def solve(state: TaskState, generate: Generate) -> TaskState:
            async with self._slots[model]:
                if self._problem is not None:
                    raise self._problem
                try:
                    return await attempt(state, generate)
                finally:
                    if ATTEMPT in state.metadata:  # not cancelled
                        ended = sample_attempt(state.metadata, model.name, self._hide)
                        try:
                            batch.save(ended, state.input_text)
                        except UserError as problem:
                            self._problem = problem
                    self._unfinished[model] -= 1
                    if not self._unfinished[model]:  # in the event loop that opened it
                        await self._models[model].api.aclose()

        return solve

    def run(self, logs: Path) -> None:
        """Run the tasks to their end; raises what stopped them."""
        # A full disk would print a traceback for every line of a log.
        shown, logging.raiseExceptions = logging.raiseExceptions, False
        try:
            with naming_errors(logs):
                ended = inspect_ai.eval(
                    self._tasks,
                    model=None,  # every task has its own
                    log_dir=str(logs),
                    log_format="eval",
                    display="log",
                    # Errors only: the warning about a failed sample would print the whole prompt.
                    log_level=os.environ.get("INSPECT_LOG_LEVEL", "error"),
                    max_tasks=len(self._tasks),  # the connections of each model limit the load
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
        if self._problem is not None:
            raise self._problem
        # Inspect handles Ctrl-C and returns the logs that it has.
        if len(ended) < len(self._tasks) or any(log.status == "cancelled" for log in ended):
            raise KeyboardInterrupt
        for log in ended:
            if log.status == "error" and log.error is not None:
                why = one_line(self._hide(log.error.message))
                raise UserError(f"{logs}: Inspect did not finish {log.eval.task}: {why}")
