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

from trivium.benchmarks.blicket.prompts.phrases import COLOURS, SHAPES

NEAR = 60  # how many signs back "they" and "the others" may point
Signs = list[tuple[str, str]]  # each sign, with a name where it is an object's

# Signs: O an object, A all objects, Z none of them, R the other objects, T these, J it, B a
# blicket, P blickets, N not, E except, M maybe, I if, V a verb, W a verb that ends its clause,
# S a comma or "and", D "but", X what happens on the machine.
_IT_IS = (
    r"(?:is|was|must|may|might|could|cannot|not|isn't|be|also|thus|the|an?|only|sole|no|indeed)"
)
_WORDS = (
    ("X", r"blicket (?:detectors?|machines?)|machines?|detectors?|lights?|lit|dark|placed|put"),
    ("VNB", r"(?:is|are|was) no blickets?|(?<=[:|(]) ?no(?=\s?(?:[.,;)|]|$))|\u2717"),
    ("VB", r"(?<=[:|(]) ?yes(?=\s?(?:[.,;)|]|$))|\u2713"),
    ("Z", r"none|no (?:[a-z]{1,9} )?objects?|no blickets?|nothing"),
    ("AE", r"(?:all|everything) (?:but|except)"),
    ("A", r"all (?:of )?(?:the |these |its |[a-z]{3,5} )?(?:new )?objects|everything|all of them"),
    ("R", r"the (?:other|remaining) (?:two|three|objects|ones)(?: objects)?|the others|the rest"),
    ("TNV", r"neither(?: of (?:them|these|those|the two))? (?:is|are|was)"),
    ("T", r"both of (?:these|them)|both(?= (?:are|must|were))|th[eo]se(?: two)?|they"),
    ("J", rf"it(?= (?:{_IT_IS} ){{1,6}}blicket| (?:isn't|is not)(?:[.,;]|$))"),
    (
        "M",
        r"maybe|might|may|could|possibly|perhaps|probably|likely|potentially|unclear|unsure"
        r"|uncertain|undetermined|unknown|not (?:sure|certain|clear|known|possible)"
        r"|not enough (?:information|evidence|data)|impossible|possible"
        r"|(?:cannot|can not|can't|don't|do not) (?:be )?"
        r"(?:tell|told|know|known|say|said|determined?|sure)|no way to",
    ),
    ("NP", r"non-?\s?blickets"),
    ("NB", r"non-?\s?blicket"),
    ("P", r"blickets"),
    ("B", r"blicket"),
    ("VN", r"(?:has|have|plays?) no (?:effect|role|influence)|fails? to be"),
    ("N", r"no (?:evidence|indication|sign|reason|proof)|false|[a-z]{2,5}n't"),
    ("N", r"not|cannot|neither|nor|never"),
    ("E", r"except(?: for)?|other than|apart from|rather than|instead of|without"),
    ("I", r"if|whether|when|suppose|supposing|assume|assuming|unless|were"),
    ("W", r"(?:is|are)(?=\s?(?:[.,;!)]|$)| too\b)"),
    (
        "V",
        r"is|are|was|be|being|counts? as|forms?|serves? as|qualif(?:y|ies) as"
        r"|as(?= (?:the |a )(?:only |sole )?blicket)",
    ),
    ("S", r"and|or|so|plus|as well as"),
    ("D", r"but|while|whereas|though|although|however|yet"),
)
# A bracket says what an object is ("torus (not a blicket)") or adds to a list.
_BRACKET = r"\((?=(?:not |maybe |an? |is |non-?){0,3}blicket)"
_MARKS = {",": "S", ";": "D", ":": "V", "=": "V", "|": "V", "(": "S", "+": "S", "&": "S"}
_PREFIX = r"(?P<{0}before>[NMI]{{0,6}})"
_LISTED = r"[NME]{0,3}[OAZ](?![SD]{0,2}[VNM]{0,3}[VW])"
_LIST = (
    rf"{_PREFIX.format('list_')}(?P<what>[BP])(?P<list_verb>[VNMS]{{0,6}}|X{{1,3}}[VNM]{{0,3}}V[NM]{{0,3}})"
    rf"(?P<listed>S{{0,3}}{_LISTED}(?:(?:S{{0,3}}|DS{{0,2}}(?=[NME])){_LISTED}){{0,40}})"
)
# Without a blicket behind it a verb says something of its own: "the torus does not light it".
_SUBJECT = (
    rf"{_PREFIX.format('')}(?:EOS)?(?P<subject>[OAZTRJ](?:(?:S{{1,3}}|(?=[NE]))[NE]{{0,2}}[OA]){{0,40}})"
    r"S{0,2}(?P<verb>[VWNM]{1,8})(?:(?P<object>[BP])|(?!X))"
)
_CLAIM = re.compile(f"{_LIST}|{_SUBJECT}")


_NAME = (
    rf"(?:(?P<colour>{'|'.join(COLOURS)})\s(?:(?!and\b|or\b)[a-z]{{1,9}}\s)?)?"
    rf"(?P<shape>{'|'.join(SHAPES)})(?:e?s)?"
)
_SIGN = re.compile(
    rf"(?<![\w'])(?:{_NAME}|"
    + "|".join(rf"(?P<w{number}>{text})" for number, (_, text) in enumerate(_WORDS))
    + rf")(?![\w'])|(?P<bracket>{_BRACKET})|(?P<mark>[,;:=|(+&])"
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
    asked: bool = True  # whether the sentence before asked for the blickets, as the prompt does
    spoken_of: Sequence[str] = ()  # the objects of the last sentence that named some

    def named(self, status: str) -> tuple[str, ...]:
        """The objects of which this was said, in the order of the alphabet.

        Who explains the other machines first ("the cone is a blicket there") answers with what
        is said of the new one; who speaks of nothing but other machines answers with that.
        """
        spoken = self.status if self.status else self.aside | self.status
        return tuple(sorted(name for name, each in spoken.items() if each == status))

    def read(self, sentence: str) -> None:
        """Take in one sentence."""
        sentence = _plain(sentence)
        signs = list(_signs(sentence, self.objects))
        kinds = {sign for sign, _ in signs}
        if sentence.endswith("?"):
            self.asked = bool(kinds & {"B", "P"})
            return
        if self.asked and kinds <= {"O", "A", "Z", "S", "M", "V"} and _bare(sentence):
            signs = [("P", ""), ("V", ""), *signs]
            kinds |= {"P"}
        self.asked = False
        if "no blicket" in sentence:
            self.said = True
        if kinds & {"B", "P"}:
            self._take(signs, sentence)
            # "It is not possible to figure out which objects are blickets": none, knowingly.
            self.said = self.said or ("M" in kinds and not kinds & {"O", "A"})
        self.spoken_of = [name for _, name in signs if name] or self.spoken_of

    def _take(self, signs: Signs, sentence: str) -> None:
        """All claims of one sentence; one that is stated as the answer is about the new machine."""
        claims: dict[str, str] = {}
        full, only = False, _ONLY.search(sentence) is not None
        text = "".join(sign for sign, _ in signs)
        first = _BLICKET.search(text)
        blicket = first.start() if first else len(text)
        for found in _CLAIM.finditer(text):
            part = "listed" if found["what"] else "subject"
            around = _around(found)
            if _says_nothing(found, around, blicket < found.start()):
                continue
            status = _status(around)
            full = full or (status == "yes" and (found["what"] == "P" or only))
            for place in range(*found.span(part)):
                sign = signs[place][0]
                if sign in "NME":
                    status = _status(sign)
                claims |= dict.fromkeys(self._meant(signs, place, claims), status)
                self.said = self.said or sign in "OAZTRJ"
        if not sentence.startswith(_ANSWER_LINES) and claims and not set(claims) & set(self.new):
            self.aside.update(claims)
            return
        if full:
            # A full list replaces what was named before it.
            self.status = {name: each for name, each in self.status.items() if each != "yes"}
        self.status.update(claims)

    def _meant(self, signs: Signs, place: int, claims: dict[str, str]) -> list[str]:
        """The objects that one sign stands for."""
        sign, name = signs[place]
        if sign == "O":
            return [name]
        if sign == "A":
            return list(self.new)
        near = signs[max(0, place - NEAR) : place]
        before = [each for _, each in near if each]
        if sign == "R":
            known = {*(before or self.spoken_of), *claims}
            return [each for each in self.new if each not in known]
        if sign == "J":
            return (before or list(self.spoken_of))[-1:]
        return (_last_pair(near) or before or list(self.spoken_of)) if sign == "T" else []


def _around(found: re.Match[str]) -> str:
    """The signs that say whether a claim is a yes, a no or a maybe."""
    if found["what"]:
        return found["list_before"] + found["list_verb"]
    return found["before"] + found["verb"]


def _says_nothing(found: re.Match[str], around: str, blicket_before: bool) -> bool:
    """Whether what looks like a claim is an "if", or a verb that belongs to something else."""
    if "I" in around and "M" not in around:
        return True
    if found["what"] or found["object"] or set(around) & {"N", "M"}:
        return False
    # "... are not blickets, but the torus is": what is left out is the blicket before.
    return not (around.endswith("W") and blicket_before)


def _last_pair(signs: Signs) -> list[str]:
    """The last objects that were named in one breath: "the torus and the cone"."""
    found = _PAIR.search("".join(sign for sign, _ in reversed(signs)))
    if found is None:
        return []
    end = len(signs) - found.start()
    return [name for _, name in signs[end - len(found[0]) : end] if name]


_BLICKET = re.compile("[BP]")
_PAIR = re.compile(r"O(?:[SN]{1,3}O)+")
_ANSWER_LINES = ("blickets:", "maybe blickets:")
_ONLY = re.compile(rf"\b(?:only|sole) (?:blickets?\b(?! [dm])|(?:the )?(?:{_NAME}))")
_SO_IS = re.compile(r"\bso (?:is|are) ((?:the )?[a-z ]{1,60})")
_IS_ONE = re.compile(r"\b(is|isn't|not|also|are) ones?(?= either| too|[.,;!]|$)")
_NAMED_SO = re.compile(r", (?:which is )?(?:the |a )(?:only )?blicket, ")
_ASIDE = re.compile(r"\([a-z ]{0,40}(?:detector|machine)s?\)")
_FILLING = re.compile(r"(?:\b(?:only|just|the|answer|object|an?|it)\b|[^a-z])*")


def _plain(sentence: str) -> str:
    """Some ways of speaking in fewer words: "so is the torus", "is one too", "it's"."""
    sentence = re.sub(r"\b(it|that|they)'(?:s|re)\b", r"\1 is", sentence)
    sentence = _ASIDE.sub("", sentence)
    sentence = _IS_ONE.sub(r"\1 blicket", _NAMED_SO.sub(" (blicket), ", sentence))
    return _SO_IS.sub(r"\1 is a blicket", sentence)


def _bare(sentence: str) -> bool:
    """Whether a sentence is objects and nothing else: "Only the brown torus."."""
    return _FILLING.fullmatch(_SIGN.sub(" ", sentence)) is not None


def _status(signs: str) -> str:
    """What signs around a verb say; "may not be" is a maybe."""
    return "maybe" if "M" in signs else "no" if set(signs) & {"N", "E"} else "yes"
