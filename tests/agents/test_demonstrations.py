"""Agents that see demonstrations first: the JAX world, the folder, and the player of the game."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from trivium.agents.config import TaskConfig
from trivium.agents.episodes import PolicyActor, RandomActor, sample_episodes
from trivium.agents.folders import Agent
from trivium.agents.layers import Output
from trivium.agents.player import Player
from trivium.agents.worlds import task_setting, task_spec, task_world
from trivium.benchmarks.blicket.game import GAME
from trivium.benchmarks.blicket.game.solvers import player
from trivium.benchmarks.blicket.game.spec import PRESETS
from trivium.cli import main
from trivium.core.benchmark import Solver
from trivium.core.dialogue import solve
from trivium.core.errors import UserError
from trivium.core.task import Task

KINDS = ("given", "not_given")


def task(kind: Any) -> TaskConfig:
    return TaskConfig("quiz-type", demonstrations=kind)


@pytest.mark.parametrize("kind", KINDS)
def test_episodes_begin_with_the_demonstrations(kind: str) -> None:
    world, setting = task_world(task(kind)), task_setting(task(kind))
    played = sample_episodes(world, setting.train, RandomActor(), 64, jax.random.key(1))
    seen = np.asarray(played.observation)
    assert not seen[:, 0].any()
    assert (seen[:, 1:4, 4:6] == [1, 0]).all()
    assert (seen[:, 4:7, 4:6] == [0, 1]).all()
    assert not seen[:, 7:, 4:6].any()
    assert not np.asarray(played.tests)[:, :6].any()  # a demonstration is not a test
    assert not np.asarray(played.reward)[:, :7].any()
    lit_first = seen[:, 1, 3]  # in the first test only a disjunctive machine lights
    assert set(lit_first.tolist()) == ({0.0, 1.0} if kind == "given" else {0.0})
    assert task_spec(task(kind)).maximum == 3.5


class Watcher(eqx.Module):
    """Sees which example is disjunctive, tests A, B and C alone, and answers accordingly."""

    given: bool = eqx.field(static=True)

    def initial(self, batch: int) -> Any:
        return jnp.zeros(batch), jnp.zeros((batch, 3)), jnp.zeros(batch)

    def step(self, carry: Any, observation: Any, start: Any) -> Any:
        count, lit, swapped = carry
        placed, light, shown, asked = (
            observation[:, :3],
            observation[:, 3],
            observation[:, 4:6].max(axis=1),
            observation[:, 6:],
        )
        alone = placed * (light * (1 - shown) * (placed.sum(axis=1) == 1))[:, None]
        lit = jnp.maximum(lit, alone)
        first = (count == 1) * light
        swapped = jnp.maximum(swapped, first)
        disjunctive = lit.max(axis=1)
        like = jnp.abs(disjunctive - swapped) if self.given else jnp.zeros_like(light)
        form = jnp.stack([like, jnp.full_like(like, not self.given), 0 * like], axis=1)
        about_form = asked * (placed.sum(axis=1, keepdims=True) == 0)
        answer = jnp.where(about_form > 0, form, lit)
        tests = jax.nn.one_hot((count - 6).astype(int), 3)
        bits = jnp.where(asked > 0, answer, tests)
        bits = jnp.concatenate([bits, (count >= 9)[:, None]], axis=1)
        logits = jnp.stack([jnp.full(bits.shape, 0.5), bits], axis=-1)
        return (count + 1, lit, swapped), Output(logits, count)


@pytest.mark.parametrize("kind", KINDS)
def test_an_agent_plays_the_game_with_demonstrations(kind: str) -> None:
    """Disjunctive machines are found alone; the form is that of the example that was alike."""
    config = task(kind)
    agent = Player(Agent("watcher", task_spec(config), PolicyActor(Watcher(kind == "given"))))
    spec = PRESETS[f"demonstrations-{kind.replace('_', '-')}"]
    items = Task(GAME, spec, GAME.view_type()).items(24, 5)
    solver = Solver("agent", "", player(agent.explore, agent.conclude))
    for item in items:
        attempt = solve(item, solver)
        assert [one for one, _ in attempt.answer.tests] == list("ABC")
        assert attempt.scores["form"] == 1.0
        disjunctive = item.content.truth.startswith("disjunctive")
        assert (attempt.scores["correct"] == 1.0) == disjunctive
    plain = Task(GAME, PRESETS["paper"], GAME.view_type()).items(1)[0]
    with pytest.raises(UserError, match="trained with demonstrations, and this game has none"):
        solve(plain, solver)


def test_training_with_demonstrations_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["train", "a2c-mlp", "--width", "8", "--reward_structure", "quiz-type"]
    words += ["--demonstrations", "not_given", "--steps", "400", "--points", "2"]
    assert main([*words, "--out", str(tmp_path / "agent")]) == 0
    assert "--preset demonstrations-not-given" in capsys.readouterr().out
    words = ["eval", "blicket_game", "--preset", "demonstrations-not-given", "--items", "2"]
    words += ["--solver", f"agent:{tmp_path / 'agent'}", "--out", str(tmp_path / "run")]
    assert main(words) == 0
    words = ["train", "a2c-mlp", "--reward_structure", "baseline", "--demonstrations", "given"]
    assert main([*words, "--out", str(tmp_path / "other")]) == 2
    assert "demonstrations go with a quiz" in capsys.readouterr().err
