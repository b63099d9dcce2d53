"""The folder of a training: what was trained, where it stands, and policies to be used later."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from trivium.agents.blicket_world import VIEWS, BlicketWorld, task_setting, task_world
from trivium.agents.checkpoints import from_arrays, load_arrays, save_arrays, to_arrays
from trivium.agents.configuration import AgentConfig, LengthConfig, TaskConfig
from trivium.agents.progress import Report, Training
from trivium.agents.training import make_policy, pick
from trivium.benchmarks.blicket.inference.hypotheses import DEFAULT_SIX, split
from trivium.benchmarks.blicket.world.dynamics import TYPE_REWARD
from trivium.core.errors import require
from trivium.core.records import write_json
from trivium.core.spec import read_mapping, spec_from_dict
from trivium.core.streams import stream_key

MANIFEST = "agent.json"
CHECKPOINT = "checkpoint.npz"
CURVE = "curve.json"


@dataclass(frozen=True)
class TrainingJob:
    """What is trained; it must stay the same when a folder is gone on with."""

    agent: AgentConfig
    task: TaskConfig
    length: LengthConfig
    seed: int = 0
    seeds: int = 1

    def __post_init__(self) -> None:
        require(self.seeds >= 1, f"seeds must be at least 1, got {self.seeds}")


@dataclass(frozen=True)
class Trained:
    """A policy with what it was trained for."""

    agent: AgentConfig
    task: TaskConfig
    world: BlicketWorld
    policy: Any


def train(job: TrainingJob, out: Path, tell: Callable[[Report], None]) -> Training:
    """Train, or go on with what the folder holds; checkpoints on the way, policies at the end."""
    _claim(job, out)
    world = task_world(job.task)
    settings = [task_setting(job.task)] * job.seeds
    checkpoint = out / CHECKPOINT
    if checkpoint.exists():
        training = Training.load(world, job.agent, job.length, settings, checkpoint)
    else:
        keys = [run_key("train", job.seed, number) for number in range(job.seeds)]
        training = Training.begin(world, job.agent, job.length, settings, keys)
    try:
        training.complete(checkpoint=checkpoint, tell=tell)
    finally:
        # Ctrl-C too leaves what was done; a run not begun leaves nothing.
        if training.curve:
            training.save(checkpoint)
    for number in range(job.seeds):
        policy = pick(training.runs.policy, number)
        save_arrays(out / f"policy_{number}.npz", to_arrays(policy))
    write_json(out / CURVE, curve_record(job.task, training, slice(0, job.seeds)))
    return training


def _claim(job: TrainingJob, out: Path) -> None:
    """Write down what is trained here, or refuse a folder that holds something else."""
    path = out / MANIFEST
    asked = asdict(job)
    if not path.exists():
        write_json(path, asked)
        return
    held = _read_job(path)
    require(held == job, f"{out} holds another training; choose another folder with --out")


def _read_job(path: Path) -> TrainingJob:
    values = read_mapping(path)
    where = str(path)
    parts = {"agent": AgentConfig, "task": TaskConfig, "length": LengthConfig}
    for name in parts:
        require(isinstance(values.get(name), dict), f"{path}: {name} is missing")
    return TrainingJob(
        spec_from_dict(AgentConfig, values["agent"], where=where),
        spec_from_dict(TaskConfig, values["task"], where=where),
        spec_from_dict(LengthConfig, values["length"], where=where),
        int(values.get("seed", 0)),
        int(values.get("seeds", 1)),
    )


def load_trained(folder: Path, number: int = 0) -> Trained:
    """A policy of a finished training."""
    path = folder / MANIFEST
    require(path.exists(), f"{folder} holds no training: {MANIFEST} is missing")
    job = _read_job(path)
    require(0 <= number < job.seeds, f"{folder} holds policies 0..{job.seeds - 1}, not {number}")
    file = folder / f"policy_{number}.npz"
    require(file.exists(), f"{file} is missing: the training has not been finished")
    world = task_world(job.task)
    shape = jax.eval_shape(lambda: make_policy(job.agent, world, jax.random.key(0)))
    policy = from_arrays(shape, load_arrays(file), file)
    return Trained(job.agent, job.task, world, policy)


def run_key(*purpose: Any) -> jax.Array:
    """The random key of one run; hashed from what it is for, so that no two runs share draws."""
    word = stream_key("agents", *purpose) % (1 << 64)
    words = jnp.array([word >> 32, word & 0xFFFFFFFF], dtype=jnp.uint32)
    return jnp.asarray(jax.random.wrap_key_data(words))


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
