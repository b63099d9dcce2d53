"""A2C and PPO against numbers computed by hand, and what one update does to a run."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import log
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tests.agents.cue_world import SHOWN, CueWorld
from trivium.agents import actor_critic
from trivium.agents.actor_critic import (
    Batch,
    Environments,
    Rollout,
    Run,
    Sums,
    a2c_loss,
    advantages,
    collect,
    count_streak,
    entropy,
    learn,
    log_probability,
    make_optimiser,
    ppo_loss,
    update,
)
from trivium.agents.config import AgentConfig
from trivium.agents.layers import Output

ODDS = {0.25: -log(3), 0.5: 0.0, 0.75: log(3)}  # logits of one bit against a logit of 0


def test_advantages() -> None:
    """Discount and lambda are 1/2; the second environment ends an episode in its second step."""
    found = advantages(
        AgentConfig(discount=0.5, gae_lambda=0.5),
        reward=jnp.array([[1.0, 0.0], [0.0, 2.0], [4.0, 0.0]]),
        done=jnp.array([[0.0, 0.0], [0.0, 1.0], [0.0, 0.0]]),
        value=jnp.array([[2.0, 1.0], [1.0, 0.0], [0.0, 4.0]]),
        last_value=jnp.array([2.0, 2.0]),
    )
    # First: errors 1 + 1/2 - 2, 0 + 0 - 1 and 4 + 1 - 0, each with a quarter of what follows.
    # Second: errors 0 + 0 - 1, 2 - 0 (its end) and 0 + 1 - 4.
    assert found.tolist() == [[-0.4375, -0.5], [0.25, 2.0], [5.0, -3.0]]


def test_log_probability_and_entropy_are_sums_over_bits() -> None:
    logits = jnp.array([[[0.0, ODDS[0.75]], [0.0, ODDS[0.25]], [1.0, 1.0]]])
    chosen = log_probability(logits, jnp.array([[1, 1, 0]]))
    assert chosen.tolist() == pytest.approx([log(0.75 * 0.25 * 0.5)], rel=1e-5)
    # 0.5623351 for odds of three to one, ln 2 for even odds.
    assert entropy(logits).tolist() == pytest.approx([2 * 0.5623351 + 0.6931472], rel=1e-5)


def output_and_batch(
    probabilities: list[float],
    actions: list[int],
    values: list[float],
    *,
    old_probabilities: list[float],
    old_values: list[float],
    advantage: list[float],
    target: list[float],
) -> tuple[Output, Batch]:
    """Steps of one environment, [time, 1], with an action of one bit."""

    def column(numbers: list[float]) -> Any:
        return jnp.array(numbers)[:, None]

    logits = jnp.array([[0.0, ODDS[probability]] for probability in probabilities])
    nothing = column([0.0] * len(values))
    rollout = Rollout(
        observation=nothing,
        start=nothing,
        action=jnp.array(actions)[:, None, None],
        log_probability=jnp.log(column(old_probabilities)),
        value=column(old_values),
        reward=nothing,
        done=nothing,
    )
    output = Output(logits[:, None, None, :], column(values))
    return output, Batch(rollout, column(advantage), column(target))


def test_a2c_loss() -> None:
    output, batch = output_and_batch(
        [0.75, 0.5],
        [1, 0],
        [1.0, 3.0],
        old_probabilities=[0.1, 0.9],  # not used
        old_values=[9.0, 9.0],  # not used
        advantage=[2.0, -1.0],
        target=[2.0, 1.0],
    )
    config = AgentConfig(value_coefficient=0.25, entropy_coefficient=0.1)
    # Policy: -(2 ln 3/4 - ln 1/2) / 2 = -0.0588915. Value: (1 + 4) / 2 = 2.5, times 1/4.
    # Entropy: (0.5623351 + 0.6931472) / 2 = 0.6277412, times 1/10.
    assert float(a2c_loss(config, output, batch)) == pytest.approx(0.5033344, rel=1e-5)


def test_ppo_loss() -> None:
    output, batch = output_and_batch(
        [0.75, 0.75, 0.25, 0.25],
        [1, 1, 1, 1],
        [2.0, 2.0, 0.1, -1.0],
        old_probabilities=[0.5] * 4,
        old_values=[1.0, 1.0, 0.0, 0.0],
        advantage=[5.0, -1.0, 5.0, -1.0],
        target=[3.0, 0.0, 1.0, -1.0],
    )
    config = AgentConfig("ppo", clip=0.2, value_coefficient=0.5, entropy_coefficient=0.1)
    # Advantages of mean 2 and deviation 3 become 1, -1, 1, -1; ratios are 3/2, 3/2, 1/2, 1/2.
    # Policy: -(min(1.5, 1.2) + min(-1.5, -1.2) + min(0.5, 0.8) + min(-0.5, -0.8)) / 4 = 0.15.
    # Value: (max(1, 1.8^2) + max(4, 1.2^2) + max(0.81, 0.81) + max(0, 0.8^2)) / 8 = 1.08625.
    # Entropy: 0.5623351. Together: 0.15 + 1.08625 / 2 - 0.05623351.
    assert float(ppo_loss(config, output, batch)) == pytest.approx(0.6368915, rel=1e-5)


@pytest.mark.parametrize(
    ("before", "done", "maximal", "after"),
    [
        (5, [0, 0, 0], [0, 0, 0], 5),
        (5, [1, 0, 1], [1, 0, 1], 7),
        (5, [1, 1, 0, 1], [1, 0, 0, 1], 1),
        (5, [1, 1, 1], [1, 1, 0], 0),
        (5, [1, 1, 1], [0, 1, 1], 2),
    ],
)
def test_a_failure_ends_the_streak(
    before: int, done: list[int], maximal: list[int], after: int
) -> None:
    found = count_streak(jnp.int32(before), jnp.array(done), jnp.array(maximal, bool))
    assert int(found) == after


class Guess(eqx.Module):
    """Repeats the cue that is shown with certainty (gain 50) or its opposite (gain -50)."""

    gain: Any
    value: Any

    def initial(self, batch: int) -> Any:
        return jnp.zeros(batch)

    def step(self, carry: Any, observation: Any, start: Any) -> tuple[Any, Output]:
        """Counts the steps of the episode on the way."""
        one = self.gain * (2 * observation[..., :1] - 1)
        logits = jnp.stack([jnp.zeros_like(one), one], axis=-1)
        value = jnp.broadcast_to(self.value, start.shape)
        return (carry + 1) * (1 - start) + start, Output(logits, value)

    def unroll(self, carry: Any, observations: Any, starts: Any) -> tuple[Any, Output]:
        return carry, self.step(0, observations, starts)[1]


WORLD = CueWorld()
CONFIG = AgentConfig(policy="mlp", environments=2, horizon=4, learning_rate=0.1, discount=0.5)


def new_run(gain: float, value: float = 0.0) -> Run:
    """A run of a policy made by hand."""
    policy = Guess(jnp.asarray(gain), jnp.asarray(value))
    state, observation = WORLD.reset(SHOWN, jax.random.key(1), (2,))
    running, count = Sums(*[jnp.zeros(2)] * 6), jnp.zeros((), jnp.int32)
    environments = Environments(state, observation, jnp.ones(2), jnp.zeros(2), running, count)
    optimiser = make_optimiser(CONFIG).init(policy)
    return Run(policy, optimiser, environments, jax.random.key(2), count, count - 1)


def test_a_rollout_holds_what_happened() -> None:
    act = jax.jit(partial(collect, WORLD, CONFIG, SHOWN))
    after, rollout, finished = act(new_run(-50.0), jax.random.key(3))
    assert rollout.start.tolist() == [[1, 1], [0, 0], [1, 1], [0, 0]]
    assert rollout.done.tolist() == [[0, 0], [1, 1], [0, 0], [1, 1]]
    assert rollout.reward.tolist() == [[0, 0], [-1, -1], [0, 0], [-1, -1]]
    np.testing.assert_array_equal(rollout.action[..., 0], 1 - rollout.observation[..., 0])
    np.testing.assert_allclose(rollout.log_probability, 0.0, atol=1e-6)
    assert after.start.tolist() == [1, 1]
    assert after.carry.tolist() == [2, 2]
    assert after.running.reward.tolist() == [0, 0]
    assert (float(finished.episodes), float(finished.reward)) == (4, -4)
    assert (float(finished.maximal), int(after.streak)) == (0, 0)
    drawn = act(new_run(0.0), jax.random.key(3))[1]
    np.testing.assert_allclose(drawn.log_probability, log(0.5), rtol=1e-5)
    assert 0 < drawn.action.mean() < 1


def test_training_ends_when_the_streak_is_long_enough() -> None:
    """Every update adds four maximal episodes, so that a streak of eight needs two updates."""
    for limit, converged in ((8, [-1, 16, 16]), (9, [-1, -1, 24])):
        run, runs = new_run(50.0), []
        step = jax.jit(partial(update, WORLD, CONFIG, limit, SHOWN))
        for _ in range(3):
            run, finished = step(run)
            runs.append(run)
            assert (float(finished.episodes), float(finished.maximal)) == (4, 4)
        assert [int(one.converged) for one in runs] == converged
        assert [int(one.steps) for one in runs] == [8, 16, 24]
        assert [int(one.environments.streak) for one in runs] == [4, 8, 12]
        values = [float(one.policy.value) for one in runs]
        assert values[0] != values[1]
        # A converged run still acts, and learns nothing more.
        assert (values[1] == values[2]) == (limit == 8)


@pytest.mark.parametrize(
    ("horizon", "value", "norm", "gradient"),
    [
        (4, 0.0, 1e9, -0.375),  # targets 1/2 and 1: the mean gradient of (value - target)^2 / 4
        (4, 0.0, 0.01, -0.01),  # the same, clipped
        (1, 2.0, 1e9, 0.5),  # an unfinished episode: the target is half of the next value
    ],
)
def test_the_first_step_of_a2c(horizon: int, value: float, norm: float, gradient: float) -> None:
    """RMSProp whose averages start at one."""
    config = replace(CONFIG, horizon=horizon, gradient_norm=norm)
    after, _ = jax.jit(partial(update, WORLD, config, 99, SHOWN))(new_run(50.0, value))
    step = 0.1 * gradient / (0.99 + 0.01 * gradient**2 + 1e-5) ** 0.5
    assert float(after.policy.value) == pytest.approx(value - step, rel=1e-4)


@pytest.mark.parametrize("policy", ["mlp", "lstm"])
def test_minibatches_are_shuffled_parts_of_every_pass(
    policy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every row of the batch is used once in each epoch, in a new order.

    The gradient marks the rows of a minibatch, and step number n adds 2^n to them.
    """
    time, environments = 3, 8
    config = AgentConfig("ppo", policy, environments=environments, horizon=time)
    config = replace(config, epochs=2, minibatches=4)
    rows = environments * time if policy == "mlp" else environments

    def mark(marks: Any, _: AgentConfig, carry: Any, batch: Batch) -> Any:
        row = batch.rollout.observation
        if policy == "lstm":
            row = jnp.where((row == carry).all(axis=0), carry, 10**6)  # memory and rows agree
        return marks[row.astype(jnp.int32).reshape(-1)].sum()

    def doubling() -> optax.GradientTransformation:
        def step(gradient: Any, count: Any, _: Any) -> Any:
            return gradient * 2.0**count, count + 1

        return optax.GradientTransformation(lambda _: jnp.zeros(()), step)

    monkeypatch.setattr(actor_critic, "loss", mark)
    monkeypatch.setattr(actor_critic, "make_optimiser", lambda _: doubling())
    numbers = jnp.arange(float(environments))
    observation = jnp.broadcast_to(numbers, (time, environments))
    if policy == "mlp":
        observation = jnp.arange(float(rows)).reshape(time, environments)
    rollout = Rollout(observation, *[observation] * 6)
    carry = () if policy == "mlp" else numbers
    batch = Batch(rollout, observation, observation)
    learner = (jnp.zeros(rows), jnp.zeros(()))
    marks, count = jax.jit(partial(learn, config))(learner, carry, batch, jax.random.key(0))
    assert int(count) == 8
    steps = [[step for step in range(8) if int(mark) >> step & 1] for mark in marks.tolist()]
    first, second = ([pair[epoch] for pair in steps] for epoch in range(2))
    assert all(len(pair) == 2 for pair in steps)
    for order, numbers_of_steps in ((first, range(4)), (second, range(4, 8))):
        assert [order.count(step) for step in numbers_of_steps] == [rows // 4] * 4
        assert order != sorted(order)
    assert [step + 4 for step in first] != second
