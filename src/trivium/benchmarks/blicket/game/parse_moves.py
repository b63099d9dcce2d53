"""The one move that a reply makes, among everything else that it says.

Letters become names, every word becomes one symbol, and the symbols are read from left to right:

    move      TEST and objects, or ANSWER and what it says (`parse_answer`): in capitals anywhere,
              in small letters where nothing but a label ("Next move:") stands before it
    intended  a wish and a verb, "I'd like to put A and B on it", "let's see what happens with C";
              or the verb alone: "Place C on the machine"
    objects   names, "all", "all but A", "nothing", and small words around them
    no move   what a condition, "not", "or", a question or the past stands before ("if it lights,
              ANSWER ..."), and a test that its result follows ("TEST A: dark")
    bare      without a move, an answer that is said in so many words

"So" and a colon begin anew. The first of the plainest moves counts: a line of its own before an
item of a list or a sentence in a paragraph, and that before a mention, a possibility or a wish.
After a correction ("Wait, ...") a move replaces the one before it.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import NamedTuple

from trivium.benchmarks.blicket.game.parse_answer import Command, read_answer, with_names
from trivium.core import reading
from trivium.core.languages import in_english

MAX_READ = 400  # characters of one answer
MAX_BARE = 4000  # and of the end of a reply, where it has no move
_WORDS = reading.Lexer(
    {
        "object": r"\bo_[a-h]\b",
        "TEST": r"(?-i:\bTEST\b)",
        "ANSWER": r"(?-i:\bANSWER\b)",
        "test": r"\b(?:by )?test(?:ing)?\b",
        "answer": r"\banswer\b",
        "bullet": r"^[ \t]{0,9}(?:-|\(?\d{1,2}[.)])(?=\s)",
        "number": r"#?\b\d{1,2}(?:\s?[:.)]|\b)",
        "asks": r"[?](?=\s|$)",
        "stop": r"\n|[.!](?=\s|$)",
        "correction": rf"{reading.CORRECTION_WORDS}|\b(?:instead(?! of)|better)\b",
        "all": r"\b(?:all|everything|every)\b",
        "except": r"\b(?:but|except|minus)\b(?: for\b)?",
        "aside": r"\b(?:instead of|rather than)\b"
        r"|\b(?:see|check|know|learn) (?:if|whether)\b(?=[^.\n]{0,80}[:,] ?(?-i:TEST|ANSWER)\b)"
        r"|\bto (?:see|check|learn|find out|determine|verify|know|tell|decide|confirm)"
        r" (?:if|whether)\b",
        "effect": r"\b(?:lights?|activates?|turns|does|do (?:it|the trick)|(?:is|are) enough"
        r"|suffices?"
        r"|works?)\b",
        "result": r"\b(?:not?[ -]|un)?(?:lit|light|dark|activated|active|glow\w{0,3}|silent"
        r"|stay(?:s|ed)|did|didn't|doesn't|was|were|showed|shows|gave|gives|told|tells|means"
        r"|turned|yes|off|ruled|rules|confirm(?:s|ed)|proved|had)\b|(?<=[:=>|-] )on\b"
        r"|[\u2713\u2717]",
        "nothing": r"\b(?:none|nothing(?! else)|empty|null|nil|no|n/a)(?![\w/])|\[\s{0,3}\]",
        "small": r"\b(?:nothing else|(?:should|would|will|to) be|together with|by (?:itself"
        r"|themselves)|with(?= o_)|to|is"
        r"|be|are"
        r"|objects?|on|only|just|both|and|letters?|set|of|an?"
        r"|items?|blocks?|combination|pair|args|arguments|machine|group|it|together|plus|alone"
        r"|itself|themselves|own|its|placed|them|two|three|four|five|six|seven|eight|at all"
        r"|result|detector)\b",
        "if": r"\b(?:if|once|unless|until|before|when|whether|otherwise|depending|else|between"
        r"|after(?! (?:considering|thinking|reviewing|weighing|all)\b))\b"
        r"|\b(?:should|shall|may|can|could|do) (?:i|we)\b",
        "or": r"\bor\b",
        "not": r"\b(?:not|don't|won't|shouldn't|never|avoid|without|than|can't|cannot|unsure)\b",
        "so": r"\b(?:so(?! far)|therefore|hence|thus)\b",
        "past": r"\b(?:made|ran|tried|tested|previous\w{0,2}|earlier|already|so far|from|since"
        r"|because"
        r"|based on|given|by|in|result\w{0,2} (?:of|from)"
        r"|(?<!go )(?<!start )(?<!begin )(?<!proceed )(?<!continue )with)\b",
        "verb": r"\b(?:next|experiment|trial|placement)(?= ?:)|\b(?:begin|start) with\b"
        r"|\b(?:i'd like|i would like|i want|go for|go with|use|choose|pick|take)(?= o_)"
        r"|\b(?:put(?:ting)?|plac(?:e|ing)|try(?:ing)?|leav(?:e|ing)|see|know|learn|find out"
        r"|check)\b",
        "wish": r"\b(?:i'll|i will|i'd(?: (?:like|love) to| like)?|i would (?:like|love)(?: to)?"
        r"|i (?:want|wish|choose)(?: to)?|(?:could|can|would|will) you|(?:am |i'm )?going to"
        r"|let me|let's|let us|please|(?:help|useful|is|be) to)\b",
        "possible": r"\b(?:maybe|perhaps|possibly|could|might|may|can|would(?! (?:like|love))|then"
        r"|later|eventually|either"
        r"|alternatively|option\w?|e\.g|such as|for example|like|consider\w{0,3}|plan\w{0,4})\b",
        "intro": r"\b(?:here is|my|the|final|next|now|action|move|command|turn|choice|decision"
        r"|reply"
        r"|response|step|first|i|type|name|tool|function)\b",
        "comment": r"\b(?:will|would|should|as|for|again|separates?|splits?|distinguish(?:es)?"
        r"|helps?|watch|observe"
        r"|which|at|into|onto|reason\w{0,3}|rationale|why|purpose)\b",
        "end": r"[;!#]|//",
        "comma": r",",
        "open": r"[(:]|[-=]{1,2}>|\s-{1,3}\s",
        "word": r"[^\W\d_][\w'-]{0,40}",
    }
)
_BEFORE = {"bullet", "number", "intro", "open", "so", "small", "correction"}
_BLOCKED = {"if", "or", "not", "aside"}
_MAY_FOLLOW = {"stop", "end", "open", "comment", "except", "not", "so", "past", "if", "verb"}
_MAY_FOLLOW |= {"intro", "possible", "wish", "aside"}


class _Move(NamedTuple):
    """A move that a reply names, and how plainly."""

    rank: int  # 0 opens a line, 1 an item or a sentence, 2 a mention, 3 possible, 4 a wish
    place: int  # among the words
    command: Command | None  # None for an answer that cannot be read


def read_command(reply: str, objects: str, rules: Sequence[str] = ()) -> Command | None:
    """The one move that a reply makes; None where there is none, or an answer that is not clear."""
    text = reading.json_as_lines(reading.chosen_option(reading.plain(reply))).translate(_DECORATION)
    text = _in_one_line(in_english(with_names(text, objects)))
    words = list(_WORDS.found(text))
    moves = list(_moves(words, text, objects, rules))
    if not moves:
        return _bare_answer(text, objects, rules) or _bare_test(words, objects)
    answers = [move for move in moves if move.command is None or move.command.form]
    if len({move.command for move in answers}) > 1 and reading.is_undecided(
        text[words[answers[-1].place].start :]
    ):
        return None  # "ANSWER ... ANSWER ... I can't tell which."
    chosen = min(moves, key=lambda move: move.rank)
    if chosen.rank == 3 and len({move.command for move in moves}) > 1:
        return None  # "Maybe TEST A, maybe TEST B."
    corrections = [place for place, word in enumerate(words) if word.kind == "correction"]
    for move in moves:
        if move.rank < 3 and bisect(corrections, chosen.place) < bisect(corrections, move.place):
            chosen = move
    return chosen.command


_DECORATION = str.maketrans(dict.fromkeys('"<>', " "))
# The objects of a test in a field of their own: "move: TEST", "objects: [A, B]".
_FIELD = r"[a-z][a-z_ ]{1,30}[ ']{0,2}[:=]\W{0,20}"
_RUN = r"((?:\W{0,9}(?:\band\b\W{1,3})?\bo_[a-h]\b){1,8}|(?:none|nothing|all)\b|\[\s?\])"
_AFTER = re.compile(
    rf"\b(test|place|put|try)\b\W{{0,6}}\n\W{{0,9}}(?:{_FIELD}){{0,2}}{_RUN}(?=\W{{0,6}}(?:\n|$))",
    re.IGNORECASE,
)
_BEFORE_TEST = re.compile(rf"\bobjects?\W{{1,20}}{_RUN}\W{{1,15}}[a-z]{{4,8}}\W{{1,6}}TEST\b")


def _in_one_line(text: str) -> str:
    """The text with a test and its objects, where they are two fields, on one line."""
    text = _BEFORE_TEST.sub(lambda found: f"TEST {_NEWLINES.sub(' ', found[1])}", text)
    return _AFTER.sub(lambda found: f"{found[1]} {_NEWLINES.sub(' ', found[2])}", text)


_NEWLINES = re.compile(r"\n[ \t-]{0,9}")


def _moves(
    words: Sequence[reading.Found], text: str, objects: str, rules: Sequence[str]
) -> Iterator[_Move]:
    """Every move that is named in the reply."""
    heads = [n for n, word in enumerate(words) if word.kind in ("TEST", "ANSWER")]
    ends = {this: words[following].start for this, following in pairwise(heads)}
    said: set[str] = set()  # the kinds of words before this one in its sentence
    goes_on = False  # whether a sentence stands before on its line
    for place, (kind, _, end, _) in enumerate(words):
        opens = said <= _BEFORE
        blocked = bool(said & _BLOCKED)
        rank = int(goes_on or "bullet" in said) if opens else 3 if "possible" in said else 2
        if kind.lower() == "answer" and (opens or kind == "ANSWER") and not blocked:
            stop = min(ends.get(place, len(text)), end + MAX_READ)
            either = re.search(r"(?:\bor|/)[\s,;:]{0,9}$", text[end:stop]) is not None
            # Its line where that is a whole answer, so that remarks below it do not count.
            texts = dict.fromkeys([text[end:stop].partition("\n")[0], text[end:stop]])
            answers = (read_answer(each, objects, rules) for each in texts if not either)
            command = next(filter(None, answers), None)
            weighed = 3 * (_WEIGHED.search(text[end:stop].partition("\n")[0]) is not None)
            if command is not None or _is_final(text[end:stop]):
                yield _Move(max(rank, weighed), place, command)
        elif kind in ("TEST", "test", "verb") and not blocked and "past" not in said:
            commands = kind == "TEST" or (kind == "test" and opens)
            made = _read_test(words, place, objects, exact=kind == "test") if commands else None
            if made is not None:
                yield _Move(max(rank, 3 * _is_weighed(words, place)), place, made)
            elif "wish" in said or (opens and kind != "TEST"):
                made = _read_test(words, place, objects, wished=True)
                made = made or _named_before(words, place, said)
                if made is not None:
                    yield _Move(4, place, made)
        if kind in ("stop", "asks", "so", "end"):
            goes_on = words[place].text != "\n" and (goes_on or bool(said))
            said = set()
        elif kind == "open":
            said -= {"past", "not"} | ({"aside", "if", "or"} if "aside" in said else set())
        elif kind == "comma" and "aside" in said:
            said -= {"aside", "if", "or"}
        else:
            said.add(kind)


_WEIGHED = re.compile(r"\b(?:would|could|might) (?:be|have been)\b", re.IGNORECASE)


def _read_test(
    words: Sequence[reading.Found],
    place: int,
    objects: str,
    *,
    exact: bool = False,
    wished: bool = False,
) -> Command | None:
    """The test whose word stands at this place; `exact` (it may be prose) allows nothing after."""
    line = list(_line(words, place + 1))
    if not line and words[place].kind == "TEST":
        below = (word for word in words[place + 1 : place + 9] if word.kind not in ("stop", "open"))
        near = [*words[max(0, place - 40) : place], *islice(below, 1)]
        empty = any(word.kind == "nothing" for word in near)
        return Command("") if empty else None  # "First with nothing on it. TEST"
    sees = words[place].text.lower() in ("see", "know", "learn", "find out", "check")
    if sees and line[:1] and line[0].kind == "open":
        return None  # "Let me see: A was dark."
    if sees:
        begin = (n for n, word in enumerate(line) if word.kind in ("object", "all", "nothing"))
        line = line[next(begin, 0) :]
    placed = _placed(line, objects)
    if placed is None:
        return None
    named, after = placed
    next_kinds = [kind for kind in after if kind not in ("open", "small", "intro")]
    if named and next_kinds[:1] in (["result"], ["effect"], ["nothing"]) and not sees:
        return None  # what the test showed
    if exact:
        return Command(named) if not set(after) - {"stop", "end"} else None
    follows = not after or after[0] in _MAY_FOLLOW or (sees and after[0] == "effect")
    follows = follows or (wished and after[0] == "asks")
    return Command(named) if follows else None


def _is_weighed(words: Sequence[reading.Found], place: int) -> bool:
    """Whether a test is the subject of a sentence: "TEST A B would tell them apart"."""
    skipped = ("object", "small", "comma")
    after = (word for word in words[place + 1 : place + 20] if word.kind not in skipped)
    return next(after, words[place]).text.lower() in ("would", "could", "might", "may", "can")


def _named_before(words: Sequence[reading.Found], place: int, said: set[str]) -> Command | None:
    """The objects of a sentence that ends with its verb, as in Japanese."""
    ends = place + 1 == len(words) or words[place + 1].kind in ("stop", "end")
    if not (ends and {"object", "wish"} <= said) or said - _BEFORE - {"object", "wish", "comma"}:
        return None
    named = set[str]()
    for word in reversed(words[max(0, place - 60) : place]):
        if word.kind == "stop":
            break
        named |= {word.text[-1].upper()} if word.kind == "object" else set()
    return Command("".join(sorted(named)))


def _line(words: Sequence[reading.Found], place: int) -> Iterator[reading.Found]:
    """The words from this place to the end of the line."""
    for word in words[place : place + 60]:
        if word.kind == "stop" and word.text == "\n":
            return
        yield word


def _placed(line: Sequence[reading.Found], objects: str) -> tuple[str, list[str]] | None:
    """The objects that open a line, and the kinds of the words that follow them."""
    named, left_out = set[str](), set[str]()
    begun = every = excepted = False
    place = 0
    for place, (kind, _, _, word) in enumerate(line):
        if kind == "object":
            (left_out if excepted else named).add(word[-1].upper())
            begun = True
        elif kind == "all" and not begun:
            named, begun, every = set(objects), True, True
        elif kind == "except" and every and not excepted:
            excepted = True
        elif kind == "nothing" and not begun:
            return "", [each.kind for each in line[place + 1 :] if each.kind != "small"]
        elif kind not in ("small", "comma") and (
            (begun and not every) or kind not in ("open", "number", "intro", "verb")
        ):
            break
    else:
        place = len(line)
    after = [each.kind for each in line[place:]]
    return ("".join(sorted(named - left_out)), after) if begun else None


def _is_final(text: str) -> bool:
    """Whether a text names both blickets and a form, so that it is meant to end the game."""
    said = text.lower()
    return "blicket" in said and "form" in said


_IF = re.compile(
    r"[?]$|(?<!only )\b(?:if(?! and only)|unless|assuming|provided|supposing)\b", re.IGNORECASE
)


def _bare_test(words: Sequence[reading.Found], objects: str) -> Command | None:
    """The test of a reply that names objects and nothing else: "B and C next, please."."""
    begin = (n for n, word in enumerate(words[:20]) if word.kind == "object")
    placed = _placed(words[next(begin, 0) :], objects) if len(words) < 20 else None
    kinds = {word.kind for word in words}
    hinted = kinds & {"intro", "wish"} or any(word.text in _TOGETHER for word in words)
    alone = not kinds - _BEFORE - {"object", "comma", "stop", "wish", "end", "word"}
    others = [word for word in words if word.kind == "word"]
    return Command(placed[0]) if placed and hinted and alone and len(others) < 2 else None


_TOGETHER = {"alone", "itself", "together", "themselves"}


def _bare_answer(text: str, objects: str, rules: Sequence[str]) -> Command | None:
    """The answer of a reply without a command: "The blickets are A and C, it is conjunctive."."""
    said = [
        each for each in re.split(r"(?<=[.!?])\s|(?=\n)", text[-MAX_BARE:]) if not _IF.search(each)
    ]
    return read_answer(" ".join(said), objects, rules)
