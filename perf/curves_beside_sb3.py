"""Learning curves of ours beside those of Stable-Baselines3 and sb3-contrib on blicket.

    python perf/curves_beside_sb3.py theirs FOLDER --processes 16 --seconds 1500
    python perf/curves_beside_sb3.py ours FOLDER
    python perf/curves_beside_sb3.py compare FOLDER --to docs/sb3/curves

The first two can run on different machines. A curve is the mean reward of the training episodes
that ended in each bin of steps, kept as FOLDER/SIDE/AGENT-SEED.json and written after every bin.
`theirs` needs torch, stable-baselines3 and sb3-contrib (pip install stable-baselines3
sb3-contrib) with trivium[gym]; `ours` needs trivium[agents].
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import os
import sys
import time
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path

from trivium.agents.config import LengthConfig, TaskConfig, paper
from trivium.core.errors import UserError, require
from trivium.core.files import write_json

BIN = 10_240  # steps; a whole number of updates of every agent
STEPS = {  # the slowest comes first
    "a2c-lstm": 1_024_000,
    "ppo-lstm": 1_024_000,
    "ppo-mlp": 409_600,
    "a2c-mlp": 409_600,
}
SEEDS = 8
EPISODE = 25  # steps of the longest episode
NEVER = 10**9  # maximal episodes in a row before ours would end early; theirs never does


@dataclass
class Curve:
    """One learner's training, bin by bin."""

    side: str
    agent: str
    seed: int
    bin: int
    rewards: list[float] = field(default_factory=list)  # mean of the episodes of each bin
    episodes: list[int] = field(default_factory=list)
    seconds: float = 0.0  # until the last bin was full; of all seeds together for ours

    def write(self, folder: Path) -> None:
        """Write the curve so far."""
        path = folder / self.side / f"{self.agent}-{self.seed}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, asdict(self))


@dataclass(frozen=True)
class Plan:
    """What is to be trained, and until when."""

    folder: Path
    steps: dict[str, int]  # of each agent
    seeds: int
    bin: int
    seconds: float
    device: str = "cpu"  # that trains theirs, by torch's name

    def __post_init__(self) -> None:
        require(self.seeds >= 1, f"seeds must be at least 1, got {self.seeds}")
        for agent, steps in self.steps.items():
            config = paper(agent)
            require(
                self.bin % config.batch == 0,
                f"bin must be a multiple of {config.batch} ({agent}), got {self.bin}",
            )
            shortest = EPISODE * config.environments  # in which some episode must end
            require(
                self.bin >= shortest,
                f"bin must be at least {shortest} ({agent}), got {self.bin}",
            )
            require(
                steps >= self.bin and steps % self.bin == 0,
                f"steps of {agent} must be a multiple of the bin of {self.bin}, got {steps}",
            )


def ours(plan: Plan) -> None:
    """All seeds of each agent in one run of ours."""
    jax = importlib.import_module("jax")
    worlds = importlib.import_module("trivium.agents.worlds")
    learners = importlib.import_module("trivium.agents.learners")
    task, deadline = TaskConfig(), time.monotonic() + plan.seconds
    for agent, steps in plan.steps.items():
        training = learners.Learners(
            worlds.task_world(task),
            paper(agent),
            LengthConfig(steps=steps, points=steps // plan.bin, streak=NEVER),
            [worlds.task_setting(task)] * plan.seeds,
            [jax.random.key(seed) for seed in range(plan.seeds)],
        )
        curves = [Curve("ours", agent, seed, plan.bin) for seed in range(plan.seeds)]
        while not training.finished and time.monotonic() < deadline:
            spent = training.advance()
            sums = training.curve[-1].training
            for curve in curves:
                curve.episodes.append(int(sums.episodes[curve.seed]))
                curve.rewards.append(float(sums.reward[curve.seed] / sums.episodes[curve.seed]))
                curve.seconds = training.seconds
                curve.write(plan.folder)
            print(f"ours   {agent}: {training.describe(spent)}", flush=True)


def theirs(plan: Plan, processes: int) -> None:
    """A process for each agent and seed, some of them side by side."""
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = "1"
    jobs = [(agent, seed) for agent in plan.steps for seed in range(plan.seeds)]
    deadline = time.time() + plan.seconds
    with multiprocessing.get_context("spawn").Pool(processes, maxtasksperchild=1) as pool:
        for summary in pool.imap_unordered(partial(their_curve, plan, deadline), jobs, chunksize=1):
            print(f"theirs {summary}", flush=True)


def their_curve(plan: Plan, deadline: float, job: tuple[str, int]) -> str:
    """Train one of their learners; a line that says how far it came."""
    learners = importlib.import_module("sb3_learners")
    agent, seed = job
    curve, began, rewards = Curve("theirs", agent, seed, plan.bin), time.time(), list[float]()

    def close_bins(step: int) -> None:
        while step > plan.bin * (len(curve.rewards) + 1):
            curve.rewards.append(sum(rewards) / len(rewards))
            curve.episodes.append(len(rewards))
            curve.seconds = time.time() - began
            rewards.clear()
            curve.write(plan.folder)

    def finished(step: int, reward: float) -> bool:
        close_bins(step)
        rewards.append(reward)
        return time.time() < deadline

    steps = plan.steps[agent]
    if began < deadline:
        learners.train(paper(agent), seed, steps, finished, plan.device)
        if time.time() < deadline:
            close_bins(steps + 1)
    reached = plan.bin * len(curve.rewards)
    pace = reached / max(curve.seconds, 1e-9)
    return f"{agent} seed {seed}: {reached:,} of {steps:,} steps, {pace:,.0f} steps/s"


def agent_steps(text: str) -> tuple[str, int]:
    """`AGENT=STEPS` as it is on the command line."""
    agent, _, steps = text.partition("=")
    if agent not in STEPS or not (steps or "0").isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no AGENT[=STEPS] of {', '.join(STEPS)}")
    return agent, int(steps or STEPS[agent])


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("theirs", "ours"):
        command = commands.add_parser(name)
        command.add_argument("folder", type=Path)
        command.add_argument(
            "--steps", nargs="+", type=agent_steps, default=list(STEPS.items()), metavar="AGENT=N"
        )
        command.add_argument("--seeds", type=int, default=SEEDS)
        command.add_argument("--bin", type=int, default=BIN, help="steps of a bin")
        command.add_argument("--seconds", type=float, default=float("inf"), help="time for all")
        if name == "theirs":
            command.add_argument("--processes", type=int, default=1)
            command.add_argument("--device", default="cpu", help="the torch device, such as cuda")
    command = commands.add_parser("compare")
    command.add_argument("folder", type=Path)
    command.add_argument("--to", type=Path, required=True, help="of .md and .svg")
    return parser.parse_args()


def main() -> None:
    """Train one side, or compare both."""
    options = parse()
    try:
        if options.command == "compare":
            sys.path.append(str(Path(__file__).parents[1]))  # where the studies' charts are
            importlib.import_module("curve_comparison").compare(options.folder, options.to)
            return
        steps = dict(options.steps)
        plan = Plan(options.folder, steps, options.seeds, options.bin, options.seconds)
        if options.command == "ours":
            ours(plan)
        else:
            theirs(replace(plan, device=options.device), options.processes)
    except UserError as problem:
        print(f"error: {problem}", file=sys.stderr)
        raise SystemExit(2) from None


if __name__ == "__main__":
    main()
