"""trivium train AGENT"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from trivium.agents import agents_module
from trivium.agents.config import (
    AGENTS,
    IMITATORS,
    PRESETS,
    Q_LEARNING,
    AgentConfig,
    ImitationConfig,
    LengthConfig,
    TaskConfig,
)
from trivium.agents.qlearning import QConfig
from trivium.commands.flags import read_flags, read_start, refuse_without
from trivium.commands.parser import REQUIRED, changed, leaves
from trivium.core.errors import require, require_known

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
    agent: AgentConfig = field(default_factory=AgentConfig)
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
    default, about, work = _learner(named[0], start.preset)
    work(named[0], read_flags(f"train {named[0]}", default, rest, about))
    return 0


def train(agent: str, **fields: Any) -> None:
    """Train an agent with these values of its flags."""
    default, _, work = _learner(agent, fields.get("preset"))
    for name in fields:
        require_known(name, leaves(default), f"option {name!r}")
    work(agent, changed(default, fields))


def _learner(name: str, preset: str | None) -> tuple[Any, str, Callable[[str, Any], None]]:
    """The default flags of a kind of agent, their help, and the function that trains it."""
    require_known(name, LEARNERS, f"agent {name!r}")
    if name in IMITATORS:
        config = replace(ImitationConfig(), model=name)  # type: ignore[arg-type]
        return ImitatorFlags(config=config), ABOUT_IMITATORS, _imitate
    if name == Q_LEARNING:
        return QFlags(), ABOUT_Q, _learn_table
    preset = preset or "paper"
    require_known(preset, PRESETS, f"preset {preset!r}")
    return Flags(preset=preset, agent=PRESETS[preset](name)), ABOUT, _reinforce


def _reinforce(name: str, flags: Flags) -> None:
    by_flags = flags.agent.name
    require(by_flags == name, f"the flags describe {by_flags}: use trivium train {by_flags}")
    out = flags.out
    trained = agents_module("trained")
    job = trained.TrainingJob(flags.agent, flags.task, flags.length, flags.seed, flags.seeds)
    training = trained.train(job, out, lambda report: print(report, file=sys.stderr, flush=True))
    last = training.curve[-1]
    print(
        f"{int(last.steps.max()):,} steps, greedy reward {last.greedy.reward[:, 0].mean():.3f} "
        f"with {last.greedy.tests[:, 0].mean():.2f} tests, runs: {flags.seeds}"
    )
    print(f"policies in {out}; evaluate one:")
    shown = flags.task.demonstrations.replace("_", "-")
    preset = "paper" if shown == "none" else f"demonstrations-{shown}"
    print(f"  trivium eval blicket_game --preset {preset} --solver agent:{out} --out runs/agent")


def _imitate(name: str, flags: ImitatorFlags) -> None:
    model = flags.config.model
    require(model == name, f"the flags describe {model}: use trivium train {model}")
    out = flags.out
    require(flags.data is not None, "--data is missing: what should the agent imitate?")
    require(flags.seeds >= 1, f"seeds must be at least 1, got {flags.seeds}")
    print(
        agents_module("learned").train_imitator(
            flags.config, flags.data, out, seed=flags.seed, seeds=flags.seeds, target=flags.target
        )
    )
    _print_rollout(out)


def _learn_table(name: str, flags: QFlags) -> None:
    out = flags.out
    require(flags.seeds >= 1, f"seeds must be at least 1, got {flags.seeds}")
    print(
        agents_module("learned").train_table(
            flags.config,
            flags.task,
            out,
            seed=flags.seed,
            seeds=flags.seeds,
            tell=lambda text: print(text, file=sys.stderr, flush=True),
        )
    )
    _print_rollout(out)


def _print_rollout(out: Path) -> None:
    print(f"agents in {out}; play with one:")
    print(f"  trivium rollout {out} --episodes 1000 --out data/minari")
