"""Evaluation of models by Inspect, which runs, retries and logs; every sample becomes a record."""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import anyio
import inspect_ai
from inspect_ai.log import EvalLog
from inspect_ai.model import Model as InspectModel
from inspect_ai.solver import Generate, Solver, TaskState, solver

from trivium.core.errors import UserError
from trivium.core.files import naming_errors
from trivium.core.task import PresentedItem
from trivium.core.text import one_line
from trivium.models.backends import Batch
from trivium.models.inspect.models import inspect_model
from trivium.models.inspect.samples import ATTEMPT, sample_attempt
from trivium.models.inspect.tasks import build_task, item_dataset
from trivium.models.secrets import hider
from trivium.models.settings import Model


def ask_through_inspect(batches: Sequence[Batch], logs: Path) -> None:
    """Run every batch as an Inspect task; an attempt is saved when its sample ends.

    Resuming relies on the records alone: a sample is recorded before Inspect logs it, so
    nothing that is in a log is asked again.
    """
    recording = _Recording()
    tasks = [recording.task(batch, items) for batch in batches if (items := list(batch.items))]
    if not tasks:
        return
    shown, logging.raiseExceptions = logging.raiseExceptions, False
    try:
        with naming_errors(logs):
            ended = _evaluate(tasks, logs)
    finally:
        logging.raiseExceptions = shown  # a full disk would print a traceback for every line
    if recording.problem is not None:
        raise recording.problem
    # Inspect handles Ctrl-C and returns the logs that it has.
    if len(ended) < len(tasks) or any(log.status == "cancelled" for log in ended):
        raise KeyboardInterrupt
    for log in ended:
        if log.status == "error" and log.error is not None:
            why = one_line(recording.hide(log.error.message))
            raise UserError(f"{logs}: Inspect did not finish {log.eval.task}: {why}")


def _evaluate(tasks: Sequence[inspect_ai.Task], logs: Path) -> list[EvalLog]:
    return inspect_ai.eval(
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


class _Recording:
    """Saves attempts as they end."""

    def __init__(self) -> None:
        self.hide = hider()
        self.problem: UserError | None = None  # why an attempt could not be saved
        self._models: dict[Model, InspectModel] = {}
        self._slots: dict[Model, anyio.Semaphore] = {}
        self._unfinished: Counter[Model] = Counter()  # samples

    def task(self, batch: Batch, items: Sequence[PresentedItem]) -> inspect_ai.Task:
        """The Inspect task of some items of a batch."""
        model = batch.model
        if model not in self._models:
            self._models[model] = inspect_model(model)
            self._slots[model] = anyio.Semaphore(model.options.concurrency)
        self._unfinished[model] += len(items)
        settings = model.settings
        tool = settings.api != "completions"  # a base model plays games in text
        task = build_task(
            batch.benchmark,
            item_dataset(items, settings, tool=tool),
            tool=tool,
            name=batch.name,
            model=self._models[model],
            structured=settings.structured,
            restate=settings.restate,
        )
        task.solver = self._recorded(task.solver, batch)
        return task

    @solver
    def _recorded(self, attempt: Solver, batch: Batch) -> Solver:
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
                    return await attempt(state, generate)
                finally:
                    self._save(state, batch)
                    self._unfinished[model] -= 1
                    if not self._unfinished[model]:  # in the event loop that opened it
                        await self._models[model].api.aclose()

        return solve

    def _save(self, state: TaskState, batch: Batch) -> None:
        if ATTEMPT in state.metadata:  # not cancelled
            attempt = sample_attempt(state.metadata, batch.model.name, self.hide)
            try:
                batch.save(attempt, state.input_text)
            except UserError as problem:
                self.problem = problem
