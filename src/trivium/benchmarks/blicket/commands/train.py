"""trivium train AGENT"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from trivium.agents import agents_module
from trivium.agents.config import (
    AGENTS,
    IMITATORS,
    PRESETS,
    AgentConfig,
    ImitationConfig,
    LengthConfig,
    TaskConfig,
)
from trivium.agents.qlearning import Q_LEARNING, QConfig
from trivium.commands.flags import REQUIRED, changed, leaves, read_flags, read_start, refuse_without
from trivium.core.errors import require, require_known, require_range

ABOUT = """Train an agent in the blicket environment. Writes checkpoints, learning curves and
policies to the folder of --out; the same command resumes an interrupted run. --preset paper has
the paper's settings; --preset large trains in many environments at once, which learns better and
runs faster. Machines are the paper's six, or those of --split, --hypotheses or --rules.
Example: trivium train ppo-lstm --preset large --steps 500000 --out runs/ppo"""
ABOUT_IMITATORS = """Train an agent that imitates recorded episodes. --data is the folder of a
Minari dataset (trivium record, trivium rollout) or a run of blicket_game by people, models or
programs. Writes models to the folder of --out; the same command resumes an interrupted run.
Example: trivium train cloning --data runs/people --out runs/cloning"""
ABOUT_Q = """Train a table with a value for every history by Q-learning, until the greedy policy is
perfect on every machine. Writes tables to the folder of --out.
Example: trivium train q-learning --out runs/q"""

LEARNERS = {
    **dict.fromkeys(AGENTS, "a reinforcement learner"),
    **dict.fromkeys(IMITATORS, "imitates recorded episodes"),
    Q_LEARNING: "a table of values",
}


@dataclass(frozen=True)
class Flags:
    """What to train, on what, and for how long."""

    preset: str = "paper"  # paper or large; other flags change it
    seed: int = 0  # the seed of all runs
    seeds: int = 1  # the number of runs trained in parallel
    out: Path = REQUIRED  # the folder of the results
    config: AgentConfig = field(default_factory=AgentConfig)
    task: TaskConfig = field(default_factory=TaskConfig)
    length: LengthConfig = field(default_factory=LengthConfig)


@dataclass(frozen=True)
class ImitatorFlags:
    """What to imitate, and how."""

    data: Path | None = None  # a Minari dataset, or a run or file of records of blicket_game
    target: float | None = None  # the return that a transformer aims at (default: the largest)
    seed: int = 0  # the seed of all agents
    seeds: int = 1  # the number of agents trained in parallel
    out: Path = REQUIRED  # the folder of the results
    config: ImitationConfig = field(default_factory=ImitationConfig)


@dataclass(frozen=True)
class QFlags:
    """What to learn, and for how long."""

    seed: int = 0  # the seed of the first table; the next table has the next seed
    seeds: int = 1  # the number of tables
    out: Path = REQUIRED  # the folder of the results
    task: TaskConfig = field(default_factory=TaskConfig)
    config: QConfig = field(default_factory=QConfig)


def main(args: Sequence[str]) -> int:
    """Train an agent of the kind that the first argument names."""
    named, rest, start = read_start(args)
    if not named:
        refuse_without("AGENT", LEARNERS, "train", args, ABOUT)
    name = named[0]
    default, about = _defaults(name, start.preset)
    _train(name, read_flags(f"trivium train {name}", default, rest, about).flags)
    return 0


def train(agent: str, **fields: Any) -> None:
    """Train an agent with these values of its flags."""
    default, _ = _defaults(agent, fields.get("preset"))
    for name in fields:
        require_known(name, leaves(default), f"option {name!r}")
    _train(agent, changed(default, fields))


def _defaults(name: str, preset: str | None) -> tuple[Any, str]:
    """The default flags of an agent, and what its help says."""
    require_known(name, LEARNERS, f"agent {name!r}")
    if name in IMITATORS:
        config = replace(ImitationConfig(), model=name)  # type: ignore[arg-type]
        return ImitatorFlags(config=config), ABOUT_IMITATORS
    if name == Q_LEARNING:
        return QFlags(), ABOUT_Q
    preset = preset or "paper"
    require_known(preset, PRESETS, f"preset {preset!r}")
    return Flags(preset=preset, config=PRESETS[preset](name)), ABOUT


TRAINERS = {Flags: "train_policies", ImitatorFlags: "train_imitators", QFlags: "train_tables"}


def _train(name: str, flags: Any) -> None:
    """Train the agent that the flags describe, and print what can be done with it."""
    by_flags = flags.config.name
    require(by_flags == name, f"the flags describe {by_flags}: use trivium train {by_flags}")
    require_range(flags, 1, None, "seeds")
    values = {name: value for name, value in vars(flags).items() if name != "preset"}
    require(values.get("data", "") is not None, "--data is missing: what should the agent imitate?")
    trainer = getattr(agents_module("folders"), TRAINERS[type(flags)])
    print(trainer(**values, tell=lambda text: print(text, file=sys.stderr, flush=True)))
    out = shlex.quote(str(flags.out))
    task: TaskConfig = values.get("task", TaskConfig())
    shown = task.demonstrations.replace("_", "-")
    preset = "paper" if shown == "none" else f"demonstrations-{shown}"
    print(f"agents in {flags.out}; evaluate one, or store its episodes:")
    print(f"  trivium eval blicket_game --preset {preset} --solver agent:{out} --out runs/agent")
    print(f"  trivium rollout {out} --episodes 1000 --out data/minari")
