"""The one turn loop: a dialogue between a solver and an item, and the attempt it ends in."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from trivium.core.benchmark import AnyBenchmark, Item, Solver, Turn
from trivium.core.files import dump_line
from trivium.core.reading import split_reasoning
from trivium.core.records import CUT_OFF, ERROR, Attempt, Scores
from trivium.core.spec import spec_to_dict
from trivium.core.streams import Stream, stream_key
from trivium.core.task import PresentedItem, Task

MAX_TURNS = 200  # a solver that never ends is stopped here, whatever the benchmark's own limit is


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

    def __init__(self, item: PresentedItem) -> None:
        self.item = item
        self.messages = [item.prompt]  # the prompt, then replies and responses in turn
        self.replies: list[str] = []
        self.visible: list[str] = []  # the replies without reasoning blocks: all that is read
        self.cut_off = False  # whether the last reply broke off inside a reasoning block
        self.done = False
        self._started = time.perf_counter()

    @property
    def prompt(self) -> str:
        """The text that the dialogue opens with."""
        return self.messages[0]

    def send(self, reply: str) -> str | None:
        """Take the solver's next reply; returns the response, or None when it was the last."""
        if self.done:
            raise ValueError("the dialogue is over")
        task = self.item.task
        self.note([reply])
        response = task.benchmark.respond(self.item.content, self.visible, task.view)
        self.done = response is None or len(self.replies) >= MAX_TURNS
        self.messages += [reply] if response is None else [reply, response]
        return response

    def note(self, replies: Sequence[str]) -> None:
        """Add replies as they were given, without asking the environment for its responses."""
        for reply in replies:
            split = split_reasoning(reply)
            self.replies.append(reply)
            self.visible.append(split.visible)
            self.cut_off = not split.finished

    @property
    def scores(self) -> Scores:
        """Every metric of what was said so far."""
        return self.item.task.score(self.item, self.replies)

    def attempt(
        self, solver: str, *, usage: dict[str, int] | None = None, seconds: float | None = None
    ) -> Attempt:
        """What was said, parsed and scored."""
        task, content = self.item.task, self.item.content
        benchmark = task.benchmark
        answer = benchmark.parse(content, self.visible, task.view)
        elapsed = time.perf_counter() - self._started if seconds is None else seconds
        made = _unscored(self.item, solver)
        made.reply = list(self.replies) if benchmark.multi_turn else self.replies[0]
        made.answer = answer
        made.scores = task.score_visible(content, self.visible, answer)
        made.kind = benchmark.kind(content, answer) if answer is not None else self._no_answer()
        made.usage = usage or {}
        made.seconds = round(elapsed, 6)
        return made

    def _no_answer(self) -> str:
        """Why there is no answer: the reply was cut off, or it has none."""
        if self.cut_off:
            return CUT_OFF
        return self.item.task.benchmark.kind(self.item.content, None)


def failed_attempt(item: PresentedItem, solver: str, error: str) -> Attempt:
    """An attempt whose call failed permanently: counted apart, never as a wrong answer."""
    made = _unscored(item, solver)
    made.error = error
    return made


def solve(item: PresentedItem, solver: Solver) -> Attempt:
    """A program's attempt at an item."""
    dialogue = Dialogue(item)
    while not dialogue.done:
        dialogue.send(next_reply(dialogue, solver))
    return dialogue.attempt(solver.name)


async def converse(dialogue: Dialogue, ask: Callable[[Sequence[str]], Awaitable[str]]) -> Dialogue:
    """The dialogue led to its end by something that has to be waited for."""
    while not dialogue.done:
        dialogue.send(await ask(dialogue.messages))
    return dialogue


def next_reply(dialogue: Dialogue, solver: Solver) -> str:
    """What a program replies at this point of a dialogue."""
    item = dialogue.item
    stream = solver_stream(solver.name, item.original, item.trial, len(dialogue.replies))
    known = item.content if solver.omniscient else None
    return solver.reply(Turn(dialogue.messages, stream, item.task.view, known))


def attempt(
    benchmark: AnyBenchmark, item: Any, solver: Solver, view: Any, trial: int = 0
) -> Attempt:
    """The same for an item of a benchmark that is not presented yet."""
    return solve(PresentedItem(Task(benchmark, None, view), item, trial), solver)


def solver_stream(solver: str, item: Item, trial: int, turn: int) -> Stream:
    """The random stream of a solver: its own for every item, trial and turn."""
    origin = item.origin
    where = None if origin is None else (origin.spec, origin.seed, origin.index)
    return Stream(stream_key("solver", solver, item.id, where, trial, turn))


def _unscored(item: PresentedItem, solver: str) -> Attempt:
    origin, benchmark = item.content.origin, item.task.benchmark
    floor = item.task.item_floor(item.original)
    return Attempt(
        benchmark=benchmark.name,
        spec=None if origin is None else origin.spec,
        view=spec_to_dict(item.task.view),
        seed=None if origin is None else origin.seed,
        index=None if origin is None else origin.index,
        id=item.id,
        trial=item.trial,
        solver=solver,
        reply=None,
        answer=None,
        scores={},
        kind=ERROR,
        chance=floor.value,
        floor=floor.name,
        groups=item.groups,
        prompt_lines=item.prompt.count("\n") + 1,
        prompt_chars=len(item.prompt),
        content=None if origin else _digest(dump_line(benchmark.to_row(item.original))),
        gold=item.gold,
    )


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()
