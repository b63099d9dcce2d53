"""Folders of imitators and of Q-learning, and episodes of the agents of any folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from trivium.agents.checkpoints import load_tree, save_tree
from trivium.agents.config import Q_LEARNING, ImitationConfig, TaskConfig
from trivium.agents.datasets import read_dataset
from trivium.agents.episodes import Actor, Episodes, PolicyActor, play
from trivium.agents.imitation import fit
from trivium.agents.imitators import actor, make_model
from trivium.agents.qlearning import QConfig, Trial, learn_until_perfect
from trivium.agents.trained import (
    CHECKPOINT,
    MANIFEST,
    claim,
    finished_file,
    load_trained,
    read_manifest,
    rounded,
    run_key,
)
from trivium.agents.training import pick
from trivium.agents.worlds import BlicketWorld, spec_world, task_spec
from trivium.benchmarks.blicket.world import jax_env
from trivium.benchmarks.blicket.world.dynamics import OBSERVATION_MASK
from trivium.benchmarks.blicket.world.recording import Episode
from trivium.benchmarks.blicket.world.spec import BlicketSpec
from trivium.core.errors import require
from trivium.core.files import write_json
from trivium.core.spec import read_mapping, spec_from_dict, spec_to_dict
from trivium.core.streams import stream_key

LOSSES = "losses.json"


@dataclass(frozen=True)
class Agent:
    """An agent of any kind and its environment."""

    name: str
    spec: BlicketSpec
    world: BlicketWorld
    actor: Actor | None = None  # of policies and imitators
    table: Trial | None = None  # of Q-learning


def load_agent(folder: Path, number: int = 0) -> Agent:
    """One agent of a folder: a policy, an imitator or a table."""
    values, where = read_manifest(folder, number), str(folder / MANIFEST)
    kind = values.get("kind", "policy")
    if kind == "policy":
        trained = load_trained(folder, number)
        policy = PolicyActor(trained.policy)
        return Agent(trained.agent.name, task_spec(trained.task), trained.world, policy)
    require(kind in ("imitator", Q_LEARNING), f"{where}: unknown kind {kind!r}")
    spec = spec_from_dict(BlicketSpec, values["environment"], where=where)
    world = spec_world(spec)
    if kind == Q_LEARNING:
        table = Trial(spec_from_dict(QConfig, values["config"], where=where), values["seed"], spec)
        stored = read_mapping(finished_file(folder, f"table_{number}.json"))
        table.values = {int(history, 16): values for history, values in stored.items()}
        return Agent(kind, spec, world, table=table)
    config = spec_from_dict(ImitationConfig, values["config"], where=where)
    shape = jax.eval_shape(lambda: make_model(config, world, jax.random.key(0)))
    model, _ = load_tree(finished_file(folder, f"model_{number}.eqx"), lambda _: shape)
    return Agent(config.model, spec, world, actor(world, model, values.get("target")))


def agent_episodes(agent: Agent, episodes: int, seed: int, greedy: bool) -> list[Episode]:
    """Episodes in the environment that the agent was trained in."""
    if agent.table is not None:
        return [_table_episode(agent, seed, number) for number in range(episodes)]
    world, spec = agent.world, agent.spec
    tables = jax_env.make_params(spec)
    reset_key, act_key, step_key = jax.random.split(jax.random.key(seed), 3)
    begun = world.reset(tables, reset_key, (episodes,))
    shape = (world.longest, episodes, world.action_bits)
    uniform = jnp.full(shape, 0.5) if greedy else jax.random.uniform(act_key, shape)
    run = jax.jit(partial(play, world))
    seen = jax.tree.map(np.asarray, run(tables, agent.actor, begun, uniform=uniform, key=step_key))
    machines = np.asarray(jax_env.machine(spec, begun[0]))
    return [
        Episode(
            np.vstack([seen.observation[number, :length], _last_seen(spec, seen, number)]),
            seen.action[number, :length].astype(np.int64),
            seen.reward[number, :length].astype(np.float64),
            spec.hypotheses[machines[number]],
            seed,
        )
        for number, length in enumerate(seen.lengths)
    ]


def _last_seen(spec: BlicketSpec, seen: Episodes, number: int) -> NDArray[np.float32]:
    """The last observation of an episode: the quiz flag alone, or without a quiz the last test."""
    if spec.has_quiz:
        return np.asarray(np.eye(spec.width, dtype=np.float32)[-1])
    step = int(seen.lengths[number]) - 1
    lit = seen.reward[number, step] > 0.5 * spec.detector_reward - spec.step_reward_penalty
    return np.append(seen.action[number, step], lit).astype(np.float32)


def _table_episode(agent: Agent, seed: int, number: int) -> Episode:
    """An episode of the greedy policy, the only one that a table has."""
    assert agent.table is not None
    spec, table = agent.spec, agent.table
    start = stream_key("episode", seed, number) % (1 << 32)
    first = start % len(table.starts)
    state, history = table.starts[first], 1
    codes: list[int] = []
    seen, rewards = [0], []
    while state != table.over:
        codes.append(table.best_action(history))
        state, history, reward = table.step(state, history, codes[-1])
        seen.append(history & OBSERVATION_MASK)
        rewards.append(reward)
    bits, width = np.arange(spec.action_bits), np.arange(spec.width)
    return Episode(
        (np.array(seen)[:, None] >> width & 1).astype(np.float32),
        np.array(codes)[:, None] >> bits & 1,
        np.array(rewards),
        spec.hypotheses[first // spec.orders],
        start,
    )


def train_imitator(
    config: ImitationConfig, data: Path, out: Path, *, seed: int, seeds: int, target: float | None
) -> str:
    """Train imitators, from the folder's checkpoint if there is one; returns a summary."""
    spec, episodes = read_dataset(data)
    require(spec.has_quiz, f"{data}: imitators need episodes with a quiz")
    world = spec_world(spec)
    claim(
        out,
        {
            "kind": "imitator",
            "config": asdict(config),
            "environment": spec_to_dict(spec),
            "data": str(data),
            "target": target,
            "seed": seed,
            "seeds": seeds,
        },
    )
    keys = [run_key("imitate", seed, number) for number in range(seeds)]
    fitted = fit(config, world, [episodes] * seeds, keys, checkpoint=out / CHECKPOINT)
    for number in range(seeds):
        save_tree(out / f"model_{number}.eqx", pick(fitted.model, number))
    losses = {"training": fitted.training_loss, "validation": fitted.validation_loss}
    write_json(out / LOSSES, {name: rounded(values) for name, values in losses.items()})
    last = fitted.validation_loss.min(axis=1).mean()
    return (
        f"{len(episodes.lengths)} episodes of {data}, {fitted.epochs} epochs, "
        f"validation loss {last:.3f}, agents: {seeds}"
    )


def train_table(
    config: QConfig,
    task: TaskConfig,
    out: Path,
    *,
    seed: int,
    seeds: int,
    tell: Callable[[str], None],
) -> str:
    """Train tables until their greedy policies are perfect; returns a summary."""
    spec = task_spec(task)
    require(not spec.space.noisy, "q-learning needs machines without noise")
    claim(
        out,
        {
            "kind": Q_LEARNING,
            "config": asdict(config),
            "environment": spec_to_dict(spec),
            "seed": seed,
            "seeds": seeds,
        },
    )
    results = []
    for number in range(seeds):
        trial = Trial(config, seed + number, spec)
        results.append(learn_until_perfect(trial))
        table = {f"{history:x}": values for history, values in trial.values.items()}
        write_json(out / f"table_{number}.json", table)
        words = "perfect" if results[-1].converged else "not perfect"
        tell(f"table {number}: {words} after {results[-1].episodes:,} episodes")
    perfect = sum(result.converged for result in results)
    episodes = np.mean([result.episodes for result in results])
    return f"{perfect} of {seeds} tables perfect, after {episodes:,.0f} episodes on average"
