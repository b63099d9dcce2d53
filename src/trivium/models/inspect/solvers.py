"""Inspect solvers: a conversation in text, and the built-in solvers in a model's place."""

from __future__ import annotations

from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver

from trivium.core.benchmark import Turn
from trivium.core.dialogue import MAX_TURNS, solver_stream
from trivium.core.errors import require
from trivium.models.inspect.samples import REPLIES, count_call, read_sample


@solver
def converse() -> Solver:
    """The model replies, the world answers, until the attempt is over."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        known = read_sample(state.metadata)
        replies: list[str] = []
        while len(replies) < MAX_TURNS:
            state = await generate(state)
            # Kept apart: an empty completion would be refilled from elsewhere.
            replies.append(state.output.message.text)
            state.store.set(REPLIES, list(replies))
            count_call(state.store, state.output)
            answer = known.benchmark.respond(known.told, replies, known.view)
            if answer is None:
                break
            state.messages.append(ChatMessageUser(content=answer))
        return state

    return solve


@solver
def baseline(solver: str) -> Solver:
    """A built-in solver instead of a model."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        known = read_sample(state.metadata)
        replies: list[str] = []
        messages = [known.benchmark.render(known.told, known.view)]
        while len(replies) < MAX_TURNS:
            replies.append(builtin_reply(state, solver, messages))
            answer = known.benchmark.respond(known.told, replies, known.view)
            if answer is None:
                break
            messages += [replies[-1], answer]
        # What the world showed first is in the state already.
        for place, text in enumerate([*messages[1:], replies[-1]]):
            author = ChatMessageUser if place % 2 else ChatMessageAssistant
            state.messages.append(author(content=text))
        state.output = ModelOutput.from_content(f"trivium/{solver}", replies[-1])
        state.store.set(REPLIES, replies)
        state.completed = True
        return state

    return solve


def builtin_reply(state: TaskState, name: str, messages: list[str]) -> str:
    """What a built-in solver says to a conversation about the sample's item."""
    known = read_sample(state.metadata)
    solvers = known.benchmark.solvers
    require(name in solvers, f"unknown solver {name!r}; there are {', '.join(solvers)}")
    chosen = solvers[name]
    stream = solver_stream(name, known.item, known.trial, len(messages) // 2)
    item = known.told if chosen.omniscient else None
    return chosen.reply(Turn(messages, stream, known.view, item))
