"""Writing an answer and reading it back by the answer contract."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from trivium.benchmarks.nhop.item import UNKNOWN, NhopItem
from trivium.benchmarks.nhop.spec import NhopView
from trivium.benchmarks.nhop.surface import surface_of
from trivium.core.reading import answer_line, find_answer, object_schema, raises_doubt


@dataclass(frozen=True, slots=True)
class NhopAnswer:
    """The answer's token, and in steps mode the token in every slot."""

    token: str
    steps: tuple[str | None, ...] = ()  # empty if no slot was filled


def write(item: NhopItem, answer: NhopAnswer, view: NhopView) -> str:
    """The reply that states this answer."""
    word = surface_of(item, view).word
    if view.mode == "direct":
        return word(answer.token)
    slots = answer.steps if view.mode == "steps" else ()
    filled = [(f"f{hop}", token) for hop, token in enumerate(slots, 1) if token is not None]
    lines = [f"{word(function)}: {word(token)}" for function, token in filled]
    return "\n".join([*lines, answer_line(word(answer.token))])


def schema(item: NhopItem, view: NhopView) -> dict[str, Any]:
    """The JSON schema of an answer."""
    word = surface_of(item, view).word
    hops = range(1, item.depth + 1) if view.mode == "steps" else ()
    slots = [word(f"f{hop}").replace(" ", "_") for hop in hops]
    fields = {name: {"type": "string"} for name in [*slots, "answer"]}
    return object_schema(fields)


_TOKEN = re.compile(r"(?<![A-Za-z0-9_])([A-Za-z]{1,4})_([0-9]{1,18})(?![A-Za-z0-9_])")
_VALUE = re.compile(r"([A-Za-z]{1,4})[_ -]?([0-9]{1,18})")
_SLOT = re.compile(r"(?:^|;)\W{0,5}f(\d{1,3})\b[^:=|\n]{0,40}[:=|]([^;\n]{0,80})", re.M | re.I)
# A reply without an ANSWER line may still say "..., so it is D_0441." and leave no doubt.
_CLAIM = re.compile(r"(?:\bis|[:=>]) ?([A-Za-z]{1,4})_([0-9]{1,18})[.!]?$", re.M | re.I)
_DENIAL = re.compile(r"\b(?:not|no|never|neither|nor|cannot|wrong|incorrect)\b|n't\b", re.I)


def parse(item: NhopItem, replies: Sequence[str], view: NhopView) -> NhopAnswer | None:
    """The answer in the last reply, or None."""
    stated = find_answer(surface_of(item, view).symbols(replies[-1]))
    token = next(filter(None, (_value(text, item) for text in stated.values)), None)
    if token is None and not stated.labelled:
        token = _only_claim(stated.text, item)
    if token is None or set(_tokens(stated.after)) & set(item.candidates) - {token}:
        return None  # the text after the answer names another one
    return NhopAnswer(token, _slots(stated.text, item.depth) if view.mode == "steps" else ())


def _value(text: str, item: NhopItem) -> str | None:
    """The token of the prompt that a value names."""
    if text.casefold() in map(str.casefold, item.accepted):
        return item.answer
    if item.may_be_unknown and text.casefold() == UNKNOWN:
        return UNKNOWN
    found = _VALUE.fullmatch(text)
    printed = {token for head, _, tail in item.triples() for token in (head, tail)}
    return _spelled(found) if found and _spelled(found) in printed else None


def _only_claim(text: str, item: NhopItem) -> str | None:
    """The only candidate that a text names, if it claims it without doubt."""
    layers = {token.partition("_")[0] for token in item.candidates}
    named = {token for token in _tokens(text) if token.partition("_")[0] in layers}
    claimed = {_spelled(found) for found in _CLAIM.finditer(text)} & set(item.candidates)
    if claimed != named or len(named) != 1 or _DENIAL.search(text) or raises_doubt(text):
        return None
    return named.pop()


def _tokens(text: str) -> list[str]:
    return [_spelled(found) for found in _TOKEN.finditer(text)]


def _slots(text: str, depth: int) -> tuple[str | None, ...]:
    """The last token in every slot; empty if no slot is filled."""
    filled: dict[int, str] = {}
    for slot in _SLOT.finditer(text):
        if tokens := _tokens(slot[2]):
            filled[int(slot[1])] = tokens[-1]
    slots = tuple(filled.get(hop) for hop in range(1, depth + 1))
    return slots if any(slots) else ()


def _spelled(found: re.Match[str]) -> str:
    return f"{found[1].upper()}_{found[2]}"
