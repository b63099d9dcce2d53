"""Writing an answer and reading it back.

The token is what `claims` finds. In steps mode a slot is a function and the token that is said to
be its value; the last filling counts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from trivium.benchmarks.nhop.claims import LEXER, STATED, TOKEN, Reader, all_that_is_said
from trivium.benchmarks.nhop.item import NhopItem
from trivium.benchmarks.nhop.spec import NhopView
from trivium.core import reading
from trivium.core.languages import in_english


@dataclass(frozen=True, slots=True)
class NhopAnswer:
    """The token that was named, and in steps mode the token in every slot."""

    token: str
    steps: tuple[str | None, ...] = ()  # empty where no slot was filled


def write(item: NhopItem, answer: NhopAnswer, view: NhopView) -> str:
    """The reply that states this answer."""
    if view.mode == "direct":
        return answer.token
    slots = answer.steps if view.mode == "steps" else ()
    lines = [f"f{hop}: {token}" for hop, token in enumerate(slots, 1) if token is not None]
    return "\n".join([*lines, f"Answer: {answer.token}"])


def strict(item: NhopItem, replies: Sequence[str], view: NhopView) -> bool:
    """Whether the last reply is what was asked for; free mode asks for its last line only."""
    reply = replies[-1].strip()
    said = reply.rpartition("\n")[2] if view.mode == "free" else reply
    token = said.rpartition(" ")[2]
    slots = _slots(said, item.depth) if view.mode == "steps" else ()
    is_token = _LAST_TOKEN.fullmatch(token) is not None and token.isupper()
    return is_token and said == write(item, NhopAnswer(token, slots), view)


_LAST_TOKEN = re.compile(rf"{TOKEN}$")
# "If I followed the chain correctly, X" and "If I had to guess, X" suppose nothing about X.
_IF_RIGHT = re.compile(
    r"\b(?:if|assuming|unless) (?:(?:i|i'm|i've|my|we|you)\b[^,.:\n]{0,80}\b(?:mistaken|right"
    r"|correct(?:ly)?|well|properly|errors?|mistakes?|wrong|guess|choose|pick|bet|decide|insist)"
    r"|(?:forced|pressed|pushed))\b[^,.:\n]{0,20}[,:]?",
    re.IGNORECASE,
)
_LOOSE = re.compile(
    r"(?<![A-Za-z0-9_])([A-Za-z]{1,4})(?:[\s-]?| underscore )([0-9]{1,18})(?![A-Za-z0-9_])",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"(?:\W{0,3}question|q)\b.{0,20}:", re.IGNORECASE)
MAX_PHRASE = 200  # characters of a reply that is compared as a whole with other spellings


def parse(item: NhopItem, replies: Sequence[str], view: NhopView) -> NhopAnswer | None:
    """The answer in the last reply; None where it states none."""
    text = reading.chosen_option(reading.plain(replies[-1], "Answer: ").replace('"', ""))
    spellings = {normalise(spelling): item.answer for spelling in item.accepted}
    if len(replies[-1]) < MAX_PHRASE and normalise(text) in spellings:
        return NhopAnswer(item.answer)
    known = {token for head, _, tail in item.triples() for token in (head, tail)}
    text = in_english(_LOOSE.sub(lambda found: _token_in(found, known), text))
    text = _IF_RIGHT.sub("", text)
    reader = Reader({token.partition("_")[0].upper() for token in item.candidates})
    for sentence in reading.sentences(text):
        if reader.token and _QUESTION.match(sentence) and item.start not in sentence.upper():
            break  # it goes on with a question of its own
        reader.read(sentence)
    token = reader.token
    if _breaks_off(text, known) and reader.claim.strength < STATED:
        token = None  # what stands before are steps on the way
    if token is None and len(text) < MAX_PHRASE:
        token = all_that_is_said(text)
    if token is None:
        return None
    slots = _slots(text, item.depth) if view.mode == "steps" else ()
    return NhopAnswer(spellings.get(token, token), slots)


def _breaks_off(text: str, known: set[str]) -> bool:
    """Whether a text ends inside a token: with one that the item lacks and too few digits."""
    last = _LAST_TOKEN.search(text[-40:])
    shortest = min(map(len, known), default=0)
    return last is not None and last[0].upper() not in known and len(last[0]) < shortest


def normalise(text: str) -> str:
    """A token or a short reply without case, spaces and decoration."""
    return "".join(text.split()).strip("\"'`*_.<>()[]").upper()


def _token_in(found: re.Match[str], known: set[str]) -> str:
    """A token of the item that is written without its underscore, such as F0824."""
    token = f"{found[1].upper()}_{found[2]}"
    return token if token in known else found[0]


def _slots(text: str, depth: int) -> tuple[str | None, ...]:
    """The token in every slot, the last filling of each; empty where none is filled."""
    filled: dict[int, str] = {}
    for line in text.split("\n"):
        hop, fresh = None, True
        for kind, word in LEXER.symbols(line):
            if kind == "slot":
                # In "f2 of f1 of A_0001 = C_0003" the first function has the value.
                hop = int(re.sub(r"\D", "", word)) if fresh or hop is None else hop
                fresh = False
            elif kind == "token" and hop is not None:
                filled[hop] = word.upper()
                fresh = True
            elif kind == "cue":
                hop = None
    slots = tuple(filled.get(hop) for hop in range(1, depth + 1))
    return slots if any(slots) else ()
