"""Games through tools: played well, badly, and not at all."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import inspect_ai
import pytest
from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessage, ModelOutput, ModelUsage, get_model

from trivium.benchmarks import benchmark_names, get_benchmark
from trivium.core.benchmark import AnyBenchmark, Turn
from trivium.core.dialogue import MAX_TURNS, attempt, solver_stream
from trivium.core.records import Attempt
from trivium.core.task import PresentedItem, Task
from trivium.models.inspect.logs import sample_attempt
from trivium.models.inspect.solvers import moves_of
from trivium.models.inspect.tasks import build_task

ITEMS, SEED = 6, 9
GAMES = [name for name in benchmark_names() if get_benchmark(name).multi_turn]
Say = Callable[[list[ChatMessage]], ModelOutput]


def played(
    benchmark: AnyBenchmark, say: Say, out: Path, items: Sequence[Any] | None = None
) -> list[Attempt]:
    """The attempts of a scripted model at some items."""

    def speak(messages: list[ChatMessage], *_: Any) -> ModelOutput:
        output = say(messages)
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    task = Task(benchmark, benchmark.spec_type(), benchmark.view_type())
    content = items or benchmark.generate(task.spec, SEED, 0, ITEMS)
    work = [PresentedItem(task, item) for item in content]
    model = get_model("mockllm/scripted", custom_outputs=speak, memoize=False)
    log: EvalLog = inspect_ai.eval(build_task(work), model=model, log_dir=str(out), display="none")[
        0
    ]
    assert log.status == "success"
    assert log.samples is not None
    assert [sample.error for sample in log.samples] == [None] * len(work)
    return [sample_attempt(sample, "scripted", str) for sample in log.samples]


def call(name: str, **arguments: Any) -> ModelOutput:
    return ModelOutput.for_tool_call("scripted", name, arguments)


def text(words: str) -> ModelOutput:
    return ModelOutput.from_content("scripted", words)


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize(
    "say",
    [
        pytest.param(lambda messages: text("Let me think about that."), id="talks"),
        pytest.param(lambda messages: text(""), id="is silent"),
        pytest.param(lambda messages: call("no_such_tool", x=1), id="calls what is not there"),
        pytest.param(lambda messages: call("act", nonsense=["?"] * 9), id="calls with nonsense"),
    ],
)
def test_a_model_that_does_not_play_ends_without_an_answer(
    name: str, say: Say, tmp_path: Path
) -> None:
    for row in played(get_benchmark(name), say, tmp_path):
        assert row.kind == "violation"
        assert row.error is None
        assert isinstance(row.reply, list)
        assert 1 <= len(row.reply) < MAX_TURNS


@pytest.mark.parametrize("name", GAMES)
def test_a_model_that_never_stops_is_stopped(name: str, tmp_path: Path) -> None:
    benchmark = get_benchmark(name)
    move = moves_of(benchmark)[0]
    first = _first_moves(benchmark)

    def say(messages: list[ChatMessage]) -> ModelOutput:
        return call(move.__name__, **first)

    for row in played(benchmark, say, tmp_path):
        assert isinstance(row.reply, list)
        assert len(row.reply) <= MAX_TURNS
        assert row.kind == "violation"


def _first_moves(benchmark: AnyBenchmark) -> dict[str, Any]:
    return {"objects": ["A"]} if benchmark.name == "blicket_game" else {"move": "again"}


@pytest.mark.parametrize("name", [name for name in GAMES if name == "blicket_game"])
def test_playing_by_information_gain_through_tools_scores_as_the_program_does(
    name: str, tmp_path: Path
) -> None:
    benchmark = get_benchmark(name)
    view, solver = benchmark.view_type(), benchmark.solvers["information_gain"]
    for item in benchmark.generate(benchmark.spec_type(), SEED, 0, ITEMS):

        def say(messages: list[ChatMessage], item: Any = item) -> ModelOutput:
            told = [messages[0].text]
            for message in messages:
                if message.role == "tool":
                    told += ["", message.text]
            stream = solver_stream(solver.name, item, 0, len(told) // 2)
            return _as_call(solver.reply(Turn(told, stream, view)))

        (row,) = played(benchmark, say, tmp_path, [item])
        own = attempt(benchmark, item, solver, view)
        assert (row.reply, row.scores, row.kind) == (own.reply, own.scores, own.kind)


def _as_call(line: str) -> ModelOutput:
    """A line of the blicket game as the call that says it."""
    placed = re.fullmatch(r"TEST (.*)", line)
    if placed is not None:
        return call("place", objects=re.findall(r"\b[A-H]\b", placed[1]))
    answer = re.fullmatch(r"ANSWER blickets: (.*?)(?:; inhibitors: (.*))?; form: (.*)", line)
    assert answer is not None
    blickets, inhibitors = (re.findall(r"\b[A-H]\b", part or "") for part in answer.groups()[:2])
    return call("answer", blickets=blickets, form=answer[3], inhibitors=inhibitors)


@pytest.mark.parametrize("name", GAMES)
def test_no_game_lasts_longer_than_it_says(name: str) -> None:
    benchmark = get_benchmark(name)
    view = benchmark.view_type()
    item = next(iter(benchmark.generate(benchmark.spec_type(), SEED)))
    longest = 0
    for first in ("TEST A", "nonsense"):
        replies = [first]
        while benchmark.respond(item, replies, view) is not None:
            replies.append(first)
        longest = max(longest, len(replies))
    assert longest <= benchmark.max_turns(item) < MAX_TURNS
