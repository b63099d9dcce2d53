"""The two example machines shown before a game, as in the experiment with children."""

from __future__ import annotations

from typing import NamedTuple

from trivium.benchmarks.blicket.game.generate import GameItem
from trivium.benchmarks.blicket.game.spec import EXAMPLES
from trivium.benchmarks.blicket.inference.hypotheses import EXAMPLE_TESTS, OPEN

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


def example(name: str, rule: str) -> Example:
    """The example machine of this name, with the tests that demonstrate a rule."""
    objects = EXAMPLE_OBJECTS[name]
    shown = [
        (tuple(objects[number] for number in placed), light)
        for placed, light in EXAMPLE_TESTS[rule]
    ]
    return Example(name, tuple(shown))


def examples_of(item: GameItem) -> list[Example]:
    """The example machines of a game, in order; empty without demonstrations."""
    names = EXAMPLES if item.spec.demonstrations != "none" else ()
    return [example(name, item.examples.get(name, OPEN)) for name in names]
