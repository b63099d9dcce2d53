"""Writing an answer and reading it back from free text.

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

from trivium.blicket.prompts.item import PromptAnswer, PromptItem
from trivium.blicket.prompts.likeness import likeness
from trivium.blicket.prompts.render import speak
from trivium.blicket.prompts.spec import PromptView
from trivium.blicket.prompts.words import COLOURS, SHAPES


def write(answer: PromptAnswer, view: PromptView) -> str:
    """The reply that states this answer."""
    if view.reply == "free":
        return speak(answer)
    lines = [f"Blickets: {', '.join(answer.blickets) or 'none'}"]
    if answer.maybe:
        lines.append(f"Maybe blickets: {', '.join(answer.maybe)}")
    if answer.like is not None:
        lines.append(f"Machine: {answer.like}")
    return "\n".join(lines)


def parse(item: PromptItem, reply: str, view: PromptView) -> PromptAnswer | None:
    """The answer in a reply; None where it says nothing of blickets or machines."""
    told = sentences(reply)
    if view.sentences is not None:
        told = told[: view.sentences]
    if view.reply == "lines":
        told = _last_lines(told)
    claims = _Claims(item.objects, item.new.objects)
    for sentence in told:
        claims.read(sentence)
    like = likeness(told, item.known, item.new.pattern)
    if not claims.said and like is None:
        return None
    return PromptAnswer(claims.named("yes"), claims.named("maybe"), like)


_DECORATION = re.compile(r"[*_`\"\u201c\u201d]+")
_BULLET = re.compile(r"(?<=\S)\s*\n\s{0,9}(?:[-\u2022]|\d{1,2}[.)])\s")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")


def sentences(reply: str) -> list[str]:
    """The sentences of a reply in lower case; a list of bullets is one sentence."""
    plain = _DECORATION.sub("", reply.replace("\u2019", "'")).lower()
    plain = _BULLET.sub(", ", plain)
    return [sentence for part in _SENTENCE_END.split(plain) if (sentence := part.strip())]


def _last_lines(told: list[str]) -> list[str]:
    """From the last line that starts with "Blickets:", where there is one."""
    starts = [place for place, line in enumerate(told) if line.startswith("blickets:")]
    return told[starts[-1] :] if starts else told


# Signs: O an object, A all objects, Z none of them, B a blicket, P blickets, N not, M maybe,
# I if, V a verb, S a comma or "and", D "but", X what happens on the machine.
_WORDS = (
    ("X", r"blicket (?:detectors?|machines?)|machines?|detectors?|lights?|lit|dark|placed|put"),
    ("Z", r"none|no (?:[a-z]{1,9} )?objects?|no blickets?|nothing"),
    ("A", r"all (?:of )?(?:the |these |its |[a-z]{3,5} )?(?:new )?objects|everything|all of them"),
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
    rf"{_PREFIX.format('')}(?P<subject>[OAZ](?:S{{0,3}}N?[OA]){{0,40}})"
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
class _Claims:
    """What has been said of each object so far; what is said later counts."""

    objects: Sequence[str]  # of all machines
    new: Sequence[str]
    status: dict[str, str] = field(default_factory=dict)
    said: bool = False

    def named(self, status: str) -> tuple[str, ...]:
        """The objects of which this was said, in the order of the alphabet."""
        return tuple(sorted(name for name, each in self.status.items() if each == status))

    def read(self, sentence: str) -> None:
        """Take in one sentence."""
        if sentence.endswith("?"):
            return
        pairs = list(_signs(sentence, self.objects))
        signs = "".join(sign for sign, _ in pairs)
        if not set(signs) & {"B", "P"}:
            if signs.startswith("ZV") or "no blicket" in sentence:
                self.said = True
            return
        for found in _CLAIM.finditer(signs):
            if found["what"]:
                self._take_list(found, pairs)
            else:
                self._take_subject(found, pairs)
        # "It is not possible to figure out which objects are blickets" names none, knowingly.
        self.said = self.said or ("M" in signs and not set(signs) & {"O", "A"})

    def _take_list(self, found: re.Match[str], pairs: list[tuple[str, str]]) -> None:
        before = found["list_before"] + found["list_verb"]
        if "I" in before and "M" not in before:
            return
        status = _status(before)
        if found["what"] == "P" and status == "yes":
            # A full list replaces what was named before it.
            self.status = {name: each for name, each in self.status.items() if each != "yes"}
        for place in range(*found.span("listed")):
            sign, name = pairs[place]
            if sign in "NM":
                status = _status(sign)
            self._claim(sign, name, status)

    def _take_subject(self, found: re.Match[str], pairs: list[tuple[str, str]]) -> None:
        verb, before = found["verb"], found["before"]
        # "... and the torus is not": what is left out is the blicket of the clause before.
        if not found["object"] and "N" not in verb and "M" not in verb:
            return
        if "I" in before and "M" not in before:
            return
        status = _status(before + verb)
        for place in range(*found.span("subject")):
            sign, name = pairs[place]
            self._claim(sign, name, status)

    def _claim(self, sign: str, name: str, status: str) -> None:
        if sign == "O":
            self.status[name] = status
        elif sign == "A":
            self.status.update(dict.fromkeys(self.new, status))
        self.said = self.said or sign in "OAZ"


def _status(signs: str) -> str:
    """What signs around a verb say; "may not be" is a maybe."""
    return "maybe" if "M" in signs else "no" if "N" in signs else "yes"
