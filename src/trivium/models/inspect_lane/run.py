"""The Inspect lane: evaluations of our own through Inspect, and cells as an eval set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import inspect_ai
from inspect_ai import Task
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.log import EvalLog, EvalSample, read_eval_log, write_eval_log
from inspect_ai.model import GenerateConfig, Model, get_model
from inspect_ai.solver import TaskState

from trivium.core.benchmark import Attempt
from trivium.core.errors import UserError
from trivium.core.jsonl import Appender
from trivium.core.spec import changed_fields
from trivium.models.inspect_lane.logs import attempt_of, sample_attempt
from trivium.models.inspect_lane.tasks import TASKS, build_task
from trivium.models.providers import find_address, is_compatible, key_hider, keys_hidden_in_logs
from trivium.models.settings import ModelSettings
from trivium.runs.evaluate import Work
from trivium.runs.progress import Progress

LOGS = "logs"  # the folder of Inspect's own logs, beside the records
# Providers of Inspect's that do more than speak the protocol. The others go through its provider
# for anything compatible: its own for vLLM would start servers and write to the environment.
OWN_PROVIDER = {"openai", "openrouter"}


def ask_through_inspect(
    work: Work, settings: ModelSettings, records: Appender, progress: Progress, out: Path
) -> None:
    """Attempt all the work in one Inspect evaluation; each finished sample is recorded at once."""
    pending = list(work)
    if not pending:
        return
    model, hide = inspect_model(settings), key_hider()
    keep_prompt = settings.flags.save_prompt
    under_way = len(pending)

    def add(attempt: Attempt, prompt: str) -> None:
        records.add([asdict(attempt) | {"prompt": prompt} if keep_prompt else attempt])
        progress.advance(1)

    async def ended(state: TaskState) -> None:
        nonlocal under_way
        under_way -= 1
        if not under_way:  # connections must be closed where they were opened
            await model.api.aclose()
        if state.scores:  # samples that failed are taken from the log, which knows why
            held = dict(state.store.items())
            add(attempt_of(state.metadata, held, settings.model, hide), state.input_text)

    task = build_task(work.benchmark, work.view, pending, system=settings.system, ended=ended)
    log = _evaluated(task, model, settings.flags.concurrency, out / LOGS)
    if log.status == "cancelled":  # what was under way has not failed: it is asked again
        raise KeyboardInterrupt
    for sample in log.samples or []:
        if sample.error is not None or not sample.scores:
            prompt = sample.input if isinstance(sample.input, str) else sample.input[-1].text
            add(sample_attempt(sample, settings.model, hide), prompt)
    if log.status != "success":
        why = log.error.message if log.error is not None else log.status
        raise UserError(f"Inspect did not finish: {hide(why)}")


def _evaluated(task: Task, model: Model, concurrency: int, log_dir: Path) -> EvalLog:
    with _in_one_sentence(), keys_hidden_in_logs():
        logs = inspect_ai.eval(
            task,
            model=model,
            log_dir=str(log_dir),
            display="none",
            max_samples=concurrency,
            fail_on_error=False,
            log_realtime=False,  # two fifths of a sample's cost, for a view that few look at
        )
    if not logs:  # interrupted
        raise KeyboardInterrupt
    hide_keys_in_log(logs[0])
    return logs[0]


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


def hide_keys_in_log(log: EvalLog) -> None:
    """Write the log again without keys, where a server had repeated one."""
    hide = key_hider()
    whole = log if log.samples is not None else read_eval_log(log.location)
    spoilt = False
    for place, sample in enumerate(whole.samples or []):
        text = sample.model_dump_json()
        if (clean := hide(text)) != text:
            assert whole.samples is not None
            whole.samples[place] = EvalSample.model_validate_json(clean)
            spoilt = True
    if spoilt:
        write_eval_log(whole, log.location)


@dataclass(frozen=True)
class Cell:
    """One cell of a sweep: a benchmark under one spec and view."""

    benchmark: str
    spec: Any
    view: Any
    seed: int
    items: int
    trials: int = 1
    system: str | None = None  # a system message instead of the benchmark's own

    def values(self) -> Mapping[str, Any]:
        """As the -T values of its task."""
        own: dict[str, Any] = {"items": self.items, "seed": self.seed, "order_trials": self.trials}
        own |= {} if self.system is None else {"system": self.system}
        return own | changed_fields(self.spec) | changed_fields(self.view)


def eval_set_cells(
    cells: Sequence[Cell], models: Sequence[ModelSettings], log_dir: Path
) -> tuple[bool, list[EvalLog]]:
    """Run cells as one eval set, which goes on where it stopped; whether all are done, and logs."""
    tasks = [TASKS[cell.benchmark](**cell.values()) for cell in cells]
    with _in_one_sentence(), keys_hidden_in_logs():
        done, logs = inspect_ai.eval_set(
            tasks,
            log_dir=str(log_dir),
            model=[inspect_model(settings) for settings in models],
            display="none",
            max_samples=max(settings.flags.concurrency for settings in models),
            fail_on_error=False,
        )
    for log in logs:
        hide_keys_in_log(log)
    return done, logs
