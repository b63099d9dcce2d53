"""What a text claims about an experiment: fields and their values, in the order they are said.

    text       sentences and lines, each a row of words of the kinds in `_WORDS`
    verdict    a clause about "the hypothesis" (or "it", after that) with a word for valid or
               invalid, turned round by "not"; a clause that is such a word and no more; or the
               name of the field and true or false: "Valid hypothesis: no"
    role       a list of variables beside what is done with them: "vary x_1", "x_1 is varied",
               "Independent: x_1", "no controls", "control: all but x_5"
    heading    a sentence or line with one role and no variables: a list that comes next is its value

A role takes the variables before it that have none yet, else those after it; with a sign between
them (":", "=", "is") it is a label, and takes only those after it. Words such as "because" end a
list, and what follows says why, as do remarks in parentheses. Sentences that are unsure, ask or
suppose something claim nothing but what has a label.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from trivium.core import reading
from trivium.core.reading import Found

VARIABLE = r"(?<![A-Za-z0-9])x[\s_-]{0,2}[0-9]{1,9}(?![A-Za-z0-9_])"
_BETWEEN = (
    r"[\"'\])}>]{0,3}\s?(?:[,/&+|>-]\s?)?(?:(?:and|or|plus|then|as well as)\s)?"
    r"(?:(?:also|maybe|possibly|perhaps|the|either|both|finally)\s)?[\"'\[({<]{0,3}"
)
LIST = rf"{VARIABLE}(?:{_BETWEEN}{VARIABLE}){{0,40}}"
ROLES = ("independent", "dependent", "control")
_NOUN = r"(?:[\s_-]?var(?:iable)?s?\b)?"
_WE = r"(?:to|what|(?:what )?(?:we|you|i|one)(?: should| will| would)?)"
_ALONE = r"(?! (?:together|in\b|with|along|jointly))"
# The kinds of words; of several that fit, the first counts.
_WORDS = {
    "field": r"\x02(?:true|false)",  # as `_as_field` writes it
    "compared": r"\b(?:(?:tandem|together|correlat\w{1,5}|associated|linked|along|tied|related)"
    rf" (?:with|to)|(?:mov|chang|var[yi]|shift)\w{{0,3}} with) (?:both |either )?{LIST}",
    "list": LIST,
    "namely": r"\b(?:namely|that is,|specifically|viz)",
    "uncontrolled": r"\b(?:not|\w{2,6}n't|no need to) (?:have to |need to )?"
    r"(?:control|hold|fix|keep)(?: for)? any(?:thing)?\b",
    "no": r"\b(?:not|\w{2,6}n't) (?:\w{2,9} )?(?:needed|required|necessary|called for|applicable)\b"
    r"|\b(?:not|\w{2,6}n't)(?: have| need)? any\b|\bun(?:needed|necessary)\b"
    r"|\b(?:no(?! others\b)(?! (?:evidence|observations?|data|reason|support)\b)|without|zero|empty"
    r"|n/?a|n\.a|nil|null)\b|\[\s?\]|\{\s?\}|(?<=[:=|] )[-0]{1,3}(?=\s{0,3}(?:[;|,\]]|$))",
    "nothing": r"\b(?:nothing|none|no (?:evidence|observations?|data|reason|support))\b(?! else)",
    "independent": rf"\bin[\s_-]?dependent\b{_NOUN}|\bind(?:ep)?{_NOUN}\b|\biv\b|\bpredictor\b"
    r"|\b(?:input|treatment) variable\b|\b(?:treatment|input|cause|change)(?=\s?[:=])|\bthe cause\b"
    rf"|\bmanipulat(?:e[sd]?|ing)\b|\bvar(?:y|ies|ied|ying)\b{_ALONE}|\binterven(?:e|ing) on\b"
    rf"|\b{_WE} (?:change|alter|set)s?\b{_ALONE}"
    r"|\b(?:change|changing|changes|set|alter|tweak|adjust|modify)(?= (?:only |just )?x)",
    "dependent": rf"\bdependent\b{_NOUN}|\bdep{_NOUN}\b|\bdv\b|\bmeasur(?:e[sd]?|ing)\b"
    rf"|\b{_WE} (?:see|get|read(?: off)?)\b|\b(?:output variable|outcome|response)\b"
    r"|\b(?:observe|record|monitor|track|watch)(?:e?[sd]|ing)?\b|\bobserving\b|\blook(?:s|ing)? at\b"
    r"|\bthe effect\b(?! of)|\b(?:effect|output)(?=\s?[:=])|\b(?:responds?|reacts?)\b",
    "good": r"\b(?:valid|plausible|support(?:s|ed)?|worth(?: testing| an? (?:experiment|test)"
    r"| running)?|worthwhile|holds?(?: up| true| water)|holds?(?=[.,;:!]|$| because| against)"
    r"|accept(?:ed)?|reasonable|sensible|credible|viable|upheld|stands?(?: up)?|survives|passes"
    r"|tenable|testable|true|correct|(?:consistent|compatible)(?: with)?)\b",
    "control": rf"\bcontrol(?:s|led|ling)?\b(?: for)?{_NOUN}|\bctrl{_NOUN}\b|\bcvs?\b|\bcovariates?\b"
    r"|\bconfound(?:ers?|ing variables?)\b|\b(?:hold(?:s|ing)?|held|keep(?:s|ing)?|kept|fix(?:es|ing)?"
    r"|clamp(?:s|ed|ing)?|stays?(?= (?:the same|put|fixed|constant)))\b"
    r"|\b(?:adjust|adjusting|account|accounting) for\b",
    "constant": r"\b(?:constant|fixed|steady|unchanged)\b",
    "other": r"(?<!is )(?<!'s )(?<!not )\ban? (?:in)?(?:valid|plausible) hyp\w{1,8}"
    r"|\b(?:other|another|hypotheses|list|each|every|(?:a|any|first|second) hyp\w{1,8})\b",
    "hypothesis": r"\bhypothesis\b",
    "bad": r"\b(?:invalid|implausible|unsupported|reject(?:s|ed)?|refute[sd]?|contradict\w{0,4}"
    r"|fail(?:s|ed)?|discard(?:ed)?|abandon(?:ed)?|dropped|dismiss(?:ed)?|falsif(?:ied|ies)"
    r"|unfounded|disprove[ns]?|untenable|false|incorrect|wrong|in(?:consistent|compatible)(?: with)?"
    r"|ruled? out|rules? (?:out|(?=(?:the|this|it)(?: [a-z]{3,12}){0,2} out\b))|at odds"
    r"|(?:speaks?|spoke|evidence|is|are|argues?) against)\b",
    "except": r"\b(?:except(?: for)?|but not|other than|excluding|besides|apart from|rather than)\b",
    "not": r"\b(?:not|never|neither|cannot|\w{2,6}n't|no longer|non)\b",
    "all": r"\b(?:all|everything)\b|\bthe (?:others|rest)\b",
    "be": r"\b(?:is|are|should be|would be|will be|must be|to be)\b",
    "small": r"\b(?:thus|hence|the|my|our|result|assessment|status|target|answer|verdict|conclusion"
    r"|final|clearly|probably|likely|i|would|call|conclude|overall|hyp)\b",
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
_NO = ("no", "nothing")
_TELLING = {*ROLES, *_NO, "constant", "good", "bad", "field"}
_TRUE = r"true|yes|valid|y|t|1(?![.)])|plausible|supported|correct|\u2713|worth testing"
_FALSE = r"false|no|invalid|n|f|0|implausible|rejected|refuted|unsupported|incorrect|\u2717"
_VALIDITY = (
    r"valid[\s_-]?hyp(?:othesis)?|(?:is[\s_-]?)?(?:the )?(?:target )?hypothesis[\s_-]{0,2}"
    r"(?:is[\s_-]?)?(?:valid(?:ity)?|status|plausible|worth testing)|hyp[\s_-]?valid(?:ity)?"
    r"|(?:is[\s_-]?)?(?:it )?valid(?:ity)?|(?:hypothesis|answer|verdict)(?=[\"']?\s?(?:[:=|]|->))"
)
_FIELD = re.compile(  # "Valid hypothesis: no"
    rf"(?<![A-Za-z0-9_-])(?<!\bnot )(?<!\bnon-)[\"']?(?:{_VALIDITY})[\"']?"
    r"(?:\s?\([^()\n]{0,40}\))?\)?[ \t]{0,5}"
    r"(?:[:=|]{1,2}|\?\s{0,3}\|?|->|-(?=\s)|(?:is|(?:should|must|will) be)\b:?)"
    rf"[\s\"'`<>()\[\]{{}},]{{0,5}}(?P<not>not\b.{{0,20}}?)?(?:(?P<true>{_TRUE})|(?:{_FALSE}))(?!\w)"
    rf"(?!\s{{0,3}}[:=]|\s{{0,3}}(?:/|\||or\b)\s{{0,3}}(?:not|{_TRUE}|{_FALSE})\b)",
    re.IGNORECASE,
)
_VALIDITY_NAME = re.compile(_VALIDITY, re.IGNORECASE)
_VARIABLE = re.compile(VARIABLE, re.IGNORECASE)
_SUPPOSED = re.compile(
    r"\b(?:if|whether|unless|(?:had|were)(?= (?:it|there|this|the|x_))|suppose|could|may|might"
    r"|possible|perhaps|at first|initially|(?:first|initial) (?:thought|guess)|to be (?:de|seen)\w*"
    r"|neither (?:confirm|support|prove|verif)[a-z]{0,4} nor|(?<!second )thought|assumed)\b|\?"
    r"|\bwould (?:have|make)\b"
    r"|\bwould be(?!\s?(?:x_|:|the |an? |to |varied|measured|manipulated|held|kept|controlled))",
    re.IGNORECASE,
)
_WISHED = re.compile(r"\b(?:make sure|ensure|important|check (?:if|that|whether))\b", re.IGNORECASE)
_CONDITION = re.compile(r"\W{0,5}(?:if|unless|assuming|supposing)\b", re.IGNORECASE)
_WHY = re.compile(rf"({VARIABLE}.*?)\b(?:because|since|as(?! well)|which|so that)\b.*", re.I)
_REMARK = re.compile(r"\(([^()]{0,300})\)")
_LISTED = re.compile(  # before a list in parentheses
    r"(?:\b(?:variables|members|ones|others|two|three|four|rest|factors)\s|[:=]\s?)$", re.IGNORECASE
)
_ITEM = re.compile(  # a line of a list: variables, and perhaps why
    r"\W{0,9}(?:(?:hmm|no|wait|sorry|actually|correction|i mean|make that|and|name|variable)\b"
    rf"\W{{1,4}}){{0,4}}({LIST})[\]\"')}}.;,{{\s]{{0,9}}(?:$|[-:(|]|(?:because|since|as|which)\b)",
    re.IGNORECASE,
)
_NUMBER = re.compile(  # of a line, or before a variable
    rf"^[ \t]{{0,9}}\d{{1,2}}[.)]\s|(?<=\s)\d{{1,2}}[.)]\s(?={VARIABLE})", re.MULTILINE | re.I
)
_CORRECTION = re.compile(rf"(?={reading.CORRECTION_WORDS})", re.IGNORECASE)
_ALSO = re.compile(r"\b(?:also|additionally|in addition|as well|too)\b", re.IGNORECASE)
_OTHERS = re.compile(r"\b(?:others?|else|rest|remaining|further|additional|more)\b", re.IGNORECASE)
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
    adds: bool = False  # to whatever was named before: "x_1, too"
    row: bool = False  # adds to what was named since the last correction
    start: int = 0  # where the text after its label begins

    def says_something(self) -> bool:
        """Whether there is a value."""
        return bool(self.names or self.none or self.rest or self.valid is not None)


def variables(text: str) -> list[str]:
    """The variables of a text, each in its one spelling."""
    return ["x_" + re.sub(r"\D", "", word) for word in _VARIABLE.findall(text)]


def is_field(cell: str) -> bool:
    """Whether a cell of a table is the name of a field."""
    kinds = {word.kind for word in _LEXER.found(cell)}
    return len(kinds) == len(kinds & set(ROLES)) == 1 or bool(_VALIDITY_NAME.fullmatch(cell))


def _remark(remark: re.Match[str]) -> str:
    """A remark in parentheses as far as it is read."""
    kinds = [word.kind for word in _LEXER.found(remark[1])]
    if "list" not in kinds and "compared" not in kinds:
        return remark[0] if {*kinds[:1], *kinds[-1:]} & _TELLING else " "
    if kinds == ["list"] and _LISTED.search(remark.string, remark.start() - 20, remark.start()):
        return f" {remark[1]} "  # "the other variables (x_1 and x_2) are kept constant"
    return f"; {remark[1]} ;" if {*ROLES, "field"} & set(kinds) else " "


def _as_field(found: re.Match[str]) -> str:
    """A verdict with a label as one word."""
    true = (found["true"] is not None) != (found["not"] is not None)
    return f" \x02{str(true).lower()} "


def _is_supposed(sentence: str) -> bool:
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
        self._last: Claim | None = None  # the last claim about a role

    def claims(self, text: str) -> Iterator[list[Claim]]:
        """Yields the claims of a text, those between two corrections together."""
        text = _REMARK.sub(_remark, _FIELD.sub(_as_field, _NUMBER.sub("- ", text)))
        for number, part in enumerate(_CORRECTION.split(text)):
            self._heading = Claim(self._last.field) if number and self._last else None
            self._about = self._asked = False
            sentences = ((each, list(_LEXER.found(each))) for each in reading.sentences(part))
            yield [
                claim
                for sentence, words in sentences
                if words
                for claim in self._read(sentence, words)
            ]

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
        supposed = _is_supposed(_WHY.sub(r"\1", sentence))
        said = [
            each for each in claims if each.says_something() and (each.labelled or not supposed)
        ]
        said = [] if _CONDITION.match(sentence) else said
        adds = _ALSO.search(sentence) is not None
        others = _OTHERS.search(sentence) is not None
        for number, claim in enumerate(said):
            row = words[0].kind == "list" or number > 0 or claim.none or len(claim.names) == 1
            claim.row = row and claim.field == "control" and not claim.labelled
            claim.adds = adds or (others and claim.none and not claim.labelled)
            self._last = claim if claim.field in ROLES else self._last
        yield from said
        if len(roles) == 1 and sentence[-1] not in ".!" and kinds.isdisjoint(("list", "not", *_NO)):
            self._heading = Claim(*roles)
        elif claims and claims[-1].field == "control" and claims[-1].labelled:
            self._heading = Claim("control", row=True)
        valid = None if "field" in kinds else self._verdict(sentence, words)
        if valid is not None:
            yield Claim("valid", valid=valid)

    def _item(
        self, heading: Claim, words: list[Found], item: re.Match[str] | None
    ) -> Iterator[Claim]:
        """Yields what a line below a heading says."""
        names = variables(item[1]) if item else []
        after = {word.kind for word in words if item and word.start >= item.end(1)}
        control = heading.field == "control"
        if (control or len(names) < 2) and after.isdisjoint(("not", *_NO)):
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
                meant = None if _is_supposed(text) or _WISHED.search(text) else found
                self._asked = sentence.endswith("?")
        return meant

    def _is_about_target(self, clause: list[Found]) -> bool:
        """Whether a clause calls something valid or invalid, and it is the target hypothesis."""
        kinds = [word.kind for word in clause]
        place = next((at for at, kind in enumerate(kinds) if kind in ("good", "bad")), None)
        if place is None or "other" in kinds:
            return False
        if set(kinds) <= {"good", "bad", "not", "nothing", "small", "be"}:
            return not _BARE.isdisjoint(word.text.lower().split()[0] for word in clause)
        named = {
            name
            for word in clause[:place]
            if word.kind in ("list", "compared")
            for name in variables(word.text)
        }
        if self._target and not named <= self._target:
            return False
        direct = clause[place].text.lower().split()[0] in {*_BARE, "reject", "discard"}
        return "hypothesis" in kinds or ("it" in kinds and (self._about or direct))


def _split(words: Sequence[Found], kinds: tuple[str, ...]) -> Iterator[list[Found]]:
    """Yields the words between words of these kinds."""
    part: list[Found] = []
    for word in words:
        if word.kind not in kinds:
            part.append(word)
        elif part:
            yield part
            part = []
    if part:
        yield part


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
        self._found: list[Claim] = []
        self._claim: Claim | None = None  # the role that variables to come have
        self._waiting: list[str] = []  # variables that have no role yet
        self._spilled = False  # they stand beside the one variable of a role
        self._either = self._denied = self._no = self._all = False

    def claims(self) -> list[Claim]:
        """The claims, in their order."""
        for place, word in enumerate(self._words):
            self._take(place, word)
        self._close(len(self._text))
        return self._found

    def _take(self, place: int, word: Found) -> None:
        """Take in one word."""
        claim = self._claim
        match word.kind:
            case "independent" | "dependent" | "control" | "constant":
                self._role(place, word)
            case "list":
                self._list(word)
            case "field":
                self._reset(word.start)
                self._found.append(Claim("valid", valid=word.text.endswith("true"), labelled=True))
            case "uncontrolled":
                self._found.append(Claim("control", none=True))
            case "no" | "nothing":
                self._no = True
                if claim and claim.field == "control" and not claim.names:
                    claim.none = True
                    self._claim = claim if self._bracketed else None
            case "all":
                self._all = _OTHERS.search(self._text) is not None
                if claim and claim.field == "control" and not claim.names:
                    claim.rest = True
            case "or" if claim:
                claim.either = True
            case "or":
                self._either = bool(self._waiting)
            case "namely":
                self._waiting = []
            case "except" if not claim and self._found and self._found[-1].none:
                self._claim = self._found[-1]  # "no controls except x_1"
            case "not" | "except":
                self._denied = True
            case "but":
                self._denied = claim is not None and claim.rest
            case "dash" if claim and claim.says_something():
                self._close(word.start)
            case "reason":
                self._close(word.start)
            case "break" if not (claim and word.text == ";" and self._goes_on(place)):
                self._reset(word.start)

    def _goes_on(self, place: int) -> bool:
        """Whether a semicolon separates the variables of one list."""
        after = [word.kind for word in self._words[place + 1 : place + 3]]
        return after in (["list"], ["list", "break"])

    def _reset(self, end: int) -> None:
        """End a clause."""
        self._close(end)
        self._waiting = []
        self._either = self._denied = self._no = self._all = False

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
        denied, no = self._denied, self._no and role == "control" and not claim.labelled
        self._denied = self._no = False
        if not claim.names and not no and not claim.labelled:
            claim.rest = self._all and role == "control" and not denied
            named = role != "control" and any(
                each.field == role and each.names for each in self._found
            )
            if named or (word.kind == "constant" and not claim.rest):
                return  # "vary x_1 (independent)", "hold x_3 constant"
        self._spilled = self._spilled and not (claim.names or has_value)
        self._close(word.start)
        kept = not denied and not (claim.names and no)
        claim.none = no and not claim.names
        if kept or claim.none:
            self._found.append(claim)
        self._claim = claim if kept and not claim.names and not claim.none else None
        self._waiting, self._either, self._all = [], False, False

    def _label(self, place: int) -> tuple[int, bool]:
        """Where the value of a role begins if it is a label, else 0; and if it follows at once."""
        sign = place + 1
        while sign < place + 4 and self._kind(sign) in (*ROLES, "constant", "word"):
            sign += 1
        in_remark = self._text[: self._words[place].start].endswith("(")
        if self._kind(sign) not in ("sign", "be", "dash") or (in_remark and self._waiting):
            return 0, False
        has_value = self._kind(sign + 1) in ("list", "all", *_NO)
        is_label = has_value or self._kind(sign) == "sign"
        return self._words[sign].end if is_label else 0, has_value

    def _kind(self, place: int) -> str:
        return self._words[place].kind if place < len(self._words) else ""


def _key(value: str) -> str:
    """A value without decoration and without a full stop, in lower case."""
    around = " \t\r\n\"'`*<>()[]{},;"
    return value.strip(around).rstrip(".").strip(around).lower()
