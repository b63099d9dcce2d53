"""Worlds: the interface between learners and environments, and Blicket-v0 behind it.

A world is a set of pure functions over batches of environments; the machines are in tables, a
pytree of arrays. So tasks of the same shape (other machines, other forced steps) can be trained
in one vmapped call.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from trivium.agents.config import TaskConfig
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


class Measures(NamedTuple):
    """Counts of one step, which are summed over an episode."""

    tests: Array  # 1 where the machine was tested and its light seen
    form_asked: Array  # 1 where the step answered the question about the form
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

    @abstractmethod
    def measure(self, before: Array, step: Step) -> Measures:
        """The counts of a step; `before` holds the observations before it."""


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
        return Step(*jax_env.step(tables, state, jax_env.action_code(action), key))

    def measure(self, before: Array, step: Step) -> Measures:
        if not self.spec.has_quiz:
            none = jnp.zeros_like(step.reward)
            return Measures(none + 1.0, none, none)
        # The question about the form shows the quiz flag and no object.
        asked = before[..., -1] * (1.0 - before[..., :-2].max(axis=-1))
        right = asked * (step.reward > 0)
        tested = 1.0 - step.observation[..., -1]
        if self.spec.has_examples:  # a demonstration is not a test
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
