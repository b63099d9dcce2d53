"""Environment steps per second of Blicket-v0 (quiz) on an accelerator, with random actions.

    PYTHONPATH=src:perf python perf/gpu_blicket.py

Needs numpy and jax alone. Aim on an H200: 10^10 steps/s at a batch of 4 million. Rewards are
summed and returned, so that no step can be left out; the figure with float observations writes
every observation of every step to memory as well.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from blicket_loop import BLOCK, SPEC, play_block, quiz_params
from trivium.benchmarks.blicket.world.jax_env import observe

BATCHES = (1 << 22, 1 << 20, 1 << 16)
STEPS = 1_024
ROUNDS = 3
BLOCKS = (1, 2, 4)  # of four steps each in one kernel; more take minutes to compile


def summed(blocks: int) -> Callable[..., Any]:
    """A run that keeps states in one byte and sums rewards and ends of episodes on the way."""

    @jax.jit
    def play(params: Any, key: jax.Array, state: jax.Array) -> Any:
        def blocks_of_steps(carried: Any, keys: jax.Array) -> Any:
            small, total, ends = carried
            state = small.astype(jnp.int32)
            for number in range(blocks):
                state, steps = play_block(params, state, keys[number])
                for _, reward, done in steps:
                    total, ends = total + reward, ends + done
            return (state.astype(jnp.uint8), total, ends), None

        keys = jax.random.split(key, (STEPS // BLOCK // blocks, blocks))
        zero = (jnp.zeros(state.shape), jnp.zeros(state.shape, dtype=jnp.int32))
        _, total, ends = lax.scan(blocks_of_steps, (state, *zero), keys)[0]
        return total.sum(), ends.mean()

    return play


def written(params: Any, key: jax.Array, state: jax.Array) -> Any:
    """A run that writes out the float observation, reward and end of every step."""

    def block(small: jax.Array, key: jax.Array) -> Any:
        state, steps = play_block(params, small.astype(jnp.int32), key)
        outputs = [(observe(params, seen), reward, done) for seen, reward, done in steps]
        return state.astype(jnp.uint8), outputs

    keys = jax.random.split(key, STEPS // BLOCK)
    # The outputs are carried, so each block overwrites those of the block before.
    first = block(state, keys[0])
    rest = keys[1:]
    small, outputs = lax.scan(lambda carry, key: (block(carry[0], key), None), first, rest)[0]
    total = sum(reward.sum() for _, reward, _ in outputs)
    return total, sum(seen.sum() for seen, _, _ in outputs), small


def rate(play: Callable[..., Any], batch: int) -> tuple[float, Any]:
    """Steps per second, the best of some rounds, and what the last round returned."""
    params = quiz_params()
    state = jnp.zeros(batch, dtype=jnp.uint8)
    keys = jax.random.split(jax.random.key(0), ROUNDS + 1)
    times = []
    for key in keys:  # the first round compiles
        began = time.perf_counter()
        result = jax.device_get(play(params, key, state))
        times.append(time.perf_counter() - began)
    return STEPS * batch / min(times[1:]), result


def main() -> None:
    """Print every figure."""
    print(f"{jax.devices()[0].device_kind}, jax {jax.__version__}, {len(SPEC.hypotheses)} machines")
    for batch in BATCHES:
        for blocks in BLOCKS:
            steps, (total, ends) = rate(summed(blocks), batch)
            print(
                f"batch {batch:>8}, {blocks * BLOCK:>2} steps a kernel: {steps:.3g} steps/s; mean "
                f"reward {total / batch / STEPS:+.5f} (expected 0), ends {ends / STEPS:.4f} (0.2)",
                flush=True,
            )
        steps, _ = rate(jax.jit(written), batch)
        print(f"batch {batch:>8}, float observations written out: {steps:.3g} steps/s", flush=True)


if __name__ == "__main__":
    main()
