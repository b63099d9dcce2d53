"""Results of a study read back, summed up over seeds, and the values that the paper prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from studies.blicket_learners.plan import RANDOM_DATA
from trivium.benchmarks.blicket.inference.explore import EXPLORERS, progress
from trivium.benchmarks.blicket.inference.hypotheses import DEFAULT_SIX, space_of
from trivium.core.spec import read_mapping
from trivium.core.statistics import Estimate, bootstrap_mean

# Exact, for the paper's six machines: the best expected reward after 0, 1, 2 and 3 tests.
PLATEAUS = {"no test": 0.0, "1 test": 5 / 3, "2 tests": 7 / 3, "3 tests": 3.0}
IDEAL_TESTS = 8 / 3
# Exact, by what is held out: the best share of forms told rightly after so many tests.
FORM_PLATEAUS = {
    "none": {"no test": 1 / 2, "1 test": 2 / 3, "2 tests": 5 / 6, "3 tests": 1.0},
    "both_loo": {"no test": 1 / 2, "1 test": 3 / 4, "2 tests": 1.0},
}
# Table 1 of the paper: reward, standard deviation, forced-choice accuracy.
PAPER_TABLE = {
    "decision-transformer": {
        "random": (0.16, 1.747, 0.67),
        "random+5": (2.06, 0.998, 0.71),
        "random+10": (2.16, 0.872, 0.73),
        "random+15": (2.37, 0.633, 0.77),
        "a2c-lstm": (0.14, 1.847, 0.63),
        "ppo-lstm": (0.26, 0.990, 0.66),
        "a2c-lnlstm": (0.18, 0.983, 0.62),
        "ppo-lnlstm": (0.74, 1.460, 0.64),
    },
    "cloning": {
        "random": (0.22, 0.975, 0.61),
        "random+5": (-0.16, 0.987, 0.58),
        "random+10": (0.14, 0.990, 0.60),
        "random+15": (0.04, 0.999, 0.61),
        "a2c-lstm": (0.10, 0.995, 0.55),
        "ppo-lstm": (0.06, 0.998, 0.63),
        "a2c-lnlstm": (0.04, 2.087, 0.59),
        "ppo-lnlstm": (0.12, 0.995, 0.68),
    },
}
PAPER_Q = {"episodes": 70.0, "steps": 292.0}
POLICY_NAMES = {
    "mlp": "MLP",
    "lstm": "LSTM",
    "lnlstm": "layer-norm LSTM",
    "transformer": "history transformer",
}
ALGORITHM_NAMES = {"a2c": "A2C", "ppo": "PPO"}
MODEL_NAMES = {"decision-transformer": "decision transformer", "cloning": "behaviour cloning"}


@dataclass(frozen=True)
class Results:
    """The units of a study's folder, by kind."""

    learners: Sequence[Mapping[str, Any]]
    imitators: Sequence[Mapping[str, Any]]
    trials: Sequence[Mapping[str, Any]]
    transfers: Sequence[Mapping[str, Any]]

    @property
    def finished(self) -> set[str]:
        """The names of the units that came to their end."""
        every = (*self.learners, *self.imitators, *self.trials, *self.transfers)
        return {unit["name"] for unit in every if unit["finished"]}


def read_results(folder: Path) -> Results:
    """Everything that the folder's data hold, in the order of the files' names."""
    units = [read_mapping(path) for path in sorted((folder / "data").glob("*.json"))]
    by_kind: dict[str, list[Mapping[str, Any]]] = {
        kind: [unit for unit in units if unit.get("kind") == kind]
        for kind in ("learner", "imitator", "q", "transfer")
    }
    return Results(by_kind["learner"], by_kind["imitator"], by_kind["q"], by_kind["transfer"])


@dataclass(frozen=True)
class Learner:
    """One agent on one task, all seeds."""

    preset: str
    algorithm: str
    policy: str
    width: int
    record: Mapping[str, Any]
    environments: int

    @property
    def task(self) -> Mapping[str, Any]:
        """The task's fields."""
        task: Mapping[str, Any] = self.record["task"]
        return task

    @property
    def label(self) -> str:
        """As it is named in tables: "PPO layer-norm LSTM 256, large batch"."""
        large = ", large batch" if self.preset == "large" else ""
        return f"{self.short} {self.width}{large}"

    @property
    def short(self) -> str:
        """Algorithm and policy alone."""
        return f"{ALGORITHM_NAMES[self.algorithm]} {POLICY_NAMES[self.policy]}"

    @property
    def seeds(self) -> int:
        """How many runs there are."""
        return len(self.record["converged"])

    @property
    def steps(self) -> int:
        """How far training came."""
        return int(self.record["steps"][-1])

    def curve(self, name: str) -> list[Estimate]:
        """A training curve over seeds, a point with its interval for each moment."""
        values = np.array(self.record[name])
        return [bootstrap_mean(values[:, place]) for place in range(values.shape[1])]

    def greedy_at(self, steps: int) -> Estimate:
        """The greedy reward on the machines trained on, by so many steps."""
        places = [place for place, step in enumerate(self.record["steps"]) if step <= steps]
        values = np.array(self.record["greedy_reward"]["train"])
        return bootstrap_mean(values[:, max(places, default=0)])

    def final(self, name: str, group: str = "train", view: str = "as trained") -> Estimate:
        """A figure of the greedy policy at the end, over seeds; exact over machines."""
        views = self.record["greedy"]
        own = views.get(view, views["as trained"])
        return bootstrap_mean(own[group][name])


def learners(results: Results, **wanted: Any) -> Iterator[Learner]:
    """The agents whose preset, policy, ... or task fields are as wanted."""
    for unit in results.learners:
        agent = unit["agent"]
        for record in unit["tasks"]:
            found = Learner(
                unit["preset"],
                agent["algorithm"],
                agent["policy"],
                agent["width"],
                record,
                agent["environments"],
            )
            held = {**record["task"], **agent, "preset": unit["preset"]}
            if all(held[key] == value for key, value in wanted.items()):
                yield found


def held_out(results: Results) -> list[Learner]:
    """The agents that some machines were held out of the training of, never forced."""
    found = learners(results, forced=0, reward_structure="quiz")
    return [learner for learner in found if learner.task["split"] != "none"]


@cache
def ideal_reward(data: str) -> float | None:
    """What an ideal observer earns after the tests of random data; None for other data.

    After the forced steps every further one goes to the quiz with a chance of one half.
    """
    if data not in RANDOM_DATA:
        return None
    forced, more = RANDOM_DATA[data], 30
    rewards = progress(space_of(DEFAULT_SIX), EXPLORERS["random"], forced + more).reward
    return float(sum(rewards[forced + extra] / 2 ** (extra + 1) for extra in range(more + 1)))


def data_name(data: str) -> str:
    """The dataset as the paper's table names it: `random+5`, `a2c-lstm`."""
    if data.startswith("random"):
        return data
    return data.removeprefix("paper_").split("_")[0]
