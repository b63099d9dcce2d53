"""What the study runs: units of work, the most telling first, each one file when done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from trivium.agents.configuration import (
    AgentConfig,
    ImitationConfig,
    LengthConfig,
    TaskConfig,
    large_batch,
    paper,
)
from trivium.agents.qlearning import QConfig
from trivium.core.errors import require

PARTS = ("fig3a", "fig3b", "fig3c", "fig3d", "table1", "table2", "qlearning", "overhypotheses")
RECURRENT = ("a2c-lstm", "ppo-lstm", "a2c-lnlstm", "ppo-lnlstm")
FORCED = (5, 10, 15)
HELD_OUT = (
    "conjunctive_train",
    "disjunctive_train",
    "conjunctive_loo",
    "disjunctive_loo",
    "both_loo",
)
RANDOM_DATA = {"random": 0, "random+5": 5, "random+10": 10, "random+15": 15}  # forced steps


@dataclass(frozen=True)
class Scale:
    """How much is run: the full study, or a quick look on a laptop."""

    seeds: int = 8
    widths: tuple[int, ...] = (256, 512)
    points: int = 40
    alone_steps: int = 3_000_000  # Figure 3a at the paper's batch
    wider_steps: int = 1_500_000  # the same at the larger width
    task_steps: int = 1_000_000  # forced steps and held-out machines, and telling the form
    large_steps: int = 1_500_000
    transfer_steps: int = 4_000_000
    large_environments: int = 0  # 0 takes the preset's own number
    imitation: ImitationConfig = field(default_factory=ImitationConfig)
    random_episodes: int = 300_000  # in random data an action tells little, so there are more
    agent_episodes: int = 50_000
    rollouts: int = 100
    trials: int = 100  # of Q-learning
    most_q_episodes: int = 500_000
    share_of_tasks: int = 1  # every so many of forced steps, splits, random data, sets of forms
    large: tuple[str, ...] = ("ppo-lstm", "ppo-lnlstm", "ppo-transformer")
    recurrent: tuple[str, ...] = RECURRENT
    memoryless: tuple[str, ...] = ("a2c-mlp", "ppo-mlp")
    transfer: tuple[str, ...] = ("ppo-lstm", "ppo-transformer")

    def __post_init__(self) -> None:
        require(self.seeds >= 1, f"seeds must be at least 1, got {self.seeds}")


QUICK = Scale(
    seeds=2,
    widths=(32,),
    points=5,
    alone_steps=40_000,
    wider_steps=40_000,
    task_steps=40_000,
    large_steps=80_000,
    transfer_steps=160_000,
    large_environments=16,
    imitation=ImitationConfig(width=32, layers=2, epochs=3, learning_rate=1e-3),
    random_episodes=2_000,
    agent_episodes=1_000,
    trials=10,
    most_q_episodes=60_000,
    share_of_tasks=4,
    large=("ppo-lstm",),
    recurrent=("a2c-lstm", "ppo-lstm"),
    memoryless=("a2c-mlp",),
    transfer=("ppo-lstm",),
)


@dataclass(frozen=True)
class LearnerUnit:
    """One agent on several tasks with several seeds, all trained in one vmapped run."""

    name: str
    preset: Literal["paper", "large"]
    agent: AgentConfig
    tasks: tuple[TaskConfig, ...]
    length: LengthConfig
    seeds: int
    parts: tuple[str, ...]
    keep: bool = False  # whether the policies are needed later


@dataclass(frozen=True)
class ImitatorUnit:
    """One imitator on one dataset with several seeds."""

    name: str
    config: ImitationConfig
    data: str  # a kind of random data, or the learner unit whose policies made it
    episodes: int
    rollouts: int
    seeds: int
    parts: tuple[str, ...] = ("table1",)


@dataclass(frozen=True)
class QUnit:
    """Trials of tabular Q-learning under one definition."""

    name: str
    config: QConfig
    trials: int
    parts: tuple[str, ...] = ("qlearning",)


@dataclass(frozen=True)
class TransferUnit:
    """One agent trained on some forms, tested on others and on more objects."""

    name: str
    agent: AgentConfig
    forms: tuple[str, ...]
    length: LengthConfig
    seeds: int
    parts: tuple[str, ...] = ("overhypotheses",)


Unit = LearnerUnit | ImitatorUnit | QUnit | TransferUnit


def plan(scale: Scale, only: Sequence[str] = PARTS) -> list[Unit]:
    """The units of these parts, the most telling first."""
    for part in only:
        require(part in PARTS, f"unknown part {part!r}; there are {', '.join(PARTS)}")
    units = [
        *_questions(scale),
        *_learners(scale),
        *_transfer(scale),
        *_imitators(scale),
        *_wider(scale),
    ]
    return [unit for unit in units if set(unit.parts) & set(only)]


def _tasks(scale: Scale) -> tuple[TaskConfig, ...]:
    forced = [TaskConfig(forced=steps) for steps in FORCED]
    held_out = [TaskConfig(split=split) for split in HELD_OUT]
    return (*forced[:: scale.share_of_tasks], *held_out[:: scale.share_of_tasks])


def _questions(scale: Scale) -> list[Unit]:
    fixed = QConfig("fixed", most_episodes=scale.most_q_episodes)
    drawn = replace(fixed, definition="drawn")
    return [
        QUnit("q_fixed", fixed, scale.trials),
        QUnit("q_drawn", drawn, scale.trials),
    ]


def _learners(scale: Scale) -> list[Unit]:
    """Figures 3a to 3d at the smaller width; Figure 3a with the memoryless agents."""
    width, alone, tasks = scale.widths[0], (TaskConfig(),), _tasks(scale)
    both = tuple(
        TaskConfig(split=task.split, forced=FORCED[0]) for task in tasks if task.split != "none"
    )
    every = ("fig3a", "fig3b", "fig3c")
    typed = tuple(TaskConfig("quiz-type", split=split) for split in ("none", "both_loo"))
    units: list[Unit] = []
    for agent in scale.large:
        config = _large(scale, agent, _own_width(agent, width))
        # The large batch is quick, so here the held-out machines are met with force as well.
        held = (*alone, *tasks, *both)
        units.append(_unit(scale, config, "large", held, steps=scale.large_steps, parts=every))
    units += _paper_units(scale, (*scale.recurrent, *scale.memoryless), width)
    for agent in scale.recurrent:
        config, steps = paper(agent, width), scale.task_steps
        units += [
            _unit(scale, config, "paper", tasks, steps=steps, parts=("fig3b", "fig3c")),
            _unit(scale, config, "paper", typed, steps=steps, parts=("fig3d", "table1"), keep=True),
        ]
    return units


def _paper_units(scale: Scale, agents: Sequence[str], width: int) -> list[Unit]:
    """Figure 3a at the paper's batch; Figure 3b compares with some of them."""
    first = width == scale.widths[0]
    return [
        _unit(
            scale,
            paper(agent, width),
            "paper",
            (TaskConfig(),),
            steps=scale.alone_steps if first else scale.wider_steps,
            parts=("fig3a", "fig3b") if first and agent in scale.recurrent else ("fig3a",),
        )
        for agent in agents
    ]


def _wider(scale: Scale) -> list[Unit]:
    """Figure 3a at the larger widths."""
    agents = (*scale.recurrent, *scale.memoryless)
    return [unit for width in scale.widths[1:] for unit in _paper_units(scale, agents, width)]


def _own_width(agent: str, width: int) -> int:
    """A transformer of half the width costs about what the LSTM does."""
    return width // 2 if agent.endswith("transformer") else width


def _large(scale: Scale, agent: str, width: int) -> AgentConfig:
    config = large_batch(agent, width)
    if scale.large_environments:
        config = replace(config, environments=scale.large_environments)
    return config


def _unit(
    scale: Scale,
    agent: AgentConfig,
    preset: Literal["paper", "large"],
    tasks: tuple[TaskConfig, ...],
    *,
    steps: int,
    parts: tuple[str, ...],
    keep: bool = False,
) -> LearnerUnit:
    kind = "type" if tasks[0].reward_structure == "quiz-type" else "quiz"
    scope = "" if TaskConfig() in tasks or kind == "type" else "_tasks"
    name = f"{preset}_{agent.name}_{agent.width}_{kind}{scope}"
    length = LengthConfig(steps=steps, points=scale.points)
    return LearnerUnit(name, preset, agent, tasks, length, scale.seeds, parts, keep)


def _imitators(scale: Scale) -> list[Unit]:
    """Table 1: eight datasets, a decision transformer and a cloner on each."""
    width = scale.widths[0]
    agents = [f"paper_{agent}_{width}_type" for agent in scale.recurrent]
    units: list[Unit] = []
    for data in (*list(RANDOM_DATA)[:: scale.share_of_tasks], *agents):
        cloning = replace(scale.imitation, model="cloning")
        episodes = scale.random_episodes if data in RANDOM_DATA else scale.agent_episodes
        for config in (scale.imitation, cloning):
            name = f"{config.model}_{data.replace('+', '_')}"
            units.append(ImitatorUnit(name, config, data, episodes, scale.rollouts, scale.seeds))
    return units


TRAINED_OBJECTS = 3
TRAINED_FORMS = {
    "one form": ("disjunctive",),
    "two forms": ("disjunctive", "conjunctive"),
    "four forms": ("disjunctive", "conjunctive", "parity", "inhibitor"),
}


def _transfer(scale: Scale) -> list[Unit]:
    """Beyond the paper: unseen forms and more objects."""
    units: list[Unit] = []
    for agent in scale.transfer:
        config = _large(scale, agent, _own_width(agent, scale.widths[0]))
        for label, forms in list(TRAINED_FORMS.items())[:: scale.share_of_tasks]:
            name = f"transfer_{agent}_{label.replace(' ', '_')}"
            length = LengthConfig(steps=scale.transfer_steps, points=scale.points // 2 or 1)
            units.append(TransferUnit(name, config, forms, length, scale.seeds))
    return units
