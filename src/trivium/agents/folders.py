"""Folders of trained agents: training into one, and loading and playing the agents of any.

`agent.json` says what was trained, `checkpoint.eqx` resumes it, `agent_N.eqx` holds agent N, and
`curve.json` the learning curves or losses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import orjson

from trivium.agents.config import (
    IMITATORS,
    AgentConfig,
    ImitationConfig,
    LengthConfig,
    TaskConfig,
)
from trivium.agents.datasets import read_dataset
from trivium.agents.episodes import Actor, PolicyActor, TableActor, play
from trivium.agents.imitation import Imitators
from trivium.agents.imitators import ImitatorActor, make_model
from trivium.agents.learners import Learners, curve_record
from trivium.agents.networks import make_policy
from trivium.agents.qlearning import Q_LEARNING, QConfig, Trial
from trivium.agents.training import load_tree, pick, rounded, run_key, save_tree
from trivium.agents.worlds import BlicketWorld, spec_world, task_setting, task_spec, task_world
from trivium.benchmarks.blicket.world import jax_env
from trivium.benchmarks.blicket.world.dynamics import OBSERVATION_BITS, OBSERVATION_MASK, decode
from trivium.benchmarks.blicket.world.recording import Episode
from trivium.benchmarks.blicket.world.spec import BlicketSpec
from trivium.core.errors import require
from trivium.core.files import dump_line, write_json
from trivium.core.spec import read_mapping, spec_from_dict, spec_to_dict

MANIFEST, CHECKPOINT, CURVE = "agent.json", "checkpoint.eqx", "curve.json"
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Agent:
    """An agent of any kind and the environment that it was trained in."""

    name: str  # the kind of training, as stored in agent.json: a2c-lstm, cloning, ...
    spec: BlicketSpec
    actor: Actor


def load_agent(folder: Path, number: int = 0) -> Agent:
    """One agent of a folder: a policy, an imitator or a table."""
    manifest = folder / MANIFEST
    require(manifest.exists(), f"{folder} holds no training: {MANIFEST} is missing")
    values, where = read_mapping(manifest), str(manifest)
    for name in ("agent", "config", "environment", "seeds"):
        require(name in values, f"{where}: {name} is missing")
    seeds = int(values["seeds"])
    require(0 <= number < seeds, f"{folder} holds agents 0..{seeds - 1}, not {number}")
    file = folder / f"agent_{number}.eqx"
    require(file.exists(), f"{file} is missing: the training has not been finished")
    spec = spec_from_dict(BlicketSpec, values["environment"], where=where)
    name, world = values["agent"], spec_world(spec)

    def like(about: dict[str, Any]) -> Actor:
        actor: Actor = jax.eval_shape(lambda: _untrained(name, values["config"], world, **about))
        return actor

    return Agent(name, spec, load_tree(file, like)[0])


def _untrained(name: str, config: dict[str, Any], world: BlicketWorld, histories: int = 0) -> Actor:
    """An agent of the same shape as a trained one."""
    key = jax.random.key(0)
    if name == Q_LEARNING:
        return _table_actor([0] * (histories - 1), [0] * (histories + 1), world.spec)
    if name in IMITATORS:
        model = make_model(spec_from_dict(ImitationConfig, config), world, key)
        return ImitatorActor(world, model)
    return PolicyActor(make_policy(spec_from_dict(AgentConfig, config), world, key))


def agent_episodes(agent: Agent, episodes: int, seed: int, greedy: bool) -> list[Episode]:
    """Episodes in the environment that the agent was trained in."""
    spec = agent.spec
    world, tables = spec_world(spec), jax_env.make_params(spec)
    reset_key, act_key, step_key = jax.random.split(jax.random.key(seed), 3)
    begun = world.reset(tables, reset_key, (episodes,))
    shape = (world.longest, episodes, world.action_bits)
    uniform = jnp.full(shape, 0.5) if greedy else jax.random.uniform(act_key, shape)
    run = jax.jit(partial(play, world))
    seen = jax.tree.map(np.asarray, run(tables, agent.actor, begun, uniform=uniform, key=step_key))
    machines = decode(spec, np.asarray(begun[0])).machine
    return [
        Episode(
            seen.observation[number, : length + 1],
            seen.action[number, :length].astype(np.int64),
            seen.reward[number, :length].astype(np.float64),
            spec.hypotheses[machines[number]],
            seed,
        )
        for number, length in enumerate(seen.lengths)
    ]


def _claim(out: Path, config: Any, spec: BlicketSpec, **about: Any) -> None:
    """Write the manifest, or refuse a folder that holds another training."""
    manifest = {
        "agent": config.name,
        "config": asdict(config),
        "environment": spec_to_dict(spec),
        **about,
    }
    path = out / MANIFEST
    if path.exists():
        same = read_mapping(path) == orjson.loads(dump_line(manifest))
        require(same, f"{out} holds another training; choose another folder with --out")
    else:
        write_json(path, manifest)


def train_policies(
    config: AgentConfig,
    task: TaskConfig,
    length: LengthConfig,
    out: Path,
    *,
    seed: int = 0,
    seeds: int = 1,
    tell: Tell | None = None,
) -> str:
    """Train reinforcement learners, from the folder's checkpoint if any; returns a summary."""
    about = {"task": task.to_dict(), "length": asdict(length), "seed": seed, "seeds": seeds}
    _claim(out, config, task_spec(task), **about)
    keys = [run_key("train", seed, number) for number in range(seeds)]
    settings = [task_setting(task)] * seeds
    training = Learners(task_world(task), config, length, settings, keys)
    training.complete(checkpoint=out / CHECKPOINT, tell=tell)
    for number in range(seeds):
        save_tree(_agent_file(out, number), PolicyActor(pick(training.runs.policy, number)))
    write_json(out / CURVE, curve_record(task, training.curve, slice(0, seeds)))
    last = training.curve[-1]
    return (
        f"{int(last.steps.max()):,} steps, greedy reward {last.greedy.reward[:, 0].mean():z.3f} "
        f"with {last.greedy.tests[:, 0].mean():.2f} tests, runs: {seeds}"
    )


def train_imitators(
    config: ImitationConfig,
    data: Path,
    out: Path,
    *,
    target: float | None = None,
    seed: int = 0,
    seeds: int = 1,
    tell: Tell | None = None,
) -> str:
    """Train imitators of recorded episodes, from the folder's checkpoint if any; returns a summary.

    `target` is the return that a decision transformer aims at, by default the largest possible.
    """
    spec, episodes = read_dataset(data)
    require(spec.has_quiz, f"{data}: imitators need episodes with a quiz")
    world = spec_world(spec)
    _claim(out, config, spec, data=str(data), target=target, seed=seed, seeds=seeds)
    keys = [run_key("imitate", seed, number) for number in range(seeds)]
    training = Imitators(config, world, [episodes] * seeds, keys)
    training.complete(checkpoint=out / CHECKPOINT, tell=tell)
    for number in range(seeds):
        model = pick(training.runs.best, number)
        save_tree(_agent_file(out, number), ImitatorActor(world, model, target))
    losses = training.losses
    write_json(out / CURVE, {name: rounded(part) for name, part in losses._asdict().items()})
    return (
        f"{len(episodes.lengths)} episodes of {data}, {config.epochs} epochs, "
        f"validation loss {losses.validation.min(axis=1).mean():.3f}, agents: {seeds}"
    )


def train_tables(
    config: QConfig,
    task: TaskConfig,
    out: Path,
    *,
    seed: int = 0,
    seeds: int = 1,
    tell: Tell = lambda text: None,
) -> str:
    """Train tables until their greedy policies are perfect; returns a summary."""
    spec = task_spec(task)
    require(not spec.space.noisy, "q-learning needs machines without noise")
    require(task.reward == "task", f"q-learning has no reward {task.reward}: leave --reward out")
    _claim(out, config, spec, seed=seed, seeds=seeds)
    results = []
    for number in range(seeds):
        trial = Trial(config, seed + number, spec)
        results.append(trial.learn())
        save_tree(_agent_file(out, number), trial_actor(trial, spec), histories=len(trial.values))
        words = "perfect" if results[-1].converged else "not perfect"
        tell(f"table {number}: {words} after {results[-1].episodes:,} episodes")
    perfect = sum(result.converged for result in results)
    episodes = np.mean([result.episodes for result in results])
    return f"{perfect} of {seeds} tables perfect, after {episodes:,.0f} episodes on average"


def _agent_file(out: Path, number: int) -> Path:
    return out / f"agent_{number}.eqx"


def trial_actor(trial: Trial, spec: BlicketSpec) -> TableActor:
    """The greedy policy of a table as an actor."""
    # A history is a number with a leading 1, so shorter ones come first, each before its own
    # continuations.
    histories = sorted(trial.values)
    numbers = {history: number for number, history in enumerate(histories)}
    edges = [
        numbers[history >> OBSERVATION_BITS] << spec.width | history & OBSERVATION_MASK
        for history in histories[1:]
    ]
    return _table_actor(edges, [*map(trial.best_action, histories), 0], spec)


def _table_actor(edges: Sequence[int], actions: Sequence[int], spec: BlicketSpec) -> TableActor:
    numbers = jnp.array(edges, jnp.int32), jnp.array(actions, jnp.int32)
    return TableActor(*numbers, spec.width, spec.action_bits)
