"""Blicket machines of any number of objects behind one size of observation and action.

Every episode puts its objects into slots at random; empty slots show nothing and do nothing.
So every slot is trained, whatever the number of objects, and more objects can be met later.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from trivium.agents.worlds import Measures, Step
from trivium.benchmarks.blicket.inference.hypotheses import make_space
from trivium.benchmarks.blicket.world import jax_env
from trivium.benchmarks.blicket.world.dynamics import BlicketSpec


class SlotTables(NamedTuple):
    """The machines, and where their objects lie when every machine is played once."""

    params: jax_env.Params
    arranged: Array  # [machines, objects]


class SlotState(NamedTuple):
    """The machine's state and the slot of each of its objects."""

    inner: Array
    slots: Array


@dataclass(frozen=True)
class SlotWorld:
    """Machines of `objects` objects in `slots` slots."""

    spec: BlicketSpec
    slots: int

    @property
    def observation_size(self) -> int:
        """Slots, detector, quiz flag."""
        return self.slots + 2

    @property
    def action_bits(self) -> int:
        """Slots, and the wish for the quiz."""
        return self.slots + 1

    @property
    def maximum(self) -> float:
        """Every question answered rightly."""
        return float(self.spec.objects)

    @property
    def longest(self) -> int:
        """The most steps with all slots in use, so that all worlds of one size agree."""
        return self.spec.counts + self.slots

    def reset(
        self, tables: SlotTables, key: Array, shape: tuple[int, ...]
    ) -> tuple[SlotState, Array]:
        """Machines drawn from those of the tables, their objects in random slots."""
        machine_key, slot_key = jax.random.split(key)
        inner, _ = jax_env.reset(tables.params, machine_key, shape)
        order = jnp.argsort(jax.random.uniform(slot_key, (*shape, self.slots)), axis=-1)
        seen = jnp.zeros((*shape, self.observation_size))
        return SlotState(inner, order[..., : self.spec.objects]), seen

    def starts(self, tables: SlotTables) -> tuple[SlotState, Array]:
        """Every machine of the tables once, in the slots arranged for it."""
        inner = tables.params.tables.starts
        seen = jnp.zeros((inner.shape[0], self.observation_size))
        return SlotState(inner, tables.arranged), seen

    def step(self, tables: SlotTables, state: SlotState, action: Array, key: Array) -> Step:
        """One lookup; the bits of empty slots are not read."""
        placed = jnp.take_along_axis(action, state.slots, axis=-1)
        bits = jnp.concatenate([placed, action[..., self.slots :]], axis=-1)
        inner, seen, reward, done = jax_env.step(
            tables.params, state.inner, jax_env.action_code(bits), key
        )
        return Step(SlotState(inner, state.slots), self._show(seen, state.slots), reward, done)

    def measure(self, before: Array, step: Step) -> Measures:
        """A test is a step after which no question is asked."""
        none = jnp.zeros(step.reward.shape)
        return Measures(1.0 - step.observation[..., self.slots + 1], none, none)

    def _show(self, seen: Array, slots: Array) -> Array:
        objects = self.spec.objects
        where = jax.nn.one_hot(slots, self.slots)
        shown = jnp.einsum("...os,...o->...s", where, seen[..., :objects])
        return jnp.concatenate([shown, seen[..., objects:]], axis=-1)


def slot_world(objects: int, slots: int, rules: tuple[str, ...]) -> tuple[SlotWorld, SlotTables]:
    """All machines of these rules over so many objects."""
    machines = tuple(map(str, make_space(objects, rules)))
    spec = BlicketSpec(reward_structure="quiz", objects=objects, hypotheses=machines)
    generator = np.random.default_rng([objects, slots, len(machines)])
    arranged = [generator.permutation(slots)[:objects] for _ in machines]
    # The world must not know the machines, or it would be compiled anew for each set of them.
    world = SlotWorld(BlicketSpec(reward_structure="quiz", objects=objects), slots)
    return world, SlotTables(jax_env.make_params(spec), jnp.asarray(np.array(arranged)))
