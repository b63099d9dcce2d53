"""trivium train AGENT"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trivium.agents import agents_module
from trivium.agents.config import AGENTS, PRESETS, AgentConfig, LengthConfig, TaskConfig
from trivium.commands.flags import peek, read_flags, require_out
from trivium.core.errors import require

ABOUT = """Train an agent in the blicket environment. Writes checkpoints, learning curves and
policies to the folder of --out; the same command resumes an interrupted training. --preset paper
has the paper's settings, --preset large many environments at once, which learns better and runs
faster.
Example: trivium train ppo-lstm --preset large --width 128 --steps 500000 --out runs/ppo"""


@dataclass(frozen=True)
class Flags:
    """What is trained, on what, and for how long."""

    preset: str = "paper"  # paper or large; other flags change it
    seed: int = 0  # the seed of all runs
    seeds: int = 1  # how many runs are trained side by side
    out: Path | None = None  # the folder of the training
    agent: AgentConfig = field(default_factory=AgentConfig)
    task: TaskConfig = field(default_factory=TaskConfig)
    length: LengthConfig = field(default_factory=LengthConfig)


def main(args: Sequence[str]) -> int:
    """Train, with a line for every point of the curve."""
    if not args or args[0] in ("-h", "--help"):
        known = ", ".join(AGENTS)
        print(f"usage: trivium train AGENT [flags]\n\n{ABOUT}\n\nAGENT is one of: {known}")
        print("trivium train AGENT --help lists the flags, with that agent's own defaults.")
        return 0 if args else 2
    preset = peek(args, "preset") or "paper"
    require(preset in PRESETS, f"unknown preset {preset!r}; there are {', '.join(PRESETS)}")
    name = args[0]
    default = Flags(preset=preset, agent=PRESETS[preset](name))
    flags = read_flags(f"train {name}", Flags, args[1:], ABOUT, default)
    by_flags = flags.agent.name
    require(by_flags == name, f"{name} and its flags differ: for {by_flags}, say train {by_flags}")
    out = require_out(flags.out)
    trained = agents_module("trained")
    job = trained.TrainingJob(flags.agent, flags.task, flags.length, flags.seed, flags.seeds)
    training = trained.train(job, out, lambda report: print(report, file=sys.stderr, flush=True))
    last = training.curve[-1]
    print(
        f"{int(last.steps.max()):,} steps, greedy reward {last.greedy.reward[:, 0].mean():.3f} "
        f"with {last.greedy.tests[:, 0].mean():.2f} tests, runs: {flags.seeds}"
    )
    print(f"policies in {out}; evaluate one:")
    print(f"  trivium eval blicket_game --preset paper --solver agent:{out} --out runs/agent")
    return 0
