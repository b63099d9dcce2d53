"""What an item says, whatever its names, its order and its wording."""

from __future__ import annotations

from hashlib import blake2b

from trivium.benchmarks.variables.item import VariablesItem

ROUNDS = 5  # no two variables of an item are farther apart than so many hypotheses and sets


def canonical(item: VariablesItem) -> str:
    """The same text for two items that differ in names, orders, wordings and values only.

    Variables get colours: at first whether they are observed and which one of the target they
    are, then again and again a hash of their own and their neighbours' colours, that is, of what
    they are correlated with and of what they are believed to cause and be caused by.
    """
    known = item.observed
    partners = [known.partners(v) if seen else [] for v, seen in enumerate(item.seen)]
    causes: list[list[int]] = [[] for _ in item.names]
    effects: list[list[int]] = [[] for _ in item.names]
    for cause, effect in item.hypotheses:
        causes[effect].append(cause)
        effects[cause].append(effect)
    # An unobserved variable that no hypothesis mentions is not part of what is said.
    told = [v for v, seen in enumerate(item.seen) if seen or causes[v] or effects[v]]
    colours = [
        hash((seen, v == item.target[0], v == item.target[1])) for v, seen in enumerate(item.seen)
    ]
    for _ in range(ROUNDS):
        before = list(colours)
        for v in told:
            near = [
                tuple(sorted([before[other] for other in own[v]]))
                for own in (partners, causes, effects)
            ]
            colours[v] = hash((before[v], *near))
    text = repr(sorted(colours[v] for v in told))
    return blake2b(text.encode(), digest_size=16).hexdigest()
