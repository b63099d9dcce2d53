"""The two example machines shown before a game, as in the experiment with children."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from trivium.benchmarks.blicket.game.generate import GameItem
from trivium.benchmarks.blicket.game.spec import EXAMPLES
from trivium.benchmarks.blicket.inference.hypotheses import (
    CONJUNCTIVE,
    DISJUNCTIVE,
    EXAMPLE_TESTS,
    OPEN,
)

ExampleTest = tuple[tuple[str, ...], bool]  # the objects on the machine, and whether it lit up
# The objects of Appendix C of the paper.
EXAMPLE_OBJECTS = {
    EXAMPLES[0]: ("blue pyramid", "green cube", "orange sphere"),
    EXAMPLES[1]: ("yellow cylinder", "purple cone", "red dome"),
}


class Example(NamedTuple):
    """An example machine and its tests."""

    name: str  # one of EXAMPLES
    tests: tuple[ExampleTest, ...]


def examples_of(item: GameItem) -> list[Example]:
    """The example machines of a game, in order; empty without demonstrations."""
    found = []
    for name in EXAMPLES if item.spec.demonstrations != "none" else ():
        objects, tests = EXAMPLE_OBJECTS[name], EXAMPLE_TESTS[item.examples.get(name, OPEN)]
        shown = [(tuple(objects[number] for number in placed), light) for placed, light in tests]
        found.append(Example(name, tuple(shown)))
    return found


def rule_shown(tests: Sequence[ExampleTest]) -> str | None:
    """The rule that an example machine must have; None if both are possible."""
    lit_alone = {placed[0] for placed, light in tests if light and len(placed) == 1}
    dark_alone = {placed[0] for placed, light in tests if not light and len(placed) == 1}
    if lit_alone:
        return DISJUNCTIVE
    together = any(light and set(placed) <= dark_alone for placed, light in tests)
    return CONJUNCTIVE if together else None
