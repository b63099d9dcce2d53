"""Executing a run: lock, resume, ask, record, summarise; the same for every kind of solver."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import orjson

from trivium.core.benchmark import AnyBenchmark, Solver
from trivium.core.dialogue import Dialogue, converse, solve
from trivium.core.errors import FailedCallsError, UserError
from trivium.core.files import Appender, atomic_write, locked, sync_file, write_json
from trivium.core.records import (
    MANIFEST,
    RECORDS,
    SUMMARY,
    Attempt,
    AttemptKey,
    drop_errors,
    read_records,
    sort_records,
)
from trivium.core.results import Summary, Tally
from trivium.core.spec import read_mapping
from trivium.core.task import PresentedItem, Task
from trivium.evaluation.evaluation import Evaluation, Items, Run
from trivium.evaluation.executors import Executor, Here
from trivium.evaluation.plan import item_file
from trivium.evaluation.progress import Progress
from trivium.evaluation.solvers import (
    Function,
    checked_reply,
    find_solver,
    function_solver,
    import_function,
    is_function,
    shown,
    takes_messages,
)
from trivium.models.backends import LOGS, Batch, ask_models, require_reachable
from trivium.models.local import served_locally
from trivium.models.providers import scrub
from trivium.models.settings import Model, ModelOptions, Settings, is_model

SYNC_SECONDS = 5.0  # what a power failure may cost
DATA = "data"  # the folder of item files in a run's folder
COSMETIC = {"label", "command", "plan"}  # what may change when a folder is resumed


def execute(
    run: Run,
    out: Path,
    *,
    executor: Executor | None = None,
    options: ModelOptions | None = None,
    functions: Mapping[str, Function] | None = None,
    command: str | None = None,
    write_items: bool = False,
) -> list[Summary]:
    """Make every attempt of a run that its folder does not hold yet; a summary per evaluation.

    `functions` are solvers of the user by name, for evaluations in this process.
    """
    executor, options, functions = executor or Here(), options or ModelOptions(), functions or {}
    named = [one for one in run.evaluations if one.solver not in functions]
    for evaluation in named:
        check_solver(evaluation, options)
    functions = {**functions, **async_functions(named)}
    with locked(out):
        said = {} if command is None else {"command": scrub(command)}
        manifest = run.manifest() | said
        claim_folder(out, manifest)
        if write_items:
            _write_items(run, out / DATA, executor)
        pending = [_Pending.find(evaluation, out, options) for evaluation in run.evaluations]
        programs, models, awaited = _by_kind(pending, functions)
        _run_programs(programs, executor, functions)
        _ask_models(models, options, out / LOGS)
        for one in awaited:
            _ask_function(one, options, functions[one.evaluation.solver])
        return [write_summary(one.evaluation.task.benchmark, one.folder) for one in pending]


def execute_in_steps(
    steps: Mapping[str, Iterator[Run]],
    out: Path,
    *,
    executor: Executor | None = None,
    options: ModelOptions | None = None,
    functions: Mapping[str, Function] | None = None,
) -> None:
    """Execute runs that are chosen one after the other, with an iterator of them for each solver.

    The next run is asked for when the one before is recorded: it may depend on its scores, and
    be of the same evaluations with more items.
    """
    # What failed is left to the next command: no decision was made without a later record.
    options = replace(options or ModelOptions(), retry_errors=False)
    names = [name for name in steps if is_model(name) and name not in (functions or {})]
    # A local server runs through all steps, not for each of them.
    with served_locally([Model(name, Settings(), options) for name in names]):
        for runs in steps.values():
            for run in runs:
                execute(run, out, executor=executor, options=options, functions=functions)


def _by_kind(
    pending: Sequence[_Pending], functions: Mapping[str, Function]
) -> tuple[list[_Pending], list[_Pending], list[_Pending]]:
    """Programs, models, and async functions."""
    awaited = {name for name, own in functions.items() if inspect.iscoroutinefunction(own)}
    programs, models, asynchronous = [], [], []
    for one in pending:
        if one.evaluation.solver in awaited:
            asynchronous.append(one)
        elif one.evaluation.is_model and one.evaluation.solver not in functions:
            models.append(one)
        else:
            programs.append(one)
    return programs, models, asynchronous


def async_functions(evaluations: Sequence[Evaluation]) -> dict[str, Function]:
    """The solvers named as `package.module:function` that have to be awaited."""
    names = {one.solver for one in evaluations if is_function(one.solver)}
    found = {name: import_function(name) for name in names}
    return {name: own for name, own in found.items() if inspect.iscoroutinefunction(own)}


def check_solver(evaluation: Evaluation, options: ModelOptions) -> None:
    """Say what a solver lacks (a name, a key, a package) before any work is done."""
    if evaluation.is_model:
        model = Model(evaluation.solver, evaluation.settings, options)
        require_reachable(evaluation.task.benchmark, model)
    else:
        find_solver(evaluation.task.benchmark, evaluation.solver)


def claim_folder(out: Path, manifest: Mapping[str, Any]) -> None:
    """Write down what a folder is for, or refuse one that holds something else."""
    path = out / MANIFEST
    if not path.exists():
        write_json(path, manifest)
        return
    held = read_mapping(path)
    key = first_difference(held, manifest)
    if key is not None:
        raise UserError(
            f"{out} holds another evaluation ({key} is {held.get(key)!r} there, "
            f"{manifest.get(key)!r} was asked for); choose another folder with --out"
        )
    cosmetic = {key: value for key, value in manifest.items() if key in COSMETIC}
    if any(held.get(key) != value for key, value in cosmetic.items()):
        write_json(path, held | cosmetic)


def first_difference(
    held: Mapping[str, Any], asked: Mapping[str, Any], cosmetic: Set[str] = COSMETIC
) -> str | None:
    """The first key in which two manifests differ; None when they are of the same run."""
    plain = orjson.loads(orjson.dumps(dict(asked)))
    keys = (key for key in {**held, **plain} if key not in cosmetic)
    return next((key for key in keys if held.get(key) != plain.get(key)), None)


@dataclass
class _Pending:
    """What is left of an evaluation."""

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

    def items(self) -> Iterator[PresentedItem]:
        """The attempts that are left; passing over the others notes the order of all."""
        for item in self.evaluation.presented():
            key = (item.id, item.trial)
            self.order[key] = len(self.order)
            if key not in self.done:
                yield item


@dataclass(frozen=True)
class Job:
    """Some items of one evaluation, cheap to send to another process."""

    evaluation: int
    task: Task
    items: Items
    solver: str | Solver
    trials: int
    done: frozenset[AttemptKey]


def _run_programs(
    pending: Sequence[_Pending], executor: Executor, functions: Mapping[str, Function]
) -> None:
    """Built-in solvers, agents and functions: spread over the executor, recorded in order."""
    if not pending:
        return
    with _progress(pending) as progress:
        results = executor.map(do_job, _jobs(pending, functions))
        for index, parts in groupby(results, key=itemgetter(0)):
            with Appender(pending[index].records) as records:
                for _, attempts in parts:
                    records.add(attempts)
                    progress.advance(len(attempts))


def _jobs(pending: Sequence[_Pending], functions: Mapping[str, Function]) -> Iterator[Job]:
    for index, one in enumerate(pending):
        evaluation = one.evaluation
        if len(one.done) >= evaluation.attempts:
            continue
        name = evaluation.solver
        solver = function_solver(name, functions[name]) if name in functions else name
        for chunk in evaluation.items.chunks():
            yield Job(index, evaluation.task, chunk, solver, evaluation.trials, one.done)


def do_job(job: Job) -> tuple[int, list[Attempt]]:
    """The evaluation's number and its new attempts."""
    solver = job.solver
    if isinstance(solver, str):
        solver = find_solver(job.task.benchmark, solver)
    attempts = [
        solve(PresentedItem(job.task, item, trial), solver)
        for item in job.items.load(job.task)
        for trial in range(job.trials)
        if (item.id, trial) not in job.done
    ]
    return job.evaluation, attempts


def _ask_models(pending: Sequence[_Pending], options: ModelOptions, logs: Path) -> None:
    if not pending:
        return
    with (
        _progress(pending, options.log_every) as progress,
        _Recorder(options, progress) as recorder,
    ):
        try:
            ask_models([_batch(one, options, recorder) for one in pending], logs)
        except UserError as problem:
            if recorder.failed:
                raise
            raise FailedCallsError(f"{problem}{_kept(pending, recorder.saved)}") from None
    for one in pending:
        sort_records(one.records, one.order)


def _kept(pending: Sequence[_Pending], saved: int) -> str:
    """How a run that was stopped can be continued, in brackets; nothing where it has nothing."""
    held = saved + sum(len(one.done) for one in pending)
    total = sum(one.evaluation.attempts for one in pending)
    text = f" ({held:,} of {total:,} attempts are recorded, and the same command makes the others)"
    return text if held else ""


def _batch(pending: _Pending, options: ModelOptions, recorder: _Recorder) -> Batch:
    evaluation = pending.evaluation
    folder = Path(evaluation.folder)  # the whole of it: no two evaluations have the same
    name = "-".join(folder.parts) or evaluation.task.benchmark.name
    return Batch(
        name=name,
        benchmark=evaluation.task.benchmark,
        items=pending.items(),
        model=Model(evaluation.solver, evaluation.settings, options),
        save=partial(recorder.save, pending.records),
    )


def _ask_function(pending: _Pending, options: ModelOptions, function: Function) -> None:
    """An async function of the user, called for many items at once."""
    name, as_list = pending.evaluation.solver, takes_messages(function)

    async def ask(messages: Sequence[str]) -> str:
        return checked_reply(name, await function(shown(messages, as_list)))

    async def ask_all(recorder: _Recorder) -> None:
        left = pending.items()

        async def work() -> None:
            for item in left:
                dialogue = await converse(Dialogue(item), ask)
                recorder.save(pending.records, dialogue.attempt(name), dialogue.prompt)

        async with asyncio.TaskGroup() as group:
            for _ in range(options.concurrency):
                group.create_task(work())

    with _progress([pending]) as progress, _Recorder(options, progress) as recorder:
        asyncio.run(ask_all(recorder))
    sort_records(pending.records, pending.order)


class _Recorder:
    """Appends attempts as they come; the last file used stays open, as most calls repeat it."""

    def __init__(self, options: ModelOptions, progress: Progress) -> None:
        self._save_prompt, self._progress = options.save_prompt, progress
        self.failed = False  # whether an attempt could not be written
        self.saved = 0  # attempts, failed ones left out
        self._path: Path | None = None
        self._file = ExitStack()
        self._unsynced: set[Path] = set()
        self._synced = time.monotonic()

    def save(self, path: Path, attempt: Attempt, prompt: str) -> None:
        """Record one attempt, with its prompt where that is asked for."""
        self.failed = True  # unless what follows comes to its end
        if path != self._path:
            self._file.close()
            self._appender = self._file.enter_context(Appender(path))
            self._path = path
        row = asdict(attempt) | {"prompt": prompt} if self._save_prompt else attempt
        self._appender.add([row])
        self.failed = False
        self.saved += attempt.error is None
        self._unsynced.add(path)
        if time.monotonic() - self._synced >= SYNC_SECONDS:
            self._sync()
        self._progress.advance(1)

    def _sync(self) -> None:
        """Have what was paid for on the disk, and not only with the operating system."""
        for path in self._unsynced:
            sync_file(path)
        self._unsynced.clear()
        self._synced = time.monotonic()

    def __enter__(self) -> _Recorder:
        return self

    def __exit__(self, *exception: object) -> None:
        self._file.close()
        self._sync()


def _progress(pending: Sequence[_Pending], every: int | None = None) -> Progress:
    """The progress of some evaluations together."""
    evaluations = [one.evaluation for one in pending]
    names = dict.fromkeys(one.task.benchmark.name for one in evaluations)
    what = evaluations[0].solver if len(pending) == 1 else f"{len(pending)} evaluations"
    total = sum(one.attempts for one in evaluations)
    done = sum(len(one.done) for one in pending)
    where = next(iter(names)) if len(names) == 1 else f"{len(names)} benchmarks,"
    return Progress(f"{where} {what}", total, done, every)


def _write_items(run: Run, folder: Path, executor: Executor) -> None:
    """The items of every spec and seed, each in a file of its own."""
    files: dict[tuple[Any, int | None], tuple[Evaluation, Path]] = {}
    for one in run.evaluations:
        files.setdefault((one.task.spec, one.items.seed), (one, folder / item_file(one)))
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
    """The number of a file, and some of its items as JSON Lines."""
    index, task, items = job
    lines = task.benchmark.generate_lines(task.spec, items.seed or 0, items.start, items.count)
    return index, b"".join(lines)


def write_summary(benchmark: AnyBenchmark, folder: Path) -> Summary:
    """Write summary.json beside the records, and return the same as an object."""
    tally = Tally(benchmark.metrics)
    for _, row in read_records(folder / RECORDS):
        tally.add(row)
    summary = tally.summary()
    write_json(folder / SUMMARY, summary.to_dict())
    return summary
