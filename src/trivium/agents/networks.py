"""Policies with a value head: an MLP, an LSTM, and a transformer over the episode so far.

All have the same methods: `step` for one step of many environments, `unroll` for whole sequences;
`start` is 1 where an episode begins, and memory ends there. Logits are [..., bits, 2], as
Stable Baselines lays out a MultiDiscrete action.
"""

from __future__ import annotations

from typing import Any, Protocol

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from trivium.agents.config import AgentConfig, PolicyKind
from trivium.agents.layers import (
    HIDDEN_SCALE,
    Heads,
    Linear,
    Norm,
    Output,
    TransformerLayer,
    apply_tanh_layers,
    hidden_layers,
    orthogonal,
)
from trivium.agents.lstm import (
    Inputs,
    Layout,
    Memory,
    Norms,
    Vectors,
    cell_step,
    sequence_layout,
    unroll_in_pieces,
)
from trivium.agents.modular import ModularPolicy
from trivium.agents.worlds import World

Carry = Any  # a policy's memory between steps, made by `initial`
LAYERS = 2  # of the history transformer


class Policy(Protocol):
    """The interface that training uses."""

    def __init__(self, config: AgentConfig, world: World, key: Array) -> None: ...

    def initial(self, batch: int) -> Carry: ...

    def step(self, carry: Carry, observation: Array, start: Array) -> tuple[Carry, Output]: ...

    def unroll(self, carry: Carry, observations: Array, starts: Array) -> tuple[Carry, Output]: ...


class MemorylessPolicy(eqx.Module):
    """Two tanh layers each for the action and the value, of the current observation only."""

    action_layers: tuple[Linear, ...]
    value_layers: tuple[Linear, ...]
    heads: Heads

    def __init__(self, config: AgentConfig, world: World, key: Array) -> None:
        keys = jax.random.split(key, 3)
        sizes = (world.observation_size, config.width, config.width)
        self.action_layers = hidden_layers(sizes, keys[0])
        self.value_layers = hidden_layers(sizes, keys[1])
        self.heads = Heads(config.width, world.action_bits, keys[2])

    def initial(self, batch: int) -> Carry:
        return ()

    def step(self, carry: Carry, observation: Array, start: Array) -> tuple[Carry, Output]:
        for_action = apply_tanh_layers(self.action_layers, observation)
        for_value = apply_tanh_layers(self.value_layers, observation)
        return carry, self.heads(for_action, for_value)

    unroll = step


class RecurrentPolicy(eqx.Module):
    """Tanh layers, then an LSTM (layer-normalised or not), then linear heads."""

    trunk: tuple[Linear, ...]
    input_weights: Array
    hidden_weights: Array
    vectors: Vectors
    heads: Heads
    layout: Layout = eqx.field(static=True)

    def __init__(self, config: AgentConfig, world: World, key: Array) -> None:
        keys, width = jax.random.split(key, 4), config.width
        sizes = (world.observation_size, *config.trunk)
        self.trunk = hidden_layers(sizes, keys[0])
        self.input_weights = orthogonal(keys[1], sizes[-1], 4 * width, 1.0)
        self.hidden_weights = orthogonal(keys[2], width, 4 * width, 1.0)
        norms = Norms(Norm(4 * width), Norm(4 * width), Norm(width))
        self.vectors = Vectors(jnp.zeros(4 * width), norms if config.policy == "lnlstm" else None)
        self.heads = Heads(width, world.action_bits, keys[3])
        self.layout = sequence_layout(config, world)

    def initial(self, batch: int) -> Memory:
        empty = jnp.zeros((batch, self.hidden_weights.shape[0]))
        return Memory(empty, empty)

    def step(self, carry: Memory, observation: Array, start: Array) -> tuple[Memory, Output]:
        keep = 1.0 - start[:, None]
        from_input = apply_tanh_layers(self.trunk, observation) @ self.input_weights
        from_hidden = (carry.hidden * keep) @ self.hidden_weights
        after = cell_step(self.vectors, from_input, from_hidden, carry.cell * keep)
        return after, self.heads(after.hidden, after.hidden)

    def unroll(self, carry: Memory, observations: Array, starts: Array) -> tuple[Memory, Output]:
        products = apply_tanh_layers(self.trunk, observations) @ self.input_weights
        inputs = Inputs(products, 1.0 - starts[..., None])
        hidden, after = unroll_in_pieces(
            self.layout, self.vectors, self.hidden_weights, inputs, carry
        )
        return after, self.heads(hidden, hidden)


class History(eqx.Module):
    """The latest observations of each environment and the lengths of the running episodes."""

    observations: Array  # [batch, window, observation], the latest last
    length: Array  # [batch], 0 before the first step


class HistoryPolicy(eqx.Module):
    """A small transformer over the observations of the episode so far."""

    embed: Linear
    positions: Array
    blocks: tuple[TransformerLayer, ...]
    heads: Heads
    window: int = eqx.field(static=True)

    def __init__(self, config: AgentConfig, world: World, key: Array) -> None:
        keys, width = jax.random.split(key, LAYERS + 3), config.width
        self.window = world.longest + 1
        self.embed = Linear(orthogonal(keys[0], world.observation_size, width, 1.0))
        self.positions = 0.1 * jax.random.normal(keys[1], (self.window, width))
        self.heads = Heads(width, world.action_bits, keys[2])
        scales = (1.0, 0.5, HIDDEN_SCALE, 0.5)
        self.blocks = tuple(TransformerLayer(width, key, orthogonal, scales) for key in keys[3:])

    def initial(self, batch: int) -> History:
        size = self.embed.weight.shape[0]
        return History(jnp.zeros((batch, self.window, size)), jnp.zeros(batch, jnp.int32))

    def step(self, carry: History, observation: Array, start: Array) -> tuple[History, Output]:
        carry, output = self.unroll(carry, observation[None], start[None])
        return carry, jax.tree.map(lambda leaf: leaf[0], output)

    def unroll(self, carry: History, observations: Array, starts: Array) -> tuple[History, Output]:
        time = observations.shape[0]
        before = self.window - 1
        seen = jnp.concatenate([carry.observations[:, 1:], observations.swapaxes(0, 1)], axis=1)
        # Of the carried steps, the last `length` belong to the running episode.
        kept = jnp.arange(before) >= before - carry.length[:, None]
        begun = jnp.cumsum(starts.T.astype(jnp.int32), axis=1)
        episode = jnp.concatenate([jnp.where(kept, 0, -1), begun], axis=1)
        step = jnp.arange(before + time)
        near = (step[:, None] >= step) & (step[:, None] - step < self.window)
        allowed = (episode[:, :, None] == episode[:, None, :]) & near
        position = self._position_in_episode(carry.length, starts.T)
        values = self.embed(seen) + self.positions[jnp.minimum(position, self.window - 1)]
        for block in self.blocks[:-1]:
            values = block(values, allowed)
        # Only the new positions of the last layer are needed.
        last = self.blocks[-1]
        values = last.last(values, allowed) if time == 1 else last(values, allowed)[:, before:]
        features = values.swapaxes(0, 1)
        latest = History(seen[:, -self.window :], position[:, -1] + 1)
        return latest, self.heads(features, features)

    def _position_in_episode(self, length: Array, starts: Array) -> Array:
        """The number of steps of the same episode before each step, carried steps first."""
        before = self.window - 1
        carried = jnp.maximum(jnp.arange(before) - before + length[:, None], 0)
        step = jnp.arange(starts.shape[1])
        begun = jax.lax.cummax(jnp.where(starts > 0, step, -length[:, None]), axis=1)
        return jnp.concatenate([carried, step - begun], axis=1)


NETWORKS: dict[PolicyKind, type[Policy]] = {
    "mlp": MemorylessPolicy,
    "lstm": RecurrentPolicy,
    "lnlstm": RecurrentPolicy,
    "transformer": HistoryPolicy,
    "rim": ModularPolicy,
}


def make_policy(config: AgentConfig, world: World, key: Array) -> Any:
    """The agent's network with random weights."""
    return NETWORKS[config.policy](config, world, key)
