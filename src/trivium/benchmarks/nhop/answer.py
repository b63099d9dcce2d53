"""Writing an answer and reading it back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from trivium.benchmarks.nhop.item import NhopItem
from trivium.benchmarks.nhop.spec import NhopView


@dataclass(frozen=True, slots=True)
class NhopAnswer:
    """The token that was named, and in steps mode the token in every slot."""

    token: str
    steps: tuple[str | None, ...] = ()


def write(item: NhopItem, answer: NhopAnswer, view: NhopView) -> str:
    """The reply that states this answer."""
    if view.mode == "direct":
        return answer.token
    slots = answer.steps if view.mode == "steps" else ()
    lines = [f"f{hop}: {token}" for hop, token in enumerate(slots, 1) if token is not None]
    return "\n".join([*lines, f"Answer: {answer.token}"])


# What may surround a token without mattering: quotes, backticks, emphasis, brackets.
_AROUND = "[\\s\"'`*_<>()\\[\\]\u2018\u2019\u201c\u201d]{0,9}"
_NAME = r"(?<![A-Za-z0-9])([A-Za-z]{1,4})\s{0,9}_\s{0,9}([0-9]{1,18})(?![A-Za-z0-9])"
_TOKEN = re.compile(_NAME)
_STATED = re.compile(rf"answer{_AROUND}(?:is\s{{0,9}}:?|:|=|->){_AROUND}{_NAME}", re.IGNORECASE)
_SLOT = re.compile(rf"\bf([0-9]{{1,3}}){_AROUND}[:=]{_AROUND}{_NAME}", re.IGNORECASE)


def normalise(text: str) -> str:
    """A token or a short reply without case, spaces and decoration."""
    return "".join(text.split()).strip("\"'`*_.<>()[]\u2018\u2019\u201c\u201d").upper()


def parse(item: NhopItem, replies: Sequence[str], view: NhopView) -> NhopAnswer | None:
    """The answer in the last reply; None where it states none."""
    reply = replies[-1].replace("\\_", "_")  # as Markdown writes an underscore
    accepted = {normalise(spelling): item.answer for spelling in item.accepted}
    if len(reply) < 200 and (whole := normalise(reply)) in accepted:
        return NhopAnswer(accepted[whole])
    named = [_token(*found.groups()) for found in _TOKEN.finditer(reply)]
    stated = [_token(*found.groups()) for found in _STATED.finditer(reply)]
    several = view.mode == "direct" and not stated and len(set(named)) > 1
    if not named or several:
        return None
    token = (stated or named)[-1]
    if view.mode != "steps":
        return NhopAnswer(accepted.get(token, token))
    # The last filling of a slot counts.
    slots = {int(found[1]): _token(found[2], found[3]) for found in _SLOT.finditer(reply)}
    steps = tuple(slots.get(hop) for hop in range(1, item.depth + 1))
    return NhopAnswer(accepted.get(token, token), steps)


def _token(letters: str, number: str) -> str:
    return f"{letters.upper()}_{number}"
