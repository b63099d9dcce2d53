"""Whole episodes played by an actor, for datasets and for greedy evaluation."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from trivium.agents.networks import Policy
from trivium.agents.worlds import State, Tables, World
from trivium.benchmarks.blicket.world import jax_env


class Moment(NamedTuple):
    """What an actor sees before it acts."""

    observation: Array  # [batch, observation]
    start: Array  # [batch], 1 at the first step of an episode
    reward: Array  # [batch], of the last action


class Actor(Protocol):
    """A random actor, a policy or a sequence model; a pytree of arrays."""

    def initial(self, batch: int) -> Any: ...

    def act(self, carry: Any, moment: Moment, uniform: Array) -> tuple[Any, Array]:
        """The bits of an action, sampled with `uniform` [batch, bits]; 0.5 is greedy."""
        ...


class RandomActor(eqx.Module):
    """Sets every bit with probability 0.5."""

    def initial(self, batch: int) -> Any:
        return ()

    def act(self, carry: Any, moment: Moment, uniform: Array) -> tuple[Any, Array]:
        return carry, (uniform < 0.5).astype(jnp.int32)


class PolicyActor(eqx.Module):
    """A trained policy."""

    policy: Any

    def initial(self, batch: int) -> Any:
        return self.policy.initial(batch)

    def act(self, carry: Any, moment: Moment, uniform: Array) -> tuple[Any, Array]:
        carry, output = self.policy.step(carry, moment.observation, moment.start)
        # In logits, so that 0.5 decides by their sign however close they are.
        drawn = jnp.log(uniform / (1.0 - uniform))
        return carry, (output.logits[..., 1] - output.logits[..., 0] > drawn).astype(jnp.int32)


class TableActor(eqx.Module):
    """The greedy policy of a table of histories; after a history that it lacks, action 0.

    Histories are numbered from 0, before the first observation, so that a history's number is one
    more than the place of its edge (the previous history's number and the observation).
    """

    edges: Array  # ascending
    actions: Array  # the number of the best action for each history, and 0 for unknown ones
    observation_bits: int = eqx.field(static=True)
    action_bits: int = eqx.field(static=True)

    def initial(self, batch: int) -> Array:
        return jnp.zeros(batch, jnp.int32)

    def act(self, carry: Array, moment: Moment, uniform: Array) -> tuple[Array, Array]:
        edge = carry << self.observation_bits | jax_env.action_code(moment.observation)
        place = jnp.searchsorted(self.edges, edge)
        unknown = self.edges.size + 1
        after = jnp.where(self.edges[place] == edge, place + 1, unknown)
        carry = jnp.where(moment.start > 0, 0, after)
        return carry, self.actions[carry][:, None] >> jnp.arange(self.action_bits) & 1


class Episodes(NamedTuple):
    """Episodes, [episode, time, ...], padded with zeros."""

    observation: Any  # one step more than the others: the last follows the last action
    action: Any
    reward: Any
    live: Any  # 1 while the episode lasts
    tests: Any
    form_asked: Any
    form_right: Any

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of steps of each episode."""
        return np.asarray(np.asarray(self.live).sum(axis=1), dtype=np.int64)


def play(
    world: World,
    tables: Tables,
    actor: Actor,
    begun: tuple[State, Array],
    *,
    uniform: Array,
    key: Array,
) -> Episodes:
    """One episode from each state and first observation; `uniform` is [time, batch, bits]."""
    state, observation = begun
    batch = observation.shape[0]

    def move(carried: tuple[Any, ...], drawn: tuple[Array, Array]) -> tuple[Any, Episodes]:
        state, moment, carry, live, shown = carried
        uniform, key = drawn
        carry, action = actor.act(carry, moment, uniform)
        step = world.step(tables, state, action, key)
        reward = step.reward.astype(jnp.float32) * live
        seen = Episodes(
            moment.observation * shown[:, None],
            action * live[:, None].astype(jnp.int32),
            reward,
            live,
            step.tests * live,
            step.form_asked * live,
            step.form_right * live,
        )
        after = Moment(step.observation, jnp.zeros(batch), reward)
        return (step.state, after, carry, live * (1.0 - step.done), live), seen

    ones = jnp.ones(batch)
    first = Moment(observation, ones, jnp.zeros(batch))
    begin = (state, first, actor.initial(batch), ones, ones)
    keys = jax.random.split(key, uniform.shape[0])
    (_, last, _, _, shown), seen = jax.lax.scan(move, begin, (uniform, keys))
    after = (last.observation * shown[:, None])[None]
    seen = seen._replace(observation=jnp.concatenate([seen.observation, after]))
    episodes: Episodes = jax.tree.map(lambda leaf: leaf.swapaxes(0, 1), seen)
    return episodes


def sample_episodes(
    world: World, tables: Tables, actor: Actor, episodes: int, key: Array
) -> Episodes:
    """Episodes of randomly drawn machines."""
    reset_key, act_key, step_key = jax.random.split(key, 3)
    begun = world.reset(tables, reset_key, (episodes,))
    uniform = jax.random.uniform(act_key, (world.longest, episodes, world.action_bits))
    return play(world, tables, actor, begun, uniform=uniform, key=step_key)


def greedy_episodes(world: World, tables: Tables, actor: Actor) -> Episodes:
    """One episode of every machine, by the most likely actions."""
    begun = world.starts(tables)
    half = jnp.full((world.longest, begun[1].shape[0], world.action_bits), 0.5)
    return play(world, tables, actor, begun, uniform=half, key=jax.random.key(0))


def object_reward(episodes: Episodes) -> Array:
    """The reward of each episode without the question about the form."""
    return jnp.asarray((episodes.reward * (1.0 - episodes.form_asked)).sum(axis=1))


def form_accuracy(episodes: Episodes) -> Array:
    """The share of each episode's questions about the form answered correctly; 0 without any."""
    asked = jnp.maximum(episodes.form_asked.sum(axis=1), 1.0)
    return jnp.asarray(episodes.form_right.sum(axis=1) / asked)


class Greedy(NamedTuple):
    """Results of the greedy policy, one for each start of a world."""

    reward: Array
    tests: Array
    bits: Array  # of information about the machine, gained by the tests
    form_right: Array  # share of the questions about the form; 0 where there is none


def greedy(world: World, policy: Policy, tables: Tables) -> Greedy:
    """The exact results of the greedy policy in a world without noise.

    A deterministic policy distinguishes two starts exactly when their tests show different
    observations, so the bits gained follow from how many starts remain alike.
    """
    played = greedy_episodes(world, tables, PolicyActor(policy))
    shown = played.observation[:, 1:] * played.tests[..., None]  # after each test
    alike = (shown[:, None] == shown[None]).all(axis=(2, 3)).sum(axis=1)
    return Greedy(
        played.reward.sum(axis=1),
        played.tests.sum(axis=1),
        jnp.log2(len(alike) / alike),
        form_accuracy(played),
    )
