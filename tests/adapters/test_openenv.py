"""The game on an OpenEnv server, through its own client and its own validation."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from tests.adapters import required

required("openenv")

import uvicorn  # noqa: E402
from openenv.cli._validation import validate_running_environment  # noqa: E402

from trivium.adapters.episode import split_item  # noqa: E402
from trivium.adapters.openenv import (  # noqa: E402
    TriviumAction,
    TriviumClient,
    TriviumEnvironment,
    make_app,
)
from trivium.benchmarks import load_task  # noqa: E402
from trivium.core.dialogue import next_reply  # noqa: E402
from trivium.core.errors import UserError  # noqa: E402


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A server of small games."""
    config = uvicorn.Config(
        make_app("blicket_game", preset="three-objects"), port=0, log_level="warning"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(10)


@pytest.mark.parametrize("solver", ["optimal", "random", "constant_answer"])
def test_a_player_earns_its_score_and_what_it_found_out(url: str, solver: str) -> None:
    task = load_task("blicket_game", "three-objects")
    with TriviumClient(base_url=url).sync() as client:
        for index in range(3):
            item = split_item(task, "train", 5, index)
            result = client.reset(seed=5, index=index)
            assert result.observation.text == item.prompt
            assert not result.done
            dialogue, total = task.start(item), 0.0
            while not result.done:
                reply = next_reply(dialogue, task.benchmark.solvers[solver])
                result = client.step(TriviumAction(reply=reply))
                assert result.observation.text == (dialogue.send(reply) or "")
                assert result.reward is not None
                total += result.reward
            scores = dialogue.scores
            assert result.metadata == {"scores": scores}
            assert scores["correct"] is not None
            assert scores["bits"] is not None
            unknown = 3.4594316186372978  # log2 of the 11 machines that tests can tell apart
            assert total == pytest.approx(scores["correct"] + scores["bits"] / unknown / 2)
            state = client.state()
            assert (state.step_count, state.origin["index"]) == (len(dialogue.replies), index)


def test_the_server_is_valid(url: str) -> None:
    report = validate_running_environment(url)
    assert report["passed"], report


def test_a_move_after_the_end_is_an_error(url: str) -> None:
    with TriviumClient(base_url=url).sync() as client:
        client.reset(seed=5)
        answer = TriviumAction(reply="ANSWER blickets: A; form: conjunctive")
        assert client.step(answer).done
        with pytest.raises(RuntimeError, match="the dialogue is over"):
            client.step(answer)


def test_an_environment_without_a_server() -> None:
    env = TriviumEnvironment("nhop_implicit", hops=4)
    with pytest.raises(UserError, match="call reset first"):
        env.step(TriviumAction(reply="E_0001"))
    first, second = env.reset(seed=3, split="test"), env.reset(split="test")
    task = load_task("nhop_implicit", None, {"hops": 4})
    prompts = [split_item(task, "test", 3, index).prompt for index in range(2)]
    assert [first.text, second.text] == prompts
    wrong = env.step(TriviumAction(reply="nonsense"))
    assert (wrong.done, wrong.reward) == (True, 0.0)
    with pytest.raises(UserError, match="reset takes seed, split and index, got item"):
        env.reset(item=3)
    assert env.get_metadata().name == "nhop_implicit"


def test_the_module_has_an_app() -> None:
    assert make_app().title
