"""Games as tool-using agents: moves are made through a tool, the state of play is in the store."""

from __future__ import annotations

from inspect_ai.model import ChatMessageUser, execute_tools, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolDef
from inspect_ai.util import Store

from trivium.core.pipeline import MOST_TURNS
from trivium.models.inspect_lane.samples import REPLIES, Told, count_usage, read_sample

MOVE = "act"  # the tool that a game is played with
HINT = f"Make every move by calling the tool `{MOVE}`, with the move worded as described above."
OVER = "The game is over."


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
        self.over = answer is None or len(replies) >= MOST_TURNS
        return OVER if answer is None else answer

    def tool(self) -> ToolDef:
        """The tool that makes a move."""

        async def act(move: str) -> str:
            return self.say(move)

        return ToolDef(
            act,
            name=MOVE,
            description="Make one move in the game and see what happens.",
            parameters={"move": "The move, worded as the rules of the game describe."},
            parallel=False,  # moves are made in the order in which they were called
        )


@solver
def play() -> Solver:
    """The model plays through the tool until the game is over.

    Every message of the model makes at least one move, so that no way of talking lasts
    for ever: text without a call is taken as the move, and a call that comes to nothing
    is a move that the world does not understand.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        game = Game(read_sample(state.metadata), state.store)
        tools = [game.tool()]
        while not game.over:
            state.output = await get_model().generate(state.messages, tools)
            count_usage(state.store, state.output)
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
