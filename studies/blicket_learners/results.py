"""The finished records of a study read back, with estimates over seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from studies.blicket_learners.paper import ALL_BITS
from studies.blicket_learners.plan import Unit
from studies.blicket_learners.run import is_done, unit_file
from studies.theme import over_seeds
from trivium.core.errors import require
from trivium.core.spec import read_mapping
from trivium.core.statistics import Estimate

Record = Mapping[str, Any]
POLICY_NAMES = {
    "mlp": "MLP",
    "lstm": "LSTM",
    "lnlstm": "layer-norm LSTM",
    "transformer": "history transformer",
}
MODEL_NAMES = {
    "decision-transformer": "decision transformer",
    "authors-transformer": "decision transformer as the authors have it",
    "cloning-30": "behaviour cloning, the last 30 observations",
    "cloning-1": "behaviour cloning, the current observation",
}
# Where the values of a measure lie.
BOUNDS = {
    "reward": (-3.0, 3.0),
    "tests": (0.0, 21.0),
    "bits": (0.0, ALL_BITS),
    "form": (0.0, 1.0),
    "accuracy": (0.0, 1.0),
    "share": (-1.0, 1.0),
}
FIRST_COMMIT = "ec8db22"  # of records that name no commit
KINDS = ("learner", "imitator", "q", "transfer", "machines", "observers", "untrained")


@dataclass(frozen=True)
class Results:
    """The finished records of a study's folder, by kind."""

    learners: Sequence[Record] = ()
    imitators: Sequence[Record] = ()
    trials: Sequence[Record] = ()
    transfers: Sequence[Record] = ()
    machines: Sequence[Record] = ()
    observers: Sequence[Record] = ()
    untrained: Sequence[Record] = ()
    judged: bool = field(default=True, kw_only=True)  # whether the study is long enough

    @property
    def records(self) -> list[Record]:
        """All of them."""
        parts = (self.learners, self.imitators, self.trials, self.transfers)
        more = (self.machines, self.observers, self.untrained)
        return [record for part in (*parts, *more) for record in part]

    def first_point(self, unit: str, task: int) -> list[float] | None:
        """What every seed of a unit earns before training; None if that was not measured."""
        values = self.untrained[0]["values"] if self.untrained else {}
        own = values.get(unit, [])
        return own[task] if task < len(own) else None


def read_results(folder: Path, units: Sequence[Unit], *, judged: bool) -> Results:
    """The finished records of these units; a file of another plan is refused."""
    names = {unit.name for unit in units}
    for path in sorted((folder / "data").glob("*.json")):
        require(path.stem in names, f"{path}: no unit of the plan is called so")
    done = [read_mapping(unit_file(folder, unit)) for unit in units if is_done(folder, unit)]
    by_kind = [[one for one in done if one["kind"] == kind] for kind in KINDS]
    by_kind[3].sort(key=lambda one: (one["agent"]["policy"], len(one["forms"])))
    return Results(*by_kind, judged=judged)


def mean(values: Sequence[float] | Any, name: str) -> Estimate:
    """A mean over seeds with Student's 95% interval, cut off where no value can lie."""
    return over_seeds(values, *BOUNDS[name])


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
    first: Sequence[float] | None = None  # the sampled reward or share of forms before training

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

    def sampled_seeds(self, name: str, point: int = -1) -> list[float]:
        """A mean over training episodes at a point of the learning curve, seed by seed."""
        values: list[float] = np.array(self.record[name])[:, point].tolist()
        return values

    def sampled(self, name: str, point: int = -1) -> Estimate:
        """The same over seeds."""
        return mean(self.sampled_seeds(name, point), name)

    def seeds(self, name: str, group: str = "train", view: str = "as trained") -> list[float]:
        """What the final greedy policy of each seed reaches, exact over machines."""
        values: list[float] = self.record["greedy"][view][group][name]
        return values

    def greedy(self, name: str, group: str = "train", view: str = "as trained") -> Estimate:
        """The same over seeds."""
        return mean(self.seeds(name, group, view), name)


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
            results.first_point(unit["name"], number),
        )
        for unit in results.learners
        for number, record in enumerate(unit["tasks"])
        if record["task"]["reward_structure"] == reward_structure
        and all(record["task"][key] == value for key, value in wanted.items())
    ]
    rank = list(POLICY_NAMES.values()).index
    return sorted(found, key=lambda one: (one.large, one.algorithm, rank(one.policy), one.width))


def data_name(data: str) -> str:
    """The dataset as the paper's table names it: `random+5`, `a2c-lstm`."""
    return data.removeprefix("paper_").split("_", maxsplit=1)[0]
