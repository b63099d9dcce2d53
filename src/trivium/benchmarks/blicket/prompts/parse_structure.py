"""Which of the known machines a reply says the new one is like."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trivium.benchmarks.blicket.prompts.evidence import UNSURE

_LIKE = re.compile(
    r"(?:(?:\b|(?='))(?:like|similar|similarly|same|resembles?|matches|akin|equivalent"
    r"|is an?|is of|is the|'s an?|'s the|shares?|follows?|would say)\b"
    r"|(?:machine|detector|structure|type|conclusion)\s?[:=])"
)
_DENIAL = re.compile(r"\b(?:not|unlike|than|instead of|never)\b|n't\b")
_UNSURE = re.compile(
    r"\b(?:unsure|uncertain|unclear|un(?:der-?)?determined|unknown|ambiguous|impossible|either"
    r"|neither|maybe|indeterminate|inconclusive|open question|consistent with both|unable to"
    r"|not able to|lack|think there(?:'s| is) (?:a|any) way"
    r"|not (?:sure|certain|clear|known|possible|enough|determined?)|insufficient|no way"
    r"|(?:cannot|can not|can't|could not|couldn't|don't|do not|doesn't|does not) (?:be )?"
    r"(?:tell|told|know|known|say|said|determined?|decided?|sure|infer|inferred|conclude|distinguish"
    r"|reveal|settle))\b"
)
_TOPIC = re.compile(r"\b(?:behaves?|works?|machines?|detectors?|structure|like|rule|kind|type)\b")
_CLAUSE = re.compile(r"\b(?:because|since|whereas|while)\b|;|, (?:and|but)\b")
# "The dotted one is what it behaves like", and an answer of one word.
_INVERTED = (
    r"{}[a-z' ]{{0,30}}(?: is (?:the|what)\b|:)[a-z, ]{{0,40}}\b(?:like|same|resembles|matches)\b"
)
_ONE_WORD = (
    r"(?:so |thus |the )?{}(?:-like| pattern| one| type| (?:detector|machine)(?=[.!]))?[.!]?"
)
_BLICKETS = re.compile(r"\bblickets?\b(?! detectors?| machines?)")
MAX_SHORT = 40  # characters of a reply to one's own question, such as "the dotted one"
# A denial ends here: "not like A but like B".
_DENIAL_END = re.compile(r"\bbut\b|[,;]|\band (?:just |more |is |it |works |behaves ){0,3}like\b")
_NEW = re.compile(r"\b(?:this|it|new|last|third)\b")


def parse_structure(sentences: Sequence[str], known: Sequence[str], new: str) -> str | None:
    """The pattern of a known machine, "unsure", or None; the last statement counts."""
    found = None
    asked = False  # whether the sentence before asked which machine it is like
    for sentence in sentences:
        if sentence.endswith("?"):
            asked = _LIKE.search(sentence) is not None
            continue
        short = asked and len(sentence) <= MAX_SHORT
        for clause in _CLAUSE.split(f"machine: {sentence}" if short else sentence):
            found = _parse_clause(clause, known, new) or found
        asked = False
    last = sentences[-1] if sentences else ""
    named = [each for each in known if re.fullmatch(_ONE_WORD.format(_word(each)), last)]
    return named[0] if named else found


def _parse_clause(clause: str, known: Sequence[str], new: str) -> str | None:
    unsure, like = _UNSURE.search(clause), _LIKE.search(clause)
    # The text before the comparison says which machine is compared.
    before, after = (clause[: like.start()], clause[like.start() :]) if like else (clause, "")
    named = [pattern for pattern in known if _mentioned(pattern, after)]
    if unsure and (named or _TOPIC.search(clause)) and not _BLICKETS.search(clause):
        changed = like and named and re.search(r"\bbut\b", clause[unsure.end() : like.start()])
        if not changed:
            return UNSURE
    if not named:
        named = [each for each in known if re.search(_INVERTED.format(_word(each)), clause)]
        return named[0] if len(named) == 1 and not _DENIAL.search(clause) else None
    others = any(_mentioned(pattern, before) for pattern in known)
    if others and not (_NEW.search(before) or (new and _mentioned(new, before))):
        return None
    claimed = [pattern for pattern in named if not _denied(pattern, clause)]
    if len(claimed) == 2:
        return UNSURE if re.search(r"\bor\b", after) else None
    return claimed[0] if claimed else None


def _mentioned(pattern: str, text: str) -> bool:
    return re.search(_word(pattern), text) is not None


def _word(pattern: str) -> str:
    return rf"\b{re.escape(pattern.lower())}"


def _denied(pattern: str, clause: str) -> bool:
    """Whether the first mention of this machine is denied: "not like the striped one"."""
    end = clause.find(pattern.lower())
    denials = list(_DENIAL.finditer(clause, 0, end))
    return bool(denials) and _DENIAL_END.search(clause, denials[-1].end(), end) is None
