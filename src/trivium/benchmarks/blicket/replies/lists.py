"""Rows and labelled lists: objects with a verdict beside them, and explanations that are left out.

    label       a verdict, a colon and objects: "must be blickets: A, B; maybe: C"; or a sign and
                objects: "? A"
    row         objects, a colon (a dash, an arrow, a cell), and what is said about them; what
                follows "so" or an arrow counts first: "A: lights up with B -> must be a blicket"
    below       objects that open a line below a label, whatever follows them

Objects that an explanation names say nothing.
"""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import NamedTuple

from trivium.benchmarks.blicket.replies.clauses import NOUNS, is_about_machine, verdict
from trivium.benchmarks.blicket.replies.words import shape, spelled

_OBJECTS = "<object|all|others|none>(?:<and|or>{1,3}<object|all>)*"
_GROUP = shape(_OBJECTS)
_OPENING = shape("<and|close|word|sure>{0,2}(?=<object|all|others>)")
_MARKED = shape(f"(<sure|not|maybe><blicket>?)(?={_OBJECTS}(?:<colon|break|so>|$))")
_LABEL = shape(
    "<and|break|close>{0,2}(<!object|all|others|these|it|none|break|so|colon>{1,14})"
    "<so>?<colon><word|only>{0,2}(?=<object|all|others|none>)"
)
_OWN = shape(
    "(?:<so>?<colon><word>?<is>?|<word>?)(<sure|not|maybe|blicket><sure|not|maybe|blicket|is>{0,3})"
    "(?=<and|or|close|break>|$)"
)
_JOIN = shape(
    "<and|or|break|close>{1,3}(?=<object|all|others>)|<colon>(?=<object|and|colon>{1,30}$)"
)
_SENTENCE_GOES_ON = shape("<and|or|close>{0,3}<is|not|except|maybe|blicket>")
_LIST_GOES_ON = shape("<and|or|close>{1,3}<not|except|maybe><word>?<object|all|others>")
_NEXT_LABEL = shape(
    "<and|break|close>(?=<!object|all|others|these|it|none|colon|so|event>{1,8}"
    "<colon><word|only>{0,2}<object|all|others|none>)"
)
MAX_WORDS = 4  # words of a cell without a blicket


class Listed(NamedTuple):
    """Where objects stand among the words of a sentence, and what is said about them."""

    start: int
    stop: int
    status: str | None
    complete: bool = False


def read_listed(kinds: list[str], label: str | None) -> list[Listed] | None:
    """The rows and labelled lists of a sentence; None where it is made of neither.

    `label` is the verdict of the label above.
    """
    text = spelled(kinds)
    found: list[Listed] = []
    place, default, complete = 0, label, False
    while True:
        named = _LABEL.match(text, place)
        said = named[1].split() if named else []
        status = verdict(said)
        if named and status and ("event" not in said or NOUNS & set(said)):
            place, default, complete = named.end(), status, "blickets" in said
        elif place == 0 and (mark := _MARKED.match(text)):
            place, default = mark.end(), verdict(mark[1].split())
        elif place == 0 and (opening := _OPENING.match(text)):
            place = opening.end()
        else:
            break
        place = _read_items(text, place, default, complete, found)
        after = _NEXT_LABEL.search(text, place) if place >= 0 else None
        if after is None:
            break
        place = after.start()
    return _by_number(found, kinds) if place >= 0 and found else None


def _by_number(found: list[Listed], kinds: list[str]) -> list[Listed]:
    """What was found with the numbers of words in place of places in the text."""
    ends = accumulate(len(kind) + 1 for kind in kinds)
    numbers = {end: number for number, end in enumerate([0, *ends])}
    return [each._replace(start=numbers[each.start], stop=numbers[each.stop]) for each in found]


def _read_items(
    text: str, place: int, default: str | None, complete: bool, found: list[Listed]
) -> int:
    """Take in the items of a list, and return where they end; -1 where a sentence goes on."""
    while group := _GROUP.match(text, place):
        own = _OWN.match(text, group.end())
        place = own.end() if own else group.end()
        join = _JOIN.match(text, place)
        rest = text[place:]
        while rest.startswith(("close ", "so ")):
            rest = rest.partition(" ")[2]
        status = verdict(own[1].split()) if own else default
        if own and join is None and _LIST_GOES_ON.match(rest):
            return -1
        if own is None and join is None and rest:
            if rest.startswith("colon "):
                status = _row_verdict(rest.split()) or default
            elif default is None or _SENTENCE_GOES_ON.match(rest):
                return -1
        elif own is None and default is None:
            return -1
        if status == "yes" and "or " in group[0]:
            status = "maybe"  # "A or B"
        whole = complete and status == default
        found.append(Listed(group.start(), group.end(), status, whole))
        if join is None:
            break
        place = join.end()
    return place


def _row_verdict(body: list[str]) -> str | None:
    """What the rest of a row says: its conclusion, else its first cell that is a verdict."""
    last = len(body) - body[::-1].index("so") if "so" in body else 0
    for part in (body[last:], body):
        cells: list[list[str]] = [[]]
        for kind in part:
            if kind in ("colon", "break", "and", "so"):
                cells.append([])
            else:
                cells[-1].append(kind)
        cells = [cell for cell in cells if cell]
        for cell, after in pairwise([*cells, []]):
            only_noun = NOUNS & set(cell) and set(cell) <= {*NOUNS, "word"}
            if only_noun and after and set(after) <= {"sure", "not", "maybe"}:
                return verdict(after)  # "blicket: no"
            if said := _cell_verdict(cell):
                return said
    return None


def _cell_verdict(cell: list[str]) -> str | None:
    """The verdict of some words: "must be a blicket", "maybe"; None for what happens."""
    if "it" in cell and "event" in cell[: cell.index("it")]:
        cell = cell[len(cell) - cell[::-1].index("it") :]  # "the test shows that it is a blicket"
    noun = next((n for n, kind in enumerate(cell) if kind in NOUNS), len(cell))
    said = cell[:noun]
    if is_about_machine(said):
        return None
    if noun == len(cell):
        return verdict(said) if said.count("word") <= MAX_WORDS else None
    end = noun + 1
    while end < min(len(cell), noun + 4) and cell[end] in ("not", "maybe", "blicket", "or"):
        end += 1
    return verdict(cell[:end])
