"""Who takes part in a dialogue: a model in text or through tools, or a built-in solver."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, get_type_hints

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageUser,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    execute_tools,
    get_model,
    modelapi,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolChoice, ToolDef, ToolInfo

from trivium.core.dialogue import Dialogue, Reply, next_reply
from trivium.core.dialogue import converse as lead
from trivium.core.errors import require
from trivium.core.task import Task
from trivium.core.tokens import approximate_tokens
from trivium.models.calls import Caller, CallError, RefusedError, Taken, call_once
from trivium.models.inspect.calls import call_error, reply_of
from trivium.models.inspect.private import sample_state
from trivium.models.inspect.samples import ATTEMPT, presented_item

OVER = "The game is over."


class Talk:
    """The calls of one sample, noted in its metadata as they are made."""

    def __init__(self, state: TaskState, caller: Caller | None) -> None:
        self._state, self._caller = state, caller
        self._taken, self._noted = Taken(), _noted(state)

    async def ask(self, tools: Sequence[ToolDef] = ()) -> str:
        """The model's next reply; its whole output is in the state."""
        model = get_model()

        async def call() -> Reply:
            try:
                self._state.output = await model.generate(self._state.messages, list(tools))
            except Exception as problem:
                if self._caller is None:
                    raise  # Inspect's own retries are over
                raise call_error(problem, model, self._caller.hide) from None
            self._noted["seconds"] += self._state.output.time or 0.0
            return reply_of(self._state.output)

        try:
            if self._caller is None:
                reply = await call_once(call, self._taken)
            else:
                reply = await self._caller.call(call, self._taken)
        except CallError as problem:
            self._noted["error"] = str(problem)
            raise
        finally:
            self._noted |= self._taken.noted()
        self._state.messages.append(self._state.output.message)
        return reply.text

    async def until_refused(self, dialogue: Awaitable[object]) -> TaskState:
        """The state after the dialogue, which a provider may end by declining to reply."""
        try:
            await dialogue
        except RefusedError as refused:
            self._noted["replies"].append(str(refused))
            self._noted["refused"] = True
        return self._state


@solver
def converse(caller: Caller | None = None) -> Solver:
    """The model replies in text until the attempt is over."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        talk = Talk(state, caller)

        async def ask(messages: Sequence[str]) -> str:
            if len(messages) > 1:
                state.messages.append(ChatMessageUser(content=messages[-1]))
            reply = await talk.ask()
            _noted(state)["replies"].append(reply)
            return reply

        return await talk.until_refused(lead(Dialogue(presented_item(state.metadata)), ask))

    return solve


@solver
def play(caller: Caller | None = None) -> Solver:
    """The model makes its moves through tools until the game is over.

    Every message of the model makes at least one move, so that no game lasts for ever: text
    without a call is taken as the move, and calls that fail are one move that cannot be read.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        dialogue, talk = Dialogue(presented_item(state.metadata)), Talk(state, caller)

        def send(move: str) -> str:
            if dialogue.done:
                return OVER
            _noted(state)["replies"].append(move)
            response = dialogue.send(move)
            return OVER if response is None else response

        tools = [_tool(move, send) for move in moves_of(dialogue.item.task)]

        async def make_moves() -> None:
            while not dialogue.done:
                text, moves = await talk.ask(tools), len(dialogue.replies)
                calls = state.output.message.tool_calls
                if not calls:
                    state.messages.append(ChatMessageUser(content=send(text)))
                    continue
                result = await execute_tools(state.messages, tools)
                state.messages.extend(result.messages)
                if len(dialogue.replies) == moves:
                    send("\n".join(f"{call.function}({call.arguments})" for call in calls))

        return await talk.until_refused(make_moves())

    return solve


def act(move: str) -> str:
    """Make one move in the game and see what happens.

    Args:
        move: The move, worded as the rules of the game describe.
    """
    return move


def moves_of(task: Task) -> Sequence[Callable[..., str]]:
    """The moves that a game offers as tools, or one for whatever its rules describe."""
    return task.benchmark.tools(task.spec) or [act]


def tool_hint(task: Task) -> str:
    """What the prompt of a game needs besides the rules, which speak of lines of text."""
    names = " or ".join(f"`{move.__name__}`" for move in moves_of(task))
    return f"Make every move by calling the tool {names} instead of writing the line."


def _tool(move: Callable[..., str], send: Callable[[str], str]) -> ToolDef:
    async def make(**arguments: Any) -> str:
        return send(move(**arguments))

    # Inspect reads what a tool takes from its signature and what it does from its docstring.
    make.__signature__ = inspect.signature(move)  # type: ignore[attr-defined]
    make.__annotations__ = get_type_hints(move)
    make.__doc__ = inspect.getdoc(move)
    return ToolDef(make, name=move.__name__, parallel=False)  # moves are made in order


def _noted(state: TaskState) -> dict[str, Any]:
    """What the sample's metadata says of the attempt so far."""
    start = {"replies": [], "usage": {}, "seconds": 0.0}
    noted: dict[str, Any] = state.metadata.setdefault(ATTEMPT, start)
    return noted


@solver
def baseline(solver: str) -> Solver:
    """A built-in solver instead of a model."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        dialogue = Dialogue(presented_item(state.metadata))

        async def ask(messages: Sequence[str]) -> str:
            return _builtin_reply(dialogue, solver)

        await lead(dialogue, ask)
        # The prompt is in the state already.
        for index, text in enumerate(dialogue.messages[1:]):
            author = ChatMessageUser if index % 2 else ChatMessageAssistant
            state.messages.append(author(content=text))
        state.output = ModelOutput.from_content(f"trivium/{solver}", dialogue.replies[-1])
        _noted(state)["replies"] = dialogue.replies
        state.completed = True
        return state

    return solve


@modelapi(name="trivium")
class BuiltIn(ModelAPI):
    """A built-in solver as a model: `--model trivium/oracle` needs no network and no key."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig | None = None,
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config or GenerateConfig())

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        state = sample_state()
        require(state is not None, f"{self.model_name} only replies to samples of Trivium tasks")
        assert state is not None
        dialogue = Dialogue(presented_item(state.metadata))
        for reply in _noted(state)["replies"]:
            dialogue.send(reply)
        text = _builtin_reply(dialogue, self.model_name.rpartition("/")[2])
        if any(tool.name == act.__name__ for tool in tools):
            output = ModelOutput.for_tool_call(self.model_name, act.__name__, {"move": text})
        else:
            output = ModelOutput.from_content(self.model_name, text)
        # Given here, since Inspect would download a vocabulary to count them.
        read = sum(approximate_tokens(message.text) for message in input)
        written = approximate_tokens(text)
        output.usage = ModelUsage(
            input_tokens=read, output_tokens=written, total_tokens=read + written
        )
        return output


def _builtin_reply(dialogue: Dialogue, name: str) -> str:
    solvers = dialogue.item.task.benchmark.solvers
    require(name in solvers, f"unknown solver {name!r}; there are {', '.join(solvers)}")
    return next_reply(dialogue, solvers[name])
