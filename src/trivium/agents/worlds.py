"""Worlds: what a learner needs of an environment, Blicket-v0, and machines of any size in slots.

A world is a set of pure functions over batches of environments; which machines there are is
given by tables, a pytree of arrays. Worlds of one shape (other machines, other forced steps)
can so be trained in one vmapped call.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from trivium.agents.config import TaskConfig
from trivium.benchmarks.blicket.inference.hypotheses import make_space
from trivium.benchmarks.blicket.world import jax_env
from trivium.benchmarks.blicket.world.dynamics import BlicketSpec

Tables = Any
State = Any
VIEWS = ("as trained", "no forced steps")  # how the greedy policy is evaluated; keys of records


class Step(NamedTuple):
    """The environments' response to actions."""

    state: State
    observation: Array
    reward: Array
    done: Array


class Measures(NamedTuple):
    """What happened in one step, as numbers that are summed over an episode."""

    tests: Array  # 1 where the machine was tested and its light seen
    form_asked: Array  # 1 where the step answered the question about the form
    form_right: Array  # 1 where that answer was right


class Setting(NamedTuple):
    """The tables that a run trains on, and those that it is evaluated on."""

    train: Tables
    views: Tables  # with a leading axis: one entry for each view


@dataclass(frozen=True)
class World(ABC):
    """Many environments side by side; hashable, so that it can be static when compiling."""

    observation_size: int
    action_bits: int
    maximum: float  # the largest reward of an episode
    longest: int  # the largest number of steps of an episode

    @abstractmethod
    def reset(self, tables: Tables, key: Array, shape: tuple[int, ...]) -> tuple[State, Array]:
        """The states and first observations of random new episodes."""

    @abstractmethod
    def starts(self, tables: Tables) -> tuple[State, Array]:
        """The states and first observations of every possible episode."""

    @abstractmethod
    def step(self, tables: Tables, state: State, action: Array, key: Array) -> Step:
        """The response to actions [batch, bits]; finished episodes are not restarted."""

    @abstractmethod
    def measure(self, before: Array, step: Step) -> Measures:
        """What happened between the observations before the step and those after it."""


@dataclass(frozen=True)
class BlicketWorld(World):
    """Blicket-v0 with a quiz; observations are objects, light and quiz flag."""

    spec: BlicketSpec  # which machines there are is in the tables, so that tasks can be stacked

    def reset(self, tables: Tables, key: Array, shape: tuple[int, ...]) -> tuple[State, Array]:
        return jax_env.reset(tables, key, shape)

    def starts(self, tables: Tables) -> tuple[State, Array]:
        states = tables.starts
        return states, jnp.zeros((*states.shape, self.observation_size))

    def step(self, tables: Tables, state: State, action: Array, key: Array) -> Step:
        return Step(*jax_env.step(tables, state, jax_env.action_code(action), key))

    def measure(self, before: Array, step: Step) -> Measures:
        if not self.spec.has_quiz:
            none = jnp.zeros_like(step.reward)
            return Measures(none + 1.0, none, none)
        # The question about the form shows the quiz flag and no object.
        asked = before[..., -1] * (1.0 - before[..., :-2].max(axis=-1))
        right = asked * (step.reward > 0)
        tested = 1.0 - step.observation[..., -1]
        if self.spec.has_examples:  # what is seen of an example machine is no test
            tested *= 1.0 - step.observation[..., -3:-1].max(axis=-1)
        return Measures(tested, asked, right)


def task_spec(task: TaskConfig) -> BlicketSpec:
    """The environment of a task."""
    return BlicketSpec(
        reward_structure=task.reward_structure,
        quiz_disabled_steps=task.forced - 1,
        hypotheses=tuple(map(str, task.spaces[0])),
        objects=task.objects,
        add_step_reward_penalty=task.step_penalty > 0,
        step_reward_penalty=task.step_penalty or 0.01,
        demonstrations=task.demonstrations,
    )


def spec_world(spec: BlicketSpec) -> BlicketWorld:
    """The world of an environment."""
    longest = spec.shown + spec.counts + spec.questions
    return BlicketWorld(spec.width, spec.action_bits, spec.maximum, longest, spec)


def task_world(task: TaskConfig) -> BlicketWorld:
    """The world of a task, the same for all splits and forced steps."""
    spec = replace(task_spec(task), quiz_disabled_steps=-1, hypotheses=task.universe)
    return spec_world(spec)


def task_setting(task: TaskConfig) -> Setting:
    """Tables to train on, and views of all machines with and without the forced steps."""
    spec, universe = task_spec(task), task.universe
    whole = replace(spec, hypotheses=universe)
    views = [whole, replace(whole, quiz_disabled_steps=-1)]
    params = [jax_env.make_params(view, universe) for view in views]
    return Setting(
        jax_env.make_params(spec, universe),
        jax.tree.map(lambda *leaves: jnp.stack(leaves), *params),
    )


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
        inner, seen, reward, done = super().step(tables.params, state.inner, bits, key)
        in_slot = jax.nn.one_hot(state.slots, slots)
        shown = jnp.einsum("...os,...o->...s", in_slot, seen[..., :objects])
        observation = jnp.concatenate([shown, seen[..., objects:]], axis=-1)
        return Step(SlotState(inner, state.slots), observation, reward, done)


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
