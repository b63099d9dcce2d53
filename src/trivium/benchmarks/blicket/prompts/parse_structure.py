"""Which machine a reply says the new one is like."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trivium.benchmarks.blicket.prompts.item import UNSURE

_LIKE = re.compile(
    r"(?:(?:\b|(?='))(?:like|similar|similarly|same|resembles?|matches|akin|equivalent"
    r"|is an?|is of|is the|'s an?|'s the|shares?|follows?|would say)\b"
    r"|(?:machine|detector|structure|type|conclusion)\s?[:=])"
)
_NOT_LIKE = re.compile(r"\b(?:not|unlike|than|instead of|never)\b|n't\b")
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
_TURNED = (
    r"{}[a-z' ]{{0,30}}(?: is (?:the|what)\b|:)[a-z, ]{{0,40}}\b(?:like|same|resembles|matches)\b"
)
_ALONE = r"(?:so |thus |the )?{}(?:-like| pattern| one| type| (?:detector|machine)(?=[.!]))?[.!]?"
_BLICKETS = re.compile(r"\bblickets?\b(?! detectors?| machines?)")
SHORT = 40  # a reply to one's own question, as "striped" or "the dotted one"
_REACH = re.compile(r"\bbut\b|[,;]|\band (?:just |more |is |it |works |behaves ){0,3}like\b")
_NEW = re.compile(r"\b(?:this|it|new|last|third)\b")


def likeness(told: Sequence[str], known: Sequence[str], new: str) -> str | None:
    """A known machine's pattern, "unsure", or None where nothing is said; the last word counts."""
    said = None
    asked = False  # whether the sentence before asked which machine it is like
    for number, sentence in enumerate(told, 1):
        if sentence.endswith("?"):
            asked = _LIKE.search(sentence) is not None
            continue
        short = asked and len(sentence) <= SHORT
        for clause in _CLAUSE.split(f"machine: {sentence}" if short else sentence):
            said = _of_clause(clause, known, new) or said
        alone = [each for each in known if re.fullmatch(_ALONE.format(_word(each)), sentence)]
        if alone and number == len(told):
            said = alone[0]
        asked = False
    return said


def _of_clause(sentence: str, known: Sequence[str], new: str) -> str | None:
    unsure = _UNSURE.search(sentence)
    like = _LIKE.search(sentence)
    # What stands before the likeness says which machine is compared.
    before, after = (sentence[: like.start()], sentence[like.start() :]) if like else (sentence, "")
    named = [pattern for pattern in known if _mentioned(pattern, after)]
    if unsure and (named or _TOPIC.search(sentence)) and not _BLICKETS.search(sentence):
        changed = like and named and re.search(r"\bbut\b", sentence[unsure.end() : like.start()])
        if not changed:
            return UNSURE
    if not named:
        turned = [each for each in known if re.search(_TURNED.format(_word(each)), sentence)]
        return turned[0] if len(turned) == 1 and not _NOT_LIKE.search(sentence) else None
    others = any(_mentioned(pattern, before) for pattern in known)
    if others and not (_NEW.search(before) or (new and _mentioned(new, before))):
        return None
    claimed = [pattern for pattern in named if not _denied(pattern, sentence)]
    if len(claimed) == 2:
        return UNSURE if re.search(r"\bor\b", after) else None
    return claimed[0] if claimed else None


def _mentioned(pattern: str, text: str) -> bool:
    return re.search(_word(pattern), text) is not None


def _word(pattern: str) -> str:
    return rf"\b{re.escape(pattern.lower())}"


def _denied(pattern: str, sentence: str) -> bool:
    """Whether the first words that name this machine are denied: "not like the striped one"."""
    end = sentence.find(pattern.lower())
    found = list(_NOT_LIKE.finditer(sentence, 0, end))
    if not found:
        return False
    # "not like A but like B": the denial reaches no further than the next "but" or comma.
    return _REACH.search(sentence, found[-1].end(), end) is None
