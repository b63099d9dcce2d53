"""The machines of the large space as a world to train in.

The agent places any set of the eight objects, sees the light, and is asked about every object in
turn once it asks for the quiz or after the last test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from studies.blicket_learners.machine_space import CONJUNCTIVE, MAX_TESTS, OBJECTS, PARITY, Machine
from studies.blicket_learners.plan import Labels
from trivium.agents.worlds import State, Step, Tables, World
from trivium.benchmarks.blicket.world.jax_env import below


class MachineTables(NamedTuple):
    """Machines as arrays; only the first `shown` are drawn from, the rest is padding."""

    form: Array
    blickets: Array
    inhibitors: Array
    shown: Array


class MachineState(NamedTuple):
    """The machine with its objects at their places, and how far the episode is."""

    form: Array
    blickets: Array
    inhibitors: Array
    tags: Array
    tests: Array  # made so far
    asked: Array  # 0 while exploring; then 1 + the object asked about


@dataclass(frozen=True)
class MachineWorld(World):
    """Observations: objects placed or asked about, the light, the quiz flag, and any tags."""

    labels: Labels = "fixed"

    def reset(self, tables: Tables, key: Array, shape: tuple[int, ...]) -> tuple[State, Array]:
        machine_key, order_key = jax.random.split(key)
        machine = below(jax.random.bits(machine_key, shape, dtype=jnp.uint32), tables.shown)
        return self._begin(tables, machine, order_key)

    def starts(self, tables: Tables) -> tuple[State, Array]:
        return self._begin(tables, jnp.arange(tables.blickets.shape[0]), jax.random.key(0))

    def _begin(self, tables: Tables, machine: Array, key: Array) -> tuple[State, Array]:
        blickets, inhibitors = tables.blickets[machine], tables.inhibitors[machine]
        tags = jnp.zeros((*machine.shape, 0), jnp.int32)
        if self.labels != "fixed":
            drawn = jnp.argsort(jax.random.uniform(key, (*machine.shape, OBJECTS)), axis=-1)
            if self.labels == "tagged":
                tags = drawn
            else:
                blickets, inhibitors = _move(blickets, drawn), _move(inhibitors, drawn)
        none = jnp.zeros_like(machine)
        state = MachineState(tables.form[machine], blickets, inhibitors, tags, none, none)
        return state, _observe(state, none, none, none)

    def step(self, tables: Tables, state: State, action: Array, key: Array) -> Step:
        placed = _bits(action[..., :OBJECTS])
        exploring = state.asked == 0
        tests = exploring & ~(action[..., OBJECTS] > 0) & (state.tests < MAX_TESTS)
        on = placed & state.blickets
        lit = jnp.where(state.form == CONJUNCTIVE, on == state.blickets, on != 0)
        lit = jnp.where(state.form == PARITY, jax.lax.population_count(on) % 2 == 1, lit)
        light = tests & lit & (placed & state.inhibitors == 0)
        last = jnp.maximum(state.asked - 1, 0)  # the object whose answer this action gives
        right = (placed >> last & 1) == (state.blickets >> last & 1)
        reward = jnp.where(exploring, 0.0, jnp.where(right, 1.0, -1.0))
        done = state.asked == OBJECTS
        asked = jnp.where(tests, 0, state.asked + 1)
        shown = jnp.where(tests, placed, 1 << jnp.minimum(asked - 1, OBJECTS - 1))
        after = state._replace(tests=state.tests + tests, asked=asked)
        flag = (~tests).astype(jnp.int32)
        observation = _observe(after, shown, light.astype(jnp.int32), flag)
        none = jnp.zeros_like(reward)
        return Step(after, observation, reward, done, tests.astype(jnp.float32), none, none)


def _move(mask: Array, places: Array) -> Array:
    """The objects of a set, moved to other places."""
    return _bits(jnp.take_along_axis(_spread(mask), places, axis=-1))


def _spread(mask: Array) -> Array:
    return mask[..., None] >> jnp.arange(OBJECTS) & 1


def _bits(spread: Array) -> Array:
    return (spread.astype(jnp.int32) << jnp.arange(OBJECTS)).sum(axis=-1)


def _observe(state: MachineState, shown: Array, light: Array, flag: Array) -> Array:
    tags = jax.nn.one_hot(state.tags, OBJECTS).reshape(*shown.shape, -1)
    parts = [_spread(shown), light[..., None], flag[..., None], tags]
    return jnp.concatenate([part.astype(jnp.float32) for part in parts], axis=-1)


def machine_world(labels: Labels) -> MachineWorld:
    """The world of the large space."""
    size = OBJECTS + 2 + OBJECTS**2 * (labels == "tagged")
    return MachineWorld(size, OBJECTS + 1, float(OBJECTS), MAX_TESTS + 1 + OBJECTS, labels)


def machine_tables(machines: Sequence[Machine], size: int) -> MachineTables:
    """The tables of these machines, padded to one size so that runs can be stacked."""
    form, blickets, inhibitors = (
        jnp.asarray(np.resize(np.array(column, dtype=np.int32), size))
        for column in zip(*machines, strict=True)
    )
    return MachineTables(form, blickets, inhibitors, jnp.asarray(len(machines), jnp.int32))
