"""What Inspect does to the process that it runs in, kept within bounds."""

from __future__ import annotations

import gc
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import rich
from rich.console import Console
from rich.text import Text

from trivium.core.errors import UserError
from trivium.models.inspect.private import PrerequisiteError
from trivium.models.providers import key_hider


@contextmanager
def interruptible() -> Iterator[None]:
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
def quiet_console() -> Iterator[None]:
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
def rare_collections() -> Iterator[None]:
    """Garbage is collected less often: at Python's own rate that takes a quarter of the time."""
    before = gc.get_threshold()
    gc.set_threshold(50_000, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def in_one_sentence() -> Iterator[None]:
    """Turns what Inspect finds missing into a UserError."""
    try:
        yield
    except PrerequisiteError as problem:
        text = Text.from_markup(key_hider()(str(problem.message))).plain
        raise UserError(" ".join(text.removeprefix("ERROR: ").split())) from None
