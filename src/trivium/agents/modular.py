"""A modular policy: recurrent independent mechanisms (Goyal et al., 2019).

The memory is divided into groups of LSTM units with weights of their own. At every step the groups
compete for the input: each has a query from its memory, and only the groups whose queries match
the input best are active. They update their memory; the others keep theirs. Then the active groups
read from all groups by attention, the only way in which groups communicate.
"""

from __future__ import annotations

import math
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from trivium.agents.config import AgentConfig
from trivium.agents.layers import (
    Heads,
    Linear,
    Output,
    apply_tanh_layers,
    hidden_layers,
    orthogonal,
)
from trivium.agents.lstm import Layout, Memory, Vectors, cell_step, sequence_layout
from trivium.agents.worlds import World

KEYS = 16  # the size of queries and keys


class ModularPolicy(eqx.Module):
    """Tanh layers, then groups of LSTM units of which some are active, then linear heads."""

    trunk: tuple[Linear, ...]
    input_key: Array  # [features, KEYS]
    input_query: Array  # [group, units, KEYS]
    query_bias: Array  # [group, KEYS]: what a group looks for when its memory is empty
    input_weights: Array  # [group, features, 4 * units]
    hidden_weights: Array  # [group, units, 4 * units]
    bias: Array  # [group, 4 * units]
    read: Array  # [group, units, 2 * KEYS + units]: a group's query, key and value for the others
    heads: Heads
    active: int = eqx.field(static=True)
    layout: Layout = eqx.field(static=True)

    def __init__(self, config: AgentConfig, world: World, key: Array) -> None:
        keys = jax.random.split(key, 8)
        count, self.active = config.groups, config.active
        sizes, units = (world.observation_size, *config.trunk), config.width // count
        self.trunk = hidden_layers(sizes, keys[0])
        self.input_key = orthogonal(keys[1], sizes[-1], KEYS, 1.0)
        self.input_query = _grouped(keys[2], count, units, KEYS)
        self.query_bias = jax.random.normal(keys[3], (count, KEYS))
        self.input_weights = _grouped(keys[4], count, sizes[-1], 4 * units)
        self.hidden_weights = _grouped(keys[5], count, units, 4 * units)
        self.bias = jnp.zeros((count, 4 * units))
        self.read = _grouped(keys[6], count, units, 2 * KEYS + units)
        self.heads = Heads(config.width, world.action_bits, keys[7])
        self.layout = sequence_layout(config, world)

    def initial(self, batch: int) -> Memory:
        groups, units, _ = self.hidden_weights.shape
        empty = jnp.zeros((batch, groups, units))
        return Memory(empty, empty)

    def step(self, carry: Memory, observation: Array, start: Array) -> tuple[Memory, Output]:
        after, output = self.unroll(carry, observation[None], start[None])
        return after, jax.tree.map(lambda leaf: leaf[0], output)

    def unroll(self, carry: Memory, observations: Array, starts: Array) -> tuple[Memory, Output]:
        features = apply_tanh_layers(self.trunk, observations)
        products = jnp.einsum("tbf,gfu->tbgu", features, self.input_weights)
        inputs = (features @ self.input_key, products, 1.0 - starts[..., None, None])
        block = min(self.layout.block, starts.shape[0])
        # A bound method would be hashed, which arrays cannot be.
        move = partial(ModularPolicy._move, self)
        after, hidden = jax.lax.scan(move, carry, inputs, unroll=block)
        together = hidden.reshape(*starts.shape, -1)
        return after, self.heads(together, together)

    def _move(self, memory: Memory, now: tuple[Array, Array, Array]) -> tuple[Memory, Array]:
        """The memory after one step, and what all groups show."""
        input_key, products, keep = now
        hidden, cell = memory.hidden * keep, memory.cell * keep
        query = jnp.einsum("bgu,guk->bgk", hidden, self.input_query) + self.query_bias
        score = jnp.einsum("bgk,bk->bg", query, input_key) * KEYS**-0.5
        chosen = largest(score, self.active)[..., None]
        # Attention between the input and an empty input, whose score and value are zero.
        from_input = jax.nn.sigmoid(score)[..., None] * products
        from_hidden = jnp.einsum("bgu,guv->bgv", hidden, self.hidden_weights)
        new = cell_step(Vectors(self.bias, None), from_input, from_hidden, cell)
        hidden, cell = jnp.where(chosen, new.hidden, hidden), jnp.where(chosen, new.cell, cell)
        parts = jnp.einsum("bgu,guv->bgv", hidden, self.read)
        asks, offers, values = jnp.split(parts, (KEYS, 2 * KEYS), axis=-1)
        weights = jax.nn.softmax(jnp.einsum("bgk,bok->bgo", asks, offers) * KEYS**-0.5)
        hidden = hidden + jnp.where(chosen, jnp.tanh(weights @ values), 0.0)
        return Memory(hidden, cell), hidden


def largest(scores: Array, count: int) -> Array:
    """Whether each score is among the `count` largest on the last axis; the first win ties."""
    number = jnp.arange(scores.shape[-1])
    other, score = scores[..., None, :], scores[..., :, None]
    ahead = (other > score) | ((other == score) & (number < number[:, None]))
    return jnp.sum(ahead, axis=-1) < count


def _grouped(key: Array, groups: int, rows: int, columns: int) -> Array:
    """Random weights for each group, which keep the variance of their inputs.

    Orthogonal ones of so many groups would take minutes to compile.
    """
    return jax.random.normal(key, (groups, rows, columns)) * math.pow(rows, -0.5)
