"""The Inspect lane: evaluations of our own, one or many cells of a sweep, as one eval set."""

from __future__ import annotations

import math
import signal
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

import inspect_ai
import rich
from inspect_ai import Task
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.log import EvalLog, EvalSample, read_eval_log, write_eval_log
from inspect_ai.model import GenerateConfig, Model, get_model
from inspect_ai.solver import TaskState

from trivium.core.errors import UserError
from trivium.core.files import Appender
from trivium.core.records import Attempt
from trivium.evaluation.execute import Work
from trivium.evaluation.progress import Progress
from trivium.models.inspect.logs import attempt_of, sample_attempt
from trivium.models.inspect.tasks import build_task
from trivium.models.providers import find_address, is_compatible, key_hider, keys_hidden_in_logs
from trivium.models.settings import ModelSettings

# Providers of Inspect's that do more than speak the protocol. The others go through its provider
# for anything compatible: its own for vLLM would start servers and write to the environment.
OWN_PROVIDER = {"openai", "openrouter"}


@dataclass(frozen=True)
class Cell:
    """What one model has still to be asked, and the records that its attempts go to."""

    name: str  # no two cells of a set have the same
    work: Work
    settings: ModelSettings
    records: Path


def ask_through_inspect(cells: Sequence[Cell], progress: Progress, logs: Path) -> None:
    """Attempt the work of all cells as one eval set; each finished sample is recorded at once.

    What Inspect retries, it retries within this call. What a stopped command has left is known
    from the records, which hold every sample that was over, and not from Inspect's logs, which
    are written a little later. So every call has a log folder of its own: in an old one Inspect
    would take a cell for done, or delete the log of what is not asked again.
    """
    asking = _Asking(progress)
    tasks = [task for cell in cells if (task := asking.task(cell)) is not None]
    if not tasks:
        return
    unfinished = []
    try:
        for log in _evaluated(tasks, cells, _new_folder(logs)):
            if log.status != "cancelled":  # what was under way has not failed: it is asked again
                asking.read_failures(log)
            if log.status != "success":
                unfinished.append(log)
        if any(log.status == "cancelled" for log in unfinished):
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        if asking.stopped is not None:
            raise asking.stopped from None
        raise
    for log in unfinished:
        why = log.error.message if log.error is not None else log.status
        raise UserError(f"Inspect did not finish {log.eval.task}: {asking.hide(why)}")


@dataclass
class _Asking:
    """The cells under way, and what of them is not recorded yet."""

    progress: Progress
    cells: dict[str, Cell] = field(default_factory=dict)
    left: dict[str, set[tuple[str, int]]] = field(default_factory=dict)  # by name of the cell
    models: dict[str, Model] = field(default_factory=dict)
    under_way: Counter[str] = field(default_factory=Counter)  # samples by model

    stopped: UserError | None = None  # why the records cannot be gone on with

    def __post_init__(self) -> None:
        self.hide = key_hider()

    def task(self, cell: Cell) -> Task | None:
        """The task of a cell, where something of it is left."""
        pending, name = list(cell.work), cell.settings.model
        if not pending:
            return None
        self.cells[cell.name] = cell
        self.left[cell.name] = {(item.id, trial) for item, trial in pending}
        self.under_way[name] += len(pending)
        if name not in self.models:
            self.models[name] = inspect_model(cell.settings)

        async def ended(state: TaskState) -> None:
            self.under_way[name] -= 1
            if not self.under_way[name]:  # connections must be closed where they were opened
                await self.models[name].api.aclose()
            if state.scores:  # samples that failed are taken from the log, which knows why
                held = dict(state.store.items())
                made = attempt_of(state.metadata, held, name, self.hide)
                try:
                    self.add(cell, made, state.input_text)
                except UserError as problem:  # a full disk; Inspect itself would go on asking
                    self.stopped = problem
                    signal.raise_signal(signal.SIGINT)

        return build_task(
            cell.work.benchmark,
            cell.work.view,
            pending,
            name=cell.name,
            model=self.models[name],
            system=cell.settings.system,
            ended=ended,
        )

    def add(self, cell: Cell, attempt: Attempt, prompt: str) -> None:
        """Record an attempt; a sample that Inspect had to run twice is recorded once."""
        if (attempt.id, attempt.trial) not in self.left[cell.name]:
            return
        self.left[cell.name].remove((attempt.id, attempt.trial))
        keep_prompt = cell.settings.flags.save_prompt
        # Opened for each: a sweep has more cells than a process may have open files.
        with Appender(cell.records) as records:
            records.add([asdict(attempt) | {"prompt": prompt} if keep_prompt else attempt])
        self.progress.advance(1)

    def read_failures(self, log: EvalLog) -> None:
        """Record the samples of a log that failed for good."""
        cell = self.cells[log.eval.task]
        for sample in log.samples or []:
            if sample.error is not None or not sample.scores:
                prompt = sample.input if isinstance(sample.input, str) else sample.input[-1].text
                self.add(cell, sample_attempt(sample, cell.settings.model, self.hide), prompt)


def _evaluated(tasks: list[Task], cells: Sequence[Cell], log_dir: Path) -> Iterator[EvalLog]:
    """The whole logs of an eval set of these tasks, one at a time in memory."""
    concurrency = min(cell.settings.flags.concurrency for cell in cells)
    largest = max(len(task.dataset) for task in tasks)
    # Small cells run side by side, so that together they fill what may be under way at once.
    together = min(len(tasks), math.ceil(concurrency / largest))
    try:
        with _in_one_sentence(), keys_hidden_in_logs(), _quiet_console():
            inspect_ai.eval_set(
                tasks,
                log_dir=str(log_dir),
                model=None,  # every task has its own
                display="none",
                max_tasks=together,
                max_samples=concurrency // together,
                fail_on_error=False,
                log_realtime=False,  # two fifths of a sample's cost, for a view that few look at
                ctl_server=False,  # nobody steers it from outside
            )
    except BaseException:
        list(_without_keys(log_dir))  # a log of what was interrupted keeps no key either
        raise
    yield from _without_keys(log_dir)


def _new_folder(logs: Path) -> Path:
    """The next numbered folder."""
    taken = [int(path.name) for path in logs.glob("*") if path.name.isdigit()]
    return logs / str(max(taken, default=0) + 1)


@contextmanager
def _quiet_console() -> Iterator[None]:
    """An eval set says on standard output that it is over, whatever its display."""
    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before


@contextmanager
def _in_one_sentence() -> Iterator[None]:
    """What Inspect finds missing, said as we say it."""
    try:
        yield
    except PrerequisiteError as problem:
        raise UserError(" ".join(key_hider()(str(problem.message)).split())) from None


def inspect_model(settings: ModelSettings) -> Model:
    """The model as Inspect knows it."""
    with _in_one_sentence():
        try:
            return _inspect_model(settings)
        except ValueError as problem:  # a provider that it does not know
            raise UserError(
                f"{problem} Where it speaks OpenAI's protocol, --base_url says where it is"
            ) from None


def _inspect_model(settings: ModelSettings) -> Model:
    flags = settings.flags
    config = GenerateConfig(
        temperature=flags.temp,
        max_tokens=flags.max_output_tokens,
        attempt_timeout=max(1, round(flags.timeout)),
        max_retries=flags.max_retries,
        max_connections=flags.concurrency,
    )
    if not is_compatible(settings):
        return get_model(settings.model, config=config, memoize=False)
    address = find_address(settings)
    own = settings.provider in OWN_PROVIDER
    name = settings.model if own else f"openai-api/{settings.model}"
    return get_model(
        name, config=config, base_url=address.base_url, api_key=address.key, memoize=False
    )


def _without_keys(log_dir: Path) -> Iterator[EvalLog]:
    """Every log of a folder, written again without keys where a server had repeated one."""
    hide = key_hider()
    for path in sorted(log_dir.glob("*.eval")):
        log = read_eval_log(str(path))
        texts = [sample.model_dump_json() for sample in log.samples or []]
        clean = [hide(text) for text in texts]
        if clean != texts:
            log.samples = [EvalSample.model_validate_json(text) for text in clean]
            write_eval_log(log, log.location)
        yield log
