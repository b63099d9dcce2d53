"""Two example machines that are shown before a game, as in the experiment with children."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from trivium.benchmarks.blicket.game.generate import GameItem
from trivium.benchmarks.blicket.game.spec import EXAMPLES
from trivium.benchmarks.blicket.inference.examples import OPEN, TESTS
from trivium.benchmarks.blicket.inference.hypotheses import CONJUNCTIVE, DISJUNCTIVE

ExampleTest = tuple[tuple[str, ...], bool]  # the objects placed, and whether the machine lit
# The objects of Appendix C of the paper.
EXAMPLE_OBJECTS = {
    EXAMPLES[0]: ("blue pyramid", "green cube", "orange sphere"),
    EXAMPLES[1]: ("yellow cylinder", "purple cone", "red dome"),
}


class Example(NamedTuple):
    """An example machine and the tests that are shown of it."""

    name: str  # one of EXAMPLES
    tests: tuple[ExampleTest, ...]


def examples_of(item: GameItem) -> list[Example]:
    """The example machines of a game in the order in which they are shown; none without any."""
    if item.spec.demonstrations == "none":
        return []
    rules = item.examples
    return [_example(name, rules.get(name, OPEN)) for name in EXAMPLES]


def _example(name: str, rule: str) -> Example:
    objects = EXAMPLE_OBJECTS[name]
    tests = ((tuple(objects[number] for number in placed), light) for placed, light in TESTS[rule])
    return Example(name, tuple(tests))


def rule_shown(tests: Sequence[ExampleTest]) -> str | None:
    """The rule that an example machine must have; None where both are possible."""
    lit_alone = {placed[0] for placed, light in tests if light and len(placed) == 1}
    dark_alone = {placed[0] for placed, light in tests if not light and len(placed) == 1}
    if lit_alone:
        return DISJUNCTIVE
    together = any(light and set(placed) <= dark_alone for placed, light in tests)
    return CONJUNCTIVE if together else None
