"""Inspect solvers: a model that replies in text or through tools, or a built-in solver."""

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
    ContentReasoning,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    ResponseSchema,
    execute_tools,
    get_model,
    modelapi,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolChoice, ToolDef, ToolInfo
from inspect_ai.util import JSONSchema

from trivium.core.dialogue import Dialogue, Reply, next_reply
from trivium.core.dialogue import converse as lead
from trivium.core.errors import require
from trivium.core.records import DECLINING
from trivium.core.task import Task
from trivium.core.text import approximate_tokens
from trivium.models.bodies import STOP_REASONS
from trivium.models.calls import Usage
from trivium.models.inspect.samples import ATTEMPT, presented_item

# The dialogue of the current sample, which built-in solvers reply to.
_current: ContextVar[Dialogue | None] = ContextVar("dialogue", default=None)


@solver
def converse(
    model: str | None = None, *, structured: bool = False, restate: bool = False
) -> Solver:
    """The model replies in text until the attempt is over."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        config = _schema_config(state) if structured else GenerateConfig()

        async def ask(messages: Sequence[str]) -> Reply:
            if len(messages) > 1:
                state.messages.append(ChatMessageUser(content=messages[-1]))
            return await _reply(state, model, config=config)

        with _noted_dialogue(state, restate=restate) as dialogue:
            await lead(dialogue, ask)
        return state

    return solve


@solver
def baseline(solver: str) -> Solver:
    """A built-in solver instead of a model."""
    return converse(f"trivium/{solver}")


@solver
def play() -> Solver:
    """The model makes its moves through tools until the game is over.

    Every message of the model makes at least one move, so that every game ends: text without a
    call is a move in text, and calls that fail are one move that cannot be read.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        with _noted_dialogue(state) as dialogue:

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
        return state

    return solve


async def _reply(state: TaskState, model: str | None = None, **options: Any) -> Reply:
    """The model's next reply."""
    state.output = await get_model(model).generate(state.messages, **options)
    state.messages.append(state.output.message)
    return _read(state.output)


def _schema_config(state: TaskState) -> GenerateConfig:
    """The JSON schema of the sample's answer as a response format, if it has one."""
    item = presented_item(state.metadata)
    schema = item.task.benchmark.schema(item.content, item.task.view)
    if schema is None:
        return GenerateConfig()
    form = JSONSchema.model_validate(schema)
    return GenerateConfig(response_schema=ResponseSchema(name="answer", json_schema=form))


@contextmanager
def _noted_dialogue(state: TaskState, *, restate: bool = False) -> Iterator[Dialogue]:
    """The dialogue of a sample; its outcome is written to the sample's metadata.

    Nothing is written if the sample is cancelled: it has not ended.
    """
    dialogue = Dialogue(presented_item(state.metadata), restate=restate)
    _current.set(dialogue)
    try:
        yield dialogue
    except Exception as problem:
        failed = {"error": f"{type(problem).__name__}: {problem}"}
        state.metadata[ATTEMPT] = failed | _notes(dialogue)
        raise
    else:
        state.metadata[ATTEMPT] = _notes(dialogue)


def _notes(dialogue: Dialogue) -> dict[str, Any]:
    """The replies, and the usage of all calls that Inspect has logged, failed ones included."""
    calls = [event for event in transcript().events if isinstance(event, ModelEvent)]
    retries = sum(call.error is not None for call in calls[:-1])
    usage = Usage(requests=len(calls), retries=retries)
    outputs = [call.output for call in calls if call.error is None]
    for output in outputs:
        usage.add(_read(output))
    seconds = sum(output.time or 0.0 for output in outputs)
    notes = {
        "replies": dialogue.replies,
        "stop_reasons": dialogue.stop_reasons,
        "seconds": seconds,
        "usage": usage.to_dict(),
        "reasoning": usage.reasoning,
    }
    if calls and calls[-1].error is not None:
        notes["error"] = calls[-1].error
    return notes


def _read(output: ModelOutput) -> Reply:
    """The text of an output, its usage and why it stopped."""
    choice, message = output.choices[0], output.message
    stop: str = choice.stop_reason
    if choice.stop_details is not None and choice.stop_details.type == "refusal":
        stop = "refusal"
    parts = [] if isinstance(message.content, str) else message.content
    thoughts = [part.reasoning for part in parts if isinstance(part, ContentReasoning)]
    tokens: dict[str, int | None] = {}
    if (usage := output.usage) is not None:
        cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
        tokens["input_tokens"] = usage.input_tokens + cached
        tokens["output_tokens"] = usage.output_tokens
        tokens["reasoning_tokens"] = usage.reasoning_tokens
    return Reply(
        message.text,  # not `completion`, which replaces an empty text
        {name: count for name, count in tokens.items() if count is not None},
        None if stop == "unknown" else STOP_REASONS.get(stop, stop),
        "\n\n".join(thought for thought in thoughts if thought.strip()) or None,
    )


def act(move: str) -> str:
    """Make one move in the game and see what happens.

    Args:
        move: The move, worded as the rules of the game describe.
    """
    return move


def moves_of(task: Task) -> Sequence[Callable[..., str]]:
    """The moves that a game offers as tools, or `act` if it declares none."""
    return task.benchmark.tools(task.spec) or [act]


def tool_hint(task: Task) -> str:
    """The sentence that follows the rules, which ask for lines of text."""
    names = " or ".join(f"`{move.__name__}`" for move in moves_of(task))
    return f"Make every move by calling the tool {names} instead of writing the line."


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
        text = next_reply(dialogue, solvers[name])
        output = ModelOutput.from_content(self.model_name, text)
        # Inspect would download a vocabulary to count tokens.
        read = sum(approximate_tokens(message.text) for message in input)
        written = approximate_tokens(text)
        output.usage = ModelUsage(
            input_tokens=read, output_tokens=written, total_tokens=read + written
        )
        return output
