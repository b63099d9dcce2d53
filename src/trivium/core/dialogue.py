"""The turn loop: a dialogue between a solver and an item, which ends in an attempt."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, NamedTuple, ParamSpec, TypeVar

from trivium import __version__
from trivium.core.benchmark import AnyBenchmark, Item, Solver, Turn
from trivium.core.errors import UserError
from trivium.core.reading import split_reasoning
from trivium.core.records import (
    DECLINING,
    LENGTH,
    NO_ANSWER,
    UNSCORED,
    Attempt,
    Scores,
    outcome,
)
from trivium.core.spec import spec_to_dict
from trivium.core.streams import Stream, stream_key
from trivium.core.task import PresentedItem, Task
from trivium.core.text import MAX_TEXT, encodable, excerpt, one_line

MAX_TURNS = 200  # stops a solver that never ends, whatever the benchmark's own limit is

MAX_STOP_REASON = 40  # characters
RESTATE = "Give your final answer in the form that was asked for, on a line of its own: ANSWER: ..."


class ToolCall(NamedTuple):
    """A model's call of a tool; arguments that are not JSON are the text itself."""

    id: str
    name: str
    arguments: Any


@dataclass(frozen=True)
class Reply:
    """A model's reply, why it stopped, and its token usage."""

    text: str
    usage: Mapping[str, int] = field(default_factory=dict)  # the token counts that were reported
    stop_reason: str | None = None  # a finish reason of chat completions
    reasoning: str | None = None  # what the provider sent as reasoning, apart from the text
    error: str | None = None  # why the reply is incomplete
    calls: Sequence[ToolCall] = ()

    def __post_init__(self) -> None:
        limited = {
            "text": encodable(self.text[:MAX_TEXT]),
            # A longer reply ends at this limit as it would at one of tokens.
            "stop_reason": LENGTH if len(self.text) > MAX_TEXT else self.stop_reason,
            "reasoning": self.reasoning and encodable(self.reasoning[:MAX_TEXT]),
            "error": self.error and one_line(self.error),
        }
        if stop_reason := limited["stop_reason"]:
            limited["stop_reason"] = one_line(stop_reason, MAX_STOP_REASON)
        for name, value in limited.items():
            object.__setattr__(self, name, value)


class Dialogue:
    """A prompt, then replies and responses in turn, until the attempt is over.

    >>> import trivium
    >>> task = trivium.load("blicket_game")
    >>> dialogue = task.start(task.item(0, seed=7))
    >>> dialogue.send("TEST A").startswith("Test 1: A.")
    True
    >>> dialogue.done
    False
    """

    def __init__(self, item: PresentedItem, *, restate: bool = False) -> None:
        self.item = item
        # Games have their own ways to ask for a move again.
        self._restate = restate and not item.task.benchmark.multi_turn
        self.messages = [item.prompt]  # the prompt, then replies and responses in turn
        self.replies: list[str] = []
        self.visible: list[str] = []  # the replies without reasoning blocks, which are parsed
        self.stop_reasons: list[str | None] = []  # the provider's, one for each reply
        self.in_reasoning = False  # whether the last reply ended inside a reasoning block
        self.done = False
        self._started = time.perf_counter()

    def __repr__(self) -> str:
        state = "over" if self.done else "open"
        last = excerpt(self.messages[-1], 15)
        return f"<dialogue about {self.item.id}, {state}, replies: {len(self.replies)}>\n{last}"

    @property
    def prompt(self) -> str:
        """The first message."""
        return self.messages[0]

    def send(self, reply: str, stop_reason: str | None = None) -> str | None:
        """Add the solver's reply; returns the response, or None when the dialogue is over."""
        if self.done:
            raise ValueError("the dialogue is over")
        task = self.item.task
        self.note(reply, stop_reason)
        response = None
        if stop_reason not in DECLINING:
            response = task.benchmark.respond(self.item.content, self.visible, task.view)
        first = len(self.replies) == 1
        if response is None and self._restate and first and self._read()[1] == NO_ANSWER:
            response = RESTATE
        self.done = response is None or len(self.replies) >= MAX_TURNS
        self.messages += [reply] if response is None else [reply, response]
        return response

    def note(self, reply: str, stop_reason: str | None = None) -> None:
        """Add a reply without asking the environment for a response."""
        # The last line of a reply that ended at a token limit may be incomplete.
        split = split_reasoning(reply.rpartition("\n")[0] if stop_reason == LENGTH else reply)
        self.replies.append(reply)
        self.visible.append(split.visible)
        self.stop_reasons.append(stop_reason)
        self.in_reasoning = not split.finished

    def _read(self, error: str | None = None) -> tuple[Any, str | None]:
        """The answer, and how the attempt ended where there is none."""
        task = self.item.task
        answer = None
        if self.visible:
            answer = task.benchmark.parse(self.item.content, self.visible, task.view)
        stop_reason = self.stop_reasons[-1] if self.stop_reasons else None
        ended = outcome(
            answer, stop_reason=stop_reason, in_reasoning=self.in_reasoning, error=error
        )
        return answer, ended

    @property
    def scores(self) -> Scores:
        """Every metric of the replies so far."""
        return self.item.task.score(self.item, self.replies)

    def attempt(
        self, solver: str, *, error: str | None = None, seconds: float | None = None
    ) -> Attempt:
        """The replies parsed and scored; `error` is why a call failed permanently."""
        item, task = self.item, self.item.task
        benchmark, origin = task.benchmark, item.content.origin
        answer, ended = self._read(error)
        kind = ended or benchmark.kind(item.content, answer)
        scored = kind not in UNSCORED
        several = len(self.replies) > 1 or (benchmark.multi_turn and bool(self.replies))
        elapsed = time.perf_counter() - self._started if seconds is None else seconds
        floor, ceiling = task.item_floor(item.original), task.item_ceiling(item.original)
        return Attempt(
            benchmark=benchmark.name,
            spec=None if origin is None else origin.spec,
            view=spec_to_dict(task.view),
            seed=None if origin is None else origin.seed,
            index=None if origin is None else origin.index,
            id=item.id,
            trial=item.trial,
            order=item.order,
            solver=solver,
            reply=list(self.replies) if several else next(iter(self.replies), None),
            answer=answer if scored else None,
            scores=task.score_visible(item.content, self.visible, answer) if scored else {},
            kind=kind,
            floor=floor.value,
            floor_name=floor.name,
            ceiling=ceiling.value,
            ceiling_name=ceiling.name,
            groups=item.groups,
            prompt_lines=item.prompt.count("\n") + 1,
            prompt_chars=len(item.prompt),
            trivium=__version__,
            version=benchmark.version,
            digest=item.digest,
            error=error,
            seconds=round(elapsed, 6),
            gold=item.gold,
            stop_reason=self.stop_reasons[-1] if self.stop_reasons else None,
        )


def solve(item: PresentedItem, solver: Solver) -> Attempt:
    """A program's attempt at an item."""
    return play(Dialogue(item), solver).attempt(solver.name)


def play(dialogue: Dialogue, solver: Solver) -> Dialogue:
    """The dialogue after a program has finished it."""
    while not dialogue.done:
        dialogue.send(next_reply(dialogue, solver))
    return dialogue


async def converse(
    dialogue: Dialogue, ask: Callable[[Sequence[str]], Awaitable[str | Reply]]
) -> Dialogue:
    """The dialogue after an async solver, which is given all messages so far, has finished it."""
    while not dialogue.done:
        given = await ask(dialogue.messages)
        reply = given if isinstance(given, Reply) else Reply(given)
        await aside(len(reply.text), dialogue.send, reply.text, reply.stop_reason)
    return dialogue


def next_reply(dialogue: Dialogue, solver: Solver) -> str:
    """A program's next reply in a dialogue."""
    item = dialogue.item
    stream = solver_stream(solver.name, item.original, item.trial, len(dialogue.replies))
    known = item.content if solver.omniscient else None
    return solver.reply(Turn(dialogue.messages, stream, item.task.view, known))


def attempt(
    benchmark: AnyBenchmark, item: Any, solver: Solver, view: Any, trial: int = 0
) -> Attempt:
    """A program's attempt at an item of a benchmark in a view."""
    return solve(PresentedItem(Task(benchmark, None, view), item, trial), solver)


def solver_stream(solver: str, item: Item, trial: int, turn: int) -> Stream:
    """The random stream of a solver, different for every item, trial and turn."""
    origin = item.origin
    where = None if origin is None else (origin.spec, origin.seed, origin.index)
    return Stream(stream_key("solver", solver, item.id, where, trial, turn))


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
