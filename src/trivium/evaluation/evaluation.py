"""Evaluations of one solver on items of one task; a run is a list of them in one folder.

Solvers are found by name: built-in ones, trained agents, and the user's functions.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import inspect
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import CodeType
from typing import Any

from trivium import __version__
from trivium.agents import agent_solver
from trivium.core.benchmark import AnyBenchmark, Solver, Turn
from trivium.core.errors import UserError, located, require, require_known
from trivium.core.files import dump_line, read_rows
from trivium.core.records import RECORDS, AttemptKey, Row, recorded
from trivium.core.spec import spec_to_dict
from trivium.core.task import PresentedItem, Task, check_range
from trivium.models.settings import Settings, is_model

CHUNK = 250  # items in a job
AGENT = "agent:"  # `agent:FOLDER` is a trained agent
Function = Callable[[Any], Any]  # from a prompt to a reply, or to an awaitable reply


@dataclass(frozen=True)
class Items:
    """A range of items of a seed, generated on demand, or items that were chosen one by one."""

    seed: int | None  # None for chosen items
    start: int
    count: int
    files: tuple[str, ...] = ()
    contents: str | None = None  # a hash of chosen items
    loaded: tuple[Any, ...] = field(default=(), repr=False, compare=False)

    def __post_init__(self) -> None:
        check_range(self.start, self.count)
        fits = self.seed is None or abs(self.seed) < 2**63
        require(fits, f"seed must fit into 64 bits, got {self.seed}")

    @classmethod
    def from_files(cls, benchmark: AnyBenchmark, paths: Sequence[Path]) -> Items:
        """The items of some files, identified by their contents and not by the files' names."""
        return cls.of(benchmark, read_items(benchmark, paths), tuple(map(str, paths)))

    @classmethod
    def of(
        cls, benchmark: AnyBenchmark, items: Sequence[Any], files: tuple[str, ...] = ()
    ) -> Items:
        """These items of a benchmark."""
        contents = hashlib.sha256()
        for item in items:
            contents.update(dump_line(benchmark.to_row(item)))
        return cls(None, 0, len(items), files, contents.hexdigest(), tuple(items))

    def chunks(self, size: int = CHUNK) -> Iterator[Items]:
        """The same items in parts that are cheap to send to another process."""
        for skipped in range(0, self.count, size):
            count = min(size, self.count - skipped)
            loaded = self.loaded[skipped : skipped + count]
            yield Items(self.seed, self.start + skipped, count, self.files, loaded=loaded)

    def load(self, task: Task) -> Iterator[Any]:
        """The benchmark's items."""
        if self.loaded:
            return iter(self.loaded)
        return task.benchmark.generate(task.spec, self.seed or 0, self.start, self.count)


def read_items(benchmark: AnyBenchmark, paths: Sequence[Path]) -> list[Any]:
    """The items of some files; an error names the file and line of a broken or repeated one."""
    items = []
    seen: dict[str, str] = {}
    for path in paths:
        for count, (number, row) in enumerate(read_rows(path)):
            where = f"{path} line {number}"
            with located(where):
                try:
                    item = benchmark.from_row(row, count)
                except UserError:
                    _refuse_other_rows(benchmark, row)
                    raise
            require(item.id not in seen, f"{where}: id {item.id} is in {seen.get(item.id)} already")
            seen[item.id] = where
            items.append(item)
    require(bool(items), f"{', '.join(map(str, paths))}: there are no items")
    return items


def _refuse_other_rows(benchmark: AnyBenchmark, row: Row) -> None:
    """Say so if a row is not that of an item at all."""
    exported = b"trivium-canary-" in dump_line(row)  # which every export carries
    made = benchmark.to_row(next(benchmark.generate(benchmark.default_spec, 0)))
    known = (made.keys() - {"id", "spec", "seed", "index"}) & row.keys()
    what = "an exported prompt, not an item" if exported else "not an item"
    writes = f"trivium generate {benchmark.name} writes a file of items"
    require(bool(known) and not exported, f"this is {what}: {writes}")


def versions(benchmarks: Iterable[AnyBenchmark]) -> dict[str, Any]:
    """What run.json says about versions: that of Trivium, and those of the benchmarks' items."""
    return {"trivium": __version__, "versions": {one.name: one.version for one in benchmarks}}


@dataclass(frozen=True)
class Evaluation:
    """One solver on some items of a task."""

    task: Task
    items: Items
    # "oracle", "openai/gpt-4.1-mini", "agent:runs/ppo" or "package.module:function"; empty where
    # `evaluations_of` makes one evaluation for each of several solvers
    solver: str = ""
    trials: int = 1
    settings: Settings = field(default_factory=Settings)  # of a model; empty for programs
    setting: str | None = None  # the name of the spec and view within the run
    fields: Mapping[str, Any] = field(default_factory=dict)  # the setting's columns in summary.csv
    folder: str = "."  # of the records, within the folder of the run
    repeats: int = 1  # of every presentation, to see what chance does
    code: str | None = None  # a hash of the function that was given as the solver

    def __post_init__(self) -> None:
        require(self.trials >= 1, f"order_trials must be at least 1, got {self.trials}")
        require(self.repeats >= 1, f"repeats must be at least 1, got {self.repeats}")
        if self.items.loaded and self.task.file_floor is None:  # a chunk has that of the whole
            object.__setattr__(self, "task", self.task.with_file(self.items.loaded))

    @property
    def is_model(self) -> bool:
        """Whether the solver is a language model."""
        return is_model(self.solver)

    @property
    def attempts(self) -> int:
        """The number of attempts."""
        return self.items.count * self.trials * self.repeats

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(item.id for item in self.items.loaded)

    def includes(self, row: Row) -> bool:
        """Whether a record belongs to the evaluation; a file may hold other items and trials."""
        items, index = self.items, row.get("index")
        if items.loaded:
            wanted = row["id"] in self._names
        else:
            wanted = not isinstance(index, int) or 0 <= index - items.start < items.count
        return wanted and row["trial"] < self.trials * self.repeats

    def recorded_keys(self, out: Path, *, errors: bool = True) -> frozenset[AttemptKey]:
        """The attempts that are already recorded in the run's folder."""
        return frozenset(
            recorded(out / self.folder / RECORDS, errors=errors, includes=self.includes)
        )

    def presented(self) -> Iterator[PresentedItem]:
        """Every item in every order, and these repeated."""
        for chunk in self.items.chunks():
            for item in chunk.load(self.task):
                for trial in range(self.trials * self.repeats):
                    yield PresentedItem(self.task, item, trial, trial % self.trials)

    def manifest(self) -> dict[str, Any]:
        """What identifies the evaluation in run.json."""
        extra: dict[str, Any] = {"shaping": self.settings.to_dict()} if self.is_model else {}
        if self.code is not None or is_function(self.solver):
            extra["code"] = self.code or code_hash(import_function(self.solver))
        return {
            "benchmark": self.task.benchmark.name,
            "solver": self.solver,
            **versions([self.task.benchmark]),
            **extra,
            "view": spec_to_dict(self.task.view),
            "spec": None if self.items.loaded else spec_to_dict(self.task.spec),
            "seed": self.items.seed,
            "files": list(self.items.files),
            "contents": self.items.contents,
            "order_trials": self.trials,
            "repeats": self.repeats,
            "setting": self.setting,
        }


@dataclass(frozen=True)
class Run:
    """A list of evaluations in one folder."""

    kind: str  # eval, run, sweep or diag
    evaluations: tuple[Evaluation, ...]
    config: Mapping[str, Any]  # what must be equal to resume the folder
    label: str | None = None
    plan: Mapping[str, Any] = field(default_factory=dict)  # what else must be equal to find it

    def __post_init__(self) -> None:
        require(bool(self.evaluations), "nothing to do: no solver and no model is named")
        folders = Counter(evaluation.folder for evaluation in self.evaluations)
        folder, times = folders.most_common(1)[0]
        require(times == 1, f"{folder} would be run {times} times: a value is named twice")

    @classmethod
    def of(cls, evaluation: Evaluation) -> Run:
        """A run of one evaluation."""
        return cls("eval", (evaluation,), evaluation.manifest())

    def manifest(self) -> dict[str, Any]:
        """What identifies the run in run.json."""
        benchmarks = (one.task.benchmark for one in self.evaluations)
        plan = {"plan": dict(self.plan)} if self.plan else {}
        return {**self.config, **versions(benchmarks), **plan}

    @property
    def models(self) -> tuple[Evaluation, ...]:
        """The evaluations of language models."""
        return tuple(one for one in self.evaluations if one.is_model)

    @property
    def benchmarks(self) -> tuple[str, ...]:
        """The names of its benchmarks."""
        return tuple(dict.fromkeys(one.task.benchmark.name for one in self.evaluations))


def find_solver(benchmark: AnyBenchmark, name: str) -> Solver:
    """The solver of this name, which is not a model."""
    if name.startswith(AGENT):
        return agent_solver(benchmark.name, name)
    if is_function(name):
        return function_solver(name, import_function(name))
    require_known(name, benchmark.solvers, f"solver {name!r}")
    return benchmark.solvers[name]


def is_function(name: str) -> bool:
    """Whether a solver's name has the form package.module:function."""
    return ":" in name and not name.startswith(AGENT) and not is_model(name)


def import_function(name: str) -> Function:
    """The function that `package.module:function` names."""
    module, _, attribute = name.partition(":")
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))  # as `python -m` does
    try:
        function: Any = importlib.import_module(module)
        for part in attribute.split("."):
            function = getattr(function, part)
    except (ImportError, AttributeError, ValueError) as problem:
        raise UserError(f"solver {name!r} cannot be imported: {problem}") from None
    require(callable(function), f"solver {name!r} is not a function")
    return function  # type: ignore[no-any-return]


def code_hash(function: Any) -> str:
    """A hash of a function's own code, which its file and comments do not change."""
    while isinstance(function, functools.partial):
        function = function.func
    called = function if hasattr(function, "__code__") else type(function).__call__
    code = getattr(inspect.unwrap(called), "__code__", None)
    return hashlib.sha256(repr(_content(code)).encode()).hexdigest()[:12]


def _content(constant: Any) -> Any:
    """A constant of some code, in a form that is the same in every process."""
    if isinstance(constant, CodeType):
        return constant.co_code, constant.co_names, [*map(_content, constant.co_consts)]
    return sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant


@contextmanager
def failures_located(name: str, item: PresentedItem) -> Iterator[None]:
    """Say on which item a user's function failed, and in which line."""
    try:
        yield
    except UserError:
        raise
    except Exception as problem:
        last = traceback.extract_tb(problem.__traceback__)[-1]
        raise UserError(
            f"solver {name!r} failed on item {item.id}: {type(problem).__name__}: {problem} "
            f"({Path(last.filename).name}, line {last.lineno}); attempts before it are kept "
            "where the run has a folder"
        ) from problem


def function_solver(name: str, function: Function) -> Solver:
    """A plain function as a solver."""
    as_list = first_parameter(function) == "messages"

    def reply(turn: Turn) -> str:
        return checked_reply(name, function(shown(turn.messages, as_list)))

    return Solver(name, "a user's function", reply)


def first_parameter(function: Function) -> str | None:
    """The name of a function's first parameter, which says what it takes.

    `messages` gets all messages as a list, `prompts` many prompts at once, any other one text.
    """
    try:
        return next(iter(inspect.signature(function).parameters), None)
    except ValueError:  # a builtin without a signature
        return None


def shown(messages: Sequence[str], as_list: bool) -> str | list[str]:
    """The argument of a function: the list of messages, or the dialogue as one text."""
    return list(messages) if as_list else "\n\n".join(messages)


def checked_reply(name: str, reply: object) -> str:
    """The reply, which must be text."""
    require(isinstance(reply, str), f"solver {name!r} must return text, got {reply!r:.80}")
    return str(reply)
