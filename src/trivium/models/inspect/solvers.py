"""The Inspect solver: a model replies in text or through tools until an attempt is over."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, get_type_hints

from inspect_ai.event import ModelEvent
from inspect_ai.log import transcript
from inspect_ai.model import (
    ChatMessage,
    ChatMessageUser,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ResponseSchema,
    execute_tools,
    get_model,
    modelapi,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolChoice, ToolDef, ToolInfo
from inspect_ai.util import JSONSchema

from trivium.core.dialogue import Dialogue, Reply, converse, next_reply
from trivium.core.errors import require
from trivium.core.records import DECLINING
from trivium.core.task import PresentedItem, Task
from trivium.models.endpoint import Usage
from trivium.models.inspect.models import read_output
from trivium.models.inspect.samples import ATTEMPT, presented_item

# The dialogue of the current sample, which built-in solvers reply to.
_current: ContextVar[Dialogue | None] = ContextVar("dialogue", default=None)


@solver
def attempt(*, tool: bool = True, structured: bool = False, restate: bool = False) -> Solver:
    """The model replies until the attempt is over; with `tool`, it plays games through tools."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        item = presented_item(state.metadata)
        with _noted(Dialogue(item, restate=restate), state) as dialogue:
            if tool and item.task.benchmark.multi_turn:
                await _play(dialogue, state)
            else:
                await _talk(dialogue, state, _schema(item) if structured else None)
        return state

    return solve


async def _talk(dialogue: Dialogue, state: TaskState, form: ResponseSchema | None) -> None:
    """Have the model reply in text."""

    async def ask(messages: Sequence[str]) -> Reply:
        if len(messages) > 1:
            state.messages.append(ChatMessageUser(content=messages[-1]))
        return await _reply(state, config=GenerateConfig(response_schema=form))

    await converse(dialogue, ask)


async def _play(dialogue: Dialogue, state: TaskState) -> None:
    """Have the model make its moves through tools.

    Every message of the model makes at least one move, so that every game ends: text without a
    call is a move in text, and calls that fail are one move that cannot be read.
    """

    def send(move: str, stop_reason: str | None = None) -> str:
        response = None if dialogue.done else dialogue.send(move, stop_reason)
        return "The game is over." if response is None else response

    tools = [_tool(move, send) for move in moves_of(dialogue.item.task)]
    while not dialogue.done:
        reply, moves = await _reply(state, tools=tools), len(dialogue.replies)
        calls = state.output.message.tool_calls
        if not calls or reply.stop_reason in DECLINING:
            response = send(reply.text, reply.stop_reason)
            state.messages.append(ChatMessageUser(content=response))
            continue
        result = await execute_tools(state.messages, tools)
        state.messages.extend(result.messages)
        if len(dialogue.replies) == moves:
            send("\n".join(f"{call.function}({call.arguments})" for call in calls))


async def _reply(state: TaskState, **options: Any) -> Reply:
    """The model's next reply."""
    state.output = await get_model().generate(state.messages, **options)
    state.messages.append(state.output.message)
    return read_output(state.output)


def _schema(item: PresentedItem) -> ResponseSchema | None:
    """The JSON schema of an item's answer, if it has one."""
    schema = item.task.benchmark.schema(item.content, item.task.view)
    form = schema and JSONSchema.model_validate(schema)
    return ResponseSchema(name="answer", json_schema=form) if form else None


@contextmanager
def _noted(dialogue: Dialogue, state: TaskState) -> Iterator[Dialogue]:
    """The dialogue of a sample; its outcome is written to the sample's metadata.

    Nothing is written if the sample is cancelled: it has not ended.
    """
    _current.set(dialogue)
    error = None
    try:
        yield dialogue
    except Exception as problem:
        error = f"{type(problem).__name__}: {problem}"
        raise
    finally:
        if error is not None or dialogue.done:
            state.metadata[ATTEMPT] = _notes(dialogue, error)


def _notes(dialogue: Dialogue, error: str | None) -> dict[str, Any]:
    """The replies, and the usage of all calls that Inspect has logged, failed ones included."""
    calls = [event for event in transcript().events if isinstance(event, ModelEvent)]
    retries = sum(call.error is not None for call in calls[:-1])
    outputs = [call.output for call in calls if call.error is None]
    usage = Usage(len(calls), retries, [read_output(output) for output in outputs])
    return {
        "replies": dialogue.replies,
        "stop_reasons": dialogue.stop_reasons,
        "seconds": sum(output.time or 0.0 for output in outputs),
        "usage": usage.to_dict(),
        "reasoning": usage.reasoning,
        "error": (calls[-1].error if calls else None) or error,
    }


def act(move: str) -> str:
    """Make one move in the game and see what happens.

    Args:
        move: The move, worded as the rules of the game describe.
    """
    return move


def moves_of(task: Task) -> Sequence[Callable[..., str]]:
    """The moves that a game offers as tools, or `act` if it declares none."""
    return task.benchmark.tools(task.spec) or [act]


def _tool(move: Callable[..., str], send: Callable[[str], str]) -> ToolDef:
    async def make(**arguments: Any) -> str:
        return send(move(**arguments))

    # Inspect describes a tool by its signature and docstring.
    make.__signature__ = inspect.signature(move)  # type: ignore[attr-defined]
    make.__annotations__ = get_type_hints(move)
    make.__doc__ = inspect.getdoc(move)
    return ToolDef(make, name=move.__name__, parallel=False)  # moves are made in order


@modelapi(name="trivium")
class BuiltIn(ModelAPI):
    """A built-in solver as a model: `--model trivium/oracle` needs no network and no key."""

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        name, dialogue = self.model_name.rpartition("/")[2], _current.get()
        require(dialogue is not None, f"{self.model_name} only replies to samples of Trivium tasks")
        assert dialogue is not None
        solvers = dialogue.item.task.benchmark.solvers
        require(name in solvers, f"unknown solver {name!r}; there are {', '.join(solvers)}")
        return ModelOutput.from_content(self.model_name, next_reply(dialogue, solvers[name]))
