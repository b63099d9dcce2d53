"""Base models: one text that ends where the reply begins, on both backends."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import trivium
from tests.models.server import Server
from trivium.core.errors import UserError
from trivium.core.task import Task

PREAMBLE = "User: Which is larger, 2 or 3?\n\nAssistant: 3"
BACKENDS = pytest.mark.parametrize("backend", ["direct", "inspect"])


def base_model(task: Task, count: int) -> Any:
    """Continues a text as a base model may: right, then a turn of the user's that it makes up."""
    items = {item.prompt: item for item in task.items(count)}

    def reply(messages: list[str]) -> str:
        last = re.split(r"(?:^|\n)User: |<q>", messages[0])[-1]
        prompt = last.removesuffix("\n\nAssistant:").removesuffix("</q>\nA:")
        return f" {items[prompt].gold}\n"

    return reply


@BACKENDS
@pytest.mark.parametrize("name", ["nhop_implicit", "identifying_variables", "blicket_prompts"])
def test_a_base_model_is_asked_by_one_text(name: str, backend: str, tmp_path: Path) -> None:
    task = trivium.load(name)
    with Server(base_model(task, 4), protocols=("completions",)) as server:
        result = trivium.evaluate(
            task, "vllm/base", items=4, base_url=server.url, backend=backend, api="completions",
            preamble=PREAMBLE, system="Be brief.", shots=1, temp=0.0, out=tmp_path / "run",
        )  # fmt: skip
    assert result.summary.metrics[task.benchmark.metrics[0].name].value == 1
    assert set(server.paths) == {"/v1/completions"}
    prompts = {item.prompt for item in task.items(4)}
    for body in server.bodies:
        text = body["prompt"]
        assert text.startswith(f"{PREAMBLE}\n\nBe brief.\n\nUser: ")
        assert text.endswith("\n\nAssistant:")
        assert any(text.endswith(f"User: {prompt}\n\nAssistant:") for prompt in prompts)
        assert text.count("\n\nAssistant:") == 3, "the preamble, an example and the item"
        assert (body["stop"], body["max_tokens"], body["temperature"]) == (["\nUser:"], 1024, 0)
        assert not {"messages", "tools", "max_completion_tokens"} & set(body)
    (group,) = {row["groups"]["preamble"] for row in result.records}
    assert re.fullmatch("[0-9a-f]{6}", group)


@BACKENDS
def test_a_template_says_how_the_text_ends(backend: str) -> None:
    task = trivium.load("nhop_implicit")
    with Server(base_model(task, 2), protocols=("completions",)) as server:
        options: dict[str, Any] = {"template": "<q>{prompt}</q>\nA:", "stop": ["\n", "<q>"]}
        result = trivium.evaluate(
            task, "vllm/base", items=2, base_url=server.url, backend=backend, api="completions",
            max_output_tokens=9, **options,
        )  # fmt: skip
    assert result.summary.metrics["correct"].value == 1
    for body in server.bodies:
        assert body["prompt"].startswith("<q>Each line")
        assert body["prompt"].endswith("</q>\nA:")
        assert (body["stop"], body["max_tokens"]) == (["\n", "<q>"], 9)


@BACKENDS
def test_a_base_model_plays_a_game_in_text(backend: str) -> None:
    with Server(lambda messages: " TEST A\n", protocols=("completions",)) as server:
        result = trivium.evaluate(
            "blicket_game", "vllm/base", items=1, base_url=server.url, backend=backend,
            api="completions",
        )  # fmt: skip
    assert len(server.bodies) > 2
    assert server.bodies[2]["prompt"].count("\n\nAssistant: TEST A\n\nUser: ") == 2
    assert "calling the tool" not in server.bodies[0]["prompt"]
    assert result.summary.metrics["correct"].value == 0


def test_what_goes_with_completions_only_is_refused_elsewhere() -> None:
    wrong: list[dict[str, Any]] = [{"preamble": "x"}, {"stop": ["x"]}]
    for options in wrong:
        with pytest.raises(UserError, match="goes with api completions"):
            trivium.evaluate("nhop_implicit", "vllm/base", items=1, **options)
    with pytest.raises(UserError, match="structured does not go with api completions"):
        trivium.evaluate("nhop_implicit", "vllm/base", items=1, api="completions", structured=True)
    with pytest.raises(UserError, match="api completions needs an OpenAI-compatible endpoint"):
        trivium.evaluate("nhop_implicit", "anthropic/claude-x", items=1, api="completions")
