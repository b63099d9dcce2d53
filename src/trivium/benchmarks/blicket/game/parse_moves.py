"""The one move that a reply makes, among everything else that it says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trivium.benchmarks.blicket.game.parse_answer import (
    ARE,
    COMMENT,
    LETTERS,
    Command,
    is_final,
    leading_objects,
    read_answer,
    read_test,
)
from trivium.core import reading

# At the start of a sentence in any case, or anywhere in capitals.
_HEAD = re.compile(
    r"(?P<label>(?:^|(?<=[.!?:\n{]))[\s>\"'({\[-]{0,9}(?:\d{1,2}[.)]\s{0,3})?"
    r"(?:(?:my |next |the |final ){0,3}(?:action|move|command|turn|choice|decision|reply|response)"
    r"(?: \d{1,2})?\s?[:=]\s?[\"'\[]?)?(?:(?:so|here is|my|the|final"
    r"|next)\s{1,3}){0,3})(?P<start>(?i:test|answer))\b(?!s\b)"
    r"|\b(?P<capitals>(?-i:TEST|ANSWER))\b",
    re.MULTILINE | re.IGNORECASE,
)
_BARE_ANSWER = re.compile(
    r"(?:(?:^|(?<=[.!?:]))[\s{\[(|-]{0,9}(?:(?:so|thus|therefore|hence),? )?"
    r"|(?<=,) (?:and )?(?:so|thus|therefore|hence) )"
    r"(?:(?:final|conclusion|verdict|result)\s?: "
    r"|i(?:'d|'ll| will| would)? answer\s?:? |i (?:conclude|am confident|am certain)(?: that)? )?"
    r"(?=(?:the |my )?(?:blickets?|form|rule)(?:\s?[:=|]| (?:is|are)\b)"
    r"|(?:(?:the |this )?machine (?:is|works)|it is|it's) (?:an? )?[a-z]{5,13}"
    r"|(?:an? )?[a-z]{5,11}(?:-[2-9])? machine,? (?:with )?(?:the )?blickets"
    rf"|{LETTERS}{ARE}blickets\b)",
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
    rf"|\b(?:i'd like|i would like|i want)(?= {LETTERS} on\b)",
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
_IF = re.compile(r"\b(?:if|unless|assuming|provided|supposing)\b", re.IGNORECASE)
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
_EMPTY = re.compile(
    r"\b(?:nothing on|no objects?|an empty machine|the machine empty)\b", re.IGNORECASE
)
_LIGHTS = re.compile(r"(?:lights?|activates?|turns?|works?|makes?|triggers?|does|do)\b", re.I)
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
    moves = list(_moves(text, objects, rules)) or list(_intended(text, objects))
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
    if not heads:
        heads = list(_BARE_ANSWER.finditer(text))
        ends = [len(text)] * len(heads)  # blickets and form may stand in two sentences
    for head, end in zip(heads, ends, strict=False):
        groups = head.groupdict()
        word = groups.get("start") or groups.get("capitals") or "ANSWER"
        start = head.end() - len(word) if groups else head.end()
        rest = text[head.end() : min(end, head.end() + MAX_READ)]
        before = _SENTENCE.split(text[max(0, start - 200) : start])[-1]
        before = _SO.split(before)[-1]
        if _CONDITION.search(before) or (word.lower() == "test" and _PAST.search(before)):
            continue
        if not groups and _IF.search(_SENTENCE.split(rest)[0]):
            continue
        if word.lower() == "test":
            command = read_test(rest, objects, exact=word != "TEST")
            if head is heads[-1] and not rest.strip() and _EMPTY.search(text, 0, start):
                command = Command("")  # "First with nothing on it. TEST"
            if command is None:
                continue
        else:
            command = None if _EITHER.search(rest) else read_answer(rest, objects, rules)
            if command is None and not (groups and is_final(rest)):
                continue
        yield _Move(_rank(before), start, command)


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
        named = leading_objects(rest, objects)
        if named.all is None or _CONDITION.search(before):
            continue
        lights = found["see"] and _LIGHTS.match(named.after)
        if named.after == "" or COMMENT.match(named.after) or lights:
            yield _Move(3, found.start(), Command(named.all))
