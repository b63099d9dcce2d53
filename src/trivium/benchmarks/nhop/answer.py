"""Writing an answer and reading it back by the answer contract."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from trivium.benchmarks.nhop.item import NhopItem
from trivium.benchmarks.nhop.spec import NhopView
from trivium.core.reading import answer_line, find_answer


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
    return "\n".join([*lines, answer_line(answer.token)])


def schema(item: NhopItem, view: NhopView) -> dict[str, Any]:
    """The JSON schema of an answer."""
    slots = [f"f{hop}" for hop in range(1, item.depth + 1)] if view.mode == "steps" else []
    fields = {name: {"type": "string"} for name in [*slots, "answer"]}
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


_TOKEN = re.compile(r"(?<![A-Za-z0-9_])([A-Za-z]{1,4})_([0-9]{1,18})(?![A-Za-z0-9_])")
_VALUE = re.compile(r"([A-Za-z]{1,4})[_ -]?([0-9]{1,18})(?![A-Za-z0-9_])")
_SLOT = re.compile(r"(?:^|;)\W{0,5}f(\d{1,3})\b[^:=|\n]{0,40}[:=|]([^;\n]{0,80})", re.M | re.I)
# Without an ANSWER line, a reply with any of these may take back the token that it names.
_DOUBT = re.compile(
    r"\b(?:not|no|never|neither|nor|cannot|if|or|either|unless|maybe|might|wrong)\b|n't\b|\?", re.I
)


def parse(item: NhopItem, replies: Sequence[str], view: NhopView) -> NhopAnswer | None:
    """The answer in the last reply; None where it states none."""
    stated = find_answer(replies[-1])
    tokens = (_value(text, item) for text in stated.values)
    token = next(filter(None, tokens), None)
    if token is None and not stated.labelled and not _DOUBT.search(stated.text):
        token = _only_token(stated.text, item)
    if token is None:
        return None
    return NhopAnswer(token, _slots(stated.text, item.depth) if view.mode == "steps" else ())


def _value(text: str, item: NhopItem) -> str | None:
    """The token that a value is, or opens with before a remark that names no other candidate."""
    if text.casefold() in map(str.casefold, item.accepted):
        return item.answer
    found = _VALUE.match(text)
    remark = text[found.end() :] if found else ""
    if found is None or (remark and (remark[0] not in ".,;:( -" or _DOUBT.search(remark))):
        return None
    others = {_spelled(other) for other in _TOKEN.finditer(remark)}
    return None if others & set(item.candidates) else _spelled(found)


def _only_token(text: str, item: NhopItem) -> str | None:
    """The one token of the asked layer that a text names; None where it names several or none."""
    layers = {token.partition("_")[0] for token in item.candidates}
    tokens = {_spelled(found) for found in _TOKEN.finditer(text)}
    asked = [token for token in tokens if token.partition("_")[0] in layers]
    return asked[0] if len(asked) == 1 else None


def _slots(text: str, depth: int) -> tuple[str | None, ...]:
    """The token in every slot, the last filling of each; empty where none is filled."""
    filled: dict[int, str] = {}
    for slot in _SLOT.finditer(text):
        tokens = [_spelled(found) for found in _TOKEN.finditer(slot[2])]
        if tokens:
            filled[int(slot[1])] = tokens[-1]
    slots = tuple(filled.get(hop) for hop in range(1, depth + 1))
    return slots if any(slots) else ()


def _spelled(found: re.Match[str]) -> str:
    return f"{found[1].upper()}_{found[2]}"
