"""The objectives of A2C and PPO on a batch, as Stable Baselines defines them."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from trivium.agents.configuration import AgentConfig
from trivium.agents.networks import Output


class Batch(NamedTuple):
    """What was collected, as the objectives need it."""

    observation: Array
    start: Array
    action: Array
    log_probability: Array  # of the action when it was taken
    value: Array  # as estimated when the action was taken
    advantage: Array
    target: Array  # what the value should have been


def log_probability(logits: Array, action: Array) -> Array:
    """Of an action of bits."""
    logs = jax.nn.log_softmax(logits)
    chosen = jnp.where(action > 0, logs[..., 1], logs[..., 0])
    return chosen.sum(axis=-1)


def entropy(logits: Array) -> Array:
    """Of the distribution over actions, in nats."""
    logs = jax.nn.log_softmax(logits)
    return -(jnp.exp(logs) * logs).sum(axis=(-2, -1))


def advantages(
    config: AgentConfig, reward: Array, done: Array, value: Array, last_value: Array
) -> Array:
    """Generalised advantage estimates of [time, batch] arrays."""
    going_on = 1.0 - done
    following = jnp.concatenate([value[1:], last_value[None]])
    surprise = reward + config.discount * following * going_on - value

    def back(later: Array, inputs: tuple[Array, Array]) -> tuple[Array, Array]:
        now, goes_on = inputs
        advantage = now + config.discount * config.gae_lambda * goes_on * later
        return advantage, advantage

    start = jnp.zeros_like(last_value)
    _, estimates = jax.lax.scan(back, start, (surprise, going_on), reverse=True, unroll=5)
    return estimates


def a2c_loss(config: AgentConfig, output: Output, batch: Batch) -> Array:
    """Policy gradient, squared error of the value, and an entropy bonus."""
    policy = -(batch.advantage * log_probability(output.logits, batch.action)).mean()
    value = jnp.square(batch.target - output.value).mean()
    bonus = entropy(output.logits).mean()
    return policy + config.value_coefficient * value - config.entropy_coefficient * bonus


def ppo_loss(config: AgentConfig, output: Output, batch: Batch) -> Array:
    """The clipped objective of PPO2, which clips the value as well."""
    spread = jnp.std(batch.advantage) + 1e-8
    advantage = (batch.advantage - batch.advantage.mean()) / spread
    ratio = jnp.exp(log_probability(output.logits, batch.action) - batch.log_probability)
    held = jnp.clip(ratio, 1 - config.clip, 1 + config.clip)
    policy = -jnp.minimum(advantage * ratio, advantage * held).mean()
    moved = batch.value + jnp.clip(output.value - batch.value, -config.clip, config.clip)
    errors = jnp.square(output.value - batch.target), jnp.square(moved - batch.target)
    value = 0.5 * jnp.maximum(*errors).mean()
    bonus = entropy(output.logits).mean()
    return policy + config.value_coefficient * value - config.entropy_coefficient * bonus


LOSSES = {"a2c": a2c_loss, "ppo": ppo_loss}
