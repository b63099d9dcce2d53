"""What an ideal observer can reach: tests to certainty, and the quiz reward after so many tests."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from trivium.benchmarks.blicket.inference.explore import EXPLORERS, planner, progress
from trivium.benchmarks.blicket.inference.hypotheses import (
    ALL_ELEVEN,
    CONJUNCTIVE_THREE,
    DEFAULT_SIX,
    DISJUNCTIVE_THREE,
    Space,
    space_of,
)
from trivium.core.errors import UserError

PAPER_SPACES = {
    "the paper's six": space_of(DEFAULT_SIX),
    "all eleven of three objects": space_of(ALL_ELEVEN),
    "three conjunctive": space_of(CONJUNCTIVE_THREE),
    "three disjunctive": space_of(DISJUNCTIVE_THREE),
}
LONG_ENOUGH = 400  # tests after which even random exploring of a small space has ended
BEST = "best for the quiz"
EXPLAINED = """Tests: how many are expected until the machine is known, inf where it may never be.
Reward after t: what the quiz is expected to earn (+1 or -1 for each object) if t tests are made
and each object is then answered by what is most likely. optimal needs the fewest tests to
certainty; `best for the quiz` chooses its t tests for the reward after t alone, so it is the
ceiling of the column. Learning curves rest on plateaus at these values."""


@dataclass(frozen=True)
class Ceiling:
    """How far one way of exploring gets."""

    explorer: str
    tests: float | None  # to certainty; None where that is not what it is for
    rewards: tuple[float, ...]  # of the quiz after 0, 1, 2, ... tests
    refused: str = ""  # why it was not worked out, where it was not


def ceilings(space: Space, tests: int = 5) -> list[Ceiling]:
    """Every explorer on this space, and last the best that any could earn."""
    found = []
    for explorer in EXPLORERS.values():
        length = tests if space.noisy else LONG_ENOUGH
        try:
            told = progress(space, explorer, length)
        except UserError as problem:
            found.append(Ceiling(explorer.name, None, (), str(problem)))
            continue
        rewards = tuple(float(value) for value in told.reward[: tests + 1])
        found.append(Ceiling(explorer.name, told.expected_tests, rewards))
    try:
        best = [planner(space).best_reward(space.belief, made) for made in range(tests + 1)]
    except UserError as problem:
        return [*found, Ceiling(BEST, None, (), str(problem))]
    return [*found, Ceiling(BEST, None, tuple(best))]


def exact_text(value: float | None) -> str:
    """A figure as a fraction where it is a small one, 8/3, and otherwise with three digits."""
    if value is None:
        return ""
    if value in (float("inf"), float("-inf")):
        return "inf"
    near = Fraction(value).limit_denominator(100)
    if abs(float(near) - value) > 1e-9:
        return f"{value:.3f}"
    return str(near) if near.denominator == 1 else f"{near} ({value:.3f})"
