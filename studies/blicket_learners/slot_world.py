"""Machines of any number of objects behind observations and actions of one size."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from trivium.agents.worlds import BlicketWorld, State, Step, Tables
from trivium.benchmarks.blicket.inference.hypotheses import make_space
from trivium.benchmarks.blicket.world import jax_env
from trivium.benchmarks.blicket.world.spec import BlicketSpec


class SlotTables(NamedTuple):
    """The machines, and the slots of their objects when every machine is played once."""

    params: Tables
    arranged: Array  # [machines, objects]


class SlotState(NamedTuple):
    """The machine's state and the slot of each of its objects."""

    inner: Array
    slots: Array


class SlotWorld(BlicketWorld):
    """Machines of any number of objects behind one size of observation and action.

    Every episode puts its objects into random slots; empty slots show nothing and do nothing.
    So every slot is trained, and the agent can be tested with more objects than it trained on.
    """

    def reset(self, tables: Tables, key: Array, shape: tuple[int, ...]) -> tuple[State, Array]:
        machine_key, slot_key = jax.random.split(key)
        inner, _ = jax_env.reset(tables.params, machine_key, shape)
        slots = self.observation_size - 2
        order = jnp.argsort(jax.random.uniform(slot_key, (*shape, slots)), axis=-1)
        observation = jnp.zeros((*shape, self.observation_size))
        return SlotState(inner, order[..., : self.spec.objects]), observation

    def starts(self, tables: Tables) -> tuple[State, Array]:
        inner, observation = super().starts(tables.params)
        return SlotState(inner, tables.arranged), observation

    def step(self, tables: Tables, state: State, action: Array, key: Array) -> Step:
        objects, slots = self.spec.objects, self.observation_size - 2
        placed = jnp.take_along_axis(action, state.slots, axis=-1)
        bits = jnp.concatenate([placed, action[..., slots:]], axis=-1)
        step = super().step(tables.params, state.inner, bits, key)
        seen = step.observation
        in_slot = jax.nn.one_hot(state.slots, slots)
        shown = jnp.einsum("...os,...o->...s", in_slot, seen[..., :objects])
        observation = jnp.concatenate([shown, seen[..., objects:]], axis=-1)
        after = SlotState(step.state, state.slots)
        return step._replace(state=after, observation=observation)


def slot_world(objects: int, slots: int, rules: tuple[str, ...]) -> tuple[SlotWorld, SlotTables]:
    """The world and tables of all machines of these rules over this number of objects."""
    machines = tuple(map(str, make_space(objects, rules)))
    spec = BlicketSpec(reward_structure="quiz", objects=objects, hypotheses=machines)
    generator = np.random.default_rng([objects, slots, len(machines)])
    arranged = [generator.permutation(slots)[:objects] for _ in machines]
    # The world must not depend on the machines, or it would be compiled anew for each set.
    bare = BlicketSpec(reward_structure="quiz", objects=objects, hypotheses=("disjunctive:A",))
    longest = bare.counts + slots  # the same for every number of objects
    world = SlotWorld(slots + 2, slots + 1, float(objects), longest, bare)
    return world, SlotTables(jax_env.make_params(spec), jnp.asarray(np.array(arranged)))
