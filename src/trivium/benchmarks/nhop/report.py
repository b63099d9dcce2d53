"""What reports say about n-hop items: chart axes, kinds of answers, highlights, the headline."""

from __future__ import annotations

from trivium.benchmarks.nhop.item import NhopItem, true_chain
from trivium.core.benchmark import ChartAxis, Lifts

HOPS = ChartAxis("n", "hops", "hop")
EXPLICIT_AXES = (HOPS, ChartAxis("L"))
IMPLICIT_AXES = (HOPS, ChartAxis("m"))
KINDS = {
    "wrong-candidate": "another token of the last block; the number is its position",
    "off-candidate": "a token of the prompt that the last block does not lead to",
    "other-chain-end": "the end of another chain; the number is its position",
    "right-chain-wrong-hop": "a token of the right chain, but of this hop",
    "token-of-the-prompt": "another token of the prompt",
}
COMPOSED = 0.5  # the lift at which a number of hops counts as composed
RULE = (
    "“Composes N hops”: the lift is at least 0.5 up to N hops; "
    "“fails from”: the first number of hops where it is not."
)


def highlights(item: NhopItem) -> list[str]:
    """The printed lines that lead from the start to the answer."""
    hops = {(head, f"f{hop}") for hop, head in enumerate(true_chain(item), start=1)}
    lines = [(head, f, tail) for head, f, tail in item.facts if (head, f) in hops]
    aliases = []
    for block in item.blocks:
        for head, function, tail in block.lines:
            token = block.aliases.get(head, head)
            if (token, function) in hops:
                lines.append((head, function, tail))
                aliases += [f"{head} = {token}"] * (head in block.aliases)
    return [f"{head} ->{function}-> {tail}" for head, function, tail in lines] + aliases


def headline_sentence(lifts: Lifts, source: str) -> str:
    """The number of hops up to which a solver composes, and the first at which it fails."""
    by_hops = lifts.by_axis
    fails = next((n for n, lift in by_hops.items() if (lift.value or 0.0) < COMPOSED), None)
    composed = [n for n in by_hops if fails is None or n < fails]
    if composed:
        sentence = f"composes {composed[-1]} hops {source}"
        return sentence if fails is None else f"{sentence}, fails from {fails}"
    if any(lift.is_above(0) for lift in by_hops.values()):
        return f"composes some items of {fails} hops {source}"
    return f"does not compose {fails} hops {source}"
