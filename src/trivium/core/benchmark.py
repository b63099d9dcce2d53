"""The contract that every benchmark keeps: what the rest of the laboratory may ask of one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar

from trivium.core.errors import require
from trivium.core.records import dump_line
from trivium.core.streams import Stream, stream_key

Scores = dict[str, float | None]
Groups = dict[str, int | float | str]


@dataclass(frozen=True, slots=True)
class Origin:
    """What re-creates an item: the fields of its spec, the seed and the index."""

    spec: dict[str, Any]
    seed: int
    index: int

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Origin | None:
        """The origin that a file's row names, if it names one."""
        spec, seed, index = row.get("spec"), row.get("seed"), row.get("index")
        if isinstance(spec, dict) and isinstance(seed, int) and isinstance(index, int):
            return cls(spec, seed, index)
        return None


class Item(Protocol):
    """All that the laboratory knows of an item."""

    @property
    def id(self) -> str: ...

    @property
    def origin(self) -> Origin | None: ...


SpecT = TypeVar("SpecT")
ViewT = TypeVar("ViewT")
ItemT = TypeVar("ItemT", bound=Item)
AnswerT = TypeVar("AnswerT")


@dataclass(frozen=True)
class Metric:
    """A named number of an attempt and how it is read."""

    name: str
    about: str
    kind: Literal["proportion", "mean"] = "proportion"
    best: float = 1.0
    worst: float = 0.0

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Where all values lie, for a share of one; what a count could reach bounds no mean."""
        return (0.0, 1.0) if {self.best, self.worst} == {0.0, 1.0} else None


@dataclass(frozen=True)
class Turn:
    """What a solver is handed when it is its turn to speak."""

    messages: Sequence[str]  # the world's text first, then in turns
    stream: Stream
    view: Any
    item: Any = None  # given to omniscient solvers alone


@dataclass(frozen=True)
class Solver:
    """A program that speaks the text that a model would speak."""

    name: str
    about: str
    say: Callable[[Turn], str]
    role: Literal["floor", "shortcut", "program", "ceiling"] = "program"
    omniscient: bool = False  # reads the item itself instead of its text


@dataclass(frozen=True)
class Cue:
    """One shortcut that was tried: how often it finds the answer, and what chance gives."""

    name: str
    about: str
    value: float
    low: float
    high: float
    chance: float
    n: int

    @property
    def caught(self) -> bool:
        """Whether the cue beats chance."""
        return self.low > self.chance


@dataclass(frozen=True)
class Audit:
    """All shortcuts tried on freshly made items."""

    cues: tuple[Cue, ...]
    items: int
    level: float
    notes: tuple[str, ...] = ()
    needed: int = 0  # items that show a cue of a few points over chance

    @property
    def passed(self) -> bool:
        """Whether no cue beats chance."""
        return not any(cue.caught for cue in self.cues)


@dataclass(frozen=True)
class Diagnostic:
    """One variant that `diagnose` runs beside others: what it changes of what was asked for."""

    about: str
    spec: Mapping[str, Any] = field(default_factory=dict)
    view: Mapping[str, Any] = field(default_factory=dict)
    solver: str | None = None  # the one solver that this variant is about


@dataclass(frozen=True)
class Published:
    """A figure of the headline metric that others published, drawn beside measured ones."""

    who: str
    groups: Groups
    value: float
    about: str  # under which conditions it was measured
    spec: Mapping[str, Any] = field(default_factory=dict)  # what a spec must have to compare


CONTROL = Diagnostic("as asked for")


class Benchmark(ABC, Generic[SpecT, ViewT, ItemT, AnswerT]):
    """One test of reasoning: spec, generate, render, parse, score.

    The spec says what is in an item; the view says how it is told, and never changes
    what is in it. The first metric is the headline, and `chance` is its floor.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()  # short names in configs of earlier versions
    field_aliases: ClassVar[Mapping[str, str]] = MappingProxyType({})  # older names of spec fields
    metrics_heading: ClassVar[str] = "Every metric between 0 and 1"
    spec_type: type[SpecT]
    view_type: type[ViewT]
    presets: Mapping[str, SpecT]
    metrics: Sequence[Metric]
    solvers: Mapping[str, Solver]
    default_items: ClassVar[int] = 1000  # items of each preset in the main job
    multi_turn: ClassVar[bool] = False
    diagnostics: Mapping[str, Diagnostic] = MappingProxyType({"control": CONTROL})
    published: Sequence[Published] = ()
    trace_label: ClassVar[str | None] = None  # what `trace` measures, where there is something
    crossed_groups: ClassVar[bool] = True  # results are split by all groups at once, or by each

    def variant(self, parts: Sequence[str]) -> tuple[SpecT, ViewT]:
        """The spec and view that the parts of a full name after the benchmark's stand for."""
        require(not parts, f"{self.name} has no variants, got {'.'.join(parts)!r}")
        return self.spec_type(), self.view_type()

    @abstractmethod
    def generate(self, spec: SpecT, seed: int, start: int = 0, count: int = 1) -> Iterator[ItemT]:
        """The items start .. start + count - 1, each the same whoever makes it."""

    def generate_lines(self, spec: SpecT, seed: int, start: int, count: int) -> Iterator[bytes]:
        """The same items as JSON Lines, in pieces of whole lines."""
        for item in self.generate(spec, seed, start, count):
            yield dump_line(self.to_row(item))

    @abstractmethod
    def to_row(self, item: ItemT) -> dict[str, Any]:
        """The item as it stands in a file."""

    @abstractmethod
    def from_row(self, row: Mapping[str, Any], number: int) -> ItemT:
        """The item in a file's row (rows count from 0); stored answers are recomputed."""

    @abstractmethod
    def render(self, item: ItemT, view: ViewT) -> str:
        """What a model sees first."""

    def respond(self, item: ItemT, replies: Sequence[str], view: ViewT) -> str | None:
        """What the world says after these replies; None when the attempt is over."""
        return None

    @abstractmethod
    def parse(self, item: ItemT, replies: Sequence[str], view: ViewT) -> AnswerT | None:
        """The answer in what was said, or None where there is none."""

    @abstractmethod
    def write(self, item: ItemT, answer: AnswerT, view: ViewT) -> str:
        """A reply that says this answer; `parse` reads it back."""

    @abstractmethod
    def gold(self, item: ItemT) -> AnswerT:
        """The right answer."""

    @abstractmethod
    def score(self, item: ItemT, answer: AnswerT | None) -> Scores:
        """Every metric of an attempt; None where it is undefined."""

    @abstractmethod
    def kind(self, item: ItemT, answer: AnswerT | None) -> str:
        """What kind of answer this is: "right", "violation" or a kind of error."""

    @abstractmethod
    def floor(self, item: ItemT) -> float:
        """The headline metric of blind guessing on this item."""

    @abstractmethod
    def groups(self, item: ItemT) -> Groups:
        """What results are grouped by."""

    def reshuffle(self, item: ItemT, trial: int) -> ItemT:
        """The same item in another order of telling; trial 0 is the item itself."""
        return item

    @abstractmethod
    def audit(self, spec: SpecT, seed: int, items: int | None = None) -> Audit:
        """Every shortcut tried on fresh items; `items` None takes as many as are needed."""

    def gallery_examples(self) -> Iterator[tuple[str, SpecT, ViewT]]:
        """What the gallery shows: a heading, a spec and a view for each entry."""
        for name, spec in self.presets.items():
            yield name, spec, self.view_type()

    def trace(self, item: ItemT, answer: AnswerT) -> Sequence[float]:
        """How far an attempt had come before its first step and after every one."""
        return ()

    def output_tokens(self, view: ViewT) -> int:
        """About how many tokens a reply takes, for estimates and limits."""
        return 64

    def dataset_size(self, spec: SpecT) -> int | None:
        """How many items the dataset of this spec has, where it is one of a fixed size."""
        return None

    def max_turns(self, item: ItemT) -> int:
        """How many replies an attempt can take."""
        return 1

    def tools(self) -> Sequence[Callable[..., str]]:
        """A game's moves as tools: functions from arguments to the text that makes the move.

        Their names, annotations and docstrings are what a model is told of them.
        """
        return ()

    def system(self, view: ViewT) -> str | None:
        """A system message that goes with the task, if it has one."""
        return None


AnyBenchmark = Benchmark[Any, Any, Any, Any]


@dataclass
class Attempt:
    """One attempt at an item, as records keep it: all that analysis ever sees."""

    benchmark: str
    spec: dict[str, Any] | None
    view: dict[str, Any]
    seed: int | None
    index: int | None
    id: str
    trial: int
    solver: str
    reply: str | list[str] | None
    answer: Any
    scores: Scores
    kind: str
    chance: float
    groups: Groups
    prompt_lines: int = 0
    prompt_chars: int = 0
    error: str | None = None
    usage: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0


def solver_stream(solver: str, item: Item, trial: int, turn: int) -> Stream:
    """The stream a solver draws from: its own for every item, trial and turn."""
    origin = item.origin
    where = None if origin is None else (origin.spec, origin.seed, origin.index)
    return Stream(stream_key("solver", solver, item.id, where, trial, turn))


def by_name(solvers: Iterable[Solver]) -> dict[str, Solver]:
    """Solvers under their names, in the order given."""
    return {solver.name: solver for solver in solvers}
