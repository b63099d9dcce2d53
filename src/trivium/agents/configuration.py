"""What is trained, on what, and for how long: the paper's settings are the defaults."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from trivium.benchmarks.blicket.inference.hypotheses import split
from trivium.core.errors import require

Algorithm = Literal["a2c", "ppo"]
PolicyKind = Literal["mlp", "lstm", "lnlstm", "transformer"]
ALGORITHMS: tuple[Algorithm, ...] = ("a2c", "ppo")
POLICIES: tuple[PolicyKind, ...] = ("mlp", "lstm", "lnlstm", "transformer")


@dataclass(frozen=True)
class AgentConfig:
    """How an agent learns."""

    # The defaults are A2C's column of the paper's Table B.1; PPO's stand below.
    algorithm: Algorithm = "a2c"
    policy: PolicyKind = "lstm"
    width: int = 256  # units of the LSTM, of each dense layer of an MLP, or of a transformer
    trunk: tuple[int, ...] = (64, 64)  # dense layers before an LSTM
    environments: int = 4
    horizon: int = 5  # steps of each environment between updates
    discount: float = 0.99
    gae_lambda: float = 1.0  # 1 is the plain n-step return
    learning_rate: float = 7e-4
    value_coefficient: float = 0.25
    entropy_coefficient: float = 0.01
    gradient_norm: float = 0.5  # larger gradients are scaled down to this norm
    epochs: int = 1  # PPO: passes over what was collected
    minibatches: int = 1  # PPO: parts of each pass
    clip: float = 0.2  # PPO: how far the policy's ratio and the value may move

    def __post_init__(self) -> None:
        for name in ("width", "environments", "horizon", "epochs", "minibatches"):
            value = getattr(self, name)
            require(value >= 1, f"{name} must be at least 1, got {value}")
        for name in ("discount", "gae_lambda"):
            value = getattr(self, name)
            require(0 <= value <= 1, f"{name} must lie within 0..1, got {value}")
        for name in ("learning_rate", "gradient_norm", "clip"):
            value = getattr(self, name)
            require(value > 0, f"{name} must be above 0, got {value}")
        require(min(self.trunk, default=1) >= 1, f"trunk must be of at least 1, got {self.trunk}")
        # Without memory every step may go into any minibatch; with it, sequences stay whole.
        parts = self.batch if self.policy == "mlp" else self.environments
        what = "steps" if self.policy == "mlp" else "environments"
        require(
            parts % self.minibatches == 0,
            f"minibatches must divide {parts} (the {what} of an update), got {self.minibatches}",
        )
        ppo_alone = self.algorithm == "ppo" or (self.epochs == 1 and self.minibatches == 1)
        require(ppo_alone, "a2c makes one pass over one batch: epochs and minibatches must be 1")

    @property
    def name(self) -> str:
        """As it is called on the command line: `a2c-lstm`."""
        return f"{self.algorithm}-{self.policy}"

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
    """A learner at the paper's settings."""
    require(agent in AGENTS, f"unknown agent {agent!r}; there are {', '.join(AGENTS)}")
    return replace(AGENTS[agent], width=width)


def large_batch(agent: str, width: int = 256) -> AgentConfig:
    """The same learner on many environments at once: it learns better and runs faster."""
    config = paper(agent, width)
    if config.algorithm == "a2c":
        return replace(config, environments=256, learning_rate=2e-3)
    return replace(config, environments=64, learning_rate=1e-3)


PRESETS = {"paper": paper, "large": large_batch}


@dataclass(frozen=True)
class TaskConfig:
    """The world that is learned in."""

    reward_structure: Literal["quiz", "quiz-type", "quiz-typeonly"] = "quiz"
    split: str = "none"  # the machines held out of training: conjunctive_loo, both_loo, ...
    forced: int = 0  # exploring steps before the quiz may be entered

    def __post_init__(self) -> None:
        require(0 <= self.forced <= 20, f"forced must lie within 0..20, got {self.forced}")
        split(self.split)  # says which there are


@dataclass(frozen=True)
class LengthConfig:
    """How long is trained, and how often the learner is looked at."""

    steps: int = 3_000_000  # environment steps over all environments, about: updates are whole
    points: int = 60  # points of the learning curve, at most one for each update
    streak: int = 500  # maximal episodes in a row that end training early

    def __post_init__(self) -> None:
        for name in ("steps", "points", "streak"):
            value = getattr(self, name)
            require(value >= 1, f"{name} must be at least 1, got {value}")

    def looks(self, batch: int) -> int:
        """Points of the curve; fewer than asked for where there are fewer updates."""
        return max(1, min(self.points, round(self.steps / batch)))

    def updates(self, batch: int) -> int:
        """Updates between two points of the curve."""
        return max(1, round(self.steps / (batch * self.looks(batch))))


@dataclass(frozen=True)
class ImitationConfig:
    """An imitator; the defaults are the paper's."""

    model: Literal["decision-transformer", "cloning"] = "decision-transformer"
    width: int = 128
    layers: int = 3
    batch: int = 128  # episodes in a batch
    dropout: float = 0.1
    learning_rate: float = 1e-4
    weight_decay: float = 1e-4
    epochs: int = 10
    validation: float = 0.1  # share of the episodes that is kept for choosing the best epoch

    def __post_init__(self) -> None:
        for name in ("width", "layers", "batch", "epochs"):
            value = getattr(self, name)
            require(value >= 1, f"{name} must be at least 1, got {value}")
        require(0 < self.validation < 1, f"validation must lie inside 0..1, got {self.validation}")
