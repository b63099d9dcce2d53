"""Training of imitators on packed rows of episodes; keeps the model of the best epoch."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array
from numpy.typing import NDArray

from trivium.agents.checkpoints import load_tree, save_tree
from trivium.agents.config import ImitationConfig
from trivium.agents.episodes import Episodes
from trivium.agents.imitators import Tokens, make_model
from trivium.agents.training import SECONDS_BETWEEN_CHECKPOINTS, stack
from trivium.agents.worlds import World

OPEN_ROWS = 8
BATCHES_IN_A_PART = 500


class Rows(NamedTuple):
    """The episode and time step at each [row, position]; episode -1 is padding."""

    episode: Any
    time: Any


def pack(lengths: NDArray[np.int64], order: NDArray[np.int64], width: int) -> Rows:
    """Whole episodes in this order, each in the first open row that has space for it.

    Only the last few rows are open, so the work is linear in the number of episodes.
    """
    filled: list[int] = []
    row_of = np.empty(len(order), dtype=np.int64)
    offset = np.empty(len(order), dtype=np.int64)
    for index, length in enumerate(lengths[order].tolist()):
        first_open = max(0, len(filled) - OPEN_ROWS)
        open_rows = range(first_open, len(filled))
        row = next((row for row in open_rows if filled[row] + length <= width), len(filled))
        if row == len(filled):
            filled.append(0)
        row_of[index], offset[index] = row, filled[row]
        filled[row] += length
    rows = Rows(
        np.full((len(filled), width), -1, dtype=np.int32),
        np.zeros((len(filled), width), dtype=np.int32),
    )
    packed = lengths[order]
    time = np.arange(packed.sum()) - np.repeat(np.cumsum(packed) - packed, packed)
    where = (np.repeat(row_of, packed), np.repeat(offset, packed) + time)
    rows.episode[where] = np.repeat(order, packed)
    rows.time[where] = time
    return rows


def stack_rows(datasets: Sequence[Rows], multiple: int) -> Rows:
    """The rows of several datasets, padded to the same multiple of rows."""
    count = -(-max(len(rows.episode) for rows in datasets) // multiple) * multiple

    def pad(values: NDArray[np.int32], padding: int) -> NDArray[np.int32]:
        missing = ((0, count - len(values)), (0, 0))
        return np.pad(values, missing, constant_values=padding)

    return Rows(
        np.stack([pad(rows.episode, -1) for rows in datasets]),
        np.stack([pad(rows.time, 0) for rows in datasets]),
    )


class Fitted(NamedTuple):
    """Imitators of the best epoch, stacked, and the losses of every epoch, [seed, epoch]."""

    model: Any
    training_loss: NDArray[np.float32]
    validation_loss: NDArray[np.float32]

    @property
    def epochs(self) -> int:
        """The number of completed epochs."""
        return int(self.validation_loss.shape[1])


class _State(NamedTuple):
    model: Any
    optimiser: Any
    best: Any
    best_loss: Array
    key: Array
    loss: Array  # summed over the parts of the running epoch


class _Layout(NamedTuple):
    """The sizes into which an epoch is divided."""

    per_batch: int  # rows in a batch
    parts: int  # of an epoch


class _Data(NamedTuple):
    """The episodes of one dataset and their rows."""

    to_go: Array  # the reward still to come at every step
    observation: Array
    action: Array
    training: Rows  # [row, position]
    validation: Rows  # [batch, row, position]


def fit(
    config: ImitationConfig,
    world: World,
    datasets: Sequence[Episodes],
    keys: Sequence[Array],
    *,
    seconds: float | None = None,
    checkpoint: Path | None = None,
) -> Fitted:
    """One imitator for each dataset and key, all trained in one vmapped run.

    An epoch is trained in parts. A time limit ends training after the current part; with a
    checkpoint, the same call resumes there.
    """
    began = saved = time.monotonic()
    data, layout = _prepare(config, world, datasets)
    losses: list[NDArray[Any]] = []
    state, done = _begin(config, world, keys), 0
    if checkpoint is not None and checkpoint.exists():
        one = np.zeros((2, len(keys)), np.float32)
        (state, losses), about = load_tree(
            checkpoint, lambda about: (state, [one] * about["epochs"])
        )
        done = about["done"]
    while done < config.epochs * layout.parts:
        at = divmod(done, layout.parts)
        state = _train_part(config, layout, state, data, at)
        if at[1] == layout.parts - 1:
            state, epoch_losses = _end_epoch(layout.parts, state, data)
            losses.append(np.array(epoch_losses))
        done += 1
        state.loss.block_until_ready()
        now = time.monotonic()
        out_of_time = seconds is not None and now - began > seconds
        due = out_of_time or done == config.epochs * layout.parts
        if checkpoint is not None and (due or now - saved > SECONDS_BETWEEN_CHECKPOINTS):
            save_tree(checkpoint, (state, losses), epochs=len(losses), done=done)
            saved = time.monotonic()
        if out_of_time:
            break
    training, validation = np.moveaxis(np.reshape(losses, (-1, 2, len(keys))), 0, -1)
    return Fitted(state.best, training, validation)


def _begin(config: ImitationConfig, world: World, keys: Sequence[Array]) -> _State:
    models = [make_model(config, world, jax.random.fold_in(key, 1)) for key in keys]
    optimisers = [make_optimiser(config).init(model) for model in models]
    nothing = jnp.zeros(len(keys))
    # A copy, since the state is donated in every part.
    best = jax.tree.map(jnp.array, stack(models))
    return _State(stack(models), stack(optimisers), best, nothing + jnp.inf, stack(keys), nothing)


def make_optimiser(config: ImitationConfig) -> optax.GradientTransformation:
    """Adam with decoupled weight decay."""
    return optax.adamw(config.learning_rate, weight_decay=config.weight_decay)


def _prepare(
    config: ImitationConfig, world: World, datasets: Sequence[Episodes]
) -> tuple[_Data, _Layout]:
    """The stacked datasets and their layout; the last episodes are for validation."""
    lengths = [episodes.lengths for episodes in datasets]
    count = len(lengths[0])
    trained = count - max(1, round(config.validation * count))
    rows = [pack(own, np.arange(trained), world.longest) for own in lengths]
    max_rows = max(len(own.episode) for own in rows)
    per_batch = max(1, round(config.batch * max_rows / trained))
    batches = -(-max_rows // per_batch)
    parts = -(-batches // BATCHES_IN_A_PART)
    held_out = [pack(own, np.arange(trained, count), world.longest) for own in lengths]
    validation = Rows(
        *(
            leaf.reshape(len(datasets), -1, per_batch, world.longest)
            for leaf in stack_rows(held_out, per_batch)
        )
    )
    reward = jnp.stack([jnp.asarray(episodes.reward) for episodes in datasets])
    data = _Data(
        jnp.cumsum(reward[:, :, ::-1], axis=2)[:, :, ::-1],
        # One byte for each bit: the episodes are the largest arrays in memory.
        jnp.stack([jnp.asarray(episodes.observation, jnp.int8) for episodes in datasets]),
        jnp.stack([jnp.asarray(episodes.action, jnp.int8) for episodes in datasets]),
        stack_rows(rows, per_batch * parts),
        validation,
    )
    return data, _Layout(per_batch, parts)


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
    """The summed cross-entropy of the action bits, and the number of steps."""
    logits = model(tokens, rate, key)
    errors = optax.sigmoid_binary_cross_entropy(logits, tokens.action).sum(axis=-1)
    real = tokens.episode >= 0
    return jnp.where(real, errors, 0.0).sum(), real.sum()


@partial(jax.jit, static_argnums=(0, 1), donate_argnums=2)
def _train_part(
    config: ImitationConfig, layout: _Layout, state: _State, data: _Data, at: tuple[int, int]
) -> _State:
    """Every imitator after the part `at` = (epoch, part)."""
    optimiser_rule = make_optimiser(config)
    epoch, part = at

    def mean_loss(model: Any, tokens: Tokens, key: Array) -> Array:
        total, count = loss(model, tokens, config.dropout, key)
        return total / jnp.maximum(count, 1)

    def train_one(state: _State, data: _Data) -> _State:
        epoch_key = jax.random.fold_in(state.key, epoch)
        rows = data.training
        order = jax.random.permutation(epoch_key, rows.episode.shape[0])
        batches = order.reshape(layout.parts, -1, layout.per_batch)[part]

        def improve(carried: tuple[Any, Any, Array], chosen: Array) -> tuple[Any, Array]:
            model, optimiser, key = carried
            key, dropout_key = jax.random.split(key)
            tokens = _tokens(data, Rows(rows.episode[chosen], rows.time[chosen]))
            value, gradient = jax.value_and_grad(mean_loss)(model, tokens, dropout_key)
            change, optimiser = optimiser_rule.update(gradient, optimiser, model)
            return (optax.apply_updates(model, change), optimiser, key), value

        begin = (state.model, state.optimiser, jax.random.fold_in(epoch_key, part))
        (model, optimiser, _), values = jax.lax.scan(improve, begin, batches)
        return state._replace(model=model, optimiser=optimiser, loss=state.loss + values.mean())

    return jax.vmap(train_one)(state, data)


@partial(jax.jit, static_argnums=0, donate_argnums=1)
@partial(jax.vmap, in_axes=(None, 0, 0))
def _end_epoch(parts: int, state: _State, data: _Data) -> tuple[_State, tuple[Array, Array]]:
    """Every imitator with the best model so far, and the epoch's losses."""
    model = state.model

    def validate(carried: tuple[Array, Array], rows: Rows) -> tuple[Any, None]:
        total, count = loss(model, _tokens(data, rows), 0.0, None)
        return (carried[0] + total, carried[1] + count), None

    nothing = (jnp.zeros(()), jnp.zeros((), jnp.int32))
    (total, count), _ = jax.lax.scan(validate, nothing, data.validation)
    validation_loss = total / jnp.maximum(count, 1)
    better = validation_loss < state.best_loss
    best = jax.tree.map(lambda new, old: jnp.where(better, new, old), model, state.best)
    lowest = jnp.minimum(validation_loss, state.best_loss)
    after = state._replace(best=best, best_loss=lowest, loss=jnp.zeros(()))
    return after, (state.loss / parts, validation_loss)
