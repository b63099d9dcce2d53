"""Tabular Q-learning with the whole history as state, on two definitions of the paper's task.

`fixed` is the definition that reproduces the paper's figures, found by trying several: one
conjunctive machine for the whole trial, and both optional rewards, so that the largest return
is 3.99. `drawn` is the task as described: a machine is drawn for every episode from the default
six, and the greedy policy must answer every question about each of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from trivium.benchmarks.blicket.inference.hypotheses import DEFAULT_SIX
from trivium.benchmarks.blicket.world.dynamics import OBSERVATION_BITS, Lookup, make_tables
from trivium.benchmarks.blicket.world.spec import BlicketSpec
from trivium.core.errors import require_range
from trivium.core.streams import Stream, stream_key

Q_LEARNING = "q-learning"
Definition = Literal["fixed", "drawn"]
FIXED_MACHINES = ("conjunctive:AB", "conjunctive:AC", "conjunctive:BC", "conjunctive:ABC")


@dataclass(frozen=True)
class QConfig:
    """A tabular learner; the defaults are the paper's where it gives any."""

    definition: Definition = "drawn"
    exploration: float = 0.1
    learning_rate: float = 0.95
    discount: float = 0.99
    check_every: int = 20  # episodes between two evaluations of the greedy policy
    most_episodes: int = 500_000

    def __post_init__(self) -> None:
        require_range(self, 0, 1, "exploration", "learning_rate", "discount")

    @property
    def name(self) -> str:
        """The agent's name on the command line."""
        return Q_LEARNING


@dataclass(frozen=True)
class QResult:
    """The length of a trial, until the greedy policy was perfect if it converged."""

    episodes: int
    steps: int
    converged: bool
    histories: int  # distinct histories seen


class Trial:
    """One table of values and the environment that it is learned in."""

    def __init__(self, config: QConfig, seed: int, spec: BlicketSpec | None = None) -> None:
        """A table for an environment, by default that of the config's definition."""
        self.config = config
        self.stream = Stream(stream_key("q-learning", config.definition, seed))
        if spec is None:
            fixed = config.definition == "fixed"
            spec = BlicketSpec(
                reward_structure="quiz",
                hypotheses=(self.stream.choice(FIXED_MACHINES),) if fixed else DEFAULT_SIX,
                add_step_reward_penalty=fixed,
                add_detector_state_reward_for_quiz=fixed,
            )
        self.lookup = Lookup(make_tables(spec))
        self.starts, self.over, self.actions = self.lookup.starts, self.lookup.over, spec.actions
        self.maximum = spec.maximum
        self.values: dict[int, list[float]] = {}

    def look_up(self, history: int) -> list[float]:
        """The values of all actions after a history; zeros where it is new."""
        found = self.values.get(history)
        if found is None:
            found = self.values[history] = [0.0] * self.actions
        return found

    def learn_episode(self) -> int:
        """Learn from one episode; returns the number of its steps."""
        config, uniform, actions, over = self.config, self.stream.random, self.actions, self.over
        state = self.stream.choice(self.starts)
        history, steps = 1, 0  # the leading 1 distinguishes histories of zeros
        values = self.look_up(history)
        while state != over:
            if uniform() < config.exploration:
                action = int(uniform() * actions)
            else:
                highest = max(values)
                best = [action for action, value in enumerate(values) if value == highest]
                action = best[int(uniform() * len(best))]
            state, history, target = self.step(state, history, action)
            following = values
            if state != over:
                following = self.look_up(history)
                target += config.discount * max(following)
            values[action] += config.learning_rate * (target - values[action])
            values = following
            steps += 1
        return steps

    def learn(self) -> QResult:
        """Learn until the greedy policy is perfect or the episodes are used up."""
        config, steps = self.config, 0
        for episode in range(1, config.most_episodes + 1):
            steps += self.learn_episode()
            if episode % config.check_every == 0 and self.is_perfect():
                return QResult(episode, steps, True, len(self.values))
        return QResult(config.most_episodes, steps, False, len(self.values))

    def best_action(self, history: int) -> int:
        """The action with the highest value after a history; 0 where it is new."""
        values = self.values.get(history)
        return 0 if values is None else values.index(max(values))

    def is_perfect(self) -> bool:
        """Whether the greedy policy earns the largest return from every machine."""
        return all(self._greedy_return(start) > self.maximum - 1e-6 for start in self.starts)

    def _greedy_return(self, state: int) -> float:
        total, history = 0.0, 1
        while state != self.over:
            state, history, reward = self.step(state, history, self.best_action(history))
            total += reward
        return total

    def step(self, state: int, history: int, action: int) -> tuple[int, int, float]:
        """The next state, the history with its observation, and the reward."""
        state, seen, reward = self.lookup.step(state, action)
        return state, history << OBSERVATION_BITS | seen, reward
