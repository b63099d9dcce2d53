"""An LSTM over whole sequences, with a backward pass whose weight gradient is one product.

Differentiating a scan would add to the gradient of the recurrent weights at every step, which
reads and writes the largest matrix of the network once a step. Here the backward scan keeps
only the gradient of what the weights produced; the weights' own gradient follows at the end.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

NORM_EPSILON = 1e-5


class Memory(NamedTuple):
    """What an LSTM carries from step to step."""

    hidden: Array
    cell: Array


class Norms(NamedTuple):
    """Scale and shift of the three normalised quantities of a layer-norm LSTM."""

    input_scale: Array
    input_shift: Array
    hidden_scale: Array
    hidden_shift: Array
    cell_scale: Array
    cell_shift: Array


class Small(NamedTuple):
    """The parameters of a cell that are vectors: its bias, and its norms if it has any."""

    bias: Array
    norms: Norms | None


class Moments(NamedTuple):
    """A sequence, time first: what the inputs contribute, and what is kept of the memory."""

    from_inputs: Array  # [time, batch, 4 * width]
    kept: Array  # [time, batch, 1]; 0 forgets before a moment


def layer_norm(values: Array, scale: Array, shift: Array) -> Array:
    """The values with mean 0 and variance 1 along the last axis, scaled and shifted."""
    centred = values - values.mean(axis=-1, keepdims=True)
    variance = jnp.square(centred).mean(axis=-1, keepdims=True)
    return centred * jax.lax.rsqrt(variance + NORM_EPSILON) * scale + shift


def cell_step(small: Small, from_input: Array, from_hidden: Array, cell: Array) -> Memory:
    """One step from the two products; gates in the order input, forget, output, update."""
    norms = small.norms
    if norms is not None:
        from_input = layer_norm(from_input, norms.input_scale, norms.input_shift)
        from_hidden = layer_norm(from_hidden, norms.hidden_scale, norms.hidden_shift)
    gates = from_input + from_hidden + small.bias
    into, keep, out, update = jnp.split(gates, 4, axis=-1)
    cell = jax.nn.sigmoid(keep) * cell + jax.nn.sigmoid(into) * jnp.tanh(update)
    shown = cell if norms is None else layer_norm(cell, norms.cell_scale, norms.cell_shift)
    return Memory(jax.nn.sigmoid(out) * jnp.tanh(shown), cell)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def unroll(
    block: int, small: Small, weights: Array, moments: Moments, memory: Memory
) -> tuple[Array, Memory]:
    """Hidden states after every step and the memory at the end.

    `block` steps are compiled as one piece.
    """
    hidden, after, _ = _forward(block, small, weights, moments, memory)
    return hidden, after


def _forward(
    block: int, small: Small, weights: Array, moments: Moments, memory: Memory
) -> tuple[Array, Memory, tuple[Array, Array, Array]]:
    def step(memory: Memory, moment: Moments) -> tuple[Memory, tuple[Array, Array, Array, Array]]:
        from_input, keep = moment
        hidden, cell = memory.hidden * keep, memory.cell * keep
        from_hidden = hidden @ weights
        after = cell_step(small, from_input, from_hidden, cell)
        return after, (after.hidden, hidden, cell, from_hidden)

    after, (out, *before) = jax.lax.scan(step, memory, moments, unroll=block)
    return out, after, (before[0], before[1], before[2])


Residuals = tuple[Small, Array, Moments, tuple[Array, Array, Array]]


def _unroll_forward(
    block: int, small: Small, weights: Array, moments: Moments, memory: Memory
) -> tuple[tuple[Array, Memory], Residuals]:
    out, after, before = _forward(block, small, weights, moments, memory)
    return (out, after), (small, weights, moments, before)


def _unroll_backward(
    block: int, residuals: Residuals, gradients: tuple[Array, Memory]
) -> tuple[Small, Array, Moments, Memory]:
    small, weights, moments, (hidden, cell, from_hidden) = residuals
    out_gradient, after_gradient = gradients

    def step(
        carry: Memory, inputs: tuple[Array, Array, Array, Array, Array]
    ) -> tuple[Memory, tuple[Array, Memory]]:
        gradient, from_input, keep, cell_before, product = inputs
        total = Memory(carry.hidden + gradient, carry.cell)
        _, pull = jax.vjp(
            lambda product, cell: cell_step(small, from_input, product, cell), product, cell_before
        )
        product_gradient, cell_gradient = pull(total)
        before = Memory((product_gradient @ weights.T) * keep, cell_gradient * keep)
        return before, (product_gradient, total)

    before, (product_gradient, totals) = jax.lax.scan(
        step,
        after_gradient,
        (out_gradient, *moments, cell, from_hidden),
        reverse=True,
        unroll=block,
    )
    # Everything that is not sequential is done for all steps at once.
    _, pull = jax.vjp(
        lambda small, from_inputs: cell_step(small, from_inputs, from_hidden, cell),
        small,
        moments.from_inputs,
    )
    small_gradient, input_gradient = pull(totals)
    weight_gradient = jnp.einsum("tbh,tbg->hg", hidden, product_gradient)
    moment_gradient = Moments(input_gradient, jnp.zeros_like(moments.kept))
    return small_gradient, weight_gradient, moment_gradient, before


unroll.defvjp(_unroll_forward, _unroll_backward)


class Layout(NamedTuple):
    """How a sequence is laid out; results do not depend on it but for rounding."""

    block: int = 1  # steps that are compiled as one
    piece: int = 0  # steps of a piece that is run beside others; 0 runs all in a row
    longest: int = 0  # no episode has more steps; pieces rely on it


IN_A_ROW = Layout()


def unroll_laid_out(
    layout: Layout, small: Small, weights: Array, moments: Moments, memory: Memory
) -> tuple[Array, Memory]:
    """The same as `unroll`, with pieces of the sequence side by side where the layout says so.

    Memory ends where an episode starts. So each piece is run from one longest episode before
    it with an empty memory: by its own first moment the memory is what it would have been.
    More is computed, and far less has to wait.
    """
    block, piece, longest = layout
    time, batch = moments.kept.shape[:2]
    length = longest - 1 + piece
    if not piece or time <= length or time % piece:
        return unroll(min(block, time), small, weights, moments, memory)
    own = np.arange(0, time, piece)
    first = np.maximum(own - (longest - 1), 0)
    chosen = first + np.arange(length)[:, None]  # [time, piece]
    beside = Moments(*(_beside(leaf[chosen]) for leaf in moments))
    known = jnp.asarray(first == 0, moments.from_inputs.dtype)[:, None, None]
    begun = Memory(*((known * leaf).reshape(-1, leaf.shape[-1]) for leaf in memory))
    hidden, after = unroll(min(block, length), small, weights, beside, begun)
    apart = hidden.reshape(length, len(own), batch, -1)
    places = own - first + np.arange(piece)[:, None]
    joined = apart[places, np.arange(len(own))].swapaxes(0, 1)
    return joined.reshape(time, batch, -1), Memory(*(leaf[-batch:] for leaf in after))


def _beside(pieces: Array) -> Array:
    """[time, piece, batch, ...] as [time, piece * batch, ...]."""
    return pieces.reshape(pieces.shape[0], -1, *pieces.shape[3:])
