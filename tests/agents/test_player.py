"""A trained agent as a player of the game, and the record of its learning curve."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

from trivium.agents import agent_solver
from trivium.agents.actor_critic import Sums
from trivium.agents.config import TaskConfig
from trivium.agents.episodes import Greedy, PolicyActor
from trivium.agents.folders import Agent
from trivium.agents.layers import Output
from trivium.agents.learners import Point, curve_record
from trivium.agents.player import Player
from trivium.agents.training import run_key
from trivium.agents.worlds import task_spec
from trivium.benchmarks.blicket.game.render import Conversation
from trivium.benchmarks.blicket.game.spec import GameSpec
from trivium.core.errors import UserError
from trivium.core.streams import Stream

STREAM = Stream(0)


class OneByOne(eqx.Module):
    """Tests A, B and C, and calls those blickets that lit alone; any of them: disjunctive."""

    def initial(self, batch: int) -> Any:
        return jnp.full(batch, 7.0), jnp.ones((batch, 3))  # of another episode

    def step(self, carry: Any, observation: Any, start: Any) -> Any:
        keep = 1 - start
        count, lit = carry[0] * keep, carry[1] * keep[:, None]
        placed, light, asked = observation[:, :3], observation[:, 3:4], observation[:, 4:]
        lit = jnp.maximum(lit, placed * light)
        about_form = asked * (placed.sum(axis=1, keepdims=True) == 0)
        any_lit = lit.max(axis=1, keepdims=True) * jnp.array([1, 0, 0])
        answer = jnp.where(about_form > 0, any_lit, lit)
        bits = jnp.where(asked > 0, answer, jax.nn.one_hot(count.astype(int), 3))
        bits = jnp.concatenate([bits, (count >= 3)[:, None]], axis=1)
        logits = jnp.stack([jnp.full(bits.shape, 0.5), bits], axis=-1)
        return (count + 1, lit), Output(logits, count)


def player(task: TaskConfig) -> Player:
    return Player(Agent("one by one", task_spec(task), PolicyActor(OneByOne())))


def seen(*tests: tuple[str, bool], objects: int = 3) -> Conversation:
    return Conversation(GameSpec(objects=objects), tests)


def test_an_agent_makes_its_tests_and_then_answers() -> None:
    agent = player(TaskConfig())
    made = [("A", False), ("B", True), ("C", False)]
    tests = [agent.explore(seen(*made[:count]), STREAM) for count in range(4)]
    assert tests == ["A", "B", "C", None]


@pytest.mark.parametrize(
    ("reward_structure", "lit", "expected"),
    [
        ("quiz", "B", "disjunctive:B"),
        ("quiz", "AC", "conjunctive:AC"),  # two blickets are conjunctive in the paper's space
        ("quiz", "", "disjunctive:A"),  # a machine has a blicket
        ("quiz-type", "AC", "disjunctive:AC"),
        ("quiz-type", "", "conjunctive:A"),
    ],
)
def test_an_agent_concludes_from_its_answers(
    reward_structure: Any, lit: str, expected: str
) -> None:
    agent = player(TaskConfig(reward_structure))
    conclusion = agent.conclude(seen(*((name, name in lit) for name in "ABC")), STREAM)
    assert str(conclusion) == expected


def test_an_agent_refuses_what_it_cannot_play() -> None:
    with pytest.raises(UserError, match="the agent knows 3 objects, the game has 4"):
        player(TaskConfig()).explore(seen(objects=4), STREAM)
    with pytest.raises(UserError, match="agents play only blicket_game, not nhop_explicit"):
        agent_solver("nhop_explicit", "agent:runs/ppo")


def test_keys_are_hashed_from_their_purpose() -> None:
    words = [jax.random.key_data(run_key("train", 0, number)).tolist() for number in range(2)]
    assert words == [[1152241812, 46582535], [3733168507, 1103219280]]


def test_the_record_of_a_learning_curve() -> None:
    """Three seeds at one point; the first two are of the task."""

    sums = Sums(*(jnp.full(3, value, jnp.float32) for value in (4, 6, 10, 4, 3, 2)))
    machines = jnp.arange(36, dtype=jnp.float32).reshape(3, 2, 6)  # [seed, view, machine]
    greedy = Greedy(machines, machines + 1, machines + 2, jnp.ones((3, 2, 6), jnp.float32))
    point = Point(jnp.full(3, 100), sums, greedy, jnp.zeros(3), jnp.array([-1, 100, 7]))
    task = TaskConfig("quiz-type", split="disjunctive_train", forced=1)
    record = curve_record(task, [point], slice(0, 2))
    # Of 6 points over 4 episodes, 1 came from the form: 3 right, 1 wrong, half a point each.
    assert record["reward"] == [[1.25], [1.25]]
    assert record["tests"] == [[2.5], [2.5]]
    assert record["maximal"] == [[0.5], [0.5]]
    assert record["form"] == [[0.75], [0.75]]
    assert record["steps"] == [100]
    assert record["converged"] == [-1, 100]
    # Machines 3 to 5 are disjunctive; half a point of the reward is for the form.
    assert record["greedy_reward"] == {"train": [[3.5], [15.5]], "test": [[0.5], [12.5]]}
    free = record["greedy"]["no forced steps"]["test"]
    assert free == {"reward": [6.5, 18.5], "tests": [8, 20], "bits": [9, 21], "form": [1, 1]}
    quiz = curve_record(TaskConfig(), [point], slice(0, 1))
    assert "form" not in quiz
    assert list(quiz["greedy"]) == ["as trained"]
    assert quiz["greedy"]["as trained"]["train"] == {"reward": [2.5], "tests": [3.5], "bits": [4.5]}
