"""A minimal world: a cue is shown, and its value is asked for in the next step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from trivium.agents.worlds import Setting, Step, World


class Cues(NamedTuple):
    """The tables of the world."""

    cue: Array
    shown: Array  # whether the question repeats the cue, so that no memory is needed


HIDDEN = Cues(jnp.array([0, 1]), jnp.array(0))
SHOWN = Cues(jnp.array([0, 1]), jnp.array(1))


def setting(tables: Cues) -> Setting:
    """Training and evaluation on the same tables."""
    return Setting(tables, jax.tree.map(lambda leaf: leaf[None], tables))


@dataclass(frozen=True)
class CueWorld(World):
    """Observation: cue, asked."""

    observation_size: int = 2
    action_bits: int = 1
    maximum: float = 1.0
    longest: int = 2

    def reset(self, tables: Cues, key: Array, shape: tuple[int, ...]) -> tuple[Any, Array]:
        drawn = jax.random.randint(key, shape, 0, tables.cue.shape[0])
        return self.starts(tables._replace(cue=tables.cue[drawn]))

    def starts(self, tables: Cues) -> tuple[Any, Array]:
        zeros = jnp.zeros_like(tables.cue)
        return (tables.cue, zeros), jnp.stack([tables.cue, zeros], axis=-1).astype(jnp.float32)

    def step(self, tables: Cues, state: Any, action: Array, key: Array) -> Step:
        cue, time = state
        asked = time == 1
        reward = jnp.where(asked, jnp.where(action[..., 0] == cue, 1.0, -1.0), 0.0)
        question = jnp.stack([cue * tables.shown, jnp.ones_like(cue)], axis=-1)
        none = jnp.zeros(reward.shape)
        seen = question.astype(jnp.float32)
        return Step((cue, time + 1), seen, reward, asked, none, none, none)
