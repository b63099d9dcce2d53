"""The imitators: a decision transformer, and a memoryless network for behaviour cloning."""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from trivium.agents.acting import Moment
from trivium.agents.recurrent import layer_norm


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


class Norm(eqx.Module):
    """Layer normalisation."""

    scale: Array
    shift: Array

    def __init__(self, width: int) -> None:
        self.scale, self.shift = jnp.ones(width), jnp.zeros(width)

    def __call__(self, values: Array) -> Array:
        return layer_norm(values, self.scale, self.shift)


class Layer(eqx.Module):
    """One pre-normalised transformer layer with a single head."""

    before_attention: Norm
    mix: Dense
    join: Dense
    before_dense: Norm
    widen: Dense
    narrow: Dense

    def __init__(self, width: int, key: Array) -> None:
        keys = jax.random.split(key, 4)
        self.before_attention, self.before_dense = Norm(width), Norm(width)
        self.mix = Dense(width, 3 * width, keys[0])
        self.join = Dense(width, width, keys[1])
        self.widen = Dense(width, 4 * width, keys[2])
        self.narrow = Dense(4 * width, width, keys[3])

    def __call__(self, values: Array, bias: Array, rate: float, key: Array | None) -> Array:
        keys = [None] * 3 if key is None else list(jax.random.split(key, 3))
        query, looked_at, value = jnp.split(self.mix(self.before_attention(values)), 3, axis=-1)
        scores = jnp.einsum("bqd,bkd->bqk", query, looked_at) * values.shape[-1] ** -0.5
        weights = dropout(jax.nn.softmax(scores + bias, axis=-1), rate, keys[0])
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
        self.layers = tuple(Layer(width, key) for key in keys[5:])
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
        bias = _attention_bias(tokens.episode)
        for layer, layer_key in zip(self.layers, keys, strict=False):
            values = layer(values, bias, rate, layer_key)
        at_observation = values.reshape(rows, places, 3, -1)[:, :, 1]
        return self.head(self.after(at_observation))


def _attention_bias(episode: Array) -> Array:
    """0 where a token may look, a large negative number elsewhere."""
    owner = jnp.repeat(episode, 3, axis=1)
    place = jnp.arange(owner.shape[1])
    allowed = (owner[:, :, None] == owner[:, None, :]) & (place[:, None] >= place)
    return jnp.where(allowed, 0.0, -1e9)


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
