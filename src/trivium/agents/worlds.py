"""Worlds: the interface between learners and environments, and Blicket-v0 behind it.

A world is a set of pure functions over batches of environments; the machines are in tables, a
pytree of arrays. So tasks of the same shape (other machines, other forced steps) can be trained
in one vmapped call.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import Array

from trivium.agents.config import TaskConfig
from trivium.agents.training import stack
from trivium.benchmarks.blicket.inference.hypotheses import space_of
from trivium.benchmarks.blicket.world import jax_env
from trivium.benchmarks.blicket.world.spec import BlicketSpec

Tables = Any
State = Any
VIEWS = ("as trained", "no forced steps")  # how the greedy policy is evaluated; keys of records


class Step(NamedTuple):
    """The environments' response to actions."""

    state: State
    observation: Array
    reward: Array
    done: Array
    tests: Array  # 1 where the machine was tested and its light seen
    form_asked: Array  # 1 where the action answered the question about the form
    form_right: Array  # 1 where that answer was right


class Setting(NamedTuple):
    """The tables that a run is trained on and those that it is evaluated on."""

    train: Tables
    views: Tables  # with a leading axis: one entry for each view


@dataclass(frozen=True)
class World(ABC):
    """A batch of environments; hashable, so that it can be a static argument of jit."""

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


@dataclass(frozen=True)
class BlicketWorld(World):
    """Blicket-v0 with a quiz; observations are objects, light and quiz flag."""

    spec: BlicketSpec  # its machines are not used: those in the tables are

    def reset(self, tables: Tables, key: Array, shape: tuple[int, ...]) -> tuple[State, Array]:
        return jax_env.reset(tables, key, shape)

    def starts(self, tables: Tables) -> tuple[State, Array]:
        states = tables.starts
        return states, jnp.zeros((*states.shape, self.observation_size))

    def step(self, tables: Tables, state: State, action: Array, key: Array) -> Step:
        spec = self.spec
        response = jax_env.step(tables, state, jax_env.action_code(action), key)
        _, seen, reward, _ = response
        tests = 1.0 - seen[..., -1] if spec.has_quiz else jnp.ones(reward.shape)
        if spec.has_examples:  # a demonstration is not a test
            tests *= 1.0 - seen[..., -3:-1].max(axis=-1)
        form_phase = spec.first_question + spec.asks_objects if spec.asks_type else -1
        asked = (state % spec.phases == form_phase).astype(jnp.float32)
        return Step(*response, tests, asked, asked * (reward > 0))


class InformedTables(NamedTuple):
    """The environment's tables, and those of an ideal observer of its tests."""

    params: Tables
    prior: Array  # [machine]
    lights: Array  # [set placed, machine]: the probability of a light
    task: Array  # the factor of the environment's own reward
    bits: Array  # the reward for one bit of information


class InformedWorld(BlicketWorld):
    """Blicket-v0 in which a test may earn the bits that it tells an ideal observer.

    A state has the observer's posterior over the machines beside it. With noise a test can
    mislead, and then it costs bits.
    """

    def reset(self, tables: Tables, key: Array, shape: tuple[int, ...]) -> tuple[State, Array]:
        return self._begin(tables, *super().reset(tables.params, key, shape))

    def starts(self, tables: Tables) -> tuple[State, Array]:
        return self._begin(tables, *super().starts(tables.params))

    def _begin(self, tables: Tables, state: State, observation: Array) -> tuple[State, Array]:
        shape = (*state.shape, tables.prior.shape[0])
        return (state, jnp.broadcast_to(tables.prior, shape)), observation

    def step(self, tables: Tables, state: State, action: Array, key: Array) -> Step:
        inner, belief = state
        step = super().step(tables.params, inner, action, key)
        objects = self.spec.objects
        light = step.observation[..., objects, None]
        chance = tables.lights[jax_env.action_code(action[..., :objects])]
        joint = belief * (light * chance + (1 - light) * (1 - chance))
        after = jnp.where(
            step.tests[..., None] > 0, joint / joint.sum(axis=-1, keepdims=True), belief
        )
        gained = entropy_bits(belief) - entropy_bits(after)
        reward = tables.task * step.reward + tables.bits * gained
        return step._replace(state=(step.state, after), reward=reward)


def entropy_bits(belief: Array) -> Array:
    """The entropy of probabilities along the last axis; 0 log 0 is 0."""
    return -(belief * jnp.log2(jnp.where(belief > 0, belief, 1.0))).sum(axis=-1)


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
    world = spec_world(spec)
    if task.reward == "task":
        return world
    bits = math.log2(len(task.spaces[0]))
    maximum = bits + (world.maximum if task.reward == "both" else 0.0)
    return InformedWorld(spec.width, spec.action_bits, maximum, world.longest, spec)


def task_setting(task: TaskConfig) -> Setting:
    """Tables to train on, and views of all machines with and without the forced steps.

    Views have the environment's own reward, whatever is trained on.
    """
    universe = task.universe
    spec = task_spec(task)
    whole = replace(spec, hypotheses=universe)
    earned = {"task": (1, 0), "information": (0, 1), "both": (1, 1)}[task.reward]

    def tables(spec: BlicketSpec, weights: tuple[int, int]) -> Tables:
        params = jax_env.make_params(spec, universe)
        if task.reward == "task":
            return params
        drawn = jnp.array([float(name in spec.hypotheses) for name in universe])
        lights = jnp.asarray(space_of(universe, spec.objects).likelihood.T, jnp.float32)
        return InformedTables(params, drawn / drawn.sum(), lights, *map(jnp.float32, weights))

    views = [tables(view, (1, 0)) for view in (whole, replace(whole, quiz_disabled_steps=-1))]
    return Setting(tables(spec, earned), stack(views))
