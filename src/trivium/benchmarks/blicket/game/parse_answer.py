"""What an answer says: which objects are blickets, which are inhibitors, and what the form is.

Letters become names (`with_names`), and what is said about them is read as in blicket prompts
(`trivium.benchmarks.blicket.replies`): rows, labelled lists and sentences. An inhibitor is no
blicket; the same text with the two words exchanged says which objects are inhibitors. An object
that may be a blicket makes an answer unclear, unless a game asks for objects one is unsure about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trivium.benchmarks.blicket.game.spec import EXAMPLES, UNSURE
from trivium.benchmarks.blicket.inference.hypotheses import FORMS, INHIBITOR
from trivium.benchmarks.blicket.replies.parse_blickets import Claims
from trivium.benchmarks.blicket.replies.parse_structure import Known, parse_structure
from trivium.benchmarks.blicket.replies.sentences import Sentence, split_sentences


@dataclass(frozen=True)
class Command:
    """One turn of a player: a test, or an answer where a form is named."""

    objects: str  # what is placed, or the blickets
    form: str | None = None
    inhibitors: str = ""
    unsure: str = ""  # objects that the player is not sure about


# "A-B" is written with its own sign: blickets before it, inhibitors after it.
DASH = "\x01"
_CAPITALS = re.compile(r"(?<![\w.-])([A-H]{1,8})(?:-([A-H]{1,8}))?(?![\w]|-\w|\.\w)")
_SMALL = re.compile(
    r"(?<![\w'.-])([a-h])(?:-([a-h]))?(?![\w']|-\w|\.\w)"
    r"|(?:(?<=test )|(?<=blickets: ))([a-h]{2,8})(?!\w)"
)
# What follows the letter A where it is no article: "A and", "A lights".
_AFTER_A = re.compile(
    r"\s+(?!(?:and|or|is|isn't|are|was|wasn't|alone|with|without|on|only|but|not|to|as|in|by|nor|lit"
    r"|lights?|does|doesn't|did|didn't|has|stay\w{0,3}|must|may|might|could|can|cannot|can't|because"
    r"|since|then|first|next|for|together|plus|gave|turn\w{0,3}|dark|activate\w{0,2}|itself|isn)\b|\S{1,4}\s[A-H]\b)"
    r"[a-z]{2}"
)
_SENTENCE_START = re.compile(r"(?:^|[.!?:\n]\s{0,3}(?:[-*]\s)?)$")
_LETTER_LINE = re.compile(r"\n\s{0,3}(?:- )?(?=o_[a-h],?\s{0,3}(?:\n|$))")  # one object a line
_BESIDE = re.compile(r"(o_[a-h])\s{1,3}(?=o_[a-h])")


def with_names(text: str, objects: str) -> str:
    """The text with the letters of objects as names: "A and BC" becomes "o_a and o_b, o_c"."""

    def named(found: re.Match[str]) -> str:
        parts = [part.upper() for part in found.groups() if part]
        whole = "".join(parts)
        if not set(whole) <= set(objects) or len(set(whole)) < len(whole):
            return found[0]
        if whole == "A" and _AFTER_A.match(text, found.end()):
            small = found[0] == "a"
            if small or _SENTENCE_START.search(text[max(0, found.start() - 6) : found.start()]):
                return found[0]
        lists = [", ".join(f"o_{letter.lower()}" for letter in part) for part in parts]
        return DASH.join(lists)

    text = re.sub(r"'([A-Ha-h])'", r"\1", text)
    text = re.sub(r"\b[A-H](?:-[A-H]){2,7}\b", lambda found: found[0].replace("-", " "), text)
    marked = _CAPITALS.sub(named, text)
    if not re.search("o_[a-h]", marked):
        marked = _SMALL.sub(named, text)
    marked = _LETTER_LINE.sub(" ", marked)
    return _BESIDE.sub(r"\1, ", marked)


def letters(names: Sequence[str]) -> str:
    """The letters of names, in order."""
    return "".join(sorted({name[-1].upper() for name in names}))


_LABEL = (
    r"\b(?:form|rule|type|kind|mechanism|logic|structure|function|machine(?: type)?)"
    r"\s{0,3}(?:[:=|]|\b(?:is|as|(?:could|might|may|must|should|would|will|can) be)\b)?\s{0,3}"
    r"(?:an? )?"
)
_DIGITS = {"one": "1", "two": "2", "three": "3", "four": "4", "five": "5"}
_FORM = re.compile(
    rf"\b(?P<name>{'|'.join(FORMS[:-1])})(?:ly)?\b"
    r"(?:[\s=(:_>-]{0,4}(?:of\s{1,3}|k\s?=\s?)?(?P<number>[1-9]|two|three|four)\b)?"
    r"|\b(?P<before>[1-9])-threshold\b|\bat least (?P<least>[2-9]|two|three|four)\b"
    r"|\b(?P<synonym>conjunction|disjunction|odd|xor|inhibitory|inhibition|inhibited)\b"
    rf"|{_LABEL}(?P<inhibitor>inhibitor)\b|\b(?P<machine>inhibitor)(?= (?:machine|form|rule|type))"
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
_FIELD = re.compile(r"(?:the )?(?:form|rule|type|kind|mechanism|logic|structure|machine)\s?[:=|]")
_DENIAL = re.compile(
    r"(?:\bnot|n't|\bnever|\bno|\brather than|\binstead of|\bunlike|\bcannot be|\brules? out"
    r"|\bexcludes?)\s(?:\w{1,9}\s){0,2}$"
)
_OR = re.compile(r"\s{0,3}(?:/|,?\s?or\b)")  # after a form
_POSSIBLE = re.compile(r"\b(?:could|might|may|can)\b[^.;\n]{0,40}$")
_FORM_SAID = re.compile(rf"(?:{_LABEL})?(?:{_FORM.pattern})(?: (?:machine|form|rule|type))?")
_GROUP = re.compile(r"[?]P<\w+>")
_FORM_SAID = re.compile(_GROUP.sub("?:", _FORM_SAID.pattern))


def read_answer(text: str, objects: str, rules: Sequence[str]) -> Command | None:
    """The answer that a text with names gives; None where a part is left out or unclear."""
    sentences = split_sentences(text)
    said = [sentence.text for sentence in sentences]
    form = _read_example(said) if UNSURE in rules else _read_form(said, rules)
    if form is None and DASH in text:
        form = INHIBITOR
    if form == INHIBITOR and not any(each.startswith("inhibitor") for each in said):
        sentences = list(_without_dashes(sentences))
    names = [f"o_{letter.lower()}" for letter in objects]
    claims = Claims(names, names)
    swapped = Claims(names, names, asked=False)
    for sentence in sentences:
        about = _FORM_SAID.sub(" ", sentence.text.replace(DASH, ", "))
        about = _INHIBITS.sub("is an inhibitor", about)
        if about.strip(" .;,:"):
            claims.read(about, opens_line=sentence.opens_line)
            swapped.read(_EXCHANGE.sub(_exchanged, about), opens_line=sentence.opens_line)
    blickets = claims.named("yes")
    inhibitors = letters([name for name in swapped.named("yes") if name not in blickets])
    if form is None and inhibitors:
        form = INHIBITOR
    if form is None or not (blickets or claims.none):
        return None
    unsure = letters(claims.named("maybe"))
    if unsure and UNSURE not in rules:
        return None
    if form == INHIBITOR and not inhibitors:
        return None
    return Command(letters(blickets), form, inhibitors, unsure)


_LIST = r"(o_[a-h](?:, o_[a-h]){0,7})"
_DASHED = re.compile(f"{_LIST}{DASH}{_LIST}")
_INHIBITS = re.compile(
    r"\b(?:inhibit|block|suppresse)s\b(?: (?:it|the (?:machine|light)))?(?=[.;,]|$)"
)
_EXCHANGE = re.compile(r"\b(?:non-?\s?)?(blicket|inhibitor)(s?)\b", re.IGNORECASE)


def _exchanged(found: re.Match[str]) -> str:
    return ("inhibitor" if found[1].lower() == "blicket" else "blicket") + found[2]


def _without_dashes(sentences: Sequence[Sentence]) -> Iterator[Sentence]:
    """The sentences with "A-B" as two lines: blickets and inhibitors."""
    for sentence in sentences:
        found = _DASHED.search(sentence.text)
        if found is None:
            yield sentence
        else:
            yield Sentence(f"blickets: {found[1]}", True)
            yield Sentence(f"inhibitors: {found[2]}", True)


def _read_form(sentences: Sequence[str], rules: Sequence[str]) -> str | None:
    """The one form that sentences name; None for "not sure" and for "parity or disjunctive"."""
    fields = [_FIELD.sub("", each) for each in sentences if _FIELD.match(each)]
    for field in fields:
        word = field.strip(" .,;:)(]}")
        if word in _SYNONYMS:
            return _SYNONYMS[word]
    guess: str | None = None
    for text in [each for each in sentences if _FIELD.match(each)] or sentences:
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


def _form_of(found: re.Match[str], rules: Sequence[str]) -> str:
    """The form that was found, in the one spelling of its name."""
    if found["inhibitor"] or found["machine"]:
        return INHIBITOR
    number = found["number"] or found["before"] or found["least"] or ""
    number = _DIGITS.get(number, number)
    name = found["name"] or _SYNONYMS.get(found["synonym"] or "", "threshold")
    if name != "threshold":
        return name
    known = [rule for rule in rules if rule.startswith("threshold")]
    return f"threshold-{number}" if number else known[0] if len(known) == 1 else "threshold"


def _read_example(sentences: Sequence[str]) -> str | None:
    """The example machine that the new one is said to be like, or unsure."""
    fields = [_FIELD.sub("machine:", each) for each in sentences if _FIELD.match(each)]
    if any(all(name in each for name in EXAMPLES) and UNSURE not in each for each in fields):
        return None  # "striped or dotted"
    return parse_structure(fields or sentences, Known(EXAMPLES, (None, None), ""))
