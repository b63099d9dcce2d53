"""The kinds of words that a reply about blickets is made of.

    objects    object "the brown torus", all, none, others "the rest", these "they", it
    verdicts   blicket, blickets, sure "must", not, except, maybe, either
    grammar    is, colon (also "namely", a dash, a cell), and (also a comma), or, break (a new
               clause), so, only, close (a bracket), if, supposed "I first thought"
    the rest   event (what happens on a machine), translated (before a name in brackets), word

A word of two kinds counts as both, one after the other: "is not blicket" is "is no blicket".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from trivium.benchmarks.blicket.names import COLOURS, SHAPES
from trivium.core import reading
from trivium.core.files import packaged_pairs


class Word(NamedTuple):
    """A word of a sentence."""

    kind: str
    name: str = ""  # of an object, or how many "the other two" are


_COLOUR = rf"(?:{'|'.join(COLOURS)})\s"
NAME = (
    rf"(?:{_COLOUR}(?:(?!and\b|or\b)[a-z]{{1,9}}\s)?)?(?:{'|'.join(SHAPES)}|o_[a-h])(?:e?s)?"
    rf"|{_COLOUR}(?:one|object|item)"
)
# Blickets in what is said about a machine, not about objects: "needs two blickets".
RULE_TALK = (
    r"(?:need|require|take|want)(?:s|ed|d|ing)?(?: (?!as )[a-z]{1,9}){0,3} blickets?"
    r"(?: or [a-z]{1,5})?"
    r"|(?:one|a single|any|any one) blicket(?= (?:is enough|suffices|is sufficient|alone))"
    r"|(?:all|both|one|two|any|every)(?: of)?(?: the| its| their)? blickets? (?:is |are )?"
    r"(?:needed|required|together|at once)"
)


def load_pairs(file: str, separator: str = ": ", **parts: str) -> list[tuple[str, str]]:
    """The pairs in a file of this package; `parts` are what its patterns name."""
    pairs = packaged_pairs(__package__, file, separator)
    return [(first % parts, second % parts) for first, second in pairs]


_KINDS = load_pairs(
    "object_words.txt",
    name=NAME,
    colour=_COLOUR,
    rules=RULE_TALK,
    unsure=reading.UNSURE_WORDS.removeprefix(r"\b(?:").removesuffix(r")\b"),
    some="(?:one|two|three|some)",
    it_is=(
        "(?:is|was|must|may|might|could|cannot|not|isn't|be|also|thus|the|an?|only|sole|one|single"
        "|lone|no|indeed)"
    ),
)
_SIGNS = {
    **dict.fromkeys(",+&/", "and"),
    **dict.fromkeys("]}", "close"),
    ";": "break",
    "->": "arrow",
    "=>": "arrow",
    "?": "maybe",
}
_WORD = re.compile(
    "(?<![\\w'])(?:"
    + "|".join(f"(?P<k{number}>{pattern})" for number, (_, pattern) in enumerate(_KINDS))
    + r")(?![\w'])|(?P<sign>[-=]>|[,;:=|+&/\]}]|[?](?=\s?[,;)]))"
    r"|(?P<translated>\0)|(?P<word>[\w'-]+)"
)
_KINDS_OF = {
    f"k{number}": kinds.replace("skipped", "").split() for number, (kinds, _) in enumerate(_KINDS)
}
_COUNT = re.compile("two|both|neither|three|four|five|six|seven")
_NAMING = {*COLOURS, *SHAPES}


def words_of(sentence: str, objects: Sequence[str]) -> list[Word]:
    """The words of a sentence; an object is known by its colour or its shape where they are one."""
    words: list[Word] = []
    for found in _WORD.finditer(sentence):
        group = str(found.lastgroup)
        if group == "translated":
            while words and words[-1].kind == "word":
                words.pop()
        elif group == "sign":
            words.append(Word(_SIGNS.get(found[0], "colon")))
        elif group == "word":
            words.append(Word("word"))
        elif group == "k0":
            named = [Word("object", name) for name in _named(found[0], objects)]
            if words[-1:] == [Word("and")] and named and named[0] in _last_list(words):
                words[-1] = Word("break")  # "since it lights up with A and B, A must be one"
            words += named
        else:
            count = _COUNT.search(found[0])
            words += [Word(kind, count[0] if count else "") for kind in _KINDS_OF[group]]
    return words


def _last_list(words: Sequence[Word]) -> list[Word]:
    """The objects that the words end with."""
    start = len(words)
    while start and words[start - 1].kind in ("object", "and", "or"):
        start -= 1
    return list(words[start:])


def _named(text: str, objects: Sequence[str]) -> list[str]:
    """The one object that a text names: "brown torus", "torus"; none where there are several."""
    if text in objects:
        return [text]
    *others, last = text.split()
    singular = (last, last.removesuffix("s"), last.removesuffix("es"))
    shape = next((each for each in singular if each in _NAMING), last)
    said = {*others[:1], shape} & _NAMING
    named = [name for name in objects if name == shape or (said and said <= set(name.split()))]
    return named if len(named) == 1 else []
