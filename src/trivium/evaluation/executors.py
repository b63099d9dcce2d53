"""Where jobs run: in this process, in more processes of this machine, or on a Ray cluster.

Jobs are pure, so a job whose worker died is run again. Results come back in the order of the jobs,
and only the calling process writes files.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import signal
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar

from trivium.benchmarks import import_project_benchmarks
from trivium.core.errors import UserError, import_extra, require

T = TypeVar("T")
R = TypeVar("R")
WAITING = 4  # jobs per worker, no more, so that many jobs need little memory
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
