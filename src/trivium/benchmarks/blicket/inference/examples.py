"""The tests of the two example machines shown before a new one (Appendix C of the paper)."""

from __future__ import annotations

from trivium.benchmarks.blicket.inference.hypotheses import CONJUNCTIVE, DISJUNCTIVE

OPEN = "open"  # tests that fit one blicket as well as two
# The numbers of the objects on the machine, and the light.
TESTS: dict[str, tuple[tuple[tuple[int, ...], bool], ...]] = {
    CONJUNCTIVE: (((0,), False), ((2,), False), ((0, 2), True)),
    DISJUNCTIVE: (((1,), True), ((0,), False), ((0, 1), True)),
    OPEN: (((0,), False), ((1,), False), ((0, 2), True)),
}


def rules_shown(given: bool, swapped: bool = False) -> tuple[str, str]:
    """The kinds of tests of the first and the second example machine."""
    if not given:
        return OPEN, OPEN
    return (DISJUNCTIVE, CONJUNCTIVE) if swapped else (CONJUNCTIVE, DISJUNCTIVE)
