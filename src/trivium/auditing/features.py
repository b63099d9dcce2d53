"""Surface features: properties of a prompt that do not depend on what it means.

Places, orders, counts, distances, spellings, lengths and numbers of every candidate and of the
whole text. A feature looks at one name or one line at a time and never follows a fact, a
correlation or a light from one line to the next. To add one, add a line to a dictionary below;
ranks among the candidates and remainders of whole numbers are added to every feature by the rules.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate, combinations, pairwise
from math import nan
from operator import add
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from trivium.core.probes import Probe

Features = Mapping[str, float]
Group = tuple[str, Features]  # the suffix of the features' names, and the features

_NUMBER = re.compile(r"(?<![\w.])-?\d{1,40}(?:\.\d{1,40})?(?!\w)")
_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"[^\W\d_]\w*")
_SENTENCE_END = re.compile(r"[.:!?;]\s|\n")
_PUNCTUATION = ".,;:!?()[]{}'\"*`=|"
_HASHES = 16  # values of a hashed word, few enough to learn a rule
# Periods of balanced designs.
_MODULI = {f"index mod {modulus}": modulus for modulus in (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16)}
_SOME_NUMBERS = 40  # whose notation is described
_TABLE_LINES = 4  # minimum length of a table with its header
_ORDINALS = ("first", "second", "third", "fourth", "last")  # of numbers and words in a text


def common_words(texts: Sequence[str]) -> frozenset[str]:
    """The words of at least half of these texts, which belong to the template."""
    counts = Counter(word for text in texts for word in set(_WORD.findall(text)))
    return frozenset(word for word, count in counts.items() if 2 * count >= len(texts))


class PromptFeatures:
    """The features of a text and of the names in it."""

    def __init__(
        self,
        text: str,
        index: int,
        names: Iterable[str] = (),
        common: Collection[str] = frozenset(),  # words that are the same in most items
    ) -> None:
        self.text = text
        self.names = frozenset(names)
        self.lines = text.split("\n")
        self.sizes = [len(line) for line in self.lines]
        self.commas = [line.count(",") for line in self.lines]
        self.starts = [0, *accumulate(size + 1 for size in self.sizes[:-1])]
        self._starts = frozenset(self.starts)
        self._ends = frozenset(map(add, self.starts, self.sizes))
        self.columns = read_columns(self.lines)
        found = list(_NUMBER.finditer(text))
        self._numbers = [number[0] for number in found]
        self._number_at = [number.start() for number in found]
        self._number_counts = Counter(self._numbers)
        self._mentions: dict[str, list[int]] = {}
        self._described: dict[str, list[Group]] = {}
        self.item = self._of_item(index, common)

    def mentions(self, name: str) -> list[int]:
        """The positions of a name as a whole word."""
        found = self._mentions.get(name)
        if found is None:
            found = self._mentions[name] = list(self._find(name))
        return found

    def _find(self, name: str) -> Iterator[int]:
        text, size = self.text, len(name)
        at = text.find(name) if name else -1
        while at >= 0:
            end = at + size
            before = at == 0 or not _in_word(text[at - 1]) or not _in_word(name[0])
            after = end == len(text) or not _in_word(text[end]) or not _in_word(name[-1])
            if before and after:
                yield at
            at = text.find(name, end)

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
            first = self.beside(name, found[0]) if found else _NOTHING_BESIDE
            last = self.beside(name, found[-1]) if len(found) > 1 else first
            known = self._described[name] = [
                ("", spelling(name)),
                ("", self.place(name, found) if found else _NO_PLACE),
                *[(", first mention", each) for each in first],
                *[(", last mention", each) for each in last],
                (" in its column", self.columns.get(name, _NO_COLUMN)),
            ]
        return known

    def place(self, name: str, found: Sequence[int]) -> Features:
        """Where a name is mentioned."""
        size, starts, text = len(name), self.starts, self.text
        lines = [bisect_right(starts, at) - 1 for at in found]
        ends = [at + size for at in found]
        sizes = [self.sizes[line] for line in lines]
        commas = [self.commas[line] for line in lines]
        gaps = [later - at for at, later in pairwise(found)]
        return {
            "mentions": len(found),
            "first mention": found[0],
            "last mention": found[-1],
            "mean mention": sum(found) / len(found),
            "span of mentions": found[-1] - found[0],
            "characters after its last mention": len(text) - ends[-1],
            "line of its first mention": lines[0],
            "line of its last mention": lines[-1],
            "lines after its last mention": len(starts) - 1 - lines[-1],
            "lines that mention it": len(set(lines)),
            "mentions in the first half": bisect_left(found, len(text) // 2),
            "mentions at the start of a line": len(self._starts.intersection(found)),
            "mentions at the end of a line": len(self._ends.intersection(ends)),
            "smallest gap between mentions": min(gaps, default=nan),
            "longest line that mentions it": max(sizes),
            "shortest line that mentions it": min(sizes),
            "length of all lines that mention it": sum(sizes),
            "most commas in a line that mentions it": max(commas),
            "fewest commas in a line that mentions it": min(commas),
            "commas in all lines that mention it": sum(commas),
            **self._within_sentences(found),
        }

    @cached_property
    def _sentences(self) -> tuple[list[int], list[int], list[int]]:
        """Where sentences end, all mentions of names, and how many precede each sentence."""
        ends = [found.start() for found in _SENTENCE_END.finditer(self.text)]
        named = sorted(at for name in self.names for at in self.mentions(name))
        return ends, named, [0, *(bisect_left(named, end) for end in ends), len(named)]

    def _within_sentences(self, found: Sequence[int]) -> Features:
        """The place of a name among those of its sentences."""
        ends, named, before = self._sentences
        numbers = [bisect_left(ends, at) for at in found]
        places = [
            bisect_left(named, at) - before[number]
            for at, number in zip(found, numbers, strict=True)
        ]
        after = [
            before[number + 1] - before[number] - 1 - place
            for place, number in zip(places, numbers, strict=True)
        ]
        return {
            "mean place within its sentences": sum(places) / len(places),
            "sentences in which it is first": places.count(0),
            "sentences in which it is last": after.count(0),
        }

    def beside(self, name: str, at: int) -> tuple[Features, Features]:
        """The line of one mention of a name, and the form of the number after it."""
        text, line = self.text, self.line_of(at)
        whole = self.lines[line]
        column, end = at - self.starts[line], at + len(name)
        before, after = whole[:column], whole[column + len(name) :]
        words_before, words_after = before.split(), after.split(maxsplit=1)
        line_features = {
            "position in its line": column,
            "share of its line before it": column / max(1, len(whole)),
            "words before it in its line": len(words_before),
            "length of its line": len(whole),
            "commas in its line": self.commas[line],
            "character before it": ord(text[at - 1]) if at else 0,
            "character after it": ord(text[end]) if end < len(text) else 0,
            "character at the end of its line": ord(whole[-1]) if whole else 0,
            "word before it": self._word(words_before[-1]) if words_before else -3,
            "word after it": self._word(words_after[0]) if words_after else -3,
            "sum of the numbers in its line": _sum_of_numbers(whole[:999]),
        }
        place = bisect_left(self._number_at, end)
        if place == len(self._numbers) or self._number_at[place] >= at - column + len(whole):
            return line_features, _NO_NUMBER
        return line_features, self._number(place)

    def _number(self, place: int) -> Features:
        """The features of one number of the text."""
        number, value = self._numbers[place], float(self._numbers[place])
        whole, _, decimals = number.lstrip("-").partition(".")
        more = self._numbers[place + 1 : place + 2]
        less = self._numbers[place - 1 : place]
        return {
            "number beside it": value,
            "parity of the number beside it": int(whole[-1]) % 2,
            "digit sum of the number beside it": sum(map(int, whole)),
            "decimals of the number beside it": len(decimals),
            "leading zeros of the number beside it": _leading_zeros(whole),
            "sign of the number beside it": number[0] == "-",
            "mentions of the number beside it": self._number_counts[number],
            "next number less the number beside it": float(more[0]) - value if more else nan,
            "number before less the number beside it": float(less[0]) - value if less else nan,
        }

    def relation(self, name: str, other: str) -> Features:
        """A name compared with a marked one."""
        mine, theirs = self.mentions(name), self.mentions(other)
        both = bool(mine and theirs)
        lost = "row of its first missing cell"
        return {
            "characters from first mention to that of": mine[0] - theirs[0] if both else nan,
            "characters from last mention to that of": mine[-1] - theirs[-1] if both else nan,
            "lines from first mention to that of": (
                self.line_of(mine[0]) - self.line_of(theirs[0]) if both else nan
            ),
            "mentioned before": mine[0] < theirs[0] if both else nan,
            "first missing cell in the same row as that of": (
                self.columns.get(name, _NO_COLUMN)[lost]
                == self.columns.get(other, _NO_COLUMN)[lost]
            ),
            **compared(name, other),
        }

    def _word(self, word: str) -> int:
        """A hash of a word; all names have the same, since which name it is may be evidence."""
        bare = word.strip(_PUNCTUATION)
        return -1 if bare in self.names else _hash(bare)

    def _of_item(self, index: int, common: Collection[str]) -> Features:
        text, sizes, numbers = self.text, self.sizes, self._numbers
        # Whether two names are the same may be evidence.
        left_out = {word for name in self.names for word in _WORD.findall(name)}.union(common)
        listed = [commas for commas in self.commas if commas]
        full = [size for size in sizes if size]
        return {
            "characters": len(text),
            "lines": len(sizes),
            "words": text.count(" ") + len(sizes),
            "empty lines": len(sizes) - len(full),
            "longest line": max(full, default=0),
            "shortest line": min(full, default=0),
            "length of the first line": sizes[0],
            "length of the last line": sizes[-1],
            "lines with commas": len(listed),
            "most commas in a line": max(listed, default=0),
            "fewest commas in a line": min(listed, default=0),
            "sum of squared commas of the lines": sum(commas * commas for commas in listed),
            "numbers": len(numbers),
            **_number_slots(numbers),
            **_word_slots([word for word in _WORD.findall(text) if word not in left_out]),
            "index": index,
            **{name: index % modulus for name, modulus in _MODULI.items()},
        }


def _number_slots(numbers: Sequence[str]) -> Features:
    """The first numbers of a text, the last, their order, the largest, smallest and the sum."""
    values = list(map(float, numbers))
    some = [number.lstrip("-").partition(".") for number in numbers[:_SOME_NUMBERS]]
    shown = [values[at] if at < len(values) else nan for at in range(4)]
    slots = dict(zip(_ORDINALS, [*shown, values[-1] if values else nan], strict=True))
    found = {f"{ordinal} number": value for ordinal, value in slots.items()} | {
        "largest number": max(values, default=nan),
        "smallest number": min(values, default=nan),
        "sum of all numbers": sum(values),
        "odd numbers": sum(whole[-1] in "13579" for whole, _, _ in some),
        "most decimals": max((len(decimals) for _, _, decimals in some), default=0),
        "fewest decimals": min((len(decimals) for _, _, decimals in some), default=0),
        "negative numbers": sum(value < 0 for value in values),
        "numbers with leading zeros": sum(_leading_zeros(whole) > 0 for whole, _, _ in some),
    }
    for place, at in (("first", 0), ("last", -1)):
        found[f"digit sum of the {place} number"] = (
            sum(map(int, _DIGITS.findall(numbers[at])[0])) if numbers else nan
        )
    return found | {
        f"{a} number less the {b}": slots[a] - slots[b] for a, b in combinations(_ORDINALS, 2)
    }


def _word_slots(words: Sequence[str]) -> Features:
    """The first words of a text that differ between items, the last, and their order."""
    shown = [*words[:4], *[""] * (4 - len(words)), words[-1] if words else ""]
    found: dict[str, float] = {"different words": len(words)}
    for ordinal, word in zip(_ORDINALS, shown, strict=True):
        found[f"length of the {ordinal} word"] = len(word)
        found[f"first character of the {ordinal} word"] = ord(word[:1] or " ")
        found[f"last character of the {ordinal} word"] = ord(word[-1:] or " ")
        found[f"number in the {ordinal} word"] = spelling(word)["its number"]
    for (a, one), (b, two) in combinations(zip(_ORDINALS, shown, strict=True), 2):
        found[f"{a} word before the {b} in the alphabet"] = one.casefold() < two.casefold()
        found[f"length of the {a} word less the {b}"] = len(one) - len(two)
    return found


def candidate_features(prompt: PromptFeatures, probe: Probe) -> Iterator[list[Group]]:
    """The features of every candidate."""
    size = len(probe.candidates)
    ranks = {name: at for at, name in enumerate(sorted(probe.candidates, key=str.casefold))}
    marked = [(f" {role}", other) for role, other in probe.marked.items()]
    extra = list(zip(*probe.candidate_features.values(), strict=True))
    for place, name in enumerate(probe.candidates):
        own = {
            "place": place,
            "place from the end": size - 1 - place,
            "alphabetical rank": ranks[name],
        }
        # The same features for every number of candidates, since it may differ between items.
        beside = compared(name, probe.candidates[place + 1 - size]) if size > 1 else _NOT_COMPARED
        groups = [("", own), *prompt.describe(name), (" the next candidate", beside)]
        groups += [(suffix, prompt.relation(name, other)) for suffix, other in marked]
        if extra:
            groups.append(("", dict(zip(probe.candidate_features, extra[place], strict=True))))
        yield groups


def item_features(prompt: PromptFeatures, probe: Probe) -> list[Group]:
    """The features of the item: of its text and of the marked names."""
    marked = probe.marked.items()
    return [
        ("", {"candidates": len(probe.candidates)}),
        ("", prompt.item),
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


@lru_cache(maxsize=200_000)
def spelling(name: str) -> Features:
    """The features of a name without its text."""
    found = _DIGITS.findall(name)
    number = found[0] if found else ""
    value = int(number[:15]) if number else nan
    digits = [int(digit) for digit in number[:40]]
    return {
        "length of its name": len(name),
        "words in its name": name.count(" ") + 1,
        "first character": ord(name[0]) if name else 0,
        "last character": ord(name[-1]) if name else 0,
        "vowels in its name": sum(character in "aeiouAEIOU" for character in name),
        "capitals in its name": sum(character.isupper() for character in name),
        "different characters in its name": len(set(name)),
        "its number": value,
        "parity of its number": value % 2,
        "first digit of its number": digits[0] if digits else nan,
        "digit sum of its number": sum(digits) if digits else nan,
        "digits of its number": len(digits),
        "leading zeros of its number": len(number) - len(number.lstrip("0")),
        "decimals of its number": len(found[1]) if len(found) > 1 and "." in name else 0,
    }


def compared(name: str, other: str) -> Features:
    """The spelling of a name beside that of another."""
    own, its = spelling(name), spelling(other)
    return {
        "before in the alphabet": name.casefold() < other.casefold(),
        "length of name less that of": len(name) - len(other),
        "number less that of": own["its number"] - its["its number"],
        "same parity as": own["parity of its number"] == its["parity of its number"],
        "same first character as": name[:1].casefold() == other[:1].casefold(),
        "same last character as": name[-1:] == other[-1:],
    }


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
    cells = [cell if cell[-1:].isdecimal() else "nan" for row in rows for cell in row]
    values = np.array([_float(cell) for cell in cells]).reshape(len(rows), -1)
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
        "row of its first missing cell": np.where(lost.any(axis=0), lost.argmax(axis=0), -1),
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


def _float(cell: str) -> float:
    try:
        return float(cell) if len(cell) < 40 else nan
    except ValueError:
        return nan


@lru_cache(maxsize=1000)
def _sum_of_numbers(line: str) -> int:
    return sum(int(number[:9]) for number in _DIGITS.findall(line))


def _leading_zeros(whole: str) -> int:
    return len(whole) - len(whole.lstrip("0")) if len(whole) > 1 else 0


@lru_cache(maxsize=50_000)
def _hash(word: str) -> int:
    if any(character.isdecimal() for character in word):
        return -2
    return crc32(word.casefold().encode(errors="replace")) % _HASHES


def _in_word(character: str) -> bool:
    return character == "_" or character.isalnum()


# The values of the features where there is nothing to describe.
_NOT_COMPARED = dict.fromkeys(compared("", ""), nan)
_NO_COLUMN = dict.fromkeys(next(columns([["0"]])), nan)
_EXAMPLE = PromptFeatures("x 0", 0, ["x"])
_NO_NUMBER = dict.fromkeys(_EXAMPLE._number(0), nan)
_NO_PLACE = dict.fromkeys(_EXAMPLE.place("x", [0]), nan) | {"mentions": 0.0}
_NOTHING_BESIDE = (dict.fromkeys(_EXAMPLE.beside("x", 0)[0], nan), _NO_NUMBER)
