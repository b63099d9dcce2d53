"""What a text claims about an experiment: fields and their values, in the order they are said.

    text       sentences and lines, each a row of words of the kinds in `_WORDS`
    verdict    a clause about "the hypothesis" (or "it", after that) with a word for valid or
               invalid, turned round by "not"; a clause that is such a word and no more; or the
               name of the field and true or false: "Valid hypothesis: no"
    role       a list of variables beside what is done with them: "vary x_1", "x_1 is varied",
               "Independent: x_1", "no controls", "control: all but x_5"
    heading    a sentence with one role and no variables: a list that comes next is its value

A role takes the variables before it that have none yet, else those after it; with a sign between
them (":", "=", "is") it is a label, and takes only those after it. Words such as "because" end a
list, and what follows is the reason. Remarks in parentheses that name variables say why, too.
Sentences that are unsure, ask or suppose something claim nothing but what has a label.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from trivium.core import reading
from trivium.core.reading import Found

VARIABLE = r"(?<![A-Za-z0-9])x[\s_-]{0,2}[0-9]{1,9}(?![A-Za-z0-9_])"
_BETWEEN = (
    r"[\"'\])}>]{0,3}\s?(?:[,/&+|-]\s?)?(?:(?:and|or|plus|as well as)\s|\d[.)]\s)?"
    r"(?:(?:also|maybe|possibly|perhaps|the|either|both)\s)?[\"'\[({<]{0,3}"
)
LIST = rf"{VARIABLE}(?:{_BETWEEN}{VARIABLE}){{0,40}}"
ROLES = ("independent", "dependent", "control")
_PEOPLE = r"(?:we|you|i|one) (?:should |will |would )?"
# The kinds of words; of several that fit, the first counts.
_WORDS = {
    "field": r"\x02(?:true|false)",  # as `_as_field` writes it
    "compared": r"\b(?:(?:tandem|together|correlat\w{1,5}|associated|linked|along|tied|related)"
    rf" (?:with|to)|(?:mov|chang|var[yi]|shift)\w{{0,3}} with) (?:both |either )?{LIST}",
    "list": LIST,
    "namely": r"\b(?:namely|that is,|specifically|viz)",
    "unneeded": r"\b(?:not|\w{2,6}n't) (?:\w{2,9} )?(?:needed|required|necessary|called for)\b"
    r"|\bun(?:needed|necessary)\b|\bnot applicable\b",
    "uncontrolled": r"(?:\bnot|\b\w{2,6}n't|\bno need to) (?:have to |need to )?"
    r"(?:control|hold|fix|keep)(?: for)? any(?:thing)?\b",
    "independent": r"\bin[\s_-]?dependent\b(?:[\s_-]var(?:iable)?s?\b)?"
    r"|\bind(?:ep)?(?:[\s_-]?var(?:iable)?)?\b|\biv\b"
    r"|\bmanipulat(?:e|ed|ing)\b|\b(?:vary|varied|varying)\b(?! (?:together|in\b|with))"
    rf"|\bintervene on\b|\bwhat {_PEOPLE}(?:change|alter|set)\b"
    r"|\b(?:change|changing|set|alter|tweak|adjust|modify)(?= (?:only |just )?x)|\bthe cause\b"
    r"|\bcause(?=\s?:)",
    "dependent": r"\bdependent\b(?:[\s_-]var(?:iable)?s?\b)?|\bdep(?:[\s_-]?var(?:iable)?)?\b|\bdv\b"
    rf"|\bmeasur(?:e|ed|ing)\b|\bwhat {_PEOPLE}(?:look at|watch|track|see|get|read(?: off)?)\b"
    r"|\b(?:observ|record|monitor|track|watch)(?:e|ed|ing)?\b|\blook(?:ing)? at\b"
    r"|\b(?:outcome|response)\b|\bthe effect\b(?! of)|\beffect(?=\s?:)|\b(?:responds?|reacts?)\b",
    "good": r"\b(?:valid|plausible|supported|worth(?: testing| an experiment| a test| running)?"
    r"|worthwhile|holds(?: up| true| water)?|hold(?:(?: up| true| water)|(?=[.,;:!]|$| because))"
    r"|accept(?:ed)?|reasonable|sensible|stands|survives|passes|tenable|testable|true|correct"
    r"|consistent)\b",
    "control": r"\bcontrol(?:s|led|ling)?\b(?: for)?(?:[\s_-]var(?:iable)?s?\b)?"
    r"|\bctrl(?:[\s_-]?var(?:iable)?s?)?\b|\bcvs?\b|\bcovariates?\b"
    r"|\bconfound(?:ers?|ing variables?)\b|\b(?:hold|holding|held|keep|keeping|kept|fix|fixing)\b"
    r"|\b(?:adjust|adjusting|account|accounting) for\b",
    "constant": r"\b(?:constant|fixed|steady|unchanged)\b",
    "other": r"\b(?:an? (?:in)?(?:valid|plausible) hyp\w{1,8}|other|another|hypotheses|list|each"
    r"|every|(?:a|any|first|second) hyp\w{1,8})\b",
    "hypothesis": r"\bhypothesis\b",
    "bad": r"\b(?:invalid|implausible|unsupported|reject(?:s|ed)?|refute[sd]?|contradict\w{0,4}"
    r"|fail(?:s|ed)?|discard(?:ed)?|abandon(?:ed)?|dropped|dismiss(?:ed)?|falsif(?:ied|ies)"
    r"|unfounded|disprove[ns]?|untenable|false|incorrect|wrong|inconsistent(?: with)?|ruled? out"
    r"|rules? (?:out|(?=(?:the|this|it)(?: [a-z]{3,12}){0,2} out\b))"
    r"|(?:speaks?|spoke|evidence|is|are|argues?) against)\b",
    "except": r"\b(?:except(?: for)?|but not|other than|excluding|besides|apart from|rather than)\b",
    "not": r"\b(?:not|never|isn't|aren't|cannot|can't|don't|doesn't|needn't|shouldn't|no longer"
    r"|non)\b",
    "nothing": r"\b(?:nothing|none|neither|no (?:evidence|observations?|data|reason))\b(?! else)",
    "no": r"\b(?:no(?! others\b)|without|zero|empty|n/?a|n\.a|nil|null)\b|\[\s?\]|\{\s?\}"
    r"|(?<=[:=|] )[-0]{1,3}(?=\s{0,3}(?:[;|,\]]|$))",
    "all": r"\b(?:all|everything)\b|\bthe (?:others|rest)\b",
    "be": r"\b(?:is|are|should be|would be|will be|must be|to be)\b",
    "small": r"\b(?:(?:answer|verdict|conclusion)\b:?|(?:thus|hence|the|my|our|result|assessment"
    r"|status|target|final|clearly|probably|likely|i|would|call|conclude|overall|hyp)\b)",
    "sign": r":{1,2}|=|->|\||\?",
    "dash": r"\s-\s",
    "break": r";|\bwith(?! (?:them|it|each))\b|\b(?:while|because|since|given that|due to|so that"
    r"|whereas|in order|to (?:rule|avoid|prevent|isolate|ensure))\b",
    "reason": r"\b(?:as(?! well)|which|whose|they|these|for (?:it|they|these))\b",
    "but": r"\b(?:but|however|yet)\b",
    "clause": r",|\b(?:so|and|therefore)\b",
    "or": r"\bor\b",
    "it": r"\b(?:it|this|that)\b",
    "word": r"[^\W\d_]{1,40}",
}
_LEXER = reading.Lexer(_WORDS)
_NO = ("no", "nothing", "unneeded")
_TELLING = {*ROLES, *_NO, "constant", "good", "bad", "field"}


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
    adds: bool = False  # goes on with a list
    also: bool = False  # "x_1, too"
    others: bool = False  # "no other"
    start: int = 0  # where the text after its label begins

    def says_something(self) -> bool:
        return bool(self.names or self.none or self.rest or self.valid is not None)


def variables(text: str) -> list[str]:
    """The variables of a text, each in its one spelling."""
    return ["x_" + re.sub(r"\D", "", word) for word in _VARIABLE.findall(text)]


_VARIABLE = re.compile(VARIABLE, re.IGNORECASE)
_TRUE = r"true|yes|valid|y|t|1(?![.)])|plausible|supported|correct|\u2713|worth testing"
_FALSE = r"false|no|invalid|n|f|0|implausible|rejected|refuted|unsupported|incorrect|\u2717"
_VALIDITY = (
    r"valid[\s_-]?hyp(?:othesis)?|(?:is[\s_-]?)?(?:the )?(?:target )?hypothesis[\s_-]{0,2}"
    r"(?:is[\s_-]?)?(?:valid(?:ity)?|status|worth testing)|hyp[\s_-]?valid(?:ity)?"
    r"|(?:is[\s_-]?)?(?:it )?valid(?:ity)?|hypothesis(?=[\"']?\s?(?:[:=|]|->))"
)
_FIELD = re.compile(  # "Valid hypothesis: no"
    rf"(?<![A-Za-z0-9_-])(?<!\bnot )(?<!\bnon-)[\"']?(?:{_VALIDITY})[\"']?(?:\s?\([^()\n]{{0,40}}\))?"
    r"\)?[ \t]{0,5}(?:[:=|]{1,2}|\?\s{0,3}\|?|->|-(?=\s)|(?:is|(?:should|must|will) be)\b:?)[\s\"'`<>()\[\]{},]{0,5}"
    rf"(?P<not>not\b.{{0,20}}?)?(?:(?P<true>{_TRUE})|(?:{_FALSE}))(?!\w)"
    rf"(?!\s{{0,3}}(?:/|\||or\b)\s{{0,3}}(?:not|{_TRUE}|{_FALSE})\b)",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(
    r"\b(?:if|whether|unless|(?:had|were)(?= (?:it|there|this|the|x_))|suppose|could|may|might"
    r"|make sure|ensure|important|check (?:if|that|whether)|at first|initially"
    r"|(?:first|initial) (?:thought|guess)|neither (?:confirm|support|prove|verif)[a-z]{0,4} nor"
    r"|(?<!second )thought|assumed)\b|\?|\bwould (?:have|make)\b"
    r"|\bwould be(?!\s?(?:x_|:|the |an? |to |varied|measured|manipulated|held|kept|controlled))",
    re.IGNORECASE,
)
_CALLED = re.compile(
    r"(?:^|\b(?:it|this|that) is |\b(?:it|that)'s )(not )?an? ((?:in)?valid|(?:im)?plausible)"
    r" hypothesis(?=[.!;,]|$| (?:because|since|as|given))",
    re.IGNORECASE,
)
_REMARK = re.compile(r"\(([^()]{0,300})\)")
_PLURAL = re.compile(
    r"(?:\b(?:variables|members|ones|others|two|three|four|rest|factors)\s|[:=]\s?)$", re.IGNORECASE
)
# A line of a list: variables, and perhaps why.
_ITEM = re.compile(
    rf"\W{{0,9}}(?:(?:hmm|no|wait|sorry|actually|correction|i mean|make that|and)\b\W{{1,4}}){{0,4}}"
    rf"({LIST})[\]\"')}}.;,\s]{{0,5}}(?:$|[-:(|]|because\b|since\b|as\b|which\b)",
    re.IGNORECASE,
)
_NUMBER = re.compile(  # of a line, or before a variable
    rf"^[ \t]{{0,9}}\d{{1,2}}[.)]\s|(?<=\s)\d{{1,2}}[.)]\s(?={VARIABLE})", re.MULTILINE | re.I
)
_CORRECTION = re.compile(rf"(?={reading.CORRECTION_WORDS})", re.IGNORECASE)
_ALSO = re.compile(r"\b(?:also|additionally|in addition|as well|too)\b", re.IGNORECASE)
_OTHERS = re.compile(r"\b(?:other|others|else|rest|remaining)\b", re.IGNORECASE)
_YES_NO = re.compile(
    r"^\W{0,4}(yes|no)\b(?=[.,;:!]|$| -)|\b(?:so|therefore|hence|:) (yes|no)\W{0,3}$", re.I
)


def _remark(remark: re.Match[str]) -> str:
    """A remark in parentheses as far as it is read."""
    words = list(_LEXER.found(remark[1]))
    kinds = [word.kind for word in words]
    before = remark.string[max(0, remark.start() - 20) : remark.start()]
    if "list" not in kinds and "compared" not in kinds:
        ends = {*kinds[:1], *kinds[-1:]}
        return remark[0] if ends & _TELLING else " "
    if kinds == ["list"] and _PLURAL.search(before):
        return f" {remark[1]} "  # "the other variables (x_1 and x_2) are kept constant"
    return f"; {remark[1]} ;" if {*ROLES, "field"} & set(kinds) else " "


def is_field(cell: str) -> bool:
    """Whether a cell of a table is the name of a field."""
    kinds = {word.kind for word in _LEXER.found(cell)}
    return (len(kinds) == 1 and kinds <= set(ROLES)) or bool(_VALIDITY_NAME.fullmatch(cell))


_VALIDITY_NAME = re.compile(_VALIDITY, re.IGNORECASE)


def is_supposed(sentence: str) -> bool:
    """Whether a sentence is unsure, asks or supposes something."""
    return reading.is_unsure(sentence) or _SUPPOSED.search(sentence) is not None


class Reader:
    """Reads the claims of a text about one target hypothesis."""

    def __init__(self, target: set[str], *, bracketed: bool = False) -> None:
        self._target = target
        self._bracketed = bracketed
        self._about = False  # the hypothesis was named, "it" is the hypothesis
        self._asked = False  # a sentence before asked whether it is valid
        self._heading: Claim | None = None  # what a list to come belongs to
        self._last: Claim | None = None

    def claims(self, text: str) -> Iterator[list[Claim]]:
        """Yields the claims of a text, those between two corrections together."""
        text = _REMARK.sub(_remark, _FIELD.sub(_as_field, _NUMBER.sub("- ", text)))
        for number, part in enumerate(_CORRECTION.split(text)):
            self._heading = Claim(self._last.field) if number and self._last else None
            self._about = self._asked = False
            found: list[Claim] = []
            for sentence in reading.sentences(part):
                found += self._sentence(_CALLED.sub(r"the hypothesis is \1\2", sentence))
            yield found

    def _sentence(self, sentence: str) -> Iterator[Claim]:
        words = list(_LEXER.found(sentence))
        if not words:
            return
        kinds = {word.kind for word in words}
        roles = {"control" if kind == "constant" else kind for kind in kinds} & set(ROLES)
        item = _ITEM.match(sentence)
        heading, self._heading = self._heading, None
        if heading and not roles and (item or reading.is_none(sentence.strip(" -"))):
            names = variables(item[1]) if item else []
            one = heading.field == "control" or len(names) < 2
            after = {word.kind for word in words if item and word.start >= item.end(1)}
            if one and after.isdisjoint(("not", *_NO)):
                yield Claim(heading.field, names, none=not names, labelled=True, adds=heading.adds)
            self._heading = Claim(heading.field, adds=True) if heading.field == "control" else None
            return
        found = _Sentence(sentence, words, self._bracketed).claims()
        supposed = is_supposed(sentence)
        also = _ALSO.search(sentence) is not None
        others = _OTHERS.search(sentence) is not None
        for claim in found:
            if claim.says_something() and (claim.labelled or not supposed):
                row = claim.field == "control" and item is not None
                row = row or words[0].kind == "list"
                claim.adds, claim.also = row and not claim.labelled, also
                claim.others = others
                self._last = claim if claim.field != "valid" else self._last
                yield claim
        ends = sentence.endswith((".", "!"))
        if len(roles) == 1 and not ends and kinds.isdisjoint(("list", "not", *_NO)):
            self._heading = Claim(roles.pop())
        elif found and found[-1].field == "control" and found[-1].labelled:
            self._heading = Claim("control", adds=True)
        if "field" not in kinds:
            valid = self._verdict(sentence, words)
            if valid is not None:
                yield Claim("valid", valid=valid)

    def _verdict(self, sentence: str, words: list[Found]) -> bool | None:
        """What a sentence says for sure about the target hypothesis, if anything."""
        meant = None
        for part in _split(words, ("but",)):
            text = sentence[part[0].start : part[-1].end + 1]
            found = None
            for clause in _split(part, ("clause", "break", "dash", "sign", "reason")):
                kinds = [word.kind for word in clause]
                self._about = self._about or "hypothesis" in kinds
                if self._is_about_target(clause):
                    found = _polarity(kinds)
                elif (
                    self._about
                    and set(kinds) <= {"it", "small", "be", "not"}
                    and {
                        "it",
                        "not",
                    }
                    <= set(kinds)
                ):
                    found = False  # "so it is not"
            reply = _YES_NO.search(text) if self._asked else None
            if reply:
                meant = (reply[1] or reply[2]).lower() == "yes"
            if found is not None:  # "it seems valid but may be invalid" says neither
                meant = None if is_supposed(text) else found
                self._asked = sentence.endswith("?")
        return meant

    def _is_about_target(self, clause: list[Found]) -> bool:
        """Whether a clause calls something valid or invalid, and it is the target hypothesis."""
        kinds = [word.kind for word in clause]
        words = [place for place, kind in enumerate(kinds) if kind in ("good", "bad")]
        if not words or "other" in kinds:
            return False
        if set(kinds) <= {"good", "bad", "not", "nothing", "small", "be"}:
            said = {word.text.lower().rstrip(":") for word in clause}
            return bool(said & _BARE or (said & {"true", "false"} and said & {"answer", "verdict"}))
        named = {
            name
            for word in clause[: words[0]]
            if word.kind in ("list", "compared")
            for name in variables(word.text)
        }
        if self._target and not named <= self._target:
            return False
        named_so = clause[words[0]].text.lower() in {"valid", "invalid", "reject", "discard"}
        return "hypothesis" in kinds or ("it" in kinds and (self._about or named_so))


_BARE = {"valid", "invalid", "plausible", "implausible", "rejected"}


def _as_field(found: re.Match[str]) -> str:
    true = (found["true"] is not None) != (found["not"] is not None)
    return f" \x02{str(true).lower()} "


def _split(words: list[Found], kinds: tuple[str, ...]) -> Iterator[list[Found]]:
    """Yields the words between words of these kinds."""
    part: list[Found] = []
    for word in words:
        if word.kind in kinds:
            if part:
                yield part
            part = []
        else:
            part.append(word)
    if part:
        yield part


def _polarity(kinds: list[str]) -> bool | None:
    """Whether the words of a clause say valid or invalid; None where they say both."""
    said: set[bool] = set()
    denied = False
    for kind in kinds:
        if kind in ("good", "bad"):
            said.add((kind == "good") != denied)
            denied = False
        denied = denied != (kind in ("not", "nothing", "except"))
    return said.pop() if len(said) == 1 else None


class _Sentence:
    """Reads the fields and roles of one sentence, word by word."""

    def __init__(self, text: str, words: list[Found], bracketed: bool) -> None:
        self._text, self._words, self._bracketed = text, words, bracketed
        self._found: list[Claim] = []
        self._claim: Claim | None = None  # the role that variables to come have
        self._waiting: list[str] = []  # variables that have no role yet
        self._either = self._denied = self._no = self._all = self._spilled = False

    def claims(self) -> list[Claim]:
        """The claims, in their order."""
        for place, word in enumerate(self._words):
            if word.kind in (*ROLES, "constant"):
                self._role(place, word)
            elif word.kind in _NO:
                self._none()
            elif handler := getattr(self, "_take_" + word.kind, None):
                handler(place, word)
        self._close(len(self._text))
        return self._found

    def _close(self, end: int) -> None:
        """End the value of the role."""
        claim, self._claim = self._claim, None
        if claim and self._spilled:
            claim.names += self._waiting  # two variables where one is asked for are no value
        if claim and self._bracketed and 0 < claim.start <= end and not claim.says_something():
            said = self._text[claim.start : end]
            claim.names = [key for part in said.split(",") if (key := plain_key(part))]
            if not claim.names or reading.is_none(plain_key(said)):
                claim.names, claim.none = [], True
        self._spilled = False

    def _take_field(self, place: int, word: Found) -> None:
        self._close(word.start)
        self._waiting = []
        self._found.append(Claim("valid", valid=word.text.endswith("true"), labelled=True))

    def _take_list(self, place: int, word: Found) -> None:
        names = variables(word.text)
        either = re.search(r"\bor\b", word.text, re.IGNORECASE) is not None
        claim = self._claim
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

    def _take_or(self, place: int, word: Found) -> None:
        if self._claim:
            self._claim.either = True
        else:
            self._either = bool(self._waiting)

    def _take_namely(self, place: int, word: Found) -> None:
        self._waiting = []

    def _take_not(self, place: int, word: Found) -> None:
        self._denied = True

    def _take_except(self, place: int, word: Found) -> None:
        last = self._found[-1] if self._found else None
        if self._claim is None and last and last.field == "control" and last.none:
            self._claim, last.none = last, False  # "no controls except x_1"
        else:
            self._denied = True

    def _take_but(self, place: int, word: Found) -> None:
        self._denied = self._claim is not None and self._claim.rest

    def _take_all(self, place: int, word: Found) -> None:
        self._all = True
        if self._claim and self._claim.field == "control" and not self._claim.names:
            self._claim.rest = True

    def _none(self) -> None:
        self._no = True
        if self._claim and self._claim.field == "control" and not self._claim.names:
            self._claim.none = True
            if not self._bracketed:
                self._claim = None

    def _take_uncontrolled(self, place: int, word: Found) -> None:
        self._found.append(Claim("control", none=True))

    def _take_dash(self, place: int, word: Found) -> None:
        if self._claim is None or self._claim.says_something():
            self._take_break(place, word)

    def _take_break(self, place: int, word: Found) -> None:
        after = [each.kind for each in self._words[place + 1 : place + 3]]
        if (
            self._claim
            and word.text == ";"
            and after[:1] == ["list"]
            and after[1:] in ([], ["break"])
        ):
            return  # "x_1; x_2; x_3"
        self._close(word.start)
        self._waiting = []
        self._either = self._denied = self._no = self._all = False

    def _take_reason(self, place: int, word: Found) -> None:
        self._close(word.start)

    def _role(self, place: int, word: Found) -> None:
        """Take in a role: it has the variables before it, or those to come."""
        role = "control" if word.kind == "constant" else word.kind
        start, with_value = self._label(place)
        labelled = start > 0
        waiting = [] if with_value else self._waiting
        if waiting or with_value:
            self._spilled = False
        claim = Claim(role, waiting, labelled=labelled and not waiting, either=self._either)
        claim.start = start
        if waiting:
            kept = not (self._denied or (self._no and role == "control"))
        elif self._no and role == "control" and not labelled:
            claim.none, kept = True, True
        else:
            kept = not self._denied
        opens = not waiting and not claim.none and not labelled
        named = role != "control" and any(each.field == role and each.names for each in self._found)
        if not (opens and (named or word.kind == "constant")):
            self._close(word.start)
            if kept:
                self._put(claim)
            self._claim = claim if kept and not waiting and not claim.none else None
            self._waiting, self._either = [], False
        self._denied = self._no = False

    def _put(self, claim: Claim) -> None:
        self._found.append(claim)

    def _label(self, place: int) -> tuple[int, bool]:
        """Where the value of a role begins if it is a label, else 0; and if it follows at once."""
        sign = place + 1
        while sign < place + 4 and self._kind(sign) in (*ROLES, "constant", "word"):
            sign += 1
        in_remark = self._text[self._words[place].start - 1 : self._words[place].start] == "("
        if self._kind(sign) not in ("sign", "be", "dash") or (in_remark and self._waiting):
            return 0, False
        value = self._kind(sign + 1) in ("list", "all", *_NO)
        return self._words[sign].end if value or self._kind(sign) == "sign" else 0, value

    def _kind(self, place: int) -> str:
        return self._words[place].kind if place < len(self._words) else ""


def plain_key(value: str) -> str:
    """A value without decoration and without a full stop, in lower case."""
    around = " \t\r\n\"'`*<>()[]{},;"
    return value.strip(around).rstrip(".").strip(around).lower()
