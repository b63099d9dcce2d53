"""The one move that a reply makes, among everything else that it says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trivium.benchmarks.blicket.game.parse_answer import (
    Command,
    read_answer,
    with_names,
)
from trivium.core import reading
from trivium.core.languages import in_english

# At the start of a sentence in any case, or anywhere in capitals.
_HEAD = re.compile(
    r"(?P<label>(?:^|(?<=[.!?:\n{]))[\s>\"'({\[-]{0,9}(?:\d{1,2}[.)]\s{0,3})?"
    r"(?:(?:my |next |the |final ){0,3}(?:action|move|command|turn|choice|decision|reply|response)"
    r"(?: \d{1,2})?\s?[:=]\s?[\"'\[]?)?(?:(?:so|here is|my|the|final"
    r"|next)\s{1,3}){0,3})(?P<start>(?i:test|answer))\b(?!s\b)"
    r"|\b(?P<capitals>(?-i:TEST|ANSWER))\b",
    re.MULTILINE | re.IGNORECASE,
)
_INTENT = re.compile(
    r"(?:^|(?<=[.!?\n]))\s{0,3}(?:(?:now |next,? |so ){0,2}i )?(?:now )?"
    r"(?:put|place|try|testing|placing|trying)\b"
    r"|\b(?:i'll|i will|i'd|i'd like to"
    r"|i would like to|i want to|i wish to|i'd love to|(?:help|be useful) to"
    r"|(?:could|can|would|will) you(?: please)?"
    r"|i choose to|i am going to|i'm going to"
    r"|let me|let's|let us|going to|please|(?:action|move|command|next|step)\s?:"
    r"|(?:action|move|step|test) (?:is|will be) to)\s"
    r"(?:(?:now|first|next|start by|begin by|try|then"
    r"|(?:verify|check|confirm|continue|proceed)(?: this| that| it)? by) ){0,2}"
    r"(?:test(?:ing)?|plac(?:e|ing)|put(?:ting)?|try(?:ing)?|leav(?:e|ing)|(?:begin|start) with"
    r"|(?P<see>(?:see|know|learn|find out|check)(?: what (?:happens|it does|the machine does))?"
    r"(?: (?:if|whether) (?:it|the machine) (?:lights|reacts|works|turns on|activates)(?: up)?)?"
    r" (?:when|if|with|for|whether)))\b"
    r"|\b(?:i'd like|i would like|i want)(?= o_[a-h].{0,80} on\b)",
    re.IGNORECASE,
)
_EITHER = re.compile(r"(?:\bor|/)\W{0,4}$", re.IGNORECASE)  # "ANSWER ... or ANSWER ..."
_SENTENCE = re.compile(r"(?<!^\d)(?<!^\d\d)[.!?]\s|\n", re.MULTILINE)  # "1. " opens an item
# What stands before a move in its sentence: a condition, a choice, what was done, what will be.
_CONDITION = re.compile(
    r"\b(?:if|once|unless|until|before|when"
    r"|after(?! (?:considering|thinking|reviewing|weighing|all)\b)|whether|otherwise|depending|else"
    r"|or|instead of|rather than|without|than|not|don't|won't|shouldn't|never|avoid|between"
    r"|can't|cannot|unsure)\b|\b(?:should|shall|may|can|could|do) (?:i|we)\b",
    re.IGNORECASE,
)
_IF = re.compile(
    r"[?]$|(?<!only )\b(?:if(?! and only)|unless|assuming|provided|supposing)\b", re.IGNORECASE
)
_SO = re.compile(
    r"\b(?:so|therefore|hence|thus)\b|;|\b(?:instead of|rather than)\b[^,]{0,60},"
    r"|\bto (?:see|check|learn|find out|determine|verify|know|tell|decide|confirm) (?:if|whether)\b"
    r"[^,:]{0,80}[,:]",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:did|made|ran|tried|tested|previous\w{0,2}|earlier|already|so far|from|since|because|was"
    r"|result\w{0,2} (?:of|from)|based on|showed|given|by|in"
    r"|(?<!go )(?<!start )(?<!begin )(?<!proceed )(?<!continue )with)\s[^:\n]{0,40}$",
    re.IGNORECASE,
)
_POSSIBLE = re.compile(
    r"\b(?:could|might|may|can|would|then|later|eventually|alternatively|option\w?|e\.g|such as"
    r"|for example|like|either|consider\w{0,3}|plan\w{0,4})\b",
    re.IGNORECASE,
)
_CORRECTION = re.compile(rf"{reading.CORRECTION_WORDS}|\b(?:instead|better)\b\s?:?", re.IGNORECASE)
# The words of a test: objects, small words around them, and what may follow them.
_TEST = reading.Lexer(
    {
        "object": r"\bo_[a-h]\b",
        "all": r"\b(?:all|everything|every)\b",
        "except": r"\b(?:but|except|minus)\b(?: for\b)?",
        "number": r"#?\b\d{1,2}\s?[:.)]",
        "result": r"\b(?:not?[ -]|un)?(?:lit|lights?|dark|activated?|active|glow\w{0,3}|silent"
        r"|stay(?:s|ed)|did|does|didn't|doesn't|was|were|showed|shows|gave|gives|told|tells|means"
        r"|turned|yes|off|ruled|rules|confirm\w{0,3}|proved|had)\b|(?<=[:=>|-] )on\b"
        r"|[\u2713\u2717]",
        "nothing": r"\b(?:none|nothing|empty|null|nil|no|n/a)(?![\w/])|\[\s{0,3}\]",
        "small": r"\b(?:should|would|to|is|be|are|objects?|the|on|put|place|placing|only|just|both"
        r"|and|with|letters?|set|of|items?|blocks?|combination|pair|args|arguments|machine|group|it"
        r"|my|together|plus|alone|by itself|by themselves|own|its|placed|them|two|three|four|five"
        r"|six|seven|eight|an|at all|result|will be|detector)\b",
        "comment": r"\b(?:to|because|since|so|as|for|then|next|now|first|again|not|without"
        r"|separates?|splits?|distinguish(?:es)?|helps?|see|watch|observe|which|in|after|before"
        r"|please|at|into|onto|will|reason\w{0,3}|rationale|why|purpose)\b",
        "end": r"[.;!#]|//",
        "open": r"[(:]|[-=]{1,2}>|\s-{1,3}\s",
        "word": r"[^\W\d_][\w'-]{0,40}",
    }
)
_EMPTY = re.compile(
    r"\b(?:nothing on|no objects?|an empty machine|the machine empty)\b", re.IGNORECASE
)
MAX_READ = 400  # characters of one command


class _Move(NamedTuple):
    """A move that a reply names, and how plainly."""

    rank: int  # 0 a line of its own, 1 an item of a list, 2 inside a sentence, 3 a possibility
    start: int
    command: Command | None  # None for an answer that cannot be read


def read_command(reply: str, objects: str, rules: Sequence[str] = ()) -> Command | None:
    """The one move that a reply makes; None where there is none, or an answer that is not clear.

    The first of the plainest moves counts: a line of its own before an item of a list, and that
    before a mention inside a sentence. Conditions ("if it lights, ANSWER ..."), tests with their
    result and what was done before are no moves. After a correction ("Wait, ...") a move replaces
    the one before it.
    """
    text = reading.chosen_option(reading.plain(reply)).translate(_DECORATION)
    text = in_english(with_names(text, objects))
    moves = list(_moves(text, objects, rules)) or list(_intended(text, objects))
    if not moves and (bare := _bare_answer(text, objects, rules)):
        moves = [_Move(0, 0, bare)]
    answers = [move for move in moves if move.command is None or move.command.form]
    if not moves:
        return None
    if len({move.command for move in answers}) > 1 and reading.is_undecided(
        text[answers[-1].start :]
    ):
        return None  # "ANSWER ... ANSWER ... I can't tell which."
    best = min(move.rank for move in moves)
    chosen = next(move for move in moves if move.rank == best)
    for move in moves:
        later = move.start > chosen.start and move.rank < 3
        if later and _CORRECTION.search(text, chosen.start, move.start):
            chosen = move
    return chosen.command


_DECORATION = str.maketrans(dict.fromkeys('"<>', " "))


def _moves(text: str, objects: str, rules: Sequence[str]) -> Iterator[_Move]:
    """Every move that is named in the reply."""
    heads = list(_HEAD.finditer(text))
    ends = [*(head.start() for head in heads[1:]), len(text)]
    for head, end in zip(heads, ends, strict=False):
        word = head["start"] or head["capitals"]
        start = head.end() - len(word)
        rest = text[head.end() : min(end, head.end() + MAX_READ)]
        before = _SO.split(_SENTENCE.split(text[max(0, start - 200) : start])[-1])[-1]
        if _CONDITION.search(before) or (word.lower() == "test" and _PAST.search(before)):
            continue
        if word.lower() == "test":
            command = _read_test(rest, objects, exact=word != "TEST")
            if head is heads[-1] and not rest.strip() and _EMPTY.search(text, 0, start):
                command = Command("")  # "First with nothing on it. TEST"
            if command is None:
                continue
        else:
            command = None if _EITHER.search(rest) else read_answer(rest, objects, rules)
            if command is None and not _FINAL.search(rest):
                continue
        yield _Move(_rank(before), start, command)


_FINAL = re.compile(
    r"\bblickets?\b(?:.|\n){0,200}\bform\b|\bform\b(?:.|\n){0,200}\bblickets?\b", re.I
)


def _bare_answer(text: str, objects: str, rules: Sequence[str]) -> Command | None:
    """The answer of a reply without a command: "The blickets are A and C, it is conjunctive."."""
    said = [each for each in re.split(r"(?<=[.!?])\s|(?=\n)", text) if not _IF.search(each)]
    return read_answer(" ".join(said), objects, rules)


def _placed(text: str, objects: str) -> tuple[str, list[str]] | None:
    """The objects that open a text, and the kinds of the words that follow them."""
    named = {True: set[str](), False: set[str]()}  # those on the machine, and those left out
    kept, begun, every = True, False, False
    symbols = list(_TEST.symbols(text))
    for place, (kind, word) in enumerate(symbols):
        if kind == "object":
            named[kept].add(word[-1].upper())
            begun = True
        elif kind == "all" and not begun:
            named[True], begun, every = set(objects), True, True
        elif kind == "except" and every and kept:
            kept = False
        elif kind == "nothing" and not begun:
            return "", [kind for kind, _ in symbols[place + 1 :] if kind != "small"]
        elif kind != "small" and ((begun and not every) or kind not in ("open", "number")):
            break
    else:
        place = len(symbols)
    after = [kind for kind, _ in symbols[place:]]
    return ("".join(sorted(named[True] - named[False])), after) if begun else None


def _read_test(rest: str, objects: str, *, exact: bool) -> Command | None:
    """The test in the rest of a line; `exact` (it may be prose) allows nothing after it."""
    text = _LETTER_LINE.sub(" ", rest.strip()).partition("\n")[0]
    placed = _placed(text, objects)
    if placed is None:
        return None
    named, after = placed
    said = [kind for kind in after if kind not in ("open", "small", "comment")]
    if said[:1] in (["result"], ["nothing"]) and after[0] != "comment":
        return None  # what the test showed
    if exact:
        return Command(named) if not set(after) - {"end"} else None
    return Command(named) if not after or after[0] in ("end", "open", "comment", "except") else None


_LETTER_LINE = re.compile(r"\n\s{0,3}(?:- )?(?=o_[a-h]\s{0,3}(?:\n|$))")  # one object a line


def _rank(before: str) -> int:
    """How plainly a move is made, by what stands before it in its sentence."""
    if _POSSIBLE.search(before):
        return 3
    if re.fullmatch(r"\s{0,9}(?:-|\d{1,2}[.)])\s{0,3}", before):
        return 1
    return 0 if not before.strip(" {[(") or before.rstrip(" {[(").endswith(":") else 2


def _intended(text: str, objects: str) -> Iterator[_Move]:
    """The tests that a reply without a command says it will make: "I'll place A and B"."""
    for found in _INTENT.finditer(text):
        before = _SENTENCE.split(text[max(0, found.start() - 200) : found.start()])[-1]
        rest = text[found.end() : found.end() + MAX_READ].partition("\n")[0]
        placed = _placed(rest, objects)
        if placed is None or _CONDITION.search(before):
            continue
        named, after = placed
        if after[:1] in ([], ["end"], ["open"], ["comment"]) or (
            found["see"] and after[0] == "result"
        ):
            yield _Move(3, found.start(), Command(named))
