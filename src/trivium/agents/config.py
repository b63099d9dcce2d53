"""Configurations of agents, tasks and training; the defaults are the paper's settings.

Field names are keys in agents' folders and in the study's records, and must not change.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, get_args

from trivium.benchmarks.blicket.inference.hypotheses import Space, make_space, space_of, split
from trivium.benchmarks.blicket.world.spec import Demonstrations, RewardStructure
from trivium.core.errors import require, require_range

Algorithm = Literal["a2c", "ppo"]
PolicyKind = Literal["mlp", "lstm", "lnlstm", "transformer", "rim"]
POLICIES: tuple[PolicyKind, ...] = get_args(PolicyKind)


# What fits into memory, so that a slip of the keyboard does not end the process.
MAX_WIDTH = 4096  # units of a layer
MAX_BATCH = 10_000_000  # steps of an update
MAX_COUNT = 10**12


@dataclass(frozen=True)
class AgentConfig:
    """A reinforcement learner; preset paper has its column of the paper's Table B.1."""

    algorithm: Algorithm = "a2c"
    policy: PolicyKind = "lstm"
    width: int = 256  # units of an LSTM, of all groups, of a transformer, or of an MLP's layers
    trunk: tuple[int, ...] = (64, 64)  # dense layers before the memory of lstm, lnlstm and rim
    groups: int = 8  # rim: groups of units, of which some are active at a step
    active: int = 4  # rim: active groups
    environments: int = 4
    horizon: int = 5  # steps of each environment between updates
    discount: float = 0.99
    gae_lambda: float = 1.0  # 1 is the plain n-step return
    learning_rate: float = 7e-4
    value_coefficient: float = 0.25
    entropy_coefficient: float = 0.01
    gradient_norm: float = 0.5  # larger gradients are scaled down to this norm
    epochs: int = 1  # PPO: passes over each rollout
    minibatches: int = 1  # PPO: parts of each pass
    clip: float = 0.2  # PPO: how far the policy's ratio and the value may move

    def __post_init__(self) -> None:
        require_range(self, 1, MAX_WIDTH, "width")
        counts = ("environments", "horizon", "epochs", "minibatches", "groups", "active")
        require_range(self, 1, MAX_COUNT, *counts)
        require(
            self.policy != "rim" or (self.width % self.groups == 0 and self.active <= self.groups),
            f"groups must divide the width of {self.width} and be at least active = {self.active}, "
            f"got {self.groups}",
        )
        require_range(self, 0, 1, "discount", "gae_lambda")
        for name in ("learning_rate", "gradient_norm", "clip"):
            value = getattr(self, name)
            require(value > 0, f"{name} must be above 0, got {value}")
        sizes = f"trunk needs sizes in 1..{MAX_WIDTH}, got {self.trunk}"
        require(all(1 <= size <= MAX_WIDTH for size in self.trunk), sizes)
        steps = f"environments times horizon must be at most {MAX_BATCH:,}, got {self.batch:,}"
        require(self.batch <= MAX_BATCH, steps)
        # Without memory a minibatch is drawn from all steps; with memory it takes whole sequences.
        parts = self.batch if self.policy == "mlp" else self.environments
        what = "steps" if self.policy == "mlp" else "environments"
        require(
            parts % self.minibatches == 0,
            f"minibatches must divide {parts} (the {what} of an update), got {self.minibatches}",
        )
        require(
            self.algorithm == "ppo" or self.epochs == self.minibatches == 1,
            "a2c makes one pass over one batch: epochs and minibatches must be 1",
        )

    @property
    def name(self) -> str:
        """The agent's name on the command line, such as `a2c-lstm`."""
        return f"{self.algorithm}-{self.policy}"

    def to_dict(self) -> dict[str, Any]:
        """Every field; those of modular networks only for such a network."""
        left_out = () if self.policy == "rim" else ("groups", "active")
        return {name: value for name, value in asdict(self).items() if name not in left_out}

    @property
    def batch(self) -> int:
        """Environment steps between updates."""
        return self.environments * self.horizon


_PPO = AgentConfig(
    algorithm="ppo",
    horizon=128,
    gae_lambda=0.95,
    learning_rate=2.5e-4,
    value_coefficient=0.5,
    epochs=4,
    minibatches=4,
)
AGENTS: dict[str, AgentConfig] = {
    f"{base.algorithm}-{policy}": replace(base, policy=policy)
    for base in (AgentConfig(), _PPO)
    for policy in POLICIES
}


def paper(agent: str, width: int = 256) -> AgentConfig:
    """The agent at the paper's settings."""
    require(agent in AGENTS, f"unknown agent {agent!r}; there are {', '.join(AGENTS)}")
    return replace(AGENTS[agent], width=width)


def large_batch(agent: str, width: int = 256) -> AgentConfig:
    """The agent with more environments, which learns better and runs faster."""
    config = paper(agent, width)
    if config.algorithm == "a2c":
        return replace(config, environments=256, learning_rate=2e-3)
    return replace(config, environments=64, learning_rate=1e-3)


PRESETS = {"paper": paper, "large": large_batch}
IMITATORS = ("cloning", "decision-transformer")


@dataclass(frozen=True)
class TaskConfig:
    """The environment that an agent is trained in."""

    reward_structure: RewardStructure = "quiz"
    split: str = "none"  # the machines held out of training: conjunctive_loo, both_loo, ...
    forced: int = 0  # exploration steps before the quiz may be entered
    hypotheses: tuple[str, ...] = ()  # the machines, instead of a split: conjunctive:AB, ...
    rules: tuple[str, ...] = ()  # all machines of these forms, instead: disjunctive, parity, ...
    objects: int = 3
    noise: float = 0.0  # the probability that a light is inverted
    step_penalty: float = 0.0  # lost when the quiz begins, or at every step of the baseline
    # task: that of the environment; information: the bits that each test tells an ideal observer
    # about the machine; both: their sum
    reward: Literal["task", "information", "both"] = "task"
    # two example machines come first: their tests reveal how they work ("given") or not
    demonstrations: Demonstrations = "none"

    def __post_init__(self) -> None:
        require_range(self, 0, 20, "forced")
        require_range(self, 0, None, "step_penalty")
        given = [name for name in ("hypotheses", "rules") if getattr(self, name)]
        given += ["split"] if self.split != "none" else []
        require(len(given) < 2, f"{' and '.join(given)} exclude each other")
        require(
            bool(self.hypotheses or self.rules) or self.objects == 3,
            f"objects = {self.objects} needs hypotheses or rules: splits are of 3 objects",
        )
        self.spaces  # noqa: B018, raises a UserError for unknown or impossible machines

    @property
    def spaces(self) -> tuple[Space, Space]:
        """The machines to train on and those to test on."""
        if self.rules:
            train = test = make_space(self.objects, self.rules)
        elif self.hypotheses:
            train = test = space_of(self.hypotheses, self.objects)
        else:
            train, test = split(self.split)
        return _noisy(train, self.noise), _noisy(test, self.noise)

    @property
    def universe(self) -> tuple[str, ...]:
        """Every machine that may be played, by name."""
        train, test = (list(map(str, space)) for space in self.spaces)
        names = dict.fromkeys([*train, *test])
        default = [str(each) for each in _noisy(split("none")[0], self.noise)]
        # The paper's six in their own order, so that tasks of all splits can be stacked.
        return tuple(default) if set(names) <= set(default) else tuple(names)

    def to_dict(self) -> dict[str, Any]:
        """The paper's fields and changed ones, so that new fields alter no stored task."""
        paper = ("reward_structure", "split", "forced")
        return {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if field.name in paper or getattr(self, field.name) != field.default
        }


def _noisy(space: Space, noise: float) -> Space:
    """The same machines with this noise."""
    if noise == 0:
        return space
    found = tuple(replace(machine, noise=noise) for machine in space)
    return Space(found, objects=space.objects)


@dataclass(frozen=True)
class LengthConfig:
    """The length of training, and how often the agent is evaluated."""

    steps: int = 3_000_000  # environment steps over all environments, in whole updates
    points: int = 60  # points of the learning curve, about so many, at most one for each update
    streak: int = 500  # maximal episodes in a row that end training early

    def __post_init__(self) -> None:
        require_range(self, 1, MAX_COUNT, "steps", "points", "streak")

    def updates(self, batch: int) -> int:
        """The number of updates between two points of the curve."""
        return max(1, round(self.steps / (batch * self.points)))

    def curve_points(self, batch: int) -> int:
        """The number of points of the curve, which end nearest to the steps."""
        return max(1, round(self.steps / (batch * self.updates(batch))))


@dataclass(frozen=True)
class ImitationConfig:
    """An agent that imitates recorded episodes; all defaults but `reading` are the paper's."""

    model: Literal["decision-transformer", "cloning"] = "decision-transformer"
    width: int = 128
    layers: int = 3
    window: int = 30  # latest observations that a cloner reads; 1 is the current one only
    reading: Literal["patterns", "bits"] = "patterns"  # a transformer's embedding of observations
    bounded: bool = False  # logits within -1..1, as in the authors' code
    batch: int = 128  # episodes in a batch
    dropout: float = 0.1
    learning_rate: float = 1e-4
    weight_decay: float = 1e-4
    epochs: int = 10
    validation: float = 0.1  # share of the episodes held out to choose the best epoch

    def __post_init__(self) -> None:
        require_range(self, 1, MAX_WIDTH, "width")
        require_range(self, 1, 100, "layers")
        require_range(self, 1, MAX_COUNT, "window", "batch", "epochs")
        require(0 < self.validation < 1, f"validation must lie inside 0..1, got {self.validation}")
        require(0 <= self.dropout < 1, f"dropout must lie within 0..1, got {self.dropout}")

    @property
    def name(self) -> str:
        """The agent's name on the command line."""
        return self.model
