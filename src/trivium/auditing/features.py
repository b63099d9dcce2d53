"""Surface features: properties of a prompt that do not depend on what it means.

Places, orders, counts, distances, spellings, lengths and numbers of every candidate and of the
whole text. A feature looks at one name or one line at a time and never follows a fact, a
correlation or a light from one line to the next. To add one, add a line to a dictionary below;
ranks among the candidates and remainders of whole numbers are added to every feature by the rules.
After any change raise ENGINE in `results`, or stored audits are not repeated.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from itertools import accumulate, combinations, pairwise
from math import nan

import numpy as np
from numpy.typing import NDArray

from trivium.core.probes import Probe

Features = Mapping[str, float]
Group = tuple[str, Features]  # the suffix of the features' names, and the features

_NUMBER = re.compile(r"(?<![\w.])-?\d{1,40}(?:\.\d{1,40})?(?!\w)")
_DIGITS = re.compile(r"\d+")
_CELL = re.compile(rf"^(?:({_NUMBER.pattern})$|.*$)", re.MULTILINE)
_WITHIN = re.compile(r"\w\w")
_WORD = re.compile(r"[^\W\d_]\w*")
_SENTENCE_END = re.compile(r"[.:!?;]\s|\n")
_MODULI = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16)  # of the index: periods of balanced designs
_SOME_NUMBERS = 40  # whose notation is described
_TABLE_LINES = 4  # minimum length of a table with its header
_ORDINALS = ("first", "second", "third", "fourth", "last")  # of numbers and words in a text
_NOTATION = ("number", "parity", "digit sum", "decimals", "leading zeros", "negative")
_DISTANCES = (
    "characters from first mention to that of",
    "characters from last mention to that of",
    "lines from first mention to that of",
    "mentioned before",
)
_FIRST_MISSING = "row of its first missing cell"
_OF_NUMBERS = ("number", "digit sum"), ("number less that of",)
_OF_WORDS = (
    ("length", "first character", "last character", "number"),
    ("before in the alphabet", "length less that of"),
)


def common_words(texts: Sequence[str]) -> frozenset[str]:
    """The words of at least half of these texts, which belong to the template."""
    counts = Counter(word for text in texts for word in set(_WORD.findall(text)))
    return frozenset(word for word, count in counts.items() if 2 * count >= len(texts))


@lru_cache(maxsize=200_000)
def spelling(text: str) -> Features:
    """The features of a name, a word or a number by itself."""
    found = _DIGITS.findall(text)
    digits = found[0][:40] if found else ""
    value = float(text) if _NUMBER.fullmatch(text) else int(digits[:15]) if digits else nan
    return {
        "length": len(text),
        "words": text.count(" ") + 1,
        "first character": ord(text[0]) if text else 0,
        "last character": ord(text[-1]) if text else 0,
        "vowels": sum(map("aeiouAEIOU".count, text)),
        "capitals": sum(map(str.isupper, text)),
        "different characters": len(set(text)),
        "number": value,
        "parity": int(digits[-1]) % 2 if digits else nan,
        "first digit": int(digits[0]) if digits else nan,
        "digit sum": sum(map(int, digits)) if digits else nan,
        "digits": len(digits),
        "leading zeros": len(digits) - len(digits.lstrip("0")) if len(digits) > 1 else 0,
        "decimals": len(found[1]) if len(found) > 1 and "." in text else 0,
        "negative": text.startswith("-"),
    }


def compared(name: str, other: str) -> Features:
    """The spelling of a name compared with that of another."""
    first, second = spelling(name), spelling(other)
    return {
        "before in the alphabet": name.casefold() < other.casefold(),
        "length less that of": first["length"] - second["length"],
        "number less that of": first["number"] - second["number"],
        "same parity as": first["parity"] == second["parity"],
        "same first character as": name[:1].casefold() == other[:1].casefold(),
        "same last character as": name[-1:] == other[-1:],
    }


class PromptFeatures:
    """The features of a text and of the names in it."""

    def __init__(
        self,
        text: str,
        index: int,
        names: Iterable[str] = (),
        common: Collection[str] = frozenset(),  # words that are the same in most items
    ) -> None:
        self.text, self._padded = text, f" {text} "
        self.names = frozenset(names)
        self.lines = text.split("\n")
        self.sizes = [len(line) for line in self.lines]
        self.commas = [line.count(",") for line in self.lines]
        self.starts = [0, *accumulate(size + 1 for size in self.sizes[:-1])]
        self.columns = read_columns(self.lines)
        found = list(_NUMBER.finditer(text))
        self._numbers = [number[0] for number in found]
        self._number_at = [number.start() for number in found]
        self._number_counts = Counter(self._numbers)
        self._mentions: dict[str, list[int]] = {}
        self._described: dict[str, list[Group]] = {}
        self.item = self._of_item(index, common)

    def mentions(self, name: str) -> list[int]:
        """The positions of a name that is no part of a longer word."""
        found = self._mentions.get(name)
        if found is None:
            text, size, at = self._padded, len(name), -1
            found = self._mentions[name] = []
            while name and (at := text.find(name, at + 1)) > 0:
                if not (_WITHIN.match(text, at - 1) or _WITHIN.match(text, at + size - 1)):
                    found.append(at - 1)
        return found

    @cached_property
    def masked(self) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """The text with one sign for every name and number, and where each character went."""
        codes = np.frombuffer(self.text.encode("utf-32-le", "replace"), dtype=np.uint32).copy()
        digit = (codes >= ord("0")) & (codes <= ord("9"))
        codes[digit] = ord("0")
        kept = np.ones(len(codes), dtype=np.bool_)
        kept[1:] = ~(digit[1:] & digit[:-1])
        starts = [at for name in self.names for at in self.mentions(name)]
        ends = [at + len(name) for name in self.names for at in self.mentions(name)]
        counts = [np.bincount(at, minlength=len(codes) + 1) for at in (starts, ends) if at]
        if counts:
            kept &= np.cumsum(counts[0] - counts[1])[:-1] == 0
            codes[starts], kept[starts] = ord("#"), True
        return codes[kept], np.cumsum(kept) - 1

    def line_of(self, at: int) -> int:
        """The number of the line of this character."""
        return bisect_right(self.starts, at) - 1

    def describe(self, name: str) -> list[Group]:
        """The features of one name."""
        known = self._described.get(name)
        if known is None:
            found = self.mentions(name)
            first = self._beside(name, found[0] if found else None, ", first mention")
            last = self._beside(name, found[-1] if found else None, ", last mention")
            known = self._described[name] = [
                (" of its name", spelling(name)),
                ("", self.place(found) if found else _missing("place")),
                *first,
                *last,
                (" in its column", self.columns.get(name) or _missing("column")),
            ]
        return known

    def place(self, found: Sequence[int]) -> Features:
        """Where a name is mentioned."""
        lines = list(map(self.line_of, found))
        sizes = [self.sizes[line] for line in lines]
        commas = [self.commas[line] for line in lines]
        stops, named, before = self._sentences
        sentences = [bisect_left(stops, at) for at in found]
        places = [
            bisect_left(named, at) - before[number]
            for at, number in zip(found, sentences, strict=True)
        ]
        ahead = [
            before[number + 1] - before[number] - 1 - place
            for place, number in zip(places, sentences, strict=True)
        ]
        return {
            "mentions": len(found),
            "first mention": found[0],
            "last mention": found[-1],
            "mean mention": sum(found) / len(found),
            "line of its first mention": lines[0],
            "line of its last mention": lines[-1],
            "lines that mention it": len(set(lines)),
            "smallest gap between mentions": min(
                (later - at for at, later in pairwise(found)), default=nan
            ),
            "longest line that mentions it": max(sizes),
            "shortest line that mentions it": min(sizes),
            "most commas in a line that mentions it": max(commas),
            "fewest commas in a line that mentions it": min(commas),
            "mean place within its sentences": sum(places) / len(places),
            "sentences in which it is first": places.count(0),
            "sentences in which it is last": ahead.count(0),
        }

    @cached_property
    def _sentences(self) -> tuple[list[int], list[int], list[int]]:
        """Where sentences end, all mentions of names, and how many precede each sentence."""
        ends = [found.start() for found in _SENTENCE_END.finditer(self.text)]
        named = sorted(at for name in self.names for at in self.mentions(name))
        return ends, named, [0, *(bisect_left(named, end) for end in ends), len(named)]

    def _beside(self, name: str, at: int | None, which: str) -> tuple[Group, Group]:
        """The features of the line of one mention of a name, and of the number after it there."""
        line, number = _missing("line"), _missing("number")
        if at is not None:
            line = self.line(at)
            place = bisect_left(self._number_at, at + len(name))
            if self.line_of(at) in map(self.line_of, self._number_at[place : place + 1]):
                number = self.number(place)
        return (which, line), (f" of the number beside it{which}", number)

    def line(self, at: int) -> Features:
        """The line of one mention of a name."""
        line = self.line_of(at)
        whole, column = self.lines[line], at - self.starts[line]
        return {
            "position in its line": column,
            "share of its line before it": column / max(1, len(whole)),
            "words before it in its line": len(whole[:column].split()),
            "length of its line": len(whole),
            "commas in its line": self.commas[line],
            "character at the end of its line": ord(whole[-1]) if whole else 0,
        }

    def number(self, place: int) -> Features:
        """The features of one number of the text."""
        number, value = self._numbers[place], float(self._numbers[place])
        spelled = spelling(number)
        more = self._numbers[place + 1 : place + 2]
        less = self._numbers[max(0, place - 1) : place]
        return {
            **{key: spelled[key] for key in _NOTATION},
            "mentions": self._number_counts[number],
            "difference to the next": float(more[0]) - value if more else nan,
            "difference to the one before": float(less[0]) - value if less else nan,
        }

    def relation(self, name: str, other: str) -> Features:
        """A name compared with a marked one."""
        mine, theirs = self.mentions(name), self.mentions(other)
        distances = dict.fromkeys(_DISTANCES, nan)
        if mine and theirs:
            lines = self.line_of(mine[0]) - self.line_of(theirs[0])
            far = mine[0] - theirs[0], mine[-1] - theirs[-1], lines, mine[0] < theirs[0]
            distances = dict(zip(_DISTANCES, far, strict=True))
        lost = [self.columns.get(each, {}).get(_FIRST_MISSING) for each in (name, other)]
        same_row = {f"same {_FIRST_MISSING} as": lost[0] is not None and lost[0] == lost[1]}
        return {**distances, **same_row, **compared(name, other)}

    def _of_item(self, index: int, common: Collection[str]) -> list[Group]:
        """The features of the whole text, and of its numbers and its words of no name."""
        text, sizes, numbers = self.text, self.sizes, self._numbers
        # Whether two names are the same may be evidence.
        left_out = {word for name in self.names for word in _WORD.findall(name)}.union(common)
        words = [word for word in _WORD.findall(text) if word not in left_out]
        listed = [commas for commas in self.commas if commas]
        full = [size for size in sizes if size]
        values = list(map(float, numbers))
        some = [number.lstrip("-").partition(".") for number in numbers[:_SOME_NUMBERS]]
        whole = {
            "characters": len(text),
            "lines": len(sizes),
            "words": text.count(" ") + len(sizes),
            "longest line": max(full, default=0),
            "shortest line": min(full, default=0),
            "length of the first line": sizes[0],
            "length of the last line": sizes[-1],
            "lines with commas": len(listed),
            "most commas in a line": max(listed, default=0),
            "different words": len(words),
            "numbers": len(numbers),
            "largest number": max(values, default=nan),
            "smallest number": min(values, default=nan),
            "sum of all numbers": sum(values),
            "odd numbers": sum(int(before[-1]) % 2 for before, *_ in some),
            "most decimals": max((len(after) for *_, after in some), default=0),
            "negative numbers": sum(value < 0 for value in values),
            "numbers with leading zeros": sum(
                len(before) > 1 and before[0] == "0" for before, *_ in some
            ),
            "index": index,
            **{f"index mod {modulus}": index % modulus for modulus in _MODULI},
        }
        return [
            ("", whole),
            *_slots("number", numbers, *_OF_NUMBERS),
            *_slots("word", words, *_OF_WORDS),
        ]


def _slots(
    kind: str, texts: Sequence[str], alone: Sequence[str], beside: Sequence[str]
) -> Iterator[Group]:
    """Some features of the first texts of a kind and of the last, and of every two of them."""
    last = texts[-1] if texts else ""
    shown = list(zip(_ORDINALS, [*texts[:4], *[""] * (4 - len(texts)), last], strict=True))
    for ordinal, text in shown:
        spelled = spelling(text)
        yield f" of the {ordinal} {kind}", {key: spelled[key] for key in alone}
    for (a, one), (b, two) in combinations(shown, 2):
        found = compared(one, two)
        yield f" the {b} {kind}, of the {a}", {key: found[key] for key in beside}


def candidate_features(prompt: PromptFeatures, probe: Probe) -> Iterator[list[Group]]:
    """The features of every candidate."""
    size = len(probe.candidates)
    ranks = {name: at for at, name in enumerate(sorted(probe.candidates, key=str.casefold))}
    marked = [(f" {role}", other) for role, other in probe.marked.items()]
    extra = list(zip(*probe.candidate_features.values(), strict=True)) or [()] * size
    for place, name in enumerate(probe.candidates):
        position = {
            "place": place,
            "place from the end": size - 1 - place,
            "alphabetical rank": ranks[name],
        }
        # The same features for every number of candidates, since it may differ between items.
        after = probe.candidates[place + 1 - size]
        beside = compared(name, after) if size > 1 else _missing("compared")
        yield [
            ("", position),
            *prompt.describe(name),
            (" the next candidate", beside),
            *[(suffix, prompt.relation(name, other)) for suffix, other in marked],
            ("", dict(zip(probe.candidate_features, extra[place], strict=True))),
        ]


def item_features(prompt: PromptFeatures, probe: Probe) -> list[Group]:
    """The features of the item: of its text and of the marked names."""
    marked = probe.marked.items()
    return [
        ("", {"candidates": len(probe.candidates)}),
        *prompt.item,
        *[
            (f"{suffix}, of {role}", found)
            for role, name in marked
            for suffix, found in prompt.describe(name)
        ],
        *[
            (f" {other_role}, of {role}", prompt.relation(name, other))
            for (role, name), (other_role, other) in combinations(marked, 2)
        ],
        ("", probe.item_features),
    ]


def read_columns(lines: Sequence[str]) -> dict[str, Features]:
    """The features of the columns of the first table: lines with equally many separators."""
    for separator in (",", "|", "\t"):
        counts = [line.count(separator) for line in lines]
        for at, count in enumerate(counts):
            if count and counts[at : at + _TABLE_LINES] == [count] * _TABLE_LINES:
                end = next((to for to in range(at, len(counts)) if counts[to] != count), None)
                rows = [[cell.strip() for cell in line.split(separator)] for line in lines[at:end]]
                return dict(zip(rows[0], columns(rows[1:]), strict=True))
    return {}


def columns(rows: Sequence[Sequence[str]]) -> Iterator[Features]:
    """The features of each column of a table."""
    cells = _CELL.findall("\n".join(cell for row in rows for cell in row))
    values = np.array([float(cell or "nan") for cell in cells]).reshape(len(rows), -1)
    after = np.array([len(cell) - cell.find(".") - 1 if "." in cell else 0 for cell in cells])
    decimals = after.reshape(values.shape)
    there = ~np.isnan(values)
    count = there.sum(axis=0)
    n = np.where(count, count, np.nan)
    known = np.where(there, values, 0.0)
    mean = known.sum(axis=0) / n
    ordered = np.sort(values, axis=0)  # missing values come last
    lost = ~there
    every = np.arange(values.shape[1])
    found: dict[str, NDArray[np.float64]] = {
        "missing cells": lost.sum(axis=0),
        _FIRST_MISSING: np.where(lost.any(axis=0), lost.argmax(axis=0), -1),
        "most missing cells in a row with its own": (lost * lost.sum(axis=1)[:, None]).max(axis=0),
        "share of whole numbers": (there & (values == np.floor(known))).sum(axis=0) / n,
        "most decimals": decimals.max(axis=0),
        "mean decimals": decimals.sum(axis=0) / n,
        "smallest value": ordered[0],
        "largest value": ordered[np.maximum(count - 1, 0), every],
        "mean value": mean,
        "spread of values": np.sqrt((np.where(there, values - mean, 0.0) ** 2).sum(axis=0) / n),
        "share of odd numbers": (known % 2 == 1).sum(axis=0) / n,
        "share of negative numbers": (known < 0).sum(axis=0) / n,
        "share of different values": (count - (np.diff(ordered, axis=0) == 0).sum(axis=0)) / n,
        "first value": values[there.argmax(axis=0), every],
        "last value": values[len(values) - 1 - there[::-1].argmax(axis=0), every],
    }
    by_column = np.array([*found.values()], dtype=np.float64).T.tolist()
    return (dict(zip(found, column, strict=True)) for column in by_column)


@cache
def _missing(kind: str) -> Features:
    """The features of this kind where there is nothing to describe."""
    example = PromptFeatures("x 0", 0, ["x"])
    found = {
        "place": example.place([0]),
        "line": example.line(0),
        "number": example.number(0),
        "column": next(columns([["0"]])),
        "compared": compared("", ""),
    }
    return dict.fromkeys(found[kind], nan)
