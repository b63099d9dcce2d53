"""What free text says about objects: who is a blicket, who is not, who may be.

A reply is read sentence by sentence. Every word that matters becomes one sign (an object, a
blicket, a verb, a "not", a "maybe", ...), the rest falls away, and short patterns over the
signs find the claims: objects before a verb ("the torus is not a blicket") and lists after
one ("the blickets are the torus and the cone"). Every pattern is bounded, so that the time
is linear in the length of the reply, whatever stands in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from trivium.blicket.prompts.words import COLOURS, SHAPES

Signs = list[tuple[str, str]]  # each sign, with a name where it is an object's

# Signs: O an object, A all objects, Z none of them, B a blicket, P blickets, N not, M maybe,
# T these of the same sentence, I if, V a verb, S a comma or "and", D "but", X what happens on
# the machine.
_WORDS = (
    ("X", r"blicket (?:detectors?|machines?)|machines?|detectors?|lights?|lit|dark|placed|put"),
    ("Z", r"none|no (?:[a-z]{1,9} )?objects?|no blickets?|nothing"),
    ("A", r"all (?:of )?(?:the |these |its |[a-z]{3,5} )?(?:new )?objects|everything|all of them"),
    ("T", r"both of (?:these|them)|these two|they|these"),
    (
        "M",
        r"maybe|might|may|could|possibly|perhaps|probably|likely|potentially|unclear|unsure"
        r"|uncertain|undetermined|unknown|not (?:sure|certain|clear|known|possible|enough)"
        r"|impossible|possible|(?:cannot|can not|can't|don't|do not) (?:be )?"
        r"(?:tell|told|know|known|say|said|determined?|sure)|no way to",
    ),
    ("NP", r"non-?\s?blickets"),
    ("NB", r"non-?\s?blicket"),
    ("P", r"blickets"),
    ("B", r"blicket"),
    ("N", r"not|isn't|aren't|wasn't|weren't|cannot|can't|neither|nor|never|except"),
    ("I", r"if|whether|when|suppose|supposing|assume|assuming|unless|were"),
    ("V", r"is|are|was|be|being"),
    ("S", r"and|or|also|so"),
    ("D", r"but|while|whereas|though|although|however"),
)
# A bracket says what an object is ("torus (not a blicket)") or adds to a list.
_BRACKET = r"\((?=(?:not |maybe |an? |is |non-?){0,3}blicket)"
_MARKS = {",": "S", ";": "D", ":": "V", "=": "V", "|": "V", ">": "V", "(": "S"}
_PREFIX = r"(?P<{0}before>[NMI]{{0,6}})"
_LIST = (
    rf"{_PREFIX.format('list_')}(?P<what>[BP])(?P<list_verb>[VNMS]{{0,6}}|X{{1,3}}[VNM]{{0,3}}V[NM]{{0,3}})"
    r"(?P<listed>(?:[SD]{0,3}[NM]{0,3}[OAZ](?![SD]{0,2}[VNM]{0,3}V)){1,40})"
)
_SUBJECT = (
    rf"{_PREFIX.format('')}(?P<subject>[OAZT](?:S{{0,3}}N?[OA]){{0,40}})"
    r"S?(?P<verb>[VNM]{1,8})(?P<object>[BP]?)"
)
_CLAIM = re.compile(f"{_LIST}|{_SUBJECT}")


_NAME = (
    rf"(?:(?P<colour>{'|'.join(COLOURS)})\s(?:(?!and\b|or\b)[a-z]{{1,9}}\s)?)?"
    rf"(?P<shape>{'|'.join(SHAPES)})(?:e?s)?"
)
_SIGN = re.compile(
    rf"(?<![\w'])(?:{_NAME}|"
    + "|".join(rf"(?P<w{number}>{text})" for number, (_, text) in enumerate(_WORDS))
    + rf")(?![\w'])|(?P<bracket>{_BRACKET})|(?P<mark>[,;:=|>(])"
)


def _signs(sentence: str, objects: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each word that matters as its sign, with the name where it is an object's."""
    for found in _SIGN.finditer(sentence):
        group = str(found.lastgroup)
        if group == "shape":
            # The shape alone will do where it is the only one: "the torus".
            wanted = " ".join(filter(None, (found["colour"], found["shape"])))
            named = [name for name in objects if f" {name}".endswith(f" {wanted}")]
            if len(named) == 1:
                yield "O", named[0]
        elif group == "mark":
            yield _MARKS[found[0]], ""
        elif group == "bracket":
            yield "V", ""
        else:
            for sign in _WORDS[int(group[1:])][0]:
                yield sign, ""


@dataclass
class Claims:
    """What has been said of each object so far; what is said later counts."""

    objects: Sequence[str]  # of all machines
    new: Sequence[str]
    status: dict[str, str] = field(default_factory=dict)
    aside: dict[str, str] = field(default_factory=dict)  # in sentences about other machines alone
    said: bool = False
    asked: bool = False  # whether the sentence before asked for the blickets

    def named(self, status: str) -> tuple[str, ...]:
        """The objects of which this was said, in the order of the alphabet.

        Who explains the other machines first ("the cone is a blicket there") answers with what
        is said of the new one; who speaks of nothing but other machines answers with that.
        """
        spoken = self.status if self.status else self.aside | self.status
        return tuple(sorted(name for name, each in spoken.items() if each == status))

    def read(self, sentence: str) -> None:
        """Take in one sentence."""
        signs = list(_signs(_SO_IS.sub(r"\1 is a blicket", sentence), self.objects))
        kinds = {sign for sign, _ in signs}
        if sentence.endswith("?"):
            self.asked = bool(kinds & {"B", "P"})
            return
        if self.asked and kinds <= {"O", "A", "Z", "S", "M"}:
            signs = [("P", ""), ("V", ""), *signs]
            kinds |= {"P"}
        self.asked = False
        if "no blicket" in sentence:
            self.said = True
        if kinds & {"B", "P"}:
            self._take(signs, sentence.startswith(_ANSWER_LINES))
            # "It is not possible to figure out which objects are blickets": none, knowingly.
            self.said = self.said or ("M" in kinds and not kinds & {"O", "A"})

    def _take(self, signs: Signs, stated: bool) -> None:
        """All claims of one sentence; one that is stated as the answer is about the new machine."""
        claims: dict[str, str] = {}
        full = False
        for found in _CLAIM.finditer("".join(sign for sign, _ in signs)):
            part = "list" if found["what"] else "subject"
            around = found["list_before"] + found["list_verb"] if found["what"] else ""
            if part == "subject":
                # "... and the torus is not": what is left out is the blicket before.
                if not found["object"] and not set(found["verb"]) & {"N", "M"}:
                    continue
                around = found["before"] + found["verb"]
            if "I" in around and "M" not in around:
                continue
            start, end = found.span("listed" if part == "list" else "subject")
            status = _status(around)
            full = full or (found["what"] == "P" and status == "yes")
            for place in range(start, end):
                sign = signs[place][0]
                if part == "list" and sign in "NM":
                    status = _status(sign)
                claims |= dict.fromkeys(self._meant(signs, place), status)
                self.said = self.said or sign in "OAZT"
        if not stated and claims and not set(claims) & set(self.new):
            self.aside.update(claims)
            return
        if full:
            # A full list replaces what was named before it.
            self.status = {name: each for name, each in self.status.items() if each != "yes"}
        self.status.update(claims)

    def _meant(self, signs: Signs, place: int) -> list[str]:
        """The objects that one sign stands for."""
        sign, name = signs[place]
        if sign == "O":
            return [name]
        if sign == "A":
            return list(self.new)
        return [each for _, each in signs[:place] if each] if sign == "T" else []


_ANSWER_LINES = ("blickets:", "maybe blickets:")
_SO_IS = re.compile(r"\bso (?:is|are) ((?:the )?[a-z ]{1,60})")


def _status(signs: str) -> str:
    """What signs around a verb say; "may not be" is a maybe."""
    return "maybe" if "M" in signs else "no" if "N" in signs else "yes"
