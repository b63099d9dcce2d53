"""Games through tools: played well, badly, and not at all."""

from __future__ import annotations

import gc
import json
import re
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import inspect_ai
import pytest
from inspect_ai.log import EvalSample
from inspect_ai.model import ChatMessage, ModelOutput, ModelUsage, get_model
from inspect_ai.tool import ToolCall, ToolInfo

import trivium
from tests.models.raw import RawServer, Request, Sent, completion
from trivium.benchmarks import benchmark_names, get_benchmark, load_task
from trivium.core.benchmark import AnyBenchmark, Turn
from trivium.core.dialogue import Dialogue, solve, solver_stream
from trivium.core.records import Attempt
from trivium.core.task import PresentedItem
from trivium.models.inspect.samples import sample_attempt
from trivium.models.inspect.tasks import TASKS, act, build_task, moves_of
from trivium.models.settings import Settings

ITEMS, SEED = 6, 9
GAMES = [name for name in benchmark_names() if get_benchmark(name).multi_turn]
HINT = "Make every move by calling the tool `place` or `answer` instead of writing the line."
Respond = Callable[[list[ChatMessage]], ModelOutput]


def play(
    respond: Respond, items: Sequence[PresentedItem], out: Path, *, tool: bool = True
) -> list[tuple[Attempt, EvalSample, list[ToolInfo]]]:
    """What a scripted model made of some items, and the tools that it was offered."""
    offered: list[ToolInfo] = []

    def generate(messages: list[ChatMessage], tools: list[ToolInfo], *_: Any) -> ModelOutput:
        offered[:] = tools
        output = respond(messages)
        output.usage = ModelUsage(input_tokens=4, output_tokens=3, total_tokens=7)
        return output

    model = get_model("mockllm/scripted", custom_outputs=generate, memoize=False)
    (log,) = inspect_ai.eval(
        build_task(items, Settings(), tool=tool),
        model=model,
        log_dir=str(out),
        display="none",
    )
    assert log.status == "success"
    assert log.samples is not None
    assert [sample.error for sample in log.samples] == [None] * len(items)
    return [
        (sample_attempt(sample.metadata, "scripted"), sample, offered) for sample in log.samples
    ]


def call(*calls: tuple[str, dict[str, Any]]) -> ModelOutput:
    output = ModelOutput.from_content("scripted", "")
    output.choices[0].message.tool_calls = [
        ToolCall(id=str(number), function=name, arguments=arguments)
        for number, (name, arguments) in enumerate(calls)
    ]
    return output


def text(words: str) -> ModelOutput:
    return ModelOutput.from_content("scripted", words)


def test_a_question_is_asked_once_and_in_no_forced_form_by_default(tmp_path: Path) -> None:
    seen = []

    def generate(messages: list[ChatMessage], *options: Any) -> ModelOutput:
        seen.append((len(messages), options[-1].response_schema))
        output = text("I would rather not say.")
        output.usage = ModelUsage(input_tokens=4, output_tokens=3, total_tokens=7)
        return output

    items = load_task("nhop_explicit").items(1)
    task = build_task(items, Settings(), tool=True)
    model = get_model("mockllm/scripted", custom_outputs=generate, memoize=False)
    (log,) = inspect_ai.eval(task, model=model, log_dir=str(tmp_path), display="none")
    assert log.samples is not None
    assert log.samples[0].error is None
    assert seen == [(1, None)]


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize(
    "respond",
    [
        pytest.param(lambda messages: text("Let me think about that."), id="talks"),
        pytest.param(lambda messages: text(""), id="is silent"),
        pytest.param(lambda messages: call(("no_such_tool", {"x": 1})), id="calls no tool"),
        pytest.param(lambda messages: call(("act", {"bad": ["?"] * 9})), id="calls with nonsense"),
    ],
)
def test_a_model_that_does_not_play_ends_without_an_answer(
    name: str, respond: Respond, tmp_path: Path
) -> None:
    items = load_task(name).items(ITEMS, SEED)
    for (row, _, _), item in zip(play(respond, items, tmp_path), items, strict=True):
        assert (row.kind, row.error) == ("no-answer", None)
        assert isinstance(row.reply, list)
        assert 1 <= len(row.reply) <= item.task.benchmark.max_turns(item.content)


@pytest.mark.parametrize("name", GAMES)
def test_a_model_that_never_stops_is_stopped(name: str, tmp_path: Path) -> None:
    task = load_task(name)
    move = moves_of(task)[0].__name__
    arguments = {"objects": ["A"]} if name == "blicket_game" else {"move": "again"}
    for row, _, _ in play(lambda _: call((move, arguments)), task.items(ITEMS, SEED), tmp_path):
        assert isinstance(row.reply, list)
        assert len(row.reply) < 200
        assert row.kind == "no-answer"


def test_several_moves_in_one_message_are_made_in_order(tmp_path: Path) -> None:
    moves: list[tuple[str, dict[str, Any]]] = [
        ("place", {"objects": ["B"]}),
        ("place", {"objects": ["A", "C"]}),
        ("answer", {"blickets": ["A"], "form": "disjunctive", "inhibitors": []}),
        ("place", {"objects": ["C"]}),  # after the end
    ]
    ((row, sample, _),) = play(
        lambda _: call(*moves), [load_task("blicket_game").item(0)], tmp_path
    )
    assert row.reply == ["TEST B", "TEST A, C", "ANSWER: blickets A; form disjunctive"]
    assert row.usage == {"requests": 1, "retries": 0, "input_tokens": 4, "output_tokens": 3}
    responses = [message.text for message in sample.messages if message.role == "tool"]
    assert responses[0].startswith("Test 1: B.")
    assert responses[1].startswith("Test 2: A C.")
    assert responses[2:] == ["The game is over."] * 2


def test_a_finished_game_is_not_kept_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = weakref.WeakSet[Dialogue]()
    make = Dialogue.__init__

    def note(dialogue: Dialogue, *given: Any, **options: Any) -> None:
        games.add(dialogue)
        make(dialogue, *given, **options)

    monkeypatch.setattr(Dialogue, "__init__", note)
    play(lambda _: text("?"), load_task("blicket_game").items(1), tmp_path)
    gc.collect()
    assert not games


def test_calls_that_fail_are_one_move_and_what_they_took_is_added_up(tmp_path: Path) -> None:
    answer = "ANSWER blickets: A; form: disjunctive"
    script = iter([call(("place", {"thing": 1}), ("none", {})), text(answer)])
    ((row, _, tools),) = play(lambda _: next(script), [load_task("blicket_game").item(0)], tmp_path)
    assert row.reply == ["place({'thing': 1})\nnone({})", answer]
    assert row.usage == {"requests": 2, "retries": 0, "input_tokens": 8, "output_tokens": 6}
    assert [tool.name for tool in tools] == ["place", "answer"]


def test_calls_of_a_declined_reply_are_not_made(tmp_path: Path) -> None:
    def decline(messages: list[ChatMessage]) -> ModelOutput:
        output = call(("place", {"objects": ["A"]}))
        output.choices[0].stop_reason = "content_filter"
        return output

    ((row, sample, _),) = play(decline, [load_task("blicket_game").item(0)], tmp_path)
    assert (row.kind, row.reply, row.scores) == ("declined", [""], {})
    assert [message.role for message in sample.messages] == ["user", "assistant"]


def test_a_game_is_offered_as_tools_or_as_text(tmp_path: Path) -> None:
    item = load_task("blicket_game").item(0)
    ((_, sample, tools),) = play(lambda _: text("?"), [item], tmp_path / "tools")
    assert sample.messages[0].text == f"{item.prompt}\n\n{HINT}"
    assert HINT in str(TASKS["blicket_game"](items=1).dataset[0].input)  # unless -T tool=false
    assert all(tool.description and tool.parameters.properties for tool in tools)
    ((row, sample, tools),) = play(lambda _: text("TEST A"), [item], tmp_path / "text", tool=False)
    assert sample.messages[0].text == item.prompt
    assert tools == []
    assert isinstance(row.reply, list)
    assert row.usage["requests"] == len(row.reply) > 1
    # The environment's responses were sent, in turn with the model's replies.
    roles = [message.role for message in sample.messages]
    assert roles == ["user", "assistant"] * len(row.reply)
    assert sample.messages[2].text.startswith("Test 1: A.")


def test_a_saved_prompt_is_what_was_sent(tmp_path: Path) -> None:
    task = load_task("blicket_game")
    result = trivium.evaluate(
        task, "trivium/random", items=2, save_prompt=True, backend="inspect", out=tmp_path
    )
    assert [row["prompt"] for row in result] == [
        f"{item.prompt}\n\n{HINT}" for item in task.items(2)
    ]


def test_a_game_without_tools_of_its_own_is_played_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = load_task("blicket_game")
    monkeypatch.setattr(type(task.benchmark), "tools", lambda self, spec: ())
    assert list(moves_of(task)) == [act]
    moves = iter(["TEST A", "ANSWER blickets: A; form: disjunctive"])
    ((row, _, tools),) = play(
        lambda _: call(("act", {"move": next(moves)})), [task.item(0)], tmp_path
    )
    assert row.reply == ["TEST A", "ANSWER blickets: A; form: disjunctive"]
    assert [tool.name for tool in tools] == ["act"]


def test_playing_by_information_gain_through_tools_scores_as_the_program_does(
    tmp_path: Path,
) -> None:
    task = load_task("blicket_game")
    solver = task.benchmark.solvers["information_gain"]
    for item in task.items(ITEMS, SEED):

        def respond(messages: list[ChatMessage], item: PresentedItem = item) -> ModelOutput:
            shown = [messages[0].text]
            for message in messages:
                if message.role == "tool":
                    shown += ["", message.text]
            stream = solver_stream(solver.name, item.original, 0, len(shown) // 2)
            return _as_call(solver.reply(Turn(shown, stream, task.view)))

        ((row, _, _),) = play(respond, [item], tmp_path)
        own = solve(item, solver)
        assert (row.reply, row.scores, row.kind) == (own.reply, own.scores, own.kind)


def _as_call(line: str) -> ModelOutput:
    """A line of the blicket game as the call that makes the same move."""
    placed = re.fullmatch(r"TEST (.*)", line)
    if placed is not None:
        return call(("place", {"objects": re.findall(r"\b[A-H]\b", placed[1])}))
    answer = re.fullmatch(r"ANSWER: blickets (.*?); form (.*?)(?:; inhibitors (.*))?", line)
    assert answer is not None
    blickets, inhibitors = (re.findall(r"\b[A-H]\b", answer[part] or "") for part in (1, 3))
    arguments = {"blickets": blickets, "form": answer[2], "inhibitors": inhibitors}
    return call(("answer", arguments))


@pytest.mark.parametrize("name", GAMES)
def test_no_game_lasts_longer_than_it_says(name: str) -> None:
    benchmark: AnyBenchmark = get_benchmark(name)
    view = benchmark.view_type()
    item = next(iter(benchmark.generate(benchmark.spec_type(), SEED)))
    longest = 0
    for first in ("TEST A", "nonsense"):
        replies = [first]
        while benchmark.respond(item, replies, view) is not None:
            replies.append(first)
        longest = max(longest, len(replies))
    assert longest <= benchmark.max_turns(item) < 200


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_an_endpoint_is_offered_the_tools_and_sent_their_results(api: str, tmp_path: Path) -> None:
    moves = [("place", {"objects": ["A"]}), ("answer", {"blickets": ["A"], "form": "conjunctive"})]
    bodies: list[dict[str, Any]] = []

    def respond(asked: Request) -> Sent:
        name, arguments = moves[len(bodies)]
        bodies.append(asked.body)
        function = {"name": name, "arguments": json.dumps(arguments)}
        if api == "chat":
            calls = [{"id": f"c{len(bodies)}", "type": "function", "function": function}]
            return Sent(completion(None, message={"tool_calls": calls}))
        made = {"type": "function_call", "call_id": f"c{len(bodies)}"} | function
        return Sent({"output": [made], "status": "completed"})

    with RawServer(respond) as server:
        result = trivium.evaluate(
            "blicket_game", "vllm/m", items=1, base_url=server.url, api=api, out=tmp_path
        )
    (row,) = result
    assert row["reply"] == ["TEST A", "ANSWER: blickets A; form conjunctive"]
    offered = [tool["function"] if api == "chat" else tool for tool in bodies[0]["tools"]]
    assert [tool["name"] for tool in offered] == ["place", "answer"]
    assert all(tool["description"] and tool["parameters"]["properties"] for tool in offered)
    called, answered = bodies[1]["messages" if api == "chat" else "input"][-2:]
    if api == "chat":
        assert called["tool_calls"][0]["id"] == answered["tool_call_id"] == "c1"
        assert answered["content"].startswith("Test 1: A.")
    else:
        assert (called["type"], called["call_id"]) == ("function_call", "c1")
        assert (answered["type"], answered["call_id"]) == ("function_call_output", "c1")
        assert answered["output"].startswith("Test 1: A.")
