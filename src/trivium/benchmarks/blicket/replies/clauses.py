"""What one clause says about the objects that it names.

Objects that stand together form a list. A verdict about a list stands before it as a label ("must
be blickets: A, B", "the blickets are A and B") or after it as a predicate ("A and B are not
blickets", "A: maybe"); between two lists the grammar decides which of them the words belong to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

MAX_OPENING = 16  # symbols of a label inside a sentence
NAMES = set("OAZRTJ")
JOINS = set("SQ")


class Part(NamedTuple):
    """An object in a clause, and what is said about it."""

    position: int
    status: str | None
    complete: bool = False
    plain: bool = False  # whether no verdict stands near, so that a label above may count
    alone: bool = False  # whether nothing else is in the clause


def clause_claims(kinds: list[str], seen: bool) -> Iterator[Part]:
    """The objects of one clause, each with its verdict from before or after it.

    `seen` says whether blickets were named in an earlier clause of the sentence.
    """
    runs = list(runs_of(kinds))
    before = kinds[: runs[0][0]] if runs else []
    last: str | None = None  # the verdict of the list before
    noun = next((n for n, each in enumerate(kinds) if each in "BP"), len(kinds))
    for number, (first, stop) in enumerate(runs):
        follows = number + 1 < len(runs)
        gap = kinds[stop : runs[number + 1][0] if follows else len(kinds)]
        after, rest = _split_gap(gap) if follows else (gap, [])
        if follows and kinds[first] in "RTJ" and gap[-1:] == ["C"]:
            after, rest = [], [*before, *gap]  # "two other objects may be blickets: A and B"
        only = "L" in [*before, *after]
        before, after = ([each for each in part if each != "L"] for part in (before, after))
        label = _label(before)
        own = _predicate(after, seen or noun < first, last_in_clause=not follows)
        if kinds[first] in "TJ" and not re.match("[SLKM]{0,3}[VCN]", "".join(after)):
            own = None  # "each trial they take part in includes a blicket"
        earlier = kinds[:first] if kinds[first] in "TJ" else before
        if own == "maybe" and "X" in earlier and not set(after) & {"B", "P"}:
            own = None  # "any combination with A that lacks B"
        if "I" in before and "M" not in before and own != "maybe":
            own = label = None
        prefix = None if label else verdict([each for each in before if each in "NEM"])
        if prefix and "E" not in before and own in ("yes", None):
            own = prefix if own or last else None
        if after == ["V"] and {"M", "I"} <= set(before):
            own = "maybe"  # "it is open whether A is"
        if own is None and label is None and not after and before and set(before) <= JOINS:
            own = last  # "A may be a blicket, or B"
        names = [n for n in range(first, stop) if kinds[n] in NAMES]
        if len(names) > 1 and kinds[first] in "RT":
            names = names[1:]  # "the other two (A and B)"
        plain = not set(before) - set("SCG") and not set(after) & {"V"}
        alone = number == 0 and plain and not set(after) - set("SG")
        changed = {n: each for n, each in _changes(kinds, first, stop, before) if own or label}
        either = "Q" in kinds[first:stop] and not changed
        complete = (own is None and "P" in before) or (only and own in ("yes", None))
        for name in names:
            status = own if own and (name == names[-1] or not label) else label
            if status == "yes" and either:
                status = "maybe"  # "A or B"
            yield Part(name, changed.get(name, status), complete, plain, alone)
        last = own or label or last
        before = rest


def _changes(
    kinds: Sequence[str], first: int, stop: int, before: Sequence[str]
) -> Iterator[tuple[int, str]]:
    """The objects of a list with a "not", "except" or "maybe" before them: "A, not B"."""
    if "E" in before:
        yield first, "no"  # "rather than A, B is a blicket"
    status = None
    for number in range(first, stop):
        if kinds[number] in "NEM":
            status = verdict(kinds[number])
        elif kinds[number] in NAMES and status:
            yield number, status


def runs_of(kinds: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where the lists of objects begin and end."""
    number = 0
    while number < len(kinds):
        if kinds[number] not in NAMES:
            number += 1
            continue
        stop = number + 1
        while True:
            following = stop
            while following < len(kinds) and kinds[following] in "SQNEMC":
                following += 1
            joined = "".join(kinds[stop : min(following, stop + 6)])
            # A colon joins only in a row of objects; "not B" or "maybe B" belongs to the list.
            listed = re.fullmatch("[SQ]{1,3}[NEM]{0,2}|[NEM]{1,2}|C", joined)
            if listed and following < len(kinds) and kinds[following] in "OA":
                stop = following + 1
            else:
                break
        yield number, stop
        number = stop


def _split_gap(gap: list[str]) -> tuple[list[str], list[str]]:
    """What stands between two lists: what is said about the first, and what opens the second."""
    for number in range(len(gap) - 1, max(-1, len(gap) - MAX_OPENING), -1):
        if gap[number] in "SG" and _label(gap[number + 1 :]):
            return gap[:number], gap[number + 1 :]
    if "I" in gap:
        number = len(gap) - 1 - gap[::-1].index("I")
        return gap[:number], gap[number:]
    number = len(gap)
    while number and gap[number - 1] in "NEMSQU":
        number -= 1
    if not (number and gap[number - 1] in "BP"):
        # "not B" opens the second list only after a comma or a blicket: "A: no, B".
        while number < len(gap) and gap[number] not in JOINS:
            number += 1
    return gap[:number], gap[number:]


def _label(before: Sequence[str]) -> str | None:
    """The verdict of what stands before a list, if it is a label: "blickets:", "ruled out:"."""
    text = "".join(before).rstrip("S")
    if "I" in text and "M" not in text:
        return None
    noun = max(text.rfind("B"), text.rfind("P"))
    if noun >= 0:
        tail = text[noun + 1 :]
        named = not tail.strip("NMESC") or tail.rstrip("SNMEUK").endswith(("V", "C"))
        return verdict(text) if named else None
    short = text.rstrip("U").endswith("C") and "X" not in text and text.count("U") <= 4
    # "Certain is A", "Still open are B and C"
    return verdict(text) if short or re.fullmatch("U?V?[KMN]{1,2}V|V[KM]{1,2}", text) else None


def _predicate(after: Sequence[str], seen: bool, *, last_in_clause: bool) -> str | None:
    """The verdict of what stands after a list: "are not blickets", ": maybe"."""
    text = "".join(after)
    if text.startswith("C"):
        cell = text.lstrip("C").partition("C")[0].partition("S")[0]
        if verdict(cell) and (cell[0] not in "UX" or set(cell) & {"B", "P", "M"}):
            return verdict(cell)
    noun = min((text.find(each) for each in "BP" if each in text), default=-1)
    if noun >= 0:
        said = text[:noun]
        happens = "X" in said and "V" not in said[said.find("X") :]
        if happens or ("I" in said and "M" not in said) or text[noun + 1 :].startswith("F"):
            return None  # "they light it when the blicket is on it"
        after_noun = re.match("V?[NMB]*", text[noun + 1 : noun + 4])
        return verdict(text[: noun + 1] + (after_noun[0] if after_noun else ""))
    return _short_predicate(text.rstrip("SGC"), seen and last_in_clause)


def _short_predicate(said: str, seen: bool) -> str | None:
    """The verdict of words without a blicket: "may be", "is not", and "is" after a blicket."""
    happens = "X" in said[: said.find("M") + 1]
    if "M" in said and not happens and said.count("U") <= 5 and "I" not in said:
        return "maybe"
    if said and set(said) <= set("VNUKM") and said[0] in "VNK":
        if set(said) & {"N", "K"} and said.count("U") <= 2:
            return verdict(said)
        return "yes" if seen and said == "V" else None
    return None


def verdict(symbols: Sequence[str]) -> str | None:
    """What symbols say: "may not be" is a maybe."""
    said = set(symbols)
    if "M" in said or re.search("N[VU]{0,2}K", "".join(symbols)):
        return "maybe"  # "not certain", "neither is guaranteed"
    if said & {"N", "E"}:
        return "no"
    return "yes" if said & {"B", "P", "K"} else None
