"""Metrics, scores, kinds of error, floors, groups and published figures."""

from __future__ import annotations

from trivium.benchmarks.nhop.answer import NhopAnswer
from trivium.benchmarks.nhop.item import NhopItem, true_chain
from trivium.benchmarks.nhop.spec import (
    EXPLICIT_DIAGNOSTICS,
    MAX_HOPS,
    ImplicitSpec,
    NhopView,
    Spec,
)
from trivium.core.benchmark import Floor, Metric, Published
from trivium.core.records import NO_ANSWER, Groups, Scores

CORRECT = Metric("correct", "exact match with the answer")
# Later is better; attempts without a wrong hop are left out, so compare solvers by chain_right.
FIRST_WRONG_HOP = Metric(
    "first_wrong_hop",
    "in steps mode, the first hop whose slot is wrong",
    kind="mean",
    best=MAX_HOPS,
    worst=1.0,
)
CHAIN_RIGHT = Metric(
    "chain_right",
    "in steps mode, the share of hops that are right before the first wrong one",
    "mean",
)
IMPLICIT_METRICS = (CORRECT, FIRST_WRONG_HOP, CHAIN_RIGHT)
EXPLICIT_METRICS = (
    CORRECT,
    Metric("fn_correct", "the chosen line of the last block is the right one"),
    Metric("fn_1_coherent", "its head is reached from y_{n-2} through some shown f_{n-1} line"),
    Metric(
        "fn_2_from_chain",
        "the f_{n-2} block supports y_{n-3} -> y_{n-2}: a property of the item, as in the original",
    ),
    FIRST_WRONG_HOP,
    CHAIN_RIGHT,
)


def gold(item: NhopItem) -> NhopAnswer:
    """The right answer, with every hop that can be derived."""
    chain = true_chain(item)[1:]
    return NhopAnswer(item.answer, (*chain, *[None] * (item.depth - len(chain))))


def score(item: NhopItem, answer: NhopAnswer | None) -> Scores:
    """The value of every metric; None if it is undefined."""
    scores: Scores = {"correct": float(answer is not None and answer.token == item.answer)}
    if item.blocks:
        scores |= _ladder(item, answer)
    return scores | _steps(item, answer)


def _ladder(item: NhopItem, answer: NhopAnswer | None) -> Scores:
    """The original's signals of the last three blocks; None without such a block."""
    chain = true_chain(item)
    n = item.depth
    coherent = from_chain = None
    if len(item.blocks) >= 2 and len(chain) >= n - 1:
        heads = [head for head, tail in item.last_lines if answer and tail == answer.token]
        shown = [(head, tail) for head, function, tail in item.facts if function == f"f{n - 1}"]
        shown += item.blocks[-2].resolved()
        coherent = float(bool(heads) and (chain[n - 2], heads[0]) in shown)
    if len(item.blocks) >= 3 and len(chain) >= n - 1:
        from_chain = float((chain[n - 3], chain[n - 2]) in item.blocks[-3].resolved())
    right = float(answer is not None and answer.token == item.answer)
    return {"fn_correct": right, "fn_1_coherent": coherent, "fn_2_from_chain": from_chain}


def _steps(item: NhopItem, answer: NhopAnswer | None) -> Scores:
    """How far the slots of steps mode are right; None if no slot was filled."""
    if answer is None or not any(answer.steps):
        return {"first_wrong_hop": None, "chain_right": None}
    pairs = enumerate(zip(answer.steps, true_chain(item)[1:], strict=False), 1)
    wrong = next((hop for hop, (slot, true) in pairs if slot != true), None)
    right = item.depth if wrong is None else wrong - 1
    return {
        "first_wrong_hop": None if wrong is None else float(wrong),
        "chain_right": right / item.depth,
    }


def kind(item: NhopItem, answer: NhopAnswer | None) -> str:
    """The kind of an answer, with a position or a hop after a colon."""
    if answer is None:
        return NO_ANSWER
    if answer.token == item.answer:
        return "right"
    if answer.token in item.candidates:
        which = item.candidates.index(answer.token) + 1
        return f"wrong-candidate:{which}" if item.blocks else f"other-chain-end:{which}"
    chain = true_chain(item)
    if answer.token in chain:
        return f"right-chain-wrong-hop:{chain.index(answer.token)}"
    return "off-candidate" if item.blocks else "token-of-the-prompt"


def floor(spec: Spec, view: NhopView) -> Floor:
    """The score of a guess among the possible answers of a spec."""
    candidates = spec.m if isinstance(spec, ImplicitSpec) else spec.block_sizes[-1]
    return Floor("random_candidate", 1 / candidates)


def item_floor(item: NhopItem, view: NhopView) -> Floor:
    """The same for an item without a spec."""
    return Floor("random_candidate", 1 / len(item.candidates))


def groups(item: NhopItem) -> Groups:
    """The fields that results are grouped by: (n, m) or (n, L, k, contexts)."""
    size = len(item.candidates)
    if not item.blocks:
        return {"n": item.depth + 1, "m": size}
    chains = sum(function == "f1" for _, function, _ in item.facts)
    return {"n": item.depth, "L": len(item.blocks), "k": size, "contexts": max(0, chains - 1)}


_SETUP = "temperature 0, M=256, 24 items, seed 7"
IMPLICIT_PUBLISHED = [
    Published(
        "gpt-4.1-mini (published)", {"n": n, "m": m}, correct, _SETUP, {"ablate_inner": False}
    )
    for n, by_m in ((4, {6: 0.833, 8: 0.792}), (6, {6: 0.167, 8: 0.083}), (8, {6: 0.208, 8: 0.167}))
    for m, correct in by_m.items()
]
EXPLICIT_PUBLISHED = [
    Published(
        "gpt-4.1-mini (published)",
        {"n": n, "L": L},
        correct,
        f"{_SETUP}, all three cue controls",
        EXPLICIT_DIAGNOSTICS["all"].spec,
    )
    for n, by_L in ((4, {2: 0.667, 3: 0.708}), (6, {2: 0.208, 3: 0.208}), (8, {2: 0.250, 3: 0.417}))
    for L, correct in by_L.items()
]
