"""Where jobs run: in this process, in more processes of this machine, or on a Ray cluster.

Jobs are pure, so a job whose worker died is run again. Results come back in the order of the jobs,
and only the calling process writes files. A progress bar shows how far they are.
"""

from __future__ import annotations

import importlib
import multiprocessing
import multiprocessing.connection
import os
import signal
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from html import escape
from typing import Any, Literal, Protocol, TypeVar

from rich.console import Console
from rich.markup import escape as escape_markup
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from trivium.benchmarks import import_project_benchmarks
from trivium.core.errors import UserError, import_extra, require
from trivium.core.text import one_line

T = TypeVar("T")
R = TypeVar("R")
WAITING = 4  # jobs per worker, no more, so that many jobs need little memory
SECONDS_BETWEEN_LINES = 10.0
SECONDS_BETWEEN_UPDATES = 0.2  # in a notebook

MAX_DEATHS = 3  # of workers in a row before one result


class Executor(Protocol):
    """Calls a function on many jobs; results come in the order of the jobs."""

    def map(self, function: Callable[[T], R], jobs: Iterable[T]) -> Iterator[R]: ...


class Here:
    """Runs jobs in this process."""

    def map(self, function: Callable[[T], R], jobs: Iterable[T]) -> Iterator[R]:
        return map(function, jobs)


class Processes:
    """Runs jobs in several processes of this machine, which the first job starts."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._pool: ProcessPoolExecutor | None = None

    def map(self, function: Callable[[T], R], jobs: Iterable[T]) -> Iterator[R]:
        waiting: deque[tuple[T, Future[R]]] = deque()
        for job in jobs:
            waiting.append((job, self._submit(function, job)))
            if len(waiting) >= WAITING * self._count:
                yield self._next(function, waiting)
        while waiting:
            yield self._next(function, waiting)

    def _next(self, function: Callable[[T], R], waiting: deque[tuple[T, Future[R]]]) -> R:
        """The first waiting result; a dead worker breaks the whole pool, which is restarted."""
        for _ in range(MAX_DEATHS):
            try:
                result = waiting[0][1].result()
            except BrokenProcessPool:
                self.close()
                for place, (job, future) in enumerate(waiting):
                    if not future.done() or future.cancelled() or future.exception() is not None:
                        waiting[place] = (job, self._submit(function, job))
            else:
                waiting.popleft()
                return result
        raise UserError(
            f"a worker process died {MAX_DEATHS} times in a row: is there enough memory? "
            "The same command resumes from here; --processes takes fewer"
        )

    def _submit(self, function: Callable[[T], R], job: T) -> Future[R]:
        self._pool = self._pool or self._start()
        try:
            return self._pool.submit(_interruptible, function, job)
        except BrokenProcessPool as broken:
            failed: Future[R] = Future()
            failed.set_exception(broken)  # resubmitted by `_next`
            return failed

    def _start(self) -> ProcessPoolExecutor:
        # Spawned, not forked: a fork of a process with threads (jax, polars) can hang.
        pool = ProcessPoolExecutor(
            self._count,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_prepare_worker,
        )
        with _interrupts_ignored():
            pool.submit(os.getpid)  # starts the workers, which inherit the ignored signal
        return pool

    def close(self) -> None:
        """Stop the processes; waiting jobs are dropped."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Ignore Ctrl-C, also in the processes started meanwhile."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set a signal handler
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _interruptible(function: Callable[[T], R], job: T) -> R:
    """The result of one job in a worker, which Ctrl-C interrupts.

    Between jobs a worker ignores Ctrl-C, since one that dies with the lock of a queue would
    block the others forever.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return function(job)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _prepare_worker() -> None:
    """Import the project's benchmarks, and have the worker end when its parent is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    import_project_benchmarks()


class Ray:
    """Runs jobs on a Ray cluster whose machines have Trivium installed."""

    def __init__(self, address: str | None) -> None:
        self._ray: Any = import_extra("ray", "ray")
        try:
            _reach(address)
            self._ray.init(address=address, log_to_driver=False, logging_level="error")
        except (OSError, RuntimeError, ValueError) as problem:
            first = str(problem).split("\n", maxsplit=1)[0]
            raise UserError(f"no Ray cluster at {address!r}: {first}") from None

    def map(self, function: Callable[[T], R], jobs: Iterable[T]) -> Iterator[R]:
        remote = self._ray.remote(num_cpus=1, max_retries=2 * MAX_DEATHS)(function)
        limit = WAITING * max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        waiting: deque[Any] = deque()
        for job in jobs:
            waiting.append(remote.remote(job))
            if len(waiting) >= limit:
                yield self._ray.get(waiting.popleft())
        while waiting:
            yield self._ray.get(waiting.popleft())

    def close(self) -> None:
        """Leave the cluster."""
        self._ray.shutdown()


def _reach(address: str | None) -> None:
    """Raise OSError if nothing listens there: Ray itself would wait, and then end this process."""
    host, colon, port = (address or "").rpartition(":")
    if colon and host and "/" not in host and port.isdigit():
        socket.create_connection((host, int(port)), timeout=10).close()


@dataclass(frozen=True)
class Workers:
    """Where jobs run."""

    processes: int = 1  # how many processes of this machine share the work
    executor: Literal["local", "ray"] = "local"  # this machine, or a Ray cluster
    ray_address: str | None = None  # of the cluster (default: RAY_ADDRESS, or one of its own)

    def __post_init__(self) -> None:
        require(self.processes >= 1, f"processes must be at least 1, got {self.processes}")
        require(
            self.executor == "ray" or self.ray_address is None, "ray_address needs --executor ray"
        )

    @contextmanager
    def open(self) -> Iterator[Executor]:
        """The executor, closed afterwards."""
        if self.executor == "local" and self.processes == 1:
            yield Here()
            return
        pool = Ray(self.ray_address) if self.executor == "ray" else Processes(self.processes)
        try:
            yield pool
        finally:
            pool.close()


def all_processors() -> Workers:
    """One process per processor."""
    return Workers(processes=os.cpu_count() or 1)


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
