"""The observations of an item told six ways, from one table and one set of correlations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
import orjson

from trivium.benchmarks.variables.generate import Floats
from trivium.benchmarks.variables.item import VariablesItem

NAME = re.compile(r"x_[0-9]{1,9}(?![0-9])")


@dataclass(frozen=True)
class Told:
    """What a text tells of the observations: a table, or which variables change together."""

    names: list[str]  # in the order of print
    table: Floats | None = None  # one column for each name; nan where missing
    sets: list[set[str]] | None = None  # two variables go together if some set holds both


def observations(item: VariablesItem, renderer: str) -> str:
    """The observations of an item, told by one renderer."""
    return _TELLERS[renderer](item)


def read_observations(text: str, renderer: str) -> Told:
    """What a text of this renderer tells."""
    return _READERS[renderer](text)


def markdown(item: VariablesItem) -> str:
    """A markdown table; missing values are nan."""
    rows, columns = item.table.values.shape
    head = f"| {' | '.join(item.names)} |\n|{'---|' * columns}\n"
    return head + _grid("| ", " | ", " |\n", rows, columns) % _cells(item.table.values)


def read_markdown(text: str) -> Told:
    """The table of a markdown text."""
    lines = [line.strip("| ").split(" | ") for line in text.strip().splitlines()]
    return Told(lines[0], np.array([list(map(float, line)) for line in lines[2:]]))


def csv(item: VariablesItem) -> str:
    """Comma-separated values; missing ones are empty."""
    rows, columns = item.table.values.shape
    body = _grid("", ",", "\n", rows, columns) % _cells(item.table.values)
    return f"{','.join(item.names)}\n{body.replace('nan', '')}"


def read_csv(text: str) -> Told:
    """The table of a comma-separated text."""
    # A line may be all commas, or empty where a single value is missing: none is dropped.
    lines = [line.split(",") for line in text.strip("\n").split("\n")]
    return Told(lines[0], np.array([[float(cell or "nan") for cell in line] for line in lines[1:]]))


def json(item: VariablesItem) -> str:
    """An object with a list of values for each variable; missing ones are null."""
    rows, columns = item.table.values.shape
    lists = _grid("[", ", ", "]\n", columns, rows) % _cells(item.table.values.T)
    values = lists.replace("nan", "null").splitlines()
    told = [f'  "{name}": {own}' for name, own in zip(item.names, values, strict=True)]
    return "{\n" + ",\n".join(told) + "\n}"


def read_json(text: str) -> Told:
    """The table of a JSON text."""
    columns = orjson.loads(text)
    return Told(list(columns), np.array(list(columns.values()), dtype=np.float64).T)


def language_tabular(item: VariablesItem) -> str:
    """The first half of the rows in sentences."""
    half = len(item.table.values) // 2
    sentence = ", ".join([f"{name} was %.3f" for name in item.names]) + ".\n"
    text = "".join([f"In observation {row}, {sentence}" for row in range(1, half + 1)])
    told = text % _cells(item.table.values[:half])
    return told.replace("was nan", "was not recorded")


_RECORDED = re.compile(r"(x_[0-9]{1,9}) was (not recorded|-?[0-9.]{1,30}[0-9])")


def read_language_tabular(text: str) -> Told:
    """The rows that sentences tell."""
    rows = [dict(_RECORDED.findall(line)) for line in text.strip().splitlines()]
    values = [
        [float("nan") if cell == "not recorded" else float(cell) for cell in row.values()]
        for row in rows
    ]
    return Told(list(rows[0]), np.array(values))


_SETS = "Sets of variables that were observed to change together:"
_APART = "Variables that stand in no common set were observed not to change together."
_NEVER = "Variables that hypotheses mention and that were never observed:"


def corrset(item: VariablesItem) -> str:
    """The sets of variables that change together, and what was hypothesised but not observed."""
    sets = ["{" + ", ".join(_named(item, own)) + "}" for own in item.world.sets()]
    hidden = ", ".join(_named(item, hidden_hypothesised(item))) or "none"
    return "\n".join([_SETS, *sets, _APART, f"{_NEVER} {hidden}."])


def read_corrset(text: str) -> Told:
    """The sets of a text of sets."""
    sets = [NAME.findall(line) for line in text.splitlines() if line.startswith("{")]
    return Told(list(dict.fromkeys(NAME.findall(text))), sets=list(map(set, sets)))


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
_HIDDEN = "Hypotheses also mention {names}, of which there are no observations."
_ALL_SEEN = "There are observations of every variable that hypotheses mention."


def language_corrset(item: VariablesItem) -> str:
    """The same as the sets, in prose."""
    sets = item.world.sets()
    seen = [number for number, known in enumerate(item.seen) if known]
    lines = [_OPENING]
    if len(sets) == 1:
        lines.append(_TOGETHER.format(names=_list(_named(item, seen))))
    elif len(sets) == len(seen):
        lines.append(_ALONE.format(names=_list(_named(item, seen))))
    elif sum(map(len, sets)) == len(seen):
        lines += [_SEVERAL, *_set_by_set(item, sets)]
    else:
        lines += [_SEVERAL, *_one_by_one(item, seen)]
    hidden = hidden_hypothesised(item)
    lines.append(_HIDDEN.format(names=_list(_named(item, hidden))) if hidden else _ALL_SEEN)
    return "\n".join(lines)


def _set_by_set(item: VariablesItem, sets: Sequence[Sequence[int]]) -> list[str]:
    """Each variable of a set is told to go with the one before it."""
    lines = []
    for own in sets:
        lines.append(_NEW.format(name=item.names[own[0]]))
        for other, number in pairwise(own):
            lines.append(_JOINS.format(name=item.names[number], other=item.names[other]))
    return lines


def _one_by_one(item: VariablesItem, seen: Sequence[int]) -> list[str]:
    """Each variable with all that it goes with: for sets that overlap."""
    world = item.world
    lines = []
    for number in seen:
        earlier = [other for other in world.partners(number) if other < number]
        name, others = item.names[number], _list(_named(item, earlier))
        lines.append(
            _EXACTLY.format(name=name, others=others) if earlier else _NEW.format(name=name)
        )
    return lines


def read_language_corrset(text: str) -> Told:
    """The sets that prose tells."""
    sets: list[set[str]] = []
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
                next(own for own in sets if names[1] in own).add(names[0])
    return Told(list(dict.fromkeys(NAME.findall(text))), sets=sets)


def hidden_hypothesised(item: VariablesItem) -> list[int]:
    """The variables that hypotheses mention and that are unobserved, in the order of print."""
    mentioned = {number for edge in item.hypotheses for number in edge}
    return [number for number, known in enumerate(item.seen) if not known and number in mentioned]


def _named(item: VariablesItem, numbers: Iterable[int]) -> list[str]:
    return [item.names[number] for number in numbers]


def _list(names: Sequence[str]) -> str:
    """a, b and c."""
    return (
        names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""
    )


@lru_cache(maxsize=256)
def _grid(before: str, between: str, after: str, rows: int, columns: int) -> str:
    """A pattern for so many numbers of three decimals, filled in one step."""
    return (before + between.join(["%.3f"] * columns) + after) * rows


def _cells(values: Floats) -> tuple[float, ...]:
    return tuple(values.ravel().tolist())


_TELLERS: dict[str, Callable[[VariablesItem], str]] = {
    "markdown": markdown,
    "csv": csv,
    "json": json,
    "language-tabular": language_tabular,
    "corrset": corrset,
    "language-corrset": language_corrset,
}
_READERS: dict[str, Callable[[str], Told]] = {
    "markdown": read_markdown,
    "csv": read_csv,
    "json": read_json,
    "language-tabular": read_language_tabular,
    "corrset": read_corrset,
    "language-corrset": read_language_corrset,
}
