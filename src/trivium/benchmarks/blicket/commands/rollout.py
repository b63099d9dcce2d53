"""trivium rollout FOLDER"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from trivium.agents import agents_module
from trivium.benchmarks.blicket.commands.record import check_dataset, print_dataset, summary
from trivium.benchmarks.blicket.world.recording import write_dataset
from trivium.commands.flags import REQUIRED, argument, read_flags
from trivium.core.errors import require_range

ABOUT = """Play Blicket-v0 with any trained agent and store the episodes as a Minari dataset. Prints
the mean return, its standard deviation, and the shares of episodes with all answers right and with
the right form (the paper's FCA); if the agent was trained with forced steps, also without them.
Example: trivium rollout runs/ppo --episodes 1000 --out data/minari"""


@dataclass(frozen=True)
class Flags:
    """Which agent plays, and how often."""

    folder: Path = argument("FOLDER")  # the folder of the agents
    policy: int = 0  # the number of the agent in the folder
    episodes: int = 1000  # the number of episodes
    seed: int = 0  # the seed of all episodes
    greedy: bool = False  # take the most likely action instead of sampling
    out: Path = REQUIRED  # the folder of Minari datasets
    dataset: str | None = None  # the dataset's name (default: blicket/STRUCTURE-AGENT-v0)


def main(args: Sequence[str]) -> int:
    """Play, write the dataset, and print a summary."""
    flags = read_flags("trivium rollout", Flags(), args, ABOUT).flags
    out = flags.out
    require_range(flags, 1, None, "episodes")
    folders = agents_module("folders")
    agent = folders.load_agent(flags.folder, flags.policy)
    name = flags.dataset or f"blicket/{agent.spec.reward_structure}-{agent.name}-v0"
    check_dataset(out, name)
    how = (flags.episodes, flags.seed, flags.greedy)
    episodes = folders.agent_episodes(agent, *how)
    write_dataset(name, agent.spec, episodes, agent.name, out)
    print(summary(agent.spec, episodes))
    if agent.spec.quiz_disabled_steps >= 0:
        free = replace(agent, spec=replace(agent.spec, quiz_disabled_steps=-1))
        print(f"without forced steps: {summary(free.spec, folders.agent_episodes(free, *how))}")
    print_dataset(out, name)
    return 0
