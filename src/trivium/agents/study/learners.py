"""Learner units: trained, summed up as curves over seeds, their policies kept where needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from trivium.agents.blicket_world import VIEWS, task_setting, task_world
from trivium.agents.checkpoints import from_arrays, load_arrays, save_arrays, to_arrays
from trivium.agents.configuration import AgentConfig, TaskConfig
from trivium.agents.progress import Report, Training
from trivium.agents.study.plan import LearnerUnit
from trivium.agents.training import make_policy
from trivium.agents.worlds import World
from trivium.blicket.dynamics import TYPE_REWARD
from trivium.blicket.hypotheses import DEFAULT_SIX, split
from trivium.core.streams import stream_key

Tell = Callable[[str], None]


def run_key(*purpose: Any) -> jax.Array:
    """The random key of one run; hashed from what it is for, so that no two runs share draws."""
    word = stream_key("agents", *purpose) % (1 << 64)
    words = jnp.array([word >> 32, word & 0xFFFFFFFF], dtype=jnp.uint32)
    return jnp.asarray(jax.random.wrap_key_data(words))


def run_learners(unit: LearnerUnit, out: Path, seconds: float | None, tell: Tell) -> dict[str, Any]:
    """The curves of a unit; a time limit leaves a checkpoint that the next call goes on from."""
    world = task_world(unit.tasks[0])
    pairs = [(task, seed) for task in unit.tasks for seed in range(unit.seeds)]
    tables = {task: task_setting(task) for task in unit.tasks}
    settings = [tables[task] for task, _ in pairs]
    checkpoint = out / "unfinished" / f"{unit.name}.npz"
    if checkpoint.exists():
        training = Training.load(world, unit.agent, unit.length, settings, checkpoint)
    else:
        keys = [
            run_key(unit.preset, unit.agent.name, unit.agent.width, asdict(task), seed)
            for task, seed in pairs
        ]
        training = Training.begin(world, unit.agent, unit.length, settings, keys)

    def told(report: Report) -> None:
        tell(f"{unit.name}: {report}")

    finished = training.complete(checkpoint=checkpoint, seconds=seconds, tell=told)
    if unit.keep:
        save_policies(unit, out, training)
    if finished:
        checkpoint.unlink(missing_ok=True)
    return {
        "kind": "learner",
        "name": unit.name,
        "preset": unit.preset,
        "agent": asdict(unit.agent),
        "finished": finished,
        "asked_steps": unit.length.steps,
        "seconds": round(training.seconds, 1),
        "device": jax.devices()[0].device_kind,
        "seeds": unit.seeds,
        "tasks": [
            curve_record(task, training, slice(place * unit.seeds, (place + 1) * unit.seeds))
            for place, task in enumerate(unit.tasks)
        ],
    }


def curve_record(task: TaskConfig, training: Training, own: slice) -> dict[str, Any]:
    """The curves of one task: [seed][point] under every name."""
    curve = jax.tree.map(lambda *leaves: np.stack(leaves, axis=1), *training.curve)
    mine = jax.tree.map(lambda leaf: leaf[own], curve)
    sums = mine.training
    episodes = np.maximum(sums.episodes, 1)
    about_form = TYPE_REWARD * (2 * sums.form_right - sums.form_asked)
    train = [
        str(each) in {str(machine) for machine in split(task.split)[0]} for each in DEFAULT_SIX
    ]
    test = [str(each) in {str(machine) for machine in split(task.split)[1]} for each in DEFAULT_SIX]
    record: dict[str, Any] = {
        "task": asdict(task),
        "steps": mine.steps[0].tolist(),
        "converged": mine.converged[:, -1].tolist(),
        "reward": rounded((sums.reward - about_form) / episodes),
        "tests": rounded(sums.tests / episodes),
        "maximal": rounded(sums.maximal / episodes),
    }
    if task.reward_structure != "quiz":
        record["form"] = rounded(sums.form_right / np.maximum(sums.form_asked, 1))
    greedy = mine.greedy
    form_part = TYPE_REWARD * (2 * greedy.form_right - 1) * (task.reward_structure != "quiz")
    figures = {
        "reward": greedy.reward - form_part,
        "tests": greedy.tests,
        "bits": greedy.bits,
        "form": greedy.form_right,
    }
    groups = {"train": train, "test": test}
    # The curve of the greedy reward, and everything about the greedy policy at the end.
    record["greedy_reward"] = {
        group: rounded(figures["reward"][:, :, 0, chosen].mean(axis=-1))
        for group, chosen in groups.items()
    }
    record["greedy"] = {
        VIEWS[view]: {
            group: {
                name: rounded(values[:, -1, view, chosen].mean(axis=-1))
                for name, values in figures.items()
                if name != "form" or task.reward_structure != "quiz"
            }
            for group, chosen in groups.items()
        }
        for view in range(1 if task.forced == 0 else 2)
    }
    return record


def rounded(values: Any) -> Any:
    """Plain lists with three decimals, to keep the files small."""
    return np.round(np.asarray(values, dtype=np.float64), 3).tolist()


def policy_file(out: Path, unit_name: str, seed: int) -> Path:
    """Where a kept policy lies."""
    return out / "policies" / f"{unit_name}_{seed}.npz"


def save_policies(unit: LearnerUnit, out: Path, training: Training) -> None:
    """The policies of the unit's first task, one file for each seed."""
    for seed in range(unit.seeds):
        policy = jax.tree.map(lambda leaf, seed=seed: leaf[seed], training.runs.policy)
        save_arrays(policy_file(out, unit.name, seed), to_arrays(policy))


def load_policy(path: Path, agent: AgentConfig, world: World) -> Any:
    """A kept policy."""
    shape = jax.eval_shape(lambda: make_policy(agent, world, jax.random.key(0)))
    return from_arrays(shape, load_arrays(path), path)
