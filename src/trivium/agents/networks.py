"""Policies with a value head: memoryless, recurrent, and attending to the history.

All share one shape of use: `step` for one moment of many environments, `unroll` for whole
sequences; `starts` says before which moments an episode began, and memory ends there. Logits
are [..., bits, 2], as Stable Baselines lays out a MultiDiscrete action.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from trivium.agents.attention import Layer
from trivium.agents.recurrent import (
    IN_A_ROW,
    Layout,
    Memory,
    Moments,
    Norms,
    Small,
    cell_step,
    unroll_laid_out,
)

Carry = Any
TRUNK_SCALE = 2**0.5


class Output(eqx.Module):
    """What a policy says: two logits for every bit of the action, and the state's value."""

    logits: Array
    value: Array


class Policy(Protocol):
    """All that training knows of a network."""

    def initial(self, batch: int) -> Carry: ...

    def step(self, carry: Carry, observation: Array, start: Array) -> tuple[Carry, Output]: ...

    def unroll(self, carry: Carry, observations: Array, starts: Array) -> tuple[Carry, Output]: ...


class Linear(eqx.Module):
    """A dense layer with orthogonal weights."""

    weight: Array
    bias: Array

    def __init__(self, inputs: int, outputs: int, scale: float, key: Array) -> None:
        self.weight = orthogonal(key, inputs, outputs, scale)
        self.bias = jnp.zeros(outputs)

    def __call__(self, values: Array) -> Array:
        return values @ self.weight + self.bias


def orthogonal(key: Array, rows: int, columns: int, scale: float) -> Array:
    """A random matrix with orthonormal rows or columns, times the scale."""
    tall = jax.random.normal(key, (max(rows, columns), min(rows, columns)))
    basis, triangle = jnp.linalg.qr(tall)
    basis = basis * jnp.sign(jnp.diagonal(triangle))
    return scale * (basis if rows >= columns else basis.T)


class Heads(eqx.Module):
    """From features to logits and value."""

    action: Linear
    value: Linear

    def __init__(self, features: int, bits: int, key: Array) -> None:
        first, second = jax.random.split(key)
        self.action = Linear(features, 2 * bits, 1.0, first)
        self.value = Linear(features, 1, 1.0, second)

    def __call__(self, for_action: Array, for_value: Array) -> Output:
        logits = self.action(for_action)
        return Output(
            logits.reshape(*logits.shape[:-1], -1, 2), self.value(for_value).squeeze(axis=-1)
        )


def _layers(sizes: Sequence[int], key: Array) -> tuple[Linear, ...]:
    keys = jax.random.split(key, max(1, len(sizes) - 1))
    pairs = zip(sizes[:-1], sizes[1:], keys, strict=False)
    return tuple(Linear(inputs, outputs, TRUNK_SCALE, key) for inputs, outputs, key in pairs)


def _through(layers: tuple[Linear, ...], values: Array) -> Array:
    for layer in layers:
        values = jnp.tanh(layer(values))
    return values


class MemorylessPolicy(eqx.Module):
    """Two tanh layers each for the action and the value; sees the present observation alone."""

    action_layers: tuple[Linear, ...]
    value_layers: tuple[Linear, ...]
    heads: Heads

    def __init__(self, observation: int, bits: int, width: int, key: Array) -> None:
        keys = jax.random.split(key, 3)
        self.action_layers = _layers((observation, width, width), keys[0])
        self.value_layers = _layers((observation, width, width), keys[1])
        self.heads = Heads(width, bits, keys[2])

    def initial(self, batch: int) -> Carry:
        """Nothing is carried."""
        return ()

    def step(self, carry: Carry, observation: Array, start: Array) -> tuple[Carry, Output]:
        """The output at one moment."""
        for_action = _through(self.action_layers, observation)
        return carry, self.heads(for_action, _through(self.value_layers, observation))

    def unroll(self, carry: Carry, observations: Array, starts: Array) -> tuple[Carry, Output]:
        """The outputs of a sequence."""
        return self.step(carry, observations, starts)


class RecurrentPolicy(eqx.Module):
    """Tanh layers, then an LSTM (layer-normalised or not), then linear heads."""

    trunk: tuple[Linear, ...]
    input_weights: Array
    hidden_weights: Array
    small: Small
    heads: Heads
    layout: Layout = eqx.field(static=True)

    def __init__(
        self,
        observation: int,
        bits: int,
        width: int,
        key: Array,
        *,
        normalised: bool = False,
        trunk: Sequence[int] = (64, 64),
        layout: Layout = IN_A_ROW,
    ) -> None:
        keys = jax.random.split(key, 4)
        sizes = (observation, *trunk)
        self.trunk = _layers(sizes, keys[0])
        self.input_weights = orthogonal(keys[1], sizes[-1], 4 * width, 1.0)
        self.hidden_weights = orthogonal(keys[2], width, 4 * width, 1.0)
        gates = (jnp.ones(4 * width), jnp.zeros(4 * width))
        norms = Norms(*gates, *gates, jnp.ones(width), jnp.zeros(width)) if normalised else None
        self.small = Small(jnp.zeros(4 * width), norms)
        self.heads = Heads(width, bits, keys[3])
        self.layout = layout

    def initial(self, batch: int) -> Memory:
        """An empty memory for each environment."""
        empty = jnp.zeros((batch, self.hidden_weights.shape[0]))
        return Memory(empty, empty)

    def step(self, carry: Memory, observation: Array, start: Array) -> tuple[Memory, Output]:
        """The output at one moment; memory is emptied first where an episode starts."""
        keep = 1.0 - start[:, None]
        from_input = _through(self.trunk, observation) @ self.input_weights
        from_hidden = (carry.hidden * keep) @ self.hidden_weights
        after = cell_step(self.small, from_input, from_hidden, carry.cell * keep)
        return after, self.heads(after.hidden, after.hidden)

    def unroll(self, carry: Memory, observations: Array, starts: Array) -> tuple[Memory, Output]:
        """The outputs of a sequence."""
        from_inputs = _through(self.trunk, observations) @ self.input_weights
        kept = 1.0 - starts[..., None]
        hidden, after = unroll_laid_out(
            self.layout, self.small, self.hidden_weights, Moments(from_inputs, kept), carry
        )
        return after, self.heads(hidden, hidden)


class History(eqx.Module):
    """The latest observations of each environment and how long each episode has lasted."""

    observations: Array  # [batch, window, observation], the latest last
    length: Array  # [batch], 0 before the first moment


def _block(width: int, key: Array) -> Layer:
    keys = jax.random.split(key, 4)
    return Layer(
        width,
        (
            Linear(width, 3 * width, 1.0, keys[0]),
            Linear(width, width, 0.5, keys[1]),
            Linear(width, 4 * width, TRUNK_SCALE, keys[2]),
            Linear(4 * width, width, 0.5, keys[3]),
        ),
    )


class HistoryPolicy(eqx.Module):
    """A small transformer over the observations of the episode so far."""

    embed: Linear
    places: Array
    blocks: tuple[Layer, ...]
    heads: Heads
    window: int = eqx.field(static=True)

    def __init__(
        self,
        observation: int,
        bits: int,
        width: int,
        key: Array,
        *,
        window: int = 32,
        layers: int = 2,
    ) -> None:
        keys = jax.random.split(key, layers + 3)
        self.embed = Linear(observation, width, 1.0, keys[0])
        self.places = 0.1 * jax.random.normal(keys[1], (window, width))
        self.heads = Heads(width, bits, keys[2])
        self.blocks = tuple(_block(width, key) for key in keys[3:])
        self.window = window

    def initial(self, batch: int) -> History:
        """No observations yet."""
        size = self.embed.weight.shape[0]
        return History(jnp.zeros((batch, self.window, size)), jnp.zeros(batch, jnp.int32))

    def step(self, carry: History, observation: Array, start: Array) -> tuple[History, Output]:
        """The output at one moment."""
        carry, output = self.unroll(carry, observation[None], start[None])
        return carry, jax.tree.map(lambda leaf: leaf[0], output)

    def unroll(self, carry: History, observations: Array, starts: Array) -> tuple[History, Output]:
        """The outputs of a sequence, each moment attending to its own episode."""
        time = observations.shape[0]
        before = self.window - 1
        seen = jnp.concatenate([carry.observations[:, 1:], observations.swapaxes(0, 1)], axis=1)
        # Of what was carried, the last `length` moments belong to the running episode.
        kept = jnp.arange(before) >= before - carry.length[:, None]
        begun = jnp.cumsum(starts.T.astype(jnp.int32), axis=1)
        episode = jnp.concatenate([jnp.where(kept, 0, -1), begun], axis=1)
        moment = jnp.arange(before + time)
        near = (moment[:, None] >= moment) & (moment[:, None] - moment < self.window)
        allowed = (episode[:, :, None] == episode[:, None, :]) & near
        place = self._places(carry.length, starts, kept)
        values = self.embed(seen) + self.places[jnp.minimum(place, self.window - 1)]
        for block in self.blocks:
            values = block(values, allowed)
        features = values[:, before:].swapaxes(0, 1)
        latest = History(seen[:, -self.window :], place[:, -1] + 1)
        return latest, self.heads(features, features)

    def _places(self, length: Array, starts: Array, kept: Array) -> Array:
        """How many moments of its own episode precede each moment."""
        before = kept.shape[1]
        carried = jnp.maximum(jnp.arange(before) - before + length[:, None], 0)

        def count(place: Array, start: Array) -> tuple[Array, Array]:
            place = jnp.where(start > 0, 0, place)
            return place + 1, place

        _, places = jax.lax.scan(count, length, starts)
        return jnp.concatenate([carried, places.T], axis=1)
