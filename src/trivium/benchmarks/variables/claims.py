"""What a text claims about an experiment: fields and their values, in the order they are said.

    text       sentences and lines, rows of words of the kinds in `variables.words`
    verdict    a clause about "the hypothesis" (or "it", after that) with a word for valid or
               invalid, turned round by "not"; a clause that is such a word and no more; or the
               name of the field and true or false: "Valid hypothesis: no"
    role       a list of variables beside what is done with them: "vary x_1", "x_1 is varied",
               "Independent: x_1", "no controls", "control: all but x_5"
    heading    a sentence or line with one role and no variables: the list that follows is its value

A role takes the variables before it that have none yet, else those after it; right before a list,
or with a sign (":", "=", "is") between them, it takes only those after it. Words such as "because"
end a list, and what follows says why, as do remarks in parentheses. What is doubted, asked or
supposed is no claim, unless it has a label.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby

from trivium.benchmarks.variables.words import LIST, NONE, ROLES, sentences, variables
from trivium.core import reading
from trivium.core.reading import Found

_ITEM = re.compile(  # a line of a list: variables, and perhaps why
    r"\W{0,9}(?:(?:hmm|no|wait|sorry|actually|correction|i mean|make that|and|name|value)\b"
    rf"\W{{1,4}}){{0,4}}({LIST})[\]\"')}}.;,{{\s]{{0,9}}(?:$|[-:(|]|(?:because|since|as|which)\b)",
    re.IGNORECASE,
)
_YES_NO = re.compile(
    r"^\W{0,4}(yes|no)\b(?=[.,;:!]|$| -)|\b(?:so|therefore|hence|:) (yes|no)\W{0,3}$", re.IGNORECASE
)
_BARE = {"valid", "invalid", "plausible", "implausible", "rejected", "worth"}


@dataclass
class Claim:
    """A field and what is said about it."""

    field: str  # "valid" or a role
    names: list[str] = field(default_factory=list)  # variables, or what stands in their place
    valid: bool | None = None
    labelled: bool = False  # the name of the field and a sign stand before the value
    none: bool = False  # "none" was said
    either: bool = False  # "or" stands between names
    rest: bool = False  # all variables but those named
    denied: bool = False  # the names do not have this role
    doubted: bool = False
    adds: bool = False  # to whatever was named before: "x_1, too"
    row: bool = False  # adds to what was named since the last correction
    start: int = 0  # where the text after its label begins

    def says_something(self) -> bool:
        """Whether there is a value."""
        return bool(self.names or self.none or self.rest or self.valid is not None)


class Reader:
    """Reads the claims of a text about one target hypothesis."""

    def __init__(self, target: set[str], *, bracketed: bool = False) -> None:
        self._target = target
        self._bracketed = bracketed
        self._about = False  # the hypothesis was named, "it" is the hypothesis
        self._asked = False  # a sentence before asked whether it is valid
        self._heading: Claim | None = None  # what a list to come belongs to
        self._last = ""  # the role that was claimed last

    def claims(self, text: str) -> Iterator[list[Claim]]:
        """Yields the claims of a text, those between two corrections together."""
        for number, part in enumerate(sentences(text)):
            self._heading = Claim(self._last) if number and self._last else None
            self._about = self._asked = False
            yield [claim for sentence, words in part for claim in self._read(sentence, words)]

    def _read(self, sentence: str, words: list[Found]) -> Iterator[Claim]:
        """Yields the claims of one sentence."""
        kinds = {word.kind for word in words}
        roles = {"control" if kind == "constant" else kind for kind in kinds} & set(ROLES)
        item = _ITEM.match(sentence)
        heading, self._heading = self._heading, None
        if heading and not roles and (item or reading.is_none(sentence.strip(" -"))):
            yield from self._item(heading, words, item)
            return
        claims = _Sentence(sentence, words, bracketed=self._bracketed).claims()
        supposed = _is_supposed(sentence, words)
        if words[0].kind != "if":
            yield from self._said(claims, words, supposed=supposed)
        if (
            len(roles) == 1
            and sentence[-1] not in ".!"
            and kinds.isdisjoint(("list", "not", *NONE))
        ):
            self._heading = Claim(*roles)
        elif claims and (last := claims[-1]).field == "control" and last.labelled > last.denied:
            self._heading = Claim("control", row=True)
        valid = None if "field" in kinds else self._verdict(sentence, words)
        if valid is not None:
            yield Claim("valid", valid=valid)

    def _said(self, claims: list[Claim], words: list[Found], *, supposed: bool) -> Iterator[Claim]:
        """Yields the claims of a sentence that are meant."""
        kinds = {word.kind for word in words}
        meant = (each for each in claims if each.labelled or not (supposed or each.doubted))
        for number, claim in enumerate(each for each in meant if each.says_something()):
            listed = words[0].kind == "list" or number > 0 or claim.none or len(claim.names) == 1
            claim.row |= listed and claim.field == "control" and not claim.labelled
            claim.adds = "also" in kinds or (
                claim.none and not claim.labelled and "others" in kinds
            )
            self._last = claim.field if claim.field in ROLES else self._last
            yield claim

    def _item(
        self, heading: Claim, words: list[Found], item: re.Match[str] | None
    ) -> Iterator[Claim]:
        """Yields what a line below a heading says."""
        names = variables(item[1]) if item else []
        after = {word.kind for word in words if item and word.start >= item.end(1)}
        control = heading.field == "control"
        if (control or len(names) < 2) and after.isdisjoint(("not", *NONE)):
            yield Claim(heading.field, names, none=not names, labelled=True, row=heading.row)
        self._heading = Claim("control", row=True) if control else None

    def _verdict(self, sentence: str, words: list[Found]) -> bool | None:
        """What a sentence says for sure about the target hypothesis, if anything."""
        meant = None
        for part in _split(words, ("but",)):
            text = sentence[part[0].start : part[-1].end + 1]
            found = None
            for clause in _split(part, ("clause", "break", "dash", "sign", "reason")):
                kinds = {word.kind for word in clause}
                self._about = self._about or "hypothesis" in kinds
                if self._is_about_target(clause):
                    found = _polarity(clause)
                elif self._about and {"it", "not"} <= kinds <= {"it", "small", "be", "not"}:
                    found = False  # "so it is not"
            if self._asked and (reply := _YES_NO.search(text)):
                meant = (reply[1] or reply[2]).lower() == "yes"
            if found is not None:  # "it seems valid but may be invalid" says neither
                doubted = any(word.kind in ("doubt", "wish") for word in part)
                meant = None if doubted or _is_supposed(text, part) else found
                self._asked = sentence.endswith("?")
        return meant

    def _is_about_target(self, clause: list[Found]) -> bool:
        """Whether a clause calls something valid or invalid, and it is the target hypothesis."""
        kinds = [word.kind for word in clause]
        place = next((at for at, kind in enumerate(kinds) if kind in ("good", "bad")), None)
        if place is None or "other" in kinds or "others" in kinds:
            return False
        if set(kinds) <= {"good", "bad", "not", "nothing", "small", "be"}:
            return not _BARE.isdisjoint(word.text.lower().split()[0] for word in clause)
        lists = (word.text for word in clause[:place] if word.kind in ("list", "compared"))
        if self._target and not set(variables(" ".join(lists))) <= self._target:
            return False
        direct = clause[place].text.lower().split()[0] in {*_BARE, "reject", "discard"}
        return "hypothesis" in kinds or ("it" in kinds and (self._about or direct))


def _is_supposed(text: str, words: list[Found]) -> bool:
    """Whether a text is unsure, asks or supposes something."""
    supposed = "?" in text or any(word.kind == "if" for word in words)
    return supposed or reading.is_unsure(text)


def _split(words: list[Found], kinds: tuple[str, ...]) -> list[list[Found]]:
    """The words between words of these kinds."""
    groups = groupby(words, lambda word: word.kind in kinds)
    return [list(group) for between, group in groups if not between]


def _polarity(clause: list[Found]) -> bool | None:
    """Whether the words of a clause say valid or invalid; None where they say both."""
    said: set[bool] = set()
    denied = False
    for word in clause:
        if word.kind in ("good", "bad"):
            said.add((word.kind == "good") != denied)
            denied = False
        denied = denied != (word.kind in ("not", "nothing", "except"))
    return said.pop() if len(said) == 1 else None


class _Sentence:
    """Reads the fields and roles of one sentence, word by word."""

    def __init__(self, text: str, words: list[Found], *, bracketed: bool) -> None:
        self._text, self._words, self._bracketed = text, words, bracketed
        self._kinds = [*(word.kind for word in words), *[""] * 6]
        self._found: list[Claim] = []
        self._claim: Claim | None = None  # the role that variables to come have
        self._waiting: list[str] = []  # variables that have no role yet
        self._spilled = False  # they stand beside the one variable of a role
        self._either = self._denied = self._no = self._all = self._doubted = False

    def claims(self) -> list[Claim]:
        """The claims, in their order."""
        for place, word in enumerate(self._words):
            if word.kind in (*ROLES, "constant"):
                self._role(place, word)
            elif word.kind == "list":
                self._list(word)
            else:
                self._value(word)
                self._boundary(place, word)
        self._close(len(self._text))
        return self._found

    def _value(self, word: Found) -> None:
        """Take in a word that is a value, or changes one."""
        claim = self._claim
        match word.kind:
            case "field":
                self._reset(word.start)
                self._found.append(Claim("valid", valid=word.text.endswith("true"), labelled=True))
            case "uncontrolled":
                self._found.append(Claim("control", none=True))
            case "no" | "nothing":
                self._no = claim is None or bool(claim.names) or not claim.labelled
                if claim and claim.field == "control" and not claim.names:
                    claim.none = True
                    self._claim = claim if self._bracketed else None
            case "all":
                self._all = "others" in self._kinds
                if claim and claim.field == "control" and not claim.names:
                    claim.rest = True
            case "or" if claim:
                claim.either = True
            case "or":
                self._either = bool(self._waiting)
            case "except" if not claim and self._found and self._found[-1].none:
                self._claim = self._found[-1]  # "no controls except x_1"
            case "not" | "except":
                self._denied = True

    def _boundary(self, place: int, word: Found) -> None:
        """Take in a word between clauses."""
        claim, after = self._claim, self._kinds[place + 1 : place + 3]
        match word.kind:
            case "doubt":
                self._doubted = True
            case "clause":
                self._doubted = False
            case "namely":
                self._waiting = []
            case "but":
                self._denied = claim is not None and claim.rest
            case "dash" if claim and claim.says_something():
                self._close(word.start)
            case "reason":
                self._close(word.start)
            case "break" if (
                claim and word.text == ";" and after in (["list", ""], ["list", "break"])
            ):
                return  # "x_1; x_2; x_3"
            case "break":
                self._reset(word.start)

    def _reset(self, end: int) -> None:
        """End a clause."""
        self._close(end)
        self._waiting = []
        self._either = self._denied = self._no = self._all = self._doubted = False

    def _close(self, end: int) -> None:
        """End the value of the role."""
        claim, self._claim = self._claim, None
        if claim and self._spilled:
            claim.names += self._waiting  # two variables where one is asked for are no value
        if claim and self._bracketed and 0 < claim.start <= end and not claim.says_something():
            said = self._text[claim.start : end]  # kept, so that it counts as a wrong name
            claim.names = [key for part in said.split(",") if (key := _key(part))]
            if not claim.names or reading.is_none(_key(said)):
                claim.names, claim.none = [], True
        self._spilled = False

    def _list(self, word: Found) -> None:
        """Take in variables."""
        names, claim = variables(word.text), self._claim
        either = re.search(r"\bor\b", word.text, re.IGNORECASE) is not None
        if claim is None:
            self._waiting += names
            self._either = self._either or either
        elif claim.rest and self._denied:
            claim.names += names  # "all except x_1"
        elif self._denied:
            return  # "control x_1 but not x_2"
        elif claim.field == "control" or either:
            claim.names += names
            claim.rest = False
            claim.either = claim.either or either
        elif not claim.names:
            claim.names, self._waiting = names[:1], names[1:]
            self._spilled = len(names) > 1
        else:
            self._waiting += names

    def _role(self, place: int, word: Found) -> None:
        """Take in a role: it has the variables before it, or those to come."""
        role = "control" if word.kind == "constant" else word.kind
        start, has_value = self._label(place)
        claim = Claim(role, [] if has_value else self._waiting, either=self._either, start=start)
        claim.labelled = start > 0 and not claim.names
        claim.doubted, claim.row = self._doubted, word.text[-1].isdigit()
        no, denied = self._no and role == "control", self._denied
        self._denied = self._no = False
        if not claim.names and not no and not has_value:
            claim.rest = self._all and role == "control" and not denied
            same = [each for each in (*self._found, self._claim) if each and each.field == role]
            named = role != "control" and any(each.names for each in same)
            if not claim.labelled and (named or (word.kind == "constant" and not claim.rest)):
                return  # "vary x_1 (independent)", "hold x_3 constant"
        self._spilled = self._spilled and not (claim.names or has_value)
        self._close(word.start)
        claim.none = no and not claim.names and not has_value
        claim.denied = (denied or no) and not claim.none
        self._found.append(claim)
        self._claim = claim if not claim.names and not claim.none else None
        self._waiting, self._either, self._all = [], False, False

    def _label(self, place: int) -> tuple[int, bool]:
        """Where the value of a role begins if it is a label, else 0; and if it follows at once."""
        if self._waiting and self._text[: self._words[place].start].endswith("("):
            return 0, False  # "x_1 (independent)"
        sign = place + 1
        if self._kinds[sign] == "list":
            return 0, True
        while sign < place + 4 and self._kinds[sign] in (*ROLES, "constant", "word"):
            sign += 1
        if self._kinds[sign] not in ("sign", "be", "dash"):
            return 0, False
        has_value = self._kinds[sign + 1] in ("list", "all", *NONE)
        is_label = has_value or self._kinds[sign] == "sign"
        return self._words[sign].end if is_label else 0, has_value


def _key(value: str) -> str:
    """A value without decoration and without a full stop, in lower case."""
    around = " \t\r\n\"'`*<>()[]{},;"
    return value.strip(around).rstrip(".").strip(around).lower()
