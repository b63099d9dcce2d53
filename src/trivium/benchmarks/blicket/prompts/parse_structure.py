"""Which of the known machines a reply says the new one is like.

A statement compares the new machine with a known one, by its pattern ("like the striped one"), its
place ("the first machine") or its rule ("it is conjunctive", "it needs both blickets"), or says
that it cannot be known. The last statement counts; a rule counts only where nothing is compared.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from trivium.benchmarks.blicket.prompts.evidence import UNSURE
from trivium.benchmarks.blicket.prompts.parse_symbols import RULE_TALK
from trivium.core import reading


class Known(NamedTuple):
    """The machines that the new one may be like."""

    patterns: Sequence[str]
    forms: Sequence[str | None]  # None where the evidence leaves it open
    new: str  # the pattern of the new machine


_LIKE = re.compile(
    r"(?:(?:\b|(?='))(?:like|similar|similarly|same|resembles?|matches|akin|equivalent|identical"
    r"|(?:is|be) (?:an?|of|the|more)|'s an?|'s the|shares?|follows?|would say|mirrors?|mimics|corresponds?"
    r"|belongs?|analogous|different|differs|consistent with|copies|as does|as do|just as|exactly as|how the"
    r"|the way|aligns?|in line with)\b"
    r"|(?:machine|detector|structure|type|pattern|conclusion|answer|verdict|behaviou?r|rule)\s?[:=|])"
)
_DENIAL = re.compile(
    r"\b(?:not|unlike|than|instead of|never|no longer|differs? from|different (?:from|to|than)|rules? out"
    r"|ruling out|as opposed to|contrary to|excludes?)\b|n't\b"
)
_UNSURE = re.compile(
    rf"{reading.UNSURE_WORDS}|\b(?:either|neither|maybe|think there(?:'s| is) (?:a|any) way|no way"
    r"|both machines? (?:fit|match)|any of the two|any of them|n/a|not stated|not given)\b"
)
_TOPIC = re.compile(
    r"\b(?:behaves?|works?|machines?|detectors?|structure|like|rule|kind|type|which one|resembles?"
    r"|(?:other|second|latter) question"
    r"|match(?:es)?)\b"
)
_CLAUSE = re.compile(
    r"\b(?:because|since|whereas|while|though|although|i mean)\b|;|, (?:and|but|so|nor)\b"
)
# "The dotted one is what it behaves like", and an answer of one word.
_INVERTED = (
    r"{}[a-z' ]{{0,30}}(?: is (?:the|what)\b|:)[a-z, ]{{0,40}}\b(?:like|same|resembles|matches)\b"
)
_ONE_WORD = (
    r"(?:(?:so|thus|the|it's|i'd say|answer:|final|and|no|wait|actually|i mean|sorry),? ){{0,3}}"
    r"(?:(?:machine|detector|type|new)(?: type)?[\s:=>-]{{1,9}})?{}"
    r"(?:-like| pattern| one| type|-type| behaviou?r| style| logic| rule"
    r"| (?:detector|machine)(?=[.!]|$)){{0,2}}\s?[.!]?"
)
_BLICKETS = re.compile(r"\bblickets?\b(?! detectors?| machines?)|\b(?:is|be|are) ones?\b")
_WHICH = re.compile(r"\s?(?:to )?(?:which|what|whether)(?: of the)? (?:machine|detector|one|it)\b")
_REMARK = re.compile(r"\([^()]{0,300}\)")
_RULE_TALK = re.compile(rf"\b(?:{RULE_TALK})\b")
MAX_SHORT = 60  # characters of a reply to one's own question, such as "the dotted one"
# A denial ends here: "not like A but like B".
_DENIAL_END = re.compile(r"\bbut\b|[,;]|\band (?:just |more |is |it |works |behaves ){0,3}like\b")
_NEW = re.compile(r"\b(?:this|it|new|last|third|final)\b")
_PLACES = (
    re.compile(
        r"\b(?:first|1st|former|initial) (?:machine|detector|one|type|kind)\b|\bformer\b"
        r"|\b(?:machine|detector|type) (?:1|one|#1|i)\b(?! is)"
    ),
    re.compile(
        r"\b(?:second|2nd|latter) (?:machine|detector|one|type|kind)\b|\blatter\b"
        r"|\b(?:machine|detector|type) (?:2|two|#2|ii)\b"
    ),
)
_RULES = {
    "conjunctive": re.compile(
        r"\bconjuncti(?:ve|on)\b|\band[\s-](?:type|gate|machine|rule|logic|like)\b|\ball[\s-]of\b"
        r"|\b(?:needs?|needing|requires?|requiring|wants?) (?:both|all|two|every|more than one"
        r"|at least two|its blickets together|a pair)\b"
        r"|\b(?:both|all|two)(?: of)?(?: its| the| their)? blickets (?:are|must|have to|needed"
        r"|required|together|at once)\b|\bonly (?:lights|works|turns on)[a-z ]{0,20} (?:both|all)\b"
    ),
    "disjunctive": re.compile(
        r"\bdisjuncti(?:ve|on)\b|\bor[\s-](?:type|gate|machine|rule|logic|like)\b"
        r"|\b(?:needs?|needing|requires?|requiring|wants?) (?:only |just |merely )?(?:one"
        r"|a single|any"
        r"|at least one|a blicket)\b"
        r"|\b(?:one|a single|any|any one|just one|a lone) (?:blicket )?(?:alone )?(?:is enough"
        r"|suffices|is sufficient|will do|does it|lights|activates|works)\b"
    ),
}
_IS_RULE = re.compile(
    r"^(?:machine|structure|type|rule|kind|form|detector|answer)\s?[:=|]|\bthe (?:machine"
    r"|detector)\b"
)


def parse_structure(sentences: Sequence[str], known: Known) -> str | None:
    """The pattern of a known machine, "unsure", or None; the last statement counts."""
    found = by_rule = alone = None
    asked = False  # whether the sentence before asked which machine it is like
    for original in sentences:
        sentence = _with_patterns(_without_remarks(original, known.patterns), known.patterns)
        sentence = re.sub(rf"^{_word(known.new)}(?=[\s:=>-]{{1,9}}(?!pattern|machine|det))", "new", sentence)
        if sentence.endswith("?"):
            asked = _LIKE.search(sentence) is not None or any(
                _mentioned(each, sentence) for each in known.patterns
            )
            continue
        short = asked and len(sentence) <= MAX_SHORT
        clauses = _CLAUSE.split(f"machine: {sentence}" if short else sentence)
        compared = None  # what this sentence has said
        for number, clause in enumerate(clauses):
            compared = _parse_clause(clause, known) or compared
            if number and _UNSURE.search(clauses[number - 1]) and _WHICH.match(clause):
                compared = UNSURE  # "nobody knows which are blickets, nor which machine it is like"
            if compared is None and number and _UNSURE.search(clause):
                asks = _TOPIC.search(sentence) and not _BLICKETS.search(sentence)
                compared = UNSURE if asks else None  # "nothing tells which machine, so I'm unsure"
            found = compared or found
            if number and _DENIAL.search(clauses[number - 1]) and _LIKE.search(sentence):
                found = _one_word(clause, known) or found  # "not dotted, but striped"
        by_rule = _parse_rule(sentence, known) or by_rule
        for part in sentence.split(";"):
            alone = _one_word(part, known) or alone
        asked = False
    last = _with_patterns(sentences[-1], known.patterns) if sentences else ""
    # "brown torus; striped"
    last = re.split(r"[,;]" if len(last) <= MAX_SHORT else ";", last)[-1]
    return _one_word(last, known) or found or by_rule or alone


def _without_remarks(sentence: str, patterns: Sequence[str]) -> str:
    """The sentence without what blickets a machine needs, and without remarks in brackets."""
    kept = _REMARK.sub(
        lambda found: found[0] if any(_mentioned(each, found[0]) for each in patterns) else " ",
        sentence,
    )
    return _RULE_TALK.sub(" needs some ", kept) if reading.is_unsure(kept) else kept


def _one_word(text: str, known: Known) -> str | None:
    """The machine that is all that a text says: "Striped."."""
    said = text.strip(" :->")
    return next(
        (each for each in known.patterns if re.fullmatch(_ONE_WORD.format(_word(each)), said)), None
    )


def _with_patterns(sentence: str, patterns: Sequence[str]) -> str:
    """The sentence with the machines' places written as their patterns."""
    for place, pattern in zip(_PLACES, patterns, strict=False):
        sentence = place.sub(f"{pattern.lower()} one", sentence)
    return sentence


def _parse_clause(clause: str, known: Known) -> str | None:
    unsure, like = _UNSURE.search(clause), _LIKE.search(clause)
    # The text before the comparison says which machine is compared.
    before, after = (clause[: like.start()], clause[like.start() :]) if like else (clause, "")
    if like and not unsure and re.search(r"\bif\b", before):
        return None
    named = [pattern for pattern in known.patterns if _mentioned(pattern, after)]
    compared = _TOPIC.search(clause) or any(_mentioned(each, clause) for each in known.patterns)
    if unsure and compared and not _BLICKETS.search(clause):
        changed = like and named and re.search(r"\bbut\b", clause[unsure.end() : like.start()])
        # A guess is an answer: "like the dotted one, though I am not sure".
        guessed = len(named) == 1 and "," in clause[clause.find(named[0].lower()) : unsure.start()]
        if not (changed or (guessed and not _TOPIC.search(clause, unsure.start()))):
            return UNSURE
    if like and not named and re.search(r"like (?:both|either|neither)\b", after):
        return UNSURE
    if not named:
        named = [
            each for each in known.patterns if re.search(_INVERTED.format(_word(each)), clause)
        ]
        return named[0] if len(named) == 1 and not _DENIAL.search(clause) else None
    others = any(_mentioned(pattern, before) for pattern in known.patterns)
    if others and not (_NEW.search(before) or (known.new and _mentioned(known.new, before))):
        return None
    claimed = [pattern for pattern in named if not _denied(pattern, clause)]
    if len(named) == 2 and not claimed and re.search(r"\b(?:both|either|n?or)\b", after):
        return UNSURE  # "different from both"
    if len(claimed) == 2:
        return UNSURE if re.search(r"\bor\b|/|\bboth\b", after) else None
    return claimed[0] if claimed else None


def _parse_rule(sentence: str, known: Known) -> str | None:
    """The machine whose rule a sentence gives to the new one."""
    about_new = _mentioned(known.new, sentence) if known.new else False
    if not (about_new or _NEW.search(sentence) or _IS_RULE.search(sentence)):
        return None
    if any(_mentioned(each, sentence) for each in known.patterns):
        return None
    if _UNSURE.search(sentence) or re.search(r"\bif\b", sentence):
        return None
    said = [
        form
        for form, words in _RULES.items()
        if (found := words.search(sentence)) and not _DENIAL.search(sentence, 0, found.start())
    ]
    alike = [
        pattern
        for pattern, form in zip(known.patterns, known.forms, strict=False)
        if len(said) == 1 and form == said[0]
    ]
    return alike[0] if len(alike) == 1 else None


def _mentioned(pattern: str, text: str) -> bool:
    return re.search(_word(pattern), text) is not None


def _word(pattern: str) -> str:
    return rf"\b{re.escape(pattern.lower())}"


def _denied(pattern: str, clause: str) -> bool:
    """Whether the first mention of this machine is denied: "not like the striped one"."""
    end = clause.find(pattern.lower())
    denials = list(_DENIAL.finditer(clause, 0, end))
    return bool(denials) and _DENIAL_END.search(clause, denials[-1].end(), end) is None
