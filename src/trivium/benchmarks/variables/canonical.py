"""What an item says, whatever its names, its order and its wording."""

from __future__ import annotations

from trivium.benchmarks.variables.item import VariablesItem

ROUNDS = 4


def canonical(item: VariablesItem) -> tuple[int, ...]:
    """The same numbers for two items that differ in names, orders, wordings and values only.

    Variables get colours: at first whether they are observed and which one of the target they
    are, then again and again a hash of their own colour and of those in their sets and of what
    they are believed to cause and to be caused by.
    """
    sets = item.observed.sets()
    # An unobserved variable that no hypothesis mentions is not part of what is said.
    printed = sorted({v for own in sets for v in own}.union(item.hidden))
    near: dict[int, tuple[list[int], list[int], list[int]]] = {v: ([], [], []) for v in printed}
    for at, own in enumerate(sets):
        for v in own:
            near[v][0].append(at)
    for cause, effect in item.hypotheses:
        near[effect][1].append(cause)
        near[cause][2].append(effect)
    seen, (independent, dependent) = item.seen, item.target
    colours = {v: hash((seen[v], v == independent, v == dependent)) for v in printed}
    # Whole numbers only: their hashes are the same in every process, those of text are not.
    for _ in range(ROUNDS):
        of_sets = [hash(tuple(sorted([colours[v] for v in own]))) for own in sets]
        colours = {
            v: hash(
                (
                    colours[v],
                    *sorted([of_sets[at] for at in within]),
                    1,
                    *sorted([colours[other] for other in causes]),
                    2,
                    *sorted([colours[other] for other in effects]),
                )
            )
            for v, (within, causes, effects) in near.items()
        }
    return tuple(sorted(colours.values()))
