"""What sentences say about an experiment: is the hypothesis valid, and which variable does what.

    verdict     a clause about "the hypothesis" (or "it", after that) with a word for valid or
                invalid, turned round by "not"; or a clause that is such a word and no more
    design      a variable beside its role: "vary x_1, measure x_2 and hold x_3 and x_4 constant",
                "x_1 is the independent variable", "x_5 need not be controlled", "no controls"

A role takes the variables before it that have none yet, else those after it. Sentences that are
unsure, ask or suppose something say nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from trivium.core import reading

VARIABLE = r"(?<![A-Za-z0-9])x[\s_-]{0,2}[0-9]{1,9}(?![A-Za-z0-9_])"
_NOT = (
    r"\b(?:not|never|isn't|aren't|cannot|can't|don't|doesn't|needn't|shouldn't|no longer|but not"
    r"|rather than|except|excluding)\b"
)
_VERDICT = reading.Lexer(
    {
        "variable": VARIABLE,
        "other": r"\b(?:an? (?:in)?(?:valid|plausible) hyp\w{1,8}|other|another"
        r"|hypotheses|list|each|every|(?:a|any|first|second) hyp\w{1,8})\b",
        "hypothesis": r"\bhypothesis\b",
        "not": _NOT + r"|\b(?:nothing|none|neither|no (?:evidence|observations?|data|reason))\b",
        "bad": r"\b(?:invalid|implausible|unsupported|reject(?:s|ed)?|refute[sd]?|contradict\w{0,4}"
        r"|fail(?:s|ed)?|discard(?:ed)?|abandon(?:ed)?|dropped|dismiss(?:ed)?|falsif(?:ied|ies)"
        r"|unfounded|disprove[ns]?|untenable|false|incorrect|wrong|inconsistent(?: with)?"
        r"|ruled? out"
        r"|rules? (?:out|(?=(?:the|this|it)(?: [a-z]{3,12}){0,2} out\b))"
        r"|(?:speaks?|spoke|evidence|is|are|argues?) against)\b",
        "good": r"\b(?:valid|plausible|supported|worth(?: testing| an experiment| a test| running)?"
        r"|worthwhile|holds?(?: up)?(?! constant)|accept(?:ed)?|reasonable|sensible|stands"
        r"|survives|passes|tenable|testable|true|correct|consistent)\b",
        "it": r"\b(?:it|this|that)\b",
        "small": r"\b(?:so|thus|therefore|hence|is|the|my|our|result|assessment|status|target"
        r"|answer|final|verdict|conclusion|to be"
        r"|clearly|probably|likely|i|would|call|conclude|overall|hyp)\b",
        "word": r"[^\W\d_]{1,40}",
    }
)
_DESIGN = reading.Lexer(
    {
        "variable": VARIABLE,
        "nothing": r"\bcontrol(?: variable)?s (?:are not|aren't|are un)"
        r" ?(?:needed|required|necessary)\b"
        r"|(?:\bnot|\b\w{2,6}n't|\bno need to) (?:have to |need to )?(?:control|hold"
        r"|fix|keep)"
        r"(?: for)? any(?:thing)?\b",
        "independent": r"\bin[\s_-]?dependent\b(?: variables?)?|\biv\b|\bmanipulat(?:e|ed|ing)\b"
        r"|\b(?:vary|varied|varying)\b(?! (?:together|in\b|with))|\bintervene on\b"
        r"|\bwhat (?:we|you|i|one) (?:should |will |would )?(?:change|alter|set)\b"
        r"|\b(?:change|changing|set|alter|tweak|adjust|modify)(?= (?:only |just )?x)|\bthe cause\b",
        "dependent": r"\bdependent\b(?: variables?)?|\bdv\b|\bmeasur(?:e|ed|ing)\b"
        r"|\bwhat (?:we|you|i|one) (?:should |will |would )?(?:look at|watch|track|see|get"
        r"|read(?: off)?)\b"
        r"|\b(?:observ|record|monitor|track|watch)(?:e|ed|ing)?\b|\blook(?:ing)? at\b"
        r"|\b(?:outcome|response)\b|\bthe effect\b(?! of)|\b(?:responds?|reacts?)\b",
        "control": r"\bcontrol(?:s|led|ling)?\b(?: for)?(?: variables?)?|\bcovariates?\b"
        r"|\b(?:hold|holding|held|keep|keeping|kept|constant|fixed|fix|fixing"
        r"|steady|unchanged)\b"
        r"|\b(?:adjust|adjusting|account|accounting) for\b|\bconfound(?:ers?|ing variables?)\b",
        "or": r"\bor\b",
        "no": r"\b(?:no(?! others\b)|nothing(?! else)|none|without|zero)\b",
        "not": _NOT,
    }
)
_SUPPOSED = re.compile(
    r"\b(?:if|whether|unless|(?:had|were)(?= (?:it|there|this|the|x_))|suppose|could|may|might"
    r"|make sure|ensure|important|check (?:if|that|whether)|at first|initially"
    r"|(?:first|initial) (?:thought|guess)|neither (?:confirm|support|prove|verif)[a-z]{0,4} nor"
    r"|(?<!second )thought|assumed)\b|\?|\bwould (?:have"
    r"|make)\b"
    r"|\bwould be(?!\s?(?:x_|:|the |an? |to |varied|measured|manipulated|held|kept|controlled))",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"[,;]|(?<!answer)(?<!verdict)(?<!conclusion):|\s-\s|->|\b(?:because|since|so|as|but|and|while"
    r"|with|therefore|which|whose)\b",
    re.I,
)
_CONTRAST = re.compile(r"\b(?:but|however|yet)\b", re.IGNORECASE)
_REMARK = re.compile(r"\([^()]{0,300}\)")
# "x_3, which moves in tandem with x_2": x_2 is only compared with.
_COMPARED = re.compile(
    rf"\b(?:tandem|together|correlat\w{{1,5}}|associated|linked|along) (?:with|to) {VARIABLE}", re.I
)
_WITH = re.compile(
    r";|\s-\s|\bwith(?! (?:them|it|each))\b|\b(?:while|because|since|given that)\b", re.IGNORECASE
)
_CALLED = re.compile(
    r"(?:^|\b(?:it|this|that) is |\b(?:it|that)'s )(not )?an? ((?:in)?valid"
    r"|(?:im)?plausible) hypothesis"
    r"(?=[.!;,]|$| (?:because|since|as|given))",
    re.IGNORECASE,
)
BARE = {"valid", "invalid", "plausible", "implausible", "rejected"}


def verdict(sentences: Iterable[str], target: set[str]) -> bool | None:
    """The last thing that sentences say for sure about the target hypothesis, if anything."""
    said = None
    about = False  # the hypothesis was named, "it" is the hypothesis
    asked = False  # a sentence before asked whether it is valid
    for sentence in (_CALLED.sub(r"the hypothesis is \1\2", each) for each in sentences):
        meant = None
        for part in _CONTRAST.split(sentence):
            found = None
            for clause in _CLAUSE.split(part):
                symbols = list(_VERDICT.symbols(clause))
                kinds = [kind for kind, _ in symbols]
                about = about or "hypothesis" in kinds
                if _is_about_target(symbols, target, about=about):
                    found = _polarity(kinds)
                elif about and set(kinds) == {"it", "small", "not"}:
                    found = False  # "so it is not"
            said = _reply(part) if asked and _reply(part) is not None else said
            if found is not None:  # "it seems valid but may be invalid" says neither
                meant = None if _is_supposed(part) else found
                asked = sentence.endswith("?")
        said = said if meant is None else meant
    return said


def _reply(part: str) -> bool | None:
    """Whether a part of a sentence begins or ends with yes or no; None where it does not."""
    found = _YES_NO.search(part)
    return None if found is None else (found[1] or found[2]).lower() == "yes"


_YES_NO = re.compile(
    r"^\W{0,4}(yes|no)\b(?=[.,;:!]|$| -)|\b(?:so|therefore|hence|:) (yes|no)\W{0,3}$", re.I
)


def _is_about_target(symbols: list[reading.Symbol], target: set[str], *, about: bool) -> bool:
    """Whether a clause calls something valid or invalid, and it is the target hypothesis."""
    kinds = [kind for kind, _ in symbols]
    words = [place for place, kind in enumerate(kinds) if kind in ("good", "bad")]
    if not words or "other" in kinds:
        return False
    if set(kinds) <= {"good", "bad", "not", "small"}:
        said = {word.lower() for _, word in symbols}
        return bool(said & BARE or (said & {"true", "false"} and said & {"answer", "verdict"}))
    named = {variable(word) for kind, word in symbols[: words[0]] if kind == "variable"}
    if target and not named <= target:
        return False
    named_so = symbols[words[0]][1].lower() in {"valid", "invalid", "reject", "discard"}
    return "hypothesis" in kinds or ("it" in kinds and (about or named_so))


def _polarity(kinds: list[str]) -> bool | None:
    """Whether the words of a clause say valid or invalid; None where they say both."""
    said: set[bool] = set()
    denied = False
    for kind in kinds:
        if kind in ("good", "bad"):
            said.add((kind == "good") != denied)
            denied = False
        denied = denied != (kind == "not")
    return said.pop() if len(said) == 1 else None


def variable(word: str) -> str:
    """The one spelling of a variable."""
    return "x_" + re.sub(r"\D", "", word)


def design(sentence: str) -> dict[str, list[str]]:
    """The variables that a sentence gives a role; an empty list where it says that none has it."""
    found: dict[str, list[str]] = {}
    for clause in _WITH.split(_COMPARED.sub(" ", _REMARK.sub(_role_only, sentence))):
        _take_clause(found, _DESIGN.symbols(clause))
    return found if found and not _is_supposed(sentence) else {}


def roles_of(text: str) -> set[str]:
    """The roles that a text names, where it names no variable."""
    kinds = {kind for kind, _ in _DESIGN.symbols(text)}
    return kinds & {"independent", "dependent", "control"} if "variable" not in kinds else set()


def _is_supposed(sentence: str) -> bool:
    """Whether a sentence is unsure, asks or supposes something."""
    return reading.is_unsure(sentence) or _SUPPOSED.search(sentence) is not None


_PLURAL = re.compile(
    r"\b(?:variables|members|ones|others|two|three|four|rest|factors)\s$", re.IGNORECASE
)


def _role_only(remark: re.Match[str]) -> str:
    """A remark that gives a role, "x_1 (the independent variable)"; other remarks are dropped."""
    kinds = {kind for kind, _ in _DESIGN.symbols(remark[0])}
    before = remark.string[max(0, remark.start() - 20) : remark.start()]
    if kinds == {"variable"} and _PLURAL.search(before):
        return f" {remark[0][1:-1]} "  # "the other variables (x_1 and x_2) are kept constant"
    return remark[0] if kinds & {"independent", "dependent", "control"} == kinds else " "


@dataclass
class _Clause:
    """The state of reading the roles of one clause."""

    found: dict[str, list[str]]  # the variables of each role, of all clauses so far
    waiting: list[str] = field(default_factory=list)  # variables that have no role yet
    role: str | None = None  # the role that variables to come have
    denied: bool = False
    none: bool = False  # "no" or "nothing" stands before

    def take(self, kind: str, word: str) -> None:
        """Take in one symbol."""
        if kind == "variable":
            self._take_variable(variable(word))
        elif kind == "not":
            self.denied = True
        elif kind == "nothing":
            self.found.setdefault("control", [])
        elif kind == "or":
            self._take_or()
        elif kind == "no":
            self.none = True
            if self.role == "control":
                self.found.setdefault("control", [])  # "controls: none"
        else:
            self._take_role(kind)
            self.denied = self.none = False

    def _take_variable(self, name: str) -> None:
        self.none = False
        if self.role is None:
            self.waiting.append(name)
        elif self.denied:
            return  # "control x_1 but not x_2"
        elif self.role == "control" or self.found.get(self.role, ["or"])[-1] == "or":
            self.found.setdefault(self.role, []).append(name)
        else:
            self.waiting.append(name)

    def _take_or(self) -> None:
        """Keep an "or", so that what stands on both sides of it is no value."""
        said = self.waiting or self.found.get(self.role or "", [])
        if said and not self.denied:
            said.append("or")

    def _take_role(self, role: str) -> None:
        if self.waiting and not self.denied and not (self.none and role == "control"):
            self.found[role] = self.waiting  # but not in "x_1 needs no control"
        elif self.none and role == "control" and not self.waiting:
            self.found[role] = []
        elif not self.waiting:
            self.role = None if self.denied else role
            return
        self.role, self.waiting = None, []

    def close(self) -> None:
        """Two variables where one is asked for are no value."""
        if self.waiting and self.role in ("independent", "dependent"):
            self.found[self.role] += self.waiting


def _take_clause(found: dict[str, list[str]], symbols: Iterable[reading.Symbol]) -> None:
    """Take in the roles of one clause."""
    clause = _Clause(found)
    for kind, word in symbols:
        clause.take(kind, word)
    clause.close()
