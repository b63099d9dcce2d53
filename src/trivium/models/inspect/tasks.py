"""Every benchmark as an Inspect task, `trivium/NAME`: the package's entry point for Inspect."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import asdict, dataclass, fields
from functools import wraps
from typing import Any, Literal

import inspect_ai

# Not public, but the only exception that Inspect prints without a traceback.
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import MemoryDataset
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
    modelapi,
)
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolChoice, ToolDef, ToolInfo
from inspect_ai.util import JSONSchema

from trivium.benchmarks import benchmark_names, load_task
from trivium.core import benchmark as core
from trivium.core.dialogue import Dialogue, aside, next_reply
from trivium.core.errors import UserError, require
from trivium.core.files import dump_line
from trivium.core.records import DECLINING, NO_ANSWER, UNSCORED
from trivium.core.results import estimate_of
from trivium.core.spec import spec_from_dict
from trivium.core.streams import DEFAULT_SEED
from trivium.core.task import PresentedItem, Task
from trivium.models.backends import Usage
from trivium.models.inspect.models import read_output
from trivium.models.inspect.samples import ATTEMPT, make_sample, presented_item, sample_attempt
from trivium.models.settings import Settings

# The dialogue of the current sample, which built-in solvers reply to.
_current: ContextVar[Dialogue | None] = ContextVar("dialogue", default=None)


@solver
def attempt(*, tool: bool, structured: bool, restate: bool) -> Solver:
    """The model replies until the attempt is over; with `tool`, it plays games through tools."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        item = presented_item(state.metadata)
        task, dialogue = item.task, Dialogue(item, restate=restate)
        _current.set(dialogue)
        form = None
        if tool and task.benchmark.multi_turn:
            state.tools = [_tool(move, dialogue) for move in moves_of(task)]
        elif structured and (schema := task.benchmark.schema(item.content, task.view)):
            form = ResponseSchema(name="answer", json_schema=JSONSchema.model_validate(schema))
        try:
            while not dialogue.done:
                await generate(state, tool_calls="none", response_schema=form)
                await _send(dialogue, state)
        except Exception as problem:  # not of a cancelled sample, which has not ended
            state.metadata[ATTEMPT] = _notes(dialogue, f"{type(problem).__name__}: {problem}")
            raise
        state.metadata[ATTEMPT] = _notes(dialogue)
        return state

    return solve


async def _send(dialogue: Dialogue, state: TaskState) -> None:
    """Send the model's reply to the dialogue, and the response to the model.

    Every reply makes at least one move of a game, so that every game ends: text without a call is
    a move in text, and calls that fail are one move that cannot be read.
    """
    reply, calls = read_output(state.output), state.output.message.tool_calls
    if not (calls and state.tools) or reply.stop_reason in DECLINING:
        response = await aside(len(reply.text), dialogue.send, reply.text, reply.stop_reason)
        if response is not None:
            state.messages.append(ChatMessageUser(content=response))
        return
    moves = len(dialogue.replies)
    result = await execute_tools(state.messages, state.tools)
    state.messages.extend(result.messages)
    if len(dialogue.replies) == moves:
        dialogue.send("\n".join(f"{call.function}({call.arguments})" for call in calls))


def _notes(dialogue: Dialogue, error: str | None = None) -> dict[str, Any]:
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


def _tool(move: Callable[..., str], dialogue: Dialogue) -> ToolDef:
    @wraps(move)
    async def make_move(**arguments: Any) -> str:
        response = None if dialogue.done else dialogue.send(move(**arguments))
        return "The game is over." if response is None else response

    # Describe `move`: Inspect caches what it describes, and `make_move` holds the dialogue.
    described = ToolDef(move)
    return ToolDef(make_move, described.name, described.description, described.parameters)


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
        if dialogue is None:
            raise UserError(f"{self.model_name} only replies to samples of Trivium tasks")
        solvers = dialogue.item.task.benchmark.solvers
        require(name in solvers, f"unknown solver {name!r}; there are {', '.join(solvers)}")
        return ModelOutput.from_content(self.model_name, next_reply(dialogue, solvers[name]))


@scorer(metrics=[], name="trivium")
def scores() -> Scorer:
    """The benchmark's own scores of an attempt."""

    async def score(state: TaskState, target: Target) -> Score:
        attempt = sample_attempt(state.metadata, str(state.model))
        if attempt.kind in UNSCORED:
            return Score.unscored(reason="no_response")
        names = [each.name for each in presented_item(state.metadata).task.benchmark.metrics]
        values = {name: attempt.scores.get(name) for name in names}
        answer = None if attempt.answer is None else dump_line(attempt.answer).decode().rstrip()
        return Score(
            # NaN is skipped and counted; a missing or None value would count as 0.
            value={name: math.nan if value is None else value for name, value in values.items()},
            answer=answer,
            explanation=attempt.kind,
            reason="invalid_response_format" if attempt.kind == NO_ANSWER else None,
        )

    return score


@metric
def estimate(kind: Literal["proportion", "mean"], best: float, worst: float) -> Metric:
    """A metric's value, its interval (low, high) and its denominator n."""
    plain = core.Metric("", "", kind, best, worst)

    def compute(scores: list[SampleScore]) -> Value:
        values = [score.score.as_float() for score in scores]
        items = [hash((score.sample_metadata or {})["id"]) for score in scores]
        parts = asdict(estimate_of(values, items, plain))
        return {name: math.nan if part is None else part for name, part in parts.items()}

    return compute


def build_task(
    items: Sequence[PresentedItem], settings: Settings, *, tool: bool
) -> inspect_ai.Task:
    """An Inspect task over items of one task; with `tool`, games are played through tools."""
    benchmark, hint = items[0].task.benchmark, ""
    if tool and benchmark.multi_turn:  # the rules ask for lines of text
        names = " or ".join(f"`{move.__name__}`" for move in moves_of(items[0].task))
        hint = f"\n\nMake every move by calling the tool {names} instead of writing the line."
    samples = [make_sample(item, settings, hint) for item in items]
    return inspect_ai.Task(
        dataset=MemoryDataset(samples, benchmark.name),
        solver=attempt(tool=tool, structured=settings.structured, restate=settings.restate),
        scorer=scores(),
        metrics={m.name: [estimate(m.kind, m.best, m.worst)] for m in benchmark.metrics},
        # One failed sample must not end the run; the denominators leave it out.
        fail_on_error=False,
        name=benchmark.name,
    )


@dataclass(frozen=True)
class TaskParameters:
    """The parameters of a task (-T) besides the fields of its benchmark's spec and view."""

    items: int = 500  # the number of items
    seed: int = DEFAULT_SEED  # the seed of the items
    start: int = 0  # the index of the first item
    order_trials: int = 1  # trials of each item, each in another order
    preset: str | None = None  # a named spec to start from
    system: str | None = None  # a system message instead of the benchmark's own
    tool: bool = True  # whether games are played through tools instead of plain text

    def __post_init__(self) -> None:
        require(self.order_trials >= 1, f"order_trials must be at least 1, got {self.order_trials}")


def _register(name: str) -> Any:
    # Any parameter is accepted, so that we refuse unknown ones: Inspect only warns of them.
    def make(**values: Any) -> inspect_ai.Task:
        known = [field.name for field in fields(TaskParameters) if field.name in values]
        try:
            given = spec_from_dict(TaskParameters, {key: values.pop(key) for key in known})
            task = load_task(name, given.preset, values)
            items = [
                PresentedItem(task, item.original, trial)
                for item in task.generate(given.seed, given.start, given.items)
                for trial in range(given.order_trials)
            ]
            return build_task(items, Settings(system=given.system), tool=given.tool)
        except UserError as problem:
            raise PrerequisiteError(str(problem)) from None

    make.__name__ = make.__qualname__ = name
    # Not the benchmark's own title, which would import every benchmark.
    make.__doc__ = f"The benchmark {name}; -T sets the fields of its spec and view."
    return inspect_ai.task(name=name)(make)


TASKS = {name: _register(name) for name in benchmark_names()}
