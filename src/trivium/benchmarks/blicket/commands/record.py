"""trivium record"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from trivium.benchmarks.blicket.world.policies import get_policy
from trivium.benchmarks.blicket.world.recording import FOLDER, Episode, play, write_dataset
from trivium.benchmarks.blicket.world.spec import BlicketSpec
from trivium.commands.flags import REQUIRED, read_flags
from trivium.core.errors import import_extra, require, require_range
from trivium.core.streams import DEFAULT_SEED
from trivium.evaluation.executors import ProgressBar

ABOUT = """Play episodes of Blicket-v0 with a program and store them as a Minari dataset. Policies:
random_actions, and observers that explore in one of four ways (random, one_at_a_time,
information_gain, optimal), then answer by what is most likely.
Example: trivium record --policy information_gain --episodes 1000 --out data/minari"""


@dataclass(frozen=True)
class Flags:
    """Which policy plays, how often, and in which environment."""

    policy: str = "random_actions"  # the policy that plays
    episodes: int = 1000  # the number of episodes
    seed: int = DEFAULT_SEED  # the seed of all episodes
    out: Path = REQUIRED  # the folder of Minari datasets
    dataset: str | None = None  # the dataset's name (default: blicket/STRUCTURE-POLICY-v0)
    spec: BlicketSpec = field(default_factory=lambda: BlicketSpec(reward_structure="quiz"))


def main(args: Sequence[str]) -> int:
    """Play, write the dataset, and print a summary."""
    flags = read_flags("trivium record", Flags(), args, ABOUT).flags
    out = flags.out
    require_range(flags, 1, None, "episodes")
    policy = get_policy(flags.policy)
    import_extra("minari", "gym")  # before anything is played
    words = f"{flags.spec.reward_structure}-{flags.policy}".replace("_", "-")
    name = flags.dataset or f"blicket/{words}-v0"
    check_dataset(out, name)
    episodes = []
    with ProgressBar("episodes", flags.episodes) as bar:
        for episode in play(flags.spec, policy, flags.seed, flags.episodes):
            episodes.append(episode)
            bar.advance(1)
    write_dataset(name, flags.spec, episodes, flags.policy, out)
    print(summary(flags.spec, episodes))
    print_dataset(out, name)
    return 0


def print_dataset(out: Path, name: str) -> None:
    """Print the folder of a dataset and how to load it."""
    print(f"dataset in {out / name}; to load it:")
    folder = shlex.quote(str(out))
    print(f"  {FOLDER}={folder} python -c \"import minari; minari.load_dataset('{name}')\"")


def summary(spec: BlicketSpec, episodes: Sequence[Episode]) -> str:
    """The mean return and its standard deviation, and how often the answers were right."""
    totals = np.array([episode.total for episode in episodes])
    steps = sum(len(episode.rewards) for episode in episodes)
    text = f"{len(episodes)} episodes, {steps} steps, mean return {totals.mean():z.3f}, "
    text += f"sd {totals.std():.3f}"
    if spec.has_quiz:
        right = np.array([episode.rewards[-spec.questions :] > 0 for episode in episodes])
        text += f"; all answers right in {right.all(axis=1).mean():.1%}"
        if spec.asks_type:
            text += f", the form in {right[:, -1].mean():.1%}"
    return text


def check_dataset(out: Path, name: str) -> None:
    """Raise an error unless a new dataset of this name can be written to this folder."""
    require(
        re.fullmatch(r"(?:[\w-]+/)*[\w-]+-v\d+", name) is not None,
        f"dataset must be a name such as blicket/mine-v0, got {name!r}",
    )
    require(out.is_dir() or not os.path.lexists(out), f"out must be a folder, {out} is not")
    require(
        not (out / name).exists(),
        f"there is already a dataset {name!r}: choose another name or folder",
    )
