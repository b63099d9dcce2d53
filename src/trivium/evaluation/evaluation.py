"""Evaluations: one solver on some items of one task; a run is a list of them in one folder."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from trivium.core.benchmark import AnyBenchmark
from trivium.core.errors import UserError, require
from trivium.core.files import dump_line, read_rows
from trivium.core.records import RECORDS, AttemptKey, Row, recorded
from trivium.core.spec import spec_to_dict
from trivium.core.task import PresentedItem, Task, check_range
from trivium.models.settings import Settings, is_model

CHUNK = 250  # items that are handed to an executor at once


@dataclass(frozen=True)
class Items:
    """Which items: a range of a seed, generated on demand, or those of some files."""

    seed: int | None = 0
    start: int = 0
    count: int = 100
    files: tuple[str, ...] = ()
    contents: str | None = None  # a hash of the items in the files
    loaded: tuple[Any, ...] = field(default=(), repr=False, compare=False)

    def __post_init__(self) -> None:
        check_range(self.start, self.count)

    @classmethod
    def from_files(cls, benchmark: AnyBenchmark, paths: Sequence[Path]) -> Items:
        """The items of some files, identified by their contents and not by the files' names."""
        items = read_items(benchmark, paths)
        contents = hashlib.sha256()
        for item in items:
            contents.update(dump_line(benchmark.to_row(item)))
        files = tuple(map(str, paths))
        return cls(None, 0, len(items), files, contents.hexdigest(), tuple(items))

    def chunks(self, size: int = CHUNK) -> Iterator[Items]:
        """The same items in parts that are cheap to send to another process."""
        for start in range(self.start, self.start + self.count, size):
            count = min(size, self.start + self.count - start)
            loaded = self.loaded[start : start + count] if self.files else ()
            yield Items(self.seed, start, count, self.files, loaded=loaded)

    def load(self, task: Task) -> Iterator[Any]:
        """The benchmark's items themselves."""
        if self.files:
            return iter(self.loaded)
        return task.benchmark.generate(task.spec, self.seed or 0, self.start, self.count)


def read_items(benchmark: AnyBenchmark, paths: Sequence[Path]) -> list[Any]:
    """The items of some files; a broken or repeated one is named by file and line."""
    items = []
    seen: dict[str, str] = {}
    for path in paths:
        for count, (number, row) in enumerate(read_rows(path)):
            where = f"{path} line {number}"
            try:
                item = benchmark.from_row(row, count)
            except UserError as problem:
                raise UserError(f"{where}: {problem}") from None
            require(item.id not in seen, f"{where}: id {item.id} is in {seen.get(item.id)} already")
            seen[item.id] = where
            items.append(item)
    require(bool(items), f"{', '.join(map(str, paths))}: there are no items")
    return items


@dataclass(frozen=True)
class Evaluation:
    """One solver on these items of this task."""

    task: Task
    items: Items
    solver: str  # "oracle", "openai/gpt-4.1-mini", "agent:runs/ppo", "package.module:function"
    trials: int = 1
    settings: Settings = field(default_factory=Settings)  # of a model; empty for programs
    setting: str | None = None  # names the spec and view among those of a run
    fields: Mapping[str, Any] = field(default_factory=dict)  # the same as columns of summary.csv
    folder: str = "."  # where the records go, below the folder of the run

    def __post_init__(self) -> None:
        require(self.trials >= 1, f"order_trials must be at least 1, got {self.trials}")

    @property
    def is_model(self) -> bool:
        """Whether the solver is a language model."""
        return is_model(self.solver)

    @property
    def attempts(self) -> int:
        """How many attempts the evaluation consists of."""
        return self.items.count * self.trials

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(item.id for item in self.items.loaded)

    def includes(self, row: Row) -> bool:
        """Whether a record is of one of its attempts: a file may hold other items and trials."""
        items, index = self.items, row.get("index")
        if items.files:
            wanted = row["id"] in self._names
        else:
            wanted = not isinstance(index, int) or 0 <= index - items.start < items.count
        return wanted and row["trial"] < self.trials

    def recorded_keys(self, out: Path, *, errors: bool = True) -> frozenset[AttemptKey]:
        """Which of its attempts are recorded in the folder of its run."""
        return frozenset(
            recorded(out / self.folder / RECORDS, errors=errors, includes=self.includes)
        )

    def presented(self) -> Iterator[PresentedItem]:
        """Every item in every trial."""
        for chunk in self.items.chunks():
            for item in chunk.load(self.task):
                for trial in range(self.trials):
                    yield PresentedItem(self.task, item, trial)

    def manifest(self) -> dict[str, Any]:
        """What identifies the evaluation, as run.json holds it."""
        shaping = {"shaping": asdict(self.settings)} if self.is_model else {}
        made = not self.items.files
        return shaping | {
            "benchmark": self.task.benchmark.name,
            "solver": self.solver,
            "view": spec_to_dict(self.task.view),
            "spec": spec_to_dict(self.task.spec) if made else None,
            "seed": self.items.seed,
            "files": list(self.items.files),
            "contents": self.items.contents,
            "order_trials": self.trials,
            "setting": self.setting,
        }


@dataclass(frozen=True)
class Run:
    """A list of evaluations and the folder-level facts about them."""

    kind: str  # eval, run, sweep or diag
    evaluations: tuple[Evaluation, ...]
    config: Mapping[str, Any]  # what must stay the same when the folder is resumed
    label: str | None = None
    plan: Mapping[str, Any] = field(default_factory=dict)  # what else tells it from other runs

    def __post_init__(self) -> None:
        require(bool(self.evaluations), "nothing to do: no solver and no model is named")
        folders = Counter(evaluation.folder for evaluation in self.evaluations)
        folder, times = folders.most_common(1)[0]
        require(times == 1, f"{folder} would be run {times} times: a value is named twice")

    def manifest(self) -> dict[str, Any]:
        """What identifies the run, as run.json holds it."""
        return {**self.config, **({"plan": dict(self.plan)} if self.plan else {})}

    @property
    def models(self) -> tuple[Evaluation, ...]:
        """The evaluations of language models."""
        return tuple(one for one in self.evaluations if one.is_model)

    @property
    def benchmarks(self) -> tuple[str, ...]:
        """The names of all benchmarks in it."""
        return tuple(dict.fromkeys(one.task.benchmark.name for one in self.evaluations))
