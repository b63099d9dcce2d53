"""Which objects free text calls blickets, not blickets, or maybe blickets.

A reply is read sentence by sentence. Every relevant word becomes one symbol (an object, a blicket,
a verb, a "not", a "maybe", ...), other words are dropped, and short patterns over the symbols find
the claims: objects before a verb ("the torus is not a blicket") and lists after one ("the blickets
are the torus and the cone"). Every pattern is bounded, so that the time is linear in the length of
the reply, whatever it contains.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from trivium.benchmarks.blicket.prompts.phrases import COLOURS, SHAPES
from trivium.core import reading

MAX_BACK = 60  # how many symbols back "they" and "the others" may refer
Symbols = list[tuple[str, str]]  # each symbol, with the name of the object where it is one

# O an object, A all objects, Z none of them, R the other objects, T these, J it, B a blicket,
# P blickets, N not, E except, M maybe, I if, V a verb, W a verb that ends its clause, S a comma or
# "and", Q "or" (which patterns see as S), D "but", X what happens on the machine.
_IT_IS = (
    r"(?:is|was|must|may|might|could|cannot|not|isn't|be|also|thus|the|an?|only|sole|no|indeed)"
)
_UNSURE = reading.UNSURE_WORDS.removeprefix(r"\b(?:").removesuffix(r")\b")
_WORDS = (
    ("X", r"blicket (?:detectors?|machines?)|machines?|detectors?|lights?|lit|dark|placed|put"),
    ("VNB", r"(?:is|are|was) no blickets?|(?<=[:|(]) ?(?:no|false)(?=\s?(?:[.,;)|]|$))|\u2717"),
    ("VB", r"(?<=[:|(]) ?(?:yes|true)(?=\s?(?:[.,;)|]|$))|\u2713"),
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
        r"|not enough (?:information|evidence|data)|possible|candidates?|suspects?|suspected|potential"
        rf"|conceivably|plausibly|i guess|can't be ruled out|cannot be ruled out|{_UNSURE}",
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
    ("Q", r"or|and/or"),
    ("S", r"and|so|plus|as well as"),
    ("D", r"but|while|whereas|though|although|however|yet"),
)
_MARKS = {",": "S", ";": "D", ":": "V", "=": "V", "|": "V", "(": "S", "+": "S", "&": "S"}
_NAME = (
    rf"(?:(?P<colour>{'|'.join(COLOURS)})\s(?:(?!and\b|or\b)[a-z]{{1,9}}\s)?)?"
    rf"(?P<shape>{'|'.join(SHAPES)})(?:e?s)?|(?P<tint>{'|'.join(COLOURS)})\s(?:one|object|item)"
)
# A bracket says what an object is ("torus (not a blicket)") or adds to a list.
_BRACKET = r"\((?=(?:not |maybe |an? |is |non-?){0,3}blicket)"
_SYMBOL = re.compile(
    rf"(?<![\w'])(?:{_NAME}|"
    + "|".join(rf"(?P<w{number}>{text})" for number, (_, text) in enumerate(_WORDS))
    + rf")(?![\w'])|(?P<bracket>{_BRACKET})|(?P<mark>[,;:=|(+&])"
)

_PREFIX = r"(?P<{0}before>[NMI]{{0,6}})"
_LISTED = r"[NME]{0,3}[OAZ](?![SD]{0,2}[VNM]{0,3}[VW])"
_LIST = (
    rf"{_PREFIX.format('list_')}(?P<what>[BP])(?P<list_verb>[VNMS]{{0,6}}|X{{1,3}}[VNM]{{0,3}}V[NM]{{0,3}})"
    rf"(?P<listed>S{{0,3}}{_LISTED}(?:(?:S{{0,3}}|DS{{0,2}}(?=[NME])){_LISTED}){{0,40}})"
)
# A verb without a blicket after it is about something else: "the torus does not light it".
_SUBJECT = (
    rf"{_PREFIX.format('')}(?:EOS)?(?P<subject>[OAZTRJ](?:(?:S{{1,3}}|(?=[NE]))[NE]{{0,2}}[OA]){{0,40}})"
    r"S{0,2}(?P<verb>[VWNM]{1,8})(?:(?P<object>[BP])|(?!X))"
)
_CLAIM = re.compile(f"{_LIST}|{_SUBJECT}")
_BLICKET = re.compile("[BP]")
_GROUP = re.compile(r"O(?:[SN]{1,3}O)+")
_ANSWER_LINES = ("blickets:", "maybe blickets:")
_ONLY = re.compile(rf"\b(?:only|sole) (?:blickets?\b(?! [dm])|(?:the )?(?:{_NAME}))")
_FILLER = re.compile(r"\b(?:only|just|the|answer|final|object|an?|it|its|like|unsure)\b|[^a-z]+")
_SIMPLER = (
    (
        re.compile(
            r"\b(?:unsure|not sure|uncertain|undecided|unclear) (?:about|on|of) (the [a-z ]{1,40})"
        ),
        r"\1 is maybe a blicket",
    ),  # other ways to say the same: "it's", "so is the torus", "is one too"
    (re.compile(r"\b(it|that|they)'(?:s|re)\b"), r"\1 is"),
    (re.compile(r"\([a-z ]{0,40}(?:detector|machine)s?\)"), ""),
    (re.compile(r", (?:which is )?(?:the |a )(?:only )?blicket, "), " (blicket), "),
    (re.compile(r"\b(is|isn't|not|also|are) ones?(?= either| too|[.,;!]|$)"), r"\1 blicket"),
    (re.compile(r"\bso (?:is|are) ((?:the )?[a-z ]{1,60})"), r"\1 is a blicket"),
)


def _symbols(sentence: str, objects: Sequence[str]) -> Iterator[tuple[str, str]]:
    for found in _SYMBOL.finditer(sentence):
        group = str(found.lastgroup)
        if group == "shape":
            # The shape alone is enough where it is the only one: "the torus".
            wanted = " ".join(filter(None, (found["colour"], found["shape"])))
            named = [name for name in objects if f" {name}".endswith(f" {wanted}")]
            if len(named) == 1:
                yield "O", named[0]
        elif group == "tint":
            named = [name for name in objects if name.startswith(f"{found['tint']} ")]
            if len(named) == 1:
                yield "O", named[0]
        elif group == "mark":
            yield _MARKS[found[0]], ""
        elif group == "bracket":
            yield "V", ""
        else:
            for symbol in _WORDS[int(group[1:])][0]:
                yield symbol, ""


@dataclass
class Claims:
    """What has been said about each object so far; later claims replace earlier ones."""

    objects: Sequence[str]  # of all machines
    new: Sequence[str]
    patterns: Sequence[str] = ()  # of all machines
    status: dict[str, str] = field(default_factory=dict)  # "yes", "no" or "maybe"
    elsewhere: dict[str, str] = field(default_factory=dict)  # in sentences about other machines
    any_claim: bool = False
    asked: bool = True  # whether the sentence before asked for the blickets, as the prompt does
    last_named: Sequence[str] = ()  # the objects of the last sentence that named any

    def named(self, status: str) -> tuple[str, ...]:
        """The objects with this status, in alphabetical order.

        Claims about other machines are explanations where there are claims about the new one, and
        the answer where there are none.
        """
        claims = self.status or self.elsewhere
        return tuple(sorted(name for name, each in claims.items() if each == status))

    def read(self, sentence: str) -> None:
        """Take in one sentence."""
        for pattern, words in _SIMPLER:
            sentence = pattern.sub(words, sentence)
        symbols = list(_symbols(sentence, self.objects))
        kinds = {symbol for symbol, _ in symbols}
        if sentence.endswith("?"):
            self.asked = bool(kinds & {"B", "P"})
            return
        bare = self.asked and kinds <= set("OAZSQMVD") and kinds & {"O", "A", "Z"}
        if bare and _only_objects(sentence, self.patterns):
            symbols = [("P", ""), ("V", ""), *symbols]
            kinds |= {"P"}
        self.asked = False
        if "no blicket" in sentence:
            self.any_claim = True
        if kinds & {"B", "P"}:
            self._take_claims(symbols, sentence)
            # "It is not possible to figure out which objects are blickets" is an answer: none.
            self.any_claim = self.any_claim or ("M" in kinds and not kinds & {"O", "A"})
        self.last_named = [name for _, name in symbols if name] or self.last_named

    def _take_claims(self, symbols: Symbols, sentence: str) -> None:
        claims: dict[str, str] = {}
        complete, only = False, _ONLY.search(sentence) is not None
        text = "".join(symbol for symbol, _ in symbols).replace("Q", "S")
        first = _BLICKET.search(text)
        first_blicket = first.start() if first else len(text)
        for found in _CLAIM.finditer(text):
            part, prefix = ("listed", "list_") if found["what"] else ("subject", "")
            around = found[f"{prefix}before"] + found[f"{prefix}verb"]
            if _no_claim(found, around, first_blicket < found.start()):
                continue
            status = _status(around)
            if status == "yes" and _leaves_open(
                [each for each, _ in symbols[slice(*found.span(part))]]
            ):
                status = "maybe"
            complete = complete or (status == "yes" and (found["what"] == "P" or only))
            for index in range(*found.span(part)):
                symbol = symbols[index][0]
                if symbol in "NME":
                    status = _status(symbol)
                claims |= dict.fromkeys(self._objects_of(symbols, index, claims), status)
                self.any_claim = self.any_claim or symbol in "OAZTRJ"
        # An answer line is about the new machine, whatever it names.
        if not sentence.startswith(_ANSWER_LINES) and claims and not set(claims) & set(self.new):
            self.elsewhere.update(claims)
            return
        if complete:
            # A complete list replaces what was named before it.
            self.status = {name: each for name, each in self.status.items() if each != "yes"}
        self.status.update(claims)

    def _objects_of(self, symbols: Symbols, index: int, claims: dict[str, str]) -> list[str]:
        """The objects that one symbol refers to."""
        symbol, name = symbols[index]
        if symbol == "O":
            return [name]
        if symbol == "A":
            return list(self.new)
        near = symbols[max(0, index - MAX_BACK) : index]
        before = [each for _, each in near if each] or list(self.last_named)
        if symbol == "R":
            return [each for each in self.new if each not in {*before, *claims}]
        if symbol == "J":
            return before[-1:]
        return (_last_group(near) or before) if symbol == "T" else []


def _no_claim(found: re.Match[str], around: str, blicket_before: bool) -> bool:
    """Whether an apparent claim is an "if", or a verb that belongs to something else."""
    if "I" in around and "M" not in around:
        return True
    if found["what"] or found["object"] or set(around) & {"N", "M"}:
        return False
    # "... are not blickets, but the torus is" leaves out the blicket named before.
    return not (around.endswith("W") and blicket_before)


def _leaves_open(symbols: Sequence[str]) -> bool:
    """Whether objects are joined by "or" before any of them is denied."""
    named = "".join(symbols)
    return "Q" in named.partition("N")[0].partition("E")[0]


def _last_group(symbols: Symbols) -> list[str]:
    """The last objects that were named together: "the torus and the cone"."""
    text = "".join(symbol for symbol, _ in reversed(symbols)).replace("Q", "S")
    found = _GROUP.search(text)
    if found is None:
        return []
    end = len(symbols) - found.start()
    return [name for _, name in symbols[end - len(found[0]) : end] if name]


def _only_objects(sentence: str, patterns: Sequence[str]) -> bool:
    """Whether a sentence is objects, a machine and nothing else: "Only the brown torus."."""
    words = _FILLER.sub(" ", _SYMBOL.sub(" ", sentence)).split()
    return set(words) <= {pattern.lower() for pattern in patterns}


def _status(symbols: str) -> str:
    """What the symbols around a verb say; "may not be" is a maybe."""
    return "maybe" if "M" in symbols else "no" if set(symbols) & {"N", "E"} else "yes"
