"""An LSTM over whole sequences, with a backward pass whose weight gradient is one product.

equinox has a cell for one step. Differentiating a scan over it would update the gradient of the
recurrent weights, the largest matrix of the network, at every step. Here the backward scan keeps
only the gradient of the products; the gradient of the weights is computed once, at the end.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from trivium.agents.config import AgentConfig
from trivium.agents.layers import Norm
from trivium.agents.worlds import World

BLOCK, PIECE, FEW_ENVIRONMENTS = 8, 16, 16  # fastest on an H200


class Memory(NamedTuple):
    """What an LSTM carries from step to step."""

    hidden: Array
    cell: Array


class Norms(NamedTuple):
    """The three normalised quantities of a layer-norm LSTM."""

    input: Norm
    hidden: Norm
    cell: Norm


class Vectors(NamedTuple):
    """The parameters of a cell that are vectors: its bias, and its norms if it has any."""

    bias: Array
    norms: Norms | None


class Inputs(NamedTuple):
    """A sequence, time first: the inputs times their weights, and where memory is kept."""

    products: Array  # [time, batch, 4 * width]
    keep: Array  # [time, batch, 1]; 0 empties the memory before the step


class Layout(NamedTuple):
    """How a sequence is computed; results depend on it only by rounding."""

    block: int = 1  # steps that are unrolled in the compiled loop
    piece: int = 0  # steps of a piece, computed in parallel with others; 0: one piece
    longest: int = 0  # the largest number of steps of an episode, which pieces rely on


def sequence_layout(config: AgentConfig, world: World) -> Layout:
    """The fastest layout of sequences on the current device.

    An accelerator waits for its next instruction, so larger blocks and, with few
    environments, parallel pieces pay there; a CPU waits for arithmetic.
    """
    if jax.default_backend() == "cpu":
        return Layout()
    return Layout(BLOCK, PIECE if config.environments <= FEW_ENVIRONMENTS else 0, world.longest)


def cell_step(vectors: Vectors, from_input: Array, from_hidden: Array, cell: Array) -> Memory:
    """The memory after one step; the products' gates are input, forget, output, update."""
    norms = vectors.norms
    if norms is not None:
        from_input, from_hidden = norms.input(from_input), norms.hidden(from_hidden)
    gates = from_input + from_hidden + vectors.bias
    into, keep, out, update = jnp.split(gates, 4, axis=-1)
    cell = jax.nn.sigmoid(keep) * cell + jax.nn.sigmoid(into) * jnp.tanh(update)
    shown = cell if norms is None else norms.cell(cell)
    return Memory(jax.nn.sigmoid(out) * jnp.tanh(shown), cell)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def unroll(
    block: int, vectors: Vectors, weights: Array, inputs: Inputs, memory: Memory
) -> tuple[Array, Memory]:
    """The hidden states after every step, and the memory at the end."""
    return _forward(block, vectors, weights, inputs, memory)[0]


Residuals = tuple[Vectors, Array, Inputs, list[Array]]


def _forward(
    block: int, vectors: Vectors, weights: Array, inputs: Inputs, memory: Memory
) -> tuple[tuple[Array, Memory], Residuals]:
    def step(memory: Memory, now: Inputs) -> tuple[Memory, tuple[Array, Array, Array, Array]]:
        hidden, cell = memory.hidden * now.keep, memory.cell * now.keep
        from_hidden = hidden @ weights
        after = cell_step(vectors, now.products, from_hidden, cell)
        return after, (after.hidden, hidden, cell, from_hidden)

    after, (out, *before) = jax.lax.scan(step, memory, inputs, unroll=block)
    return (out, after), (vectors, weights, inputs, before)


def _backward(
    block: int, residuals: Residuals, gradients: tuple[Array, Memory]
) -> tuple[Vectors, Array, Inputs, Memory]:
    vectors, weights, inputs, (hidden, cell, from_hidden) = residuals
    out_gradient, after_gradient = gradients

    def step(
        carry: Memory, now: tuple[Array, Array, Array, Array, Array]
    ) -> tuple[Memory, tuple[Array, Memory]]:
        gradient, from_input, keep, cell_before, product = now
        total = Memory(carry.hidden + gradient, carry.cell)
        _, pull = jax.vjp(
            lambda product, cell: cell_step(vectors, from_input, product, cell),
            product,
            cell_before,
        )
        product_gradient, cell_gradient = pull(total)
        before = Memory((product_gradient @ weights.T) * keep, cell_gradient * keep)
        return before, (product_gradient, total)

    sequence = (out_gradient, *inputs, cell, from_hidden)
    before, (product_gradient, totals) = jax.lax.scan(
        step, after_gradient, sequence, reverse=True, unroll=block
    )
    # What is not sequential is computed for all steps at once.
    _, pull = jax.vjp(
        lambda vectors, products: cell_step(vectors, products, from_hidden, cell),
        vectors,
        inputs.products,
    )
    vector_gradient, input_gradient = pull(totals)
    weight_gradient = jnp.einsum("tbh,tbg->hg", hidden, product_gradient)
    no_gradient = jnp.zeros_like(inputs.keep)
    return vector_gradient, weight_gradient, Inputs(input_gradient, no_gradient), before


unroll.defvjp(_forward, _backward)


def unroll_in_pieces(
    layout: Layout, vectors: Vectors, weights: Array, inputs: Inputs, memory: Memory
) -> tuple[Array, Memory]:
    """The result of `unroll`, with pieces of the sequence in parallel if the layout has any.

    Memory ends where an episode starts. So each piece starts one longest episode early with an
    empty memory, which is correct by the piece's own first step. An accelerator computes more
    that way, but waits far less.
    """
    block, piece, longest = layout
    time, batch = inputs.keep.shape[:2]
    length = longest - 1 + piece
    if not piece or time <= length or time % piece:
        return unroll(min(block, time), vectors, weights, inputs, memory)
    starts = np.arange(0, time, piece)
    first = np.maximum(starts - (longest - 1), 0)
    steps = first + np.arange(length)[:, None]  # [time, piece]
    side_by_side = Inputs(
        *(leaf[steps].reshape(length, len(starts) * batch, leaf.shape[-1]) for leaf in inputs)
    )
    known = jnp.asarray(first == 0, inputs.products.dtype)[:, None, None]
    begun = Memory(*((known * leaf).reshape(-1, leaf.shape[-1]) for leaf in memory))
    hidden, after = unroll(min(block, length), vectors, weights, side_by_side, begun)
    apart = hidden.reshape(length, len(starts), batch, -1)
    piece_steps = starts - first + np.arange(piece)[:, None]
    joined = apart[piece_steps, np.arange(len(starts))].swapaxes(0, 1)
    return joined.reshape(time, batch, -1), Memory(*(leaf[-batch:] for leaf in after))
