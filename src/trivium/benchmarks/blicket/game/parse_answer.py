"""The objects of a test, and the blickets and the form of an answer, read from what follows it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from trivium.benchmarks.blicket.game.spec import EXAMPLES, UNSURE
from trivium.benchmarks.blicket.inference.hypotheses import FORMS, INHIBITOR
from trivium.core import reading


@dataclass(frozen=True)
class Command:
    """One turn of a player: a test, or an answer where a form is named."""

    objects: str  # what is placed, or the blickets
    form: str | None = None
    inhibitors: str = ""
    unsure: str = ""  # objects that the player is not sure about


LETTERS = r"(?-i:[A-H](?:(?:,? and |, ?| )[A-H]){0,7})"  # "A, D and E" in a sentence
ARE = r"(?:,? are (?:all |both )?(?:the )?|\s?[:=] )"
_SUBJECT_FIRST = re.compile(rf"(?P<letters>{LETTERS}){ARE}(?P<role>blickets|inhibitors)\b(?!\s?:)")
_RESULT = re.compile(
    r"[\s:=,|()>-]{0,6}(?:it |the machine |machine |result:? |alone |gave |-> |and ){0,3}"
    r"(?:not?|un)?[ -]?(?:lit|lights?|dark|activated?|active|glow\w{0,3}|silent"
    r"|stay(?:s|ed)|no light|did|does|didn't|doesn't|was|were|showed|shows|gave"
    r"|gives|told|tells|means|turned|yes|no\b|on\b(?! (?:the|its))|off|ruled|rules|confirm\w{0,3}"
    r"|proved|had)\b|[\s:=,|()>-]{0,6}[\u2713\u2717]",
    re.IGNORECASE,
)
_ON_OR_OFF = re.compile(r"(?:[:=|-]|\bis|\bwas)\s{0,3}o(?:n|ff)\b[\s.|)]{0,5}$", re.IGNORECASE)
# What may follow the objects of a test: a comment, or the reason for it.
COMMENT = re.compile(
    r"[.;!#(:|\]})-]|(?:to|because|since|so|as|for|then|and then|next|on|now|first|again|not"
    r"|without"
    r"|separates?|splits?|distinguish(?:es)?|helps?|would|should|but|see|watch|observe|which"
    r"|in order|after|before|please|at|into|onto|will)\b|$",
    re.IGNORECASE,
)
# What opens the objects of a test in a sentence, and what ends them in JSON.
_REASON = re.compile(
    r",\s{0,3}(?:reason\w{0,3}|rationale|why|explanation|thoughts?|comment|note|purpose|goal)\s{0,3}:",
    re.IGNORECASE,
)
_OPENING = re.compile(r"^[\s:,>-]{0,9}(?:(?:should|will|would|to) be\b|is\b)?")
_LETTER_LINE = re.compile(r"\n\s{0,3}(?:- )?(?=[A-H]\s{0,3}(?:\n|$))")  # one object a line
_NUMBER = re.compile(r"\s{0,3}#?\d{1,2}\s{0,3}[:.)]")
_FILLER = re.compile(
    r"[\s,+&:/|()\[\]{}='`]|;(?=\s?[A-Z]\s{0,3}(?:$|[.;,\n]))|(?:and|objects?|the|are|is|on|put|place|placing|alone|together|only|just"
    r"|both|with|letters?|set|of|by itself|items?|blocks?|combination|pair|placed|it|args"
    r"|arguments|machine|detector)(?![A-Za-z])",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-z]+")
_DASH = re.compile(r"-(?=[A-Za-z]{1,8}\b)")
_NOTHING = ("none", "nothing", "empty", "no", "null", "n", "nil")
_NOTHING_AT_ALL = re.compile(
    r"^(?:/a\b| (?:objects?|blickets?|items?|machine|detector)\b)", re.IGNORECASE
)
_EVERYTHING = ("all", "everything")
_EVERY = re.compile(
    r"(?: (?:of )?(?:the )?(?:them|two|three|four|five|six|seven|eight|\d))?(?: objects)?"
)


class _Named(NamedTuple):
    """The objects that open a text, and what follows them."""

    first: str | None  # before a dash, as in A-B; None where none is named
    dashed: str  # after it
    after: str

    @property
    def all(self) -> str | None:
        """Every object named, in order."""
        return None if self.first is None else _ordered(self.first + self.dashed)


def _ordered(named: str) -> str:
    return "".join(sorted(set(named)))


def leading_objects(text: str, objects: str) -> _Named:
    """The objects that open a text, such as "A, C", "a and c", "AC" or "A-C"."""
    named: list[str] = ["", ""]
    start = dash = 0
    while start < len(text):
        filler, word = _FILLER.match(text, start), _WORD.match(text, start)
        if filler and not (filler[0] == "(" and named[0]):
            start = filler.end()
        elif named[0] and not dash and (found := _DASH.match(text, start)):
            if not set(_WORD.match(text, found.end())[0].upper()) <= set(objects):  # type: ignore[index]
                break
            start, dash = found.end(), 1
        elif word and not named[0] and word[0].lower() in _NOTHING:
            rest = _NOTHING_AT_ALL.sub("", text[word.end() :])
            return _Named("", "", rest.strip(" )]}"))
        elif word and not named[0] and word[0].lower() in _EVERYTHING:
            every = _EVERY.match(text, word.end())
            rest = text[every.end() if every else word.end() :]
            return _Named(objects, "", rest.strip(" )]}"))
        elif word and set(word[0].upper()) <= set(objects):
            named[dash] += word[0].upper()
            start = word.end()
        else:
            break
    return _Named(named[0] or None, named[1], text[start:].strip())


def read_test(rest: str, objects: str, *, exact: bool) -> Command | None:
    """The test in the rest of a line; `exact` (it may be prose) allows nothing after it."""
    text = _OPENING.sub("", _LETTER_LINE.sub(" ", rest))
    line = text.partition("\n")[0].partition("//")[0]
    number = _NUMBER.match(line)
    line = _REASON.split(line[number.end() :] if number else line)[0]
    named = leading_objects("none" if reading.is_none(line) else line, objects)
    if named.all is None or _RESULT.match(named.after) or _ON_OR_OFF.search(line):
        return None
    if exact or number:
        return Command(named.all) if not named.after.strip(" .!}])") else None
    return Command(named.all) if COMMENT.match(named.after) else None


_KEY = re.compile(
    r"(?P<denied>\b(?:non|not)[\s-]{0,3})?\b(?:(?P<blicket>blickets?(?: objects?| set)?)"
    r"|(?P<inhibitor>inhibitors?)|(?P<unsure>unsure|not sure)"
    r"|(?P<form>form|rule|type|kind|mechanism|logic|structure|machine))"
    r"(?:\s{0,3}(?:[:=|]|(?:is|are)\b(?! (?:an? (?:blicket|inhibitor)|not)\b))"
    rf"|(?=\s(?:[A-Z]|none|[A-H]{{2,8}}|{'|'.join(FORMS)})\b))",
    re.IGNORECASE,
)
_FORM_IS = re.compile(r"\b(?:form|rule|type|kind)(?: is|\s?[:=])\s(?:an? )?$", re.IGNORECASE)
_ROLE = re.compile(
    r"(?<![A-Za-z])(?P<letter>[A-Za-z])\s{0,3}(?:[:=]|is\b|->)\s{0,3}(?P<not>(?:not an?|non"
    r"|not)[\s-]{1,2})?"
    r"(?:an? |the )?(?P<role>blicket|inhibitor|neither|nothing|neutral|yes|no)\b",
    re.IGNORECASE,
)
_DIGITS = {"one": "1", "two": "2", "three": "3", "four": "4", "five": "5"}
_FORM = re.compile(
    rf"\b(?P<name>{'|'.join(FORMS)})(?:ly)?\b(?:[\s=(:_>-]{{0,4}}(?:of\s{{1,3}}|k\s?=\s?)?(?P<number>[1-9]|two|three|four))?"
    r"|\b(?P<before>[1-9])-threshold\b|\bat least (?P<least>[2-9]|two|three|four)\b"
    r"|\b(?P<synonym>conjunction|disjunction|odd|xor|inhibitory|inhibition|inhibited)\b",
    re.IGNORECASE,
)
_SYNONYMS = {
    "conjunction": "conjunctive",
    "disjunction": "disjunctive",
    "odd": "parity",
    "xor": "parity",
    "inhibitory": INHIBITOR,
    "inhibition": INHIBITOR,
    "inhibited": INHIBITOR,
    "and": "conjunctive",
    "all": "conjunctive",
    "or": "disjunctive",
    "any": "disjunctive",
}
_DENIAL = re.compile(
    r"(?:\bnot|n't|\bnever|\bno|\brather than|\binstead of|\bunlike)\s(?:\w{1,9}\s){0,2}$", re.I
)
_OR = re.compile(r"\s{0,3}(?:/|,?\s?or\b)", re.IGNORECASE)  # after a form
_BULLET = re.compile(
    r",?\s{0,9}\n\s{0,9}(?:-\s|\d{1,2}[.)]\s)(?=\s{0,3}[A-Za-z]\s{0,3}(?:\n|$|,|\())"
)


_DENIED = re.compile(
    r"\b[A-Z]\s?\((?:no|not a blicket|not needed|non-?blicket)\s?\)", re.IGNORECASE
)
_REMARK = re.compile(r"\((?!\s?or\b)[^()]{0,80}\)")


def is_final(rest: str) -> bool:
    """Whether a text names both blickets and a form, so that it is meant to end the game."""
    return re.search(r"\bblickets?\b", rest, re.I) is not None and (
        _FORM.search(rest) is not None or re.search(r"\bform\b", rest, re.I) is not None
    )


def read_answer(rest: str, objects: str, rules: Sequence[str]) -> Command | None:
    """The answer that a text gives, in fields or in the order of its words."""
    fields = _read_fields(_BULLET.sub(", ", rest))
    if set(fields) == {"inhibitor"}:
        fields = {}  # "inhibitor: A-B" names the form
    form = _read_form(fields["form"], rules) if "form" in fields else _read_form(rest, rules)
    if form is None:
        return None
    named = _read_blickets(fields, rest, objects)
    if named is None or named.first is None or not _may_follow(named.after):
        return None
    inhibitors = ""
    if "inhibitor" in fields:
        kept = leading_objects(fields["inhibitor"], objects)
        if kept.all is None or not _may_follow(kept.after):
            return None
        inhibitors = kept.all
    elif form == INHIBITOR and named.dashed:
        return Command(_ordered(named.first), form, _ordered(named.dashed))
    blickets = named.all or ""
    if UNSURE in rules:
        unsure = leading_objects(fields.get(UNSURE, "none"), objects).all
        clear = unsure is not None and not set(unsure) & set(blickets)
        return Command(blickets, form, unsure=unsure or "") if clear else None
    return Command(blickets, form, inhibitors) if inhibitors or form != INHIBITOR else None


def _read_fields(rest: str) -> dict[str, str]:
    """The values of an answer by their keys."""
    rest = re.sub(r",\s{0,9}\n", ", ", rest)
    rest = _SUBJECT_FIRST.sub(r"\g<role>: \g<letters>;", rest)
    # "The form is inhibitor: blickets ..." names a form, and opens no list of inhibitors.
    keys = [
        key
        for key in _KEY.finditer(rest)
        if not (key["inhibitor"] and _FORM_IS.search(rest, 0, key.start()))
    ]
    ends = [*(key.start() for key in keys[1:]), len(rest)]
    fields: dict[str, str] = {}
    for key, end in zip(keys, ends, strict=False):
        name = next(each for each in ("blicket", "inhibitor", "unsure", "form") if key[each])
        if not key["denied"]:
            value = re.split(r"[;\n]", rest[key.end() : end].lstrip(" \n"), maxsplit=1)[0]
            if name != "form":
                value = (
                    _REMARK.sub(" ", _DENIED.sub(" ", value)) if value.strip()[:1] != "(" else value
                )
            fields.setdefault(name, "none" if reading.is_none(value.strip(" ,|")) else value)
    return fields


def _read_blickets(fields: dict[str, str], rest: str, objects: str) -> _Named | None:
    """The blickets of an answer: in their field, object by object, or beside the form."""
    if "blicket" in fields:
        named = leading_objects(fields["blicket"], objects)
        if named.first is not None:
            return named
    roles = {}
    for found in _ROLE.finditer(rest):
        role = "no" if found["not"] else found["role"].lower()
        roles[found["letter"].upper()] = {"yes": "blicket"}.get(role, role)
    if roles and set(roles) <= set(objects) and len(roles) > 1:
        letters = {
            role: "".join(sorted(each for each, own in roles.items() if own == role))
            for role in ("blicket", "inhibitor")
        }
        return _Named(letters["blicket"], letters["inhibitor"], "")
    if "blicket" in fields:
        return None
    line = rest.strip(" :\n").partition("\n")[0]
    form = _FORM.search(line)
    if form is None:
        return None
    before = re.sub(r"\b(?:form|rule|type)\s?[:=]?\s{0,3}$", "", line[: form.start()])
    named = leading_objects(before.strip(" :,;-("), objects)
    said = re.match(r"(?:are|is)?\s?(?:the |an? )?blickets?\b", named.after, re.I)
    if named.first is not None and (named.after == "" or said):
        return named._replace(after="")
    return leading_objects(line[form.end() :].strip(" :,;-("), objects)


def _may_follow(after: str) -> bool:
    """Whether this text may follow the objects of an answer: a remark, what they are, or "not"."""
    return (
        after == ""
        or re.match(
            r"[.;,-]|\((?!\s?or\b)|(?:is|are|not|but not|only|since|because|as|form|rule)\b",
            after,
            re.I,
        )
        is not None
    )


def _read_form(text: str, rules: Sequence[str]) -> str | None:
    """The one form that a text names; None for "not sure" and for "parity or disjunctive"."""
    if UNSURE in rules:
        return _read_example(text)
    word = text.strip(" .,;:)(]}").lower()
    if word in _SYNONYMS:
        return _SYNONYMS[word]
    guess: str | None = None
    for found in _FORM.finditer(text):
        if _DENIAL.search(text, max(0, found.start() - 60), found.start()):
            continue
        if _OR.match(text, found.end()) and _FORM.search(text, found.end(), found.end() + 40):
            return None
        form = _form_of(found, rules)
        if not _POSSIBLE.search(text, max(0, found.start() - 60), found.start()):
            return guess or form
        if guess is not None and guess != form:
            return None  # "it could be conjunctive, but it could just as well be parity"
        guess = form
    return guess


_POSSIBLE = re.compile(r"\b(?:could|might|may|can)\b[^.;\n]{0,40}$", re.IGNORECASE)


def _form_of(found: re.Match[str], rules: Sequence[str]) -> str:
    """The form that was found, in the one spelling of its name."""
    number = found["number"] or found["before"] or found["least"] or ""
    number = _DIGITS.get(number.lower(), number)
    name = found["name"] or _SYNONYMS.get((found["synonym"] or "").lower(), "threshold")
    if name.lower() != "threshold":
        return name.lower()
    known = [rule for rule in rules if rule.startswith("threshold")]
    return f"threshold-{number}" if number else known[0] if len(known) == 1 else "threshold"


_UNSURE = re.compile(r"\b(?:not (?:sure|certain)|can(?:no|')t (?:tell|know))\b", re.IGNORECASE)
_EXAMPLE = re.compile(rf"\b(?:{'|'.join((*EXAMPLES, UNSURE))})\b(?!\s?[:=])", re.IGNORECASE)


def _read_example(text: str) -> str | None:
    """The example machine that a text says the new one is like, or unsure; None for several."""
    text = _UNSURE.sub(UNSURE, text)
    found = _EXAMPLE.finditer(text)
    named = {one[0].lower() for one in found if not _DENIAL.search(text, 0, one.start())}
    return named.pop() if len(named) == 1 else None
