"""Evaluations: records appended as they come, resumed where they stopped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from trivium.benchmarks import get_benchmark
from trivium.core.benchmark import AnyBenchmark, Attempt
from trivium.core.dialogue import attempt
from trivium.core.errors import UserError, require
from trivium.core.records import Appender, atomic_write, open_input, read_rows, write_json
from trivium.core.results import Summary, Tally
from trivium.core.spec import read_mapping, spec_to_dict
from trivium.evaluation.executors import Executor, Here
from trivium.evaluation.items import Chunk
from trivium.evaluation.progress import Progress
from trivium.evaluation.solvers import find_solver

RECORDS = "records.jsonl"
SUMMARY = "summary.json"
MANIFEST = "run.json"
COSMETIC = {"label", "command"}  # what may change when a folder is gone on with


@dataclass(frozen=True)
class Job:
    """What is evaluated: it must stay the same when a folder is gone on with."""

    benchmark: str
    solver: str
    view: Any
    spec: Any = None  # None for items from files
    seed: int | None = None
    files: tuple[str, ...] = ()
    contents: str | None = None  # a hash of the items in the files
    trials: int = 1
    shaping: Mapping[str, Any] | None = None  # what else shapes a model's replies
    setting: str | None = None  # what tells it from other evaluations of a run
    command: str | None = None  # what makes it again

    def manifest(self) -> dict[str, Any]:
        """As it stands in run.json."""
        extra: dict[str, Any] = {} if self.shaping is None else {"shaping": dict(self.shaping)}
        if self.command is not None:
            extra["command"] = self.command
        return extra | {
            "benchmark": self.benchmark,
            "solver": self.solver,
            "view": spec_to_dict(self.view),
            "spec": None if self.spec is None else spec_to_dict(self.spec),
            "seed": self.seed,
            "files": list(self.files),
            "contents": self.contents,
            "order_trials": self.trials,
            "setting": self.setting,
        }


@dataclass
class Work:
    """Items and trials that are not done yet; passing over them notes the order of all."""

    benchmark: AnyBenchmark
    view: Any
    chunks: Iterable[Chunk]
    trials: int
    done: frozenset[tuple[str, int]]
    order: dict[tuple[str, int], int] = field(default_factory=dict)

    def __iter__(self) -> Iterator[tuple[Any, int]]:
        for chunk in self.chunks:
            for item in chunk.load():
                for trial in range(self.trials):
                    key = (item.id, trial)
                    self.order[key] = len(self.order)
                    if key not in self.done:
                        yield item, trial


def evaluate(
    job: Job, chunks: Iterable[Chunk], total: int, out: Path, executor: Executor | None = None
) -> Summary:
    """Attempt every item that is not in the records yet; the summary of all of them."""
    benchmark = get_benchmark(job.benchmark)
    find_solver(benchmark, job.solver)
    require(job.trials >= 1, f"order_trials must be at least 1, got {job.trials}")
    claim_folder(out, job.manifest())
    done = finished(out / RECORDS)
    label = f"{job.benchmark} {job.solver}"
    work = partial(attempts, job.solver, job.view, job.trials, frozenset(done))
    with (
        Appender(out / RECORDS) as records,
        Progress(label, total * job.trials, len(done)) as progress,
    ):
        for made in (executor or Here()).map(work, chunks):
            records.add(made)
            progress.advance(len(made))
    return write_summary(benchmark, out)


def attempts(
    solver: str, view: Any, trials: int, done: frozenset[tuple[str, int]], chunk: Chunk
) -> list[Attempt]:
    """A solver's attempts at the items of a chunk, but for those that are done."""
    benchmark = get_benchmark(chunk.benchmark)
    found = find_solver(benchmark, solver)
    return [
        attempt(benchmark, item, found, view, trial)
        for item in chunk.load()
        for trial in range(trials)
        if (item.id, trial) not in done
    ]


def claim_folder(out: Path, manifest: dict[str, Any]) -> None:
    """Make the folder of a run, or refuse one that holds another run."""
    path = out / MANIFEST
    if not path.exists():
        write_json(path, manifest)
        return
    held = read_mapping(path)
    key = same_run(held, manifest)
    if key is not None:
        raise UserError(
            f"{out} holds another evaluation ({key} is {held.get(key)!r} there, "
            f"{manifest.get(key)!r} was asked for); choose another folder with --out"
        )
    told = {key: value for key, value in manifest.items() if key in COSMETIC}
    if any(held.get(key) != value for key, value in told.items()):
        write_json(path, held | told)


def same_run(held: Mapping[str, Any], asked: Mapping[str, Any]) -> str | None:
    """The first key in which two manifests differ; None when they are of the same run."""
    plain = orjson.loads(orjson.dumps(asked))
    keys = (key for key in {**held, **plain} if key not in COSMETIC)
    return next((key for key in keys if held.get(key) != plain.get(key)), None)


def finished(path: Path, *, errors: bool = True) -> set[tuple[str, int]]:
    """Which items and trials the records hold; half a last line does not count."""
    if not path.exists():
        return set()
    _cut(path)
    found = set()
    for number, row in read_rows(path):
        key = _key(row, f"{path} line {number}")
        if errors or row["kind"] != "error":
            found.add(key)
    return found


def _key(row: Mapping[str, Any], where: str) -> tuple[str, int]:
    """The item and the trial of a record, or a sentence that says where there is none."""
    key, kind = (row.get("id"), row.get("trial")), row.get("kind")
    known = isinstance(key[0], str) and isinstance(key[1], int) and isinstance(kind, str)
    require(
        known, f"{where}: not a record (id, trial and kind are {key[0]!r}, {key[1]!r}, {kind!r})"
    )
    return str(key[0]), int(key[1] or 0)


def drop_errors(path: Path) -> None:
    """Take the attempts that failed for good out of the records, so that they are made again."""
    if path.exists():
        finished(path)  # says what is no record
        _rewrite(path, [place for row, place in _places(path) if row["kind"] != "error"])


def _cut(path: Path) -> None:
    """Take away the half line that a killed writer may have left behind."""
    with Appender(path):
        pass  # opening does it


def put_in_order(path: Path, order: Mapping[tuple[str, int], int]) -> None:
    """The records in the order of their items, whatever the order in which replies came."""
    last = len(order)  # attempts at items that were not asked for this time stay, at the end
    ranked = [(order.get((row["id"], row["trial"]), last), place) for row, place in _places(path)]
    if ranked != sorted(ranked):
        _rewrite(path, [place for _, place in sorted(ranked)])


Place = tuple[int, int]  # where a line begins in a file and how long it is


def _places(path: Path) -> Iterator[tuple[dict[str, Any], Place]]:
    """Every record with its place, so that no more than one is in memory."""
    with open_input(path) as file:
        begin = 0
        for line in file:
            yield orjson.loads(line), (begin, len(line))
            begin += len(line)


def _rewrite(path: Path, places: Iterable[Place]) -> None:
    """The file with these lines alone, put in place in one step."""
    with open_input(path) as held, atomic_write(path) as file:
        for begin, length in places:
            held.seek(begin)
            file.write(held.read(length))


def write_summary(benchmark: AnyBenchmark, out: Path) -> Summary:
    """summary.json beside the records, and the same as an object."""
    tally = Tally(benchmark.metrics)
    for _, row in read_rows(out / RECORDS):
        tally.add(row)
    summary = tally.summary()
    write_json(out / SUMMARY, summary.to_dict())
    return summary
