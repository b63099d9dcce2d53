"""The environment in JAX: pure functions that can be compiled, batched and scanned.

    params = make_params(BlicketSpec(reward_structure="quiz"))
    state, observation = reset(params, key, (num_envs,))
    state, observation, reward, done, last = step_autoreset(params, state, action, key)

- States and actions are int32 arrays of any shape. One key is used for the whole batch, which is
  much cheaper than a key for each environment; `vmap` works as well.
- The bits of an action are those of the Gymnasium action: bit i places object i (or answers yes to
  object i), bit N enters the quiz. `action_code` packs them.
- After the end `step` changes nothing; `step_autoreset` begins a new episode in the same step and
  returns the step's own observation as a fifth value, for bootstrapping.
- Params of the same universe have the same shape, so those of several training splits can be
  stacked and vmapped: `make_params(replace(spec, hypotheses=train), universe=ALL_ELEVEN)`.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from trivium.benchmarks.blicket.world.dynamics import Tables, make_tables, transition
from trivium.benchmarks.blicket.world.spec import BlicketSpec


def make_params(spec: BlicketSpec, universe: tuple[str, ...] = ()) -> Tables:
    """The tables of a spec as JAX arrays."""
    tables: Tables = jax.tree.map(jnp.asarray, make_tables(spec, universe))
    return tables


def reset(
    params: Tables, key: jax.Array, shape: tuple[int, ...] = ()
) -> tuple[jax.Array, jax.Array]:
    """The states and first observations of new episodes."""
    state, first = _begin(params, jax.random.bits(key, shape, dtype=jnp.uint32))
    return state, observe(params, first)


def step(
    params: Tables, state: jax.Array, action: jax.Array, key: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
    """One step: state, observation, reward, done."""
    word = jax.random.bits(key, state.shape, dtype=jnp.uint32) if _noisy(params) else None
    state, seen, reward, done = _step(params, state, action, word)
    return state, observe(params, seen), reward, done


def step_autoreset(
    params: Tables, state: jax.Array, action: jax.Array, key: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array, jax.Array]:
    """One step, and a new episode if it was the last: state, observation, reward, done, last."""
    words = jax.random.bits(key, (1 + _noisy(params), *state.shape), dtype=jnp.uint32)
    state, seen, reward, done = _step(params, state, action, words[-1])
    fresh, first = _begin(params, words[0])
    state, shown = jnp.where(done, fresh, state), jnp.where(done, first, seen)
    return state, observe(params, shown), reward, done, observe(params, seen)


def observe(params: Tables, seen: jax.Array) -> jax.Array:
    """Observations from their numbers: the bits of each."""
    width = params.observations.shape[-1]
    return (seen[..., None] >> jnp.arange(width, dtype=jnp.uint32) & 1).astype(jnp.float32)


def below(word: jax.Array, bound: jax.Array) -> jax.Array:
    """Random words as integers below a bound of at most 2^16: floor(word * bound / 2^32)."""
    bound = bound.astype(jnp.uint32)
    low = (word & 0xFFFF) * bound >> 16
    return ((word >> 16) * bound + low >> 16).astype(jnp.int32)


def _noisy(params: Tables) -> bool:
    """Whether any machine is noisy; follows from a shape, so it is static under jit."""
    return bool(params.entries.shape[-2] == 2)


def _begin(params: Tables, word: jax.Array) -> tuple[jax.Array, jax.Array]:
    return params.starts[below(word, params.start_count)], jnp.zeros_like(word)


def _step(
    params: Tables, state: jax.Array, action: jax.Array, word: jax.Array | None
) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
    flip = jnp.int32(0)
    if _noisy(params) and word is not None:
        uniform = (word >> 8).astype(jnp.float32) * 2.0**-24
        flip = (uniform < params.noise[state]).astype(jnp.int32)
    return transition(params, state, action, flip)


def action_code(bits: jax.Array) -> jax.Array:
    """The numbers of actions given as bits (last axis)."""
    return (bits.astype(jnp.int32) << jnp.arange(bits.shape[-1])).sum(axis=-1)
