"""The sentences of a reply about blickets; a bullet, a row and a field are one each."""

from __future__ import annotations

import re
from typing import NamedTuple

from trivium.benchmarks.blicket.names import COLOURS, SHAPES, mentions
from trivium.core import reading
from trivium.core.languages import in_english

# A field in the middle of a line becomes a line of its own.
_FIELD = re.compile(
    r"(^|[,;.)\]|] {1,9})((?:(?:maybe|no|not|non|possibl[ey]|possibly|uncertain|must|may|or|be"
    r"|might"
    r"|can|cannot|could|definite|definitely|certain|certainly|sure|a|an|the|only|new|known)[\s-])"
    r"{0,8}blickets?|machine(?: type)?|detector|form|rule|inhibitors?|unsure"
    r"|(?:behaves|works) like)\s{0,3}[:=](?!\s{0,3}\")"
    rf"|(\b(?:{'|'.join(SHAPES)}|o_[a-h]|none)s? {{1,3}})((?:maybe |not |non-|possible )?blickets?"
    r"|machine|form|rule|inhibitors?|unsure)\s{0,3}[:=]",
    re.MULTILINE,
)
_BAR = re.compile(  # "Sure: A | Open: B"
    r"^[a-z][^|\n]{0,80}:[^|\n]{0,400} \| [^|:\n]{1,60}:[^\n]{0,600}$", re.MULTILINE
)
# "A, B ... no, correction: A and C": the list after it replaces the one before it.
CORRECTED = "\x02"
_CORRECTION = re.compile(
    r"[,;.]{0,3}\s{0,3}(?:\bno[,. ]{1,3})?"
    r"\b(?:wait|sorry|correction|i mean|scratch that|actually|rather)[,:. -]{1,4}(?:no[,: ]{1,3})?"
    rf"(?:it(?:'s| is) )?(?=(?:the )?(?:{'|'.join(COLOURS)}) )"
)
_NUMBER = re.compile(r"(?:^|[ \t])\((?:[1-9]|[a-d]|i{1,3})\)[ \t]", re.MULTILINE)  # "(1) A (2) B"
_MARK = re.compile(r"^[ \t]{0,9}(?:-[ \t])?[?\u2753\u2754](?=[ \t])", re.MULTILINE)  # "? red wedge"
_RECORD = re.compile(r"\{([^{}]{1,600})\}")
_KEY_AND_VALUE = re.compile(
    r"[\"']([a-z][a-z_ -]{0,40})[\"']\s{0,3}:\s{0,3}(?:[\"']([^\"']{0,200})[\"']|([a-z0-9.]{1,10}))"
)
_UNDERSCORE = re.compile(r"(?<=[a-z]{2})_(?=[a-z]{2})")  # "must_be_blickets:"
_QUOTES = re.compile(r"[\"{<]+|(?<![-=])>+|(?<![a-z])'|'(?![a-z])")
_BULLET = re.compile(r"^[ \t|&]{0,9}(?:(?:-|\d{1,2}[.)])[ \t]+)?", re.MULTILINE)
_EMPTY = re.compile(r"[:=]\s{0,3}-{1,3}\s{0,3}(?=[;,.\n]|$)")  # "inhibitors: -"
_LEADER = re.compile(r"(?<![.!?\n])[ \t](?:-{1,2}|\.{3,60})[ \t]|\.{4,60}")
_VERDICT = re.compile(
    r"\b(?:blickets?|must|may|might|maybe|possibl[ey]|definite(?:ly)?|certain|not|no|non|unsure"
    r"|uncertain|unknown|undetermined|ruled out|open|verdict|status|conclusion|assessment)\b"
)


_SAYS = re.compile(r"[^\W\d_]|[?\u2713\u2717]")


def _is_verdict(cell: str) -> bool:
    return _VERDICT.search(cell) is not None and not mentions(cell)


def _as_row(record: re.Match[str]) -> str:
    """A JSON record about one object as a row: {"name": "red wedge", "blicket": false}."""
    fields = [(key, text or value) for key, text, value in _KEY_AND_VALUE.findall(record[1])]
    names = [value for key, value in fields if key in ("name", "object", "item", "id")]
    if len(names) != 1 or len(fields) < 2:
        return record[0]
    said = [f"{key} {value}" for key, value in fields if value != names[0]]
    return f"\n{names[0]}: {', '.join(said)}\n"


class Sentence(NamedTuple):
    """A sentence of a reply, and whether it opens a line."""

    text: str
    opens_line: bool


def split_sentences(text: str) -> list[Sentence]:
    """The sentences of a plain text in lower case and in English."""
    text = _RECORD.sub(_as_row, _MARK.sub("maybe: ", text.lower()))
    text = _UNDERSCORE.sub(" ", reading.json_as_lines(text))
    text = in_english(text).replace("tl;dr", "answer: ")
    text = reading.tables_as_lines(text, _is_verdict, one_column=True)
    text = _BAR.sub(lambda line: line[0].replace(" | ", "\n"), text)
    text = _NUMBER.sub("\n", text)
    text = _BULLET.sub("", re.sub(r"[ \t]{2,}", " ", text))
    text = _QUOTES.sub(" ", _FIELD.sub(r"\1\3\n\2\4:", text))
    text = _CORRECTION.sub(f"\n{CORRECTED}", text)
    text = _LEADER.sub(": ", _EMPTY.sub(": none", text))
    found: list[Sentence] = []
    for line in re.sub(r"[ \t]{2,}", " ", text).split("\n"):
        parts = [part for part in reading.sentences(line) if _SAYS.search(part)]
        found += [Sentence(part, number == 0) for number, part in enumerate(parts)]
    return found
