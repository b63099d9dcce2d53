"""Greedy evaluation, exact: every start of a world is played once by the most likely actions."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from trivium.agents.networks import Policy
from trivium.agents.worlds import Tables, World


class Greedy(NamedTuple):
    """What the greedy policy gets from each start of a world."""

    reward: Array
    tests: Array
    bits: Array  # of information about the start, gained by the tests
    form_right: Array  # share of the questions about the form; 0 where none is asked


def greedy(world: World, policy: Policy, tables: Tables) -> Greedy:
    """One episode from every start; a world without chance makes this the exact value.

    Under a deterministic policy two starts are told apart exactly when their tests show
    different things, so the bits gained are those of the class that a start ends up in.
    """
    state, observation = world.starts(tables)
    count = observation.shape[0]
    key = jax.random.key(0)

    def move(carried: tuple[Any, ...], _: None) -> tuple[tuple[Any, ...], tuple[Array, ...]]:
        state, observation, begun, carry, over = carried
        carry, output = policy.step(carry, observation, begun)
        action = (output.logits[..., 1] > output.logits[..., 0]).astype(jnp.int32)
        step = world.step(tables, state, action, key)
        measures = world.measure(observation, step)
        live = 1.0 - over
        tests = measures.tests * live
        noted = (
            step.reward * live,
            tests,
            measures.form_asked * live,
            measures.form_right * live,
            step.observation * tests[:, None],
        )
        over = jnp.maximum(over, step.done.astype(jnp.float32))
        return (step.state, step.observation, jnp.zeros(count), carry, over), noted

    first = (state, observation, jnp.ones(count), policy.initial(count), jnp.zeros(count))
    _, (reward, tests, asked, right, shown) = jax.lax.scan(move, first, length=world.longest)
    alike = (shown[:, :, None] == shown[:, None, :]).all(axis=(0, 3)).sum(axis=1)
    return Greedy(
        reward.sum(axis=0),
        tests.sum(axis=0),
        jnp.log2(count / alike),
        right.sum(axis=0) / jnp.maximum(asked.sum(axis=0), 1.0),
    )
