"""The blicket world as learners see it, and the tables of a task."""

from __future__ import annotations

from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
from jax import Array

from trivium.agents.configuration import TaskConfig
from trivium.agents.training import Setting
from trivium.agents.worlds import Measures, Step
from trivium.benchmarks.blicket.inference.hypotheses import DEFAULT_SIX, split
from trivium.benchmarks.blicket.world import jax_env
from trivium.benchmarks.blicket.world.dynamics import TYPE_REWARD, BlicketSpec

VIEWS = ("as trained", "no forced steps")  # the views that greedy evaluation takes


@dataclass(frozen=True)
class BlicketWorld:
    """Blicket-v0 in one of its quiz structures; which machines there are is in the tables."""

    spec: BlicketSpec

    @property
    def observation_size(self) -> int:
        """Objects, detector, quiz flag."""
        return self.spec.width

    @property
    def action_bits(self) -> int:
        """Objects, and the wish for the quiz."""
        return self.spec.action_bits

    @property
    def maximum(self) -> float:
        """Every question answered rightly."""
        return self.spec.asks_objects + TYPE_REWARD * self.spec.asks_type

    @property
    def longest(self) -> int:
        """All exploring that is allowed, and the quiz."""
        return self.spec.counts + self.spec.questions

    def reset(
        self, tables: jax_env.Params, key: Array, shape: tuple[int, ...]
    ) -> tuple[Array, Array]:
        """Machines drawn from those of the tables."""
        return jax_env.reset(tables, key, shape)

    def starts(self, tables: jax_env.Params) -> tuple[Array, Array]:
        """Every machine of the tables once."""
        states = tables.tables.starts
        return states, jnp.zeros((*states.shape, self.observation_size))

    def step(self, tables: jax_env.Params, state: Array, action: Array, key: Array) -> Step:
        """One lookup."""
        return Step(*jax_env.step(tables, state, jax_env.action_code(action), key))

    def measure(self, before: Array, step: Step) -> Measures:
        """A test is a step after which no question is asked."""
        objects = self.spec.objects
        asked = before[..., objects + 1] * (1.0 - before[..., :objects].max(axis=-1))
        right = asked * (step.reward > 0)
        return Measures(1.0 - step.observation[..., objects + 1], asked, right)


def task_spec(task: TaskConfig) -> BlicketSpec:
    """The environment of a task; `forced` exploring steps come before any quiz."""
    return BlicketSpec(
        reward_structure=task.reward_structure,
        quiz_disabled_steps=task.forced - 1,
        hypotheses=tuple(map(str, split(task.split)[0])),
    )


def task_world(task: TaskConfig) -> BlicketWorld:
    """The world of a task: the same for all splits and forced steps, so that they stack."""
    return BlicketWorld(BlicketSpec(reward_structure=task.reward_structure))


def task_setting(task: TaskConfig) -> Setting:
    """Tables to train on, and views of all six machines with and without the forced steps."""
    spec = task_spec(task)
    whole = replace(spec, hypotheses=DEFAULT_SIX)
    views = [whole, replace(whole, quiz_disabled_steps=-1)]
    params = [jax_env.make_params(view, DEFAULT_SIX) for view in views]
    return Setting(
        jax_env.make_params(spec, DEFAULT_SIX),
        jax.tree.map(lambda *leaves: jnp.stack(leaves), *params),
    )
