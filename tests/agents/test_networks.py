"""Layers against numbers computed by hand; sequences equal steps; the LSTM's own gradient."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from math import atanh, log, tanh
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.agents.cue_world import CueWorld
from trivium.agents.config import AgentConfig, PolicyKind
from trivium.agents.layers import Linear, Norm, dropout, orthogonal
from trivium.agents.lstm import (
    Inputs,
    Layout,
    Memory,
    Norms,
    Vectors,
    cell_step,
    unroll,
)
from trivium.agents.modular import largest
from trivium.agents.networks import MemorylessPolicy, RecurrentPolicy, make_policy

SIZE, BITS, WIDTH, TIME, BATCH = 3, 2, 6, 9, 4
WORLD = CueWorld(SIZE, BITS, longest=TIME)


def recurrent(normalised: bool, *trunk: int) -> RecurrentPolicy:
    """An LSTM, layer-normalised or not."""
    kind: PolicyKind = "lnlstm" if normalised else "lstm"
    config = AgentConfig(policy=kind, width=WIDTH, trunk=trunk)
    return RecurrentPolicy(config, WORLD, jax.random.key(2))


@cache
def policies() -> list[Any]:
    """All kinds of policies; compiled, which is faster than layer by layer."""
    small = AgentConfig(width=WIDTH, trunk=(5,))
    configs = [
        replace(small, policy="mlp"),
        small,
        replace(small, policy="lnlstm", trunk=()),
        replace(small, policy="transformer"),
        replace(small, policy="rim", groups=3, active=2),
    ]
    made = [jax.jit(partial(make_policy, config, WORLD))(jax.random.key(0)) for config in configs]
    for number in (2, 4):
        object.__setattr__(made[number], "layout", Layout(block=2))
    return made


def sequence() -> tuple[Any, Any]:
    """Random observations, and where episodes start."""
    generator = np.random.default_rng(1)
    observations = jnp.asarray(generator.normal(size=(TIME, BATCH, SIZE)), jnp.float32)
    starts = jnp.asarray(generator.random((TIME, BATCH)) < 0.3, jnp.float32).at[0].set(1.0)
    return observations, starts


@jax.jit
def take_step(policy: Any, carry: Any, observation: Any, start: Any) -> Any:
    return policy.step(carry, observation, start)


@jax.jit
def take_steps(policy: Any, carry: Any, observations: Any, starts: Any) -> Any:
    return policy.unroll(carry, observations, starts)


@pytest.mark.parametrize("number", range(5))
def test_a_sequence_is_its_steps(number: int) -> None:
    policy = policies()[number]
    observations, starts = sequence()
    carry, whole = take_steps(policy, policy.initial(BATCH), observations, starts)
    step_carry, outputs = policy.initial(BATCH), []
    for observation, start in zip(observations, starts, strict=True):
        step_carry, output = take_step(policy, step_carry, observation, start)
        outputs.append(output)
    assert whole.logits.shape == (TIME, BATCH, BITS, 2)  # of no and yes
    np.testing.assert_allclose(whole.logits, [each.logits for each in outputs], atol=2e-5)
    np.testing.assert_allclose(whole.value, [each.value for each in outputs], atol=2e-5)
    # The memory leads to the same next step, whichever way it was computed.
    nothing = jnp.zeros(BATCH)
    _, after_whole = take_step(policy, carry, observations[0], nothing)
    _, after_steps = take_step(policy, step_carry, observations[0], nothing)
    np.testing.assert_allclose(after_whole.logits, after_steps.logits, atol=2e-5)


def test_memory_ends_where_an_episode_starts_and_nowhere_else() -> None:
    observations, _ = sequence()
    starts = jnp.zeros((TIME, BATCH)).at[4].set(1.0)
    other_past = observations.at[:3].set(0.5)
    for policy in policies():
        _, one = take_steps(policy, policy.initial(BATCH), observations, starts)
        _, other = take_steps(policy, policy.initial(BATCH), other_past, starts)
        np.testing.assert_allclose(one.logits[4:], other.logits[4:], atol=1e-6)
        remembers = not isinstance(policy, MemorylessPolicy)
        assert bool(jnp.abs(one.logits[3] - other.logits[3]).max() > 1e-3) == remembers


def test_only_active_groups_of_a_modular_network_change() -> None:
    """Two of three groups at every step, not always the same."""
    policy, (observations, starts) = policies()[4], sequence()
    memory, used = policy.initial(BATCH), set()
    for observation, start in zip(observations, starts, strict=True):
        keep = (1 - start)[:, None, None]
        kept = Memory(memory.hidden * keep, memory.cell * keep)
        memory, _ = take_step(policy, kept, observation, jnp.zeros(BATCH))
        changed = np.asarray((memory.hidden != kept.hidden).any(axis=-1))
        assert (changed.sum(axis=1) == 2).all()
        assert ((memory.cell != kept.cell).any(axis=-1) == changed).all()
        used |= {tuple(row) for row in changed.tolist()}
    assert len(used) > 1


def test_groups_of_a_modular_network_read_from_each_other() -> None:
    """One more unit of memory in a group that stays inactive changes what active groups show."""
    policy, (observations, _) = policies()[4], sequence()
    none = jnp.zeros(BATCH)
    memory, _ = take_step(policy, policy.initial(BATCH), observations[0], none)
    after, _ = take_step(policy, memory, observations[1], none)
    asleep = (after.hidden == memory.hidden).all(axis=-1, keepdims=True)
    other = memory._replace(hidden=memory.hidden + 0.01 * asleep)
    moved, _ = take_step(policy, other, observations[1], none)
    same = ((moved.hidden == other.hidden).all(axis=-1, keepdims=True) == asleep).all(axis=(1, 2))
    assert same.any()  # where the same groups are active as before
    difference = np.abs(np.where(asleep, 0.0, moved.hidden - after.hidden)).max(axis=(1, 2))
    assert (difference[np.asarray(same)] > 1e-6).all()


def test_the_largest_scores_are_as_many_as_asked_for() -> None:
    scores = jnp.array([[1.0, 3.0, 2.0, 0.0], [5.0, 5.0, 5.0, 5.0], [0.0, 1.0, 1.0, 1.0]])
    assert largest(scores, 2).tolist() == [
        [False, True, True, False],
        [True, True, False, False],
        [False, True, True, False],
    ]


def test_a_step_of_the_lstm() -> None:
    """Gates of 1/2 (input), 3/4 (forget), 1/4 (output), and an update of 1/2."""
    gates = jnp.array([[0.0, log(3), -log(3), atanh(0.5)]])
    vectors = Vectors(jnp.array([1.0, 2.0, 3.0, 4.0]), None)
    after = cell_step(vectors, gates - 5.0, 5.0 - vectors.bias, jnp.array([[2.0]]))
    np.testing.assert_allclose(after.cell, [[0.75 * 2 + 0.5 * 0.5]], rtol=1e-5)
    np.testing.assert_allclose(after.hidden, [[0.25 * tanh(1.75)]], rtol=1e-5)


def test_layer_norms() -> None:
    norm = Norm(2)
    object.__setattr__(norm, "scale", jnp.array([2.0, 2.0]))
    object.__setattr__(norm, "shift", jnp.array([1.0, 0.5]))
    found = norm(jnp.array([1.0, 3.0]))
    np.testing.assert_allclose(found, [-1.0, 2.5], atol=1e-4)


def test_a_step_of_the_layer_norm_lstm() -> None:
    """All three quantities are normalised, so that their sizes do not matter."""
    vectors = Vectors(jnp.zeros(8), Norms(Norm(8), Norm(8), Norm(2)))
    generator = np.random.default_rng(0)
    from_input, from_hidden = jnp.asarray(generator.normal(size=(2, 1, 8)), jnp.float32) * 50
    after = cell_step(vectors, from_input, from_hidden * 3, jnp.array([[30.0, -70.0]]))
    gates = Norm(8)(from_input) + Norm(8)(from_hidden)
    # Two numbers with mean 0 and variance 1 are 1 and -1.
    expected = jax.nn.sigmoid(gates[:, 4:6]) * jnp.tanh(jnp.array([1.0, -1.0]))
    np.testing.assert_allclose(after.hidden, expected, atol=1e-4)


def test_dropout_keeps_the_mean() -> None:
    ones = jnp.ones(40_000)
    dropped = np.asarray(dropout(ones, 0.25, jax.random.key(0)))
    assert sorted(set(dropped.tolist())) == pytest.approx([0.0, 4 / 3])
    # Standard error 0.0022 of the share, and 0.0029 of the mean.
    assert abs((dropped == 0).mean() - 0.25) < 0.011
    assert abs(dropped.mean() - 1.0) < 0.015
    assert dropout(ones, 0.25, None) is ones
    assert dropout(ones, 0.0, jax.random.key(0)) is ones


def test_a_dense_layer() -> None:
    layer = Linear(jnp.array([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]]))
    object.__setattr__(layer, "bias", jnp.array([0.0, 0.0, 0.5]))
    assert layer(jnp.array([[1.0, 1.0], [2.0, 0.0]])).tolist() == [[11, 22, 33.5], [2, 4, 6.5]]


@pytest.mark.parametrize("normalised", [False, True])
def test_the_gradient_of_the_lstm_is_that_of_a_plain_scan(normalised: bool) -> None:
    policy = recurrent(normalised)
    observations, starts = sequence()
    generator = np.random.default_rng(5)
    memory = Memory(*(jnp.asarray(generator.normal(size=(BATCH, WIDTH))) for _ in range(2)))
    weight = jnp.asarray(generator.normal(size=(TIME, BATCH, WIDTH)))

    def plain(vectors: Any, weights: Any, inputs: Any, keep: Any, memory: Memory) -> Any:
        def step(memory: Memory, now: Any) -> Any:
            from_input, keep = now
            product = (memory.hidden * keep) @ weights
            after = cell_step(vectors, from_input, product, memory.cell * keep)
            return after, after.hidden

        after, hidden = jax.lax.scan(step, memory, (inputs, keep))
        return (hidden * weight).sum() + jnp.sin(after.cell).sum() + jnp.cos(after.hidden).sum()

    def ours(vectors: Any, weights: Any, inputs: Any, keep: Any, memory: Memory) -> Any:
        hidden, after = unroll(1, vectors, weights, Inputs(inputs, keep), memory)
        return (hidden * weight).sum() + jnp.sin(after.cell).sum() + jnp.cos(after.hidden).sum()

    inputs = observations @ policy.input_weights
    values = (policy.vectors, policy.hidden_weights, inputs, 1.0 - starts[..., None], memory)
    expected = jax.jit(jax.grad(plain, argnums=(0, 1, 2, 4)))(*values)
    found = jax.jit(jax.grad(ours, argnums=(0, 1, 2, 4)))(*values)
    jax.tree.map(
        lambda one, other: np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5),
        expected,
        found,
    )


@pytest.mark.parametrize(("piece", "normalised"), [(2, False), (3, True), (6, False)])
def test_pieces_side_by_side_are_the_whole_sequence(piece: int, normalised: bool) -> None:
    """Outputs, gradients and the memory at the end, for episodes of one to four steps."""
    time, longest = 24, 4
    generator = np.random.default_rng(piece)
    starts = (generator.random((time, BATCH)) < 0.2).astype(np.float32)
    begun = generator.integers(0, longest, BATCH)  # how long the carried episodes have lasted
    for step in range(time):
        starts[step] = np.maximum(starts[step], begun >= longest)
        begun = np.where(starts[step] > 0, 1, begun + 1)
    observations = jnp.asarray(generator.normal(size=(time, BATCH, SIZE)), jnp.float32)
    weight = jnp.asarray(generator.normal(size=(time, BATCH)), jnp.float32)

    def run(layout: Layout) -> Any:
        policy = recurrent(normalised, 64, 64)
        object.__setattr__(policy, "layout", layout)
        noise = np.random.default_rng(7)
        carry = jax.tree.map(
            lambda leaf: leaf + noise.normal(size=leaf.shape), policy.initial(BATCH)
        )

        def total(policy: RecurrentPolicy) -> Any:
            after, output = policy.unroll(carry, observations, jnp.asarray(starts))
            return (output.value * weight).sum(), (after, output)

        (_, seen), gradient = jax.jit(jax.value_and_grad(total, has_aux=True))(policy)
        return jax.tree.leaves((seen, gradient))

    for one, other in zip(run(Layout()), run(Layout(2, piece, longest)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("shape", [(4, 9), (9, 4), (5, 5)])
def test_orthogonal_weights(shape: tuple[int, int]) -> None:
    made = np.asarray(orthogonal(jax.random.key(0), *shape, 2.0))
    product = made @ made.T if shape[0] <= shape[1] else made.T @ made
    np.testing.assert_allclose(product, 4.0 * np.eye(min(shape)), atol=1e-4)
