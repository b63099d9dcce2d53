"""What a text claims about an experiment: fields and their values, in the order they are said.

    text       sentences and lines, rows of words of the kinds in `variables.words`
    verdict    a clause about "the hypothesis" (or "it", after that) with a word for valid or
               invalid, turned round by "not"; a clause that is such a word and no more; or the
               name of the field and true or false: "Valid hypothesis: no"
    role       a list of variables beside what is done with them, as in `variables.roles`: "vary
               x_1", "x_1 is varied", "Independent: x_1", "no controls", "control: all but x_5"
    heading    a sentence or line with one role and no variables: the list that follows is its value

What follows a list says why, as do remarks in parentheses. What is doubted, asked or supposed is no
claim, unless it has a label.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from trivium.benchmarks.variables.roles import Claim, RoleReader
from trivium.benchmarks.variables.words import LIST, NONE, ROLES, sentences, variables
from trivium.core import reading
from trivium.core.reading import Found

_ITEM = re.compile(  # a line of a list: variables, and perhaps why
    r"\W{0,9}(?:(?:hmm|no|wait|sorry|actually|correction|i mean|make that|and|also|name|value)\b"
    rf"\W{{1,4}}){{0,4}}({LIST})[\]\"')}}.;,{{\s]{{0,9}}(?:$|[-:(|]|(?:because|since|as|which)\b)",
    re.IGNORECASE,
)
_YES_NO = re.compile(
    r"^\W{0,4}(yes|no)\b(?=[.,;:!]|$| -)|\b(?:so|therefore|hence|:) (yes|no)\W{0,3}$", re.IGNORECASE
)
_BARE = {"valid", "invalid", "plausible", "implausible", "rejected", "reject", "worth"}


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
        claims = RoleReader(sentence, words, bracketed=self._bracketed).claims()
        supposed = _is_supposed(sentence, words)
        if words[0].kind != "if":
            yield from self._said(claims, words, supposed=supposed)
        open_end = sentence[-1] not in ".!" and kinds.isdisjoint(("list", "not", *NONE))
        if len(roles) == 1 and open_end:
            self._heading = Claim(roles.pop())
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
            no_others = claim.none and not claim.labelled and "others" in kinds
            claim.adds = no_others or "also" in kinds
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
            claim = Claim(heading.field, names, none=not names, labelled=True, row=heading.row)
            claim.adds = any(word.kind == "also" for word in words)
            yield claim
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
        direct = clause[place].text.lower().split()[0] in {*_BARE, "discard"}
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
