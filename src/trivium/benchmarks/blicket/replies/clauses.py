"""What one clause says about the objects that it names.

Objects that stand together form a list. A verdict about a list stands before it as a label ("must
be blickets: A, B", "the blickets are A and B") or after it as a predicate ("A and B are not
blickets", "A: maybe"); between two lists the grammar decides which of them the words belong to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trivium.benchmarks.blicket.replies.words import shape, spelled

MAX_OPENING = 16  # words of a label inside a sentence
NAMING = {"object", "all", "none", "others", "these", "it"}
JOINS = {"and", "or"}
NOUNS = {"blicket", "blickets"}
CHANGES = {"not", "except", "maybe"}
_LINK = shape("(?:<and|or>{1,3}<not|except|maybe>{0,2}|<not|except|maybe>{1,2}|<colon>)$")
_REFERS = shape("<and|only|sure|maybe>{0,3}<is|colon|not>")
_SHORT_LABEL = shape("(?:<word>?<is>?<sure|maybe|not>{1,2}<is>|<is><sure|maybe>{1,2})$")
_NOT_SURE = shape("<not><is|word>{0,2}<sure>")


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
    noun = next((n for n, each in enumerate(kinds) if each in NOUNS), len(kinds))
    for number, (first, stop) in enumerate(runs):
        follows = number + 1 < len(runs)
        gap = kinds[stop : runs[number + 1][0] if follows else len(kinds)]
        after, rest = _split_gap(gap) if follows else (gap, [])
        if follows and kinds[first] in ("others", "these", "it") and gap[-1:] == ["colon"]:
            after, rest = [], [*before, *gap]  # "two other objects may be blickets: A and B"
        only = "only" in [*before, *after]
        before, after = ([each for each in part if each != "only"] for part in (before, after))
        label = _label(before)
        own = _predicate(after, seen or noun < first, last_in_clause=not follows)
        if kinds[first] in ("these", "it") and not _REFERS.match(spelled(after[:4])):
            own = None  # "each trial they take part in includes a blicket"
        earlier = kinds[:first] if kinds[first] in ("these", "it") else before
        if own == "maybe" and "event" in earlier and not NOUNS & set(after):
            own = None  # "any combination with A that lacks B"
        if _is_supposed(before) and own != "maybe":
            own = label = None
        prefix = None if label else verdict([each for each in before if each in CHANGES])
        if prefix and "except" not in before and own in ("yes", None):
            own = prefix if own or last else None
        if after == ["is"] and "maybe" in before and {"if", "supposed"} & set(before):
            own = "maybe"  # "it is open whether A is"
        if own is None and label is None and not after and before and set(before) <= JOINS:
            own = last  # "A may be a blicket, or B"
        names = [n for n in range(first, stop) if kinds[n] in NAMING]
        if len(names) > 1 and kinds[first] in ("others", "these"):
            names = names[1:]  # "the other two (A and B)"
        plain = not set(before) - {"and", "colon", "close"} and "is" not in after
        alone = number == 0 and plain and not set(after) - {"and", "close"}
        changed = {n: each for n, each in _changes(kinds, first, stop, before) if own or label}
        either = "or" in kinds[first:stop] and not changed
        complete = (own is None and "blickets" in before) or (only and own in ("yes", None))
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
    if "except" in before:
        yield first, "no"  # "rather than A, B is a blicket"
    status = None
    for number in range(first, stop):
        if kinds[number] in CHANGES:
            status = verdict([kinds[number]])
        elif kinds[number] in NAMING and status:
            yield number, status


def runs_of(kinds: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where the lists of objects begin and end."""
    number = 0
    while number < len(kinds):
        if kinds[number] not in NAMING:
            number += 1
            continue
        stop = number + 1
        while True:
            following = stop
            while following < len(kinds) and kinds[following] in {*JOINS, *CHANGES, "colon"}:
                following += 1
            # A colon joins only in a row of objects; "not B" or "maybe B" belongs to the list.
            listed = _LINK.match(spelled(kinds[stop : min(following, stop + 6)]))
            if listed and following < len(kinds) and kinds[following] in ("object", "all"):
                stop = following + 1
            else:
                break
        yield number, stop
        number = stop


def _split_gap(gap: list[str]) -> tuple[list[str], list[str]]:
    """What stands between two lists: what is said about the first, and what opens the second."""
    for number in range(len(gap) - 1, max(-1, len(gap) - MAX_OPENING), -1):
        if gap[number] in ("and", "close") and _label(gap[number + 1 :]):
            return gap[:number], gap[number + 1 :]
    for number in range(len(gap) - 1, -1, -1):
        if gap[number] in ("if", "supposed"):
            return gap[:number], gap[number:]
    number = len(gap)
    while number and gap[number - 1] in {*JOINS, *CHANGES, "word"}:
        number -= 1
    if not (number and gap[number - 1] in NOUNS):
        # "not B" opens the second list only after a comma or a blicket: "A: no, B".
        while number < len(gap) and gap[number] not in JOINS:
            number += 1
    return gap[:number], gap[number:]


def _label(before: Sequence[str]) -> str | None:
    """The verdict of what stands before a list, if it is a label: "blickets:", "ruled out:"."""
    said = _without_end(before, {"and"})
    if _is_supposed(said):
        return None
    nouns = [n for n, kind in enumerate(said) if kind in NOUNS]
    if nouns:
        tail = said[nouns[-1] + 1 :]
        open_end = _without_end(tail, {"and", "not", "maybe", "except", "word", "sure"})
        named = set(tail) <= {*CHANGES, "and", "colon"} or open_end[-1:] in (["is"], ["colon"])
        return verdict(said) if named else None
    short = _without_end(said, {"word"})[-1:] == ["colon"] and "event" not in said
    short = short and said.count("word") <= 4
    # "Certain is A", "Still open are B and C"
    return verdict(said) if short or _SHORT_LABEL.match(spelled(said)) else None


def _without_end(kinds: Sequence[str], left_out: set[str]) -> Sequence[str]:
    end = len(kinds)
    while end and kinds[end - 1] in left_out:
        end -= 1
    return kinds[:end]


def _predicate(after: Sequence[str], seen: bool, *, last_in_clause: bool) -> str | None:
    """The verdict of what stands after a list: "are not blickets", ": maybe"."""
    if after[:1] == ["colon"]:
        start = next((n for n, kind in enumerate(after) if kind != "colon"), len(after))
        end = next(
            (n for n in range(start, len(after)) if after[n] in ("colon", "and")), len(after)
        )
        cell = after[start:end]
        if verdict(cell) and (cell[0] not in ("word", "event") or {*NOUNS, "maybe"} & set(cell)):
            return verdict(cell)
    noun = next((n for n, kind in enumerate(after) if kind in NOUNS), None)
    if noun is not None:
        if is_about_machine(after[:noun]) or after[noun + 1 : noun + 2] == ["if"]:
            return None  # "they light it when the blicket is on it"
        end = noun + 1
        while end < min(len(after), noun + 4) and after[end] in (
            "is",
            "not",
            "maybe",
            "blicket",
            "blickets",
        ):
            end += 1
        return verdict(after[:end])
    return _short_predicate(_without_end(after, {"and", "close", "colon"}), seen and last_in_clause)


def _short_predicate(said: Sequence[str], seen: bool) -> str | None:
    """The verdict of words without a blicket: "may be", "is not", and "is" after a blicket."""
    possible = "maybe" in said and "event" not in said[: said.index("maybe")]
    if possible and said.count("word") <= 5 and not {"if", "supposed"} & set(said):
        return "maybe"
    if (
        said
        and set(said) <= {"is", "not", "word", "sure", "maybe"}
        and said[0] in ("is", "not", "sure")
    ):
        if {"not", "sure"} & set(said) and said.count("word") <= 2:
            return verdict(said)
        return "yes" if seen and list(said) == ["is"] else None
    return None


def _is_supposed(said: Sequence[str]) -> bool:
    """Whether words only suppose something: "if", "at first"; but "it is open whether" does not."""
    return bool({"if", "supposed"} & set(said)) and "maybe" not in said


def is_about_machine(said: Sequence[str]) -> bool:
    """Whether words before a blicket say what happens or is supposed: "lights up when"."""
    happens = "event" in said and "is" not in said[said.index("event") :]
    return happens or _is_supposed(said)


def verdict(kinds: Sequence[str]) -> str | None:
    """What words say: "may not be" is a maybe."""
    said = set(kinds)
    if "maybe" in said or ({"not", "sure"} <= said and _NOT_SURE.search(spelled(kinds))):
        return "maybe"  # "not certain", "neither is guaranteed"
    if said & {"not", "except"}:
        return "no"
    return "yes" if said & {"blicket", "blickets", "sure"} else None
