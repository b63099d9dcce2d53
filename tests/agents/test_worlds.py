"""The blicket world and the slot world: exact evaluation, random play, and settings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from trivium.agents.config import PRESETS, AgentConfig, LengthConfig, TaskConfig, paper
from trivium.agents.episodes import (
    RandomActor,
    form_accuracy,
    greedy,
    object_reward,
    sample_episodes,
)
from trivium.agents.layers import Output
from trivium.agents.training import pick
from trivium.agents.worlds import task_setting, task_spec, task_world
from trivium.benchmarks.blicket.inference.observer import measure
from trivium.core.errors import UserError


class Fixed:
    """A policy whose bits are a function of the observation."""

    def __init__(self, choose: Any) -> None:
        self.choose = choose

    def initial(self, batch: int) -> Any:
        return ()

    def step(self, carry: Any, observation: Any, start: Any) -> Any:
        bits = self.choose(observation)
        logits = jnp.stack([jnp.zeros_like(bits), bits * 2.0 - 1.0], axis=-1)
        return carry, Output(logits, jnp.zeros(observation.shape[0]))


def play_greedily(task: TaskConfig, choose: Any, view: int = 0) -> Any:
    views = task_setting(task).views
    return jax.jit(lambda tables: greedy(task_world(task), Fixed(choose), tables))(  # type: ignore[arg-type]
        pick(views, view)
    )


def yes_at_once(observation: Any) -> Any:
    """Goes to the quiz at once and says yes to everything."""
    return jnp.ones((observation.shape[0], 4))


def test_greedy_evaluation_of_an_agent_that_never_explores() -> None:
    found = play_greedily(TaskConfig(), yes_at_once)
    assert found.reward.tolist() == [1.0] * 3 + [-1.0] * 3
    assert found.tests.tolist() == [0.0] * 6
    assert found.bits.tolist() == [0.0] * 6


def test_forced_steps_are_tests_and_views_differ_by_them() -> None:
    forced, free = (play_greedily(TaskConfig(forced=5), yes_at_once, view) for view in range(2))
    assert forced.tests.tolist() == [5.0] * 6
    assert free.tests.tolist() == [0.0] * 6
    # All three objects light every machine: five tests that tell nothing.
    assert forced.bits.tolist() == [0.0] * 6


def test_greedy_evaluation_counts_bits_and_forms() -> None:
    """A is placed once, which lights A's disjunctive machine and no other."""

    def test_a_then_say_yes(observation: Any) -> Any:
        seen = observation.max(axis=-1, keepdims=True)
        return jnp.concatenate([jnp.ones_like(seen), seen, seen, seen], axis=-1)

    found = play_greedily(TaskConfig("quiz-type"), test_a_then_say_yes)
    assert task_spec(TaskConfig()).hypotheses[3] == "disjunctive:A"
    assert found.tests.tolist() == [1.0] * 6
    alike = np.array([5, 5, 5, 1, 5, 5])
    np.testing.assert_allclose(found.bits, np.log2(6 / alike), rtol=1e-5)
    # Yes is right for two or one of three objects, and calls the machine disjunctive.
    assert found.form_right.tolist() == [0.0] * 3 + [1.0] * 3
    assert found.reward.tolist() == [1 - 0.5] * 3 + [-1 + 0.5] * 3


def test_random_play_agrees_with_chance() -> None:
    task = TaskConfig("quiz-type")
    world, tables = task_world(task), task_setting(task).train
    played = jax.jit(lambda key: sample_episodes(world, tables, RandomActor(), 4000, key))(
        jax.random.key(0)
    )
    # Standard errors: 0.027 for the reward, 0.008 for the form, 0.022 for the tests; five of
    # them are passed by chance less than once in a million runs, and the key is fixed.
    assert abs(float(object_reward(played).mean())) < 0.14
    assert abs(float(form_accuracy(played).mean()) - 0.5) < 0.04
    assert abs(float(played.tests.sum(axis=1).mean()) - 1.0) < 0.12
    assert (played.lengths == np.asarray(played.tests.sum(axis=1)) + 5).all()


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_the_information_reward_is_the_gain_of_an_ideal_observer(noise: float) -> None:
    """Random episodes of machines of both forms, beside the observer's own measures."""
    task = TaskConfig("quiz-type", noise=noise, reward="information", forced=4)
    world, setting = task_world(task), task_setting(task)
    played = sample_episodes(world, setting.train, RandomActor(), 30, jax.random.key(3))
    space = task.spaces[0]
    seen, tests = np.asarray(played.observation).astype(int), np.asarray(played.tests)
    for number in range(30):
        shown = seen[number, 1:][tests[number] > 0]
        trials = [(int(row[:3] @ [1, 2, 4]), bool(row[3])) for row in shown]
        expected = [step.bits for step in measure(space, trials).steps]
        rewards = np.asarray(played.reward[number])
        np.testing.assert_allclose(rewards[tests[number] > 0], expected, atol=1e-4)
        assert not rewards[tests[number] == 0].any()  # answers earn nothing
    assert world.maximum == pytest.approx(np.log2(6))
    both = replace(task, reward="both")
    assert task_world(both).maximum == pytest.approx(np.log2(6) + 3.5)
    own = sample_episodes(
        task_world(both), task_setting(both).train, RandomActor(), 30, jax.random.key(3)
    )
    plain = replace(task, reward="task")
    earned = sample_episodes(
        task_world(plain), task_setting(plain).train, RandomActor(), 30, jax.random.key(3)
    )
    np.testing.assert_allclose(own.reward, played.reward + earned.reward, atol=1e-5)
    # The greedy policy is evaluated by what it earns in the environment.
    found = greedy(world, Fixed(yes_at_once), pick(setting.views, 1))  # type: ignore[arg-type]
    assert found.reward.tolist() == [1 - 0.5] * 3 + [-1 + 0.5] * 3


def test_splits_draw_only_their_own_machines() -> None:
    task = TaskConfig(split="conjunctive_train")
    world, setting = task_world(task), task_setting(task)
    states, _ = world.reset(setting.train, jax.random.key(0), (200,))
    assert set(np.asarray(states).tolist()) == set(np.asarray(setting.train.starts[:3]).tolist())
    assert len(task_spec(task).hypotheses) == 3


def test_the_papers_settings_are_the_defaults_of_stable_baselines() -> None:
    """Those of its A2C, PPO2 and LSTM policies, but with the paper's four environments for both."""
    both = {"trunk": (64, 64), "width": 256, "environments": 4, "discount": 0.99}
    both |= {"entropy_coefficient": 0.01, "gradient_norm": 0.5}
    a2c = {"horizon": 5, "gae_lambda": 1, "learning_rate": 7e-4, "value_coefficient": 0.25}
    ppo = {"horizon": 128, "gae_lambda": 0.95, "learning_rate": 2.5e-4, "value_coefficient": 0.5}
    passes = {"epochs": 4, "minibatches": 4, "clip": 0.2}
    assert paper("a2c-lstm").to_dict().items() >= (both | a2c).items()
    assert paper("ppo-lstm").to_dict().items() >= (both | ppo | passes).items()


def test_presets_and_refusals() -> None:
    for preset in PRESETS.values():
        for name in ("a2c-lstm", "ppo-lnlstm", "ppo-mlp", "a2c-transformer"):
            assert preset(name).name == name
    with pytest.raises(UserError, match="unknown agent 'sac-mlp'"):
        paper("sac-mlp")
    with pytest.raises(UserError, match="minibatches must divide 4"):
        AgentConfig(algorithm="ppo", environments=4, minibatches=3)
    AgentConfig(environments=5_000_000, horizon=2)
    with pytest.raises(UserError, match="must be at most 10,000,000, got 10,000,001"):
        AgentConfig(environments=10_000_001, horizon=1)
    with pytest.raises(UserError, match="groups must divide the width of 256"):
        AgentConfig(policy="rim", groups=7)
    with pytest.raises(UserError, match="epochs and minibatches must be 1"):
        AgentConfig(epochs=2)


@pytest.mark.parametrize(
    ("steps", "points", "batch", "expected"),
    [(1000, 10, 20, (10, 5)), (1000, 60, 100, (10, 1)), (5, 60, 100, (1, 1))],
)
def test_points_of_the_curve_and_updates_between_them(
    steps: int, points: int, batch: int, expected: tuple[int, int]
) -> None:
    length = LengthConfig(steps=steps, points=points)
    assert (length.curve_points(batch), length.updates(batch)) == expected
