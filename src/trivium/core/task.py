"""A task: a benchmark with a spec and a view, and its items as solvers see them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from trivium.core.benchmark import STRICT, AnyBenchmark, Ceiling, Floor
from trivium.core.errors import require
from trivium.core.reading import visible_replies
from trivium.core.records import Groups, Scores
from trivium.core.spec import spec_from_dict, spec_to_dict
from trivium.core.streams import DEFAULT_SEED

if TYPE_CHECKING:
    from trivium.core.dialogue import Dialogue


@dataclass(frozen=True)
class Task:
    """A benchmark, the spec of its items, and the view that presents them.

    >>> import trivium
    >>> task = trivium.load("nhop_implicit", hops=4)
    >>> item = task.item(0, seed=7)
    >>> task.score(item, item.gold)["correct"]
    1.0
    """

    benchmark: AnyBenchmark
    spec: Any
    view: Any

    @cached_property
    def floor(self) -> Floor:
        """The best strategy that does not read the item."""
        return self.benchmark.floor(self.spec, self.view)

    @cached_property
    def ceiling(self) -> Ceiling:
        """The best solver that sees the prompt and nothing else."""
        return self.benchmark.ceiling(self.spec, self.view)

    @cached_property
    def _fields(self) -> dict[str, Any] | None:
        return None if self.spec is None else spec_to_dict(self.spec)

    def item_floor(self, item: Any) -> Floor:
        """The floor of an item, which may come from a file and have another spec."""
        task = self._task_of(item)
        return self.benchmark.item_floor(item, self.view) if task is None else task.floor

    def item_ceiling(self, item: Any) -> Ceiling:
        """The ceiling of an item, which may come from a file and have another spec."""
        task = self._task_of(item)
        return self.benchmark.item_ceiling(item, self.view) if task is None else task.ceiling

    def _task_of(self, item: Any) -> Task | None:
        """The task whose floor and ceiling are those of an item; None if it has its own."""
        origin = item.origin
        if origin is None or self.benchmark.limits_vary:
            return None
        if origin.spec == self._fields:
            return self
        spec = spec_from_dict(self.benchmark.spec_type, origin.spec)
        return Task(self.benchmark, spec, self.view)

    def generate(self, seed: int, start: int, count: int) -> Iterator[PresentedItem]:
        """Yields presented items one by one."""
        check_range(start, count)
        for item in self.benchmark.generate(self.spec, seed, start, count):
            yield PresentedItem(self, item)

    def items(self, count: int, seed: int = DEFAULT_SEED, start: int = 0) -> list[PresentedItem]:
        """The items start .. start + count - 1 of a seed."""
        return list(self.generate(seed, start, count))

    def item(self, index: int, seed: int = DEFAULT_SEED) -> PresentedItem:
        """One item."""
        return self.items(1, seed, index)[0]

    def score(self, item: PresentedItem, reply: str | Sequence[str]) -> Scores:
        """Every metric of a reply (of all replies, for a game); undefined ones are None."""
        replies = visible_replies([reply] if isinstance(reply, str) else reply)
        answer = self.benchmark.parse(item.content, replies, self.view)
        return self.score_visible(item.content, replies, answer)

    def score_visible(self, content: Any, replies: Sequence[str], answer: Any) -> Scores:
        """Every metric of an answer, and whether the reply has exactly the asked form."""
        strict = self.benchmark.strict(content, replies, self.view)
        scores = self.benchmark.score(content, answer)
        return scores | {STRICT.name: None if strict is None else float(strict)}

    def start(self, item: PresentedItem) -> Dialogue:
        """A dialogue about the item: `prompt`, `send(reply)`, `done`, `scores`."""
        from trivium.core.dialogue import Dialogue  # noqa: PLC0415 - it is built on this module

        return Dialogue(item)


def check_range(start: int, count: int) -> None:
    """Refuse a range of items that is empty, negative or beyond 64 bits."""
    require(count >= 1, f"items must be at least 1, got {count}")
    require(start >= 0, f"start must be at least 0, got {start}")
    require(count < 2**63, f"items must fit into 64 bits, got {count}")
    require(start + count < 2**63, f"start must fit into 64 bits with the items, got {start}")


@dataclass(frozen=True)
class PresentedItem:
    """An item as a solver sees it in one trial."""

    task: Task
    original: Any  # the benchmark's item before trials reorder it
    trial: int = 0

    @property
    def id(self) -> str:
        """The item's name among those of its seed."""
        return str(self.original.id)

    @cached_property
    def content(self) -> Any:
        """The benchmark's item in the order of this trial."""
        return self.task.benchmark.reshuffle(self.original, self.trial)

    @cached_property
    def prompt(self) -> str:
        """The text that a solver sees first."""
        return self.task.benchmark.render(self.content, self.task.view)

    @property
    def gold(self) -> str:
        """A reply that scores perfectly."""
        benchmark = self.task.benchmark
        return benchmark.write(self.content, benchmark.gold(self.content), self.task.view)

    @property
    def floor(self) -> float:
        """The headline metric of the best strategy that does not read the item."""
        return self.task.item_floor(self.original).value

    @property
    def ceiling(self) -> float:
        """The headline metric of the best solver that sees the prompt and nothing else."""
        return self.task.item_ceiling(self.original).value

    @property
    def groups(self) -> Groups:
        """The properties of the item by which results are grouped."""
        return self.task.benchmark.groups(self.content)
