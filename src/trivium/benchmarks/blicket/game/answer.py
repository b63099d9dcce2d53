"""The moves of a player: tests and answers as lines of text, written and read, and as tools."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from trivium.benchmarks.blicket.game.generate import GameAnswer
from trivium.benchmarks.blicket.game.spec import EXAMPLES, UNSURE
from trivium.benchmarks.blicket.inference.hypotheses import FORMS, INHIBITOR
from trivium.core.benchmark import answer_line
from trivium.core.reading import (
    are_options,
    find_answer,
    plain,
    raises_doubt,
    read_fields,
    read_list,
    stripped,
    takes_back,
    without_remarks,
)

Move = str | GameAnswer  # the objects of a test, or an answer


def write_test(objects: str) -> str:
    """The line that asks for a test."""
    return f"TEST {_listed(objects)}"


def write_answer(answer: GameAnswer) -> str:
    """The line that gives an answer."""
    fields = [f"blickets {_listed(answer.blickets)}", f"form {answer.form}"]
    if answer.inhibitors or answer.form == INHIBITOR:
        fields.append(f"inhibitors {_listed(answer.inhibitors)}")
    if answer.unsure:
        fields.append(f"unsure {_listed(answer.unsure)}")
    return answer_line("; ".join(fields))


def _listed(objects: str) -> str:
    return ", ".join(objects) or "none"


_LIST = r"(?:none|[A-Z](?:, [A-Z])*)"
_ASKED = re.compile(
    rf"TEST {_LIST}|ANSWER: blickets {_LIST}; form [a-z]+(?:-[1-9])?"
    rf"(?:; inhibitors {_LIST})?(?:; unsure {_LIST})?"
)


def strict(item: object, replies: Sequence[str], view: object) -> bool:
    """Whether every reply ends with a move in exactly the requested form, the last an answer."""
    moves = [reply.strip().rpartition("\n")[2] for reply in replies]
    return all(map(_ASKED.fullmatch, moves)) and moves[-1].startswith("ANSWER")


# A line that begins with TEST or "test:", or with "test" followed only by objects; "test:" may also
# be an entry of JSON.
_TEST = re.compile(r"(?:^[ \t\"'(\[{]*|; (?=test:))(test)\b[\"'\])]*[ \t]*([:=|]?)", re.I | re.M)
_ANSWER = re.compile(r"^[^\w\n]{0,9}(?:final )?answer\b", re.I | re.M)
# Between two moves of one reply: an offer of both, or what the machine is made out to do.
_NO_CHOICE = re.compile(
    r"\bor\b|^[^\w\n]{0,9}(?:test \d|(?:the )?machine\b|it (?:lights|stays)\b)", re.I | re.M
)
_LAST_ON_LINE = re.compile(r"^(.*)\b(?:TEST|ANSWER)\b", re.M)
_NAMES = rf"(?-i:[A-H]+)|{'|'.join((*FORMS, *EXAMPLES))}"
_OPENS_LINE = re.compile(r"\W*(?:(?:my|the) )?(?:final )?", re.IGNORECASE)


@lru_cache(maxsize=512)  # a game is replayed at every turn
def read_move(reply: str, objects: str, rules: tuple[str, ...] = ()) -> Move | None:
    """The move on the last TEST or ANSWER line of a reply; None if it cannot be read.

    `rules` are the possible forms of an answer after demonstrations.
    """
    text = plain(without_remarks(reply, _NAMES))
    moves = [*_LAST_ON_LINE.finditer(text)]
    if moves and not _OPENS_LINE.fullmatch(moves[-1][1]):
        return None  # a sentence below the line names another move
    tests: list[tuple[re.Match[str], str | None]] = []  # the last one first
    end = len(text)
    for label in reversed([*_TEST.finditer(text)]):
        placed = _placed(text[label.end() : end].lstrip(" "), objects)
        if placed is not None or label[2] or label[1] == "TEST":
            tests.append((label, placed))
        end = label.start()
    below = text[tests[0][0].end() :] if tests else text
    stated = find_answer(below, _FIELDS.values())
    if tests and not stated.labelled:
        (last, placed), *tests = tests
        move: Move | None = None if takes_back(below.partition("\n")[2]) else placed
        end = last.start()
        if _ANSWER.match(text[:end].rstrip().rpartition("\n")[2]):
            return None  # an answer, and a test right below it
    else:
        answers = (_read_answer(value, objects, rules) for value in stated.values)
        move = next(filter(None, answers), None)
        line = _ANSWER.search(text, len(text) - len(below))
        end = line.start() if line else len(text)
    if tests and tests[0][1] != move and are_options(text[: tests[0][0].start()], text[:end]):
        return None
    return None if tests and _leaves_two(*tests[0], move, text[:end]) else move


def _leaves_two(label: re.Match[str], placed: str | None, move: Move | None, text: str) -> bool:
    """Whether the text between a test and the next move chooses neither of them."""
    between = text[label.end() :].partition("\n")[2]
    offers = not between.strip() or _NO_CHOICE.search(between) is not None
    return offers and placed not in (None, move)


def _placed(text: str, objects: str) -> str | None:
    """The objects of a test, in the paragraph, the line, or its first sentence."""
    paragraph = text.partition("\n\n")[0]
    line = paragraph.partition("\n")[0]
    sentence, _, remark = line.partition(". ")
    values = [paragraph, line] + [sentence] * (not raises_doubt(remark))
    placed = (_objects(stripped(value), objects) for value in values)
    return next((found for found in placed if found is not None), None)


_FIELDS = {"blickets": "blickets?", "form": "form", "inhibitors": "inhibitors?", "unsure": "unsure"}
_FIELD = re.compile(r"(?:,\s*|\s+)(?=(?:form|inhibitors)\b)|,\s*(?=unsure\b)", re.IGNORECASE)
_FORM = re.compile(r"conjunctive|disjunctive|parity|inhibitor|threshold-[1-9]")


def _read_answer(text: str, objects: str, rules: Sequence[str]) -> GameAnswer | None:
    """The answer in a value; None if a part is missing, unknown or contradicts another."""
    fields = read_fields(_FIELD.sub(";", text), _FIELDS)
    if fields is None or not {"blickets", "form"} <= set(fields):
        return None
    form = re.sub(r"\bthreshold\s", "threshold-", fields["form"].casefold())
    known = form in rules if UNSURE in rules else _FORM.fullmatch(form) is not None
    if form == INHIBITOR and "inhibitors" not in fields:
        return None
    blickets = _objects(fields["blickets"], objects)
    inhibitors = _objects(fields.get("inhibitors", "none"), objects)
    unsure = _objects(fields.get("unsure", "none"), objects)
    if not known or blickets is None or inhibitors is None or unsure is None:
        return None
    named = blickets + inhibitors + unsure
    if len(set(named)) < len(named) or (unsure and UNSURE not in rules):
        return None
    return GameAnswer(blickets, form, inhibitors, unsure=unsure)


_BETWEEN = re.compile(r"(?:\b(?:objects?|and)\b|[\s,;&+\"'\[\]{}])+", re.IGNORECASE)


def _objects(text: str, objects: str) -> str | None:
    """The sorted letters of a list such as "A, B" or "AB"; "" for "none", None for other texts."""
    if not text.strip():
        return None
    if not read_list(text):
        return ""
    names = [name for name in _BETWEEN.split(text) if name]
    named = set("".join(names).upper())
    in_order = all(name.isupper() or [*name] == sorted(name) for name in names)  # "ab", not "bad"
    return "".join(sorted(named)) if names and named <= set(objects) and in_order else None


# The moves as tools for models; their names and docstrings are part of the prompt.


def place(objects: list[str]) -> str:
    """Put these objects on the machine, and nothing else, and see whether it lights up.

    Args:
        objects: The letters of the objects, such as A and B; none for an empty machine.
    """
    return write_test("".join(objects))


def answer(blickets: list[str], form: str, inhibitors: list[str] | None = None) -> str:
    """Say how the machine works, once; the game ends with it.

    Args:
        blickets: The letters of the objects that are blickets.
        form: The way in which the machine works, by its name in the rules.
        inhibitors: The letters of the objects that are inhibitors, if there are any.
    """
    return write_answer(GameAnswer("".join(blickets), form, "".join(inhibitors or ())))


def answer_after_examples(blickets: list[str], form: str, unsure: list[str] | None = None) -> str:
    """Say how the new machine works, once; the game ends with it.

    Args:
        blickets: The letters of the objects that are blickets.
        form: Which machine the new one works like: striped, dotted or unsure.
        unsure: The letters of the objects that you are not sure about, if there are any.
    """
    return write_answer(GameAnswer("".join(blickets), form, unsure="".join(unsure or ())))


answer_after_examples.__name__ = answer.__name__
TOOLS = (place, answer)
TOOLS_AFTER_EXAMPLES = (place, answer_after_examples)
