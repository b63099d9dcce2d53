"""Models that imitate episodes: a decision transformer, and an MLP for behaviour cloning."""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from trivium.agents.config import ImitationConfig
from trivium.agents.episodes import Moment
from trivium.agents.layers import Linear, Norm, TransformerLayer, dropout
from trivium.agents.worlds import World


class Tokens(NamedTuple):
    """Rows of steps of several episodes, [row, position, ...]; episode -1 is padding."""

    to_go: Array  # the reward still to come
    observation: Array
    action: Array
    time: Array
    episode: Array


def make_model(config: ImitationConfig, world: World, key: Array) -> Any:
    """The imitator's network with random weights."""
    kind = Cloner if config.model == "cloning" else DecisionTransformer
    return kind(config, world, key)


def scaled_normal(key: Array, rows: int, columns: int, scale: float = 1.0) -> Array:
    """Random weights that keep the variance of their inputs."""
    size: float = scale * rows**-0.5
    return size * jax.random.normal(key, (rows, columns))


class DecisionTransformer(eqx.Module):
    """Predicts actions from the reward still to come and the history (Chen et al., 2021).

    With `patterns` every combination of an observation's bits has its own embedding, like a token
    of a language model. With `bits`, as in the authors' code, an observation is a sum of embeddings
    of its bits, which cannot say which objects were on the machine when it lit; nothing was learned
    from random data with it.
    """

    embed_to_go: Linear
    embed_observation: Array | Linear  # [patterns, width], or one row for each bit
    embed_action: Linear
    embed_time: Array  # [time, width]
    before: Norm
    layers: tuple[TransformerLayer, ...]
    after: Norm
    head: Linear
    bounded: bool = eqx.field(static=True)

    def __init__(self, config: ImitationConfig, world: World, key: Array) -> None:
        width, observation, bits = config.width, world.observation_size, world.action_bits
        keys = jax.random.split(key, config.layers + 5)
        self.embed_to_go = Linear(scaled_normal(keys[0], 1, width))
        if config.reading == "patterns":
            self.embed_observation = jax.random.normal(keys[1], (1 << observation, width))
        else:
            self.embed_observation = Linear(scaled_normal(keys[1], observation, width))
        self.embed_action = Linear(scaled_normal(keys[2], bits, width))
        self.embed_time = jax.random.normal(keys[3], (world.longest, width))
        self.head = Linear(scaled_normal(keys[4], width, bits))
        scales = (1.0, 1.0, 1.0, 1.0)
        self.layers = tuple(TransformerLayer(width, key, scaled_normal, scales) for key in keys[5:])
        self.before, self.after = Norm(width), Norm(width)
        self.bounded = config.bounded

    def __call__(self, tokens: Tokens, rate: float = 0.0, key: Array | None = None) -> Array:
        """Logits of the action bits at every step, [row, position, bits]."""
        rows, length = tokens.time.shape
        time = self.embed_time[tokens.time]
        parts = (
            self.embed_to_go(tokens.to_go[..., None]) + time,
            self._read(tokens.observation) + time,
            self.embed_action(tokens.action.astype(time.dtype)) + time,
        )
        values = self.before(jnp.stack(parts, axis=2).reshape(rows, 3 * length, -1))
        keys = [None] * (len(self.layers) + 1)
        if key is not None:
            keys = list(jax.random.split(key, len(self.layers) + 1))
        values = dropout(values, rate, keys[-1])
        # A token attends to itself and to earlier tokens of its own episode.
        owner = jnp.repeat(tokens.episode, 3, axis=1)
        position = jnp.arange(3 * length)
        allowed = (owner[:, :, None] == owner[:, None, :]) & (position[:, None] >= position)
        for layer, layer_key in zip(self.layers, keys, strict=False):
            values = layer(values, allowed, rate, layer_key)
        at_observation = values.reshape(rows, length, 3, -1)[:, :, 1]
        logits = self.head(self.after(at_observation))
        return jnp.tanh(logits) if self.bounded else logits

    def _read(self, observation: Array) -> Array:
        """The embedding of every observation."""
        if isinstance(self.embed_observation, Linear):
            return self.embed_observation(observation.astype(jnp.float32))
        bits = observation.astype(jnp.int32)
        pattern = (bits << jnp.arange(bits.shape[-1])).sum(axis=-1)
        return self.embed_observation[pattern]


class Cloner(eqx.Module):
    """Predicts actions from the latest observations of the episode, the current one included.

    As in the code that the authors built on, the window is one long vector, with zeros for steps
    before the episode.
    """

    layers: tuple[Linear, ...]
    window: int = eqx.field(static=True)

    def __init__(self, config: ImitationConfig, world: World, key: Array) -> None:
        self.window = min(config.window, world.longest)
        keys = jax.random.split(key, config.layers + 1)
        inputs = self.window * world.observation_size
        sizes = (inputs, *[config.width] * config.layers, world.action_bits)
        shapes = zip(keys, sizes[:-1], sizes[1:], strict=True)
        self.layers = tuple(Linear(scaled_normal(*shape)) for shape in shapes)

    def __call__(self, tokens: Tokens, rate: float = 0.0, key: Array | None = None) -> Array:
        """Logits of the action bits at every step."""
        values = self._windows(tokens)
        keys = [None] * len(self.layers) if key is None else jax.random.split(key, len(self.layers))
        for layer, layer_key in zip(self.layers[:-1], keys, strict=False):
            values = dropout(jax.nn.relu(layer(values)), rate, layer_key)
        return self.layers[-1](values)

    def _windows(self, tokens: Tokens) -> Array:
        """The last `window` observations at every step, [row, position, window * observation]."""
        length = tokens.episode.shape[1]
        before = jnp.arange(length)[:, None] + jnp.arange(1 - self.window, 1)  # [position, window]
        index = jnp.maximum(before, 0)
        same_episode = (before >= 0) & (tokens.episode[:, index] == tokens.episode[:, :, None])
        seen = tokens.observation[:, index] * same_episode[..., None]
        return seen.reshape(*seen.shape[:2], -1).astype(jnp.float32)


class Past(NamedTuple):
    """The history of the running episodes."""

    now: Array
    remaining: Array  # the part of the target return still to be earned
    to_go: Array
    observation: Array
    action: Array


class ImitatorActor(eqx.Module):
    """An imitator that acts; a decision transformer aims at a return, by default the largest."""

    model: Any
    target: Array
    world: World = eqx.field(static=True)

    def __init__(self, world: World, model: Any, target: float | None = None) -> None:
        self.model, self.world = model, world
        self.target = jnp.asarray(world.maximum if target is None else target, jnp.float32)

    def initial(self, batch: int) -> Past:
        shape = (batch, self.world.longest)
        return Past(
            jnp.zeros((), jnp.int32),
            jnp.full(batch, self.target),
            jnp.zeros(shape),
            jnp.zeros((*shape, self.world.observation_size)),
            jnp.zeros((*shape, self.world.action_bits), jnp.int32),
        )

    def act(self, past: Past, moment: Moment, uniform: Array) -> tuple[Past, Array]:
        now = past.now
        remaining = past.remaining - moment.reward
        to_go = past.to_go.at[:, now].set(remaining)
        observation = past.observation.at[:, now].set(moment.observation)
        time = jnp.broadcast_to(jnp.arange(self.world.longest), to_go.shape)
        # Future steps are marked as padding: nothing attends to them.
        episode = jnp.where(time <= now, 0, -1)
        tokens = Tokens(to_go, observation, past.action, time, episode)
        logits = self.model(tokens)[:, now]
        action = (uniform < jax.nn.sigmoid(logits)).astype(jnp.int32)
        actions = past.action.at[:, now].set(action)
        return Past(now + 1, remaining, to_go, observation, actions), action
