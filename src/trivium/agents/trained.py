"""The folder of a training: what was trained, where it stands, and policies to be used later."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import jax
from studies.blicket_learners.learners import curve_record, run_key

from trivium.agents.blicket_world import BlicketWorld, task_setting, task_world
from trivium.agents.checkpoints import from_arrays, load_arrays, save_arrays, to_arrays
from trivium.agents.configuration import AgentConfig, LengthConfig, TaskConfig
from trivium.agents.progress import Report, Training
from trivium.agents.training import make_policy, pick
from trivium.core.errors import require
from trivium.core.files import write_json
from trivium.core.spec import read_mapping, spec_from_dict

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
