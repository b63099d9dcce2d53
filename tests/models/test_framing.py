"""Own prompts: worked examples as messages, and a template around every prompt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import trivium
from tests.models.server import Server
from trivium.core.errors import UserError

TEMPLATE = "Read carefully.\n\n{prompt}\n\nTake your time."


def messages(body: dict[str, Any]) -> list[tuple[str, str]]:
    """The roles and texts of a request in either protocol."""
    turns = body.get("messages") or body["input"]
    texts = [
        one["content"] if isinstance(one["content"], str) else one["content"][0]["text"]
        for one in turns
    ]
    return [(one["role"], text) for one, text in zip(turns, texts, strict=True)]


@pytest.mark.parametrize("backend", ["direct", "inspect"])
def test_examples_and_template_reach_the_model_and_the_records(
    backend: str, tmp_path: Path
) -> None:
    task = trivium.load("nhop_implicit")

    def ask(url: str, **options: Any) -> trivium.ResultSet:
        return trivium.evaluate(
            task,
            "vllm/x",
            items=3,
            base_url=url,
            backend=backend,
            template=TEMPLATE,
            out=tmp_path / "run",
            **options,
        )

    with Server(lambda messages: "B_0001") as server:
        made = ask(server.url, shots=2)
        bodies = [messages(body) for body in server.bodies]
        with pytest.raises(UserError, match="holds another evaluation"):
            ask(server.url, shots=1)
    prompts = {item.prompt for item in task.items(3)}
    for turns in bodies[-3:]:
        assert [role for role, _ in turns] == ["user", "assistant"] * 2 + ["user"]
        texts = [text for _, text in turns]
        assert all(text.startswith("Read carefully.\n\n") for text in texts[::2])
        assert texts[4].removeprefix("Read carefully.\n\n").removesuffix("\n\nTake your time.") in (
            prompts
        )
        for example, reply in zip(texts[:4:2], texts[1:4:2], strict=True):
            assert example[17:-17] not in prompts
            assert reply.startswith("E_")
    assert all(row["groups"]["shots"] == 2 for row in made)
    assert len({row["groups"]["template"] for row in made}) == 1


def test_the_examples_of_a_game_are_whole_games() -> None:
    task = trivium.load("blicket_game", preset="paper")
    with Server(lambda messages: "ANSWER: blickets A; form disjunctive") as server:
        options: Any = {"base_url": server.url, "backend": "direct", "shots": 1}
        trivium.evaluate(task, "vllm/x", items=1, **options)
        turns = messages(server.bodies[-1])
    assert turns[1][1].startswith("TEST")
    assert turns[-2][1].startswith("ANSWER")
    assert turns[-1][1] == task[0].prompt


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"template": "no place"}, "template must hold {prompt}"),
        ({"shots": -1}, "shots must be in 0..100, got -1"),
        ({"template": Path("missing.txt")}, "template: missing.txt: No such file"),
    ],
)
def test_wrong_framings_are_one_sentence(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        trivium.evaluate("nhop_implicit", "vllm/x", base_url="http://127.0.0.1:1/v1", **options)
