"""The contract between a benchmark and the rest of the library.

A benchmark turns a spec into items, an item into a prompt, replies into an answer and an answer
into scores. Most methods have defaults; `trivium new NAME` writes a benchmark with the others.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Protocol, TypeVar

import orjson

from trivium.core.errors import UserError, require
from trivium.core.files import dump_line
from trivium.core.probes import Probe
from trivium.core.records import CUT_OFF, DECLINED, FAILED, NO_ANSWER, Groups, Scores
from trivium.core.statistics import Estimate
from trivium.core.streams import Stream


@dataclass(frozen=True, slots=True)
class Origin:
    """What an item was generated from: the fields of its spec, the seed and the index."""

    spec: dict[str, Any]
    seed: int
    index: int

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Origin | None:
        """The origin in a row of an item file; None where the row has none."""
        spec, seed, index = row.get("spec"), row.get("seed"), row.get("index")
        if isinstance(spec, dict) and isinstance(seed, int) and isinstance(index, int):
            return cls(spec, seed, index)
        return None


ASK = "Think as long as you like, then end with a line of its own:"


def ask(value: str) -> str:
    """The last lines of a prompt that allows reasoning, with what the value looks like."""
    return f"{ASK}\n{answer_line(value)}"


def answer_line(value: str) -> str:
    """The line that states an answer."""
    return f"ANSWER: {value}"


def object_schema(fields: dict[str, Any]) -> dict[str, Any]:
    """The JSON schema of an object with these fields and no others."""
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def in_asked_form(reply: str, written: str) -> bool:
    """Whether a reply is the text that was asked for, or ends with it as its ANSWER line."""
    text = reply.strip()
    return text == written or ("ANSWER" in written and text.endswith(f"\n{written}"))


class Item(Protocol):
    """What the library knows about an item; everything else belongs to its benchmark."""

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
    """A number that is measured on every attempt, and its range."""

    name: str
    about: str
    kind: Literal["proportion", "mean"] = "proportion"
    best: float = 1.0
    worst: float = 0.0

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The range of a metric between 0 and 1; None for counts, which have no known range."""
        return (0.0, 1.0) if {self.best, self.worst} == {0.0, 1.0} else None


STRICT = Metric("strict", "the reply has exactly the asked form")


@dataclass(frozen=True)
class Floor:
    """The best strategy that does not read the item, and what it is expected to score."""

    name: str  # such as "control nothing", or the name of the solver that plays it
    value: float  # of the headline metric
    exact: bool = True  # computed, not estimated on items
    others: Mapping[str, float] = field(default_factory=dict)  # of other metrics


UPPER_BOUND = "upper bound"  # the name of a ceiling that is not known to be reached


@dataclass(frozen=True)
class Ceiling:
    """The best solver that sees the same text, and what it is expected to score."""

    name: str = "perfect"  # or the name of the solver that reaches it, or UPPER_BOUND
    value: float = 1.0  # of the headline metric

    @property
    def exact(self) -> bool:
        """Whether some solver reaches it; otherwise no solver is better."""
        return self.name != UPPER_BOUND


@dataclass(frozen=True)
class Turn:
    """What a solver knows when it replies."""

    messages: Sequence[str]  # the prompt, then replies and responses in turn
    stream: Stream
    view: Any
    item: Any = None  # only for omniscient solvers


Role = Literal["floor", "shortcut", "program", "ceiling"]


@dataclass(frozen=True)
class Solver:
    """A program that replies in the text that a model would write."""

    name: str
    about: str
    reply: Callable[[Turn], str]
    role: Role = "program"
    omniscient: bool = False  # is given the item as well as the prompt
    allowed_lift: float = 0.0  # up to which the audit accepts a shortcut


@dataclass(frozen=True)
class Diagnostic:
    """One variant of a diagnosis: what it changes in the spec and the view."""

    about: str
    spec: Mapping[str, Any] = field(default_factory=dict)
    view: Mapping[str, Any] = field(default_factory=dict)
    solver: str | None = None  # the only solver that runs in this variant


@dataclass(frozen=True)
class Published:
    """A published value of the headline metric, shown beside measured ones."""

    who: str
    groups: Groups
    value: float
    about: str  # under which conditions it was measured
    spec: Mapping[str, Any] = field(default_factory=dict)  # fields that a comparable spec has


@dataclass(frozen=True)
class ChartAxis:
    """The horizontal axis of a chart: a group, several groups, a swept field or a metric."""

    name: str
    words: str = ""  # on the axis, such as "steps"; by default the name
    one: str = ""  # as in "one more step"; by default the name
    groups: tuple[str, ...] = ()  # combined into one axis; by default the group of this name
    metric: bool = False  # a metric; only token counts are drawn over it

    @property
    def label(self) -> str:
        """The text on the axis."""
        return self.words or self.name

    def value(self, key: Any) -> Any:
        """The value of `key.group(name)`, several joined as text; None where one is missing."""
        values = [key.group(name) for name in self.groups or (self.name,)]
        if None in values or len(values) == 1:
            return None if None in values else values[0]
        return ", ".join(str(value).replace("_", " ") for value in values)


@dataclass(frozen=True)
class LossSplit:
    """Two values of a view field whose scores split what a solver loses into two parts."""

    field: str
    own: str  # the value under which the solver does both parts
    given: str  # the value under which the first part is done for it
    first: str  # such as "choosing tests"
    second: str  # such as "using them"


GRADES = ((0.9, "almost perfectly"), (0.6, "well"), (0.25, "in part"), (0.0, "barely"))


@dataclass(frozen=True)
class Lifts:
    """The lifts of one solver, for its headline sentence."""

    overall: Estimate
    by_axis: Mapping[Any, Estimate]  # at every value of the first chart axis, in order
    plays_like: str = ""  # the built-in solver that learns most similarly from its moves

    @property
    def grade(self) -> str:
        """The lower end of the overall lift in words."""
        if not self.overall.is_above(0):
            return "no better than the floor"
        return next(words for least, words in GRADES if (self.overall.low or 0.0) >= least)


class Step(NamedTuple):
    """What is known in an attempt after some of its replies."""

    replies: int  # 0: before the first
    bits: float  # still unknown to an ideal observer
    text: str  # what that observer knows


CONTROL = Diagnostic("as asked for")
KINDS = {  # of answers, in every benchmark
    "right": "the answer is right",
    "wrong": "another answer",
    NO_ANSWER: "a reply without an answer",
    CUT_OFF: "the reply ended at a token limit, before an answer",
    DECLINED: "the provider declined to answer",
    FAILED: "no reply: the call failed",
}


class Benchmark(ABC, Generic[SpecT, ViewT, ItemT, AnswerT]):
    """One reasoning test.

    The spec says what is in an item; the view says how it is presented and never changes it.
    The first metric is the headline: `floor` is its best value without reasoning about the item,
    and `ceiling` its best value for a solver that reads all of it.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    version: ClassVar[str] = "1.0"  # of the items: rises when any item of any preset changes
    spec_type: type[SpecT]
    view_type: type[ViewT]
    presets: Mapping[str, SpecT]
    default_preset: ClassVar[str] = ""  # by default the spec's defaults
    metrics: Sequence[Metric] = (Metric("correct", "the answer is right"), STRICT)
    solvers: Mapping[str, Solver]
    field_aliases: ClassVar[Mapping[str, str]] = MappingProxyType({})  # the papers' field names
    default_items: ClassVar[int] = 1000  # items of each preset in `trivium run`
    multi_turn: ClassVar[bool] = False
    diagnostics: Mapping[str, Diagnostic] = MappingProxyType({"control": CONTROL})
    published: Sequence[Published] = ()
    experiment_page: ClassVar[str] = ""  # module:object of a graphical page for people, if any
    answer_field: ClassVar[str] = "answer"  # the field of an item file with the right answer
    leaky_presets: ClassVar[frozenset[str]] = frozenset()  # presets that keep leaks on purpose
    why_leaky: ClassVar[str] = "these items keep the shortcuts of the original on purpose"
    # For reports and thresholds, which also work with the defaults.
    chart_axes: Sequence[ChartAxis] = ()  # most important first; by default two groups that vary
    # What each kind of answer means; one such as wrong-step:3 also says what "the number is".
    kinds: Mapping[str, str] = MappingProxyType(KINDS)
    loss_split: ClassVar[LossSplit | None] = None  # of games: exploration or inference?
    headline_rule: ClassVar[str] = ""  # how `headline_sentence` follows from lifts
    limits_vary: ClassVar[bool] = False  # items of one spec differ in floor and ceiling
    easier_with_more: ClassVar[frozenset[str]] = frozenset()  # fields; larger others are harder

    def __init_subclass__(cls) -> None:
        """Add the metric and the kinds that all benchmarks share to those of this one."""
        super().__init_subclass__()
        declared = cls.__dict__.get("metrics")
        if declared is not None and STRICT not in declared:
            cls.metrics = (*declared, STRICT)
        if "kinds" in cls.__dict__:
            cls.kinds = {**KINDS, **cls.__dict__["kinds"]}

    def __repr__(self) -> str:
        return f"<benchmark {self.name}: {self.title}; presets {', '.join(self.presets)}>"

    def variant(self, parts: Sequence[str]) -> tuple[SpecT, ViewT]:
        """The spec and view of a full name such as NAME.part.part."""
        require(not parts, f"{self.name} has no variants, got {'.'.join(parts)!r}")
        return self.default_spec, self.view_type()

    @property
    def default_spec(self) -> SpecT:
        """The spec of the default preset."""
        return self.presets[self.default_preset] if self.default_preset else self.spec_type()

    @abstractmethod
    def generate(self, spec: SpecT, seed: int, start: int = 0, count: int = 1) -> Iterator[ItemT]:
        """The items start .. start + count - 1, each a pure function of spec, seed and index."""

    @abstractmethod
    def to_row(self, item: ItemT) -> dict[str, Any]:
        """The item as a row of an item file."""

    def content(self, item: ItemT) -> Any:
        """What was drawn, as JSON: the row without the spec, or what is faster to write."""
        row = self.to_row(item)
        row.pop("spec", None)
        return row

    @abstractmethod
    def from_row(self, row: Mapping[str, Any], number: int) -> ItemT:
        """The item in row `number` of a file; a wrong stored answer is refused."""

    @abstractmethod
    def render(self, item: ItemT, view: ViewT) -> str:
        """The prompt."""

    def respond(self, item: ItemT, replies: Sequence[str], view: ViewT) -> str | None:
        """The environment's response to these replies; None when the attempt is over."""
        return None

    @abstractmethod
    def parse(self, item: ItemT, replies: Sequence[str], view: ViewT) -> AnswerT | None:
        """The answer in the replies, or None."""

    @abstractmethod
    def write(self, item: ItemT, answer: AnswerT, view: ViewT) -> str:
        """A reply that gives this answer; `parse` reads it back."""

    def strict(self, item: ItemT, replies: Sequence[str], view: ViewT) -> bool | None:
        """Whether the last reply is in exactly the asked form; None if no form was asked for."""
        answer = self.parse(item, replies, view)
        return answer is not None and in_asked_form(replies[-1], self.write(item, answer, view))

    def schema(self, item: ItemT, view: ViewT) -> dict[str, Any] | None:
        """The JSON schema of an answer, for models with structured output."""
        return None

    @abstractmethod
    def gold(self, item: ItemT) -> AnswerT:
        """The right answer."""

    def score(self, item: ItemT, answer: AnswerT | None) -> Scores:
        """Every metric, None where it is undefined; by default exact match."""
        return {self.metrics[0].name: float(answer == self.gold(item))}

    def kind(self, item: ItemT, answer: AnswerT | None) -> str:
        """The kind of an answer: "right", "no-answer" or a kind of wrong answer."""
        if answer is None:
            return NO_ANSWER
        headline = self.metrics[0]
        return "right" if self.score(item, answer)[headline.name] == headline.best else "wrong"

    @abstractmethod
    def floor(self, spec: SpecT, view: ViewT) -> Floor:
        """The best strategy that knows the spec and the view and does not read the item."""

    def item_floor(self, item: ItemT, view: ViewT) -> Floor:
        """The floor of one item: an item without a spec, or any item if floors differ by item.

        By default an item without a spec is refused.
        """
        raise UserError(f"{item.id} does not say which spec it was generated from")

    def file_floor(self, items: Sequence[ItemT], view: ViewT) -> Floor | None:
        """The best blind strategy on exactly these items, which have no spec.

        None, the default, leaves every item its own floor.
        """
        return None

    def ceiling(self, spec: SpecT, view: ViewT) -> Ceiling:
        """The best solver that sees the prompt and nothing else, which by default is perfect."""
        return Ceiling()

    def item_ceiling(self, item: ItemT, view: ViewT) -> Ceiling:
        """The ceiling of one item: an item without a spec, or any if ceilings differ by item."""
        return Ceiling()

    def groups(self, item: ItemT) -> Groups:
        """The properties of an item by which results are grouped."""
        return {}

    def reshuffle(self, item: ItemT, trial: int) -> ItemT:
        """The same item presented in another order; trial 0 is the item itself."""
        return item

    def names(self, item: ItemT) -> Sequence[Sequence[str]]:
        """Groups of arbitrary names (tokens, variables, objects) that may be exchanged."""
        return ()

    def rename(self, item: ItemT, mapping: Mapping[str, str]) -> ItemT:
        """The same item with other names; by default by rewriting its row."""
        text = rename_text(dump_line(self.to_row(item)).decode(), mapping)
        return self.from_row(orjson.loads(text), 0)

    def probes(self, item: ItemT, view: ViewT) -> Sequence[Probe]:
        """The questions that the audit tries to answer from the surface of the prompt."""
        return ()

    def audit_views(self) -> Sequence[ViewT]:
        """The views in which every preset is audited; by default the default view."""
        return (self.view_type(),)

    def surface(self, item: ItemT, view: ViewT) -> str:
        """The text that the audit sees: the prompt, with evidence masked where needed.

        The audit reads single lines (their length, the words beside a name), so evidence that
        is printed beside a name, such as a light beside an object, must be masked here.
        """
        return self.render(item, view)

    def canonical(self, item: ItemT) -> Hashable | None:
        """A form that is equal for items that are equal up to names and the order of lines.

        None, the default, compares the lines of the prompt in the default view, with each name
        replaced by what its lines say.
        """
        return None

    def parts(self, item: ItemT) -> Mapping[str, Hashable]:
        """The forms, up to names and order, of the parts of an item that bear its answer.

        Training splits hold out the forms of every part, and `audit --overlap` counts them. By
        default the whole item is one part.
        """
        return {}

    def item_space(self, spec: SpecT) -> int | None:
        """The number of different items, if it is known."""
        return None

    def gallery_examples(self) -> Iterator[tuple[str, SpecT, ViewT]]:
        """A heading, a spec and a view for each entry of the gallery."""
        for name, spec in self.presets.items():
            yield name, spec, self.view_type()

    def headline_sentence(self, lifts: Lifts) -> str:
        """What a solver with these lifts can do, such as "composes 6 steps"."""
        return f"{self.name}: {lifts.grade}"

    def highlights(self, item: ItemT, view: ViewT) -> Sequence[str]:
        """The parts of the prompt that lead to the answer; by default a textual answer itself."""
        gold = self.gold(item)
        return [gold] if isinstance(gold, str) else []

    def explain(self, item: ItemT, replies: Sequence[str], view: ViewT) -> Sequence[Step]:
        """What an ideal observer knows at the start of a game and after each step."""
        return ()

    def information(self, item: ItemT, replies: Sequence[str]) -> Sequence[float] | None:
        """The information that each move gained, as a share of the most that a player can expect.

        A reward for adapters; None, the default, where moves gain no information.
        """
        return None

    def output_tokens(self, view: ViewT) -> int:
        """The approximate number of tokens of a reply, for cost estimates."""
        return 64

    def dataset_size(self, spec: SpecT) -> int | None:
        """The number of items in the dataset of this spec, if it has a fixed one."""
        return None

    def max_turns(self, item: ItemT) -> int:
        """The maximum number of replies in an attempt."""
        return 1

    def tools(self, spec: SpecT) -> Sequence[Callable[..., str]]:
        """A game's moves as tools: functions from arguments to the text of a move.

        A model sees their names, annotations and docstrings.
        """
        return ()


AnyBenchmark = Benchmark[Any, Any, Any, Any]


def rename_text(text: str, mapping: Mapping[str, str]) -> str:
    """The text with whole names replaced simultaneously."""
    if not mapping:
        return text
    names = "|".join(re.escape(name) for name in sorted(mapping, key=len, reverse=True))
    return re.sub(rf"(?<!\w)(?:{names})(?!\w)", lambda found: mapping[found[0]], text)


def by_name(solvers: Iterable[Solver]) -> dict[str, Solver]:
    """Solvers by name, in the order given."""
    return {solver.name: solver for solver in solvers}
