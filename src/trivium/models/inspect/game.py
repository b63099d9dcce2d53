"""Games as tool-using agents: moves are made through tools, the state of play is in the store."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

from inspect_ai.model import ChatMessageUser, execute_tools, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolDef
from inspect_ai.util import Store

from trivium.core.benchmark import AnyBenchmark
from trivium.core.dialogue import MAX_TURNS
from trivium.models.inspect.samples import REPLIES, Told, count_call, read_sample

OVER = "The game is over."


def act(move: str) -> str:
    """Make one move in the game and see what happens.

    Args:
        move: The move, worded as the rules of the game describe.
    """
    return move


def moves_of(benchmark: AnyBenchmark) -> list[Callable[..., str]]:
    """The moves that a game offers as tools, or one for whatever its rules describe."""
    return list(benchmark.tools()) or [act]


def hint(benchmark: AnyBenchmark) -> str:
    """What a player is told besides the rules, which speak of lines of text."""
    names = " or ".join(f"`{move.__name__}`" for move in moves_of(benchmark))
    return f"Make every move by calling the tool {names} instead of writing the line."


class Game:
    """One game under way: takes moves as text, whoever words them."""

    def __init__(self, known: Told, store: Store) -> None:
        self._known, self._store = known, store
        self.over = False

    @property
    def replies(self) -> list[str]:
        """All moves so far."""
        return list(self._store.get(REPLIES, []))

    def say(self, move: str) -> str:
        """Make a move; what the world answers."""
        if self.over:
            return OVER
        replies = [*self.replies, move]
        self._store.set(REPLIES, replies)
        answer = self._known.benchmark.respond(self._known.told, replies, self._known.view)
        self.over = answer is None or len(replies) >= MAX_TURNS
        return OVER if answer is None else answer

    def tools(self) -> list[ToolDef]:
        """A tool for every move."""
        return [self._tool(move) for move in moves_of(self._known.benchmark)]

    def _tool(self, move: Callable[..., str]) -> ToolDef:
        async def make(**arguments: Any) -> str:
            return self.say(move(**arguments))

        # Inspect reads what a tool takes from its signature and what it does from its docstring.
        make.__signature__ = inspect.signature(move)  # type: ignore[attr-defined]
        make.__annotations__ = get_type_hints(move)
        make.__doc__ = inspect.getdoc(move)
        return ToolDef(make, name=move.__name__, parallel=False)  # moves are made in order


@solver
def play() -> Solver:
    """The model plays through tools until the game is over.

    Every message of the model makes at least one move, so that no way of talking lasts
    for ever: text without a call is taken as the move, and a call that comes to nothing
    is a move that the world does not understand.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        game = Game(read_sample(state.metadata), state.store)
        tools = game.tools()
        while not game.over:
            state.output = await get_model().generate(state.messages, tools)
            count_call(state.store, state.output)
            message = state.output.message
            state.messages.append(message)
            if not message.tool_calls:
                state.messages.append(ChatMessageUser(content=game.say(message.text)))
                continue
            made = len(game.replies)
            result = await execute_tools(state.messages, tools)
            state.messages.extend(result.messages)
            if len(game.replies) == made:
                calls = [f"{call.function}({call.arguments})" for call in message.tool_calls]
                game.say("\n".join(calls))
        return state

    return solve
