"""Benchmarks as text environments of Gymnasium."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from tests.adapters import required

gymnasium = required("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402

from trivium.adapters.episode import split_item  # noqa: E402
from trivium.adapters.text_env import TextEnv  # noqa: E402
from trivium.benchmarks import BENCHMARKS, load_task  # noqa: E402
from trivium.core.dialogue import next_reply  # noqa: E402
from trivium.core.errors import UserError  # noqa: E402


@pytest.mark.parametrize("name", BENCHMARKS)
def test_gymnasium_finds_nothing_wrong(name: str) -> None:
    check_env(TextEnv(name, render_mode="ansi"), skip_render_check=True)


def test_it_is_made_by_its_name_alone() -> None:
    code = (
        "import gymnasium\n"
        "env = gymnasium.make('trivium:trivium/BlicketGame-v0', preset='three-objects')\n"
        "assert env.reset(seed=1)[0] in env.observation_space\n"
        "assert env.step('TEST A')[0].startswith('Test 1: A.')\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


@pytest.mark.parametrize(
    ("name", "solver"), [("blicket_game", "information_gain"), ("nhop_implicit", "pointer_f_n1")]
)
def test_a_player_earns_its_score(name: str, solver: str) -> None:
    task = load_task(name)
    env = TextEnv(name, split="test", information_weight=0.0)
    texts = [env.reset(seed=5)[0], *(env.reset()[0] for _ in range(3))]
    items = [split_item(task, "test", 5, index) for index in range(4)]
    assert texts == [item.prompt for item in items]
    for index, item in enumerate(items):
        env.reset(seed=5, options={"index": index})
        dialogue, total, done = task.start(item), 0.0, False
        info: dict[str, Any] = {}
        while not done:
            reply = next_reply(dialogue, task.benchmark.solvers[solver])
            text, reward, done, truncated, info = env.step(reply)
            assert text == (dialogue.send(reply) or "")
            assert not truncated
            total += reward
        assert info["scores"] == dialogue.scores
        assert total == dialogue.scores[task.benchmark.metrics[0].name]


def test_training_and_evaluation_have_other_items() -> None:
    train, evaluation = TextEnv("nhop_implicit"), TextEnv("nhop_implicit", split="test")
    assert train.reset(seed=4)[0] != evaluation.reset(seed=4)[0]


def test_wrong_calls_say_what_is_allowed() -> None:
    env = TextEnv("blicket_game")
    with pytest.raises(UserError, match="call reset first"):
        env.step("TEST A")
    with pytest.raises(UserError, match="options may hold index, got 'item'"):
        env.reset(options={"item": 3})
    with pytest.raises(UserError, match="unknown key 'hops'"):
        TextEnv("blicket_game", hops=3)
    with pytest.raises(UserError, match="render_mode must be ansi"):
        TextEnv("blicket_game", render_mode="human")
    quiet = TextEnv("blicket_game", preset="three-objects", noise=0.1, information_weight=0.0)
    quiet.reset()
    assert quiet.step("TEST A")[1] == 0.0
    with pytest.raises(UserError, match="a reply is text, got 3"):
        quiet.step(3)  # type: ignore[arg-type]


def test_rendering_shows_all_that_was_said() -> None:
    env = TextEnv("blicket_game", render_mode="ansi")
    prompt, _ = env.reset(seed=1)
    response = env.step("TEST A")[0]
    assert env.render() == f"{prompt}\n\nTEST A\n\n{response}"
