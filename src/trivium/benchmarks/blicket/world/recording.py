"""Trajectories as Minari datasets: the ecosystem's format for offline learning, no pickles."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.benchmarks.blicket.world.dynamics import BlicketSpec
from trivium.benchmarks.blicket.world.policies import Policy
from trivium.core.errors import UserError, import_extra, require
from trivium.core.spec import changed_fields
from trivium.core.streams import stream_key

FOLDER = "MINARI_DATASETS_PATH"  # where Minari looks for datasets


@dataclass(frozen=True)
class Episode:
    """One episode from the first observation to the last."""

    observations: NDArray[np.float32]  # one more than there are actions
    actions: NDArray[np.int64]
    rewards: NDArray[np.float64]
    hypothesis: str
    seed: int

    @property
    def total(self) -> float:
        """The return of the episode."""
        return float(self.rewards.sum())


def play_episode(spec: BlicketSpec, policy: Policy, seed: int, index: int) -> Episode:
    """Episode number `index` of a seed; the same whoever plays it, and in whatever order."""
    env_module = import_extra("trivium.benchmarks.blicket.world.env", "gym")
    env = env_module.BlicketEnv(**env_options(spec))
    start = stream_key("episode", seed, index) % (1 << 32)
    act = policy(spec, np.random.default_rng(stream_key("actions", seed, index)))
    seen, info = env.reset(seed=start)
    observations, actions, rewards, done = [seen], [], [], False
    while not done:
        action = act(seen)
        seen, reward, done, _, _ = env.step(action)
        observations.append(seen)
        actions.append(action)
        rewards.append(reward)
    return Episode(
        np.array(observations),
        np.array(actions, dtype=np.int64),
        np.array(rewards),
        info["hypothesis"],
        start,
    )


def play(spec: BlicketSpec, policy: Policy, seed: int, episodes: int) -> Iterator[Episode]:
    """So many episodes of a seed."""
    for index in range(episodes):
        yield play_episode(spec, policy, seed, index)


def env_options(spec: BlicketSpec) -> dict[str, Any]:
    """The keyword arguments that make this environment."""
    return {field.name: getattr(spec, field.name) for field in fields(spec)}


def write_dataset(
    name: str,
    spec: BlicketSpec,
    episodes: Sequence[Episode],
    policy: str,
    folder: Path | None = None,
) -> Any:
    """Write episodes as the Minari dataset of this name, and return it.

    The folder is Minari's own unless one is given; `minari.load_dataset` finds the dataset
    there when MINARI_DATASETS_PATH names the folder. Every step carries the number of its
    machine, and the dataset re-creates its environment.
    """
    minari = import_extra("minari", "gym")
    collector = import_extra("minari.data_collector", "gym")
    storage = import_extra("minari.storage", "gym")
    gymnasium = import_extra("gymnasium", "gym")
    import_extra("trivium.benchmarks.blicket.world.env", "gym")
    require(len(episodes) > 0, "a dataset needs at least one episode, got none")
    buffers = [
        collector.EpisodeBuffer(
            id=number,
            seed=episode.seed,
            observations=episode.observations,
            actions=episode.actions,
            rewards=list(episode.rewards),
            terminations=[False] * (len(episode.rewards) - 1) + [True],
            truncations=[False] * len(episode.rewards),
            infos={"machine": _machine_column(spec, episode)},
        )
        for number, episode in enumerate(episodes)
    ]
    # The defaults stay out, so that the stored environment is easy to read.
    options = {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in changed_fields(spec).items()
    }
    about = f"Blicket-v0 played by {policy}; machines: {', '.join(spec.hypotheses)}"
    env = gymnasium.make("trivium/Blicket-v0", **options)
    with _minari_folder(folder):
        taken = name in minari.list_local_datasets()
        require(not taken, f"there is a dataset {name!r} already: choose another name or folder")
        with _whole_or_not(storage.get_dataset_path(name)):
            return minari.create_dataset_from_buffers(
                dataset_id=name,
                buffer=buffers,
                env=env,
                eval_env=env,
                algorithm_name=policy,
                author="Trivium",
                author_email="",
                code_permalink="",
                description=about,
                data_format="hdf5",
                requirements=["trivium"],
            )


@contextmanager
def _whole_or_not(path: Path) -> Iterator[None]:
    """A dataset that could not be written to its end is taken away again."""
    try:
        yield
    except BaseException as problem:
        shutil.rmtree(path, ignore_errors=True)
        if isinstance(problem, OSError):
            said = " ".join(str(problem.strerror or problem).split())
            raise UserError(f"{path}: cannot be written ({said})") from None
        raise


def _machine_column(spec: BlicketSpec, episode: Episode) -> NDArray[np.int64]:
    return np.full(len(episode.observations), spec.hypotheses.index(episode.hypothesis))


@contextmanager
def _minari_folder(folder: Path | None) -> Iterator[None]:
    """Minari reads its folder from the environment, and from nowhere else."""
    if folder is None:
        yield
        return
    before = os.environ.get(FOLDER)
    os.environ[FOLDER] = str(folder.resolve())
    try:
        yield
    finally:
        if before is None:
            del os.environ[FOLDER]
        else:
            os.environ[FOLDER] = before
