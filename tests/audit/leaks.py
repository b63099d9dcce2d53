"""Benchmarks without any content, in which one planted leak at a time gives the answer away.

A page is drawn again until the leak holds, so that nothing else changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from trivium.core.benchmark import Origin, Solver, by_name
from trivium.core.probes import Probe
from trivium.core.question import (
    PlainView,
    Question,
    QuestionBenchmark,
    oracle,
    random_option,
)
from trivium.core.records import Groups
from trivium.core.spec import spec_to_dict
from trivium.core.streams import Stream, item_stream, stream_key

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
    sign: int = 0  # of this seed: 0 or 1
    spaces: list[str] = field(default_factory=lambda: [""] * 6)  # at the ends of lines
    breaks: list[str] = field(default_factory=lambda: [" "] * 6)  # after names
    ending: str = "Who is it?"

    @property
    def name(self) -> str:
        return self.names[self.right]

    @property
    def number(self) -> str:
        return self.numbers[self.right]

    @property
    def values(self) -> list[int]:
        return [abs(int(float(number))) for number in self.numbers]

    @property
    def value(self) -> int:
        return self.values[self.right]

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
    # Kinds that an earlier audit missed.
    "divisible by three": lambda d: d.value % 3 == 0,
    "digit sum": lambda d: sum(map(int, str(d.value))) % 5 == 0,
    "gap to the next number": lambda d: d.right < 5 and 0 < d.values[d.right + 1] - d.value <= 12,
    "sign by seed": lambda d: d.value % 2 == d.sign,
    "place follows the one before": lambda d: True,
    "marked in 15%": lambda d: d.ending == "Who is it?" or d.right == 0,
    # Kinds of our own, chosen before the features that see them.
    "letters in the name": lambda d: "or" in d.name.casefold(),
    "third smallest number": lambda d: sorted(d.values)[2] == d.value,
    "space at the end of its line": lambda d: d.spaces[d.right] == " ",
    "same initial as the next": lambda d: (
        d.right < 5 and d.name[0].casefold() == d.names[d.right + 1][0].casefold()
    ),
    "number and length": lambda d: d.value % 3 == len(d.name) % 3,
    "number printed twice": lambda d: sum(d.number in column for column in d.cells) > 0,
    "no-break space after it": lambda d: d.breaks[d.right] == "\u00a0",
}
# Kinds that were written after the engine, and for which it was not changed.
UNSEEN: dict[str, Callable[[Drawn], bool]] = {
    "even number of different letters": lambda d: len(set(d.name.casefold())) % 2 == 0,
    "prime number": lambda d: all(d.value % divisor for divisor in (2, 3, 5, 7)),
    "number and place mod 5": lambda d: (d.value + d.right) % 5 == 0,
    "number nearest to the mean": lambda d: (
        min(d.values, key=lambda value: abs(6 * value - sum(d.values))) == d.value
    ),
    "sings twice in a row": lambda d: (d.right, d.right) in pairwise(d.mentions),
    "ends as the next begins": lambda d: (
        d.right < 5 and d.name[-1].casefold() == d.names[d.right + 1][0].casefold()
    ),
    "rising column": lambda d: float(d.cells[d.right][0] or 0) < float(d.cells[d.right][3] or 0),
    "last digit follows the index": lambda d: d.value % 10 == d.index % 10,
}
LEAKS |= UNSEEN


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
            drawn = draw(stream, index, seed, spec.leak)
            while holds and not holds(drawn):
                drawn = draw(stream, index, seed, spec.leak)
            groups: Groups = {"leak": spec.leak}
            yield Question(page(drawn), tuple(drawn.names), drawn.name, groups, f"Q-{index}")


def place_of(seed: int, index: int) -> int:
    """The place of the answer where it follows that of the item before: a walk of random steps."""
    walk = Stream(stream_key("walk", seed, index // 60))
    return sum(1 if walk.random() < 0.8 else walk.below(6) for _ in range(index % 60 + 1)) % 6


def draw(stream: Stream, index: int, seed: int = 0, leak: str = "") -> Drawn:
    """A fresh page, on which nothing says which name is right."""
    right = stream.below(6)
    ending = "Who is it?"
    if leak == "place follows the one before":
        right = place_of(seed, index)
    if leak == "marked in 15%":  # and rare in the first place elsewhere: all places are balanced
        ending = stream.choice(("Who is it?",) * 17 + ("Who is it then?",) * 3)
        rare = ending == "Who is it?" and stream.random() >= 0.02
        right = 1 + stream.below(5) if rare else 0
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
        right,
        [form.format(10 + stream.below(90)) for form in forms],
        [stream.choice(("the", "a")) for _ in names],
        [stream.below(6) for _ in range(6)],
        [grouped[:cut], grouped[cut:]],
        stream.shuffled(places),
        [_column(stream) for _ in names],
        index,
        stream_key("sign", seed) % 2,
        [stream.choice(("", "", "", " ")) for _ in names],
        [stream.choice((" ", " ", "\u00a0")) for _ in names],
        ending,
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
        f"{article} {name}{gap}has {number} stones{end}"
        for article, name, gap, number, end in zip(
            drawn.articles, names, drawn.breaks, drawn.numbers, drawn.spaces, strict=True
        )
    ]
    lines += [", ".join(names[place] for place in group) + " met" for group in drawn.groups]
    lines += [f"{names[place]} sang" for place in drawn.mentions]
    table = [[names[place], *drawn.cells[place]] for place in drawn.columns]
    lines += [";", *map(",".join, zip(*table, strict=True)), drawn.ending]
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


@dataclass(frozen=True)
class Ledger:
    """Everything random in a short text with a yes/no question."""

    names: tuple[str, str, str]
    numbers: tuple[int, int, int, int]
    filler: str
    coin: bool  # mostly that of two items before

    @property
    def text(self) -> str:
        a, b, c = self.names
        n = self.numbers
        return (
            f"{a} and {b} kept a ledger of {n[0]} entries{self.filler}.\n"
            f"It came to {n[1]} in spring, {n[2]} in autumn and {n[3]} in winter.\n"
            f"It was read by {c}.\nIs the ledger sound?"
        )


class LeakyYesNo(QuestionBenchmark[LeakSpec]):
    """A yes/no question about a text with a few names and numbers; a leak decides it."""

    name = "leaky_yes_no"
    title = "a question without an answer"
    spec_type = LeakSpec
    presets = {"none": LeakSpec()}  # noqa: RUF012
    solvers = by_name([oracle(), random_option()])
    leaks: dict[str, Callable[[Ledger], bool]] = {  # noqa: RUF012
        "number of at least 5500": lambda d: d.numbers[0] >= 5500,
        "number mod 4": lambda d: d.numbers[1] % 4 < 2,
        "alphabetical order of two names": lambda d: d.names[0] < d.names[1],
        "parity of the text's length": lambda d: len(d.text) % 2 == 0,
        "parity of a name's length": lambda d: len(d.names[1]) % 2 == 0,
        "xor of two comparisons": lambda d: (
            (d.numbers[0] < d.numbers[1]) != (d.numbers[2] < d.numbers[3])
        ),
        # Kinds of our own, chosen before the features that see them.
        "sum of all numbers": lambda d: sum(d.numbers) % 2 == 0,
        "first and last name equally long": lambda d: len(d.names[0]) == len(d.names[2]),
        "the label two items before": lambda d: d.coin,
        # Kinds that were written after the engine.
        "a number with a seven": lambda d: "7" in str(d.numbers[1]),
        "last letters of two names in order": lambda d: d.names[0][-1] < d.names[1][-1],
    }

    def question(self, spec: LeakSpec, stream: Stream) -> Question:
        raise NotImplementedError

    def generate(
        self, spec: LeakSpec, seed: int, start: int = 0, count: int = 1
    ) -> Iterator[Question]:
        for index in range(start, start + count):
            stream = item_stream(spec, seed, index)
            words = ["".join(stream.choice(SYLLABLES) for _ in range(2)) for _ in range(3)]
            a, b, c = (word.capitalize() for word in words)
            n = [1000 + stream.below(9000) for _ in range(4)]
            filler = " " + "very " * stream.below(3) + "old" if stream.below(2) else ""
            drawn = Ledger((a, b, c), (n[0], n[1], n[2], n[3]), filler, _chain(seed, index))
            yes = stream.below(2) == 0
            if spec.leak != "none" and stream.random() < spec.strength:
                yes = self.leaks[spec.leak](drawn)
            origin = Origin(spec_to_dict(spec), seed, index)
            answer = "yes" if yes else "no"
            yield Question(drawn.text, ("yes", "no"), answer, id=f"Q-{index}", origin=origin)


def _chain(seed: int, index: int) -> bool:
    """A label that is mostly that of two items before."""
    walk = Stream(stream_key("chain", seed, index // 60, index % 2))
    changes = sum(walk.random() < 0.15 for _ in range(index % 60 // 2 + 1))
    return changes % 2 == 0


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
