"""The records of a study read back, with estimates over seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from studies.blicket_learners.bootstrap import bootstrap_mean
from trivium.core.spec import read_mapping
from trivium.core.statistics import Estimate

Record = Mapping[str, Any]
POLICY_NAMES = {
    "mlp": "MLP",
    "lstm": "LSTM",
    "lnlstm": "layer-norm LSTM",
    "transformer": "history transformer",
}
MODEL_NAMES = {"decision-transformer": "decision transformer", "cloning": "behaviour cloning"}


@dataclass(frozen=True)
class Results:
    """The records of a study's folder, by kind."""

    learners: Sequence[Record] = ()
    imitators: Sequence[Record] = ()
    trials: Sequence[Record] = ()
    transfers: Sequence[Record] = ()


def read_results(folder: Path) -> Results:
    """Every record in the folder's data, by kind."""
    records = [read_mapping(path) for path in sorted((folder / "data").glob("*.json"))]
    kinds = ("learner", "imitator", "q", "transfer")
    by_kind = [[one for one in records if one.get("kind") == kind] for kind in kinds]
    by_kind[-1].sort(key=lambda one: (one["agent"]["policy"], len(one["forms"])))
    return Results(*by_kind)


@dataclass(frozen=True)
class Learner:
    """One agent on one task, all seeds."""

    large: bool  # trained with the large batch, not the paper's
    algorithm: str  # A2C or PPO
    policy: str  # the network, in words
    width: int
    environments: int
    split: str  # which machines were held out of training
    forced: int  # exploration steps before the quiz, in training
    record: Record

    @property
    def label(self) -> str:
        """As tables name it: `PPO layer-norm LSTM 256, large batch`."""
        return f"{self.algorithm} {self.policy} {self.width}{', large batch' * self.large}"

    @property
    def steps(self) -> int:
        """How many steps it was trained for."""
        return int(self.record["steps"][-1])

    def point(self, step: int) -> int:
        """The last point of the learning curve that is not beyond a step, or the first."""
        return max(0, int(np.searchsorted(self.record["steps"], step, side="right")) - 1)

    def sampled(self, name: str, point: int = -1) -> Estimate:
        """A mean over training episodes at a point of the learning curve."""
        return bootstrap_mean(np.array(self.record[name])[:, point])

    def greedy_at(self, step: int) -> Estimate:
        """The greedy reward on the machines trained on, after so many steps."""
        values = np.array(self.record["greedy_reward"]["train"])
        return bootstrap_mean(values[:, self.point(step)])

    def seeds(self, name: str, group: str = "train", view: str = "as trained") -> list[float]:
        """What the final greedy policy of each seed reaches, exact over machines."""
        values: list[float] = self.record["greedy"][view][group][name]
        return values

    def greedy(self, name: str, group: str = "train", view: str = "as trained") -> Estimate:
        """The same over seeds."""
        return bootstrap_mean(self.seeds(name, group, view))


def find_learners(results: Results, reward_structure: str, **wanted: Any) -> list[Learner]:
    """The agents whose task has these values: the paper's batch first, then by algorithm."""
    found = [
        Learner(
            unit["preset"] == "large",
            unit["agent"]["algorithm"].upper(),
            POLICY_NAMES[unit["agent"]["policy"]],
            unit["agent"]["width"],
            unit["agent"]["environments"],
            record["task"]["split"],
            record["task"]["forced"],
            record,
        )
        for unit in results.learners
        for record in unit["tasks"]
        if record["task"]["reward_structure"] == reward_structure
        and all(record["task"][key] == value for key, value in wanted.items())
    ]
    rank = list(POLICY_NAMES.values()).index
    return sorted(found, key=lambda one: (one.large, one.algorithm, rank(one.policy), one.width))


def data_name(data: str) -> str:
    """The dataset as the paper's table names it: `random+5`, `a2c-lstm`."""
    return data.removeprefix("paper_").split("_", maxsplit=1)[0]


def apart(first: Estimate, second: Estimate | None) -> str:
    """Where the first lies: `above` or `below` the second if their intervals do not overlap."""
    if second is None:
        return "-"
    assert None not in (first.low, first.high, second.low, second.high)  # of at least one seed
    if first.low > second.high:  # type: ignore[operator]
        return "above"
    return "below" if first.high < second.low else "overlap"  # type: ignore[operator]
