"""Benchmarks as datasets of reasoning-gym; importing this module registers them.

    reasoning_gym.create_dataset("trivium_nhop_explicit", size=100, seed=42, fields={"hops": 6})

Games are left out: a dataset has single questions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from reasoning_gym.factory import DATASETS, ProceduralDataset, register_dataset

from trivium.adapters.episode import SEEDS, check_split, origin_of, score_of, split_item
from trivium.benchmarks import benchmark_names, get_benchmark, load_task, recorded_item
from trivium.core.errors import UserError
from trivium.core.task import Task

PREFIX = "trivium_"


@dataclass
class TriviumConfig:
    """Which items: a preset with fields of spec and view laid over it."""

    benchmark: ClassVar[str]

    preset: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    split: str = "train"  # shares no structure with "test"
    size: int = 500
    seed: int | None = None

    def validate(self) -> None:
        """Raise AssertionError for an invalid config, as reasoning-gym does."""
        assert self.size >= 1, f"size must be at least 1, got {self.size}"
        try:
            self.task()
            check_split(self.split, 0)
        except UserError as problem:
            raise AssertionError(str(problem)) from None

    def task(self) -> Task:
        """The task of this config."""
        return load_task(self.benchmark, self.preset, self.fields)


class TriviumDataset(ProceduralDataset):
    """The items of a seed, generated on demand."""

    def __init__(self, config: TriviumConfig) -> None:
        super().__init__(config=config, seed=config.seed, size=config.size)
        self.task = config.task()

    def __getitem__(self, idx: int) -> dict[str, Any]:
        """An item as a question, with its gold answer and what regenerates it."""
        item = split_item(self.task, self.config.split, self.seed % SEEDS, idx)
        return {
            "question": item.prompt,
            "answer": item.gold,
            "metadata": {
                "source_dataset": f"{PREFIX}{self.config.benchmark}",
                "source_index": idx,
                "origin": origin_of(item),
                "difficulty": dict(item.groups),
            },
        }

    def score_answer(self, answer: str | None, entry: dict[str, Any]) -> float:
        """The headline metric of an answer; 0 for None."""
        if answer is None:
            return 0.0
        return score_of(recorded_item(entry["metadata"]["origin"]), [answer])


def register() -> None:
    """Register every benchmark of single questions that is not registered yet."""
    for name in benchmark_names():
        if f"{PREFIX}{name}" not in DATASETS and not get_benchmark(name).multi_turn:
            config = type(f"{name}_config", (TriviumConfig,), {"benchmark": name})
            register_dataset(f"{PREFIX}{name}", TriviumDataset, config)


register()
