"""A minimal world: a cue is shown, and its value is asked for in the next step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from trivium.agents.worlds import Measures, Setting, Step, World

CUES = jnp.array([0, 1])
SETTING = Setting(CUES, CUES[None])


@dataclass(frozen=True)
class CueWorld(World):
    """Observation: cue, asked. The question hides the cue, unless it is `shown`."""

    observation_size: int = 2
    action_bits: int = 1
    maximum: float = 1.0
    longest: int = 2
    shown: bool = False  # whether the question repeats the cue, so that no memory is needed

    def reset(self, tables: Array, key: Array, shape: tuple[int, ...]) -> tuple[Any, Array]:
        return self.starts(tables[jax.random.randint(key, shape, 0, tables.shape[0])])

    def starts(self, tables: Array) -> tuple[Any, Array]:
        zeros = jnp.zeros_like(tables)
        return (tables, zeros), jnp.stack([tables, zeros], axis=-1).astype(jnp.float32)

    def step(self, tables: Array, state: Any, action: Array, key: Array) -> Step:
        cue, time = state
        asked = time == 1
        reward = jnp.where(asked, jnp.where(action[..., 0] == cue, 1.0, -1.0), 0.0)
        shown = jnp.where(jnp.array(self.shown), cue, 0)
        observation = jnp.stack([shown, jnp.ones_like(cue)], axis=-1).astype(jnp.float32)
        return Step((cue, time + 1), observation, reward, asked)

    def measure(self, before: Array, step: Step) -> Measures:
        none = jnp.zeros(step.reward.shape)
        return Measures(none, none, none)
