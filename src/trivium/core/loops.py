"""Running coroutines from plain code, also inside a running event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, ParamSpec, TypeVar

from trivium.core.errors import UserError

T = TypeVar("T")
P = ParamSpec("P")


LARGE = 100_000  # characters or bytes, which take more than a few milliseconds to read


async def aside(size: int, function: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """The result of a function, in a thread if it reads so much that other calls would wait."""
    if size > LARGE:
        return await asyncio.to_thread(function, *args, **options)
    return function(*args, **options)


def run_async(main: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine; of a group of errors, the first that the user can fix is raised.

    It is raised outside of the handler, as a notebook shows a group instead of the sentence.
    """
    try:
        return _run(main)
    except ExceptionGroup as group:
        first: Exception = group.subgroup(UserError) or group
    while isinstance(first, ExceptionGroup):
        first = first.exceptions[0]
    raise first


def _run(main: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine, as of `asyncio.run`.

    A notebook has a running event loop, and `asyncio.run` would refuse; there, the coroutine runs
    in a thread of its own. An interrupt cancels it, and is raised when it has ended.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(main)
    started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[T]]] = Future()
    ended: Future[T] = Future()

    def work() -> None:
        async def watched() -> T:
            task = asyncio.ensure_future(main)
            started.set_result((asyncio.get_running_loop(), task))
            return await task

        try:
            ended.set_result(asyncio.run(watched()))
        except BaseException as problem:
            ended.set_exception(problem)

    threading.Thread(target=work, name="trivium").start()
    try:
        return ended.result()
    except KeyboardInterrupt:
        loop, task = started.result()
        loop.call_soon_threadsafe(task.cancel)
        ended.exception()  # waits
        raise
