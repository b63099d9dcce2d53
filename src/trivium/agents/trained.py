"""The folder of a training: its configuration, checkpoint, learning curve and policies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import orjson

from trivium.agents.checkpoints import load_tree, save_tree
from trivium.agents.config import AgentConfig, LengthConfig, TaskConfig
from trivium.agents.networks import make_policy
from trivium.agents.training import Report, Training, pick
from trivium.agents.worlds import VIEWS, BlicketWorld, World, task_setting, task_spec, task_world
from trivium.benchmarks.blicket.world.spec import TYPE_REWARD
from trivium.core.errors import require
from trivium.core.files import dump_line, write_json
from trivium.core.spec import read_mapping, spec_from_dict
from trivium.core.streams import stream_key

MANIFEST = "agent.json"
CHECKPOINT = "checkpoint.eqx"
CURVE = "curve.json"


@dataclass(frozen=True)
class TrainingJob:
    """What to train; a folder is resumed only by the same job."""

    agent: AgentConfig
    task: TaskConfig
    length: LengthConfig
    seed: int = 0
    seeds: int = 1

    def __post_init__(self) -> None:
        require(self.seeds >= 1, f"seeds must be at least 1, got {self.seeds}")


@dataclass(frozen=True)
class Trained:
    """A policy and what it was trained for."""

    agent: AgentConfig
    task: TaskConfig
    world: BlicketWorld
    policy: Any


def train(job: TrainingJob, out: Path, tell: Callable[[Report], None]) -> Training:
    """Train to the end, from the folder's checkpoint if there is one."""
    claim(out, asdict(job) | {"task": job.task.to_dict()})
    checkpoint, world = out / CHECKPOINT, task_world(job.task)
    settings = [task_setting(job.task)] * job.seeds
    if checkpoint.exists():
        training = Training.load(world, job.agent, job.length, settings, checkpoint)
    else:
        keys = [run_key("train", job.seed, number) for number in range(job.seeds)]
        training = Training.begin(world, job.agent, job.length, settings, keys)
    try:
        training.complete(checkpoint=checkpoint, tell=tell)
    finally:
        # After Ctrl-C too.
        if training.curve:
            training.save(checkpoint)
    for number in range(job.seeds):
        save_tree(out / f"policy_{number}.eqx", pick(training.runs.policy, number))
    write_json(out / CURVE, curve_record(job.task, training, slice(0, job.seeds)))
    return training


def claim(out: Path, manifest: Mapping[str, Any]) -> None:
    """Write the manifest, or refuse a folder that holds another training."""
    path = out / MANIFEST
    if path.exists():
        same = read_mapping(path) == orjson.loads(dump_line(manifest))
        require(same, f"{out} holds another training; choose another folder with --out")
    else:
        write_json(path, manifest)


def load_trained(folder: Path, number: int = 0) -> Trained:
    """One policy of a finished training."""
    values, where = read_manifest(folder, number), str(folder / MANIFEST)
    kind = values.get("kind", "policy")
    require(kind == "policy", f"{folder} holds a training of the kind {kind}, not policies")
    for name in ("agent", "task"):
        require(isinstance(values.get(name), dict), f"{where}: {name} is missing")
    agent = spec_from_dict(AgentConfig, values["agent"], where=where)
    task = spec_from_dict(TaskConfig, values["task"], where=where)
    world, file = task_world(task), finished_file(folder, f"policy_{number}.eqx")
    return Trained(agent, task, world, load_policy(file, agent, world))


def read_manifest(folder: Path, number: int) -> dict[str, Any]:
    """What was trained in a folder; UserError unless it has an agent of this number."""
    manifest = folder / MANIFEST
    require(manifest.exists(), f"{folder} holds no training: {MANIFEST} is missing")
    values = read_mapping(manifest)
    seeds = int(values.get("seeds", 1))
    require(0 <= number < seeds, f"{folder} holds agents 0..{seeds - 1}, not {number}")
    return values


def finished_file(folder: Path, name: str) -> Path:
    """A file that is written at the end of training."""
    file = folder / name
    require(file.exists(), f"{file} is missing: the training has not been finished")
    return file


def load_policy(file: Path, agent: AgentConfig, world: World) -> Any:
    """The agent's network with the weights of a file."""
    shape = jax.eval_shape(lambda: make_policy(agent, world, jax.random.key(0)))
    return load_tree(file, lambda _: shape)[0]


def run_key(*purpose: Any) -> jax.Array:
    """The random key of one run; hashed from its purpose, so that no two runs share draws."""
    word = stream_key("agents", *purpose) % (1 << 64)
    words = jnp.array([word >> 32, word & 0xFFFFFFFF], dtype=jnp.uint32)
    return jnp.asarray(jax.random.wrap_key_data(words))


def curve_record(task: TaskConfig, training: Training, own: slice) -> dict[str, Any]:
    """The learning curves of the runs of one task: [seed][point] under every name."""
    curve = jax.tree.map(lambda *leaves: np.stack(leaves, axis=1)[own], *training.curve)
    sums, greedy = curve.training, curve.greedy
    asks_form = task.reward_structure in ("quiz-type", "quiz-typeonly")
    episodes = np.maximum(sums.episodes, 1)
    form_reward = TYPE_REWARD * (2 * sums.form_right - sums.form_asked)
    record: dict[str, Any] = {
        "task": task.to_dict(),
        "steps": curve.steps[0].tolist(),
        "converged": curve.converged[:, -1].tolist(),
        "reward": rounded((sums.reward - form_reward) / episodes),
        "tests": rounded(sums.tests / episodes),
        "maximal": rounded(sums.maximal / episodes),
    }
    measures = {
        "reward": greedy.reward - asks_form * TYPE_REWARD * (2 * greedy.form_right - 1),
        "tests": greedy.tests,
        "bits": greedy.bits,
    }
    if asks_form:
        record["form"] = rounded(sums.form_right / np.maximum(sums.form_asked, 1))
        measures["form"] = greedy.form_right
    orders = task_spec(task).orders
    groups = {
        group: [name in set(map(str, space)) for name in task.universe for _ in range(orders)]
        for group, space in zip(("train", "test"), task.spaces, strict=True)
    }
    # The greedy reward at every point, and all measures of the greedy policy at the end.
    record["greedy_reward"] = {
        group: rounded(measures["reward"][:, :, 0, chosen].mean(axis=-1))
        for group, chosen in groups.items()
    }
    record["greedy"] = {
        name: {
            group: {
                measure: rounded(values[:, -1, view, chosen].mean(axis=-1))
                for measure, values in measures.items()
            }
            for group, chosen in groups.items()
        }
        for view, name in enumerate(VIEWS[: 1 + (task.forced > 0)])
    }
    return record


def rounded(values: Any) -> Any:
    """Plain lists with three decimals, to keep the files small."""
    return np.round(np.asarray(values, dtype=np.float64), 3).tolist()
