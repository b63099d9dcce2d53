"""What reports say about n-hop items: highlights, and the headline."""

from __future__ import annotations

from itertools import takewhile

from trivium.benchmarks.nhop.item import NhopItem, true_chain
from trivium.benchmarks.nhop.render import surface_of
from trivium.benchmarks.nhop.spec import NhopView
from trivium.core.benchmark import Lifts

COMPOSED = 0.5  # the lift at which a number of steps counts as composed
RULE = (
    "“Composes N steps”: at every number of steps up to N, the interval of the lift is at or "
    "above 0.5; “fails from”: the interval of the next number is below 0.5; “unclear from”: "
    "it includes 0.5."
)


def highlights(item: NhopItem, view: NhopView) -> list[str]:
    """The printed lines that lead from the start to the answer."""
    words = surface_of(item, view)
    hops = {(head, f"f{hop}") for hop, head in enumerate(true_chain(item), start=1)}
    lines = [words.line(line) for line in item.facts if (line[0], line[1]) in hops]
    for block in item.blocks:
        for line, (token, _) in zip(block.lines, block.resolved(), strict=True):
            if (token, block.function) in hops:
                lines.append(words.line(line))
                if line[0] in block.aliases:
                    lines.append(words.nickname.format(words.word(line[0]), words.word(token)))
    return lines


def headline_sentence(lifts: Lifts, source: str) -> str:
    """The number of steps that a solver composes, and what is known of the next one."""
    steps = list(lifts.by_axis.items())
    composed = list(takewhile(lambda each: (each[1].low or 0.0) >= COMPOSED, steps))
    following = steps[len(composed) :]
    if composed:
        sentence = f"composes {composed[-1][0]} steps {source}"
        if not following:
            return sentence
        number, lift = following[0]
        fails = lift.high is not None and lift.high < COMPOSED
        return f"{sentence}, {'fails from' if fails else 'unclear from'} {number}"
    number = next((number for number, _ in following), "any")
    if any(lift.is_above(0) for _, lift in steps):
        return f"composes some items of {number} steps {source}"
    return f"does not compose {number} steps {source}"
