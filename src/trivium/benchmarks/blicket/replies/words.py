"""The kinds of words that a reply about blickets is made of.

    objects    object "the brown torus", all, none, others "the rest", these "they", it
    verdicts   blicket, blickets, sure "must", not, except, maybe, either
    grammar    is, colon (also "namely", a dash, a cell), and (also a comma), or, break (a new
               clause), so, only, close (a bracket), if, supposed "I first thought"
    the rest   event (what happens on a machine), translated (before a name in brackets), word

A word of two kinds counts as both, one after the other: "is not blicket" is "is no blicket".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from trivium.benchmarks.blicket.names import COLOURS, SHAPES
from trivium.core import reading


class Word(NamedTuple):
    """A word of a sentence."""

    kind: str
    name: str = ""  # of an object, or how many "the other two" are


_COLOUR = rf"(?:{'|'.join(COLOURS)})\s"
NAME = (
    rf"(?:{_COLOUR}(?:(?!and\b|or\b)[a-z]{{1,9}}\s)?)?(?:{'|'.join(SHAPES)}|o_[a-h])(?:e?s)?"
    rf"|{_COLOUR}(?:one|object|item)"
)
# Blickets in what is said about a machine, not about objects: "needs two blickets".
RULE_TALK = (
    r"(?:need|require|take|want)(?:s|ed|d|ing)?(?: (?!as )[a-z]{1,9}){0,3} blickets?"
    r"(?: or [a-z]{1,5})?"
    r"|(?:one|a single|any|any one) blicket(?= (?:is enough|suffices|is sufficient|alone))"
    r"|(?:all|both|one|two|any|every)(?: of)?(?: the| its| their)? blickets? (?:is |are )?"
    r"(?:needed|required|together|at once)"
)
_UNSURE = reading.UNSURE_WORDS.removeprefix(r"\b(?:").removesuffix(r")\b")
_SOME = r"(?:one|two|three|some)"
_IT_IS = (
    r"(?:is|was|must|may|might|could|cannot|not|isn't|be|also|thus|the|an?|only|sole|one|single"
    r"|lone|no|indeed)"
)
# The first that fits counts, so that longer ones stand first.
_KINDS = (
    ("object", NAME),
    ("only", r"only|sole|just"),
    (
        "event",
        r"either (?:alone|together|singly|by itself|on its own)|blicket (?:detectors?|machines?)"
        r"|machines?|detectors?|lights?|lit|dark|placed|put"
        rf"|(?:{RULE_TALK})(?![,:(-]{{0,2}} ?\(?(?:the )?(?:{_COLOUR}|o_))|behaves?|works?|acts?"
        r"|functions?|resembles?|alone|by itself|by themselves|on its own|trials?|tests?|tested"
        r"|tried|seen|combinations?|present|enough|sufficient|suffices?|contain(?:s|ed|ing)?"
        r"|appear(?:s|ed|ing)?|turn(?:s|ed)?|activat(?:e|es|ed|ing)",
    ),
    (
        "it",
        r"(?<!object )(?<!objects )(?<!one )(?<!thing )(?:it|that)"
        rf"(?= (?!the|an? )(?:{_IT_IS} ){{1,6}}blicket| (?:isn't|is not)(?:[.,;]|$))",
    ),
    ("and", rf"\d{{1,2}}[.)](?= )|[|](?= (?:the )?(?:{NAME})\s?(?:[|]|$))"),
    ("either", r"either(?=[^.;]{0,120}\bor\b)"),
    (
        "",
        r"the|an?|also|too|as well(?! as)|both(?= the)|each|that|here|there|following|objects?|new",
    ),
    ("is not blicket", r"(?:is|are|was) no blickets?"),
    ("is sure", r"(?:is|are) in(?=[;.,]|$)"),
    ("not blicket", r"\u2717"),
    ("sure blicket", r"\u2713"),
    (
        "none",
        r"none(?: of (?:them|these|the(?: [a-z]{1,9})? objects))?|no (?:[a-z]{1,9} )?objects?"
        r"|no blickets?(?!\s?[:=|])|nothing(?! can| is)",
    ),
    ("others not", r"no (?:others?|other objects?)"),
    ("all except", r"(?:all|everything) (?:but|except)"),
    (
        "others",
        r"(?:the )?(?:(?:other|remaining) (?:two|three|four|five|six|objects|ones)"
        r"(?: objects| ones| candidates)?"
        r"|others|rest|everything else|all others?|all the (?:others|rest))",
    ),
    (
        "all",
        r"all (?:of )?(?:the |these |its |[a-z]{3,5} )?(?:new )?objects|everything|all of them"
        r"|all (?:two|three|four|five|six|seven)|all(?=[;.]|$)",
    ),
    ("break", r"(?:neither|both|each|none|all|one) of which"),
    ("these not is", r"neither(?: of (?:them|these|those|the two))? (?:is|are|was)"),
    (
        "these",
        r"both of (?:these|them)|both(?= (?:are|must|were))|th[eo]se(?: two| three| four| five"
        r"| objects| ones)?|they",
    ),
    ("if", r"if(?! and only if)|unless|provided(?: that)?|assuming"),
    ("whether", r"whether|in which"),
    (
        "supposed",
        r"(?:one|you|we|i)(?: might| may| could| would|'d) (?:first |at first )?(?:think|expect"
        r"|suspect)|(?:my |an? )?(?:first|initial) (?:thought|guess|instinct|impression)|at first"
        r"|initially|originally|i(?: first| initially| had)? (?:thought|assumed|expected|suspected"
        r"|believed)|when|suppose|supposing|assume|were"
        r"|would(?! say| guess| appear| seem)",
    ),
    (
        "maybe colon",
        r"jury is (?:still )?out on|undecided (?:on|about)|no verdict (?:on|about)"
        r"|neither (?:confirm|prove|establish|support)s?"
        r" nor (?:rule out|exclude|disprove|refute)s?",
    ),
    ("maybe", r"neither [a-z]{3,12} nor [a-z]{3,12}(?: out)?(?=[.,;]|$)"),
    (
        "not",
        r"(?:could not|couldn't) be|(?:impossible|not possible|not candidates?)(?= blicket|:)",
    ),
    (
        "maybe",
        r"maybes?|might|may|could|possibly|perhaps|probably|likely|potentially|unsure|possible"
        r"|possibilit(?:y|ies)|undetermined|candidates?|suspect(?:s|ed)?|potential|conceivably"
        r"|plausibl[ey]|optional|optionally|questionable|debatable|open|undecided|unproven"
        r"|unconfirmed|unsettled|tbd|free|up for grabs|in limbo|wild ?cards?|[?\u2753\u2754]"
        r"|(?:can't|cannot|can not|not) be (?:ruled out|excluded|settled)|either way|i guess"
        r"|scenarios?|not necessarily"
        r"|(?:any|some|one|two|three)(?: or (?:more|two|three|four|all))?(?: out)? of"
        rf"(?= (?:the )?{_COLOUR})|in some|not (?:in )?all"
        rf"|(?:at least |only |exactly )?{_SOME} of (?:them|th[eo]se(?: two| three| four| five)?)"
        rf"|at least {_SOME}(?! blickets?)|{_SOME} of (?:the )?(?={_COLOUR})"
        r"|nothing (?:can be|is) (?:said|known|certain|settled|concluded|inferred|decided"
        rf"|deduced)|{_UNSURE}",
    ),
    ("not blickets", r"non-?\s?blickets|inhibitors"),
    ("not blicket", r"non-?\s?blicket|inhibitor"),
    ("blickets", r"blickets"),
    ("blicket", r"blicket|among them"),
    (
        "sure",
        r"must|definite|definitely|certain|certainly|sure|surely|for sure|guaranteed|necessarily"
        r"|confirmed|beyond (?:any |all )?doubt|(?:without|no) (?:a )?(?:doubt|question)"
        r"|yes|true|proven"
        r"|proved|established|verified|forced|known|known to be|certainty|locked in|undoubtedly"
        r"|(?:has|have|had|bound|got) to|positive|indeed|1\.0|100%",
    ),
    (
        "is not",
        r"(?:has|have|had|plays?) no (?:[a-z]{1,9} )?(?:effect|role|influence|power|part)"
        r"|fails? to be"
        r"|(?:does|do|did|contributes?|adds?|changes?) (?:absolutely )?nothing"
        r"|can (?:also |both |all )?be (?:excluded|ruled out|eliminated|discarded|dismissed)",
    ),
    (
        "not",
        r"no (?:evidence|indication|sign|reason|proof)|false|[a-z]{2,5}n't|not|no|cannot|neither"
        r"|never|ruled out|excluded|eliminated|impossible|irrelevant|inert|non|in no(?:ne)?"
        r"|out(?=[.:;,]|$)|duds?|nope|nah|negative|disproven|disproved|refuted|rejected|discarded"
        r"|dismissed|bystanders?|passengers?|decorations?|decoys?|red herrings?|useless|inactive"
        r"|dead weight|along for the ride|0\.0|0%",
    ),
    ("except", r"except(?: for)?|other than|apart from|rather than|instead of|without"),
    (
        "is",
        r"is|are|was|be|being|counts? as|forms?|serves? as|qualif(?:y|ies) as|remains?|stays?"
        r"|as(?= (?:the |a |its )(?:only |sole |one |lone |single |one and only )?blicket)",
    ),
    (
        "colon",
        r"namely|includes?|including|i\.e\.?|viz|about|regarding|concerning|as to"
        r"|(?:status|nature|role)s? of|for(?! sure| certain)",
    ),
    ("or", r"or|and/or"),
    (
        "and",
        r"and|(?:together|in combination|combined) with|plus|as well as|nor|along with"
        rf"|(?:en|i)(?= (?:{_COLOUR}|o_))",
    ),
    ("so", r"so|therefore|thus|hence|which means|meaning"),
    (
        "break",
        r"(?:i|we|one)(?: can| may|'d)? (?:conclude|infer|deduce|gather|think|believe)(?: that)?"
        r"|but|while|whereas|though|although|however|yet|because|since|as(?= the| it)",
    ),
)
_SIGNS = {
    **dict.fromkeys(",+&/", "and"),
    **dict.fromkeys("]}", "close"),
    ";": "break",
    "->": "arrow",
    "=>": "arrow",
    "?": "maybe",
}
_WORD = re.compile(
    "(?<![\\w'])(?:"
    + "|".join(f"(?P<k{number}>{pattern})" for number, (_, pattern) in enumerate(_KINDS))
    + r")(?![\w'])|(?P<sign>[-=]>|[,;:=|+&/\]}]|[?](?=\s?[,;)]))"
    r"|(?P<translated>\0)|(?P<word>[\w'-]+)"
)
_KINDS_OF = {f"k{number}": kinds.split() for number, (kinds, _) in enumerate(_KINDS)}
_COUNT = re.compile("two|three|four|five|six|seven")
_NAMING = {*COLOURS, *SHAPES}


def words_of(sentence: str, objects: Sequence[str]) -> list[Word]:
    """The words of a sentence; an object is known by its colour or its shape where they are one."""
    words: list[Word] = []
    for found in _WORD.finditer(sentence):
        group = str(found.lastgroup)
        if group == "translated":
            while words and words[-1].kind == "word":
                words.pop()
        elif group == "sign":
            words.append(Word(_SIGNS.get(found[0], "colon")))
        elif group == "word":
            words.append(Word("word"))
        elif group == "k0":
            words += [Word("object", name) for name in _named(found[0], objects)]
        else:
            count = _COUNT.search(found[0])
            words += [Word(kind, count[0] if count else "") for kind in _KINDS_OF[group]]
    return words


def _named(text: str, objects: Sequence[str]) -> list[str]:
    """The one object that a text names: "brown torus", "torus"; none where there are several."""
    *others, last = text.split()
    singular = (last, last.removesuffix("s"), last.removesuffix("es"))
    shape = next((each for each in singular if each in _NAMING), last)
    said = {*others[:1], shape} & _NAMING
    named = [name for name in objects if name == shape or (said and said <= set(name.split()))]
    return named if len(named) == 1 else []
