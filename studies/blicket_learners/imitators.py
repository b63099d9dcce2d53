"""Imitator units: the rows of Table 1."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import jax
import numpy as np

from studies.blicket_learners.learners import Tell, load_policy, policy_file, rounded, run_key
from studies.blicket_learners.plan import RANDOM_DATA, ImitatorUnit
from trivium.agents.acting import (
    Actor,
    Episodes,
    PolicyActor,
    RandomActor,
    form_accuracy,
    object_reward,
    sample_episodes,
)
from trivium.agents.blicket_world import BlicketWorld, task_setting, task_world
from trivium.agents.configuration import AgentConfig, TaskConfig
from trivium.agents.imitation import actor, fit
from trivium.agents.training import pick
from trivium.core.errors import require


def run_imitators(
    unit: ImitatorUnit, maker: AgentConfig | None, out: Path, seconds: float | None, tell: Tell
) -> dict[str, Any]:
    """Train on one kind of data with every seed, and play; `maker` made the data, if not chance."""
    task = TaskConfig("quiz-type", forced=RANDOM_DATA.get(unit.data, 0))
    world, setting = task_world(task), task_setting(task)
    keys = [run_key(unit.data, seed) for seed in range(unit.seeds)]
    datasets = [
        _dataset(unit, world, setting.train, _data_actor(unit, maker, world, out, seed), key)
        for seed, key in enumerate(keys)
    ]
    fitted = fit(unit.config, world, datasets, keys, seconds=seconds)
    losses = rounded(fitted.validation_loss.mean(axis=0))
    tell(f"{unit.name}: validation loss {losses[0]} to {losses[-1]}")
    played: dict[str, Any] = {}
    # Where no step is forced, the second view is the first.
    for place, name in enumerate(("as collected", "no forced steps")[: 1 + (task.forced > 0)]):
        view = pick(setting.views, place)
        runs = [
            _play(unit, world, view, actor(world, pick(fitted.model, seed)), key)
            for seed, key in enumerate(keys)
        ]
        played[name] = {
            "reward": [rounded(object_reward(run).mean()) for run in runs],
            "sd": [rounded(object_reward(run).std()) for run in runs],
            "form": [rounded(form_accuracy(run).mean()) for run in runs],
            "tests": [rounded(run.tests.sum(axis=1).mean()) for run in runs],
        }
    tell(f"{unit.name}: reward {np.mean(played['as collected']['reward']):.2f}")
    return {
        "kind": "imitator",
        "name": unit.name,
        "config": asdict(unit.config),
        "data": unit.data,
        "finished": fitted.validation_loss.shape[1] == unit.config.epochs,
        "episodes": unit.episodes,
        "rollouts": unit.rollouts,
        "seeds": unit.seeds,
        "data_length": rounded(np.mean([data.lengths.mean() for data in datasets])),
        "data_reward": rounded(np.mean([object_reward(data).mean() for data in datasets])),
        "epochs": fitted.validation_loss.shape[1],
        "validation_loss": rounded(fitted.validation_loss),
        "played": played,
    }


def _data_actor(
    unit: ImitatorUnit, maker: AgentConfig | None, world: BlicketWorld, out: Path, seed: int
) -> Actor:
    if unit.data in RANDOM_DATA:
        return RandomActor()
    path = policy_file(out, unit.data, seed)
    there = maker is not None and path.exists()
    require(there, f"{path} is missing: run the study's part fig3d first")
    assert maker is not None
    return PolicyActor(load_policy(path, maker, world))


def _dataset(
    unit: ImitatorUnit, world: BlicketWorld, tables: Any, player: Actor, key: jax.Array
) -> Episodes:
    made = _sample(world, unit.episodes, tables, player, jax.random.fold_in(key, 2))
    data: Episodes = jax.tree.map(np.asarray, made)
    return data


def _play(
    unit: ImitatorUnit, world: BlicketWorld, tables: Any, player: Actor, key: jax.Array
) -> Episodes:
    played: Episodes = _sample(world, unit.rollouts, tables, player, jax.random.fold_in(key, 3))
    return played


@partial(jax.jit, static_argnums=(0, 1))
def _sample(
    world: BlicketWorld, episodes: int, tables: Any, player: Actor, key: jax.Array
) -> Episodes:
    return sample_episodes(world, tables, player, episodes, key)
