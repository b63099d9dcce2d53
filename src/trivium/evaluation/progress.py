"""A progress bar on standard error: a bar in a terminal or notebook, lines elsewhere."""

from __future__ import annotations

import importlib
import sys
import time
from contextlib import suppress
from html import escape
from typing import Any

from rich.console import Console
from rich.markup import escape as escape_markup
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from trivium.core.text import one_line

SECONDS_BETWEEN_LINES = 10.0
SECONDS_BETWEEN_UPDATES = 0.2  # in a notebook


class ProgressBar:
    """Shows how much of a total is done, on standard error."""

    def __init__(self, label: str, total: int, done: int = 0, every: int | None = None) -> None:
        self._label, self._total, self._done = one_line(label), total, done
        self._every = every  # print a line after this many, instead of by time
        self._started = self._printed = time.monotonic()
        self._at_start = done
        self._bar: Progress | None = None
        self._cell: Any = None if every else _notebook_cell()
        if self._cell is not None:
            self._cell.display(self._html())
        elif sys.stderr.isatty():
            columns = (TextColumn("{task.description}"), BarColumn(20), MofNCompleteColumn())
            self._bar = Progress(
                *columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True
            )
            self._task = self._bar.add_task(escape_markup(self._label), total=total, completed=done)

    def advance(self, count: int) -> None:
        """Count some more as done."""
        self._done += count
        if self._bar is not None:
            self._bar.advance(self._task, count)
            return
        now = time.monotonic()
        if self._cell is not None:
            if now - self._printed >= SECONDS_BETWEEN_UPDATES:
                self._printed = now
                self._cell.update(self._html())
            return
        if self._every is None:
            due = now - self._printed >= SECONDS_BETWEEN_LINES
        else:
            due = self._done // self._every > (self._done - count) // self._every
        if due:
            self._printed = now
            rate = (self._done - self._at_start) / max(now - self._started, 1e-9)
            left = (self._total - self._done) / rate if rate else float("inf")
            done = f"{self._label}: {self._done}/{self._total}"
            with suppress(OSError):  # standard error may be closed
                text = f"{done}, {rate:.0f}/s, about {left:.0f} s left"
                print(text, file=sys.stderr, flush=True)

    def __enter__(self) -> ProgressBar:
        if self._bar is not None:
            self._bar.start()
        return self

    def _html(self) -> Any:
        """The bar in a notebook."""
        bar = f"<progress value={self._done} max={self._total}></progress>"
        text = f"{escape(self._label)} {bar} {self._done:,} of {self._total:,}"
        return importlib.import_module("IPython.display").HTML(text)

    def __exit__(self, *problem: object) -> None:
        if self._cell is not None:
            self._cell.update(self._html())
        if self._bar is not None:
            self._bar.stop()


def _notebook_cell() -> Any:
    """A place in the output of a notebook's cell that can be updated; None outside of notebooks."""
    shell = sys.modules.get("IPython") and importlib.import_module("IPython").get_ipython()
    if not hasattr(shell, "kernel"):
        return None
    return importlib.import_module("IPython.display").DisplayHandle()
