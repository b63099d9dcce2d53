"""Executing a run: lock, resume, ask, record, summarise."""

from __future__ import annotations

import asyncio
import inspect
import sys
import time
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any

import orjson

from trivium.core.benchmark import AnyBenchmark
from trivium.core.dialogue import Dialogue, converse, play, run_async, solve
from trivium.core.errors import FailedCallsError, UserError, require
from trivium.core.files import Appender, atomic_write, dump_line, locked, sync_file, write_json
from trivium.core.records import (
    MANIFEST,
    RECORDS,
    SUMMARY,
    Attempt,
    AttemptKey,
    drop_errors,
    read_records,
    recorded,
    sort_records,
)
from trivium.core.results import Summary, summarise
from trivium.core.spec import read_mapping
from trivium.core.task import PresentedItem, Task
from trivium.evaluation.evaluation import (
    CHUNK,
    Evaluation,
    Function,
    Items,
    Run,
    checked_reply,
    code_hash,
    failures_located,
    find_solver,
    first_parameter,
    function_solver,
    import_function,
    is_function,
    shown,
)
from trivium.evaluation.executors import Executor, Here, ProgressBar
from trivium.evaluation.plan import slug
from trivium.models.backends import LOGS, Batch, ask_models, require_reachable
from trivium.models.providers import Model, scrub
from trivium.models.settings import ModelOptions

SLOW_CHUNK = 25  # items in a job that calls a user's function, which may be slow
SYNC_SECONDS = 5.0  # of replies may be lost in a power failure
DATA = "data"  # the folder of item files in a run's folder
COSMETIC = {"label", "command", "plan", "trivium"}  # what may change when a folder is resumed


def execute(
    run: Run,
    out: Path,
    *,
    executor: Executor | None = None,
    options: ModelOptions | None = None,
    functions: Mapping[str, Function] | None = None,
    command: str | None = None,
    write_items: bool = False,
    tell: bool = False,
) -> list[Summary]:
    """Make the attempts of a run that its folder lacks; returns a summary per evaluation.

    `functions` are the user's solvers by name, which run in this process. With `tell`, a run that
    lacks nothing says so on standard error.
    """
    executor, options, functions = executor or Here(), options or ModelOptions(), functions or {}
    run = replace(run, evaluations=tuple(_with_code(one, functions) for one in run.evaluations))
    imported: dict[str, Function] = {}
    for evaluation in run.evaluations:
        name = evaluation.solver
        if name not in functions:
            check_solver(evaluation, options)
            if is_function(name):
                imported[name] = import_function(name)
    with locked(out):
        # Only the flags of models hold secrets.
        shown = scrub(command) if command and run.models else command
        extra = {} if shown is None else {"command": shown}
        claim_folder(out, run.manifest() | extra)
        if write_items:
            _write_items(run, out / DATA, executor)
        pending = [_Pending.find(evaluation, out, options) for evaluation in run.evaluations]
        programs, models = [], []
        if tell and not any(one.left for one in pending):
            total = sum(one.evaluation.attempts for one in pending)
            print(none_missing(out, total), file=sys.stderr)
        for one in pending:
            name = one.evaluation.solver
            function = functions.get(name) or imported.get(name)
            if inspect.iscoroutinefunction(function):
                _ask_function(one, options, function)
            elif function is not None and first_parameter(function) == "prompts":
                _ask_batches(one, options, function)
            elif function is not None and (
                name in functions or isinstance(executor, Here) or one.left <= CHUNK
            ):
                _call_function(one, options, function)
            elif function is None and one.evaluation.is_model:
                models.append(one)
            else:
                programs.append(one)
        _run_programs(programs, executor)
        _ask_models(models, options, out / LOGS, only_models=len(models) == len(pending))
        return [write_summary(one.evaluation.task.benchmark, one.folder) for one in pending]


def _with_code(evaluation: Evaluation, functions: Mapping[str, Function]) -> Evaluation:
    """The evaluation with the hash of the function that is its solver, if it is one of these."""
    function = functions.get(evaluation.solver)
    return evaluation if function is None else replace(evaluation, code=code_hash(function))


def none_missing(folder: Path, total: int) -> str:
    """What is said of a folder that holds all attempts of a run."""
    return f"{folder} holds all {total:,} attempts; none is missing"


def check_solver(evaluation: Evaluation, options: ModelOptions) -> None:
    """Refuse a solver whose name, key or package is missing, before any work is done."""
    if evaluation.is_model:
        model = Model(evaluation.solver, evaluation.settings, options)
        require_reachable(evaluation.task.benchmark, model)
    else:
        find_solver(evaluation.task.benchmark, evaluation.solver)


def claim_folder(out: Path, manifest: Mapping[str, Any]) -> None:
    """Write the manifest of a folder, or refuse a folder with another one."""
    path = out / MANIFEST
    if not path.exists():
        write_json(path, manifest)
        return
    held = read_mapping(path)
    key = first_difference(held, manifest)
    if key is not None:
        there, asked = held.get(key), manifest.get(key)
        while isinstance(there, Mapping) and isinstance(asked, Mapping):  # the field that differs
            key = str(first_difference(there, asked, frozenset()))
            there, asked = there.get(key), asked.get(key)
        differs = f"{key} is {there!r} there, {asked!r} was asked for"
        if key == "code":
            differs = f"the function {manifest.get('solver')} has changed since"
        raise UserError(
            f"{out} holds another evaluation ({differs}); choose another folder with --out"
        )
    cosmetic = {key: value for key, value in manifest.items() if key in COSMETIC}
    if any(held.get(key) != value for key, value in cosmetic.items()):
        write_json(path, held | cosmetic)


def first_difference(
    held: Mapping[str, Any], asked: Mapping[str, Any], cosmetic: Set[str] = COSMETIC
) -> str | None:
    """The first key in which two manifests differ, or None."""
    plain = orjson.loads(orjson.dumps(dict(asked)))
    keys = (key for key in {**held, **plain} if key not in cosmetic)
    return next((key for key in keys if held.get(key) != plain.get(key)), None)


@dataclass
class _Pending:
    """An evaluation and what its folder already holds."""

    evaluation: Evaluation
    folder: Path
    done: frozenset[AttemptKey]
    order: dict[AttemptKey, int] = field(default_factory=dict)  # of all attempts, once listed

    @classmethod
    def find(cls, evaluation: Evaluation, out: Path, options: ModelOptions) -> _Pending:
        folder = out / evaluation.folder
        if folder != out:
            claim_folder(folder, evaluation.manifest())
        if options.retry_errors:
            drop_errors(folder / RECORDS, evaluation.includes)
        return cls(evaluation, folder, evaluation.recorded_keys(out))

    @property
    def records(self) -> Path:
        return self.folder / RECORDS

    @property
    def left(self) -> int:
        """The number of missing attempts."""
        return max(0, self.evaluation.attempts - len(self.done))

    def items(self) -> Iterator[PresentedItem]:
        """The missing attempts; iterating also fills `order`."""
        for item in self.evaluation.presented():
            key = (item.id, item.trial)
            self.order.setdefault(key, len(self.order))
            if key not in self.done:
                yield item


@dataclass(frozen=True)
class Job:
    """A chunk of an evaluation, cheap to send to another process."""

    number: int  # of the evaluation
    evaluation: Evaluation  # of the items in this chunk
    done: frozenset[AttemptKey]


def _run_programs(pending: Sequence[_Pending], executor: Executor) -> None:
    """Run built-in solvers, agents and functions with the executor; record them in order."""
    left = sum(one.left for one in pending)
    if not left:
        return
    if left <= CHUNK:
        executor = Here()  # starting processes would take longer
    with _progress(pending) as progress:
        results = executor.map(do_job, _jobs(pending))
        for index, parts in groupby(results, key=itemgetter(0)):
            with Appender(pending[index].records) as records:
                for _, attempts in parts:
                    records.add(attempts)
                    progress.advance(len(attempts))


def _jobs(pending: Sequence[_Pending]) -> Iterator[Job]:
    for index, one in enumerate(pending):
        evaluation = one.evaluation
        size = SLOW_CHUNK if is_function(evaluation.solver) else CHUNK
        for chunk in evaluation.items.chunks(size) if one.left else ():
            yield Job(index, replace(evaluation, items=chunk), one.done)


def do_job(job: Job) -> tuple[int, list[Attempt]]:
    """The evaluation's number and its new attempts."""
    name = job.evaluation.solver
    solver = find_solver(job.evaluation.task.benchmark, name)
    attempts = []
    for item in job.evaluation.presented():
        if (item.id, item.trial) not in job.done:
            with failures_located(name, item) if is_function(name) else nullcontext():
                attempts.append(solve(item, solver))
    return job.number, attempts


def _ask_models(
    pending: Sequence[_Pending], options: ModelOptions, logs: Path, *, only_models: bool
) -> None:
    """Have all models make their missing attempts together.

    If a model cannot be called, its missing attempts are recorded as failed. If the run has only
    models and none can be called, it ends with the error of the first.
    """
    if not pending:
        return
    with _recording(pending, options) as recorder:
        batches = [_batch(one, options, recorder) for one in pending]
        try:
            stopped = ask_models(batches, logs)
            if only_models and len(stopped) == len(pending):
                raise next(iter(stopped.values()))
        except UserError as problem:
            if recorder.write_failed:  # then the run cannot be resumed
                raise
            raise FailedCallsError(f"{problem}{_kept(pending, recorder.saved)}") from None
        for one, batch in zip(pending, batches, strict=True):
            if batch.name in stopped:
                _fail_missing(one, batch, stopped[batch.name])


def _fail_missing(pending: _Pending, batch: Batch, problem: FailedCallsError) -> None:
    """Record the attempts that a model could not be asked for."""
    held = recorded(pending.records)
    for item in pending.items():
        if (item.id, item.trial) not in held:
            failed = Dialogue(item).attempt(batch.model.name, error=str(problem), seconds=0.0)
            batch.save(failed, item.prompt)


def _kept(pending: Sequence[_Pending], saved: int) -> str:
    """How to resume a run that was stopped, in brackets; empty where nothing is recorded."""
    held = saved + sum(len(one.done) for one in pending)
    total = sum(one.evaluation.attempts for one in pending)
    text = f" ({held:,} of {total:,} attempts are made; in a folder, the same call makes the rest)"
    return text if held else ""


def _batch(pending: _Pending, options: ModelOptions, recorder: _Recorder) -> Batch:
    evaluation = pending.evaluation
    benchmark = evaluation.task.benchmark
    return Batch(
        name="-".join(Path(evaluation.folder).parts) or benchmark.name,  # unique in a run
        benchmark=benchmark,
        items=pending.items(),
        model=Model(evaluation.solver, evaluation.settings, options),
        save=partial(recorder.save, pending.records),
    )


def _call_function(pending: _Pending, options: ModelOptions, function: Function) -> None:
    """Call a user's function for one item after the other."""
    name = pending.evaluation.solver
    solver = function_solver(name, function)
    with _recording([pending], options) as recorder:
        for item in pending.items():
            dialogue = Dialogue(item)
            with failures_located(name, item):
                play(dialogue, solver)
            recorder.save(pending.records, dialogue.attempt(name), dialogue.prompt)


def _ask_function(pending: _Pending, options: ModelOptions, function: Function) -> None:
    """Call a user's async function for many items concurrently."""
    name, as_list = pending.evaluation.solver, first_parameter(function) == "messages"

    async def ask(messages: Sequence[str]) -> str:
        return checked_reply(name, await function(shown(messages, as_list)))

    async def ask_all(recorder: _Recorder) -> None:
        left = pending.items()

        async def work() -> None:
            for item in left:
                with failures_located(name, item):
                    dialogue = await converse(Dialogue(item), ask)
                recorder.save(pending.records, dialogue.attempt(name), dialogue.prompt)

        async with asyncio.TaskGroup() as group:
            for _ in range(options.concurrency):
                group.create_task(work())

    with _recording([pending], options) as recorder:
        run_async(ask_all(recorder))


def _ask_batches(pending: _Pending, options: ModelOptions, function: Function) -> None:
    """Call a user's function with the prompts of many items at once, turn by turn."""
    name, left = pending.evaluation.solver, pending.items()
    with _recording([pending], options) as recorder:
        while dialogues := [Dialogue(item) for item in islice(left, options.concurrency)]:
            while open_ones := [one for one in dialogues if not one.done]:
                with failures_located(name, open_ones[0].item):
                    replies = function(["\n\n".join(one.messages) for one in open_ones])
                count = len(replies) if isinstance(replies, Sequence) else None
                rule = f"must return a list of {len(open_ones)} replies"
                got = type(replies).__name__ if count is None else count
                require(count == len(open_ones), f"solver {name!r} {rule}, got {got}")
                for dialogue, reply in zip(open_ones, replies, strict=True):
                    dialogue.send(checked_reply(name, reply))
            for dialogue in dialogues:
                recorder.save(pending.records, dialogue.attempt(name), dialogue.prompt)


@contextmanager
def _recording(pending: Sequence[_Pending], options: ModelOptions) -> Iterator[_Recorder]:
    """A recorder of attempts in any order; at the end, records are in the order of their items."""
    with (
        _progress(pending, options.log_every) as progress,
        closing(_Recorder(options, progress)) as recorder,
    ):
        yield recorder
    for one in pending:
        sort_records(one.records, one.order)


class _Recorder:
    """Appends attempts as they finish; the last file stays open, as most calls repeat it."""

    def __init__(self, options: ModelOptions, progress: ProgressBar) -> None:
        self._save_prompt, self._progress = options.save_prompt, progress
        self.write_failed = False  # whether an attempt could not be written
        self.saved = 0  # attempts, failed ones left out
        self._path: Path | None = None
        self._file = ExitStack()
        self._unsynced: set[Path] = set()
        self._synced = time.monotonic()

    def save(self, path: Path, attempt: Attempt, prompt: str) -> None:
        """Record one attempt, with its prompt if that was asked for."""
        self.write_failed = True  # until it is written
        if path != self._path:
            self._file.close()
            self._appender = self._file.enter_context(Appender(path))
            self._path = path
        row = asdict(attempt) | {"prompt": prompt} if self._save_prompt else attempt
        self._appender.add([row])
        self.write_failed = False
        self.saved += attempt.error is None
        self._unsynced.add(path)
        if time.monotonic() - self._synced >= SYNC_SECONDS:
            self._sync()
        self._progress.advance(1)

    def _sync(self) -> None:
        """Sync the files to disk, as replies were paid for."""
        for path in self._unsynced:
            sync_file(path)
        self._unsynced.clear()
        self._synced = time.monotonic()

    def close(self) -> None:
        """Close the file, and sync all of them."""
        self._file.close()
        self._sync()


def _progress(pending: Sequence[_Pending], every: int | None = None) -> ProgressBar:
    """A progress bar for several evaluations."""
    evaluations = [one.evaluation for one in pending]
    names = dict.fromkeys(one.task.benchmark.name for one in evaluations)
    what = evaluations[0].solver if len(pending) == 1 else f"{len(pending)} evaluations"
    total = sum(one.attempts for one in evaluations)
    done = sum(len(one.done) for one in pending)
    where = next(iter(names)) if len(names) == 1 else f"{len(names)} benchmarks,"
    return ProgressBar(f"{where} {what}", total, done, every)


def _write_items(run: Run, folder: Path, executor: Executor) -> None:
    """Write the items of every spec and seed to a file each."""
    files: dict[tuple[Any, int | None], tuple[Evaluation, Path]] = {}
    for one in run.evaluations:
        name = slug(f"{one.setting} seed{one.items.seed}")
        files.setdefault((one.task.spec, one.items.seed), (one, folder / f"{name}.jsonl"))
    missing = [(one, path) for one, path in files.values() if not path.exists()]
    jobs = (
        (index, one.task, chunk)
        for index, (one, _) in enumerate(missing)
        for chunk in one.items.chunks()
    )
    for index, parts in groupby(executor.map(item_lines, jobs), key=itemgetter(0)):
        with atomic_write(missing[index][1]) as file:
            file.writelines(lines for _, lines in parts)


def item_lines(job: tuple[int, Task, Items]) -> tuple[int, bytes]:
    """The number of a file, and a chunk of its items as JSON Lines."""
    index, task, items = job
    made = task.benchmark.generate(task.spec, items.seed or 0, items.start, items.count)
    return index, b"".join(dump_line(task.benchmark.to_row(item)) for item in made)


def write_summary(benchmark: AnyBenchmark, folder: Path) -> Summary:
    """The summary of a folder's records, which is also written to summary.json."""
    summary = summarise((row for _, row in read_records(folder / RECORDS)), benchmark.metrics)
    write_json(folder / SUMMARY, summary.to_dict())
    return summary
