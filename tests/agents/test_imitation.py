"""Packing, the target return, and imitators that learn a trivial world."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.agents.cue_world import HIDDEN, SHOWN, Cues, CueWorld
from trivium.agents.config import ImitationConfig
from trivium.agents.episodes import (
    Episodes,
    Moment,
    RandomActor,
    greedy_episodes,
    sample_episodes,
)
from trivium.agents.imitation import (
    OPEN_ROWS,
    Imitators,
    loss,
    pack,
    prepare,
    stack_rows,
    tokens_of,
)
from trivium.agents.imitators import (
    Cloner,
    DecisionTransformer,
    ImitatorActor,
    Tokens,
    make_model,
)
from trivium.agents.training import pick


@given(st.lists(st.integers(1, 8), min_size=1, max_size=60), st.integers(1, 7))
def test_packing_keeps_every_step_once(lengths: list[int], multiple: int) -> None:
    own = np.array(lengths)
    rows = pack(own, np.arange(len(own)), 12)
    real = rows.episode >= 0
    steps = sorted(zip(rows.episode[real].tolist(), rows.time[real].tolist(), strict=True))
    assert steps == [(number, time) for number, size in enumerate(lengths) for time in range(size)]
    for episode, time in zip(rows.episode, rows.time, strict=True):
        for number in set(episode[episode >= 0].tolist()):
            positions = np.flatnonzero(episode == number)
            assert np.array_equal(positions, np.arange(positions[0], positions[0] + len(positions)))
            assert np.array_equal(time[positions], np.arange(len(positions)))
    # While a row is open nothing is put elsewhere that would have fitted into it.
    assert len(rows.episode) <= -(-own.sum() // 12) * 2 + OPEN_ROWS
    stacked = stack_rows([rows, pack(own[:1], np.arange(1), 12)], multiple)
    assert stacked.episode.shape[1] % multiple == 0
    assert 0 <= stacked.episode.shape[1] - len(rows.episode) < multiple
    assert np.array_equal(stacked.episode[0][: len(rows.episode)], rows.episode)
    assert (stacked.episode[0][len(rows.episode) :] == -1).all()
    assert (stacked.episode[1] >= 0).sum() == lengths[0]


def test_neighbours_in_a_row_do_not_see_each_other() -> None:
    config = ImitationConfig(width=8, layers=2)
    model = DecisionTransformer(config, replace(CueWorld(), longest=6), jax.random.key(0))
    generator = np.random.default_rng(0)
    tokens = Tokens(
        jnp.asarray(generator.normal(size=(1, 6)), jnp.float32),
        jnp.asarray(generator.integers(0, 2, (1, 6, 2)), jnp.float32),
        jnp.asarray(generator.integers(0, 2, (1, 6, 1))),
        jnp.array([[0, 1, 2, 0, 1, 2]]),
        jnp.array([[4, 4, 4, 9, 9, 9]]),
    )
    alone = jax.tree.map(lambda leaf: leaf[:, 3:], tokens)
    predict = jax.jit(lambda tokens: model(tokens))  # noqa: PLW0108 (a model has no hash)
    np.testing.assert_allclose(predict(tokens)[:, 3:], predict(alone), atol=1e-5)
    # A step sees the rewards to go, the observations up to now and the actions before.
    for field, change in (("action", 1), ("observation", 1), ("to_go", 1.0)):
        for position in range(6):
            values = getattr(tokens, field)
            changed = values.at[:, position].set(change - values[:, position])
            moved = predict(tokens._replace(**{field: changed})) - predict(tokens)
            first, last = position + (field == "action"), position // 3 * 3 + 2
            expected = [first <= step <= last for step in range(6)]
            assert (jnp.abs(moved[0, :, 0]) > 1e-5).tolist() == expected, (field, position)


@pytest.mark.parametrize(("window", "first_seen"), [(1, 0), (2, 1), (30, 2)])
def test_a_cloner_reads_a_window_of_its_own_episode(window: int, first_seen: int) -> None:
    config = ImitationConfig("cloning", width=8, layers=2, window=window)
    model = Cloner(config, replace(CueWorld(), longest=30), jax.random.key(0))
    tokens = Tokens(
        jnp.zeros((1, 6)),
        jnp.zeros((1, 6, 2)),
        jnp.zeros((1, 6, 1)),
        jnp.array([[0, 1, 2, 0, 1, 2]]),
        jnp.array([[4, 4, 4, 9, 9, 9]]),
    )
    for position in range(6):
        changed = tokens._replace(observation=tokens.observation.at[:, position].set(1.0))
        moved = jnp.abs(model(changed) - model(tokens))[0, :, 0] > 1e-6
        last = min(position + first_seen, position // 3 * 3 + 2)
        assert moved.tolist() == [position <= step <= last for step in range(6)]


def test_the_authors_transformer_adds_up_bits_and_bounds_its_logits() -> None:
    config = ImitationConfig(width=8, layers=1, reading="bits", bounded=True)
    model = make_model(config, CueWorld(), jax.random.key(0))
    assert model.embed_observation.weight.shape == (2, 8)
    loud = jax.tree.map(lambda leaf: 100 * leaf, model)
    zeros = jnp.zeros((1, 2), jnp.int32)
    tokens = Tokens(jnp.ones((1, 2)), jnp.ones((1, 2, 2)), jnp.ones((1, 2, 1)), zeros, zeros)
    assert np.abs(loud(tokens)).max() <= 1.0


class Echo:
    """A model that wants a bit as much as there is reward to go."""

    def __call__(self, tokens: Tokens) -> Any:
        return tokens.to_go[..., None]


def test_the_target_is_what_remains_to_be_earned() -> None:
    player = ImitatorActor(CueWorld(longest=4), Echo(), target=3.0)
    past, uniform = player.initial(2), jnp.array([[0.9], [0.97]])
    actions = []
    for step, reward in enumerate((0.0, 0.5, 1.0)):
        observation = jnp.full((2, 2), float(step))
        moment = Moment(observation, jnp.zeros(2), jnp.full(2, reward))
        past, action = player.act(past, moment, uniform)
        actions.append(action[:, 0].tolist())
    assert past.to_go[0].tolist() == [3.0, 2.5, 1.5, 0.0]
    assert past.observation[1, :, 0].tolist() == [0.0, 1.0, 2.0, 0.0]
    # The chances are 0.953, 0.924 and 0.818.
    assert actions == [[1, 0], [1, 0], [0, 0]]
    assert past.action[..., 0].tolist() == [[1, 1, 0, 0], [0, 0, 0, 0]]
    assert float(ImitatorActor(CueWorld(), Echo()).target) == 1.0


def episodes_by_hand() -> Episodes:
    """Two episodes of one and two steps."""
    live = np.array([[1.0, 0.0], [1.0, 1.0]], np.float32)
    reward = np.array([[-1.0, 0.0], [0.5, 2.0]], np.float32)
    observation = np.array([[[1, 0], [0, 0]], [[0, 1], [1, 1]]], np.float32)
    action = np.array([[[1], [0]], [[0], [1]]])
    return Episodes(observation, action, reward, live, live, live, live)


def test_tokens_hold_the_reward_to_go() -> None:
    config = ImitationConfig(validation=0.5, batch=1)
    data, batch = prepare(config, CueWorld(), [episodes_by_hand()])
    assert batch == 1
    assert data.training.episode.tolist() == [[[0, -1]]]
    assert data.validation.episode.tolist() == [[[[1, 1]]]]
    tokens = tokens_of(pick(data, 0), pick(pick(data.validation, 0), 0))
    assert tokens.to_go.tolist() == [[2.5, 2.0]]
    assert tokens.observation.tolist() == [[[0, 1], [1, 1]]]
    assert tokens.action.tolist() == [[[0], [1]]]


def test_the_loss_leaves_padding_out() -> None:
    tokens = Tokens(
        jnp.array([[np.log(3), 0.0, 7.0]]),
        jnp.zeros((1, 3, 2)),
        jnp.array([[[1], [0], [1]]]),
        jnp.array([[0, 1, 0]]),
        jnp.array([[0, 0, -1]]),
    )
    total, count = loss(lambda tokens, rate, key: tokens.to_go[..., None], tokens, 0.0, None)
    assert float(total) == pytest.approx(-np.log(0.75 * 0.5))
    assert int(count) == 2


def fit(
    config: ImitationConfig, datasets: list[Episodes], keys: list[jax.Array], **options: Any
) -> Imitators:
    """Imitators trained in the cue world."""
    training = Imitators(config, CueWorld(), datasets, keys)
    training.complete(**options)
    return training


def random_data(tables: Cues, episodes: int) -> Episodes:
    """Episodes of random play."""
    sample = jax.jit(partial(sample_episodes, CueWorld(), episodes=episodes))
    data: Episodes = jax.tree.map(np.asarray, sample(tables, RandomActor(), key=jax.random.key(0)))
    return data


def test_a_cloner_copies_an_expert() -> None:
    world = CueWorld()
    data = random_data(SHOWN, 800)
    right = data.reward.sum(axis=1) > 0
    data = jax.tree.map(lambda leaf: leaf[right], data)
    config = ImitationConfig("cloning", width=16, learning_rate=5e-3, epochs=8, batch=32)
    fitted = fit(config, [data], [jax.random.key(1)])
    assert fitted.losses.validation.shape == (1, 8)
    assert fitted.losses.training[0, -1] < fitted.losses.training[0, 0]
    player = ImitatorActor(world, pick(fitted.runs.best, 0))
    played = jax.jit(partial(greedy_episodes, world))(SHOWN, player)
    assert (np.asarray(played.reward).sum(axis=1) == 1.0).all()


@pytest.mark.slow
def test_a_decision_transformer_earns_what_it_is_asked_for() -> None:
    """From random data: all answers right when it aims at 1, and all wrong when it aims at -1."""
    world = CueWorld()
    config = ImitationConfig(width=16, layers=2, dropout=0.0, learning_rate=5e-3, epochs=12)
    config = replace(config, batch=32)
    fitted = fit(config, [random_data(HIDDEN, 600)], [jax.random.key(1)])
    for target in (1.0, -1.0):
        player = ImitatorActor(world, pick(fitted.runs.best, 0), target)
        played = jax.jit(partial(greedy_episodes, world))(HIDDEN, player)
        assert np.asarray(played.reward).sum(axis=1).tolist() == [target, target]


OVERFITTED = ImitationConfig("cloning", width=16, learning_rate=0.1, epochs=3, batch=8)


def test_the_best_epoch_is_kept_and_time_may_run_out() -> None:
    data, keys = [random_data(HIDDEN, 60)] * 2, [jax.random.key(1), jax.random.key(2)]
    whole, first = (fit(OVERFITTED, data, keys, seconds=limit) for limit in (None, 0.0))
    assert (len(whole.curve), len(first.curve)) == (3, 1)
    assert whole.losses.validation[0].argmin() == 0
    assert first.losses.validation.shape == (2, 1)
    jax.tree.map(np.testing.assert_array_equal, pick(whole.runs.best, 0), pick(first.runs.best, 0))


def test_an_interrupted_fit_is_the_same_fit(tmp_path: Path) -> None:
    """Interrupted after every epoch."""
    data, keys = [random_data(HIDDEN, 60)] * 2, [jax.random.key(1), jax.random.key(2)]
    whole = fit(OVERFITTED, data, keys)
    for epoch in range(OVERFITTED.epochs):
        part = fit(OVERFITTED, data, keys, seconds=0.0, checkpoint=tmp_path / "fit.eqx")
        assert len(part.curve) == epoch + 1
    np.testing.assert_array_equal(whole.losses.validation, part.losses.validation)
    jax.tree.map(np.testing.assert_array_equal, whole.runs.best, part.runs.best)


def test_the_same_keys_fit_the_same_imitators_and_others_do_not() -> None:
    data, keys = [random_data(HIDDEN, 60)] * 2, [jax.random.key(1), jax.random.key(2)]
    one, again = (fit(OVERFITTED, data, keys) for _ in range(2))
    jax.tree.map(np.testing.assert_array_equal, one.runs.best, again.runs.best)
    weights = np.asarray(one.runs.best.layers[0].weight)
    assert np.abs(weights[0] - weights[1]).max() > 0.1
