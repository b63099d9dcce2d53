"""Imitators trained on episodes: epochs over packed rows, the best on validation kept."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array

from trivium.agents.acting import Episodes
from trivium.agents.configuration import ImitationConfig
from trivium.agents.packing import Rows, pack, padded, split_rows
from trivium.agents.sequence import Cloner, DecisionTransformer, ImitatorActor, Tokens
from trivium.agents.training import stack
from trivium.agents.worlds import World


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


class _Rows(NamedTuple):
    training: Rows  # [row, place]
    validation: Rows  # [batch, row, place]


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
    *,
    seconds: float | None = None,
) -> Fitted:
    """One imitator for each dataset and key, all trained in one vmapped run.

    A time limit ends training after the epoch that is under way.
    """
    began = time.monotonic()
    data = stack([_data(episodes) for episodes in datasets])
    rows, per_batch = _rows(config, world, datasets)
    models = [make_model(config, world, jax.random.fold_in(key, 1)) for key in keys]
    optimisers = [make_optimiser(config).init(model) for model in models]
    state = _State(
        stack(models), stack(optimisers), stack(models), jnp.full(len(keys), jnp.inf), stack(keys)
    )
    losses = []
    for _ in range(config.epochs):
        state, noted = _epoch(config, per_batch, state, data, rows)
        losses.append(jax.tree.map(np.asarray, noted))
        if seconds is not None and time.monotonic() - began > seconds:
            break
    training_loss, validation_loss = np.moveaxis(np.array(losses), 0, -1)
    return Fitted(state.best, training_loss, validation_loss)


def _rows(config: ImitationConfig, world: World, datasets: Sequence[Episodes]) -> tuple[_Rows, int]:
    """Rows to train on and to validate on, with a leading axis of seeds, and rows in a batch.

    The last episodes of a dataset are for validation. Every dataset is packed once; an epoch
    shuffles the rows.
    """
    lengths = [episodes.lengths for episodes in datasets]
    kept = max(1, round(config.validation * len(lengths[0])))
    rows = [pack(own, np.arange(len(own) - kept), world.longest) for own in lengths]
    most = max(len(each.episode) for each in rows)
    per_batch = max(1, round(config.batch * most / (len(lengths[0]) - kept)))
    total = -(-most // per_batch) * per_batch
    held_out = [
        split_rows(pack(own, np.arange(len(own) - kept, len(own)), world.longest), per_batch)
        for own in lengths
    ]
    batches = max(len(each.episode) for each in held_out)
    empty = np.full((batches, per_batch, world.longest), -1, dtype=np.int32)
    filled = [
        Rows(
            np.concatenate([each.episode, empty[len(each.episode) :]]),
            np.concatenate([each.time, np.zeros_like(empty[len(each.time) :])]),
        )
        for each in held_out
    ]
    return _Rows(stack([padded(each, total) for each in rows]), stack(filled)), per_batch


def _data(episodes: Episodes) -> _Data:
    reward = jnp.asarray(episodes.reward)
    to_go = jnp.cumsum(reward[:, ::-1], axis=1)[:, ::-1]
    return _Data(to_go, jnp.asarray(episodes.observation), jnp.asarray(episodes.action))


def _tokens(data: _Data, rows: Rows) -> Tokens:
    episode, time = jnp.maximum(rows.episode, 0), jnp.asarray(rows.time)
    return Tokens(
        data.to_go[episode, time],
        data.observation[episode, time],
        data.action[episode, time],
        time,
        jnp.asarray(rows.episode),
    )


def loss(model: Any, tokens: Tokens, rate: float, key: Array | None) -> tuple[Array, Array]:
    """Summed cross-entropy of the action bits, and over how many moments."""
    logits = model(tokens, rate, key)
    errors = optax.sigmoid_binary_cross_entropy(logits, tokens.action).sum(axis=-1)
    real = tokens.episode >= 0
    return jnp.where(real, errors, 0.0).sum(), real.sum()


@partial(jax.jit, static_argnums=(0, 1), donate_argnums=2)
def _epoch(
    config: ImitationConfig,
    per_batch: int,
    state: _State,
    data: _Data,
    rows: _Rows,
) -> tuple[_State, tuple[Array, Array]]:
    """One pass and one validation of every imitator."""
    return jax.vmap(partial(_one_epoch, config, per_batch))(state, data, rows)


def _one_epoch(
    config: ImitationConfig,
    per_batch: int,
    state: _State,
    data: _Data,
    rows: _Rows,
) -> tuple[_State, tuple[Array, Array]]:
    training, validation = rows
    rule = make_optimiser(config)
    order_key, first_key = jax.random.split(state.key)
    order = jax.random.permutation(order_key, training.episode.shape[0]).reshape(-1, per_batch)

    def mean_loss(model: Any, tokens: Tokens, key: Array) -> Array:
        total, count = loss(model, tokens, config.dropout, key)
        return total / jnp.maximum(count, 1)

    def improve(carried: tuple[Any, Any, Array], chosen: Array) -> tuple[Any, Array]:
        model, optimiser, key = carried
        key, own = jax.random.split(key)
        tokens = _tokens(data, Rows(training.episode[chosen], training.time[chosen]))
        value, gradient = jax.value_and_grad(mean_loss)(model, tokens, own)
        change, optimiser = rule.update(gradient, optimiser, model)
        return (optax.apply_updates(model, change), optimiser, key), value

    begin = (state.model, state.optimiser, first_key)
    (model, optimiser, key), values = jax.lax.scan(improve, begin, order)

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
    return ImitatorActor(model, asked, world.longest, world.observation_size, world.action_bits)
