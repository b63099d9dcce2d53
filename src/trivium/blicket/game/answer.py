"""The lines that a player speaks: written, and read back from whatever was said."""

from __future__ import annotations

import re
from dataclasses import dataclass

from trivium.blicket.game.item import GameAnswer
from trivium.blicket.hypotheses import FORMS, LETTERS


@dataclass(frozen=True)
class Command:
    """One turn of a player: a test, or an answer where a form is named."""

    objects: str  # what is placed, or the blickets
    form: str | None = None
    inhibitors: str = ""


def write_test(objects: str) -> str:
    """The line that asks for a test."""
    return f"TEST {' '.join(objects) or 'none'}"


def write_answer(answer: GameAnswer) -> str:
    """The line that gives an answer."""
    parts = [f"blickets: {' '.join(answer.blickets) or 'none'}"]
    if answer.inhibitors:
        parts.append(f"inhibitors: {' '.join(answer.inhibitors)}")
    return f"ANSWER {'; '.join([*parts, f'form: {answer.form}'])}"


# At the start of a line in any case, or anywhere in capitals.
_LINE = re.compile(
    r"(?:^[\s>*`\-]{0,9}(?i:(?P<start>test|answer))|\b(?P<capitals>TEST|ANSWER))\b[:\s]{0,9}"
    r"(?P<rest>.{0,300})$",
    re.MULTILINE,
)
_BLICKETS = re.compile(r"\bblickets?\s{0,3}[:=]?\s{0,3}([^;|:]{0,80})", re.IGNORECASE)
_INHIBITORS = re.compile(r"\binhibitors?\s{0,3}[:=]\s{0,3}([^;|:]{0,80})", re.IGNORECASE)
_FORM = re.compile(
    rf"\bform\s{{0,3}}[:=]?\s{{0,3}}(?:an?\s|the\s)?({'|'.join(FORMS)})(?:[\s-]{{0,3}}([1-9]))?",
    re.IGNORECASE,
)
_JOINING = re.compile(r"\b(?:and|objects?|the|or|are|is|on|put|place)\b", re.IGNORECASE)


def read_command(reply: str, objects: str) -> Command | None:
    """The last line of a reply that is a command; None where there is none that can be read."""
    lines = list(_LINE.finditer(reply))
    if not lines:
        return None
    line = lines[-1]
    rest = line["rest"]
    if (line["start"] or line["capitals"]).lower() == "test":
        placed = _letters(rest, objects)
        return None if placed is None else Command(placed)
    named, form = _BLICKETS.search(rest), _FORM.search(rest)
    if named is None or form is None:
        return None
    blickets = _letters(
        re.split(r"\b(?:form|inhibitors?)\b", named[1], flags=re.IGNORECASE)[0], objects
    )
    kept = _INHIBITORS.search(rest)
    inhibitors = _letters(kept[1], objects) if kept else ""
    if blickets is None or inhibitors is None:
        return None
    rule = f"{form[1].lower()}-{form[2]}" if form[2] else form[1].lower()
    return Command(blickets, rule, inhibitors)


def _letters(text: str, objects: str) -> str | None:
    """The objects in a list such as "A, C", "a and c" or "AC"; None where it is no such list."""
    words = re.findall(r"[A-Za-z]+", _JOINING.sub(" ", text.replace("`", " ")))
    if [word.lower() for word in words] in (["none"], ["nothing"]):
        return ""
    named = "".join(words).upper()
    if not named or not set(named) <= set(objects):
        return None
    return "".join(letter for letter in LETTERS if letter in named)
