"""The words of a reply about blickets as symbols: objects, verdicts, verbs and joins."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trivium.benchmarks.blicket.names import COLOURS, SHAPES
from trivium.core import reading

Symbol = tuple[str, str]  # what kind of word it is; the name of an object, or how many others

NAME = (
    rf"(?:(?P<colour>{'|'.join(COLOURS)})\s(?:(?!and\b|or\b)[a-z]{{1,9}}\s)?)?"
    rf"(?P<shape>{'|'.join(SHAPES)}|o_[a-h])(?:e?s)?|(?P<tint>{'|'.join(COLOURS)})\s(?:one|object|item)"
)
_COLOUR = rf"(?:{'|'.join(COLOURS)})\s"
_IT_IS = (
    r"(?:is|was|must|may|might|could|cannot|not|isn't|be|also|thus|the|an?|only|sole|one|single"
    r"|lone|no|indeed)"
)
# Blickets in what is said about a machine, not about objects: "needs two blickets".
RULE_TALK = (
    r"(?:need|require|take|want)(?:s|ed|d"
    r"|ing)?(?: (?!as )[a-z]{1,9}){0,3} blickets?(?: or [a-z]{1,5})?"
    r"|(?:one|a single|any|any one) blicket(?= (?:is enough|suffices|is sufficient|alone))"
    r"|(?:all|both|one|two|any|every)(?: of)?(?: the| its| their)? blickets? (?:is |are )?"
    r"(?:needed|required|together|at once)"
)
_UNSURE = reading.UNSURE_WORDS.removeprefix(r"\b(?:").removesuffix(r")\b")
_SOME = r"(?:one|two|three|some)"
# O an object, A all objects, Z none of them, R the other objects, T these, J it; B a blicket, P
# blickets, K surely, N not, E except, M maybe; V a verb, C a colon; S a comma or "and", Q "or", D a
# new clause, H hence, < a name in brackets, G a closed bracket; I if, F before an "if" that sets a
# condition, L only, X what happens on the machine, U another word.
_WORDS = (
    ("L", r"only|sole|just"),
    ("X", r"blicket (?:detectors?|machines?)|machines?|detectors?|lights?|lit|dark|placed|put"
     rf"|(?:{RULE_TALK})(?![,:(-]{{0,2}} ?\(?(?:the )?(?:{_COLOUR}|o_))|behaves?|works?|acts?"
     rf"|functions?|resembles?"
     r"|alone|by itself|by themselves|on its own|trials?|tests?|tested|tried|combinations?"
     r"|present|enough|sufficient|suffices?"
     r"|contain(?:s|ed|ing)?|appear(?:s|ed|ing)?|turn(?:s|ed)?|activat(?:e|es|ed|ing)"),
    ("J", rf"(?<!object )(?<!objects )(?<!one )(?<!thing )(?:it"
         rf"|that)(?= (?!the|an? )(?:{_IT_IS} ){{1,6}}blicket| (?:isn't|is not)(?:[.,;]|$))"),
    ("S", r"\d{1,2}[.)](?= )"),
    ("M", r"either(?=[^.;]{0,120}\bor\b)"),
    ("", r"the|an?|also|too|as well(?! as)|both(?= the)|each|that|here|there|following"
     r"|objects?|new"),
    ("VNB", r"(?:is|are|was) no blickets?"),
    ("VK", r"(?:is|are) in(?=[;.,]|$)"),
    ("NB", r"\u2717"),
    ("KB", r"\u2713"),
    ("Z", r"none(?: of (?:them|these|the(?: [a-z]{1,9})? objects))?|no (?:[a-z]{1,9} )?objects?"
     r"|no blickets?(?!\s?[:=|])|nothing(?! can| is)"),
    ("RN", r"no (?:others?|other objects?)"),
    ("AE", r"(?:all|everything) (?:but|except)"),
    ("R", r"(?:the )?(?:(?:other|remaining) (?:two|three|four|five|six|objects|ones)"
     r"(?: objects| ones| candidates)?"
     r"|others|rest|everything else|all others?|all the (?:others|rest))"),
    ("A", r"all (?:of )?(?:the |these |its |[a-z]{3,5} )?(?:new )?objects|everything|all of them"
     r"|all (?:three|seven)|all(?=[;.]|$)"),
    ("TNV", r"neither(?: of (?:them|these|those|the two))? (?:is|are|was)"),
    ("T", r"both of (?:these|them)|both(?= (?:are|must|were))|th[eo]se(?: two| three| four| five"
         r"| objects| ones)?|they"),
    ("FI", r"if(?! and only if)|unless|provided(?: that)?|assuming"),
    ("I", r"(?:one|you|we|i)(?: might| may| could| would|'d) (?:first |at first )?(?:think"
         r"|expect|suspect)"
     r"|(?:my |an? )?(?:first|initial) (?:thought|guess|instinct|impression)|at first|initially"
     r"|originally|i(?: first| initially| had)? (?:thought|assumed|expected|suspected|believed)"
     r"|whether|when|in which|suppose|supposing|assume|were"
     r"|would(?! say| guess| appear| seem)"),
    ("MC", r"jury is (?:still )?out on|undecided (?:on|about)|no verdict (?:on|about)"),
    ("N", r"(?:could not|couldn't) be|(?:impossible|not possible|not candidates?)(?= blicket|:)"),
    (
        "M",
        rf"maybes?|might|may|could|possibly|perhaps|probably|likely|potentially|unsure|possible"
        rf"|possibilit(?:y|ies)|undetermined|candidates?|suspect(?:s|ed)?|potential|conceivably"
        rf"|plausibl[ey]|optional|optionally|questionable|open|undecided|[?\u2753\u2754]"
        rf"|(?:can't|cannot|can not|not) be (?:ruled out|excluded|settled)|either way|i guess"
        rf"|scenarios?|not necessarily"
        rf"|(?:any|some|one|two|three)(?: or (?:more|two|three|four|all))?(?: out)? of"
        rf"(?= (?:the )?{_COLOUR})|in some|not (?:in )?all"
        rf"|at least {_SOME}(?! blickets?)|{_SOME} of (?:the )?(?={_COLOUR})"
        rf"|nothing (?:can be|is) (?:said|known|certain|settled|concluded|inferred|decided"
        rf"|deduced)|{_UNSURE}",
    ),
    ("NP", r"non-?\s?blickets|inhibitors"),
    ("NB", r"non-?\s?blicket|inhibitor"),
    ("P", r"blickets"),
    ("B", r"blicket|among them"),
    ("K", r"must|definite|definitely|certain|certainly|sure|surely|for sure|guaranteed|necessarily"
     r"|confirmed|beyond (?:any )?doubt|without (?:a )?doubt|yes|true|proven|known|known to be"
     r"|certainty"),
    ("VN", r"(?:has|have|plays?) no (?:effect|role|influence)|fails? to be"
     r"|can (?:also |both |all )?be (?:excluded|ruled out|eliminated|discarded|dismissed)"),
    ("N", r"no (?:evidence|indication|sign|reason|proof)|false|[a-z]{2,5}n't|not|no|cannot|neither"
     r"|never|ruled out|excluded|eliminated|impossible|irrelevant|inert|non|in no(?:ne)?"
     r"|out(?=[.;,]|$)|duds?"),
    ("E", r"except(?: for)?|other than|apart from|rather than|instead of|without"),
    ("V", r"is|are|was|be|being|counts? as|forms?|serves? as|qualif(?:y|ies) as|remains?|stays?"
     r"|as(?= (?:the |a |its )(?:only |sole )?blicket)"),
    ("C", r"namely|includes?|including|i\.e\.?|viz|about"
     r"|regarding|concerning|as to|(?:status|nature|role)s? of|for(?! sure| certain)"),
    ("Q", r"or|and/or"),
    ("S", r"and|(?:together|in combination|combined) with|plus|as well as|nor|along with"
     rf"|(?:en|i)(?= (?:{_COLOUR}|o_))"),
    ("HD", r"so|therefore|thus|hence|which means|meaning"),
    ("D", r"(?:i|we|one)(?: can| may|'d)? (?:conclude|infer|deduce|gather|think|believe)(?: that)?"
     r"|but|while|whereas|though|although|however|yet|because|since|as(?= the| it)"),
)  # fmt: skip
_COUNT = re.compile("two|three|four|five|six")
_MARKS = {
    ",": "S",
    ";": "D",
    "+": "S",
    "&": "S",
    "/": "S",
    "]": "G",
    "}": "G",
    "->": "HC",
    "=>": "HC",
    "\0": "<",
    "?": "M",
}
_SYMBOL = re.compile(
    rf"(?<![\w'])(?:{NAME}|"
    + "|".join(rf"(?P<w{number}>{text})" for number, (_, text) in enumerate(_WORDS))
    + r")(?![\w'])|(?P<mark>[-=]>|[,;:=|+&/\]}\0]|[?](?=\s?[,;)]))|(?P<other>[\w'-]+)"
)


def symbols_of(sentence: str, objects: Sequence[str]) -> Iterator[Symbol]:
    """The symbols of a sentence, with the name where one is an object."""
    for found in _SYMBOL.finditer(sentence):
        group = str(found.lastgroup)
        if group in ("shape", "tint"):
            # The shape or the colour alone is enough where it is the only one: "the torus".
            wanted = " ".join(filter(None, (found["colour"], found["shape"], found["tint"])))
            named = [name for name in objects if wanted in (name, *name.split())]
            if len(named) == 1:
                yield "O", named[0]
        elif group == "mark":
            for symbol in _MARKS.get(found[0], "C"):
                yield symbol, ""
        elif group == "other":
            yield "U", ""
        else:
            count = _COUNT.search(found[0])
            for symbol in _WORDS[int(group[1:])][0]:
                yield symbol, count[0] if count and symbol == "R" else ""
