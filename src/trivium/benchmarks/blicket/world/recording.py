"""Trajectories as Minari datasets, a common format for offline learning (HDF5, no pickles)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.benchmarks.blicket.world.dynamics import make_tables, transition
from trivium.benchmarks.blicket.world.policies import Policy
from trivium.benchmarks.blicket.world.spec import BlicketSpec
from trivium.core.errors import UserError, import_extra, require
from trivium.core.spec import changed_fields, spec_to_dict
from trivium.core.streams import stream_key

FOLDER = "MINARI_DATASETS_PATH"  # the environment variable that names Minari's folder
EPISODE_BYTES = 20_000  # size of an episode on disk, mostly HDF5's own data
STEP_BYTES = 100  # size of a step


@dataclass(frozen=True)
class Episode:
    """One episode from the first observation to the last."""

    observations: NDArray[np.float32]  # one more than there are actions
    actions: NDArray[np.int64]
    rewards: NDArray[np.float64]
    hypothesis: str = ""
    seed: int = 0

    @property
    def total(self) -> float:
        """The return of the episode."""
        return float(self.rewards.sum())


def play_episode(spec: BlicketSpec, policy: Policy, seed: int, index: int) -> Episode:
    """Episode `index` of a seed, a pure function of these arguments."""
    env_module = import_extra("trivium.benchmarks.blicket.world.env", "gym")
    env = env_module.BlicketEnv(**spec_to_dict(spec))
    start = stream_key("episode", seed, index) % (1 << 32)
    act = policy(spec, np.random.default_rng(stream_key("actions", seed, index)))
    seen, info = env.reset(seed=start)
    observations, actions, rewards, done = [seen], [], [], False
    while not done:
        actions.append(act(seen))
        seen, reward, done, _, _ = env.step(actions[-1])
        observations.append(seen)
        rewards.append(reward)
    taken = np.array(actions, dtype=np.int64)
    return Episode(np.array(observations), taken, np.array(rewards), info["hypothesis"], start)


def play(spec: BlicketSpec, policy: Policy, seed: int, episodes: int) -> Iterator[Episode]:
    """The first episodes of a seed."""
    return (play_episode(spec, policy, seed, index) for index in range(episodes))


def replay(
    spec: BlicketSpec,
    hypothesis: str,
    codes: Sequence[int],
    order: int = 0,
    flips: Sequence[bool] = (),
) -> Episode:
    """The episode of these actions; `flips` tells for the first of them if the light was wrong."""
    tables = make_tables(spec)
    state = tables.starts[spec.hypotheses.index(hypothesis) * spec.orders + order]
    seen, rewards = [0], []
    for code, flip in zip_longest(codes, flips, fillvalue=False):
        state, after, reward, _ = transition(tables, state, code, int(flip))
        seen.append(int(after))
        rewards.append(float(reward))
    actions = np.array(codes)[:, None] >> np.arange(spec.action_bits) & 1
    return Episode(tables.observations[seen], actions, np.array(rewards), hypothesis)


def write_dataset(
    name: str,
    spec: BlicketSpec,
    episodes: Sequence[Episode],
    policy: str,
    folder: Path,
) -> Any:
    """Write episodes as the Minari dataset of this name in a folder of datasets, and return it.

    `minari.load_dataset` finds it if MINARI_DATASETS_PATH names the folder. Every step has the
    number of its machine, and the dataset can re-create its environment.
    """
    minari = import_extra("minari", "gym")
    storage = import_extra("minari.storage", "gym")
    gymnasium = import_extra("gymnasium", "gym")
    import_extra("trivium.benchmarks.blicket.world.env", "gym")  # registers the environment
    require(len(episodes) > 0, "a dataset needs at least one episode, got none")
    # Without defaults, to keep the stored environment readable.
    options = {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in changed_fields(spec).items()
    }
    env = gymnasium.make("trivium/Blicket-v0", **options)
    about = f"Blicket-v0 played by {policy}; machines: {', '.join(spec.hypotheses)}"
    with _minari_folder(folder):
        path = storage.get_dataset_path(name)
        taken = path.exists()
        require(not taken, f"there is a dataset {name!r} already: choose another name or folder")
        _require_space(path, episodes)
        with _removed_on_failure(path):
            return minari.create_dataset_from_buffers(
                dataset_id=name,
                buffer=[_buffer(spec, *pair) for pair in enumerate(episodes)],
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


def _buffer(spec: BlicketSpec, number: int, episode: Episode) -> Any:
    steps, machine = len(episode.rewards), spec.hypotheses.index(episode.hypothesis)
    return import_extra("minari.data_collector", "gym").EpisodeBuffer(
        id=number,
        seed=episode.seed,
        observations=episode.observations,
        actions=episode.actions,
        rewards=list(episode.rewards),
        terminations=[False] * (steps - 1) + [True],
        truncations=[False] * steps,
        infos={"machine": np.full(steps + 1, machine)},
    )


def _require_space(path: Path, episodes: Sequence[Episode]) -> None:
    """Refuse a disk that is too full, since h5py can crash the process on it."""
    needed = EPISODE_BYTES * len(episodes) + STEP_BYTES * sum(len(one.rewards) for one in episodes)
    folder = next(parent for parent in path.parents if parent.exists())
    require(
        shutil.disk_usage(folder).free >= needed,
        f"{path}: cannot be written (about {needed / 1e6:.1f} MB are needed, and there is less)",
    )


@contextmanager
def _removed_on_failure(path: Path) -> Iterator[None]:
    """Remove a dataset that could not be written completely."""
    try:
        yield
    except BaseException as problem:
        shutil.rmtree(path, ignore_errors=True)
        # A full disk raises OSError while data is written, and h5py's RuntimeError at the end.
        if isinstance(problem, OSError) or "errno = " in str(problem):
            reason = " ".join(str(getattr(problem, "strerror", None) or problem).split())
            raise UserError(f"{path}: cannot be written ({reason:.200})") from None
        raise


@contextmanager
def _minari_folder(folder: Path) -> Iterator[None]:
    """Set the environment variable that names Minari's folder, the only way to choose it."""
    before = os.environ.get(FOLDER)
    os.environ[FOLDER] = str(folder.resolve())
    try:
        yield
    finally:
        del os.environ[FOLDER]
        if before is not None:
            os.environ[FOLDER] = before
