"""Items as Inspect samples, and back: a sample carries all that re-creates its attempt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser, ModelOutput
from inspect_ai.util import Store

from trivium.benchmarks import get_benchmark
from trivium.core.benchmark import AnyBenchmark
from trivium.core.errors import UserError
from trivium.core.files import dump_line
from trivium.core.spec import spec_from_dict, spec_to_dict

# Where in a sample's store an attempt is kept.
REPLIES = "trivium:replies"
USAGE = "trivium:usage"
SECONDS = "trivium:seconds"


@dataclass(frozen=True)
class Told:
    """An item as it was told in one trial."""

    benchmark: AnyBenchmark
    view: Any
    item: Any  # before it was put into another order
    told: Any
    trial: int


def dataset(
    benchmark: AnyBenchmark,
    view: Any,
    work: Iterable[tuple[Any, int]],
    *,
    system: str | None = None,
    hint: str | None = None,
) -> MemoryDataset:
    """A sample for every item and trial; `hint` is added to what the model sees."""
    first = benchmark.system(view) if system is None else system

    def opening(prompt: str) -> list[ChatMessage]:
        shown = ChatMessageUser(content=prompt if hint is None else f"{prompt}\n\n{hint}")
        return [shown] if first is None else [ChatMessageSystem(content=first), shown]

    samples = [_sample(benchmark, view, item, trial, opening) for item, trial in work]
    return MemoryDataset(samples, name=benchmark.name)


def _sample(
    benchmark: AnyBenchmark,
    view: Any,
    item: Any,
    trial: int,
    opening: Callable[[str], list[ChatMessage]],
) -> Sample:
    told = benchmark.reshuffle(item, trial)
    return Sample(
        id=item.id if trial == 0 else f"{item.id}~{trial}",
        input=opening(benchmark.render(told, view)),
        target=benchmark.write(told, benchmark.gold(told), view),
        metadata={
            "benchmark": benchmark.name,
            "id": item.id,
            "trial": trial,
            "view": spec_to_dict(view),
            "groups": benchmark.groups(told),
            # The line of a file: Inspect copies metadata often, and text costs nothing to copy.
            "item": dump_line(benchmark.to_row(item)).decode(),
        },
    )


def read_sample(metadata: Mapping[str, Any]) -> Told:
    """The item that a sample was made from."""
    try:
        benchmark = get_benchmark(metadata["benchmark"])
        view = spec_from_dict(benchmark.view_type, metadata["view"])
        item = benchmark.from_row(orjson.loads(metadata["item"]), 0)
        trial = int(metadata["trial"])
    except (KeyError, TypeError) as missing:
        raise UserError(f"not a sample of a Trivium task ({missing} missing)") from None
    return Told(benchmark, view, item, benchmark.reshuffle(item, trial), trial)


def count_call(store: Store, output: ModelOutput) -> None:
    """Add what one call took to what the attempt has taken."""
    usage: Counter[str] = Counter(store.get(USAGE, {}))
    usage["requests"] += 1
    if output.usage is not None:
        usage["input_tokens"] += output.usage.input_tokens
        usage["output_tokens"] += output.usage.output_tokens
    if output.stop_reason == "max_tokens":
        usage["cut_off"] += 1
    store.set(USAGE, dict(usage))
    store.set(SECONDS, store.get(SECONDS, 0.0) + (output.time or 0.0))
