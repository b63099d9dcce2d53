"""Acting in many environments at once, and what is noted on the way."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from trivium.agents.losses import log_probability
from trivium.agents.networks import Carry, Policy
from trivium.agents.worlds import Measures, State, Tables, World


class Sums(NamedTuple):
    """What an episode, or many, added up to."""

    episodes: Array
    reward: Array
    tests: Array
    form_asked: Array
    form_right: Array
    maximal: Array  # episodes with the most reward there is


class Place(NamedTuple):
    """Where a set of environments stands between two rollouts."""

    state: State
    observation: Array
    start: Array  # 1 where an episode begins with this observation
    carry: Carry
    running: Sums  # of the episodes under way, one entry for each environment
    streak: Array  # maximal episodes in a row


class Collected(NamedTuple):
    """A rollout, [time, batch] in every array."""

    observation: Array
    start: Array
    action: Array
    log_probability: Array
    value: Array
    reward: Array
    done: Array


def begin(world: World, policy: Policy, tables: Tables, batch: int, key: Array) -> Place:
    """Fresh environments."""
    state, observation = world.reset(tables, key, (batch,))
    nothing = jnp.zeros(batch)
    return Place(
        state,
        observation,
        jnp.ones(batch),
        policy.initial(batch),
        Sums(*[nothing] * 6),
        jnp.zeros((), jnp.int32),
    )


def collect(
    world: World,
    policy: Policy,
    tables: Tables,
    place: Place,
    *,
    horizon: int,
    key: Array,
    block: int = 1,
) -> tuple[Place, Collected, Sums]:
    """Act for a number of steps; finished episodes are summed up and restarted."""
    batch = place.start.shape[0]
    act_key, step_key, reset_key = jax.random.split(key, 3)
    # Drawn before the scan, new episodes too: one large draw costs far less than many small ones.
    draws = (
        jax.random.uniform(act_key, (horizon, batch, world.action_bits)),
        jax.random.split(step_key, horizon),
        world.reset(tables, reset_key, (horizon, batch)),
    )

    def move(
        carried: tuple[Place, Sums], drawn: tuple[Array, Array, tuple[State, Array]]
    ) -> tuple[tuple[Place, Sums], Collected]:
        place, finished = carried
        uniform, key, fresh = drawn
        carry, output = policy.step(place.carry, place.observation, place.start)
        likely = jax.nn.sigmoid(output.logits[..., 1] - output.logits[..., 0])
        action = (uniform < likely).astype(jnp.int32)
        step = world.step(tables, place.state, action, key)
        running = _add(place.running, world.measure(place.observation, step), step.reward)
        ended = _ended(running, step.done, world.maximum)
        state, observation = _where(step.done, fresh, (step.state, step.observation))
        after = Place(
            state,
            observation,
            step.done.astype(jnp.float32),
            carry,
            Sums(*(jnp.where(step.done, 0.0, part) for part in running)),
            _streak(place.streak, step.done, ended.maximal > 0),
        )
        finished = Sums(*(total + part.sum() for total, part in zip(finished, ended, strict=True)))
        seen = Collected(
            place.observation,
            place.start,
            action,
            log_probability(output.logits, action),
            output.value,
            step.reward,
            step.done.astype(jnp.float32),
        )
        return (after, finished), seen

    nothing = Sums(*[jnp.zeros(())] * 6)
    (place, finished), collected = jax.lax.scan(
        move, (place, nothing), draws, unroll=min(block, horizon)
    )
    return place, collected, finished


def _add(running: Sums, measures: Measures, reward: Array) -> Sums:
    return running._replace(
        reward=running.reward + reward,
        tests=running.tests + measures.tests,
        form_asked=running.form_asked + measures.form_asked,
        form_right=running.form_right + measures.form_right,
    )


def _ended(running: Sums, done: Array, maximum: float) -> Sums:
    """The sums of the episodes that end now; zeros elsewhere."""
    best = (running.reward >= maximum - 1e-4).astype(jnp.float32)
    ended = running._replace(episodes=jnp.ones_like(best), maximal=best)
    return Sums(*(jnp.where(done, part, 0.0) for part in ended))


def _streak(streak: Array, done: Array, maximal: Array) -> Array:
    """Maximal episodes in a row, environments taken in their order."""
    order = jnp.arange(done.shape[0])
    failed = done.astype(bool) & ~maximal
    last_failure = jnp.where(failed, order, -1).max()
    since = (maximal & (order > last_failure)).sum()
    return jnp.where(last_failure >= 0, since, streak + since)


def _where(done: Array, first: Any, second: Any) -> Any:
    def choose(one: Array, other: Array) -> Array:
        return jnp.where(done.reshape(done.shape + (1,) * (one.ndim - 1)), one, other)

    return jax.tree.map(choose, first, second)
