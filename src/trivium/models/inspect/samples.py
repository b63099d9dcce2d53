"""Items as Inspect samples, and samples and logs as attempts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, read_eval_log, read_eval_log_samples
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageSystem, ChatMessageUser

from trivium.benchmarks import recorded_task
from trivium.core.benchmark import Floor
from trivium.core.dialogue import Dialogue
from trivium.core.errors import UserError, located, require
from trivium.core.files import dump_line
from trivium.core.records import Attempt
from trivium.core.spec import spec_to_dict
from trivium.core.task import PresentedItem
from trivium.core.text import one_line
from trivium.models.providers import hider
from trivium.models.settings import Settings, framing_groups, opening

# The key in a sample's metadata of the replies, how the attempt ended, and its usage. (Inspect
# logs every change of a sample's store.)
ATTEMPT = "attempt"


def make_sample(item: PresentedItem, settings: Settings, hint: str) -> Sample:
    """The item as a sample, framed by the settings; `hint` ends the prompt."""
    benchmark, (*examples, prompt) = item.task.benchmark, opening(item, settings)
    messages: list[ChatMessage] = []
    if settings.system is not None:
        messages.append(ChatMessageSystem(content=settings.system))
    for number, text in enumerate([*examples, prompt + hint]):
        messages.append((ChatMessageAssistant if number % 2 else ChatMessageUser)(content=text))
    return Sample(
        id=item.id if item.trial == 0 else f"{item.id}~{item.trial}",
        input=messages,
        target=item.gold,
        metadata={
            "benchmark": benchmark.name,
            "id": item.id,
            "trial": item.trial,
            "order": item.order,
            "spec": spec_to_dict(item.task.spec),
            "view": spec_to_dict(item.task.view),
            "groups": item.groups | framing_groups(settings),
            # As text: Inspect copies metadata often, and text costs nothing to copy.
            "item": dump_line(benchmark.to_row(item.original)).decode(),
            "file_floor": item.task.file_floor and asdict(item.task.file_floor),
        },
    )


def presented_item(metadata: Mapping[str, Any]) -> PresentedItem:
    """The item that a sample was made from."""
    names = ("benchmark", "spec", "view", "file_floor", "item", "trial", "order")
    try:
        return _rebuilt(orjson.dumps({name: metadata[name] for name in names}))
    except (KeyError, TypeError) as missing:
        raise UserError(f"not a sample of a Trivium task ({missing} missing)") from None


@lru_cache(maxsize=1024)  # the solver, the scorer and the record of a sample need its item
def _rebuilt(fields: bytes) -> PresentedItem:
    row = orjson.loads(fields)
    task, floor = recorded_task(row), row["file_floor"]
    item = task.benchmark.from_row(orjson.loads(row["item"]), 0)
    task = replace(task, file_floor=floor and Floor(**floor))
    return PresentedItem(task, item, row["trial"], row["order"])


def sample_attempt(
    metadata: Mapping[str, Any], solver: str, hide: Callable[[str], str] = str
) -> Attempt:
    """The attempt in a sample's metadata; `hide` removes keys from replies and errors."""
    noted = {"replies": (), "stop_reasons": (), "error": "no reply"} | metadata.get(ATTEMPT, {})
    dialogue = Dialogue(presented_item(metadata))
    for reply, stop_reason in zip(noted["replies"], noted["stop_reasons"], strict=True):
        dialogue.note(hide(reply), stop_reason)
    error = one_line(hide(noted["error"] or "")) or None
    attempt = dialogue.attempt(solver, error=error, seconds=noted.get("seconds", 0.0))
    attempt.usage, attempt.groups = noted.get("usage", {}), dict(metadata["groups"])
    attempt.reasoning = hide(noted.get("reasoning") or "") or None
    return attempt


def log_files(path: Path) -> list[Path]:
    """The log at a path, or all logs under a folder, the oldest first."""
    if path.is_dir():
        found = sorted(path.rglob("*.eval"))
        require(bool(found), f"{path}: no Inspect logs in this folder")
        return found
    require(path.exists(), f"{path}: no such file or folder")
    require(path.suffix in (".eval", ".json"), f"{path}: an Inspect log ends in .eval or .json")
    return [path]


def read_header(path: Path) -> EvalLog:
    """A log without its samples."""
    try:
        return read_eval_log(str(path), header_only=True)
    except Exception as problem:  # a file that is not a log may raise anything
        raise UserError(f"{path}: not an Inspect log ({type(problem).__name__})") from None


def read_attempts(path: Path) -> Iterator[Attempt]:
    """The samples of a log as attempts, read one at a time."""
    header, hide = read_header(path), hider()
    trials = int((header.eval.task_args or {}).get("order_trials", 1))
    for sample in read_eval_log_samples(str(path), all_samples_required=False):
        metadata = dict(sample.metadata)
        if sample.error is not None and ATTEMPT not in metadata:  # it failed before our solver
            metadata[ATTEMPT] = {"error": one_line(hide(sample.error.message))}
        with located(f"{path}: sample {sample.id}"):
            attempt = sample_attempt(metadata, header.eval.model, hide)
        # A repeated epoch is one more trial of the same item.
        attempt.trial += (sample.epoch - 1) * trials
        yield attempt
