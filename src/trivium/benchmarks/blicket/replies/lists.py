"""Rows and labelled lists: objects with a verdict beside them, and explanations that are left out.

    row         objects, a colon (a dash, an arrow, a cell), and what is said about them; what
                follows "so" or an arrow counts first: "A: lights up with B -> must be a blicket"
    labelled    a verdict, a colon and objects: "must be blickets: A, B; maybe: C"
    below       objects that open a line below a label, whatever follows them

Objects that an explanation names say nothing.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from trivium.benchmarks.blicket.replies.clauses import verdict

_RUN = re.compile("[OARZ](?:[SQ]{1,3}[OA])*")
_OPENING = re.compile("[SGUK]{0,2}(?=[OAR])")
_MARKED = re.compile("([KNM]B?)(?=[OA](?:[SQ]{1,3}[OA]){0,20}(?:[CDH]|$))")  # "? red wedge"
_LABEL = re.compile("[SDG]{0,2}([^OARTJZDHC]{1,14})H?C[UL]{0,2}(?=[OARZ])")
_OWN = re.compile("(?:H?CU?V?|U?)([KNMB][KNMBV]{0,3})(?=[SQGD]|$)")
_JOIN = re.compile("[SQDG]{1,3}(?=[OAR])|C(?=[OSC]{1,30}$)")
_SENTENCE_GOES_ON = re.compile("[SQG]{0,3}[VNEMB]")
_GOES_ON = re.compile("[SQG]{1,3}[NEM]U?[OAR]")  # "A, plus one of B and C"
_NEXT_LABEL = re.compile("[SDG](?=[^OARTJZCHX]{1,8}C[UL]{0,2}[OARZ])")
MAX_WORDS = 4  # words of a cell without a blicket


class Listed(NamedTuple):
    """Symbols of objects, and what is said about them."""

    start: int
    stop: int
    status: str | None
    complete: bool = False


def read_listed(kinds: str, label: str | None) -> list[Listed] | None:
    """The rows and labelled lists of a sentence; None where it is made of neither.

    `label` is the verdict of the label above.
    """
    found: list[Listed] = []
    place, default, complete = 0, label, False
    while True:
        named = _LABEL.match(kinds, place)
        status = verdict(named[1]) if named else None
        if named and status and ("X" not in named[1] or set(named[1]) & {"B", "P"}):
            place, default, complete = named.end(), status, "P" in named[1]
        elif place == 0 and (mark := _MARKED.match(kinds)):
            place, default = mark.end(), verdict(mark[1])
        elif place == 0 and (opening := _OPENING.match(kinds)):
            place = opening.end()
        else:
            break
        place = _read_items(kinds, place, default, complete, found)
        after = _NEXT_LABEL.search(kinds, place)
        if place < 0 or after is None:
            break
        place = after.start()
    return None if place < 0 or not found else found


def _read_items(
    kinds: str, place: int, default: str | None, complete: bool, found: list[Listed]
) -> int:
    """Take in the items of a list, and return where they end; -1 where a sentence goes on."""
    while run := _RUN.match(kinds, place):
        own = _OWN.match(kinds, run.end())
        place = own.end() if own else run.end()
        join = _JOIN.match(kinds, place)
        rest = kinds[place:].lstrip("GH")
        status = verdict(own[1]) if own else default
        if own and join is None and _GOES_ON.match(rest):
            return -1
        if own is None and join is None and rest:
            if rest[0] == "C":
                status = _row_verdict(rest.lstrip("C")) or default
            elif default is None or _SENTENCE_GOES_ON.match(rest):
                return -1
        elif own is None and default is None:
            return -1
        if status == "yes" and "Q" in run[0]:
            status = "maybe"  # "A or B"
        whole = complete and status == default
        found.append(Listed(run.start(), run.end(), status, whole))
        if join is None:
            break
        place = join.end()
    return place


def _row_verdict(body: str) -> str | None:
    """What the rest of a row says: its conclusion, else its first cell that is a verdict."""
    for text in (body.rpartition("H")[2], body):
        cells = [cell for cell in re.split("[CDSH]", text) if cell]
        for number, cell in enumerate(cells):
            after = cells[number + 1] if number + 1 < len(cells) else ""
            if cell.strip("U") in ("B", "P") and after and not after.strip("KNM"):
                return verdict(after)  # "blicket: no"
            if said := _cell_verdict(cell):
                return said
    return None


def _cell_verdict(cell: str) -> str | None:
    """The verdict of some words: "must be a blicket", "maybe"; None for what happens."""
    cell = re.sub("^.*X.*J", "", cell)  # "the dark test shows that it is a blicket"
    noun = re.search("[BP]", cell)
    said = cell[: noun.start()] if noun else cell
    happens = "X" in said and "V" not in said[said.find("X") :]
    if happens or ("I" in said and "M" not in said):
        return None
    if noun:
        after = re.compile("[NMBQ]{0,3}").match(cell, noun.end())
        return verdict(cell[: after.end()]) if after else None
    return verdict(said) if said.count("U") <= MAX_WORDS else None
