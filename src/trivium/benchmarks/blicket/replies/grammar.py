"""What a sentence says about the objects that it names.

Objects that stand together are a list: "A, B and maybe C". A sentence is made of rows or clauses:

    row      a list, a colon (a dash, an arrow, a cell) and what is said about it; what follows
             "so" or an arrow counts first: "A: lights up with B -> must be a blicket"; objects that
             it names on the way say nothing. A list below a label is a row too: it takes the
             verdict of the label where it has none of its own
    clause   lists, each with a label before it ("must be blickets: A, B", "the blickets are A") or
             a predicate after it ("A and B are not blickets", "A may be"); between two lists stand
             the predicate of the first and the label of the second
    verdict  the strongest of: maybe (also "not sure"), not, and then blicket or sure

What is supposed ("if", "at first"), and what happens on a machine, is no verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

MAX_LABEL = 16  # words of a label inside a sentence
MAX_OTHERS = 6  # other words in a label without a blicket
MAX_WORDS = 4  # other words in a verdict without a blicket
NAMING = {"object", "all", "none", "others", "these", "it"}
JOINS = {"and", "or"}
NOUNS = {"blicket", "blickets"}
CHANGES = {"not", "except", "maybe"}
_IN_CLAUSES = {"arrow": "colon", "either": "maybe"}
SUPPOSED = {"if", "whether", "supposed"}


class Claim(NamedTuple):
    """What is said about the objects that one word names."""

    place: int  # of the word
    status: str  # "yes", "no" or "maybe"
    complete: bool = False  # whether the list is meant to name all of them
    either: bool = False  # whether it is one of several: "A or B"

    def as_choice(self) -> Claim:
        """The claim as one of several of which only one is right."""
        return self if self.status == "no" else self._replace(status="maybe", either=True)


def read_sentence(kinds: list[str], label: str | None, *, seen: bool) -> list[Claim]:
    """The claims of a sentence, from the kinds of its words.

    `label` is the verdict of the label above, `seen` whether blickets were named before.
    """
    opening, mark = _opening(kinds)
    label = mark or label
    concluded = max((n for n, kind in enumerate(kinds) if kind in ("so", "arrow")), default=-1)
    if opening and _is_row(kinds, opening) and "object" in kinds[concluded + 1 :] and concluded > 0:
        # "A, B: lit, so A must be a blicket"
        own = read_sentence(kinds[concluded + 1 :], None, seen=True)
        return [claim._replace(place=concluded + 1 + claim.place) for claim in own]
    if opening and _is_row(kinds, opening) and (rows := _read_rows(kinds, opening, label)):
        return rows
    claims: list[Claim] = []
    happens = False  # whether an earlier clause is about a machine
    last: str | None = None  # the verdict of the clause before
    breaks = [number for number, kind in enumerate(kinds) if kind in ("break", "so")]
    for start, end in pairwise([-1, *breaks, len(kinds)]):
        clause = [_IN_CLAUSES.get(kind, kind) for kind in kinds[start + 1 : end]]
        named = set(clause) & NOUNS
        found = list(_read_clause(clause, seen))
        if "either" in kinds[start + 1 : end]:
            found = [claim.as_choice() for claim in found]
        if happens and not named:
            # "like the striped or the dotted one, because neither is certain"
            found = [claim for claim in found if clause[claim.place] not in ("these", "it")]
        objects, mark = _opening(clause)
        status = mark or label or last
        if objects and status and not found:
            alone = not set(clause[objects.stop :]) - {"and", "close"}
            has_verb = clause[objects.stop : objects.stop + 1] in (["is"], ["event"])
            listed = alone or (start < 0 and not has_verb)
            found = list(_claims_of_list(clause, objects, status)) if listed else []
        claims += [claim._replace(place=start + 1 + claim.place) for claim in found]
        last = found[-1].status if found else last
        seen = seen or bool(named)
        happens = happens or "machine" in clause
    return claims


def _opening(kinds: Sequence[str]) -> tuple[range | None, str | None]:
    """The list that opens a sentence, and the verdict of a sign before it: "? red wedge"."""
    first = next(lists_of(kinds), range(0))
    before, after = kinds[: first.start], kinds[first.stop : first.stop + 1]
    if not first or len(before) > 2:
        return None, None
    ends = not after or after[0] in ("colon", "arrow", "break", "so")
    if before and ends and set(before) <= {"sure", "not", "maybe", "blicket"}:
        return first, verdict(before)
    return (None if set(before) - {"and", "close", "word", "sure", "only"} else first), None


def verdict(kinds: Sequence[str]) -> str | None:
    """What words say: "may not be" and "not certain" are a maybe."""
    said = set(kinds)
    doubt = {"not", "sure"} <= said and any(
        kind == "not" and "sure" in kinds[n + 1 : n + 4] for n, kind in enumerate(kinds)
    )
    if doubt or "maybe" in said:
        return "maybe"
    if said & {"not", "except"}:
        return "no"
    return "yes" if said & {"blicket", "blickets", "sure"} else None


def lists_of(kinds: Sequence[str], start: int = 0) -> Iterator[range]:
    """Where lists of objects stand: "A, B", "A and not B"."""
    place = start
    while place < len(kinds):
        if kinds[place] not in NAMING:
            place += 1
            continue
        first, place = place, place + 1
        while True:
            following = place
            while following < len(kinds) and kinds[following] in {*JOINS, *CHANGES}:
                following += 1
            joined = kinds[place:following]
            listed = joined and not _has_change_first(joined)
            if not listed or kinds[following : following + 1] not in (["object"], ["all"]):
                break
            place = following + 1
        yield range(first, place)


def _has_change_first(joined: Sequence[str]) -> bool:
    """Whether a "not" stands before a comma: "A not, B" is no list."""
    return any(this in CHANGES and after in JOINS for this, after in pairwise(joined))


def _read_rows(kinds: list[str], first: range, label: str | None) -> list[Claim]:
    """The claims of a sentence that is made of rows; none where one of them has no verdict."""
    claims: list[Claim] = []
    rows = [first, *_next_rows(kinds, first.stop)]
    for row, following in pairwise([*rows, range(len(kinds), len(kinds))]):
        status = _row_verdict(kinds[row.stop : following.start]) or label
        if status is None:
            return []
        claims += _claims_of_list(kinds, row, status)
    return claims


def _is_row(kinds: Sequence[str], objects: range) -> bool:
    return kinds[objects.stop : objects.stop + 1] in (["colon"], ["arrow"])


def _next_rows(kinds: list[str], place: int) -> Iterator[range]:
    """The lists that a colon follows, after a comma or a new clause: "A: yes, B: no"."""
    for objects in lists_of(kinds, place):
        if kinds[objects.start - 1] in ("and", "break", "close") and _is_row(kinds, objects):
            yield objects


def _row_verdict(body: list[str]) -> str | None:
    """What the rest of a row says: its conclusion, else its first cell that is a verdict."""
    concludes = [number for number, kind in enumerate(body) if kind in ("so", "arrow")]
    for part in (body[concludes[-1] :] if concludes else [], body):
        for cell in _cells(part):
            if said := _cell_verdict(cell):
                return said
            if {"event", *NAMING} & set(cell):
                break  # what follows explains
    return None


def _cells(kinds: Sequence[str]) -> list[list[str]]:
    """Words split at colons, commas and new clauses."""
    cells: list[list[str]] = [[]]
    for kind in kinds:
        if kind in ("colon", "arrow", "break", "and", "so"):
            cells.append([])
        else:
            cells[-1].append(kind)
    return [cell for cell in cells if cell]


def _cell_verdict(cell: list[str]) -> str | None:
    """The verdict of some words: "must be a blicket", "maybe"; None for what happens."""
    noun = _noun(cell)
    if _is_about_machine(cell[:noun]):
        return None
    if noun == len(cell):
        return verdict(cell) if cell.count("word") <= MAX_WORDS else None
    return verdict(_with_tail(cell, noun))


def _noun(kinds: Sequence[str]) -> int:
    """Where the first blicket stands; the end where there is none."""
    return next((number for number, kind in enumerate(kinds) if kind in NOUNS), len(kinds))


def _with_tail(kinds: Sequence[str], noun: int) -> Sequence[str]:
    """Words up to a blicket, and what belongs to it: "a blicket or not", "blickets: no"."""
    end = noun + 1
    while end < min(len(kinds), noun + 4) and kinds[end] in {*NOUNS, "is", "or", "not", "maybe"}:
        end += 1
    return kinds[:end]


def _is_about_machine(said: Sequence[str]) -> bool:
    """Whether words before a blicket say what happens or is supposed: "lights up when"."""
    happens = "event" in said and "is" not in said[said.index("event") :]
    return happens or _is_supposed(said)


def _is_supposed(said: Sequence[str]) -> bool:
    """Whether words only suppose something; "it is open whether" does not."""
    return bool({"if", "supposed"} & set(said)) or ("whether" in said and "maybe" not in said)


def _claims_of_list(
    kinds: Sequence[str], objects: range, status: str, *, complete: bool = False
) -> Iterator[Claim]:
    """The claims about a list of objects with one verdict, but for "not B" and "maybe B"."""
    places = {place for place in objects if kinds[place] in NAMING}
    if len(places) > 1 and kinds[objects.start] in ("others", "these"):
        places.remove(objects.start)  # "the other two (A and B)"
    changes = {place for place in objects if kinds[place] in CHANGES}
    either = status != "no" and "or" in kinds[objects.start : objects.stop] and not changes
    status = "maybe" if either else status
    change: str | None = None
    for place in objects:
        change = verdict([kinds[place]]) if place in changes else change
        if place in places:
            yield Claim(place, change or status, complete, either)


def _read_clause(kinds: list[str], seen: bool) -> Iterator[Claim]:
    """The claims of one clause, each with its verdict from before or after the list."""
    lists = list(lists_of(kinds))
    before = kinds[: lists[0].start] if lists else []
    last: str | None = None  # the verdict of the list before
    for objects, following in pairwise([*lists, range(len(kinds), len(kinds))]):
        first = kinds[objects.start]
        gap = kinds[objects.stop : following.start]
        after, rest = _split_gap(gap) if following else (gap, [])
        if following and first in ("others", "these", "it") and gap[-1:] == ["colon"]:
            after, rest = [], [*before, *gap]  # "two other objects may be blickets: A and B"
        only = "only" in [*before, *after]
        before, after = ([kind for kind in part if kind != "only"] for part in (before, after))
        label = None if after[:1] == ["event"] else _label(before)  # "the A and B trials"
        is_last = not following
        own = _predicate(after, (seen or _noun(kinds) < objects.start) and is_last)
        if first in ("these", "it") and not _refers(after):
            own = None
        earlier = kinds if first in ("these", "it") else before
        if own == "maybe" and "event" in earlier and not NOUNS & set(after):
            own = None  # "any combination with A that lacks B"
        if _is_supposed(before) and own != "maybe":
            own = label = None
        prefix = None if label else verdict([kind for kind in before if kind in CHANGES])
        if prefix and "except" not in before and own in ("yes", None):
            own = prefix if own or last else None
        if own is None and label is None and not after and before and set(before) <= JOINS:
            own = last  # "A may be a blicket, or B"
        complete = (own is None and "blickets" in before) or (only and own in ("yes", None))
        status = label or own
        if status:
            claims = list(_claims_of_list(kinds, objects, status, complete=complete))
            if own and label:
                # "The blickets are A and B, and C is not a blicket."
                claims[-1] = claims[-1]._replace(status=own)
            if "except" in before:
                claims[0] = claims[0]._replace(status="no")  # "rather than A, B is a blicket"
            yield from claims
        last = own or label or last
        before = rest


def _refers(after: Sequence[str]) -> bool:
    """Whether a verb follows "they"; "each trial they take part in includes a blicket"."""
    verb = (kind for kind in after if kind not in ("and", "only", "sure", "maybe"))
    return next(verb, "is" if after else "") in {*NOUNS, "is", "colon", "not"}


def _split_gap(gap: list[str]) -> tuple[list[str], list[str]]:
    """What stands between two lists: what is said about the first, and what opens the second."""
    for number in range(len(gap) - 1, max(-1, len(gap) - MAX_LABEL), -1):
        if gap[number] in ("and", "close") and _label(gap[number + 1 :]):
            return gap[:number], gap[number + 1 :]
    for number in range(len(gap) - 1, -1, -1):
        if gap[number] in SUPPOSED:
            # "A is not, and it is open whether B is"
            joins = [place for place in range(number) if gap[place] in JOINS]
            split = joins[-1] if joins and verdict(gap[: joins[-1]]) else number
            return gap[:split], gap[split:]
    number = len(_without_end(gap, {*JOINS, *CHANGES, "word"}))
    if not (number and gap[number - 1] in NOUNS):
        # "not B" opens the second list only after a comma or a blicket: "A: no, B".
        while number < len(gap) and gap[number] not in JOINS:
            number += 1
    return gap[:number], gap[number:]


def _without_end(kinds: Sequence[str], left_out: set[str]) -> Sequence[str]:
    end = len(kinds)
    while end and kinds[end - 1] in left_out:
        end -= 1
    return kinds[:end]


def _label(before: Sequence[str]) -> str | None:
    """The verdict of what stands before a list, if it is a label: "blickets:", "ruled out:"."""
    said = _without_end(before, {"and"})
    if "blicket" in said or "blickets" in said:
        noun = max(number for number, kind in enumerate(said) if kind in NOUNS)
        tail = said[noun + 1 :]
        end = _without_end(tail, {*CHANGES, "and", "word", "sure"})
        named = set(tail) <= {*CHANGES, "and", "colon"} or end[-1:] in (["is"], ["colon"])
        return verdict(said) if named else None
    short = said.count("word") <= MAX_OTHERS and "event" not in said
    ends = _without_end(said, {"word"})[-1:] == ["colon"]
    # "Certain is A", "Still open are B and C"
    verb = said[-1:] == ["is"] or (said[:1] == ["is"] and "not" not in said)
    verb = verb and set(said) <= {"is", "word", "sure", "maybe", "not"}
    return verdict(said) if short and (ends or verb) else None


def _predicate(after: Sequence[str], seen: bool) -> str | None:
    """The verdict of what stands after a list: "are not blickets", ": maybe", "may be"."""
    if after[:1] == ["colon"] and (cells := _cells(after)) and (said := _cell_verdict(cells[0])):
        return said
    last = after[len(after) - after[::-1].index("colon") :] if "colon" in after else []
    if last and set(last) <= {*NOUNS, *CHANGES, "sure"}:
        return verdict(last)  # "A does it alone: blicket."
    noun = _noun(after)
    if noun == len(after):
        return _short_predicate(_without_end(after, {"and", "close", "colon"}), seen)
    if _is_about_machine(after[:noun]) or after[noun + 1 : noun + 2] == ["if"]:
        return None  # "they light it when the blicket is on it"
    return verdict(_with_tail(after, noun))


def _short_predicate(said: Sequence[str], seen: bool) -> str | None:
    """The verdict of words without a blicket: "may be", "is not", and "is" after a blicket."""
    if said[:1] == ["and"] and 1 < len(said) < 4 and not set(said[1:]) - {"sure", *CHANGES}:
        return verdict(said)  # "A and B, yes"
    words = said.count("word")
    possible = "maybe" in said and "event" not in said[: said.index("maybe")]
    if possible and words <= MAX_WORDS + 1 and not SUPPOSED & set(said):
        return "maybe"
    if not said or set(said) - {"is", "not", "word", "sure"} or said[0] == "word" or words > 2:
        return None
    return verdict(said) or ("yes" if seen and list(said) == ["is"] else None)
