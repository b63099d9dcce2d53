"""Metrics, scores, kinds of error, floors, groups and published figures."""

from __future__ import annotations

from trivium.benchmarks.nhop.answer import NhopAnswer
from trivium.benchmarks.nhop.item import UNKNOWN, NhopItem, possible_answers, true_chain
from trivium.benchmarks.nhop.spec import (
    EXPLICIT_DIAGNOSTICS,
    ImplicitSpec,
    NhopView,
    Spec,
)
from trivium.core.benchmark import Ceiling, Floor, Metric, Published
from trivium.core.records import NO_ANSWER, Groups, Scores

METRICS = (
    Metric("correct", "the answer is right"),
    Metric("among_candidates", "the answer is a possible one: the last step of some chain"),
    Metric("steps_right", "in steps mode, the share of steps before the first wrong one", "mean"),
)
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
