"""How right an answer is, and what kind of wrong."""

from __future__ import annotations

from trivium.benchmarks.nhop.answer import NhopAnswer
from trivium.benchmarks.nhop.item import NhopItem
from trivium.benchmarks.nhop.spec import MAX_HOPS
from trivium.core.benchmark import Metric
from trivium.core.records import Groups, Scores

EM = Metric("em", "exact match with the answer")
FIRST_WRONG_HOP = Metric(
    "first_wrong_hop", "in steps mode, the first hop whose slot is wrong", "mean", MAX_HOPS, 1.0
)
IMPLICIT_METRICS = (EM, FIRST_WRONG_HOP)
EXPLICIT_METRICS = (
    EM,
    Metric("fn_correct", "the chosen line of the last block is the right one"),
    Metric("fn_1_coherent", "its head is reached from y_{n-2} through some shown f_{n-1} line"),
    Metric("fn_2_from_chain", "the f_{n-2} block supports y_{n-3} -> y_{n-2}"),
    FIRST_WRONG_HOP,
)


def true_chain(item: NhopItem) -> list[str]:
    """The tokens from the one in the question as far as the printed lines lead."""
    steps = {(function, head): tail for head, function, tail in item.facts}
    for block in item.blocks:
        steps.update({(block.function, head): tail for head, tail in block.resolved()})
    chain = [item.start]
    for hop in range(1, item.depth + 1):
        after = steps.get((f"f{hop}", chain[-1]))
        if after is None:
            break
        chain.append(after)
    return chain


def gold(item: NhopItem) -> NhopAnswer:
    """The right answer with every hop that can be derived."""
    chain = true_chain(item)[1:]
    steps = [*chain, *[None] * (item.depth - len(chain))]
    return NhopAnswer(item.answer, tuple(steps))


def score(item: NhopItem, answer: NhopAnswer | None) -> Scores:
    """Every metric of an attempt."""
    right = float(answer is not None and answer.token == item.answer)
    scores: Scores = {"em": right}
    if item.blocks:
        scores |= _ladder(item, answer, right)
    scores["first_wrong_hop"] = None if answer is None else _first_wrong(item, answer)
    return scores


def _ladder(item: NhopItem, answer: NhopAnswer | None, right: float) -> Scores:
    """The seed's signals of the last three blocks; undefined where there is no such block."""
    chain = true_chain(item)
    n = item.depth
    coherent = from_chain = None
    if len(item.blocks) >= 2 and len(chain) >= n - 1:
        heads = [
            head for head, tail in item.blocks[-1].resolved() if answer and tail == answer.token
        ]
        shown = [(head, tail) for head, function, tail in item.facts if function == f"f{n - 1}"]
        shown += item.blocks[-2].resolved()
        coherent = float(bool(heads) and (chain[n - 2], heads[0]) in shown)
    if len(item.blocks) >= 3 and len(chain) >= n - 1:
        from_chain = float((chain[n - 3], chain[n - 2]) in item.blocks[-3].resolved())
    return {"fn_correct": right, "fn_1_coherent": coherent, "fn_2_from_chain": from_chain}


def _first_wrong(item: NhopItem, answer: NhopAnswer) -> float | None:
    """The first hop whose slot is wrong; undefined without slots and where all are right."""
    chain = true_chain(item)[1:]
    for hop, (said, true) in enumerate(zip(answer.steps, chain, strict=False), start=1):
        if said != true:
            return float(hop)
    return None


def kind(item: NhopItem, answer: NhopAnswer | None) -> str:
    """What kind of answer this is; what follows a colon says which."""
    if answer is None:
        return "violation"
    if answer.token == item.answer:
        return "right"
    if answer.token in item.candidates:
        which = item.candidates.index(answer.token) + 1
        return f"wrong-candidate:{which}" if item.blocks else f"other-chain-end:{which}"
    chain = true_chain(item)
    if answer.token in chain:
        return f"right-chain-wrong-hop:{chain.index(answer.token)}"
    printed = {token for line in item.facts for token in (line[0], line[2])}
    for block in item.blocks:
        printed.update(*block.resolved())
    if answer.token in printed:
        return "off-candidate" if item.blocks else "token-of-the-prompt"
    return "token-not-in-the-prompt"


def chance(item: NhopItem) -> float:
    """Blind guessing among the tokens that stand where the answer must stand."""
    return 1 / max(1, len(item.candidates))


def groups(item: NhopItem) -> Groups:
    """What results are grouped by: (n, m) or (n, L, k, contexts)."""
    if not item.blocks:
        return {"n": item.depth + 1, "m": len(item.candidates)}
    told = sum(function == "f1" for _, function, _ in item.facts)
    return {
        "n": item.depth,
        "L": len(item.blocks),
        "k": len(item.candidates),
        "contexts": max(0, told - 1),
    }
