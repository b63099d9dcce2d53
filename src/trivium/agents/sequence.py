"""The imitators: a decision transformer, and a memoryless network for behaviour cloning."""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from trivium.agents.acting import Moment
from trivium.agents.attention import Layer, Norm, dropout


class Tokens(NamedTuple):
    """Rows of moments, [row, place] and on; `episode` tells whose they are, -1 is padding."""

    to_go: Array  # the reward that is still to come
    observation: Array
    action: Array
    time: Array
    episode: Array


class Dense(eqx.Module):
    """A dense layer; outputs have about the size of the inputs."""

    weight: Array
    bias: Array

    def __init__(self, inputs: int, outputs: int, key: Array) -> None:
        self.weight = inputs**-0.5 * jax.random.normal(key, (inputs, outputs))
        self.bias = jnp.zeros(outputs)

    def __call__(self, values: Array) -> Array:
        return values @ self.weight + self.bias


class Words(eqx.Module):
    """An embedding for every pattern of bits, as a language model has one for every word.

    What a test shows is which objects lie there together with the light. In a sum over the
    bits that "together" is lost and has to be rebuilt before anything can be learned from
    random data, where nothing simpler tells an action; then training does not get off the ground.
    """

    table: Array

    def __init__(self, bits: int, width: int, key: Array) -> None:
        self.table = jax.random.normal(key, (1 << bits, width))

    def __call__(self, values: Array) -> Array:
        places = jnp.arange(values.shape[-1])
        return self.table[(values.astype(jnp.int32) << places).sum(axis=-1)]


class DecisionTransformer(eqx.Module):
    """Actions predicted from the reward still to come and the history (Chen et al., 2021)."""

    embed_to_go: Dense
    embed_observation: Words
    embed_action: Dense
    embed_time: Array
    before: Norm
    layers: tuple[Layer, ...]
    after: Norm
    head: Dense

    def __init__(
        self, observation: int, bits: int, key: Array, *, width: int, layers: int, longest: int
    ) -> None:
        keys = jax.random.split(key, layers + 5)
        self.embed_to_go = Dense(1, width, keys[0])
        self.embed_observation = Words(observation, width, keys[1])
        self.embed_action = Dense(bits, width, keys[2])
        self.embed_time = jax.random.normal(keys[3], (longest, width))
        self.head = Dense(width, bits, keys[4])
        self.layers = tuple(_layer(width, key) for key in keys[5:])
        self.before, self.after = Norm(width), Norm(width)

    def __call__(self, tokens: Tokens, rate: float = 0.0, key: Array | None = None) -> Array:
        """Logits of the action bits at every moment, [row, place, bits]."""
        rows, places = tokens.time.shape
        time = self.embed_time[tokens.time]
        parts = (
            self.embed_to_go(tokens.to_go[..., None]) + time,
            self.embed_observation(tokens.observation) + time,
            self.embed_action(tokens.action.astype(time.dtype)) + time,
        )
        values = self.before(jnp.stack(parts, axis=2).reshape(rows, 3 * places, -1))
        keys = [None] * (len(self.layers) + 1)
        if key is not None:
            keys = list(jax.random.split(key, len(self.layers) + 1))
        values = dropout(values, rate, keys[-1])
        allowed = _may_look(tokens.episode)
        for layer, layer_key in zip(self.layers, keys, strict=False):
            values = layer(values, allowed, rate, layer_key)
        at_observation = values.reshape(rows, places, 3, -1)[:, :, 1]
        return self.head(self.after(at_observation))


def _layer(width: int, key: Array) -> Layer:
    keys = jax.random.split(key, 4)
    sizes = ((width, 3 * width), (width, width), (width, 4 * width), (4 * width, width))
    return Layer(width, [Dense(*size, key) for size, key in zip(sizes, keys, strict=True)])


def _may_look(episode: Array) -> Array:
    """Whether a token may look at another: earlier or itself, and of its own episode."""
    owner = jnp.repeat(episode, 3, axis=1)
    place = jnp.arange(owner.shape[1])
    return (owner[:, :, None] == owner[:, None, :]) & (place[:, None] >= place)


class Cloner(eqx.Module):
    """Actions predicted from the present observation alone."""

    layers: tuple[Dense, ...]

    def __init__(self, observation: int, bits: int, key: Array, *, width: int) -> None:
        keys = jax.random.split(key, 3)
        sizes = (observation, width, width, bits)
        made = zip(sizes[:-1], sizes[1:], keys, strict=True)
        self.layers = tuple(Dense(inputs, outputs, key) for inputs, outputs, key in made)

    def __call__(self, tokens: Tokens, rate: float = 0.0, key: Array | None = None) -> Array:
        """Logits of the action bits at every moment."""
        values = tokens.observation
        for layer in self.layers[:-1]:
            values = jax.nn.relu(layer(values))
        return self.layers[-1](values)


class Past(NamedTuple):
    """What an imitator has seen and done in the episodes under way."""

    now: Array
    remaining: Array  # the return that is still asked for
    to_go: Array
    observation: Array
    action: Array


class ImitatorActor(eqx.Module):
    """An imitator that acts, asking for a return."""

    model: Any
    target: Array
    longest: int = eqx.field(static=True)
    observation_size: int = eqx.field(static=True)
    action_bits: int = eqx.field(static=True)

    def initial(self, batch: int) -> Past:
        """An empty history."""
        shape = (batch, self.longest)
        return Past(
            jnp.zeros((), jnp.int32),
            jnp.full(batch, self.target),
            jnp.zeros(shape),
            jnp.zeros((*shape, self.observation_size)),
            jnp.zeros((*shape, self.action_bits), jnp.int32),
        )

    def act(self, past: Past, moment: Moment, uniform: Array) -> tuple[Past, Array]:
        """Bits drawn from what the model predicts next."""
        now = past.now
        remaining = past.remaining - moment.reward
        to_go = past.to_go.at[:, now].set(remaining)
        observation = past.observation.at[:, now].set(moment.observation)
        time = jnp.broadcast_to(jnp.arange(self.longest), to_go.shape)
        # Moments to come are apart from the episode so far: nothing looks at them.
        episode = jnp.where(time <= now, 0, -1)
        tokens = Tokens(to_go, observation, past.action, time, episode)
        logits = self.model(tokens)[:, now]
        action = (uniform < jax.nn.sigmoid(logits)).astype(jnp.int32)
        done = past.action.at[:, now].set(action)
        return Past(now + 1, remaining, to_go, observation, done), action
