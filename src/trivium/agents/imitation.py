"""Imitators trained on episodes: epochs over packed rows, the best on validation kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array

from trivium.agents.acting import Episodes
from trivium.agents.packing import Rows, batches, pack, split_rows
from trivium.agents.sequence import Cloner, DecisionTransformer, ImitatorActor, Tokens
from trivium.agents.training import stack
from trivium.agents.worlds import World
from trivium.core.errors import require


@dataclass(frozen=True)
class ImitationConfig:
    """An imitator; the defaults are the paper's."""

    model: Literal["decision-transformer", "cloning"] = "decision-transformer"
    width: int = 128
    layers: int = 3
    batch: int = 128  # episodes in a batch
    dropout: float = 0.1
    learning_rate: float = 1e-4
    weight_decay: float = 1e-4
    epochs: int = 10
    validation: float = 0.1  # share of the episodes that is kept for choosing the best epoch

    def __post_init__(self) -> None:
        for name in ("width", "layers", "batch", "epochs"):
            value = getattr(self, name)
            require(value >= 1, f"{name} must be at least 1, got {value}")
        require(0 < self.validation < 1, f"validation must lie inside 0..1, got {self.validation}")


class Fitted(NamedTuple):
    """Imitators of the best epoch, stacked, and the losses of every epoch, [seed, epoch]."""

    model: Any
    training_loss: np.ndarray
    validation_loss: np.ndarray


class _State(NamedTuple):
    model: Any
    optimiser: Any
    best: Any
    best_loss: Array
    key: Array


class _Data(NamedTuple):
    """Episodes on the device, with the reward that is still to come at every moment."""

    to_go: Array
    observation: Array
    action: Array


def make_model(config: ImitationConfig, world: World, key: Array) -> Any:
    """A fresh network."""
    shape = (world.observation_size, world.action_bits, key)
    if config.model == "cloning":
        return Cloner(*shape, width=config.width)
    return DecisionTransformer(
        *shape, width=config.width, layers=config.layers, longest=world.longest
    )


def make_optimiser(config: ImitationConfig) -> optax.GradientTransformation:
    """Adam with decoupled weight decay."""
    return optax.adamw(config.learning_rate, weight_decay=config.weight_decay)


def fit(
    config: ImitationConfig,
    world: World,
    datasets: Sequence[Episodes],
    keys: Sequence[Array],
) -> Fitted:
    """One imitator for each dataset and key, all trained in one vmapped run."""
    data = stack([_data(episodes) for episodes in datasets])
    plans = [_plan(config, world, episodes, key) for episodes, key in zip(datasets, keys, strict=True)]
    shape = tuple(np.max([plan.training.episode.shape for plan in plans], axis=0))
    training = stack([_padded(plan.training, shape) for plan in plans])
    shape = tuple(np.max([plan.validation.episode.shape for plan in plans], axis=0))
    validation = stack([_padded(plan.validation, shape) for plan in plans])
    models = [make_model(config, world, jax.random.fold_in(key, 1)) for key in keys]
    model = stack(models)
    optimiser = stack([make_optimiser(config).init(each) for each in models])
    state = _State(model, optimiser, stack(models), jnp.full(len(keys), jnp.inf), stack(list(keys)))
    losses = []
    for epoch in range(config.epochs):
        rows = jax.tree.map(lambda leaf, epoch=epoch: leaf[:, epoch], training)
        state, noted = _epoch(config, state, data, rows, validation)
        losses.append(jax.tree.map(np.asarray, noted))
    training_loss, validation_loss = np.moveaxis(np.array(losses), 0, -1)
    return Fitted(state.best, training_loss, validation_loss)


class _Plan(NamedTuple):
    training: Rows  # [epoch, batch, row, place]
    validation: Rows  # [batch, row, place]


def _plan(config: ImitationConfig, world: World, episodes: Episodes, key: Array) -> _Plan:
    """Which moments are looked at when; the last episodes are for validation."""
    seed = np.asarray(jax.random.key_data(key)).tolist()
    generator = np.random.default_rng(seed)
    lengths = episodes.lengths
    kept = max(1, round(config.validation * len(lengths)))
    own = lengths[:-kept]
    passes = [batches(own, config.batch, world.longest, generator) for _ in range(config.epochs)]
    shape = tuple(np.max([each.episode.shape for each in passes], axis=0))
    training = Rows(*map(np.stack, zip(*(_padded(each, shape) for each in passes), strict=True)))
    order = np.arange(len(own), len(lengths))
    validation = split_rows(pack(lengths, order, world.longest), shape[1])
    return _Plan(training, validation)


def _padded(rows: Rows, shape: tuple[int, ...]) -> Rows:
    """The rows with padding up to a shape."""
    missing = [(0, wanted - held) for wanted, held in zip(shape, rows.episode.shape, strict=True)]
    return Rows(
        np.pad(rows.episode, missing, constant_values=-1), np.pad(rows.time, missing)
    )


def _data(episodes: Episodes) -> _Data:
    reward = jnp.asarray(episodes.reward)
    to_go = jnp.cumsum(reward[:, ::-1], axis=1)[:, ::-1]
    return _Data(to_go, jnp.asarray(episodes.observation), jnp.asarray(episodes.action))


def _tokens(data: _Data, rows: Rows) -> Tokens:
    episode, time = jnp.maximum(rows.episode, 0), rows.time
    return Tokens(
        data.to_go[episode, time],
        data.observation[episode, time],
        data.action[episode, time],
        time,
        rows.episode,
    )


def loss(model: Any, tokens: Tokens, rate: float, key: Array | None) -> tuple[Array, Array]:
    """Summed cross-entropy of the action bits, and over how many moments."""
    logits = model(tokens, rate, key)
    errors = optax.sigmoid_binary_cross_entropy(logits, tokens.action).sum(axis=-1)
    real = tokens.episode >= 0
    return jnp.where(real, errors, 0.0).sum(), real.sum()


@partial(jax.jit, static_argnums=0, donate_argnums=1)
def _epoch(
    config: ImitationConfig, state: _State, data: _Data, training: Rows, validation: Rows
) -> tuple[_State, tuple[Array, Array]]:
    """One pass and one validation of every imitator."""
    return jax.vmap(partial(_one_epoch, config))(state, data, training, validation)


def _one_epoch(
    config: ImitationConfig, state: _State, data: _Data, training: Rows, validation: Rows
) -> tuple[_State, tuple[Array, Array]]:
    rule = make_optimiser(config)

    def mean_loss(model: Any, tokens: Tokens, key: Array) -> Array:
        total, count = loss(model, tokens, config.dropout, key)
        return total / jnp.maximum(count, 1)

    def improve(carried: tuple[Any, Any, Array], rows: Rows) -> tuple[Any, Array]:
        model, optimiser, key = carried
        key, own = jax.random.split(key)
        value, gradient = jax.value_and_grad(mean_loss)(model, _tokens(data, rows), own)
        change, optimiser = rule.update(gradient, optimiser, model)
        return (optax.apply_updates(model, change), optimiser, key), value

    begin = (state.model, state.optimiser, state.key)
    (model, optimiser, key), values = jax.lax.scan(improve, begin, training)

    def check(carried: tuple[Array, Array], rows: Rows) -> tuple[Any, None]:
        total, count = loss(model, _tokens(data, rows), 0.0, None)
        return (carried[0] + total, carried[1] + count), None

    (total, count), _ = jax.lax.scan(check, (jnp.zeros(()), jnp.zeros((), jnp.int32)), validation)
    held_out = total / jnp.maximum(count, 1)
    better = held_out < state.best_loss
    best = jax.tree.map(lambda new, old: jnp.where(better, new, old), model, state.best)
    lowest = jnp.minimum(held_out, state.best_loss)
    return _State(model, optimiser, best, lowest, key), (values.mean(), held_out)


def actor(world: World, model: Any, target: float | None = None) -> ImitatorActor:
    """A fitted imitator that asks for the most there is, or for another return."""
    asked = jnp.asarray(world.maximum if target is None else target, jnp.float32)
    return ImitatorActor(
        model, asked, world.longest, world.observation_size, world.action_bits
    )
