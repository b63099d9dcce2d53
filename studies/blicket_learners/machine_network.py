"""A network that treats all objects alike: renaming objects renames its actions, no more."""

from __future__ import annotations

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from studies.blicket_learners.machine_space import OBJECTS
from trivium.agents.layers import Linear, Output, apply_tanh_layers, hidden_layers, orthogonal
from trivium.agents.lstm import Memory, Vectors, cell_step

FEATURES = 3 + OBJECTS  # of an object: placed or asked about, the light, the quiz flag, its number
BLOCK = 8  # steps that are unrolled, fastest on an H200


class EquivariantPolicy(eqx.Module):
    """An LSTM for each object, all with the same weights, that sees the mean of all memories.

    Objects that were treated alike would have equal memories; the random numbers that they show
    in an episode break the tie.
    """

    trunk: tuple[Linear, ...]
    input_weights: Array
    hidden_weights: Array  # from the object's own memory and from the mean of all
    bias: Array
    object_head: Linear
    quiz_head: Linear
    value_head: Linear

    def __init__(self, width: int, key: Array) -> None:
        keys = jax.random.split(key, 6)
        self.trunk = hidden_layers((FEATURES, width), keys[0])
        self.input_weights = orthogonal(keys[1], width, 4 * width, 1.0)
        self.hidden_weights = orthogonal(keys[2], 2 * width, 4 * width, 1.0)
        self.bias = jnp.zeros(4 * width)
        self.object_head = Linear(orthogonal(keys[3], 2 * width, 2, 0.01))
        self.quiz_head = Linear(orthogonal(keys[4], width, 2, 0.01))
        self.value_head = Linear(orthogonal(keys[5], width, 1, 1.0))

    def initial(self, batch: int) -> Memory:
        empty = jnp.zeros((batch, OBJECTS, self.hidden_weights.shape[0] // 2))
        return Memory(empty, empty)

    def step(self, carry: Memory, observation: Array, start: Array) -> tuple[Memory, Output]:
        after, output = self.unroll(carry, observation[None], start[None])
        return after, jax.tree.map(lambda leaf: leaf[0], output)

    def unroll(self, carry: Memory, observations: Array, starts: Array) -> tuple[Memory, Output]:
        shown, common, tags = jnp.split(observations, (OBJECTS, OBJECTS + 2), axis=-1)
        common = jnp.broadcast_to(common[..., None, :], (*shown.shape, 2))
        numbers = tags.reshape(*shown.shape, OBJECTS)
        own = jnp.concatenate([shown[..., None], common, numbers], axis=-1)
        products = apply_tanh_layers(self.trunk, own) @ self.input_weights
        inputs = products, 1.0 - starts[..., None, None]
        move = partial(EquivariantPolicy._move, self)
        after, hidden = jax.lax.scan(move, carry, inputs, unroll=min(BLOCK, starts.shape[0]))
        pooled = hidden.mean(axis=-2)
        objects = self.object_head(_beside_mean(hidden))
        logits = jnp.concatenate([objects, self.quiz_head(pooled)[..., None, :]], axis=-2)
        return after, Output(logits, self.value_head(pooled)[..., 0])

    def _move(self, memory: Memory, now: tuple[Array, Array]) -> tuple[Memory, Array]:
        products, keep = now
        hidden, cell = memory.hidden * keep, memory.cell * keep
        from_hidden = _beside_mean(hidden) @ self.hidden_weights
        after = cell_step(Vectors(self.bias, None), products, from_hidden, cell)
        return after, after.hidden


def _beside_mean(hidden: Array) -> Array:
    """Each object's memory with the mean of all."""
    pooled = jnp.broadcast_to(hidden.mean(axis=-2, keepdims=True), hidden.shape)
    return jnp.concatenate([hidden, pooled], axis=-1)
