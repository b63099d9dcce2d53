"""Packing, and imitators that learn a trivial world."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.agents.cue_world import CUES, CueWorld
from trivium.agents.acting import RandomActor, greedy_episodes, sample_episodes
from trivium.agents.configuration import ImitationConfig
from trivium.agents.imitation import actor, fit
from trivium.agents.packing import OPEN_ROWS, pack, split_rows
from trivium.agents.sequence import DecisionTransformer, Tokens
from trivium.agents.training import pick


@given(st.lists(st.integers(1, 12), min_size=1, max_size=60), st.integers(1, 7))
def test_packing_keeps_every_moment_once(lengths: list[int], per_batch: int) -> None:
    own = np.array(lengths)
    rows = pack(own, np.arange(len(own)), 12)
    real = rows.episode >= 0
    moments = sorted(zip(rows.episode[real].tolist(), rows.time[real].tolist(), strict=True))
    assert moments == [
        (number, time) for number, size in enumerate(lengths) for time in range(size)
    ]
    for episode, time in zip(rows.episode, rows.time, strict=True):
        for number in set(episode[episode >= 0].tolist()):
            places = np.flatnonzero(episode == number)
            assert np.array_equal(places, np.arange(places[0], places[0] + len(places)))
            assert np.array_equal(time[places], np.arange(len(places)))
    # While a row is open nothing is put elsewhere that would have fitted into it.
    assert len(rows.episode) <= -(-own.sum() // 12) * 2 + OPEN_ROWS
    batched = split_rows(rows, per_batch)
    assert batched.episode.shape[1:] == (per_batch, 12)
    assert np.array_equal(batched.episode.reshape(-1, 12)[: len(rows.episode)], rows.episode)


def test_neighbours_in_a_row_do_not_see_each_other() -> None:
    model = DecisionTransformer(2, 1, jax.random.key(0), width=8, layers=2, longest=6)
    generator = np.random.default_rng(0)
    tokens = Tokens(
        jnp.asarray(generator.normal(size=(1, 6)), jnp.float32),
        jnp.asarray(generator.integers(0, 2, (1, 6, 2)), jnp.float32),
        jnp.asarray(generator.integers(0, 2, (1, 6, 1))),
        jnp.array([[0, 1, 2, 0, 1, 2]]),
        jnp.array([[4, 4, 4, 9, 9, 9]]),
    )
    alone = jax.tree.map(lambda leaf: leaf[:, 3:], tokens)
    np.testing.assert_allclose(model(tokens)[:, 3:], model(alone), atol=1e-5)


@pytest.mark.parametrize(("model", "shown"), [("cloning", True), ("decision-transformer", False)])
def test_imitators_learn_a_trivial_world(model: str, shown: bool) -> None:
    """A cloner copies an expert; a decision transformer gets the best out of random data."""
    world = CueWorld(shown=shown)
    sample = jax.jit(partial(sample_episodes, world, episodes=1500))
    data = jax.tree.map(np.asarray, sample(CUES, RandomActor(), key=jax.random.key(0)))
    if model == "cloning":
        right = data.reward.sum(axis=1) > 0
        data = jax.tree.map(lambda leaf: leaf[right], data)
    config = ImitationConfig(
        model=model,  # type: ignore[arg-type]
        width=16,
        layers=2,
        dropout=0.0,
        learning_rate=2e-3,
        epochs=12,
        batch=32,
    )
    fitted = fit(config, world, [data], [jax.random.key(1)])
    assert fitted.validation_loss.shape == (1, 12)
    player = actor(world, pick(fitted.model, 0))
    played = greedy_episodes(world, CUES, player)
    assert (np.asarray(played.reward).sum(axis=1) == 1.0).all()


def test_the_same_keys_fit_the_same_imitators() -> None:
    world = CueWorld()
    data = jax.tree.map(
        np.asarray, sample_episodes(world, CUES, RandomActor(), 200, jax.random.key(0))
    )
    config = ImitationConfig(model="cloning", width=4, epochs=2)
    first, again = (fit(config, world, [data], [jax.random.key(1)]) for _ in range(2))
    jax.tree.map(np.testing.assert_array_equal, first.model, again.model)
