"""Answers: written, read back by the answer contract, scored and classified."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from trivium.benchmarks.nhop.item import UNKNOWN, NhopItem, possible_answers, true_chain
from trivium.benchmarks.nhop.render import surface_of
from trivium.benchmarks.nhop.spec import (
    EXPLICIT_DIAGNOSTICS,
    ImplicitSpec,
    NhopView,
    Spec,
)
from trivium.core.benchmark import Ceiling, Floor, Metric, Published, answer_line, object_schema
from trivium.core.reading import find_answer, raises_doubt, stripped
from trivium.core.records import NO_ANSWER, Groups, Scores


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
_SLOT = re.compile(
    r"(?:^|(?<=[;,|>])|(?<=\d)\s)\W{0,5}f(\d{1,3})\b[^:=|\n]{0,40}[:=|]"
    r"((?:(?! f\d{1,3} ?[:=|])[^;\n]){0,80})",
    re.M | re.I,
)
_ASIDE = re.compile(r"\([^()\n]{0,200}\)")
# A reply without an ANSWER line may still say "..., so it is D_0441." and leave no doubt.
_CLAIM = re.compile(r"(?:\bis|[:=>]) ?([A-Za-z]{1,4})_([0-9]{1,18})[.!]? ?$", re.M | re.I)
_DENIAL = re.compile(
    r"\b(?:not|no|never|neither|nor|cannot|wrong|incorrect|whether|doubt)\b|n't\b", re.I
)


def parse(item: NhopItem, replies: Sequence[str], view: NhopView) -> NhopAnswer | None:
    """The answer in the last reply, or None."""
    stated = find_answer(surface_of(item, view).symbols(replies[-1]))
    values = [*stated.values, *map(_before_remark, stated.values if stated.labelled else ())]
    token = next(filter(None, (_value(text, item) for text in values)), None)
    if token is None and stated.values:
        token = _only_claim(stated.values[-1] if stated.labelled else stated.text, item)
    said = "\n".join([*stated.values, stated.after])
    if token is None or set(_tokens(said)) & set(item.candidates) - {token}:
        return None  # the answer, or the text after it, names another one
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


def _before_remark(text: str) -> str:
    """The text before its first comma, if what follows raises no doubt."""
    value, _, remark = text.partition(", ")
    return text if raises_doubt(remark) or _DENIAL.search(remark) else value


def _only_claim(text: str, item: NhopItem) -> str | None:
    """The only candidate that a text about this question names, if it claims it without doubt."""
    layers = {token.partition("_")[0] for token in item.candidates}
    tokens = set(_tokens(text))
    named = {token for token in tokens if token.partition("_")[0] in layers}
    if len(named) != 1 or not named <= set(item.candidates):
        return None
    first, _, rest = text.partition("\n")  # a value may be all of the first or the last line
    ends = (_VALUE.fullmatch(stripped(line)) for line in (first, rest.rpartition("\n")[2]))
    if not named & {_spelled(found) for found in ends if found}:
        layer = item.start.partition("_")[0]
        other = any(token.partition("_")[0] == layer for token in tokens - {item.start})
        if other or named != {_spelled(found) for found in _CLAIM.finditer(text)} & named:
            return None
    unknown = item.may_be_unknown and UNKNOWN in text.lower()
    return None if unknown or _DENIAL.search(text) or raises_doubt(text) else named.pop()


def _tokens(text: str) -> list[str]:
    return [_spelled(found) for found in _TOKEN.finditer(text)]


def _slots(text: str, depth: int) -> tuple[str | None, ...]:
    """The last token in every slot; empty if no slot is filled."""
    filled: dict[int, str] = {}
    for slot in _SLOT.finditer(_ASIDE.sub("", text)):
        doubted = raises_doubt(slot[2]) or _DENIAL.search(slot[2])
        if not doubted and (tokens := _tokens(slot[2])):
            filled[int(slot[1])] = tokens[-1]
    slots = tuple(filled.get(hop) for hop in range(1, depth + 1))
    return slots if any(slots) else ()


def _spelled(found: re.Match[str]) -> str:
    return f"{found[1].upper()}_{found[2]}"


METRICS = (
    Metric("correct", "the answer is right"),
    Metric("among_candidates", "the answer is a possible one: the last step of some chain"),
    Metric("steps_right", "in steps mode, the share of steps before the first wrong one", "mean"),
)
KINDS = {
    "wrong-step": "in steps mode: the number is the first step whose slot is wrong",
    "wrong-candidate": "another possible answer; the number is its printed position",
    "stopped-early": "a token of the right chain before its end; the number is its step",
    "called-unknown": "called unknown, although the facts lead to an answer",
    "unsupported": "an answer, although a fact that it needs is missing",
    "other-token": "a token beside the right chain, no possible answer; the number is its step",
}
ALWAYS_UNKNOWN = Floor("always unknown", 0.5)


def gold(item: NhopItem) -> NhopAnswer:
    """The right answer, with every hop that can be derived."""
    chain = true_chain(item)[1:]
    return NhopAnswer(item.answer, (*chain, *[None] * (item.depth - len(chain))))


def score(item: NhopItem, answer: NhopAnswer | None) -> Scores:
    """The value of every metric; None if it is undefined."""
    token = None if answer is None else answer.token
    right = None
    if answer is not None and answer.steps:
        right = ((_first_wrong_step(item, answer) or item.depth + 1) - 1) / item.depth
    return {
        "correct": float(token == item.answer),
        "among_candidates": float(token in item.candidates or token == UNKNOWN),
        "steps_right": right,
    }


def _first_wrong_step(item: NhopItem, answer: NhopAnswer) -> int | None:
    """The first step whose slot is wrong or empty; None if there is none, or no slots at all."""
    pairs = enumerate(zip(answer.steps, true_chain(item)[1:], strict=False), 1)
    return next((step for step, (slot, true) in pairs if slot != true), None)


def kind(item: NhopItem, answer: NhopAnswer | None) -> str:  # noqa: PLR0911 - one for each kind
    """The kind of an answer, with a step or a position after a colon."""
    if answer is None:
        return NO_ANSWER
    token = answer.token
    if token == item.answer:
        return "right"
    if UNKNOWN in (token, item.answer):
        return "called-unknown" if token == UNKNOWN else "unsupported"
    if wrong := _first_wrong_step(item, answer):
        return f"wrong-step:{wrong}"
    if token in item.candidates:
        return f"wrong-candidate:{item.candidates.index(token) + 1}"
    chain = true_chain(item)
    if token in chain:
        return f"stopped-early:{chain.index(token)}"
    functions = [f"f{hop}" for hop in range(1, item.depth + 1)]
    steps = (
        functions.index(function) + (token == tail)
        for head, function, tail in item.triples()
        if token in (head, tail) and function in functions
    )
    return f"other-token:{next(steps, '')}"


def floor(spec: Spec, view: NhopView) -> Floor:
    """The score of a guess among the possible answers of a spec, or of "unknown" if mixed."""
    if spec.answerable == "mixed":
        return ALWAYS_UNKNOWN
    return Floor("random_candidate", 1 / spec.alternatives)


def item_floor(item: NhopItem, view: NhopView) -> Floor:
    """The same for an item without a spec."""
    if item.may_be_unknown:
        return ALWAYS_UNKNOWN
    return Floor("random_candidate", 1 / len(item.candidates))


def ceiling(spec: Spec, view: NhopView) -> Ceiling:
    """Perfect, or a guess among all chains where a bag leaves out a relation.

    The bag then shows m beginnings and m ends of chains, all pairings of which are equally likely.
    """
    if isinstance(spec, ImplicitSpec) and spec.ablate_inner:
        return Ceiling("oracle", 1 / spec.m)
    return Ceiling()


def item_ceiling(item: NhopItem, view: NhopView) -> Ceiling:
    """A guess among the answers that an item without a spec leaves open."""
    if item.may_be_unknown:
        return Ceiling()
    return Ceiling("oracle", 1 / len(possible_answers(item)))


def groups(item: NhopItem) -> Groups:
    """The fields that results are grouped by: steps with m, or with L, k and contexts."""
    known = {"answerable": item.answer != UNKNOWN} if item.may_be_unknown else {}
    if not item.blocks:
        return {"steps": item.depth, "m": item.chains, **known}
    contexts = max(0, sum(function == "f1" for _, function, _ in item.facts) - 1)
    sizes = {"L": len(item.blocks), "k": item.chains, "contexts": contexts}
    return {"steps": item.depth, **sizes, **known}


_WHOLE = {"ablate_inner": False, "answerable": "always"}
_SETUP = "temperature 0, M=256, 24 items, seed 7"
IMPLICIT_PUBLISHED = [
    Published("gpt-4.1-mini (published)", {"steps": n - 1, "m": m}, value, _SETUP, _WHOLE)
    for n, by_m in ((4, {6: 0.833, 8: 0.792}), (6, {6: 0.167, 8: 0.083}), (8, {6: 0.208, 8: 0.167}))
    for m, value in by_m.items()
]
EXPLICIT_PUBLISHED = [
    Published(
        "gpt-4.1-mini (published)",
        {"steps": n, "L": L},
        value,
        f"{_SETUP}, all three cue controls",
        EXPLICIT_DIAGNOSTICS["all"].spec,
    )
    for n, by_L in ((4, {2: 0.667, 3: 0.708}), (6, {2: 0.208, 3: 0.208}), (8, {2: 0.250, 3: 0.417}))
    for L, value in by_L.items()
]
