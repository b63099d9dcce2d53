"""The networks: sequences equal steps, and the hand-made gradient equals the automatic one."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from trivium.agents.networks import HistoryPolicy, MemorylessPolicy, RecurrentPolicy, orthogonal
from trivium.agents.recurrent import IN_A_ROW, Layout, Memory, Moments, cell_step, unroll

SIZE, BITS, WIDTH, TIME, BATCH = 3, 2, 6, 9, 4


def policies() -> list[Any]:
    key = jax.random.key(0)
    shape = (SIZE, BITS, WIDTH, key)
    return [
        MemorylessPolicy(*shape),
        RecurrentPolicy(*shape, trunk=(5,)),
        RecurrentPolicy(*shape, trunk=(), normalised=True, layout=Layout(block=2)),
        HistoryPolicy(*shape, window=TIME + 1, layers=1),
    ]


def moments() -> tuple[Any, Any]:
    generator = np.random.default_rng(1)
    observations = jnp.asarray(generator.normal(size=(TIME, BATCH, SIZE)), jnp.float32)
    starts = jnp.asarray(generator.random((TIME, BATCH)) < 0.3, jnp.float32).at[0].set(1.0)
    return observations, starts


@pytest.mark.parametrize("number", range(4))
def test_a_sequence_is_its_steps(number: int) -> None:
    policy = policies()[number]
    observations, starts = moments()
    carry, whole = policy.unroll(policy.initial(BATCH), observations, starts)
    step_carry, outputs = policy.initial(BATCH), []
    for observation, start in zip(observations, starts, strict=True):
        step_carry, output = policy.step(step_carry, observation, start)
        outputs.append(output)
    stepped = jax.tree.map(lambda *leaves: jnp.stack(leaves), *outputs)
    jax.tree.map(
        lambda one, other: np.testing.assert_allclose(one, other, atol=2e-5), whole, stepped
    )
    # What is carried on leads to the same next moment, whichever way it was come by.
    nothing = jnp.zeros(BATCH)
    _, after_whole = policy.step(carry, observations[0], nothing)
    _, after_steps = policy.step(step_carry, observations[0], nothing)
    np.testing.assert_allclose(after_whole.logits, after_steps.logits, atol=2e-5)


def test_what_came_before_an_episode_does_not_matter() -> None:
    observations, starts = moments()
    starts = starts.at[4].set(1.0)
    for policy in policies():
        _, one = policy.unroll(policy.initial(BATCH), observations, starts)
        other_past = observations.at[:4].set(0.5)
        _, other = policy.unroll(policy.initial(BATCH), other_past, starts)
        np.testing.assert_allclose(one.logits[4:], other.logits[4:], atol=1e-6)


@pytest.mark.parametrize("normalised", [False, True])
def test_the_gradient_of_the_lstm_is_that_of_a_plain_scan(normalised: bool) -> None:
    policy = RecurrentPolicy(SIZE, BITS, WIDTH, jax.random.key(2), normalised=normalised, trunk=())
    observations, starts = moments()
    generator = np.random.default_rng(5)
    memory = Memory(*(jnp.asarray(generator.normal(size=(BATCH, WIDTH))) for _ in range(2)))
    weight = jnp.asarray(generator.normal(size=(TIME, BATCH, WIDTH)))

    def plain(small: Any, weights: Any, inputs: Any, kept: Any, memory: Memory) -> Any:
        def step(memory: Memory, moment: Any) -> Any:
            from_input, keep = moment
            product = (memory.hidden * keep) @ weights
            after = cell_step(small, from_input, product, memory.cell * keep)
            return after, after.hidden

        after, hidden = jax.lax.scan(step, memory, (inputs, kept))
        return (hidden * weight).sum() + jnp.sin(after.cell).sum() + jnp.cos(after.hidden).sum()

    def ours(small: Any, weights: Any, inputs: Any, kept: Any, memory: Memory) -> Any:
        hidden, after = unroll(1, small, weights, Moments(inputs, kept), memory)
        return (hidden * weight).sum() + jnp.sin(after.cell).sum() + jnp.cos(after.hidden).sum()

    inputs = observations @ policy.input_weights
    values = (policy.small, policy.hidden_weights, inputs, 1.0 - starts[..., None], memory)
    wanted = jax.grad(plain, argnums=(0, 1, 2, 4))(*values)
    found = jax.grad(ours, argnums=(0, 1, 2, 4))(*values)
    jax.tree.map(
        lambda one, other: np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5),
        wanted,
        found,
    )


@pytest.mark.parametrize("normalised", [False, True])
@pytest.mark.parametrize("piece", [2, 3, 6])
def test_pieces_side_by_side_are_the_whole_sequence(piece: int, normalised: bool) -> None:
    """Outputs, gradients and what is carried on, for episodes of one to four steps."""
    time, longest = 24, 4
    generator = np.random.default_rng(piece)
    starts = (generator.random((time, BATCH)) < 0.2).astype(np.float32)
    begun = generator.integers(0, longest, BATCH)  # how long the carried episodes have lasted
    for moment in range(time):
        starts[moment] = np.maximum(starts[moment], begun >= longest)
        begun = np.where(starts[moment] > 0, 1, begun + 1)
    observations = jnp.asarray(generator.normal(size=(time, BATCH, SIZE)), jnp.float32)
    weight = jnp.asarray(generator.normal(size=(time, BATCH)), jnp.float32)

    def run(layout: Layout) -> Any:
        policy = RecurrentPolicy(
            SIZE, BITS, WIDTH, jax.random.key(2), normalised=normalised, layout=layout
        )
        noise = np.random.default_rng(7)
        carry = jax.tree.map(
            lambda leaf: leaf + noise.normal(size=leaf.shape), policy.initial(BATCH)
        )

        def total(policy: RecurrentPolicy) -> Any:
            after, output = policy.unroll(carry, observations, jnp.asarray(starts))
            return (output.value * weight).sum(), (after, output)

        (_, seen), gradient = jax.value_and_grad(total, has_aux=True)(policy)
        return jax.tree.leaves((seen, gradient))

    for one, other in zip(run(IN_A_ROW), run(Layout(2, piece, longest)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("shape", [(4, 9), (9, 4), (5, 5)])
def test_orthogonal_weights(shape: tuple[int, int]) -> None:
    made = np.asarray(orthogonal(jax.random.key(0), *shape, 2.0))
    product = made @ made.T if shape[0] <= shape[1] else made.T @ made
    np.testing.assert_allclose(product, 4.0 * np.eye(min(shape)), atol=1e-4)
