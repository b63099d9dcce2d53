"""Random play of the quiz environment as one compiled loop, for CPU and accelerator alike.

An episode of the quiz takes four steps at least, so within four steps an environment begins anew
once at most. A block of four steps therefore takes two random words: 16 bits for the actions,
and a word for the machine that the next episode would have. Needs numpy and jax alone.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.extend
import jax.numpy as jnp

from trivium.benchmarks.blicket.world.dynamics import Tables, transition
from trivium.benchmarks.blicket.world.jax_env import below, make_params
from trivium.benchmarks.blicket.world.spec import BlicketSpec

SPEC = BlicketSpec(reward_structure="quiz")
BLOCK = 4


def quiz_params() -> Tables:
    """The paper's quiz environment, on the default device."""
    return make_params(SPEC)


def play_block(tables: Tables, state: jax.Array, key: jax.Array) -> tuple[jax.Array, list[Any]]:
    """Four steps of every environment: its state, and what each step showed, earned and ended."""
    count = state.shape[0]
    # jax.random.bits would throw half of the generator's words away.
    counters = jnp.arange(2 * count, dtype=jnp.uint32)
    words = jax.extend.random.threefry_2x32(jax.random.key_data(key), counters)
    fresh = tables.starts[below(words[:count], tables.start_count)]
    outputs = []
    for turn in range(BLOCK):
        action = (words[count:] >> 4 * turn & 15).astype(jnp.int32)
        state, seen, reward, done = transition(tables, state, action)
        outputs.append((jnp.where(done, 0, seen), reward, done))
        state = jnp.where(done, fresh, state)
    return state, outputs
