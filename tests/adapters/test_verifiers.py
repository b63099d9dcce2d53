"""Rollouts through verifiers' own runner, with a model that is a built-in solver behind HTTP."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tests.adapters import required

vf = required("verifiers.v1")

from verifiers.v1.cli.eval.runner import run_eval  # noqa: E402
from verifiers.v1.configs.cli.eval import EvalConfig  # noqa: E402

from tests.models.server import Server, SolverModel  # noqa: E402
from trivium.adapters.episode import split_item  # noqa: E402
from trivium.benchmarks import BENCHMARKS, load_task  # noqa: E402
from trivium.core.dialogue import solve  # noqa: E402
from trivium.core.errors import UserError  # noqa: E402
from trivium.core.task import PresentedItem, Task  # noqa: E402

TRAIN = 2**32 + 7  # the seed that training with seed 7 begins with
SOLVERS = {
    "nhop_explicit": ("oracle", "random_candidate"),
    "nhop_implicit": ("oracle", "random_candidate"),
    "identifying_variables": ("oracle", "random"),
    "blicket_prompts": ("ideal_observer", "random"),
    "blicket_game": ("optimal", "random"),
}


def items_of(task: Task, count: int, split: str = "train") -> list[PresentedItem]:
    return [split_item(task, split, 7, index) for index in range(count)]


def environment(benchmark: str, **taskset: Any) -> dict[str, Any]:
    own = {"id": "trivium-verifiers", "benchmark": benchmark, "certificate_items": 50}
    return {"taskset": own | taskset}


def rollouts(server: Server, env: dict[str, Any], out: Path, count: int = 3) -> list[Any]:
    """The episodes of verifiers' runner, one after the other."""
    client = {"type": "eval", "base_url": server.url, "api_key_var": "NO_SUCH_KEY"}
    config = EvalConfig.model_validate(
        {
            "env": env,
            "model": "stub",
            "client": client,
            "select": {"limit": count},
            "max_concurrent": 1,
            "push": False,
            "rich": None,
            "output_dir": out,
        }
    )
    episodes: list[Any] = asyncio.run(run_eval(config))
    return episodes


def loaded(env: dict[str, Any]) -> Any:
    return vf.load_environment(vf.resolve_env_config(env))


def test_every_benchmark_is_tried() -> None:
    assert set(SOLVERS) == set(BENCHMARKS)


@pytest.mark.parametrize(
    ("name", "solver"), [(name, solver) for name, both in SOLVERS.items() for solver in both]
)
def test_rewards_are_our_scores(name: str, solver: str, tmp_path: Path) -> None:
    task = load_task(name)
    items = items_of(task, 3)
    with Server(SolverModel(task, solver, items)) as server:
        episodes = rollouts(server, environment(name), tmp_path)
    for item, episode in zip(items, episodes, strict=True):
        (trace,) = episode.traces
        attempt = solve(item, task.benchmark.solvers[solver])
        replies = attempt.reply if isinstance(attempt.reply, list) else [attempt.reply]
        assert episode.ok, episode.errors
        assert [message.content for message in trace.assistant_messages] == replies
        score = trace.rewards["trivium_score"].score
        assert score == attempt.scores[task.benchmark.metrics[0].name]
        assert trace.metrics == {
            key: value for key, value in attempt.scores.items() if value is not None
        }
        assert set(trace.rewards) == {"trivium_score"} | (
            {"information"} if name == "blicket_game" else set()
        )
        if name == "blicket_game":
            shares = task.benchmark.information(item.content, list(map(str, replies)))
            assert shares is not None
            assert trace.rewards["information"].score == pytest.approx(sum(shares))
            assert trace.reward == pytest.approx(score + sum(shares) / 2)
            assert len(trace.info["information"]) == attempt.scores["tests"]
        seeds = trace.info["overlap"]["seeds"]
        assert list(seeds) == [TRAIN, 7]


def test_a_failed_call_has_no_reward(tmp_path: Path) -> None:
    task = load_task("nhop_implicit")
    items = items_of(task, 3)
    broken = items[1].prompt
    with Server(
        SolverModel(task, "oracle", items),
        fault=lambda prompt, nth: "500" if prompt == broken else None,
    ) as server:
        episodes = rollouts(server, environment("nhop_implicit"), tmp_path)
    assert [episode.ok for episode in episodes] == [True, False, True]
    (failed,) = episodes[1].traces
    assert not any(failed.rewards.values())
    assert failed.errors[0].type == "ProviderError"
    assert episodes[0].traces[0].reward == episodes[2].traces[0].reward == 1.0


def test_a_call_that_fails_in_the_middle_of_a_game_has_no_reward(tmp_path: Path) -> None:
    task = load_task("blicket_game")
    with Server(
        SolverModel(task, "optimal", items_of(task, 1)),
        fault=lambda prompt, nth: "dropped" if nth >= 2 else None,
    ) as server:
        env = environment("blicket_game")
        (episode,) = rollouts(server, env, tmp_path, count=1)
    assert not episode.ok
    assert not any(episode.traces[0].rewards.values())


def test_a_game_that_runs_out_of_turns_is_scored_without_an_answer(tmp_path: Path) -> None:
    task = load_task("blicket_game")
    with Server(SolverModel(task, "optimal", items_of(task, 1))) as server:
        env = environment("blicket_game") | {"player": {"max_turns": 2}}
        (episode,) = rollouts(server, env, tmp_path, count=1)
    (trace,) = episode.traces
    assert episode.ok
    assert trace.is_truncated
    assert trace.rewards["trivium_score"].score == 0.0
    assert 0 < trace.rewards["information"].score < 1


def test_items_never_end_and_are_made_as_they_are_asked_for() -> None:
    taskset = loaded(environment("nhop_implicit")).taskset
    assert not taskset.bounded
    far = next(islice(iter(taskset), 200, None))
    assert far.data.prompt == split_item(load_task("nhop_implicit"), "train", 7, 200).prompt
    assert far.data.idx == 200
    assert asyncio.run(far.validate(None))


def test_splits_are_those_of_every_adapter() -> None:
    train, test = (
        [
            task.data.prompt
            for task in loaded(environment("nhop_implicit", split=split)).taskset.take(50)
        ]
        for split in ("train", "test")
    )
    assert test == [item.prompt for item in items_of(load_task("nhop_implicit"), 50, "test")]
    assert not set(train) & set(test)


def test_fields_and_presets_are_those_of_the_benchmark() -> None:
    env = environment("nhop_explicit", preset="explicit-easy", fields={"hops": 5, "mode": "steps"})
    (task,) = loaded(env).taskset.take(1)
    expected = load_task("nhop_explicit", "explicit-easy", {"hops": 5, "mode": "steps"})
    assert task.data.prompt == items_of(expected, 1)[0].prompt
    with pytest.raises(UserError, match="unknown key 'colour'"):
        list(loaded(environment("nhop_explicit", fields={"colour": 1})).taskset.take(1))


def test_the_reward_of_information_can_be_left_out(tmp_path: Path) -> None:
    task = load_task("blicket_game")
    with Server(SolverModel(task, "information_gain", items_of(task, 1))) as server:
        env = environment("blicket_game", information=False)
        (episode,) = rollouts(server, env, tmp_path, count=1)
    assert set(episode.traces[0].rewards) == {"trivium_score"}


def test_the_command_of_verifiers_finds_the_package(tmp_path: Path) -> None:
    task = load_task("nhop_implicit")
    with Server(SolverModel(task, "oracle", items_of(task, 2, "test"))) as server:
        words = "trivium-verifiers --env.taskset.benchmark nhop_implicit --env.taskset.split test"
        words += f" -n 2 -m stub --no-push --no-rich --client.base-url {server.url} -o {tmp_path}"
        done = subprocess.run(
            [str(Path(sys.executable).with_name("vf-eval")), *words.split()],
            capture_output=True,
            text=True,
            check=True,
        )
    assert done.stdout.count('"score": 1.0') == 2
    assert len(list(tmp_path.rglob("traces.jsonl"))) == 1
