"""What the study trains, and at which scale: units of work, the most informative first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from trivium.agents.config import (
    AgentConfig,
    ImitationConfig,
    LengthConfig,
    TaskConfig,
    large_batch,
    paper,
)
from trivium.agents.qlearning import QConfig
from trivium.core.errors import require

# Objects: in the same place in every episode; in random places; in the same place with a random
# number that they show.
Labels = Literal["fixed", "relabelled", "tagged"]
PARTS = (
    "fig3a",
    "fig3b",
    "fig3c",
    "fig3d",
    "table1",
    "table2",
    "qlearning",
    "overhypotheses",
    "machines",
)
FORCED = (5, 10, 15)  # exploration steps before the quiz
HELD_OUT = (
    "conjunctive_train",
    "disjunctive_train",
    "conjunctive_loo",
    "disjunctive_loo",
    "both_loo",
)
RANDOM_DATA = {"random": 0, "random+5": 5, "random+10": 10, "random+15": 15}  # forced steps
IDEAL_DATA = "ideal"  # episodes of the ideal observer; not in the paper
AUTHORS_TARGET = 3.0  # the return that the authors' decision transformer aims at
TRAINED_OBJECTS = 3  # in the transfer units
TRAINED_FORMS = {
    "one_form": ("disjunctive",),
    "two_forms": ("disjunctive", "conjunctive"),
    "four_forms": ("disjunctive", "conjunctive", "parity", "inhibitor"),
}


@dataclass(frozen=True)
class Scale:
    """How much is trained; the defaults are the full study."""

    seeds: int = 8
    widths: tuple[int, ...] = (256, 512)
    points: int = 40  # of a learning curve
    steps: int = 3_000_000  # of learners at the paper's batch
    large_steps: int = 1_638_400
    transfer_steps: int = 4_000_000
    large_environments: int | None = None  # None: as many as the preset has
    imitation: ImitationConfig = field(default_factory=ImitationConfig)
    random_episodes: int = 300_000  # more than of agents: a random action carries little signal
    agent_episodes: int = 50_000
    authors_episodes: int = 10_000
    rollouts: int = 100
    untrained_episodes: int = 500
    machines_steps: int = 5_000_000
    machines_points: int = 20
    machines_width: int = 128
    machines_environments: int = 128
    machines: tuple[int, ...] = (6, 16, 32, 64, 128, 256, 512, 1024, 4096)  # shown in training
    few_machines: tuple[int, ...] = (6, 256, 4096)  # in the ablations
    trials: int = 100  # of Q-learning
    max_q_episodes: int = 500_000
    stride: int = 1  # every so many of forced steps, splits, random data and sets of forms
    large: tuple[str, ...] = ("ppo-lstm", "ppo-lnlstm", "ppo-transformer")
    recurrent: tuple[str, ...] = ("a2c-lstm", "ppo-lstm", "a2c-lnlstm", "ppo-lnlstm")
    memoryless: tuple[str, ...] = ("a2c-mlp", "ppo-mlp")
    transfer: tuple[str, ...] = ("ppo-lstm", "ppo-transformer")

    def __post_init__(self) -> None:
        require(self.seeds >= 1, f"seeds must be at least 1, got {self.seeds}")


QUICK = Scale(
    seeds=2,
    widths=(32,),
    points=5,
    steps=40_000,
    large_steps=80_000,
    transfer_steps=160_000,
    large_environments=16,
    imitation=ImitationConfig(width=32, layers=2, epochs=3, learning_rate=1e-3),
    random_episodes=2_000,
    agent_episodes=1_000,
    authors_episodes=1_000,
    untrained_episodes=50,
    machines_steps=100_000,
    machines_points=5,
    machines_environments=16,
    machines_width=32,
    machines=(6, 64),
    few_machines=(6,),
    trials=10,
    max_q_episodes=60_000,
    stride=4,
    large=("ppo-lstm",),
    recurrent=("a2c-lstm", "ppo-lstm"),
    memoryless=("a2c-mlp",),
    transfer=("ppo-lstm",),
)


@dataclass(frozen=True)
class LearnerUnit:
    """One agent on several tasks with several seeds, all trained in one vmapped run."""

    preset: str
    agent: AgentConfig
    purpose: str  # the end of the unit's name
    tasks: tuple[TaskConfig, ...]
    length: LengthConfig
    seeds: int
    parts: tuple[str, ...]
    keep: bool = False  # whether imitators need the policies later

    @property
    def name(self) -> str:
        """`paper_a2c-lstm_256_quiz`."""
        return f"{self.preset}_{self.agent.name}_{self.agent.width}_{self.purpose}"


@dataclass(frozen=True)
class ImitatorUnit:
    """One imitator on one dataset with several seeds."""

    label: str  # the imitator's name: decision-transformer, authors-transformer, cloning-30, ...
    config: ImitationConfig
    data: str  # random or ideal data, or the learner unit whose policies play the episodes
    maker: AgentConfig | None  # the agent of that learner unit
    episodes: int
    rollouts: int
    seeds: int
    target: float | None = None  # the return to aim at; None: the largest
    greedy: bool = False  # act by the likelier bits, as the authors do, or by their probabilities
    parts: tuple[str, ...] = ("table1",)

    @property
    def name(self) -> str:
        """`cloning-30_random_5`."""
        return f"{self.label}_{self.data.replace('+', '_')}"


@dataclass(frozen=True)
class QUnit:
    """Trials of tabular Q-learning under one definition of the task."""

    config: QConfig
    trials: int
    parts: tuple[str, ...] = ("qlearning",)

    @property
    def name(self) -> str:
        """`q_drawn`."""
        return f"q_{self.config.definition}"


@dataclass(frozen=True)
class TransferUnit:
    """One agent trained on some forms, tested on others and on more objects."""

    name: str
    agent: AgentConfig
    forms: tuple[str, ...]
    length: LengthConfig
    seeds: int
    parts: tuple[str, ...] = ("overhypotheses",)


@dataclass(frozen=True)
class MachinesUnit:
    """One agent trained on more and more machines of a large space, tested on others."""

    label: str  # lstm, transformer, rim, equivariant, ...: the end of the unit's name
    agent: AgentConfig
    counts: tuple[int, ...]  # machines shown in training
    length: LengthConfig
    seeds: int
    labels: Labels = "fixed"  # of objects, as the world has it
    quiz_bias: float = -3.0  # the quiz bit's logit at first: agents begin by testing
    place_bias: float = -2.0  # that of an object's bit: agents begin with few objects
    parts: tuple[str, ...] = ("machines",)

    @property
    def name(self) -> str:
        """`machines_lstm`."""
        return f"machines_{self.label}"


@dataclass(frozen=True)
class ObserversUnit:
    """What ideal observers earn on the same machines: with the right prior and with less."""

    counts: tuple[int, ...]
    seeds: int
    parts: tuple[str, ...] = ("machines",)
    name: str = "machines_observers"


@dataclass(frozen=True)
class UntrainedUnit:
    """What the learners of some units earn before their first step: where their curves begin."""

    learners: tuple[LearnerUnit, ...]
    episodes: int
    seeds: int
    parts: tuple[str, ...] = ("fig3a", "fig3d")
    name: str = "untrained"


Unit = (
    LearnerUnit | ImitatorUnit | QUnit | TransferUnit | MachinesUnit | ObserversUnit | UntrainedUnit
)


def plan(scale: Scale, only: Sequence[str] = PARTS) -> list[Unit]:
    """The units of these parts, the most informative first."""
    for part in only:
        require(part in PARTS, f"unknown part {part!r}; there are {', '.join(PARTS)}")
    fixed = QConfig("fixed", most_episodes=scale.max_q_episodes)
    units = [
        QUnit(fixed, scale.trials),
        QUnit(replace(fixed, definition="drawn"), scale.trials),
        *_large_batch(scale),
        *_unforced(scale, scale.widths[0]),
        *_other_tasks(scale),
        *_transfer(scale),
        *_imitators(scale),
        *_machines(scale),
    ]
    for width in scale.widths[1:]:
        units += _unforced(scale, width)
    curves = [
        unit
        for unit in units
        if isinstance(unit, LearnerUnit) and unit.purpose in ("quiz", "typeonly")
    ]
    units.append(UntrainedUnit(tuple(curves), scale.untrained_episodes, scale.seeds))
    return [unit for unit in units if set(unit.parts) & set(only)]


def _large_batch(scale: Scale) -> list[Unit]:
    """Figures 3a to 3c; cheap enough to force exploration on the held-out splits as well."""
    tasks, length = _tasks(scale), LengthConfig(scale.large_steps, scale.points)
    both = tuple(replace(task, forced=FORCED[0]) for task in tasks if task.split != "none")
    every, parts = (TaskConfig(), *tasks, *both), ("fig3a", "fig3b", "fig3c")
    return [
        LearnerUnit("large", _large_agent(scale, name), "quiz", every, length, scale.seeds, parts)
        for name in scale.large
    ]


def _unforced(scale: Scale, width: int) -> list[Unit]:
    """Figure 3a at the paper's batch; Figure 3b compares with the recurrent agents."""
    task, length = (TaskConfig(),), LengthConfig(scale.steps, scale.points)
    units: list[Unit] = []
    for name in (*scale.recurrent, *scale.memoryless):
        compared = width == scale.widths[0] and name in scale.recurrent
        parts = ("fig3a", "fig3b") if compared else ("fig3a",)
        agent = paper(name, width)
        units.append(LearnerUnit("paper", agent, "quiz", task, length, scale.seeds, parts))
    return units


def _other_tasks(scale: Scale) -> list[Unit]:
    """Figures 3b to 3d and the agents of Table 1, at the paper's batch."""
    tasks = _tasks(scale)
    typed, naming = (
        tuple(TaskConfig(structure, split=split) for split in ("none", "both_loo"))
        for structure in ("quiz-type", "quiz-typeonly")
    )
    length, forced = LengthConfig(scale.steps, scale.points), ("fig3b", "fig3c")
    units: list[Unit] = []
    for name in scale.recurrent:
        agent, seeds = paper(name, scale.widths[0]), scale.seeds
        units += [
            LearnerUnit("paper", agent, "quiz_tasks", tasks, length, seeds, forced),
            LearnerUnit("paper", agent, "type", typed, length, seeds, ("table1",), keep=True),
            LearnerUnit("paper", agent, "typeonly", naming, length, seeds, ("fig3d",)),
        ]
    return units


def _tasks(scale: Scale) -> tuple[TaskConfig, ...]:
    forced = [TaskConfig(forced=steps) for steps in FORCED]
    held_out = [TaskConfig(split=split) for split in HELD_OUT]
    return (*forced[:: scale.stride], *held_out[:: scale.stride])


def _large_agent(scale: Scale, name: str) -> AgentConfig:
    # A transformer of half the width costs about as much as the LSTM.
    width = scale.widths[0] // 2 if name.endswith("transformer") else scale.widths[0]
    agent = large_batch(name, width)
    return replace(agent, environments=scale.large_environments or agent.environments)


def _transfer(scale: Scale) -> list[Unit]:
    """Beyond the paper: unseen forms and more objects."""
    length = LengthConfig(scale.transfer_steps, max(1, scale.points // 2))
    return [
        TransferUnit(
            f"transfer_{name}_{label}", _large_agent(scale, name), forms, length, scale.seeds
        )
        for name in scale.transfer
        for label, forms in list(TRAINED_FORMS.items())[:: scale.stride]
    ]


def _imitators(scale: Scale) -> list[Unit]:
    """Table 1: decision transformers and cloners on random data and on agents' episodes."""
    width, ours = scale.widths[0], scale.imitation
    makers: dict[str, AgentConfig | None] = dict.fromkeys(list(RANDOM_DATA)[:: scale.stride])
    makers |= {f"paper_{name}_{width}_type": paper(name, width) for name in scale.recurrent}
    makers[IDEAL_DATA] = None
    units: list[Unit] = []
    for data, maker in makers.items():
        episodes = scale.random_episodes if data in RANDOM_DATA else scale.agent_episodes
        few = min(scale.authors_episodes, episodes)
        sizes: dict[str, Any] = {"rollouts": scale.rollouts, "seeds": scale.seeds}
        cloners = [replace(ours, model="cloning", window=window) for window in (30, 1)]
        authors = replace(ours, reading="bits", bounded=True)
        units += [
            ImitatorUnit("decision-transformer", ours, data, maker, episodes, **sizes),
            *(
                ImitatorUnit(f"cloning-{cloner.window}", cloner, data, maker, episodes, **sizes)
                for cloner in cloners
            ),
            ImitatorUnit(
                "authors-transformer",
                authors,
                data,
                maker,
                few,
                **sizes,
                target=AUTHORS_TARGET,
                greedy=True,
            ),
        ]
    return units


def _machines(scale: Scale) -> list[Unit]:
    """Beyond the paper: how many machines must be seen."""
    # No run stops early, so that all have the same number of steps.
    length = LengthConfig(scale.machines_steps, scale.machines_points, streak=10**9)
    lstm = replace(
        large_batch("ppo-lstm", scale.machines_width),
        environments=scale.machines_environments,
        horizon=64,
        discount=1.0,  # a test costs nothing
    )
    transformer = replace(lstm, policy="transformer", learning_rate=lstm.learning_rate / 2)
    networks = {
        "lstm": lstm,
        "transformer": transformer,
        "rim": replace(lstm, policy="rim"),
        "equivariant": replace(lstm, width=scale.machines_width // 2),
    }
    counts, few, seeds = scale.machines, scale.few_machines, scale.seeds
    units: list[Unit] = [ObserversUnit(counts, seeds)]
    for name, agent in networks.items():
        labels: Labels = "tagged" if name == "equivariant" else "fixed"
        units.append(MachinesUnit(name, agent, counts, length, seeds, labels))
    ablations: dict[str, dict[str, Any]] = {
        "relabelled": {"labels": "relabelled"},
        "quiz-unbiased": {"quiz_bias": 0.0},
        "placing-unbiased": {"place_bias": 0.0},
    }
    for name, change in ablations.items():
        label = f"transformer_{name}"
        units.append(MachinesUnit(label, transformer, few, length, seeds, **change))
    return units


def rough_seconds(unit: Unit) -> float:
    """About how long a unit takes on an H200 among others; only the order matters."""
    if isinstance(unit, QUnit | ObserversUnit | UntrainedUnit):
        return 60.0
    if isinstance(unit, ImitatorUnit):
        steps = {"ideal": 8, "random": 6, "random+5": 11, "random+10": 16, "random+15": 21}
        size = unit.episodes * unit.config.epochs * steps.get(unit.data, 9)
        transformer = unit.config.model == "decision-transformer"
        return 15 + size * (1.2e-5 if transformer else 1e-6)
    slow = {"mlp": 0.3, "lstm": 1.0, "lnlstm": 1.8, "transformer": 1.5, "rim": 2.0}[
        unit.agent.policy
    ]
    if isinstance(unit, LearnerUnit) and unit.preset == "paper":
        slow *= 1.4 if unit.agent.algorithm == "ppo" else 0.7
        return float(unit.length.steps * slow * (unit.agent.width / 256) ** 0.5 * 1e-4)
    if isinstance(unit, MachinesUnit):
        return unit.length.steps * slow * 2e-5
    return 80 * slow + (60 if isinstance(unit, LearnerUnit) else 0)
