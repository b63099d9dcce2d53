"""Where work is done: this process, or more processes of this machine."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from trivium.core.errors import require

T = TypeVar("T")
R = TypeVar("R")


class Executor(Protocol):
    """Calls a function on many tasks; results come in the order of the tasks."""

    def map(self, function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]: ...


class Here:
    """Does the work in this process."""

    def map(self, function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        return map(function, tasks)


class Processes:
    """Does the work in several processes of this machine."""

    def __init__(self, count: int) -> None:
        # Spawned, not forked: a fork of a process with threads (jax, polars) can hang.
        context = multiprocessing.get_context("spawn")
        self._count = count
        self._pool = ProcessPoolExecutor(count, mp_context=context)

    def map(self, function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        # Only a few tasks wait at any time, so that streams of any length need little memory.
        waiting: deque[Future[Any]] = deque()
        for task in tasks:
            waiting.append(self._pool.submit(function, task))
            if len(waiting) >= 4 * self._count:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def close(self) -> None:
        """Stop the processes; what waits is dropped."""
        self._pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def local_executor(processes: int) -> Iterator[Executor]:
    """This process for one, a pool for more."""
    require(processes >= 1, f"processes must be at least 1, got {processes}")
    if processes == 1:
        yield Here()
        return
    pool = Processes(processes)
    try:
        yield pool
    finally:
        pool.close()
