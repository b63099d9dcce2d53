"""Surface features: properties of a prompt that do not depend on what it means.

Places, orders, counts, distances, spellings and number formats of every candidate and of the whole
text. A feature looks at one name or one line at a time and never follows a fact, a correlation or
a light from one line to the next. To add one, add a line to a dictionary below.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, combinations, pairwise
from math import nan, sqrt
from operator import add
from zlib import crc32

from trivium.core.probes import Probe

Features = Mapping[str, float]
Group = tuple[str, Features]  # the suffix of the features' names, and the features

_NUMBER = re.compile(r"(?<![\w.])-?\d{1,40}(?:\.\d{1,40})?(?!\w)")
_DIGITS = re.compile(r"\d+")
_PLAIN = re.compile(r"(?<!\S)[^\s\d]++(?!\S)")  # words without digits
_PUNCTUATION = ".,;:!?()[]{}'\"*`=|"
_HASHES = 16  # values of a hashed word, few enough to learn a rule
_BUCKETS = tuple(f"words of bucket {bucket}" for bucket in range(24))
_COUNTED = {f"number of {character!r}": character for character in ",.:;?!-'\"|("}
# Periods of balanced designs.
_MODULI = {f"index mod {modulus}": modulus for modulus in (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16)}
_TABLE_LINES = 4  # minimum length of a table with its header
_NO_CAPITALS = dict.fromkeys(range(ord("A"), ord("Z") + 1))
_NO_DIGITS = dict.fromkeys(range(ord("0"), ord("9") + 1))


class PromptFeatures:
    """The features of a text and of the names in it."""

    def __init__(self, text: str, index: int, names: Iterable[str] = ()) -> None:
        self.text = text
        self.names = frozenset(names)
        self.lines = text.split("\n")
        self.sizes = [len(line) for line in self.lines]
        self.commas = [line.count(",") for line in self.lines]
        self.starts = [0, *accumulate(size + 1 for size in self.sizes[:-1])]
        self._starts = frozenset(self.starts)
        self._ends = frozenset(map(add, self.starts, self.sizes))
        self.columns = read_columns(self.lines)
        self._mentions: dict[str, list[int]] = {}
        self._described: dict[str, list[Group]] = {}
        self.item = self._of_item(index)

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

    def line_of(self, at: int) -> int:
        """The number of the line of this character."""
        return bisect_right(self.starts, at) - 1

    def describe(self, name: str) -> list[Group]:
        """The features of one name."""
        known = self._described.get(name)
        if known is None:
            found, cells = self.mentions(name), self.columns.get(name)
            first = self.beside(name, found[0]) if found else _NOTHING_BESIDE
            last = self.beside(name, found[-1]) if len(found) > 1 else first
            known = self._described[name] = [
                ("", spelling(name)),
                ("", self.place(name, found) if found else _NO_PLACE),
                *[(", first mention", each) for each in first],
                *[(", last mention", each) for each in last],
                (" in its column", column(cells) if cells else _NO_COLUMN),
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
        }

    def beside(self, name: str, at: int) -> tuple[Features, Features]:
        """The line of one mention of a name, and the form of the number after it."""
        text, line = self.text, self.line_of(at)
        whole = self.lines[line]
        column, end = at - self.starts[line], at + len(name)
        before, after = whole[:column], whole[column + len(name) :]
        words_before, words_after = before.split(), after.split(maxsplit=1)
        number = _NUMBER.search(after)
        line_features = {
            "position in its line": column,
            "share of its line before it": column / max(1, len(whole)),
            "words before it in its line": len(words_before),
            "length of its line": len(whole),
            "commas in its line": self.commas[line],
            "character before it": ord(text[at - 1]) if at else 0,
            "character after it": ord(text[end]) if end < len(text) else 0,
            "word before it": self._word(words_before[-1]) if words_before else -3,
            "word after it": self._word(words_after[0]) if words_after else -3,
        }
        return line_features, number_form(number[0]) if number else _NO_NUMBER

    def relation(self, name: str, other: str) -> Features:
        """A name compared with a marked one."""
        mine, theirs = self.mentions(name), self.mentions(other)
        own, its = spelling(name), spelling(other)
        both = bool(mine and theirs)
        return {
            "characters from first mention to that of": mine[0] - theirs[0] if both else nan,
            "characters from last mention to that of": mine[-1] - theirs[-1] if both else nan,
            "lines from first mention to that of": (
                self.line_of(mine[0]) - self.line_of(theirs[0]) if both else nan
            ),
            "mentioned before": mine[0] < theirs[0] if both else nan,
            "length of name less that of": len(name) - len(other),
            "number less that of": own["its number"] - its["its number"],
            "same parity as": own["parity of its number"] == its["parity of its number"],
            "same first character as": own["first character"] == its["first character"],
            "same last character as": own["last character"] == its["last character"],
        }

    def _word(self, word: str) -> int:
        """A hash of a word; all names have the same, since which name it is may be evidence."""
        bare = word.strip(_PUNCTUATION)
        return -1 if bare in self.names else _hash(bare)

    def _of_item(self, index: int) -> Features:
        text, sizes = self.text, self.sizes
        listed = [commas for commas in self.commas if commas]
        numbers = _NUMBER.findall(text)
        decimals = [len(number.partition(".")[2]) for number in numbers]
        whole = [number.partition(".")[0].lstrip("-") for number in numbers]
        full = [size for size in sizes if size]
        plain = [word.strip(_PUNCTUATION) for word in _PLAIN.findall(text)]
        wording = [word for word in plain if word and word not in self.names]
        buckets = [0] * len(_BUCKETS)
        for word in wording:
            buckets[_bucket(word)] += 1
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
            "capitals": len(text) - len(text.translate(_NO_CAPITALS)),
            "digits": len(text) - len(text.translate(_NO_DIGITS)),
            "numbers": len(numbers),
            "odd numbers": sum(part[-1] in "13579" for part in whole),
            "numbers with decimals": sum(map(bool, decimals)),
            "most decimals": max(decimals, default=0),
            "fewest decimals": min(decimals, default=0),
            "negative numbers": sum(number[0] == "-" for number in numbers),
            "numbers with leading zeros": sum(len(part) > 1 and part[0] == "0" for part in whole),
            "last digit in the text": int(
                next((character for character in reversed(text) if character.isdecimal()), "-1")
            ),
            "first words": _hash(" ".join(wording[:3])),
            "last words": _hash(" ".join(wording[-3:])),
            "wording": crc32(" ".join(wording).encode(errors="replace")) % _HASHES,
            **dict(zip(_BUCKETS, buckets, strict=True)),
            **{name: text.count(character) for name, character in _COUNTED.items()},
            "index": index,
            **{name: index % modulus for name, modulus in _MODULI.items()},
        }


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
        groups = [("", own), *prompt.describe(name)]
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
        "its number mod 3": value % 3,
        "last digit of its number": digits[-1] if digits else nan,
        "first digit of its number": digits[0] if digits else nan,
        "digit sum of its number mod 2": sum(digits) % 2 if digits else nan,
        "digits of its number": len(digits),
        "leading zeros of its number": len(number) - len(number.lstrip("0")),
        "decimals of its number": len(found[1]) if len(found) > 1 and "." in name else 0,
    }


def read_columns(lines: Sequence[str]) -> dict[str, list[str]]:
    """The columns of the first table: consecutive lines with equally many separators."""
    for separator in (",", "|", "\t"):
        counts = [line.count(separator) for line in lines]
        for at, count in enumerate(counts):
            if count and counts[at : at + _TABLE_LINES] == [count] * _TABLE_LINES:
                end = next((to for to in range(at, len(counts)) if counts[to] != count), None)
                rows = [[cell.strip() for cell in line.split(separator)] for line in lines[at:end]]
                return {header: list(cells) for header, *cells in zip(*rows, strict=True)}
    return {}


def column(cells: Sequence[str]) -> Features:
    """The features of a column's cells."""
    shown = list(filter(_NUMBER.fullmatch, cells))
    if not shown:
        return {**_NO_COLUMN, "missing cells": len(cells)}
    values = list(map(float, shown))
    decimals = [len(cell) - cell.find(".") - 1 if "." in cell else 0 for cell in shown]
    n = len(values)
    mean = sum(values) / n
    return {
        "missing cells": len(cells) - n,
        "share of whole numbers": sum(value.is_integer() for value in values) / n,
        "most decimals": max(decimals),
        "mean decimals": sum(decimals) / n,
        "smallest value": min(values),
        "largest value": max(values),
        "mean value": mean,
        "spread of values": sqrt(sum((value - mean) ** 2 for value in values) / n),
        "share of odd numbers": sum(value % 2 == 1 for value in values) / n,
        "share of negative numbers": sum(value < 0 for value in values) / n,
        "share of different values": len(set(values)) / n,
        "longest cell": max(map(len, shown)),
        "first value": values[0],
        "last value": values[-1],
    }


def number_form(number: str) -> Features:
    """The notation and parity of a number, but not its size."""
    whole, _, decimals = number.lstrip("-").partition(".")
    zeros = len(whole) - len(whole.lstrip("0"))
    return {
        "parity of the number beside it": int(whole[-1]) % 2,
        "decimals of the number beside it": len(decimals),
        "leading zeros of the number beside it": zeros if len(whole) > 1 else 0,
        "sign of the number beside it": number[0] == "-",
    }


@lru_cache(maxsize=50_000)
def _hash(word: str) -> int:
    if any(character.isdecimal() for character in word):
        return -2
    return crc32(word.casefold().encode(errors="replace")) % _HASHES


@lru_cache(maxsize=50_000)
def _bucket(word: str) -> int:
    return crc32(word.casefold().encode(errors="replace")) // _HASHES % len(_BUCKETS)


def _in_word(character: str) -> bool:
    return character == "_" or character.isalnum()


# The values of the features where there is nothing to describe.
_NO_NUMBER = dict.fromkeys(number_form("0"), nan)
_NO_COLUMN = dict.fromkeys(column(["0"]), nan)
_NO_PLACE = dict.fromkeys(PromptFeatures("x", 0).place("x", [0]), nan) | {"mentions": 0.0}
_NOTHING_BESIDE: tuple[Features, Features] = (
    dict.fromkeys(PromptFeatures("x", 0).beside("x", 0)[0], nan),
    _NO_NUMBER,
)
