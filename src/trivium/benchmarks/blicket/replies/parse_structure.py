"""Which of the known machines a reply says the new one is like.

Every word has a kind, and a small grammar reads the kinds of each clause:

    comparison  a word such as "like", and a known machine after it, by its pattern or its place:
                "it works like the striped one"; or the machine first: "striped is what it is like"
    label       "machine: striped", "marbled -> striped", or the machine and nothing else
    unsure      a word of doubt in a clause about machines, "like either"
    rule        "it is conjunctive", "it needs both blickets": only where nothing is compared
    doubt       a word of doubt alone, "One cannot tell.": only where nothing else is said

The last statement counts. What is denied, supposed or said about known machines alone is none; nor
is "like both" or "like neither". A guess is an answer: "like the dotted one, though I am not sure".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from trivium.benchmarks.blicket.replies.words import NAME, RULE_TALK, load_pairs
from trivium.core import reading

UNSURE = "unsure"
MAX_BACK = 60  # how many words back a denial counts


class Known(NamedTuple):
    """The machines that the new one may be like."""

    patterns: Sequence[str]
    forms: Sequence[str | None]  # None where the evidence leaves it open
    new: str  # the pattern of the new machine
    objects: Sequence[str] = ()  # of the new machine


_MACHINE = r"(?:machine|detector|one|kind|type|class|sort|family|variety|category)s?"
# What may follow the pattern of a machine: "-type", "pattern blicket detector's behaviour".
_TAIL = (
    r"(?:-like|[ -](?:type|style|patterned|pattern))*(?: blicket)?"
    rf"(?: {_MACHINE}\b)?(?:'s?)?(?: (?:behaviou?r|style|logic|rule|principle|way))?"
)
_RULES = {"conjunctive", "disjunctive"}
_IT_IS = re.compile(r"\b(?:it|that)'s\b")
_ALSO = re.compile(r",? and so (?:may|might|could|can|is|does)\b")
_ANEW = re.compile(rf"^(?:so|final|finally|answer|conclusion|overall)\b|{reading.CORRECTION_WORDS}")
_REMARK = re.compile(r"\(([^()]{0,300})\)")
_SMALL = {"small", "is", "colon", "arrow", "comma", "label", "new", "yes", "topic", "like"}
_KNOWN = {"known0", "known1"}
_ABOUT = {*_KNOWN, "like", "topic", "label"}  # a machine is what is talked about
_THINGS = {"object", "blicket"}
_LIKENED = re.compile(r"[ -]?(?:like|ish)\b")  # "a striped-like machine"
# In place of the patterns of the machines, so that one lexer reads the replies to all items.
_PLACEHOLDERS = ("zknowna", "zknownb", "znew")


@cache
def _lexer() -> re.Pattern[str]:
    kinds = load_pairs(
        "machine_words.txt",
        name=NAME,
        machine=_MACHINE,
        tail=_TAIL,
        rules=RULE_TALK,
        unsure_words=reading.UNSURE_WORDS,
    )
    parts = [rf"(?P<{kind}>{pattern})" for kind, pattern in kinds]
    return re.compile(
        rf"(?<![\w'])(?:{'|'.join(parts)})(?![\w'])|(?P<clause_sign>, (?:but|so)\b)"
        r"|(?P<break>, and\b|;)|(?P<comma>,)|(?P<or_sign>[/&])|(?P<colon>[:=|])"
    )


@cache
def _names(patterns: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(filter(None, patterns), key=len, reverse=True)
    return re.compile(rf"(?<![\w'])(?:{'|'.join(map(re.escape, longest_first))})")


def _kinds_of(sentence: str, known: Known) -> list[str]:
    """The kinds of the words of a sentence."""
    patterns = (*(pattern.lower() for pattern in known.patterns), known.new.lower())
    placeholders = dict(zip(patterns, (*_PLACEHOLDERS[: len(patterns) - 1], "znew"), strict=True))
    sentence = _names(patterns).sub(lambda found: placeholders[found[0]], sentence)
    kinds: list[str] = []
    for found in _lexer().finditer(sentence):
        kind = str(found.lastgroup).removesuffix("_sign")
        if kind in _KNOWN and _LIKENED.search(found[0]):
            kinds.append("like")
        kinds += [kind] if kind != "skipped" else []
    return kinds


def parse_structure(sentences: Sequence[str], known: Known) -> str | None:
    """The pattern of a known machine, "unsure", or None; the last statement counts."""
    found = by_rule = doubt = None
    firm = False  # whether what was found was said of the new machine
    asked = False  # whether the sentence before asked which machine it is like
    elsewhere = things = False  # below the name of a known machine; whether objects were named
    question: str | None = None  # the machine of "Is it like the striped one?"
    for original, following in pairwise([*sentences, ""]):
        sentence = _ALSO.sub(" or", _IT_IS.sub("it is", _without_remarks(original, known)))
        rules = _kinds_of(sentence, known)
        kinds = ["word" if kind in _RULES else kind for kind in rules]
        machines = set(kinds) & _KNOWN
        things = things or bool(set(kinds) & _THINGS)
        if sentence.endswith("?"):
            asked = bool(set(kinds) & _ABOUT)
            question = machines.pop() if len(machines) == 1 and "like" in kinds else None
            continue
        if not asked and _is_heading(sentence, set(kinds), following, known):
            elsewhere = True
            continue
        elsewhere = elsewhere and "named" not in kinds
        reply = reading.YES_OR_NO.match(sentence) if question else None
        if question and reply and (asked or reply["so"]) and "if" not in kinds:
            found = _pattern(question, known) if reply["yes"] else found
            question = None
        kinds = ["new" if kind == "named" else kind for kind in kinds]
        said = _statement(kinds, known, asked=asked)
        anew = _ANEW.search(sentence) is not None
        plainly = asked or anew or _is_plain(kinds, doubt=said == UNSURE)
        if said and (plainly or not firm):
            found, firm = said, plainly
        by_rule = (None if elsewhere or machines else _parse_rule(rules, known)) or by_rule
        if "unsure" in kinds and (set(kinds) & _ABOUT or not set(kinds) & _THINGS):
            doubt = UNSURE
        asked = False
    return found or by_rule or (doubt if things else None)


def _is_plain(kinds: list[str], *, doubt: bool) -> bool:
    """Whether a sentence says of the new machine what it is like, and not by the way."""
    if doubt:
        return set(kinds) >= _KNOWN or ("like" in kinds and not set(kinds) & _KNOWN)
    like = max((place for place, kind in enumerate(kinds) if kind == "like"), default=0)
    return "new" in kinds[:like] or "label" in kinds[:3]


def _pattern(kind: str, known: Known) -> str:
    return known.patterns[int(kind[-1])]


def _is_heading(sentence: str, kinds: set[str], following: str, known: Known) -> bool:
    """Whether a sentence only names the machine that the objects below it were put on."""
    machine = kinds - {"small", "topic", "colon", "word"}
    if machine not in ({"known0"}, {"known1"}) or any(name in following for name in known.objects):
        return False
    return sentence.endswith(":") or "object" in _kinds_of(following, known)


def _without_remarks(sentence: str, known: Known) -> str:
    """The sentence without remarks in brackets that name no machine, or that of an object."""

    def kept(remark: re.Match[str]) -> str:
        before = _kinds_of(sentence[max(0, remark.start() - 40) : remark.start()], known)
        names = set(_kinds_of(remark[1], known)) & _KNOWN
        mark = "," if remark[1] in known.patterns else ";"  # a translation, or a remark
        return f"{mark} {remark[1]}{mark}" if names and before[-1:] != ["object"] else " "

    return _REMARK.sub(kept, sentence)


def _statement(kinds: list[str], known: Known, *, asked: bool) -> str | None:
    """What a sentence says: a pattern, "unsure" or None; its last clause that says something."""
    said: str | None = None
    if "if" in kinds[:2] and "clause" in kinds and "unsure" not in kinds:
        return None  # "If A is dark, it is like the striped one; if not, like the dotted one."
    about = asked or bool(set(kinds) & _ABOUT and not set(kinds) & _THINGS)
    denied = False  # whether the clause before denies something: "can't be a ... (like A)"
    supposed = False  # whether "if" stands before, with no "but" or "so" after it
    breaks = [place for place, kind in enumerate(kinds) if kind in ("clause", "break")]
    for start, end in pairwise([-1, *breaks, len(kinds)]):
        clause = [kind for kind in kinds[start + 1 : end] if kind != "small"]
        supposed = supposed and kinds[start] == "break"
        if supposed or (denied and clause[:1] == ["like"] and kinds[start] == "break"):
            continue
        supposed, denied = "if" in clause, "denial" in clause and not set(clause) & _KNOWN
        found = _clause(clause, known, about=about, asked=asked and start < 0)
        if found == UNSURE and said not in (None, UNSURE) and not set(clause) & _KNOWN:
            continue  # a guess: "like the dotted one, though I am not sure"
        said = found or said
    return said


def _clause(kinds: list[str], known: Known, *, about: bool, asked: bool) -> str | None:
    """What one clause says; `about`: a machine is what it is about, `asked`: it is an answer."""
    colon = max((n for n, kind in enumerate(kinds) if kind == "colon"), default=0)
    if set(kinds[:colon]) >= _KNOWN and "unsure" not in kinds[:colon]:
        kinds, about = kinds[colon + 1 :], True  # "A or B: A"
    if kinds[:2] == ["label", "colon"] and kinds[3:4] == ["colon"]:
        kinds = kinds[:3]  # "Machine: striped - two are needed, as with A and B"
    places = [place for place, kind in enumerate(kinds) if kind in _KNOWN]
    like = next((n for n, kind in enumerate(kinds) if kind in ("like", "label", "differs")), None)
    about = about or bool(set(kinds) & _ABOUT)
    doubtful = _is_unsure(kinds, like, about=about) and not _is_guess(kinds, places, like)
    if doubtful or (asked and kinds[:1] == ["unsure"]):
        return UNSURE
    if not places or ("if" in kinds and "unsure" not in kinds):
        return None
    named = {kinds[place] for place in places}
    if "differs" in kinds:
        return UNSURE if len(named) == 2 else None
    if not _is_comparison(kinds, places, like, asked=asked):
        return None
    claimed = {kinds[place] for place in places if not _is_denied(kinds, place)}
    if len(claimed) == 1:
        return _pattern(claimed.pop(), known)
    # No doubt: "We want to know whether it is like A or B", "There are three machines: A, B and C".
    # Nor is "like both" or "like neither".
    stated = bool({"whether", "both", "neither"} & set(kinds)) or "new" in kinds[places[-1] :]
    alike = like is not None and like > places[-1]  # "A and B are of the same type"
    return UNSURE if len(named) == 2 and like is not None and not (stated or alike) else None


def _is_unsure(kinds: list[str], like: int | None, *, about: bool) -> bool:
    """Whether a clause about machines is in doubt, or likens the new one to either."""
    said = set(kinds)
    if "blicket" in said or ("object" in said and not said & _KNOWN):
        return False
    if "unsure" in said or kinds[:3] == ["label", "colon", "neither"]:
        return about
    return like is not None and kinds[like] == "like" and "either" in kinds[like + 1 : like + 3]


def _is_guess(kinds: list[str], places: list[int], like: int | None) -> bool:
    """Whether one machine is named before the doubt: "machine: striped, but not sure"."""
    doubt = next((n for n, kind in enumerate(kinds) if kind == "unsure"), len(kinds))
    named = {kinds[place] for place in places}
    return like is not None and len(named) == 1 and like < places[0] < doubt


def _is_comparison(kinds: list[str], places: list[int], like: int | None, *, asked: bool) -> bool:
    """Whether a clause that names a known machine says that the new one is like it."""
    first, ends = places[0], places[-1] == len(kinds) - 1
    inverted = first == 0 and kinds[1:3] == ["new", "is"]  # "Striped it is"
    row = kinds[first + 1 : first + 3] == ["colon", "object"]  # what was seen on it
    if inverted or (asked and not row and not set(kinds[:first]) - _SMALL):
        return True  # "Which is it like? The striped one: both need two blickets."
    alone = kinds[places[-1] + 1 :][:1] in ([], ["comma"])
    concluded = kinds[places[-1] - 1 : places[-1]] in (["arrow"], ["colon"])
    if alone and concluded and "object" not in kinds[: places[-1]]:
        return True  # "one is enough -> striped", "the second is right: striped, with ..."
    last = max((n for n, kind in enumerate(kinds) if kind in ("comma", "colon")), default=-1)
    if "object" in kinds[:last] and set(kinds[last + 1 : -1]) <= {"small", "is"}:
        return ends  # "violet cylinder, plain"
    if like is not None:
        # "As with the striped one, a pair is needed: A and B."
        opens = like < first and not set(kinds[:first]) - {"like", "small"}
        return "object" not in kinds or "new" in kinds or opens
    before = kinds[:first]
    subject = before[len(before) - before[::-1].index("new") :] if "new" in before else []
    if "is" in subject and "object" not in subject:
        return True  # "it must be of the zigzag type"
    return not set(kinds) - _KNOWN - _SMALL - {"denial", "or", "both", "either", "unsure"}


def _is_denied(kinds: list[str], place: int) -> bool:
    """Whether what is said of this machine is denied: "not like it", "like it: no"."""
    after = [kind for kind in kinds[place + 1 : place + 4] if kind not in ("colon", "is", "topic")]
    following = set(kinds[place + 1 : place + 7]) & _KNOWN  # "striped rather than dotted"
    if after[:1] == ["denial"] and "new" not in kinds[:place] and not following:
        return True  # "striped: no", "The striped one isn't of this kind."
    likened = False
    while kinds[max(0, place - 2) : place] == [kinds[place], "comma"]:
        place -= 2  # "not like the second one, the dotted machine"
    before = kinds[max(0, place - MAX_BACK) : place]
    if before[-1:] == ["colon"] and before[-2:-1] in (["label"], ["like"], ["denial"]):
        before.pop()  # "Does not work like: striped"
    for kind in reversed(before):
        if kind == "denial":
            return True
        if kind in ("comma", "colon") or (likened and kind in _KNOWN):
            return False  # "unlike the striped one and just like the dotted one"
        likened = likened or kind == "like"
    return False


def _parse_rule(kinds: list[str], known: Known) -> str | None:
    """The known machine with the rule that a sentence gives."""
    denied = next((n for n, kind in enumerate(kinds) if kind in ("denial", "if")), len(kinds))
    said = set(kinds[:denied]) & _RULES
    forms = zip(known.patterns, known.forms, strict=False)
    alike = [pattern for pattern, form in forms if said == {form}]
    return alike[0] if len(alike) == 1 else None
