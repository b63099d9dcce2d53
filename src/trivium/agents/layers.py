"""Layers of the networks: dense, layer norm, dropout, a transformer layer, and heads.

Those of equinox take one vector at a time; vmapped over whole sequences, they make a step of the
transformer 15% slower on a CPU.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

NORM_EPSILON = 1e-5
HIDDEN_SCALE = 2**0.5  # of the weights of hidden layers
MASKED = -1e9  # added to the attention scores of masked positions


def orthogonal(key: Array, rows: int, columns: int, scale: float) -> Array:
    """A random matrix with orthonormal rows or columns, times the scale."""
    weights: Array = jax.nn.initializers.orthogonal(scale)(key, (rows, columns))
    return weights


class Linear(eqx.Module):
    """A dense layer with these weights; its bias starts at zero."""

    weight: Array
    bias: Array

    def __init__(self, weight: Array) -> None:
        self.weight, self.bias = weight, jnp.zeros(weight.shape[1])

    def __call__(self, values: Array) -> Array:
        return values @ self.weight + self.bias


def hidden_layers(sizes: Sequence[int], key: Array) -> tuple[Linear, ...]:
    """Dense layers of these sizes, from the inputs on; none for the size of the inputs alone."""
    keys = jax.random.split(key, max(1, len(sizes) - 1))
    shapes = zip(keys, sizes[:-1], sizes[1:], strict=False)
    return tuple(Linear(orthogonal(*shape, HIDDEN_SCALE)) for shape in shapes)


def apply_tanh_layers(layers: tuple[Linear, ...], values: Array) -> Array:
    """The values after each layer and a tanh."""
    for layer in layers:
        values = jnp.tanh(layer(values))
    return values


class Norm(eqx.Module):
    """Layer normalisation: mean 0 and variance 1 along the last axis, then scaled and shifted."""

    scale: Array
    shift: Array

    def __init__(self, width: int) -> None:
        self.scale, self.shift = jnp.ones(width), jnp.zeros(width)

    def __call__(self, values: Array) -> Array:
        centred = values - values.mean(axis=-1, keepdims=True)
        variance = jnp.square(centred).mean(axis=-1, keepdims=True)
        return centred * jax.lax.rsqrt(variance + NORM_EPSILON) * self.scale + self.shift


def dropout(values: Array, rate: float, key: Array | None) -> Array:
    """The values with a random share set to zero and the others scaled up; no key, no dropout."""
    if key is None or rate == 0:
        return values
    # Drawing bits is what dropout costs, and sixteen for each value are enough.
    drawn = jax.random.bits(key, values.shape, jnp.uint16)
    return jnp.where(drawn >= round(rate * 65536), values / (1 - rate), 0.0)


class TransformerLayer(eqx.Module):
    """A pre-norm transformer layer with one attention head."""

    before_attention: Norm
    mix: Linear
    join: Linear
    before_dense: Norm
    widen: Linear
    narrow: Linear

    def __init__(
        self,
        width: int,
        key: Array,
        draw: Callable[[Array, int, int, float], Array],
        scales: tuple[float, float, float, float],
    ) -> None:
        self.before_attention, self.before_dense = Norm(width), Norm(width)
        keys = jax.random.split(key, 4)
        self.mix = Linear(draw(keys[0], width, 3 * width, scales[0]))
        self.join = Linear(draw(keys[1], width, width, scales[1]))
        self.widen = Linear(draw(keys[2], width, 4 * width, scales[2]))
        self.narrow = Linear(draw(keys[3], 4 * width, width, scales[3]))

    def __call__(
        self, values: Array, allowed: Array, rate: float = 0.0, key: Array | None = None
    ) -> Array:
        """The values after attention from `allowed` [row, to, from] positions."""
        keys = [None] * 3 if key is None else list(jax.random.split(key, 3))
        query, keyed, value = jnp.split(self.mix(self.before_attention(values)), 3, axis=-1)
        return self._attend(values, (query, keyed, value), allowed, rate, keys)

    def last(self, values: Array, allowed: Array) -> Array:
        """The value at the last position only, [row, 1, width], which costs far less."""
        width = values.shape[-1]
        before = self.before_attention(values)
        weight, bias = self.mix.weight, self.mix.bias
        query = before[:, -1:] @ weight[:, :width] + bias[:width]
        keyed, value = jnp.split(before @ weight[:, width:] + bias[width:], 2, axis=-1)
        seen = (query, keyed, value)
        return self._attend(values[:, -1:], seen, allowed[:, -1:], 0.0, [None] * 3)

    def _attend(
        self,
        values: Array,
        seen: tuple[Array, Array, Array],
        allowed: Array,
        rate: float,
        keys: Sequence[Array | None],
    ) -> Array:
        query, keyed, value = seen
        scores = jnp.einsum("bqd,bkd->bqk", query, keyed) * values.shape[-1] ** -0.5
        scores = scores + jnp.where(allowed, 0.0, MASKED)
        weights = dropout(jax.nn.softmax(scores, axis=-1), rate, keys[0])
        values = values + dropout(self.join(weights @ value), rate, keys[1])
        dense = jax.nn.gelu(self.widen(self.before_dense(values)))
        return values + dropout(self.narrow(dense), rate, keys[2])


class Output(eqx.Module):
    """Two logits for every bit of the action, and the state's value."""

    logits: Array
    value: Array


class Heads(eqx.Module):
    """Linear layers from features to logits and value."""

    action: Linear
    value: Linear

    def __init__(self, features: int, bits: int, key: Array) -> None:
        first, second = jax.random.split(key)
        self.action = Linear(orthogonal(first, features, 2 * bits, 1.0))
        self.value = Linear(orthogonal(second, features, 1, 1.0))

    def __call__(self, for_action: Array, for_value: Array) -> Output:
        logits = self.action(for_action)
        value = self.value(for_value).squeeze(axis=-1)
        return Output(logits.reshape(*logits.shape[:-1], -1, 2), value)
