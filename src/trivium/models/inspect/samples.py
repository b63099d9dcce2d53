"""Items as Inspect samples, and samples back as items and dialogues."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from weakref import WeakValueDictionary

import orjson
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser

from trivium.benchmarks import get_benchmark
from trivium.core.dialogue import Dialogue
from trivium.core.errors import UserError
from trivium.core.files import dump_line
from trivium.core.records import Attempt
from trivium.core.spec import spec_from_dict, spec_to_dict
from trivium.core.task import PresentedItem, Task
from trivium.models.calls import finish, unanswered

# Where a sample's metadata holds what was said ("replies"), what it took ("usage", "seconds") and
# how it ended. Not in its store, where 0.1 kept them under the names of STORED, since Inspect logs
# every change of that.
ATTEMPT = "attempt"
STORED = {"replies": "trivium:replies", "usage": "trivium:usage", "seconds": "trivium:seconds"}

# The items of all datasets of this process, so that none is rebuilt, reordered and rendered again
# at every step of its sample. Weak, so that they live as long as their dataset.
_items: WeakValueDictionary[tuple[object, ...], PresentedItem] = WeakValueDictionary()


class ItemDataset(MemoryDataset):
    """A sample for every item; it holds the items, so that samples need not be read back."""

    def __init__(
        self,
        items: Sequence[PresentedItem],
        system: str | None = None,
        hint: str | None = None,
        prefix: str = "",
    ) -> None:
        name = items[0].task.benchmark.name if items else None
        super().__init__([_sample(item, system, hint, prefix) for item in items], name)
        self.items = items


def sample_id(item: PresentedItem) -> str:
    """What an item is called among the samples of its task."""
    return item.id if item.trial == 0 else f"{item.id}~{item.trial}"


def _sample(item: PresentedItem, system: str | None, hint: str | None, prefix: str) -> Sample:
    """The item as a sample; `system` replaces the task's message, `hint` follows the prompt."""
    benchmark, view = item.task.benchmark, item.task.view
    system = item.system if system is None else system
    text = item.prompt if hint is None else f"{item.prompt}\n\n{hint}"
    messages: list[ChatMessage] = []
    if system is not None:
        messages = [ChatMessageSystem(content=system), ChatMessageUser(content=text)]
    metadata = {
        "benchmark": benchmark.name,
        "id": item.id,
        "trial": item.trial,
        "view": spec_to_dict(view),
        "groups": item.groups,
        # The line of a file: Inspect copies metadata often, and text costs nothing to copy.
        "item": dump_line(benchmark.to_row(item.original)).decode(),
    }
    _items[_key(metadata)] = item
    return Sample(
        id=prefix + sample_id(item),
        input=messages or text,  # text alone where it says the same, as it is cheaper to copy
        target=item.gold,
        metadata=metadata,
    )


def _key(metadata: Mapping[str, Any]) -> tuple[object, ...]:
    """All that an item is rebuilt from."""
    view = orjson.dumps(metadata["view"])
    return metadata["benchmark"], view, metadata["item"], metadata["trial"]


def presented_item(metadata: Mapping[str, Any]) -> PresentedItem:
    """The item that a sample was made from, rebuilt where another process made the sample."""
    try:
        return _items.get(_key(metadata)) or _rebuilt(metadata)
    except (KeyError, TypeError) as missing:
        raise UserError(f"not a sample of a Trivium task ({missing} missing)") from None


def _rebuilt(metadata: Mapping[str, Any]) -> PresentedItem:
    benchmark = get_benchmark(metadata["benchmark"])
    view = spec_from_dict(benchmark.view_type, metadata["view"])
    item = benchmark.from_row(orjson.loads(metadata["item"]), 0)
    return PresentedItem(Task(benchmark, None, view), item, int(metadata["trial"]))


def logged_attempt(
    metadata: Mapping[str, Any],
    store: Mapping[str, Any],
    solver: str,
    hide: Callable[[str], str] = str,
) -> Attempt:
    """The attempt of a sample as far as it came; `hide` removes keys from what was said."""
    held = metadata.get(ATTEMPT) or {key: store.get(name) for key, name in STORED.items()}
    item, replies = presented_item(metadata), [hide(reply) for reply in held["replies"] or []]
    noted = dict(held)
    if noted.get("reasoning") is not None:
        noted["reasoning"] = hide(noted["reasoning"])
    error = noted.get("error") or (None if replies else "no reply")
    if error is not None or noted.get("refused"):
        attempt = unanswered(item, solver, replies, noted, error if error is None else hide(error))
    else:
        dialogue = Dialogue(item)
        for number, reply in enumerate(replies, 1):
            dialogue.note(reply, noted.get("stop_reason") if number == len(replies) else None)
        attempt = finish(dialogue.attempt(solver), noted)
    attempt.seconds = round(held["seconds"] or 0.0, 6)
    return attempt
