"""Episodes of a trained agent as a Minari dataset."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from trivium.agents.acting import PolicyActor, play
from trivium.agents.blicket_world import task_setting, task_spec
from trivium.agents.trained import Trained
from trivium.benchmarks.blicket.inference.hypotheses import DEFAULT_SIX
from trivium.benchmarks.blicket.world import jax_env
from trivium.benchmarks.blicket.world.recording import Episode


def agent_episodes(trained: Trained, episodes: int, seed: int, greedy: bool) -> list[Episode]:
    """So many episodes in the world that the agent was trained in."""
    world, spec = trained.world, task_spec(trained.task)
    tables = task_setting(trained.task).train
    reset_key, act_key, step_key = jax.random.split(jax.random.key(seed), 3)
    begun = world.reset(tables, reset_key, (episodes,))
    shape = (world.longest, episodes, world.action_bits)
    uniform = jnp.full(shape, 0.5) if greedy else jax.random.uniform(act_key, shape)
    run = jax.jit(partial(play, world))
    made = run(tables, PolicyActor(trained.policy), begun, uniform=uniform, key=step_key)
    seen = jax.tree.map(np.asarray, made)
    machines = np.asarray(jax_env.machine(spec, begun[0]))
    # After the last answer the world shows the quiz flag and nothing else.
    last = np.eye(world.observation_size, dtype=np.float32)[-1]
    return [
        Episode(
            np.vstack([seen.observation[number, :length], last]),
            seen.action[number, :length].astype(np.int64),
            seen.reward[number, :length].astype(np.float64),
            DEFAULT_SIX[machines[number]],
            seed,
        )
        for number, length in enumerate(seen.lengths)
    ]
