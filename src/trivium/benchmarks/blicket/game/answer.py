"""What a player says: tests and answers as lines of text, written, and read from any reply."""

from __future__ import annotations

import re
from dataclasses import dataclass

from trivium.benchmarks.blicket.game.generate import GameAnswer
from trivium.benchmarks.blicket.inference.hypotheses import FORMS, INHIBITOR, LETTERS


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
    inhibitors = f"inhibitors: {' '.join(answer.inhibitors)}; " if answer.inhibitors else ""
    blickets = " ".join(answer.blickets) or "none"
    return f"ANSWER blickets: {blickets}; {inhibitors}form: {answer.form}"


def place(objects: list[str]) -> str:
    """Put these objects on the machine, and nothing else, and see whether it lights up.

    Args:
        objects: The letters of the objects, such as A and B; none for an empty machine.
    """
    return write_test("".join(objects))


def answer(blickets: list[str], form: str, inhibitors: list[str] | None = None) -> str:
    """Say how the machine works, once; the game ends with it.

    Args:
        blickets: The letters of the objects that are blickets.
        form: The way in which the machine works, by its name in the rules.
        inhibitors: The letters of the objects that are inhibitors, if there are any.
    """
    return write_answer(GameAnswer("".join(blickets), form, "".join(inhibitors or ())))


TOOLS = (place, answer)  # for models that call tools; their names and docstrings are prompts

# At the start of a line in any case, or anywhere in capitals; "(or TEST B)" is no command.
_COMMAND = re.compile(
    r"^[\s>#\"\-]{0,9}(?:\d{1,2}[.)]\s{0,3})?(?i:final\s{1,3})?(?P<start>(?i:test|answer))\b"
    r"|\b(?<!or )(?P<capitals>TEST|ANSWER)\b",
    re.MULTILINE,
)
_TAG = re.compile(r"<[/|]?[a-z_]{2,20}[/|]?>")
_MARKUP = str.maketrans(dict.fromkeys("*`{}[]<>\"'$", " "))
MAX_READ = 400  # characters of one command

# What may follow the objects of a test: a comment, or the reason for it.
_COMMENT = re.compile(
    r"[.;!#(\-\u2013\u2014\u2192]|(?:to|because|since|so|as|for)\b|$", re.IGNORECASE
)
_NUMBER = re.compile(r"\s{0,3}#?\d{1,2}\s{0,3}[:.)]")
_FILLER = re.compile(
    r"[\s,+&:()]|(?:and|objects?|the|are|is|on|put|place|alone|together|only)(?![A-Za-z])",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-z]+")
_NOTHING = ("none", "nothing", "empty")

_KEY = re.compile(
    r"(?P<denied>\b(?:non|not)[\s-]{0,3})?\b(?P<key>blicket|inhibitor|form)s?\s{0,3}"
    r"(?P<mark>[:=]|(?:is|are)\b)?",
    re.IGNORECASE,
)
_FORM = re.compile(
    rf"\b({'|'.join(FORMS)})\b(?:[\s=(-]{{0,3}}(?:of\s{{1,3}})?([1-9]))?", re.IGNORECASE
)
_DENIAL = re.compile(r"\bnot\b|n't\b", re.IGNORECASE)  # before a form
_OR = re.compile(r"\s{0,3}(?:/|,?\s?or\b)", re.IGNORECASE)  # after a form


def read_command(reply: str, objects: str) -> Command | None:
    """The last command of a reply that can be read; None where there is none.

    An answer that names blickets and a form in a way that cannot be read hides the commands
    before it: the player has ended the game, though not clearly.
    """
    text = _TAG.sub(" ", reply).translate(_MARKUP)
    end = len(text)
    for found in reversed(list(_COMMAND.finditer(text))):
        word = found["start"] or found["capitals"]
        rest = text[found.end() : min(end, found.end() + MAX_READ)]
        end = found.start()
        if word.lower() == "test":
            command, is_final = _read_test(rest, objects, strict=word != "TEST"), False
        else:
            fields = _read_fields(rest)
            command, is_final = _read_answer(fields, objects), {"blicket", "form"} <= set(fields)
        if command is not None or is_final:
            return command
    return None


def _read_test(rest: str, objects: str, *, strict: bool) -> Command | None:
    """The test in the rest of a line; `strict` (it may be prose) allows nothing after it."""
    line = rest.lstrip(" \t:").partition("\n")[0]
    number = _NUMBER.match(line)
    placed, after = _leading_objects(line[number.end() :] if number else line, objects)
    ended = not after.strip(" .") if strict or number else _COMMENT.match(after)
    return Command(placed) if placed is not None and ended else None


def _read_fields(rest: str) -> dict[str, str]:
    """The values of an answer by their keys; keys with a colon or a verb come first."""
    rest = re.sub(r",\s{0,9}\n", ", ", rest)
    keys = [key for key in _KEY.finditer(rest) if key["mark"] or key["key"].lower() != "inhibitor"]
    marked = [key for key in keys if key["mark"]]
    if "blicket" in {key["key"].lower() for key in marked if not key["denied"]}:
        keys = marked
    ends = [*(key.start() for key in keys[1:]), len(rest)]
    fields: dict[str, str] = {}
    for key, end in zip(keys, ends, strict=False):
        if not key["denied"]:
            value = re.split(r"[;|\n]", rest[key.end() : end].lstrip(), maxsplit=1)[0]
            fields.setdefault(key["key"].lower(), value)
    if "form" not in fields and _FORM.search(rest):
        fields["form"] = rest
    return fields


def _read_answer(fields: dict[str, str], objects: str) -> Command | None:
    blickets, after_blickets = _leading_objects(fields.get("blicket", ""), objects)
    inhibitors, after_inhibitors = _leading_objects(fields.get("inhibitor", "none"), objects)
    form = _read_form(fields.get("form", ""))
    if blickets is None or inhibitors is None or form is None:
        return None
    if not all(after == "" or after[0] in ".(-" for after in (after_blickets, after_inhibitors)):
        return None
    return Command(blickets, form, inhibitors) if inhibitors or form != INHIBITOR else None


def _read_form(text: str) -> str | None:
    """The one form that a text names; None for "not sure" and for "parity or disjunctive"."""
    found = _FORM.search(text)
    if found is None or _DENIAL.search(text, 0, found.start()) or _OR.match(text, found.end()):
        return None
    return "-".join(part.lower() for part in found.groups() if part)


def _leading_objects(text: str, objects: str) -> tuple[str | None, str]:
    """The objects that open a text, such as "A, C", "a and c" or "AC", and what follows them."""
    named, start = "", 0
    while start < len(text):
        filler, word = _FILLER.match(text, start), _WORD.match(text, start)
        if filler and not (filler[0] == "(" and named):
            start = filler.end()
        elif word and not named and word[0].lower() in _NOTHING:
            return "", text[word.end() :].strip(" )")
        elif word and set(word[0].upper()) <= set(objects):
            named, start = named + word[0].upper(), word.end()
        else:
            break
    ordered = "".join(letter for letter in LETTERS if letter in named)
    return ordered or None, text[start:]
