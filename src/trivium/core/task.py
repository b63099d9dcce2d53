"""A task: a benchmark with a spec and a view, and its items as solvers see them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Integral
from typing import TYPE_CHECKING, Any, overload

from trivium.core.benchmark import STRICT, AnyBenchmark, Ceiling, Floor
from trivium.core.errors import UserError, require
from trivium.core.files import dump_line
from trivium.core.reading import visible_replies
from trivium.core.records import Groups, Scores
from trivium.core.spec import changed_fields, short, spec_from_dict, spec_to_dict
from trivium.core.streams import DEFAULT_SEED
from trivium.core.text import excerpt

if TYPE_CHECKING:
    from trivium.core.dialogue import Dialogue


CHUNK = 50  # items that are generated at once while iterating
MAX_SHOWN = 15  # lines of a prompt in the representation of an item


@dataclass(frozen=True, repr=False)
class Task:
    """A benchmark, the spec of its items, and the view that presents them.

    >>> import trivium
    >>> task = trivium.load("nhop_implicit", hops=4)
    >>> item = task.item(0, seed=7)
    >>> task.score(item, item.gold)["correct"]
    1.0

    `task[0]` and `task[5:8]` are items of the default seed, and iterating yields them in order,
    without end.
    """

    benchmark: AnyBenchmark
    spec: Any
    view: Any
    # of items without a spec, computed on the file that they are from
    file_floor: Floor | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        benchmark, fields = self.benchmark, {}
        preset = self.preset
        if preset is None and self.spec is not None:
            fields = changed_fields(self.spec)
        fields |= changed_fields(self.view)
        parts = ([preset] if preset else []) + [
            f"{key}={short(repr(fields[key]))}" for key in fields
        ]
        return f"<task {' '.join([benchmark.name, *parts])}>"

    @property
    def preset(self) -> str | None:
        """The name of the preset with this spec, if there is one."""
        presets = self.benchmark.presets.items()
        return next((name for name, spec in presets if spec == self.spec), None)

    def __iter__(self) -> Iterator[PresentedItem]:
        start = 0
        while True:
            yield from self.items(CHUNK, start=start)
            start += CHUNK

    @overload
    def __getitem__(self, index: int) -> PresentedItem: ...
    @overload
    def __getitem__(self, index: slice) -> list[PresentedItem]: ...
    def __getitem__(self, index: int | slice) -> PresentedItem | list[PresentedItem]:
        if isinstance(index, slice):
            require(index.stop is not None, "a task has no last item: name the end of the slice")
            which = range(*index.indices(index.stop))
            return [self.item(number) for number in which]
        require(index >= 0, f"a task has no last item to count from: got index {index}")
        return self.item(index)

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
        if item.origin is None and self.file_floor is not None:
            return self.file_floor
        task = self._task_of(item)
        return self.benchmark.item_floor(item, self.view) if task is None else task.floor

    def with_file(self, items: Iterable[Any]) -> Task:
        """The task for the items of a file: those without a spec have the floor of that file."""
        outside = [item for item in items if item.origin is None]
        floor = self.benchmark.file_floor(outside, self.view) if outside else None
        return replace(self, file_floor=floor)

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
        if not isinstance(item, PresentedItem):
            raise UserError(f"item must be one of the task, got {item!r:.60}")
        given = [reply] if isinstance(reply, str) else reply
        texts = isinstance(given, Sequence) and all(isinstance(one, str) for one in given)
        require(texts, f"reply must be text, or a list of all replies in a game, got {reply!r:.60}")
        replies = visible_replies(given) or [""]
        answer = self.benchmark.parse(item.content, replies, self.view)
        return self.score_visible(item.content, replies, answer)

    def score_visible(self, content: Any, replies: Sequence[str], answer: Any) -> Scores:
        """Every metric of an answer, and whether the reply has exactly the asked form."""
        strict = self.benchmark.strict(content, replies or [""], self.view)
        scores = self.benchmark.score(content, answer)
        return scores | {STRICT.name: None if strict is None else float(strict)}

    def start(self, item: PresentedItem) -> Dialogue:
        """A dialogue about the item: `prompt`, `send(reply)`, `done`, `scores`."""
        from trivium.core.dialogue import Dialogue  # noqa: PLC0415 - it is built on this module

        return Dialogue(item)


def check_range(start: int, count: int) -> None:
    """Refuse a range of items that is empty, negative or beyond 64 bits."""
    for name, value in (("items", count), ("start", start)):
        require(isinstance(value, Integral), f"{name} must be a whole number, got {value!r:.60}")
    require(count >= 1, f"items must be at least 1, got {count}")
    require(start >= 0, f"start must be at least 0, got {start}")
    require(count < 2**63, f"items must fit into 64 bits, got {count}")
    require(start + count < 2**63, f"start must fit into 64 bits with the items, got {start}")


@dataclass(frozen=True, repr=False)
class PresentedItem:
    """An item as a solver sees it in one trial."""

    task: Task
    original: Any  # the benchmark's item before trials reorder it
    trial: int = 0
    order: int = -1  # of presentation; by default the trial, which is another where orders repeat

    def __post_init__(self) -> None:
        if self.order < 0:
            object.__setattr__(self, "order", self.trial)

    def __repr__(self) -> str:
        about = f"{self.task.benchmark.name} {self.id}, floor {self.floor:.3f}"
        prompt = excerpt(self.prompt, MAX_SHOWN, "print(item.prompt) shows them")
        return f"<item {about}>\n{prompt}\n<answer> {self.gold}"

    @property
    def id(self) -> str:
        """The item's name among those of its seed."""
        return str(self.original.id)

    @property
    def digest(self) -> str:
        """A hash of the item, equal for every solver, view and trial."""
        drawn = dump_line(self.task.benchmark.content(self.original))
        return hashlib.blake2b(drawn, digest_size=8).hexdigest()

    @cached_property
    def content(self) -> Any:
        """The benchmark's item in the order of this trial."""
        return self.task.benchmark.reshuffle(self.original, self.order)

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
