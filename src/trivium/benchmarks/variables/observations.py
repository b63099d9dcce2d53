"""Writing the observations of an item in six formats, and reading them back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise

import numpy as np
import orjson

from trivium.benchmarks.variables.item import VariablesItem
from trivium.benchmarks.variables.table import Floats
from trivium.core.errors import require
from trivium.core.text import listed

NAME = re.compile(r"x_[0-9]{1,9}(?![0-9])")


@dataclass(frozen=True)
class Observations:
    """The observations in a text: a table, or sets of variables that change together."""

    names: list[str]  # in printed order
    table: Floats | None = None  # one column for each name; missing values are nan
    sets: list[set[str]] | None = None  # variables change together if some set holds both


def write_observations(item: VariablesItem, renderer: str) -> str:
    """The observations of an item in the format of one renderer."""
    require(
        not item.overlapping or renderer.endswith("corrset"),
        f"renderer {renderer} does not go with matched items of a dag: so few rows do not show "
        "which of its variables are correlated; use corrset or language-corrset",
    )
    return FORMATS[renderer][0](item)


def read_observations(text: str, renderer: str) -> Observations:
    """The observations in a text in the format of one renderer."""
    return FORMATS[renderer][1](text)


def markdown(item: VariablesItem) -> str:
    """A markdown table; missing values are nan."""
    head = f"| {' | '.join(item.names)} |\n|{'---|' * len(item.names)}\n"
    return head + _filled("| ", " | ", " |\n", item.table.values)


def read_markdown(text: str) -> Observations:
    lines = [line.strip("| ").split(" | ") for line in text.strip().splitlines()]
    return Observations(lines[0], np.array([list(map(float, line)) for line in lines[2:]]))


def csv(item: VariablesItem) -> str:
    """Comma-separated values; missing ones are empty."""
    body = _filled("", ",", "\n", item.table.values)
    return f"{','.join(item.names)}\n{body.replace('nan', '')}"


def read_csv(text: str) -> Observations:
    # A line of missing values is all commas, or empty in a single column: keep it.
    lines = [line.split(",") for line in text.strip("\n").split("\n")]
    values = [[float(cell or "nan") for cell in line] for line in lines[1:]]
    return Observations(lines[0], np.array(values))


def json(item: VariablesItem) -> str:
    """An object with a list of values for each variable; missing ones are null."""
    lists = _filled("[", ", ", "]\n", item.table.values.T).replace("nan", "null").splitlines()
    lines = [f'  "{name}": {values}' for name, values in zip(item.names, lists, strict=True)]
    return "{\n" + ",\n".join(lines) + "\n}"


def read_json(text: str) -> Observations:
    columns = orjson.loads(text)
    return Observations(list(columns), np.array(list(columns.values()), dtype=np.float64).T)


def language_tabular(item: VariablesItem) -> str:
    """The first half of the rows in sentences."""
    half = len(item.table.values) // 2
    sentence = ", ".join([f"{name} was %.3f" for name in item.names]) + ".\n"
    text = "".join([f"In observation {row}, {sentence}" for row in range(1, half + 1)])
    return (text % _cells(item.table.values[:half])).replace("was nan", "was not recorded")


_RECORDED = re.compile(r"(x_[0-9]{1,9}) was (nan|-?[0-9.]{1,30}[0-9])")


def read_language_tabular(text: str) -> Observations:
    lines = text.strip().replace("was not recorded", "was nan").splitlines()
    rows = [dict(_RECORDED.findall(line)) for line in lines]
    return Observations(list(rows[0]), np.array([list(map(float, row.values())) for row in rows]))


_SETS = "Sets of variables that were observed to change together:"
_APART = "Variables that stand in no common set were observed not to change together."
_NAMED = (
    "Sets are named A to {last}. Variables of one set were observed to change together, and those "
    "of different sets not to. The set of each variable:"
)
_NAMED_OVERLAPPING = (
    "Sets are named A to {last}, and a variable may be in several of them. Variables with a set in "
    "common were observed to change together, and those without not to. The sets of each variable:"
)
_NEVER = "Variables that hypotheses mention and that were never observed:"


def corrset(item: VariablesItem) -> str:
    """The sets of variables that change together, and the unobserved ones in hypotheses."""
    sets = item.observed.sets()
    hidden = ", ".join(_names(item, item.hidden)) or "none"
    if item.matched:
        known = [f"{name}: {', '.join(letters)}" for name, letters in _letters(item, sets).items()]
        named = _NAMED_OVERLAPPING if item.overlapping else _NAMED
        lines = [named.format(last=_LETTERS[len(sets) - 1]), *known]
    else:
        lines = [_SETS, *["{" + ", ".join(_names(item, members)) + "}" for members in sets], _APART]
    return "\n".join([*lines, f"{_NEVER} {hidden}."])


def read_corrset(text: str) -> Observations:
    sets = [set(NAME.findall(line)) for line in text.splitlines() if line.startswith("{")]
    return Observations(list(dict.fromkeys(NAME.findall(text))), sets=_lettered_sets(text) or sets)


# `read_language_corrset` searches for words of these sentences; change both together.
_OPENING = "This is what was found when changes in the variables were observed."
_TOGETHER = "All variables that were observed, namely {names}, changed in tandem with each other."
_ALONE = "Of the variables that were observed, namely {names}, none changed in tandem with another."
_SEVERAL = "Some of the variables changed in tandem with each other, and others did not."
_NEW = "Changes in {name} went with no changes in any variable mentioned so far."
_JOINS = "Changes in {name} went with changes in {other}, and the other way round."
_EXACTLY = (
    "Changes in {name} went with changes in {others}, and with those of no other variable "
    "mentioned so far."
)
_PATTERNS = (
    "{count} patterns of change were seen, named A to {last}. Variables of one pattern changed in "
    "tandem with each other, and those of different patterns did not."
)
_PATTERNS_OVERLAPPING = (
    "{count} patterns of change were seen, named A to {last}, and a variable may follow several of "
    "them. Variables with a pattern in common changed in tandem with each other, and those without "
    "did not."
)
_FOLLOWED = "Changes in {name} followed pattern{s} {patterns}."
_COUNTS = (
    *("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten"),
    *("Eleven", "Twelve", "Thirteen", "Fourteen", "Fifteen"),
)
_LETTERS = "ABCDEFGHIJKLMNOP"
_HIDDEN = "Hypotheses also mention {names}, of which there are no observations."
_ALL_SEEN = "There are observations of every variable that hypotheses mention."


def language_corrset(item: VariablesItem) -> str:
    """The observations in prose, with the same information as the sets."""
    sets = item.observed.sets()
    seen = [variable for variable, known in enumerate(item.seen) if known]
    lines = [_OPENING]
    if item.matched:
        opening = _PATTERNS_OVERLAPPING if item.overlapping else _PATTERNS
        lines.append(opening.format(count=_COUNTS[len(sets)], last=_LETTERS[len(sets) - 1]))
        for name, letters in _letters(item, sets).items():
            s = "s" if len(letters) > 1 else ""
            lines.append(_FOLLOWED.format(name=name, s=s, patterns=listed(letters)))
    elif len(sets) == 1:
        lines.append(_TOGETHER.format(names=listed(_names(item, seen))))
    elif len(sets) == len(seen):
        lines.append(_ALONE.format(names=listed(_names(item, seen))))
    elif sum(map(len, sets)) == len(seen):
        lines += [_SEVERAL, *_set_by_set(item, sets)]
    else:
        lines += [_SEVERAL, *_one_by_one(item, seen)]
    hidden = listed(_names(item, item.hidden))
    return "\n".join([*lines, _HIDDEN.format(names=hidden) if hidden else _ALL_SEEN])


def _letters(item: VariablesItem, sets: Sequence[Sequence[int]]) -> dict[str, list[str]]:
    """The letters of the sets of each observed variable, in the order of the variables.

    With one variable in each line, neighbours and places within a set say nothing: a reader has
    to compare letters.
    """

    def random_key(members: Sequence[int]) -> bytes:  # does not depend on the printed order
        return blake2b(" ".join(sorted(_names(item, members))).encode(), digest_size=8).digest()

    letters: dict[int, list[str]] = {}
    for letter, members in zip(_LETTERS, sorted(sets, key=random_key), strict=False):
        for variable in members:
            letters.setdefault(variable, []).append(letter)
    return {item.names[variable]: letters[variable] for variable in sorted(letters)}


_LETTER = re.compile(r"(x_[0-9]{1,9})(?:: | followed patterns? )([A-P](?:(?:, | and )[A-P])*)\b")


def _lettered_sets(text: str) -> list[set[str]]:
    """The sets of a matched item, in the order of their letters."""
    sets: dict[str, set[str]] = {}
    for name, letters in _LETTER.findall(text):
        for letter in re.findall(r"\b[A-P]\b", letters):
            sets.setdefault(letter, set()).add(name)
    return [sets[letter] for letter in sorted(sets)]


def _set_by_set(item: VariablesItem, sets: Sequence[Sequence[int]]) -> list[str]:
    """A sentence for each variable, which names the one before it in its set."""
    lines = []
    for members in sets:
        lines.append(_NEW.format(name=item.names[members[0]]))
        for other, name in pairwise(_names(item, members)):
            lines.append(_JOINS.format(name=name, other=other))
    return lines


def _one_by_one(item: VariablesItem, seen: Sequence[int]) -> list[str]:
    """A sentence for each variable, which names all earlier ones of its overlapping sets."""
    known = item.observed
    lines = []
    for variable in seen:
        earlier = [other for other in known.partners(variable) if other < variable]
        sentence = _EXACTLY if earlier else _NEW
        lines.append(
            sentence.format(name=item.names[variable], others=listed(_names(item, earlier)))
        )
    return lines


def read_language_corrset(text: str) -> Observations:
    """The sets in the sentences of `language_corrset`, recognised by words of their templates."""
    shown = list(dict.fromkeys(NAME.findall(text)))
    if sets := _lettered_sets(text):
        return Observations(shown, sets=sets)
    exact = "of no other variable" in text
    for line in text.splitlines():
        names = NAME.findall(line)
        if "changed in tandem with each other" in line and names:
            sets.append(set(names))
        elif "none changed in tandem" in line:
            sets += [{name} for name in names]
        elif line.startswith("Changes in"):
            if len(names) == 1:
                sets.append(set(names))
            elif exact:
                sets += [{names[0], other} for other in names[1:]]
            else:
                next(members for members in sets if names[1] in members).add(names[0])
    return Observations(shown, sets=sets)


def _names(item: VariablesItem, variables: Iterable[int]) -> list[str]:
    return [item.names[variable] for variable in variables]


def _filled(before: str, between: str, after: str, values: Floats) -> str:
    """The values with three decimals, one line for each row."""
    return _pattern(before, between, after, *values.shape) % _cells(values)


@lru_cache(maxsize=256)
def _pattern(before: str, between: str, after: str, rows: int, columns: int) -> str:
    """A format string for a whole table: formatting all numbers at once is fastest."""
    return (before + between.join(["%.3f"] * columns) + after) * rows


def _cells(values: Floats) -> tuple[float, ...]:
    return tuple(values.ravel().tolist())


FORMATS: dict[str, tuple[Callable[[VariablesItem], str], Callable[[str], Observations]]] = {
    "markdown": (markdown, read_markdown),
    "csv": (csv, read_csv),
    "json": (json, read_json),
    "language-tabular": (language_tabular, read_language_tabular),
    "corrset": (corrset, read_corrset),
    "language-corrset": (language_corrset, read_language_corrset),
}
