"""Training of imitators on packed rows of episodes; keeps the model of the best epoch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array
from numpy.typing import NDArray

from trivium.agents.config import ImitationConfig
from trivium.agents.episodes import Episodes
from trivium.agents.imitators import Tokens, make_model
from trivium.agents.training import Training, stack
from trivium.agents.worlds import World

OPEN_ROWS = 8


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


class State(NamedTuple):
    """Imitators between two epochs, stacked."""

    model: Any
    optimiser: Any
    best: Any  # the model with the lowest validation loss so far
    best_loss: Array
    key: Array
    epoch: Array


class Data(NamedTuple):
    """The episodes of one dataset and their rows."""

    to_go: Array  # the reward still to come at every step
    observation: Array
    action: Array
    training: Rows  # [row, position]
    validation: Rows  # [batch, row, position]


class Losses(NamedTuple):
    """The losses of an epoch, one for each imitator."""

    training: Any
    validation: Any


class Imitators(Training):
    """One imitator for each dataset and key, all trained in one vmapped run."""

    def __init__(
        self,
        config: ImitationConfig,
        world: World,
        datasets: Sequence[Episodes],
        keys: Sequence[Array],
    ) -> None:
        self.config = config
        self.data, self.batch = prepare(config, world, datasets)
        models = [make_model(config, world, jax.random.fold_in(key, 1)) for key in keys]
        optimisers = [make_optimiser(config).init(model) for model in models]
        model, count = stack(models), len(keys)
        none = jnp.zeros(count, jnp.int32)
        lowest = jnp.full(count, jnp.inf)
        runs = State(model, stack(optimisers), model, lowest, stack(keys), none)
        super().__init__(runs, config.epochs)

    def segment(self, runs: State) -> Any:
        return train_epoch(self.config, self.batch, runs, self.data)

    def describe(self, seconds: float) -> str:
        loss = self.curve[-1].validation.mean()
        return f"epoch {len(self.curve)} of {self.points}, validation loss {loss:.3f}"

    @property
    def losses(self) -> Losses:
        """The losses of every epoch so far, [seed, epoch]."""
        stored = np.reshape(self.curve, (-1, 2, self.runs.epoch.size))
        return Losses(*np.moveaxis(stored, 0, -1))


def make_optimiser(config: ImitationConfig) -> optax.GradientTransformation:
    """Adam with decoupled weight decay."""
    return optax.adamw(config.learning_rate, weight_decay=config.weight_decay)


def prepare(
    config: ImitationConfig, world: World, datasets: Sequence[Episodes]
) -> tuple[Data, int]:
    """The stacked datasets, the last episodes for validation, and the number of rows in a batch."""
    all_lengths = [episodes.lengths for episodes in datasets]
    count = len(all_lengths[0])
    trained = count - max(1, round(config.validation * count))
    rows = [pack(lengths, np.arange(trained), world.longest) for lengths in all_lengths]
    max_rows = max(len(packed.episode) for packed in rows)
    per_batch = max(1, round(config.batch * max_rows / trained))
    held_out = [pack(lengths, np.arange(trained, count), world.longest) for lengths in all_lengths]
    validation = Rows(
        *(
            leaf.reshape(len(datasets), -1, per_batch, world.longest)
            for leaf in stack_rows(held_out, per_batch)
        )
    )
    reward = jnp.stack([jnp.asarray(episodes.reward) for episodes in datasets])
    data = Data(
        jnp.cumsum(reward[:, :, ::-1], axis=2)[:, :, ::-1],
        # One byte for each bit: the episodes are the largest arrays in memory.
        jnp.stack([jnp.asarray(episodes.observation, jnp.int8) for episodes in datasets]),
        jnp.stack([jnp.asarray(episodes.action, jnp.int8) for episodes in datasets]),
        stack_rows(rows, per_batch),
        validation,
    )
    return data, per_batch


def tokens_of(data: Data, rows: Rows) -> Tokens:
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


@partial(jax.jit, static_argnums=(0, 1))
def train_epoch(
    config: ImitationConfig, per_batch: int, runs: State, datasets: Data
) -> tuple[State, Losses]:
    """Every imitator after one more epoch, with the best model so far."""
    optimiser_rule = make_optimiser(config)

    def mean_loss(model: Any, tokens: Tokens, key: Array) -> Array:
        total, count = loss(model, tokens, config.dropout, key)
        return total / jnp.maximum(count, 1)

    def train_one(state: State, data: Data) -> tuple[State, Losses]:
        epoch_key = jax.random.fold_in(state.key, state.epoch)
        rows = data.training
        order = jax.random.permutation(epoch_key, rows.episode.shape[0])

        def update(carried: tuple[Any, Any, Array], chosen: Array) -> tuple[Any, Array]:
            model, optimiser, key = carried
            key, dropout_key = jax.random.split(key)
            tokens = tokens_of(data, Rows(rows.episode[chosen], rows.time[chosen]))
            value, gradient = jax.value_and_grad(mean_loss)(model, tokens, dropout_key)
            change, optimiser = optimiser_rule.update(gradient, optimiser, model)
            return (optax.apply_updates(model, change), optimiser, key), value

        # The permutation has used epoch_key, so dropout gets a key derived from it.
        start = (state.model, state.optimiser, jax.random.fold_in(epoch_key, 0))
        batches = order.reshape(-1, per_batch)
        (model, optimiser, _), values = jax.lax.scan(update, start, batches)

        def validate(carried: tuple[Array, Array], rows: Rows) -> tuple[Any, None]:
            total, count = loss(model, tokens_of(data, rows), 0.0, None)
            return (carried[0] + total, carried[1] + count), None

        nothing = (jnp.zeros(()), jnp.zeros((), jnp.int32))
        (total, count), _ = jax.lax.scan(validate, nothing, data.validation)
        validation = total / jnp.maximum(count, 1)
        better = validation < state.best_loss
        best = jax.tree.map(lambda new, old: jnp.where(better, new, old), model, state.best)
        lowest = jnp.minimum(validation, state.best_loss)
        after = State(model, optimiser, best, lowest, state.key, state.epoch + 1)
        return after, Losses(values.mean(), validation)

    return jax.vmap(train_one)(runs, datasets)
