"""The way of the data for one attempt: render, solve, parse, score, record."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from trivium.core.benchmark import AnyBenchmark, Attempt, Item, Solver, Turn, solver_stream
from trivium.core.spec import spec_to_dict

# A solver that will not stop is stopped here, whatever the benchmark's own limit is.
MAX_TURNS = 200


def attempt(
    benchmark: AnyBenchmark, item: Any, solver: Solver, view: Any, trial: int = 0
) -> Attempt:
    """A built-in solver's attempt at one item, walked through text."""
    told = benchmark.reshuffle(item, trial)
    began = time.perf_counter()
    messages = [benchmark.render(told, view)]
    replies: list[str] = []
    while len(replies) < MAX_TURNS:
        stream = solver_stream(solver.name, item, trial, len(replies))
        turn = Turn(messages, stream, view, told if solver.omniscient else None)
        replies.append(solver.say(turn))
        answer = benchmark.respond(told, replies, view)
        if answer is None:
            break
        messages += [replies[-1], answer]
    return record(
        benchmark,
        told,
        solver.name,
        replies,
        view,
        trial=trial,
        seconds=time.perf_counter() - began,
    )


def record(
    benchmark: AnyBenchmark,
    told: Any,
    solver: str,
    replies: Sequence[str],
    view: Any,
    *,
    trial: int = 0,
    usage: dict[str, int] | None = None,
    seconds: float = 0.0,
) -> Attempt:
    """What was said about an item as told in this trial, parsed and scored."""
    answer = benchmark.parse(told, replies, view)
    row = _blank(benchmark, told, solver, view, trial)
    row.reply = list(replies) if benchmark.multi_turn else replies[0]
    row.answer = answer
    row.scores = benchmark.score(told, answer)
    row.kind = benchmark.kind(told, answer)
    row.usage = usage or {}
    row.seconds = round(seconds, 6)
    return row


def failed(
    benchmark: AnyBenchmark, told: Any, solver: str, view: Any, *, trial: int, error: str
) -> Attempt:
    """An attempt whose call failed for good: an error, counted apart, never a wrong answer."""
    row = _blank(benchmark, told, solver, view, trial)
    row.error = error
    return row


def _blank(benchmark: AnyBenchmark, told: Item, solver: str, view: Any, trial: int) -> Attempt:
    origin = told.origin
    prompt = benchmark.render(told, view)
    return Attempt(
        benchmark=benchmark.name,
        spec=None if origin is None else origin.spec,
        view=spec_to_dict(view),
        seed=None if origin is None else origin.seed,
        index=None if origin is None else origin.index,
        id=told.id,
        trial=trial,
        solver=solver,
        reply=None,
        answer=None,
        scores={},
        kind="error",
        chance=benchmark.floor(told),
        groups=benchmark.groups(told),
        prompt_lines=prompt.count("\n") + 1,
        prompt_chars=len(prompt),
    )
