"""Benchmarks without any content, in which one planted leak at a time gives the answer away.

A page is drawn again until the leak holds, so that nothing else changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from trivium.core.benchmark import Solver, by_name
from trivium.core.probes import Probe
from trivium.core.question import (
    PlainView,
    Question,
    QuestionBenchmark,
    oracle,
    random_option,
)
from trivium.core.records import Groups
from trivium.core.streams import Stream, item_stream

SYLLABLES = ("ba", "ko", "mi", "tu", "re", "san", "lor", "pim", "ek", "ud", "fi", "gra")


@dataclass(frozen=True)
class LeakSpec:
    """Which leak is planted, and in which share of the items."""

    leak: str = "none"
    strength: float = 1.0


@dataclass(frozen=True)
class Drawn:
    """Everything random in a page; `right` is the place of the answer."""

    names: list[str]
    right: int
    numbers: list[str]
    articles: list[str]
    mentions: list[int]  # the places of names, in the order in which lines mention them again
    groups: list[list[int]]
    columns: list[int]  # the places of names, in the order of the table's columns
    cells: list[list[str]]
    index: int

    @property
    def name(self) -> str:
        return self.names[self.right]

    @property
    def number(self) -> str:
        return self.numbers[self.right]

    @property
    def odd(self) -> bool:
        return int(float(self.number)) % 2 == 1

    def group_of(self, place: int) -> int:
        return next(len(group) for group in self.groups if place in group)


LEAKS: dict[str, Callable[[Drawn], bool]] = {
    "first place": lambda d: d.right == 0,
    "middle places": lambda d: d.right in (2, 3),
    "never the first place": lambda d: d.right != 0,
    "odd number": lambda d: d.odd,
    "leading zero": lambda d: d.number.startswith("0"),
    "decimals": lambda d: "." in d.number,
    "negative number": lambda d: d.number.startswith("-"),
    "word before it": lambda d: d.articles[d.right] == "the",
    "longest name": lambda d: len(d.name) == max(map(len, d.names)),
    "spelling": lambda d: d.name[-1] in "aeiou",
    "capitals": lambda d: d.name.isupper(),
    "lexical rank": lambda d: sorted(d.names, key=str.casefold).index(d.name) == 1,
    "mention count": lambda d: d.mentions.count(d.right) == 0,
    "first mention": lambda d: d.mentions[0] == d.right,
    "last mention": lambda d: d.mentions[-1] == d.right,
    "largest group": lambda d: d.group_of(d.right) == max(map(len, d.groups)),
    "column order": lambda d: d.columns[0] == d.right,
    "column with decimals": lambda d: any("." in cell for cell in d.cells[d.right]),
    "missing cell": lambda d: "" in d.cells[d.right],
    "index": lambda d: d.index % 3 == d.right // 2,
    "xor of two features": lambda d: d.odd == (d.articles[d.right] == "the"),
    "xor of place and index": lambda d: (d.right + d.index) % 2 == 0,
}


class Leaky(QuestionBenchmark[LeakSpec]):
    """One of six names is the answer, and nothing says which."""

    name = "leaky"
    title = "a question without an answer"
    spec_type = LeakSpec
    presets = {"none": LeakSpec()}  # noqa: RUF012
    solvers = by_name([oracle(), random_option()])

    def question(self, spec: LeakSpec, stream: Stream) -> Question:
        raise NotImplementedError

    def generate(
        self, spec: LeakSpec, seed: int, start: int = 0, count: int = 1
    ) -> Iterator[Question]:
        for index in range(start, start + count):
            stream = item_stream(spec, seed, index)
            planted = spec.leak != "none" and stream.random() < spec.strength
            holds = LEAKS[spec.leak] if planted else None
            drawn = draw(stream, index)
            while holds and not holds(drawn):
                drawn = draw(stream, index)
            groups: Groups = {"leak": spec.leak}
            yield Question(page(drawn), tuple(drawn.names), drawn.name, groups, f"Q-{index}")


def draw(stream: Stream, index: int) -> Drawn:
    """A fresh page, on which nothing says which name is right."""
    names: list[str] = []
    while len(names) < 6:
        made = "".join(stream.choice(SYLLABLES) for _ in range(2 + stream.below(2)))
        made = made.upper() if stream.below(4) == 0 else made.capitalize()
        if made.casefold() not in map(str.casefold, names):
            names.append(made)
    forms = [stream.choice(("{}", "{}", "0{}", "-{}", "{}.0")) for _ in names]
    places = list(range(6))
    cut = 1 + stream.below(5)
    grouped = stream.shuffled(places)
    return Drawn(
        names,
        stream.below(6),
        [form.format(10 + stream.below(90)) for form in forms],
        [stream.choice(("the", "a")) for _ in names],
        [stream.below(6) for _ in range(6)],
        [grouped[:cut], grouped[cut:]],
        stream.shuffled(places),
        [_column(stream) for _ in names],
        index,
    )


def _column(stream: Stream) -> list[str]:
    form = stream.choice(("{}", "{}.5", "{}"))
    cells = [form.format(stream.below(100)) for _ in range(4)]
    if stream.below(3) == 0:
        cells[stream.below(4)] = ""
    return cells


def page(drawn: Drawn) -> str:
    """The page in words."""
    names = drawn.names
    lines = [
        f"{article} {name} has {number} stones"
        for article, name, number in zip(drawn.articles, names, drawn.numbers, strict=True)
    ]
    lines += [", ".join(names[place] for place in group) + " met" for group in drawn.groups]
    lines += [f"{names[place]} sang" for place in drawn.mentions]
    table = [[names[place], *drawn.cells[place]] for place in drawn.columns]
    lines += [";", *map(",".join, zip(*table, strict=True)), "Who is it?"]
    return "\n".join(lines)


class LeakyLabel(Leaky):
    """Is the item one of the special ones? Nothing says so, apart from a leak."""

    name = "leaky_label"
    leaks: dict[str, Callable[[Drawn], bool]] = {  # noqa: RUF012
        "wording": lambda d: d.articles.count("the") > 3,
        "size of the groups": lambda d: max(map(len, d.groups)) > 4,
        "parity of a marked number": lambda d: int(float(d.numbers[0])) % 2 == 0,
        "index mod 3": lambda d: d.index % 3 == 0,
        "order of two marked names": lambda d: d.columns.index(0) < d.columns.index(1),
    }

    def generate(
        self, spec: LeakSpec, seed: int, start: int = 0, count: int = 1
    ) -> Iterator[Question]:
        for index in range(start, start + count):
            stream = item_stream(spec, seed, index, "label")
            drawn = draw(stream, index)
            random = stream.below(2) == 0
            planted = spec.leak != "none" and stream.random() < spec.strength
            special = self.leaks[spec.leak](drawn) if planted else random
            text, answer = page(drawn), "yes" if special else "no"
            yield Question(text, ("yes", "no", *drawn.names[:2]), answer, id=f"Q-{index}")

    def probes(self, item: Question, view: PlainView) -> Sequence[Probe]:
        marked = {"first": item.options[2], "second": item.options[3]}
        return [Probe("special", ["yes"], [item.answer == "yes"], marked)]


class LeakySet(Leaky):
    """Some of six names are right; the leak makes those in the middle right more often."""

    name = "leaky_set"

    def probes(self, item: Question, view: PlainView) -> Sequence[Probe]:
        stream = Stream(len(item.prompt) * 7919 + sum(map(ord, item.prompt)))
        more = 0.0 if item.groups["leak"] == "none" else 0.3
        right = [stream.random() < 0.4 + more * (place in (2, 3)) for place in range(6)]
        return [Probe("members", item.options, right)]


class Constant(QuestionBenchmark[LeakSpec]):
    """A coin that falls on heads too often for the floor that is claimed."""

    name = "constant"
    title = "guess a coin"
    spec_type = LeakSpec
    presets = {"none": LeakSpec()}  # noqa: RUF012
    solvers = by_name(
        [
            oracle(),
            random_option(),
            Solver("heads", "always heads", lambda turn: "Answer: heads", "shortcut"),
        ]
    )

    def question(self, spec: LeakSpec, stream: Stream) -> Question:
        heads = stream.random() < spec.strength
        return Question(
            f"A coin was tossed at {stream.below(24)} hours.",
            ("heads", "tails"),
            "heads" if heads else "tails",
        )
