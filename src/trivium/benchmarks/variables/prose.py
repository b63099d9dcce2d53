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
        r"|hypotheses|list|each|every|(?:first|second) hyp\w{1,8})\b",
        "hypothesis": r"\bhypothesis\b",
        "not": _NOT,
        "bad": r"\b(?:invalid|implausible|unsupported|rejected|refuted|contradict\w{0,4}|reject"
        r"|refute|disproven?|untenable|false|incorrect|wrong|inconsistent with|ruled? out|rules out"
        r"|(?:speaks?|spoke|evidence|is|are|argues?) against)\b",
        "good": r"\b(?:valid|plausible|supported|worth(?: testing| an experiment| a test| running)?"
        r"|worthwhile|tenable|testable|true|correct|consistent)\b",
        "it": r"\b(?:it|this|that)\b",
        "small": r"\b(?:so|thus|therefore|hence|is|the|target|answer|final|verdict|conclusion|to be"
        r"|clearly|probably|likely|i|would|call|conclude|overall|hyp)\b",
        "word": r"[^\W\d_]{1,40}",
    }
)
_DESIGN = reading.Lexer(
    {
        "variable": VARIABLE,
        "independent": r"\bin[\s_-]?dependent\b(?: variables?)?|\biv\b|\bmanipulat(?:e|ed|ing)\b"
        r"|\b(?:vary|varied|varying)\b(?! (?:together|in\b|with))|\bintervene on\b"
        r"|\b(?:change|changing|set)(?= x)",
        "dependent": r"\bdependent\b(?: variables?)?|\bdv\b|\bmeasur(?:e|ed|ing)\b"
        r"|\bobserv(?:e|ing)\b|\brecord(?:ing)?\b|\bmonitor(?:ing)?\b|\b(?:outcome|response)\b",
        "control": r"\bcontrol(?:s|led|ling)?\b(?: for)?(?: variables?)?|\bcovariates?\b"
        r"|\b(?:hold|holding|held|keep|keeping|kept|constant|fixed|fix|fixing)\b"
        r"|\b(?:adjust|adjusting|account|accounting) for\b|\bconfound(?:ers?|ing variables?)\b",
        "no": r"\b(?:no|nothing|none|without|zero)\b",
        "not": _NOT,
        "or": r"\bor\b",
        "also": r"\b(?:also|additionally|too|in addition|as well)\b",
    }
)
_SUPPOSED = re.compile(
    r"\b(?:if|whether|unless|had|were|suppose|could|may|might)\b|\?|\bwould (?:be|have|make)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"[,;]|\s-\s|->|\b(?:because|since|so|as|but|and|while|with|therefore|which|whose)\b", re.I
)
_REMARK = re.compile(r"\([^()]{0,300}\)")
_WITH = re.compile(r";|\s-\s|\b(?:while|with|because|since|given that)\b", re.IGNORECASE)
BARE = {"valid", "invalid", "plausible", "implausible", "rejected"}


def verdict(sentences: Iterable[str], target: set[str]) -> bool | None:
    """The last thing that sentences say for sure about the target hypothesis, if anything."""
    said = None
    about = False  # the hypothesis was named, "it" is the hypothesis
    for sentence in sentences:
        found = None
        for clause in _CLAUSE.split(sentence):
            symbols = list(_VERDICT.symbols(clause))
            kinds = [kind for kind, _ in symbols]
            about = about or "hypothesis" in kinds
            if _is_about_target(symbols, target, about=about):
                found = _polarity(kinds)
        if found is not None and not _is_supposed(sentence):
            said = found
    return said


def _is_about_target(symbols: list[reading.Symbol], target: set[str], *, about: bool) -> bool:
    """Whether a clause calls something valid or invalid, and it is the target hypothesis."""
    kinds = [kind for kind, _ in symbols]
    words = [place for place, kind in enumerate(kinds) if kind in ("good", "bad")]
    if not words or "other" in kinds:
        return False
    if set(kinds) <= {"good", "bad", "not", "small"}:
        return symbols[words[0]][1].lower() in BARE
    named = {variable(word) for kind, word in symbols[: words[0]] if kind == "variable"}
    if target and not named <= target:
        return False
    return "hypothesis" in kinds or (about and "it" in kinds)


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
    for clause in _WITH.split(_REMARK.sub(_role_only, sentence)):
        _take_clause(found, list(_DESIGN.symbols(clause)))
    return found if found and not _is_supposed(sentence) else {}


def _is_supposed(sentence: str) -> bool:
    """Whether a sentence is unsure, asks or supposes something."""
    return reading.is_unsure(sentence) or _SUPPOSED.search(sentence) is not None


def _role_only(remark: re.Match[str]) -> str:
    """A remark that gives a role, "x_1 (the independent variable)"; other remarks are dropped."""
    kinds = {kind for kind, _ in _DESIGN.symbols(remark[0])}
    return remark[0] if kinds & {"independent", "dependent", "control"} == kinds else " "


def _take_clause(found: dict[str, list[str]], symbols: list[reading.Symbol]) -> None:
    """Take in the roles of one clause."""
    waiting: list[str] = []  # variables that have no role yet
    role: str | None = None
    denied = none = False
    for kind, word in symbols:
        if kind == "variable":
            none = False
            full = role is None or (role != "control" and found.get(role) and not denied)
            if full and not (denied and role):
                waiting.append(variable(word))
            elif role and not denied:
                found.setdefault(role, []).append(variable(word))
        elif kind == "not":
            denied = True
        elif kind == "no":
            none = True
        elif kind in ("independent", "dependent", "control"):
            if waiting:
                if not denied:
                    found[kind] = waiting
                role, waiting, denied = None, [], False
            elif none and kind == "control":
                found[kind] = []
                role = None
            else:
                role = None if denied else kind
                denied = False
            none = False
    if waiting and role and role != "control":
        found[role] += waiting  # two variables where there is one: no value
