"""Surface features: what can be said about a prompt without reading what it says.

Places, orders, counts, distances, spellings and number formats of every candidate and of the whole
text. A feature looks at one name or one line at a time and never follows a fact, a correlation or
a light from one line to the next.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate, combinations, pairwise
from math import nan, sqrt
from zlib import crc32

from trivium.core.probes import Probe

_NUMBER = re.compile(r"(?<![\w.])-?\d{1,40}(?:\.\d{1,40})?(?!\w)")
_DIGITS = re.compile(r"\d+")
_PLAIN = re.compile(r"(?<!\S)[^\s\d]++(?!\S)")  # words without digits
_PUNCTUATION = ".,;:!?()[]{}'\"*`=|"
_HASHES = (
    16  # words beside a name are distinguished by a hash; few values, so that a rule is learned
)
_BUCKETS = 24  # and for the counts of all words
_COUNTED = ",.:;?!-'\"|("  # characters whose number is a feature of the item
_MODULI = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16)  # balanced designs repeat with one of these

SPELLING = (
    "length of its name",
    "words in its name",
    "first character",
    "last character",
    "vowels in its name",
    "capitals in its name",
    "different characters in its name",
    "its number",
    "parity of its number",
    "its number mod 3",
    "last digit of its number",
    "first digit of its number",
    "digit sum of its number mod 2",
    "digits of its number",
    "leading zeros of its number",
    "decimals of its number",
)
PLACE = (
    "mentions",
    "first mention",
    "last mention",
    "mean mention",
    "span of mentions",
    "characters after its last mention",
    "line of its first mention",
    "line of its last mention",
    "lines after its last mention",
    "lines that mention it",
    "mentions in the first half",
    "mentions at the start of a line",
    "mentions at the end of a line",
    "smallest gap between mentions",
    "longest line that mentions it",
    "shortest line that mentions it",
    "length of all lines that mention it",
    "most commas in a line that mentions it",
    "fewest commas in a line that mentions it",
    "commas in all lines that mention it",
)
BESIDE = (
    "position in its line",
    "share of its line before it",
    "words before it in its line",
    "length of its line",
    "commas in its line",
    "character before it",
    "character after it",
    "word before it",
    "word after it",
    "parity of the number beside it",
    "decimals of the number beside it",
    "leading zeros of the number beside it",
    "sign of the number beside it",
)
COLUMN = (
    "missing cells",
    "share of whole numbers",
    "most decimals",
    "mean decimals",
    "smallest value",
    "largest value",
    "mean value",
    "spread of values",
    "share of odd numbers",
    "share of negative numbers",
    "share of different values",
    "longest cell",
    "first value",
    "last value",
)
MARKED = (
    "characters from first mention to that of {}",
    "characters from last mention to that of {}",
    "lines from first mention to that of {}",
    "mentioned before {}",
    "length of name less that of {}",
    "number less that of {}",
    "same parity as {}",
    "same first character as {}",
    "same last character as {}",
)
OF_ITEM = (
    "candidates",
    "characters",
    "lines",
    "words",
    "empty lines",
    "longest line",
    "shortest line",
    "length of the first line",
    "length of the last line",
    "lines with commas",
    "most commas in a line",
    "fewest commas in a line",
    "sum of squared commas of the lines",
    "capitals",
    "digits",
    "numbers",
    "odd numbers",
    "numbers with decimals",
    "most decimals",
    "fewest decimals",
    "negative numbers",
    "numbers with leading zeros",
    "last digit in the text",
    "first words",
    "last words",
    "wording",
    *(f"words of bucket {bucket}" for bucket in range(_BUCKETS)),
    *(f"number of {character!r}" for character in _COUNTED),
    "index",
    *(f"index mod {modulus}" for modulus in _MODULI),
)
OF_NAME = (
    *SPELLING,
    *PLACE,
    *(f"{name}, first mention" for name in BESIDE),
    *(f"{name}, last mention" for name in BESIDE),
    *(f"{name} in its column" for name in COLUMN),
)


class Page:
    """A text with where its lines start and where names are mentioned in it."""

    def __init__(self, text: str, index: int, names: Iterable[str] = ()) -> None:
        self.text = text
        self.names = frozenset(names)
        self.lines = text.split("\n")
        self.sizes = [len(line) for line in self.lines]
        self.commas = [line.count(",") for line in self.lines]
        self.starts = [0, *accumulate(size + 1 for size in self.sizes[:-1])]
        self.columns = read_columns(self.lines)
        self._mentions: dict[str, list[int]] = {}
        self._described: dict[str, list[float]] = {}
        self.item = self._of_item(index)

    def mentions(self, name: str) -> list[int]:
        """Where a name stands as a whole word."""
        found = self._mentions.get(name)
        if found is None:
            found = self._mentions[name] = list(self._find(name))
        return found

    def _find(self, name: str) -> Iterable[int]:
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
        """The number of the line that has this character."""
        return bisect_right(self.starts, at) - 1

    def describe(self, name: str) -> list[float]:
        """The features of a name: OF_NAME."""
        known = self._described.get(name)
        if known is None:
            found = self.mentions(name)
            known = [*spelling(name), *self._place(name, found)]
            if found:
                first = self._beside(name, found[0])
                known += first
                known += first if len(found) == 1 else self._beside(name, found[-1])
            else:
                known += [nan] * (2 * len(BESIDE))
            cells = self.columns.get(name)
            known += column_features(cells) if cells else _NO_COLUMN
            self._described[name] = known
        return known

    def _place(self, name: str, found: Sequence[int]) -> list[float]:
        if not found:
            return [0.0] + [nan] * (len(PLACE) - 1)
        size, starts, text = len(name), self.starts, self.text
        lines = [bisect_right(starts, at) - 1 for at in found]
        half = len(text) // 2
        ends = [at + size for at in found]
        sizes = [self.sizes[line] for line in lines]
        commas = [self.commas[line] for line in lines]
        gaps = [later - at for at, later in pairwise(found)]
        return [
            len(found),
            found[0],
            found[-1],
            sum(found) / len(found),
            found[-1] - found[0],
            len(text) - ends[-1],
            lines[0],
            lines[-1],
            len(starts) - 1 - lines[-1],
            len(set(lines)),
            sum(at < half for at in found),
            sum(starts[line] == at for at, line in zip(found, lines, strict=True)),
            sum(text[end : end + 1] in ("", "\n") for end in ends),
            min(gaps, default=nan),
            max(sizes),
            min(sizes),
            sum(sizes),
            max(commas),
            min(commas),
            sum(commas),
        ]

    def _beside(self, name: str, at: int) -> list[float]:
        text, line = self.text, self.line_of(at)
        start = self.starts[line]
        whole = self.lines[line]
        column, end = at - start, at + len(name)
        before, after = whole[:column], whole[column + len(name) :]
        number = _NUMBER.search(after)
        form = number_form(number[0]) if number else _NO_NUMBER
        words_before, words_after = before.split(), after.split(maxsplit=1)
        return [
            column,
            column / max(1, len(whole)),
            len(words_before),
            len(whole),
            self.commas[line],
            ord(text[at - 1]) if at else 0,
            ord(text[end]) if end < len(text) else 0,
            self._word(words_before[-1]) if words_before else -3,
            self._word(words_after[0]) if words_after else -3,
            *form,
        ]

    def _word(self, word: str) -> int:
        """A hash of a word; names are all alike, for which name it is may be evidence."""
        bare = word.strip(_PUNCTUATION)
        return -1 if bare in self.names else _hash(bare)

    def _of_item(self, index: int) -> list[float]:
        text, sizes = self.text, self.sizes
        listed = [commas for commas in self.commas if commas]
        numbers = _NUMBER.findall(text)
        decimals = [len(number.partition(".")[2]) for number in numbers]
        whole = [number.partition(".")[0].lstrip("-") for number in numbers]
        full = [size for size in sizes if size]
        plain = [word.strip(_PUNCTUATION) for word in _PLAIN.findall(text)]
        wording = [word for word in plain if word and word not in self.names]
        buckets = [0] * _BUCKETS
        for word in wording:
            buckets[_bucket(word)] += 1
        return [
            len(text),
            len(sizes),
            text.count(" ") + len(sizes),
            len(sizes) - len(full),
            max(full, default=0),
            min(full, default=0),
            sizes[0],
            sizes[-1],
            len(listed),
            max(listed, default=0),
            min(listed, default=0),
            sum(commas * commas for commas in listed),
            len(text) - len(text.translate(_NO_CAPITALS)),
            len(text) - len(text.translate(_NO_DIGITS)),
            len(numbers),
            sum(part[-1] in "13579" for part in whole),
            sum(map(bool, decimals)),
            max(decimals, default=0),
            min(decimals, default=0),
            sum(number[0] == "-" for number in numbers),
            sum(len(part) > 1 and part[0] == "0" for part in whole),
            int(next((c for c in reversed(text) if c.isdecimal()), "-1")),
            _hash(" ".join(wording[:3])),
            _hash(" ".join(wording[-3:])),
            crc32(" ".join(wording).encode(errors="replace")) % _HASHES,
            *buckets,
            *(text.count(character) for character in _COUNTED),
            index,
            *(index % modulus for modulus in _MODULI),
        ]


def names_of_features(probe: Probe) -> tuple[list[str], list[str]]:
    """The names of the features of a candidate and of an item, in the order of `features`."""
    own = ["place", "place from the end", "alphabetical rank", *OF_NAME]
    for role in probe.marked:
        own += [name.format(role) for name in MARKED]
    of_item = list(OF_ITEM)
    for role in probe.marked:
        of_item += [f"{name}, of {role}" for name in OF_NAME]
    for one, other in combinations(probe.marked, 2):
        of_item += [f"{name.format(other)}, of {one}" for name in MARKED]
    return own + list(probe.candidate_features), of_item + list(probe.item_features)


def features(page: Page, probe: Probe) -> tuple[list[list[float]], list[float]]:
    """The features of every candidate, and those of the item."""
    last = len(probe.candidates) - 1
    marked = [(name, page.describe(name)) for name in probe.marked.values()]
    ordered = {name: at for at, name in enumerate(sorted(probe.candidates, key=str.casefold))}
    extra = list(zip(*probe.candidate_features.values(), strict=True))
    rows = []
    for place, name in enumerate(probe.candidates):
        row = [place, last - place, ordered[name], *page.describe(name)]
        for other, described in marked:
            row += _beside_marked(page, name, other, described)
        if extra:
            row += extra[place]
        rows.append(row)
    of_item = [len(probe.candidates), *page.item]
    for _, described in marked:
        of_item += described
    for (one, _), (other, described) in combinations(marked, 2):
        of_item += _beside_marked(page, one, other, described)
    return rows, of_item + list(probe.item_features.values())


def _beside_marked(page: Page, name: str, other: str, theirs: Sequence[float]) -> list[float]:
    """How a candidate stands to a marked name: MARKED."""
    own, mine, found = page.describe(name), page.mentions(name), page.mentions(other)
    where = [nan, nan, nan, nan]
    if mine and found:
        lines = page.line_of(mine[0]) - page.line_of(found[0])
        where = [mine[0] - found[0], mine[-1] - found[-1], lines, mine[0] < found[0]]
    return [
        *where,
        len(name) - len(other),
        own[7] - theirs[7],
        own[8] == theirs[8],
        own[2] == theirs[2],
        own[3] == theirs[3],
    ]


@lru_cache(maxsize=200_000)
def spelling(name: str) -> tuple[float, ...]:
    """What can be said about a name by itself: SPELLING."""
    found = _DIGITS.findall(name)
    number = found[0] if found else ""
    value = int(number[:15]) if number else nan
    digits = [int(digit) for digit in number[:40]]
    return (
        len(name),
        name.count(" ") + 1,
        ord(name[0]) if name else 0,
        ord(name[-1]) if name else 0,
        sum(character in "aeiouAEIOU" for character in name),
        sum(character.isupper() for character in name),
        len(set(name)),
        value,
        value % 2,
        value % 3,
        digits[-1] if digits else nan,
        digits[0] if digits else nan,
        sum(digits) % 2 if digits else nan,
        len(digits),
        len(number) - len(number.lstrip("0")),
        len(found[1]) if len(found) > 1 and "." in name else 0,
    )


def read_columns(lines: Sequence[str]) -> dict[str, list[str]]:
    """The columns of the first table: lines with one separator equally often, a header first."""
    for separator in (",", "|", "\t"):
        counts = [line.count(separator) for line in lines]
        for at, count in enumerate(counts):
            if count and counts[at : at + _ROWS] == [count] * _ROWS:
                end = next((to for to in range(at, len(counts)) if counts[to] != count), None)
                rows = [[cell.strip() for cell in line.split(separator)] for line in lines[at:end]]
                return {header: list(cells) for header, *cells in zip(*rows, strict=True)}
    return {}


def column_features(cells: Sequence[str]) -> list[float]:
    """What the cells of a column are like, without any other column: COLUMN."""
    shown = list(filter(_NUMBER.fullmatch, cells))
    if not shown:
        return [len(cells), *_NO_COLUMN[1:]]
    values = list(map(float, shown))
    decimals = [len(cell) - cell.find(".") - 1 if "." in cell else 0 for cell in shown]
    n = len(values)
    mean = sum(values) / n
    return [
        len(cells) - n,
        sum(value.is_integer() for value in values) / n,
        max(decimals),
        sum(decimals) / n,
        min(values),
        max(values),
        mean,
        sqrt(sum((value - mean) ** 2 for value in values) / n),
        sum(value % 2 == 1 for value in values) / n,
        sum(value < 0 for value in values) / n,
        len(set(values)) / n,
        max(map(len, shown)),
        values[0],
        values[-1],
    ]


_ROWS = 4  # lines that make a table, its header included
_NO_COLUMN = [nan] * len(COLUMN)
_NO_NUMBER = (nan, nan, nan, nan)


def number_form(number: str) -> tuple[float, ...]:
    """How a number is written, and whether it is odd, but not how large it is."""
    whole, _, decimals = number.lstrip("-").partition(".")
    zeros = len(whole) - len(whole.lstrip("0"))
    return int(whole[-1]) % 2, len(decimals), zeros if len(whole) > 1 else 0, number[0] == "-"


@lru_cache(maxsize=50_000)
def _hash(word: str) -> int:
    if any(character.isdecimal() for character in word):
        return -2
    return crc32(word.casefold().encode(errors="replace")) % _HASHES


@lru_cache(maxsize=50_000)
def _bucket(word: str) -> int:
    return crc32(word.casefold().encode(errors="replace")) // _HASHES % _BUCKETS


def _in_word(character: str) -> bool:
    return character == "_" or character.isalnum()


_NO_CAPITALS = dict.fromkeys(range(ord("A"), ord("Z") + 1))
_NO_DIGITS = dict.fromkeys(range(ord("0"), ord("9") + 1))
