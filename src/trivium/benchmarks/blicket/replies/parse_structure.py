"""Which of the known machines a reply says the new one is like.

Every word becomes a symbol, and a small grammar reads the symbols of each clause:

    comparison  a word such as "like", and a known machine after it, by its pattern or its place:
                "it works like the striped one"; or the machine first: "striped is what it is like"
    label       "machine: striped", "marbled -> striped", or the machine and nothing else
    unsure      a word of doubt in a clause about machines, "like both", "like neither"
    rule        "it is conjunctive", "it needs both blickets": only where nothing is compared

The last statement counts. What is denied, supposed or said about known machines alone is none. A
guess is an answer: "like the dotted one, though I am not sure".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from trivium.benchmarks.blicket.replies.words import NAME, RULE_TALK
from trivium.core import reading

UNSURE = "unsure"


class Known(NamedTuple):
    """The machines that the new one may be like."""

    patterns: Sequence[str]
    forms: Sequence[str | None]  # None where the evidence leaves it open
    new: str  # the pattern of the new machine
    objects: Sequence[str] = ()  # of the new machine


_MACHINE = r"(?:machine|detector|one|kind|type|class)s?"
# What may follow the pattern of a machine: "-type", "pattern blicket detector's behaviour".
_TAIL = (
    r"(?:-like|[ -](?:type|style|patterned|pattern))*(?: blicket)?"
    rf"(?: {_MACHINE}\b)?(?:'s?)?(?: (?:behaviou?r|style|logic|rule|principle|way))?"
)
_PLACES = (
    rf"(?:the )?(?:first|1st|former|initial) {_MACHINE}|former|(?:machine|detector|type) (?:1|#1"
    rf"|i)",
    rf"(?:the )?(?:second|2nd|latter) {_MACHINE}|latter|(?:machine|detector|type) (?:2|#2|ii)",
)
_WORDS = {
    "skip": RULE_TALK,
    "object": NAME,
    "new": rf"(?:this|the new|the last|the third|the final|new|third"
    rf"|last) (?:[a-z]+ )?{_MACHINE}|it|new"
    r"|the (?:machine|detector)(?= (?:is|behaves|works|acts|functions|looks|seems|must|has|should))"
    r"|this(?= (?:is|behaves|works|matches|resembles|acts))",
    "blicket": r"blickets?(?! detectors?| machines?)|(?:is|be|are) ones?",
    "label": rf"(?:(?:the|which|what|behaves?|works?) )*(?:{_MACHINE}|structure|pattern|conclusion"
    r"|answer|verdict|behaviou?r|rule|works|behaves|like|comparison|similar to|analogous machine)"
    r"(?: (?:type|behaviou?r|it is like|it's like|analogy|similarity|match|category"
    r"|class))?(?= ?[:=|]| ?->)",
    "unsure": rf"{reading.UNSURE_WORDS}|maybe|n/a|not stated|not given|any of (?:the two|them)"
    r"|think there(?:'s| is) (?:a|any) way|no way"
    r"|(?:[a-z]{2,6}n't|not) (?:think|believe|see how)(?: that)? (?:i|we|you|one|anyone) can"
    r"|both machines? (?:fit|match)",
    "denial": r"not|unlike|dissimilar|than|instead of|never|no longer|ruled? out|rules out"
    r"|ruling out|cannot be|as opposed to|contrary to|excludes?|in contrast to"
    r"|[a-z]{2,6}n't(?! (?:sure|certain))|no(?=[.,;]|$| like)",
    "differs": r"differs?|different|distinct",
    "neither": r"neither(?: of (?:them|these|those|the two))?",
    "like": r"like|similar|similarly|same|resembles?|match(?:es)?|akin|equivalent|identical|shares?"
    r"|follows?|fits?(?! both)|equals?|parallels|replicates|imitates|mirrors?|mimics|corresponds?"
    r"|belongs?"
    r"|analogous|consistent with|copies|as do(?:es)?"
    r"|(?:mechanism|rule|logic|behaviou?r|type|kind|principle|way) of|as (?:with|in)|just as"
    r"|exactly as|how the|the way|aligns?|in line with|go with|going with|settle on|opt for"
    r"|would say|\u2248|(?:works?|operates?|runs?|functions?) (?:on|by|under|according to)"
    r"|goes with|same (?:kind|type|sort|way|rule) as|of a kind with|another",
    "is": r"(?:is|be|it's|that's|was|looks|seems|has|shows|uses|exhibits)(?: (?:a|an|of|the|more"
    r"|clearly|again|just))*",
    "both": r"both|either|the (?:other )?two",
    "or": r"or|and|nor|/|&",
    "whether": r"whether",
    "if": r"if|were it|would(?! say| guess| appear| seem)|suppos\w{1,4}|assum\w{1,4}",
    "yes": r"yes|\u2713|true|correct",
    "clause": r"because|since|whereas|while|though|although|i mean|but"
    r"|therefore|hence|so",
    "arrow": r"[-=]>",
    "colon": r"[:=|]",
    "comma": ",",
    "topic": r"behaves?|works?|which of (?:the two|them)|which (?:one|it)|(?:machine|detector"
    r"|kind|type)s?|structure|rule"
    r"|(?:other|second) question|comparison",
    "small": r"the|i'd|i|say|think|guess|believe|final|actually|wait|no|sorry|probably|likely"
    r"|clearly"
    r"|definitely|well|ok|okay|thus|then|also|just|an?|of|to|my|me|looks|would",
    "word": r"[a-z][a-z'-]*",
}  # fmt: skip
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
_ABOUT_NEW = re.compile(
    r"^(?:machine|structure|type|rule|kind|form|detector|answer)\s?[:=|]|\bthe (?:machine"
    r"|detector)\b|\b(?:this|it|new|last|third|final)\b"
)
_REMARK = re.compile(r"\(([^()]{0,300})\)")
_SMALL = {"small", "is", "colon", "arrow", "comma", "label", "new", "yes", "topic", "like"}


_OBJECT_BEFORE = re.compile(rf"(?:{NAME})\s{{0,3}}$")
MAX_BACK = 60  # how many symbols back a denial counts


class _Symbol(NamedTuple):
    kind: str
    text: str


# In place of the patterns of the machines, so that one lexer reads the replies to all items.
_PLACEHOLDERS = ("zknowna", "zknownb", "znew")


@cache
def _lexer() -> re.Pattern[str]:
    machines = {
        f"known{number}": rf"(?:{placeholder}|{place}){_TAIL}"
        for number, (placeholder, place) in enumerate(zip(_PLACEHOLDERS[:2], _PLACES, strict=True))
    }
    words = {**machines, "new0": rf"{_PLACEHOLDERS[2]}{_TAIL}", **_WORDS}
    # The groups of names inside a word have no names of their own here.
    parts = [
        rf"(?P<{kind.replace(' ', '_')}>{re.sub(r'[?]P<[a-z]+>', '?:', text)})"
        for kind, text in words.items()
    ]
    return re.compile(
        rf"(?<![\w'])(?:{'|'.join(parts)})(?![\w'])|(?P<mark>, (?:and|but|so|nor)\b|[,;:=|/&])"
    )


def _with_placeholders(sentence: str, known: Known) -> str:
    """The sentence with placeholders for the patterns of the machines."""
    named = [*zip(known.patterns, _PLACEHOLDERS[:2], strict=False), (known.new, _PLACEHOLDERS[2])]
    placeholders = {name.lower(): placeholder for name, placeholder in named if name}
    if not placeholders:
        return sentence
    longest_first = sorted(placeholders, key=len, reverse=True)
    names = "|".join(map(re.escape, longest_first))
    return re.sub(rf"(?<![\w'])(?:{names})", lambda found: placeholders[found[0]], sentence)


def _symbols(sentence: str, known: Known) -> list[_Symbol]:
    found = []
    for match in _lexer().finditer(_with_placeholders(sentence, known)):
        kind = str(match.lastgroup)
        if kind == "mark":
            signs = {",": "comma", "/": "or", "&": "or", "->": "arrow", "=>": "arrow"}
            kind = signs.get(match[0], "colon")
            kind = "clause" if match[0][0] in ",;" and match[0] != "," else kind
        if kind != "skip":
            found.append(_Symbol("new" if kind == "new0" else kind, match[0]))
    return found


def parse_structure(sentences: Sequence[str], known: Known) -> str | None:
    """The pattern of a known machine, "unsure", or None; the last statement counts."""
    found = by_rule = beside = None
    asked = False  # whether the sentence before asked which machine it is like
    topic = False  # whether the last thing that was talked about is a machine
    question: str | None = None  # the machine of "Is it like the striped one?"
    for original, following in pairwise([*sentences, ""]):
        sentence = re.sub(r"\b(?:it|that)'s\b", "it is", _without_remarks(original, known))
        symbols = _symbols(sentence, known)
        kinds = {symbol.kind for symbol in symbols}
        machines = kinds & {"known0", "known1", "like", "topic", "label"}
        if sentence.endswith("?"):
            asked = topic = bool(machines)
            named = kinds & {"known0", "known1"}
            question = named.pop() if len(named) == 1 and "like" in kinds else None
            continue
        if _is_heading(sentence, kinds, following, known):
            continue
        reply = reading.YES_OR_NO.match(sentence) if question else None
        if question and reply and (asked or reply["so"]) and "if" not in kinds:
            found = known.patterns[int(question[-1])] if reply["yes"] else found
            question = None
        about = topic if not kinds & {"object", "blicket"} or machines else False
        said = _statement(symbols, known, asked=asked)
        if said is None and about and not found and "unsure" in kinds:
            said = UNSURE if not kinds & {"object", "blicket"} else None  # "So one cannot tell."
        found = said or found
        by_rule = _parse_rule(sentence, known) or by_rule
        beside = _beside(symbols, known) or beside
        topic = bool(machines) if machines or kinds & {"object", "blicket"} else topic
        asked = False
    return found or by_rule or beside


def _is_heading(sentence: str, kinds: set[str], following: str, known: Known) -> bool:
    """Whether a sentence only names the machine that the objects below it were put on."""
    machine = kinds - {"small", "topic", "colon"}
    if machine not in ({"known0"}, {"known1"}) or any(name in following for name in known.objects):
        return False
    below = {symbol.kind for symbol in _symbols(following, known)}
    return sentence.endswith(":") or "object" in below


def _beside(symbols: Sequence[_Symbol], known: Known) -> str | None:
    """The one known machine that a sentence names beside the new one, where nothing is denied."""
    kinds = {symbol.kind for symbol in symbols if symbol != ("new", "it")}
    named = kinds & {"known0", "known1"}
    plain = "new" in kinds and not kinds & {"unsure", "denial", "if", "neither", "differs", "or"}
    return known.patterns[int(named.pop()[-1])] if len(named) == 1 and plain else None


def _without_remarks(sentence: str, known: Known) -> str:
    """The sentence without remarks in brackets that name no machine, or that of an object."""

    def kept(remark: re.Match[str]) -> str:
        before = sentence[max(0, remark.start() - 40) : remark.start()]
        of_object = _OBJECT_BEFORE.search(before) is not None
        return f", {remark[1]}," if _names_known(remark[1], known) and not of_object else " "

    return _REMARK.sub(kept, sentence)


def _names_known(text: str, known: Known) -> bool:
    return any(re.search(rf"\b{re.escape(each.lower())}", text) for each in known.patterns)


def _statement(symbols: list[_Symbol], known: Known, *, asked: bool) -> str | None:
    """What a sentence says: a pattern, "unsure" or None; its last clause that says something."""
    said: str | None = None
    clause: list[_Symbol] = []
    every = {symbol.kind for symbol in symbols}
    if every == {"neither"}:
        return UNSURE
    if asked and (named := _named_first(symbols)):
        return known.patterns[int(named[-1])]
    about = bool(every & {"known0", "known1", "like", "topic", "label"})
    about = asked or (about and not every & {"object", "blicket"})
    doubt = False  # whether a clause before was unsure
    for symbol in [*symbols, _Symbol("clause", "")]:
        if symbol.kind != "clause":
            clause.append(symbol)
            continue
        kinds = {each.kind for each in clause}
        found = _clause(clause, known, asked=about)
        if found is None and doubt and kinds & {"like", "topic"} and not kinds & {"blicket"}:
            found = UNSURE  # "nobody knows which are blickets, nor which machine it is like"
        if found == UNSURE and said not in (None, UNSURE) and not _machines(clause):
            found = None  # a guess: "like the dotted one, though I am not sure"
        said = found or said
        doubt = "unsure" in kinds and symbol.text.endswith("nor")
        clause = []
    return said


def _named_first(symbols: Sequence[_Symbol]) -> str | None:
    """The one machine that opens the answer to a question: "The striped one: it needs both."."""
    kinds = [symbol.kind for symbol in symbols if symbol.kind not in ("small", "like", "is")]
    if len({kind for kind in kinds if kind.startswith("known")}) != 1 or "unsure" in kinds:
        return None
    ends = kinds[1:2] in ([], ["colon"], ["comma"], ["clause"], ["arrow"])
    return kinds[0] if kinds[0].startswith("known") and ends else None


def _machines(clause: Sequence[_Symbol]) -> list[int]:
    return [place for place, symbol in enumerate(clause) if symbol.kind.startswith("known")]


def _clause(clause: list[_Symbol], known: Known, *, asked: bool) -> str | None:
    """What one clause says."""
    kinds = [symbol.kind for symbol in clause]
    colon = max((n for n, kind in enumerate(kinds) if kind == "colon"), default=0)
    if {"known0", "known1"} <= set(kinds[:colon]) and "unsure" not in kinds[:colon]:
        clause, kinds, asked = clause[colon + 1 :], kinds[colon + 1 :], True  # "A or B: A"
    places = _machines(clause)
    like = next((n for n, kind in enumerate(kinds) if kind in ("like", "label", "differs")), None)
    about = asked or bool(places) or bool({"like", "topic", "label"} & set(kinds))
    if _is_unsure(kinds, like, about=about) and not _is_guess(kinds, places, like):
        return UNSURE
    if not places or ("if" in kinds[: places[0]] and "unsure" not in kinds):
        return None
    if "differs" in kinds:
        return UNSURE if len({kinds[place] for place in places}) == 2 else None
    if not _is_comparison(kinds, places, like):
        return None
    # Machines before "like" are those that something is likened to only where none comes after.
    compared = [place for place in places if like is None or place > like] or places
    named = {kinds[place] for place in compared}
    claimed = {kinds[place] for place in compared if not _denied(kinds, place)}
    if len(claimed) == 1:
        return known.patterns[int(claimed.pop()[-1])]
    # "You'd like to know whether it is like the striped or the dotted one" is no doubt.
    return UNSURE if len(named) == 2 and like is not None and "whether" not in kinds else None


def _is_unsure(kinds: list[str], like: int | None, *, about: bool) -> bool:
    """Whether a clause about machines is in doubt, or likens the new one to both or neither."""
    things = [n for n, kind in enumerate(kinds) if kind in ("object", "blicket")]
    head = set(kinds[: things[0]]) if things else set()
    if {"unsure", "label"} <= head:
        return True  # "machine: can't tell, as neither of the objects ..."
    if "blicket" in kinds or (things and not {"known0", "known1"} & set(kinds)):
        return False
    if "unsure" in kinds or "neither" in kinds:
        return about
    return like is not None and kinds[like] == "like" and "both" in kinds[like + 1 : like + 3]


def _is_guess(kinds: list[str], places: list[int], like: int | None) -> bool:
    """Whether one machine is named before the doubt: "machine: striped, but not sure"."""
    doubt = next((n for n, kind in enumerate(kinds) if kind in ("unsure", "neither")), len(kinds))
    named = {kinds[place] for place in places}
    return like is not None and len(named) == 1 and like < places[0] < doubt


def _is_comparison(kinds: list[str], places: list[int], like: int | None) -> bool:
    """Whether a clause that names a known machine says that the new one is like it."""
    last = max((n for n, kind in enumerate(kinds) if kind in ("comma", "colon")), default=-1)
    ends = places[-1] == len(kinds) - 1
    if (ends and kinds[-2:-1] == ["arrow"] and "object" not in kinds) or re.match(
        "like known[01] comma", " ".join(kind for kind in kinds[:6] if kind != "small")
    ):
        return True  # "one is enough -> striped", "As with the striped one, two are needed"
    if "object" in kinds[:last] and set(kinds[last + 1 : -1]) <= {"small", "is"}:
        return ends  # "violet cylinder, plain"
    if like is not None and kinds[like] != "differs":
        compared = [place for place in places if place < like]
        inverted = bool(compared) and places[-1] < like
        if "object" in kinds and "new" not in kinds and not inverted:
            return False
        return not compared or "new" in kinds[:like] or (inverted and "new" in kinds[places[0] :])
    before = kinds[: places[0]]
    subject = before[len(before) - before[::-1].index("new") :] if "new" in before else []
    if "is" in subject and "object" not in subject:
        return True  # "it must be of the zigzag type"
    others = {kind for kind in kinds if not kind.startswith("known")} - _SMALL
    return not others - {"denial", "or", "both", "unsure"}


def _denied(kinds: list[str], place: int) -> bool:
    """Whether what is said of this machine is denied: "not like it", "like it: no"."""
    if kinds[place + 1 : place + 3] == ["colon", "denial"]:
        return True
    likened = False
    before = kinds[max(0, place - MAX_BACK) : place]
    if before[-1:] == ["colon"] and before[-2:-1] in (["label"], ["like"], ["denial"]):
        before.pop()  # "Does not work like: striped"
    for kind in reversed(before):
        if kind == "denial":
            return True
        if kind in ("comma", "colon") or (likened and kind.startswith("known")):
            return False  # "unlike the striped one and just like the dotted one"
        likened = likened or kind == "like"
    return False


def _parse_rule(sentence: str, known: Known) -> str | None:
    """The machine whose rule a sentence gives to the new one."""
    about_new = known.new and re.search(rf"\b{re.escape(known.new.lower())}", sentence)
    if not (about_new or _ABOUT_NEW.search(sentence)) or _names_known(sentence, known):
        return None
    if reading.is_unsure(sentence) or re.search(r"\bif\b", sentence):
        return None
    said = [
        form
        for form, words in _RULES.items()
        if (found := words.search(sentence))
        and not re.search(r"\b(?:not|never|cannot)\b|n't\b", sentence[: found.start()])
    ]
    alike = [
        pattern
        for pattern, form in zip(known.patterns, known.forms, strict=False)
        if len(said) == 1 and form == said[0]
    ]
    return alike[0] if len(alike) == 1 else None
