"""The environment in JAX: pure functions to be compiled, batched and scanned.

How to train on it:

    params = make_params(BlicketSpec(reward_structure="quiz"))
    state, observation = reset(params, key, (num_envs,))
    state, observation, reward, done, last = step_autoreset(params, state, action, key)

- A state is an int32 and so is an action; both may be arrays of any shape, and then one key
  serves the whole batch, which is much cheaper than a key for each. `vmap` works as well.
- The bits of an action are the bits of the Gymnasium action: bit i places object i (or answers
  yes to object i), bit N asks for the quiz. `action_code` packs bits, `action_bits` unpacks;
  a policy's head has `params.action_bits.shape[-1]` bits.
- `step` stands still after the end; `step_autoreset` begins a new episode in the same step and
  hands out the step's own observation as a fifth value, for bootstrapping.
- Params are arrays only. Params of one universe have one shape whichever machines are drawn,
  so training splits can be stacked and vmapped over:

      universe = ALL_ELEVEN
      stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves),
                             *[make_params(replace(spec, hypotheses=train), universe) ...])

- `machine(spec, state)` numbers the hypothesis of a state, for analysis.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from trivium.benchmarks.blicket.world.dynamics import BlicketSpec, Tables, make_tables, transition


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


def reset(
    params: Params, key: jax.Array, shape: tuple[int, ...] = ()
) -> tuple[jax.Array, jax.Array]:
    """New episodes: their states and first observations."""
    state, first = _begin(params, jax.random.bits(key, shape, dtype=jnp.uint32))
    return state, observe(params, first)


def step(
    params: Params, state: jax.Array, action: jax.Array, key: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
    """One step: state, observation, reward, done."""
    word = jax.random.bits(key, state.shape, dtype=jnp.uint32) if _noisy(params) else None
    state, seen, reward, done = _step(params, state, action, word)
    return state, observe(params, seen), reward, done


def step_autoreset(
    params: Params, state: jax.Array, action: jax.Array, key: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array, jax.Array]:
    """One step and, where it was the last, a new episode; fifth is the step's own observation."""
    words = jax.random.bits(key, (1 + _noisy(params), *state.shape), dtype=jnp.uint32)
    state, seen, reward, done = _step(params, state, action, words[-1])
    fresh, first = _begin(params, words[0])
    state, shown = jnp.where(done, fresh, state), jnp.where(done, first, seen)
    return state, observe(params, shown), reward, done, observe(params, seen)


def observe(params: Params, seen: jax.Array) -> jax.Array:
    """Observations from their numbers, whose bits they are."""
    width = params.tables.observations.shape[-1]
    return (seen[..., None] >> jnp.arange(width, dtype=jnp.uint32) & 1).astype(jnp.float32)


def machine(spec: BlicketSpec, state: jax.Array) -> jax.Array:
    """The number of a state's hypothesis in the universe (or the spec); one more when over."""
    return state // spec.phases


def below(word: jax.Array, bound: jax.Array) -> jax.Array:
    """Random words as whole numbers below a bound of at most 2^16: floor(word * bound / 2^32)."""
    bound = bound.astype(jnp.uint32)
    low = (word & 0xFFFF) * bound >> 16
    return ((word >> 16) * bound + low >> 16).astype(jnp.int32)


def _noisy(params: Params) -> bool:
    """Whether some machine is noisy: a shape, so known when compiling; others draw nothing."""
    return bool(params.tables.entries.shape[-2] == 2)


def _begin(params: Params, word: jax.Array) -> tuple[jax.Array, jax.Array]:
    tables = params.tables
    return tables.starts[below(word, tables.machines)], jnp.zeros_like(word)


def _step(
    params: Params, state: jax.Array, action: jax.Array, word: jax.Array | None
) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
    tables = params.tables
    flip = jnp.int32(0)
    if _noisy(params) and word is not None:
        uniform = (word >> 8).astype(jnp.float32) * 2.0**-24
        flip = (uniform < tables.noise[state]).astype(jnp.int32)
    return transition(tables, state, action, flip)


def action_code(bits: jax.Array) -> jax.Array:
    """Actions given as bits (last axis), as numbers."""
    return (bits.astype(jnp.int32) << jnp.arange(bits.shape[-1])).sum(axis=-1)


def action_bits(params: Params, action: jax.Array) -> jax.Array:
    """Actions given as numbers, as bits."""
    return params.action_bits[action]
