"""Overlap: how often items repeat, exactly and up to names and order."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from typing import Any

from trivium.core.benchmark import AnyBenchmark
from trivium.core.streams import stream_key

_WORD = re.compile(r"\w+")
_ROUNDS = 4  # of refinement: how many lines away a difference distinguishes names
_UNSEEN = 3.0  # expected pairs of equal items of which one sample in 20 shows none (Poisson)
WAYS = {
    "exact": "the same prompt, word for word",
    "renamed": "the same prompt up to names",
    "renamed and reordered": "the same item up to names and the order of what is said",
}


def line_structure(text: str, names: Sequence[Sequence[str]]) -> Hashable:
    """A text up to a renaming within the groups of names and the order of its lines.

    Names are distinguished by colour refinement: a name's colour is a hash of its lines with the
    colours of the other names in them. Texts that are equal up to renaming and reordering have the
    same form; other texts have different ones, except where refinement fails
    (two rings of three and one of six, for example).
    """
    colours = {name: number for number, group in enumerate(names) for name in group}
    lines = masked_lines(text, colours)
    for _ in range(_ROUNDS):
        uses = defaultdict(list)
        for template, found in lines:
            shown = stable_hash(template, *[colours[name] for name in found])
            for place, name in enumerate(found):
                uses[name].append(hash((shown, place)))
        colours = {name: hash((colour, *sorted(uses[name]))) for name, colour in colours.items()}
    return hash(
        tuple(
            sorted(stable_hash(line, *[colours[name] for name in found]) for line, found in lines)
        )
    )


def stable_hash(*parts: Hashable) -> int:
    """A hash that is the same in every process, which that of text is not."""
    return int.from_bytes(blake2b(repr(parts).encode(), digest_size=8).digest(), "big") >> 4


def in_order_of_appearance(text: str, names: Sequence[Sequence[str]]) -> Hashable:
    """A text up to a renaming within the groups of names."""
    groups = {name: number for number, group in enumerate(names) for name in group}
    lines = masked_lines(text, groups)
    seen: dict[str, int] = {}
    order = [seen.setdefault(name, len(seen)) for _, found in lines for name in found]
    return hash((*[line for line, _ in lines], *order, *map(groups.__getitem__, seen)))


def masked_lines(text: str, names: Collection[str]) -> list[tuple[str, list[str]]]:
    """Each line with its names masked, and these names in order."""
    word = _WORD
    if any(not _WORD.fullmatch(name) for name in names):
        longest_first = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
        word = re.compile(rf"(?<!\w)(?:{longest_first})(?!\w)")
    return [
        (
            word.sub(lambda found: "#" if found[0] in names else found[0], line),
            [found for found in word.findall(line) if found in names],
        )
        for line in text.split("\n")
    ]


@dataclass(frozen=True)
class Repeats:
    """How often items repeat by one way of comparing them."""

    way: str
    about: str
    distinct: int  # in the first seed
    within: int  # items of the first seed that repeat an earlier one
    between: int  # items of the second seed that are also in the first
    space: float  # the estimated number of different items, if all are equally probable
    at_least: bool  # whether no item repeats, so that `space` is a lower limit


@dataclass(frozen=True, repr=False)
class Overlap:
    """The overlap certificate of a spec."""

    items: int  # of each of the two seeds
    seeds: tuple[int, int]
    repeats: tuple[Repeats, ...]
    space: int | None  # the benchmark's own number of different items, if it knows it

    def __str__(self) -> str:
        lines = [f"{self.items:,} items of each of two seeds"]
        for one in self.repeats:
            shares = [
                f"{count:,} ({count / self.items:.1%})" for count in (one.within, one.between)
            ]
            space = f"{'at least' if one.at_least else 'about'} {one.space:,.0f} different items"
            lines.append(f"{one.way}: {one.about}")
            lines.append(f"  {shares[0]} repeat in a seed, {shares[1]} are in both seeds; {space}")
        if self.space is not None:
            known = self.space < 1e15
            size = f"{self.space:.3g}" if known else f"about 10^{len(str(self.space)) - 1}"
            lines.append(f"this spec has {size} different items")
        return "\n".join(lines)

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """The content of the JSON output."""
        return asdict(self)


def overlap(benchmark: AnyBenchmark, spec: Any, seed: int, items: int) -> Overlap:
    """How many items of a seed repeat each other, or those of another seed."""
    seeds = seed, stream_key("another seed", seed) % 2**32
    first, second = (benchmark.generate(spec, one, 0, items) for one in seeds)
    return Overlap(items, seeds, repeats(benchmark, first, second), benchmark.item_space(spec))


def repeats(
    benchmark: AnyBenchmark, first: Iterable[Any], second: Iterable[Any]
) -> tuple[Repeats, ...]:
    """The repeats of two samples of items: of whole items, and of each part of them."""
    counted: tuple[dict[str, list[Hashable]], ...] = (defaultdict(list), defaultdict(list))
    for forms, items in zip(counted, (first, second), strict=True):
        for item in items:
            for way, form in _forms(benchmark, item):
                forms[way].append(form)
    one, two = counted
    return tuple(_repeats(way, one[way], two[way]) for way in one)


def _forms(benchmark: AnyBenchmark, item: Any) -> Iterator[tuple[str, Hashable]]:
    """The form of an item for each of WAYS, and of each of its parts."""
    text, names = benchmark.render(item, benchmark.view_type()), benchmark.names(item)
    forms = text, in_order_of_appearance(text, names), _structure(benchmark, item)
    yield from zip(WAYS, forms, strict=True)
    yield from benchmark.parts(item).items()


def _structure(benchmark: AnyBenchmark, item: Any) -> Hashable:
    """The item up to names and order, by the benchmark's own definition if it has one."""
    canonical = benchmark.canonical(item)
    if canonical is not None:
        return canonical
    return line_structure(benchmark.render(item, benchmark.view_type()), benchmark.names(item))


def held_out(benchmark: AnyBenchmark, item: Any) -> bool | None:
    """Whether an item belongs to the test split; None if its parts belong to different ones.

    A fifth of all structures is held out, by their hash. Structures are those of the parts that
    bear the answer, or of whole items.
    """
    parts = benchmark.parts(item) or {"item": _structure(benchmark, item)}
    sides = {stable_hash("split", name, form) % 5 == 0 for name, form in parts.items()}
    return sides.pop() if len(sides) == 1 else None


def _repeats(way: str, first: Sequence[Hashable], second: Sequence[Hashable]) -> Repeats:
    counts = Counter(first)
    n = len(first)
    pairs = sum(count * (count - 1) for count in counts.values())
    all_pairs = n * (n - 1)
    space = all_pairs / pairs if pairs else all_pairs / 2 / _UNSEEN
    between = sum(form in counts for form in second)
    about = WAYS.get(way, f"the same {way}")
    return Repeats(way, about, len(counts), n - len(counts), between, space, not pairs)
