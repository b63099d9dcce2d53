"""Environment steps per second of Blicket-v0 (quiz), random actions, all in one run.

Every face draws real random actions, writes float observations out, and begins new episodes.
Peers: a plain environment that computes each step in Python, Gymnasium's SyncVectorEnv over 4 of
ours, and a C loop over the same table as the limit. Aims at batch 4096: vector and JAX at least
150 times the plain environment and 500 times SyncVectorEnv, and within 4 times of the C loop.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces
from gymnasium.vector import SyncVectorEnv

from blicket_loop import BLOCK, SPEC, play_block, quiz_params
from timing import best_seconds
from trivium.benchmarks.blicket.inference.hypotheses import DEFAULT_SIX
from trivium.benchmarks.blicket.world import jax_env
from trivium.benchmarks.blicket.world.dynamics import OBSERVATION_BITS, STATE_BITS, make_tables
from trivium.benchmarks.blicket.world.env import BlicketEnv
from trivium.benchmarks.blicket.world.vector import BlicketVectorEnv

ACTIONS = (np.arange(16)[:, None] >> np.arange(4) & 1).astype(np.int8)
BATCH = 4096
ROUNDS = 15  # short ones, so that a busy machine leaves some of them alone


class PlainEnv(gymnasium.Env[Any, Any]):
    """The quiz environment as one would write it by hand: each step computed in Python."""

    def __init__(self) -> None:
        self.action_space = spaces.MultiDiscrete([2, 2, 2, 2])
        self.observation_space = spaces.Box(0, 1, (5,), np.float32)
        self.machines = [name.split(":") for name in DEFAULT_SIX]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.form, self.blickets = self.machines[self.np_random.integers(6)]
        self.steps, self.question = 0, -1
        return np.zeros(5, dtype=np.float32), {}

    def step(self, action: Any) -> Any:
        reward, done = 0.0, False
        if self.question >= 0:
            right = (action[self.question] == 1) == ("ABC"[self.question] in self.blickets)
            reward = 1.0 if right else -1.0
            self.question += 1
            done = self.question == 3
        elif self.steps > 20 or action[3] == 1:
            self.question = 0
        self.steps += 1
        if self.question >= 0:
            seen = [float(self.question == place) for place in range(3)] + [0.0, 1.0]
        else:
            test = all if self.form == "conjunctive" else any
            light = test(action["ABC".index(name)] for name in self.blickets)
            seen = [*action[:3], float(light), 0.0]
        return np.array(seen, dtype=np.float32), reward, done, False, {}


def random_actions(generator: np.random.Generator, count: int) -> Any:
    """Fresh random bits, 16 actions from each 64-bit word."""
    words = generator.integers(0, 1 << 64, size=-(-count // 16), dtype=np.uint64)
    halves = words.view(np.uint8)
    codes = np.concatenate([halves & 15, halves >> 4])[:count]
    return ACTIONS.take(codes, axis=0)


def rate_single(env: gymnasium.Env[Any, Any], steps: int = 4_000) -> float:
    generator = np.random.default_rng(0)

    def play() -> None:
        actions = random_actions(generator, steps)
        env.reset(seed=0)
        for action in actions:
            if env.step(action)[2]:
                env.reset()

    return steps / best_seconds(play, ROUNDS)


def rate_vector(env: Any, batch: int, steps: int) -> float:
    generator = np.random.default_rng(0)
    env.reset(seed=0)

    def play() -> None:
        for _ in range(steps):
            env.step(random_actions(generator, batch))

    return steps * batch / best_seconds(play, ROUNDS)


def rate_compiled(play: Any, batch: int, steps: int) -> float:
    """Steps per second of a compiled run from a key and states to (states, outputs)."""
    state = jnp.zeros(batch, dtype=jnp.int32)
    keys = iter(jax.random.split(jax.random.key(0), 64))

    def run() -> None:
        play(next(keys), state)[0].block_until_ready()

    run()
    return steps * batch / best_seconds(run, ROUNDS)


def rate_jax_loop(batch: int, steps: int = 1_024) -> float:
    """Blocks of steps in one compiled scan; each step's outputs are written to memory."""
    params = quiz_params()

    @jax.jit
    def play(key: jax.Array, state: jax.Array) -> Any:
        def block(state: jax.Array, key: jax.Array) -> Any:
            state, outputs = play_block(params, state, key)
            return state, [
                (jax_env.observe(params, seen), reward, done) for seen, reward, done in outputs
            ]

        def overwrite(carried: Any, key: jax.Array) -> Any:
            return block(carried[0], key), None

        keys = jax.random.split(key, steps // BLOCK)
        return jax.lax.scan(overwrite, block(state, keys[0]), keys[1:])[0]

    return rate_compiled(play, batch, steps)


def rate_jax_interface(batch: int, steps: int = 512) -> float:
    """The function that agents call, once for the batch, with its own random actions."""
    params = jax_env.make_params(SPEC)

    @jax.jit
    def play(key: jax.Array, state: jax.Array) -> Any:
        def one(carried: Any, key: jax.Array) -> Any:
            action_key, step_key = jax.random.split(key)
            action = jax.random.bits(action_key, (batch,), dtype=jnp.uint8) & 15
            return jax_env.step_autoreset(params, carried[0], action, step_key), None

        first = jax_env.step_autoreset(params, state, state, key)
        return jax.lax.scan(one, first, jax.random.split(key, steps))[0]

    return rate_compiled(play, batch, steps)


C_LOOP = r"""
#include <stdint.h>
#include <string.h>
static uint64_t s = 88172645463325252ull;
static inline uint64_t word(void) { s ^= s << 13; s ^= s >> 7; s ^= s << 17; return s; }
void play(const uint32_t *entries, const float *rewards, const float *observations,
          const int32_t *starts, int32_t *restrict state, float *restrict seen,
          float *restrict reward, uint8_t *restrict done,
          int64_t batch, int64_t blocks, int32_t over) {
  for (int64_t block = 0; block < blocks; block++)
    for (int64_t i = 0; i < batch; i++) {
      uint64_t bits = word();
      int32_t now = state[i], fresh = starts[(bits >> 32) * 6 >> 32];
      for (int turn = 0; turn < 4; turn++, bits >>= 4) {
        uint32_t entry = entries[now * 16 + (bits & 15)];
        int32_t after = entry & STATE_MASK;
        uint32_t shown = entry >> STATE_BITS & OBSERVATION_MASK;
        int ended = after == over;
        int64_t at = turn * batch + i;
        now = ended ? fresh : after;
        reward[at] = rewards[entry >> (STATE_BITS + OBSERVATION_BITS)];
        done[at] = ended;
        const float *row = observations + (ended ? 0 : shown * 5);
        memcpy(seen + at * 5, row, 5 * sizeof(float));
      }
      state[i] = now;
    }
}
"""


def rate_c(steps: int = 800) -> float | None:
    """The same table in C, compiled here; None where there is no compiler."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        return None
    tables = make_tables(SPEC)
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "loop.c"), Path(folder, "loop.so")
        source.write_text(C_LOOP)
        sizes = {"STATE_BITS": STATE_BITS, "OBSERVATION_BITS": OBSERVATION_BITS}
        masks = {name.replace("BITS", "MASK"): (1 << bits) - 1 for name, bits in sizes.items()}
        defined = [f"-D{name}={value}" for name, value in (sizes | masks).items()]
        flags = ["-O3", "-march=native", "-shared", "-fPIC", *defined]
        subprocess.run([compiler, *flags, str(source), "-o", str(library)], check=True)
        loop = ctypes.CDLL(str(library)).play
    arrays = [
        np.ascontiguousarray(tables.entries[0]),
        tables.rewards.astype(np.float32),
        tables.observations,
        tables.starts,
        np.zeros(BATCH, dtype=np.int32),
        np.zeros((BLOCK, BATCH, 5), dtype=np.float32),
        np.zeros((BLOCK, BATCH), dtype=np.float32),
        np.zeros((BLOCK, BATCH), dtype=np.uint8),
    ]
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    sizes_ = (
        ctypes.c_int64(BATCH),
        ctypes.c_int64(steps // BLOCK),
        ctypes.c_int32(int(tables.over)),
    )
    return steps * BATCH / best_seconds(lambda: loop(*pointers, *sizes_))


def main() -> None:
    """Print every rate and the ratios that were aimed at."""
    rates = {
        "plain Python environment": rate_single(PlainEnv()),
        "ours, one environment": rate_single(BlicketEnv(reward_structure="quiz")),
        "SyncVectorEnv over 4 of ours": rate_vector(
            SyncVectorEnv([lambda: BlicketEnv(reward_structure="quiz")] * 4), 4, 500
        ),
    }
    for batch, steps in ((1, 1_000), (64, 1_000), (BATCH, 200)):
        env = BlicketVectorEnv(batch, reward_structure="quiz")
        rates[f"ours, vector, batch {batch}"] = rate_vector(env, batch, steps)
    rates[f"ours, JAX reset/step, batch {BATCH}"] = rate_jax_interface(BATCH)
    rates[f"ours, JAX loop, batch {BATCH}"] = rate_jax_loop(BATCH)
    limit = rate_c()
    if limit is not None:
        rates["C loop over the same table"] = limit
    plain = rates["plain Python environment"]
    sync = rates["SyncVectorEnv over 4 of ours"]
    for name, rate in rates.items():
        ratios = f"{rate / plain:8.1f} x plain {rate / sync:8.1f} x SyncVectorEnv"
        beside = f"  1/{limit / rate:.2f} of C" if limit is not None else ""
        print(f"{name:36} {rate / 1e6:9.3f} million steps/s {ratios}{beside}")


if __name__ == "__main__":
    main()
