"""A transformer layer, for the history policy and for the decision transformer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from trivium.agents.recurrent import layer_norm

MASKED = -1e9  # added to the score of a place that must not be looked at


class Norm(eqx.Module):
    """Layer normalisation."""

    scale: Array
    shift: Array

    def __init__(self, width: int) -> None:
        self.scale, self.shift = jnp.ones(width), jnp.zeros(width)

    def __call__(self, values: Array) -> Array:
        return layer_norm(values, self.scale, self.shift)


class Layer(eqx.Module):
    """One pre-normalised layer with a single head; its four dense layers are made outside."""

    before_attention: Norm
    mix: Callable[[Array], Array]
    join: Callable[[Array], Array]
    before_dense: Norm
    widen: Callable[[Array], Array]
    narrow: Callable[[Array], Array]

    def __init__(self, width: int, dense: Sequence[Callable[[Array], Array]]) -> None:
        self.before_attention, self.before_dense = Norm(width), Norm(width)
        self.mix, self.join, self.widen, self.narrow = dense

    def __call__(
        self, values: Array, allowed: Array, rate: float = 0.0, key: Array | None = None
    ) -> Array:
        """The values after attending where `allowed` [row, to, from] says so."""
        keys = [None] * 3 if key is None else list(jax.random.split(key, 3))
        query, looked_at, value = jnp.split(self.mix(self.before_attention(values)), 3, axis=-1)
        scores = jnp.einsum("bqd,bkd->bqk", query, looked_at) * values.shape[-1] ** -0.5
        scores = scores + jnp.where(allowed, 0.0, MASKED)
        weights = dropout(jax.nn.softmax(scores, axis=-1), rate, keys[0])
        values = values + dropout(self.join(weights @ value), rate, keys[1])
        dense = jax.nn.gelu(self.widen(self.before_dense(values)))
        return values + dropout(self.narrow(dense), rate, keys[2])


def dropout(values: Array, rate: float, key: Array | None) -> Array:
    """Some values set to zero and the others scaled up; no key, no dropout."""
    if key is None or rate == 0:
        return values
    # Sixteen random bits a value are plenty, and drawing them is what dropout costs.
    drawn = jax.random.bits(key, values.shape, jnp.uint16)
    return jnp.where(drawn >= round(rate * 65536), values / (1 - rate), 0.0)
