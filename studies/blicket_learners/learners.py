"""Learner units: trained, summed up as curves over seeds, their policies kept where needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from studies.blicket_learners.plan import LearnerUnit, TransferUnit, Unit
from trivium.agents.blicket_world import VIEWS, task_setting, task_world
from trivium.agents.checkpoints import from_arrays, load_arrays, save_arrays, to_arrays
from trivium.agents.configuration import AgentConfig, TaskConfig
from trivium.agents.progress import Training
from trivium.agents.training import Setting, make_policy, pick
from trivium.agents.worlds import World
from trivium.benchmarks.blicket.inference.hypotheses import DEFAULT_SIX, split
from trivium.benchmarks.blicket.world.dynamics import TYPE_REWARD
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
    keys = [
        run_key(unit.preset, unit.agent.name, unit.agent.width, asdict(task), seed)
        for task, seed in pairs
    ]
    runs = list(zip(settings, keys, strict=True))
    training = train_unit(unit, world, runs, out=out, seconds=seconds, tell=tell)
    if unit.keep:
        save_policies(unit, out, training)
    return {
        "kind": "learner",
        "name": unit.name,
        "preset": unit.preset,
        "agent": asdict(unit.agent),
        "finished": training.finished,
        "asked_steps": unit.length.steps,
        "seconds": round(training.seconds, 1),
        "device": jax.devices()[0].device_kind,
        "seeds": unit.seeds,
        "tasks": [
            curve_record(task, training, slice(place * unit.seeds, (place + 1) * unit.seeds))
            for place, task in enumerate(unit.tasks)
        ],
    }


def train_unit(
    unit: LearnerUnit | TransferUnit,
    world: World,
    runs: Sequence[tuple[Setting, jax.Array]],
    *,
    out: Path,
    seconds: float | None,
    tell: Tell,
) -> Training:
    """The unit's runs from their start or their checkpoint to the end, or until time is up."""
    settings, keys = [setting for setting, _ in runs], [key for _, key in runs]
    checkpoint = checkpoint_file(out, unit)
    if checkpoint.exists():
        training = Training.load(world, unit.agent, unit.length, settings, checkpoint)
    else:
        training = Training.begin(world, unit.agent, unit.length, settings, keys)
    training.complete(
        checkpoint=checkpoint, seconds=seconds, tell=lambda report: tell(f"{unit.name}: {report}")
    )
    return training


def checkpoint_file(out: Path, unit: Unit) -> Path:
    """Where a unit that is not finished goes on from."""
    return out / "unfinished" / f"{unit.name}.npz"


def curve_record(task: TaskConfig, training: Training, own: slice) -> dict[str, Any]:
    """The curves of one task: [seed][point] under every name."""
    curve = jax.tree.map(lambda *leaves: np.stack(leaves, axis=1), *training.curve)
    mine = jax.tree.map(lambda leaf: leaf[own], curve)
    sums = mine.training
    episodes = np.maximum(sums.episodes, 1)
    about_form = TYPE_REWARD * (2 * sums.form_right - sums.form_asked)
    groups = {
        group: [each in set(map(str, space)) for each in DEFAULT_SIX]
        for group, space in zip(("train", "test"), split(task.split), strict=True)
    }
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
        policy = pick(training.runs.policy, seed)
        save_arrays(policy_file(out, unit.name, seed), to_arrays(policy))


def load_policy(path: Path, agent: AgentConfig, world: World) -> Any:
    """A kept policy."""
    shape = jax.eval_shape(lambda: make_policy(agent, world, jax.random.key(0)))
    return from_arrays(shape, load_arrays(path), path)
