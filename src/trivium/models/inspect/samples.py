"""Items as Inspect samples, and samples back as items and attempts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import orjson
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser

from trivium.benchmarks import get_benchmark
from trivium.core.dialogue import Dialogue
from trivium.core.errors import UserError
from trivium.core.files import dump_line
from trivium.core.records import Attempt
from trivium.core.spec import spec_from_dict, spec_to_dict
from trivium.core.task import PresentedItem, Task

# Where a sample's metadata holds the replies, how the attempt ended and what it took. Not in its
# store, every change of which Inspect logs.
ATTEMPT = "attempt"


def make_sample(item: PresentedItem, system: str | None, hint: str | None) -> Sample:
    """The item as a sample; `system` precedes the prompt, `hint` follows it."""
    benchmark = item.task.benchmark
    text = item.prompt if hint is None else f"{item.prompt}\n\n{hint}"
    messages: list[ChatMessage] = []
    if system is not None:
        messages = [ChatMessageSystem(content=system), ChatMessageUser(content=text)]
    return Sample(
        id=item.id if item.trial == 0 else f"{item.id}~{item.trial}",
        input=messages or text,
        target=item.gold,
        metadata={
            "benchmark": benchmark.name,
            "id": item.id,
            "trial": item.trial,
            "spec": spec_to_dict(item.task.spec),
            "view": spec_to_dict(item.task.view),
            "groups": item.groups,
            # The line of a file: Inspect copies metadata often, and text costs nothing to copy.
            "item": dump_line(benchmark.to_row(item.original)).decode(),
        },
    )


def presented_item(metadata: Mapping[str, Any]) -> PresentedItem:
    """The item that a sample was made from."""
    try:
        fields = orjson.dumps([metadata["spec"], metadata["view"]])
        return _rebuilt(metadata["benchmark"], fields, metadata["item"], int(metadata["trial"]))
    except (KeyError, TypeError) as missing:
        raise UserError(f"not a sample of a Trivium task ({missing} missing)") from None


@lru_cache(maxsize=1024)  # solver, scorer and record of a sample each need its item
def _rebuilt(name: str, fields: bytes, row: str, trial: int) -> PresentedItem:
    benchmark = get_benchmark(name)
    spec, view = orjson.loads(fields)
    task = Task(
        benchmark,
        spec_from_dict(benchmark.spec_type, spec),
        spec_from_dict(benchmark.view_type, view),
    )
    return PresentedItem(task, benchmark.from_row(orjson.loads(row), 0), trial)


def sample_attempt(
    metadata: Mapping[str, Any], solver: str, hide: Callable[[str], str] = str
) -> Attempt:
    """The attempt that a sample's metadata holds; `hide` removes keys from what was said."""
    item = presented_item(metadata)
    noted = dict(metadata.get(ATTEMPT) or {"error": "no reply"})
    replies = [hide(reply) for reply in noted.get("replies") or ()]
    for name in ("reasoning", "error"):
        noted[name] = hide(noted[name]) if noted.get(name) else None
    dialogue = Dialogue(item)
    for reply, stop_reason in zip(replies, noted.get("stop_reasons") or (), strict=True):
        dialogue.note(reply, stop_reason)
    seconds = noted.get("seconds") or 0.0
    attempt = dialogue.attempt(solver, error=noted["error"], seconds=seconds)
    attempt.usage, attempt.reasoning = noted.get("usage") or {}, noted["reasoning"]
    return attempt
