"""A training run: a pure function of a config and a key, compiled in segments.

A run is all arrays, so many runs (seeds, splits, forced steps) are one vmapped run. A
segment is the way from one point of the learning curve to the next; between segments there
is time for progress, checkpoints and an early end, and none of it changes the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax import Array

from trivium.agents.configuration import AgentConfig, LengthConfig
from trivium.agents.evaluation import Greedy, greedy
from trivium.agents.losses import LOSSES, Batch, advantages
from trivium.agents.networks import (
    HistoryPolicy,
    MemorylessPolicy,
    Policy,
    RecurrentPolicy,
)
from trivium.agents.recurrent import IN_A_ROW, Layout
from trivium.agents.rollout import Collected, Place, Sums, begin, collect
from trivium.agents.worlds import Tables, World

RMS_DECAY = 0.99
EPSILON = 1e-5  # of both optimisers, as in Stable Baselines
BLOCK, PIECE, FEW = 8, 16, 16  # found by trying on an H200


class Run(NamedTuple):
    """Everything that a training run is at one moment; the policy is a pytree of arrays."""

    policy: Any
    optimiser: Any
    place: Place
    key: Array
    steps: Array  # environment steps so far
    converged: Array  # the step at which training ended early, -1 before


class Setting(NamedTuple):
    """The tables that a run trains on, and those that it is looked at with."""

    train: Tables
    views: Tables  # with a leading axis: one entry for each view


class Point(NamedTuple):
    """One point of the learning curve."""

    steps: Array
    training: Sums  # of the episodes that ended since the last point
    greedy: Greedy  # [views, starts] in every array
    streak: Array
    converged: Array


def layout(config: AgentConfig, world: World) -> Layout:
    """How sequences lie on the device at hand: a matter of speed alone.

    An accelerator waits for its next instruction, so larger blocks and, with few
    environments, pieces side by side pay there; a CPU waits for arithmetic.
    """
    if jax.default_backend() == "cpu":
        return IN_A_ROW
    return Layout(BLOCK, PIECE if config.environments <= FEW else 0, world.longest)


def make_policy(config: AgentConfig, world: World, key: Array) -> Any:
    """A fresh network."""
    shape = (world.observation_size, world.action_bits, config.width, key)
    if config.policy == "mlp":
        return MemorylessPolicy(*shape)
    if config.policy == "transformer":
        return HistoryPolicy(*shape, window=world.longest + 1)
    return RecurrentPolicy(
        *shape,
        normalised=config.policy == "lnlstm",
        trunk=config.trunk,
        layout=layout(config, world),
    )


def make_optimiser(config: AgentConfig) -> optax.GradientTransformation:
    """RMSProp for A2C and Adam for PPO, after clipping the gradient's norm."""
    if config.algorithm == "a2c":
        rule = optax.rmsprop(config.learning_rate, RMS_DECAY, EPSILON, initial_scale=1.0)
    else:
        rule = optax.adam(config.learning_rate, eps=EPSILON)
    return optax.chain(optax.clip_by_global_norm(config.gradient_norm), rule)


@partial(jax.jit, static_argnums=(0, 1))
def start(world: World, config: AgentConfig, setting: Setting, key: Array) -> Run:
    """A run before its first step."""
    policy_key, world_key, key = jax.random.split(key, 3)
    policy = make_policy(config, world, policy_key)
    place = begin(world, policy, setting.train, config.environments, world_key)
    count = jnp.zeros((), jnp.int32)
    return Run(policy, make_optimiser(config).init(policy), place, key, count, count - 1)


def start_all(
    world: World, config: AgentConfig, settings: Sequence[Setting], keys: Sequence[Array]
) -> tuple[Run, Setting]:
    """One run for each setting and key, stacked.

    Made one by one: orthogonal matrices of several runs in one vmapped call can hang on a CPU.
    """
    runs = [start(world, config, setting, key) for setting, key in zip(settings, keys, strict=True)]
    return stack(runs), stack(settings)


def stack(trees: Sequence[Any]) -> Any:
    """Pytrees of one shape as one pytree with a leading axis."""
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)


def pick(tree: Any, index: int) -> Any:
    """One entry of a stacked pytree."""
    return jax.tree.map(lambda leaf: leaf[index], tree)


@partial(jax.jit, static_argnums=(0, 1, 2))
def segment_all(
    world: World, config: AgentConfig, length: LengthConfig, runs: Run, settings: Setting
) -> tuple[Run, Point]:
    """Every run taken to its next point of the curve; those given stay as they are."""
    return jax.vmap(partial(segment, world, config, length))(runs, settings)


def segment(
    world: World, config: AgentConfig, length: LengthConfig, run: Run, setting: Setting
) -> tuple[Run, Point]:
    """One run taken to its next point of the curve."""

    def body(run: Run, _: None) -> tuple[Run, Sums]:
        return update(world, config, length.streak, setting.train, run)

    run, sums = jax.lax.scan(body, run, length=length.updates(config.batch))
    totals = Sums(*(part.sum() for part in sums))
    looks = jax.vmap(partial(greedy, world, run.policy))(setting.views)
    return run, Point(run.steps, totals, looks, run.place.streak, run.converged)


def update(
    world: World, config: AgentConfig, streak: int, tables: Tables, run: Run
) -> tuple[Run, Sums]:
    """Act, then learn from it; a run that has converged goes on acting and learns no more."""
    collect_key, learn_key, key = jax.random.split(run.key, 3)
    place, collected, sums = collect(
        world,
        run.policy,
        tables,
        run.place,
        horizon=config.horizon,
        key=collect_key,
        block=layout(config, world).block,
    )
    _, last = run.policy.step(place.carry, place.observation, place.start)
    batch = prepare(config, collected, last.value)
    policy, optimiser = learn(
        config, (run.policy, run.optimiser), run.place.carry, batch, learn_key
    )
    steps = run.steps + config.batch
    going_on = run.converged < 0
    policy, optimiser = jax.tree.map(
        lambda new, old: jnp.where(going_on, new, old),
        (policy, optimiser),
        (run.policy, run.optimiser),
    )
    converged = jnp.where(going_on & (place.streak >= streak), steps, run.converged)
    return Run(policy, optimiser, place, key, steps, converged), sums


def prepare(config: AgentConfig, collected: Collected, last_value: Array) -> Batch:
    """A rollout with its advantages and targets."""
    advantage = advantages(config, collected.reward, collected.done, collected.value, last_value)
    return Batch(
        collected.observation,
        collected.start,
        collected.action,
        collected.log_probability,
        collected.value,
        advantage,
        advantage + collected.value,
    )


def objective(policy: Policy, config: AgentConfig, carry: Any, batch: Batch) -> Array:
    """The loss of a policy on a batch that began with this memory."""
    _, output = policy.unroll(carry, batch.observation, batch.start)
    return LOSSES[config.algorithm](config, output, batch)


def learn(
    config: AgentConfig, learner: tuple[Any, Any], carry: Any, batch: Batch, key: Array
) -> tuple[Any, Any]:
    """All updates of policy and optimiser that one rollout is used for."""
    rule = make_optimiser(config)

    def improve(state: tuple[Any, Any], part: tuple[Any, Batch]) -> tuple[tuple[Any, Any], None]:
        policy, optimiser = state
        gradient = jax.grad(objective)(policy, config, *part)
        change, optimiser = rule.update(gradient, optimiser, policy)
        return (optax.apply_updates(policy, change), optimiser), None

    if config.epochs == config.minibatches == 1:
        return improve(learner, (carry, batch))[0]
    if config.policy == "mlp":
        # Without memory every step stands alone: minibatches are drawn from all of them.
        batch = jax.tree.map(lambda leaf: leaf.reshape(1, -1, *leaf.shape[2:]), batch)
    count = batch.value.shape[1]

    def epoch(state: tuple[Any, Any], key: Array) -> tuple[tuple[Any, Any], None]:
        order = jax.random.permutation(key, count).reshape(config.minibatches, -1)

        def minibatch(state: tuple[Any, Any], chosen: Array) -> tuple[tuple[Any, Any], None]:
            part = jax.tree.map(lambda leaf: leaf[:, chosen], batch)
            return improve(state, (jax.tree.map(lambda leaf: leaf[chosen], carry), part))

        return jax.lax.scan(minibatch, state, order)

    keys = jax.random.split(key, config.epochs)
    return jax.lax.scan(epoch, learner, keys)[0]
