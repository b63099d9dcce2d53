"""The environment in JAX: pure functions to be compiled, batched and scanned.

How to train on it:

    params = make_params(BlicketSpec(reward_structure="quiz"))
    state, observation = jax.vmap(reset, (None, 0))(params, keys)
    state, observation, reward, done, last = jax.vmap(step_autoreset, (None, 0, 0, 0))(
        params, state, action, keys)

- One environment at a time; batch with `vmap`, as above, or over params (see below).
- A state is an int32, an action is an int32 whose bits are the bits of the Gymnasium action:
  bit i places object i (or answers yes to object i), bit N asks for the quiz. `action_code`
  packs bits, `action_bits` unpacks. A policy's head has `params.action_bits.shape[-1]` bits.
- `step` stands still after the end; `step_autoreset` begins a new episode in the same step and
  hands out the terminal observation as a fifth value, for bootstrapping.
- A key is needed for noisy machines and for resets alone; without either it costs nothing.
- Params are arrays only. Params of one universe have one shape whichever machines are drawn,
  so training splits can be stacked and vmapped over:

      universe = ALL_ELEVEN
      stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves),
                             *[make_params(replace(spec, hypotheses=train), universe) ...])
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from trivium.blicket.dynamics import BlicketSpec, Tables, make_tables, transition


class Params(NamedTuple):
    """All that the environment's functions need, as arrays."""

    tables: Tables
    action_bits: jax.Array  # int32, [actions, bits]: the bits of every action


def make_params(spec: BlicketSpec, universe: tuple[str, ...] = ()) -> Params:
    """The parameters of a spec; a universe gives all its specs one shape."""
    bits = spec.action_bits if spec.interface == "sets" else 1
    codes = np.arange(spec.actions)[:, None]
    unpacked = codes >> np.arange(bits) & 1 if spec.interface == "sets" else codes
    tables = jax.tree.map(jnp.asarray, make_tables(spec, universe))
    return Params(tables, jnp.asarray(unpacked, dtype=jnp.int32))


def reset(params: Params, key: jax.Array) -> tuple[jax.Array, jax.Array]:
    """A new episode: its state and first observation."""
    tables = params.tables
    drawn = jax.random.randint(key, (), 0, tables.machines)
    return tables.starts[drawn], tables.observations[0]


def step(
    params: Params, state: jax.Array, action: jax.Array, key: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
    """One step: state, observation, reward, done."""
    tables = params.tables
    flip = jnp.int32(0)
    if tables.entries.shape[-2] == 2:  # known when compiling: clear machines draw nothing
        flip = (jax.random.uniform(key) < tables.noise[state]).astype(jnp.int32)
    state, seen, reward, done = transition(tables, state, action, flip)
    return state, tables.observations[seen], reward, done


def step_autoreset(
    params: Params, state: jax.Array, action: jax.Array, key: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array, jax.Array]:
    """One step and, where it was the last, a new episode; fifth is the step's own observation."""
    step_key, reset_key = jax.random.split(key)
    state, last, reward, done = step(params, state, action, step_key)
    fresh, first = reset(params, reset_key)
    return jnp.where(done, fresh, state), jnp.where(done, first, last), reward, done, last


def action_code(bits: jax.Array) -> jax.Array:
    """Actions given as bits (last axis), as numbers."""
    return (bits.astype(jnp.int32) << jnp.arange(bits.shape[-1])).sum(axis=-1)


def action_bits(params: Params, action: jax.Array) -> jax.Array:
    """Actions given as numbers, as bits."""
    return params.action_bits[action]
