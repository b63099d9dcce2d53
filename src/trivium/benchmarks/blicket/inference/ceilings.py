"""Ceilings of an ideal observer: tests to certainty, and the quiz reward after each test."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from trivium.benchmarks.blicket.inference import hypotheses
from trivium.benchmarks.blicket.inference.explore import EXPLORERS, planner, progress
from trivium.benchmarks.blicket.inference.hypotheses import Space, space_of
from trivium.core.errors import UserError

PAPER_SPACES = {
    "the paper's six": space_of(hypotheses.DEFAULT_SIX),
    "all eleven of three objects": space_of(hypotheses.ALL_ELEVEN),
    "three conjunctive": space_of(hypotheses.CONJUNCTIVE_THREE),
    "three disjunctive": space_of(hypotheses.DISJUNCTIVE_THREE),
}
MAX_TESTS = 400  # by then even random exploration of a small space has ended
BEST = "best for the quiz"


@dataclass(frozen=True)
class Ceiling:
    """The results of one explorer."""

    explorer: str
    tests: float | None  # to certainty; None for the best reward, which does not aim at it
    rewards: tuple[float, ...]  # of the quiz after 0, 1, 2, ... tests
    refused: str = ""  # why it was not computed, if it was not


def ceilings(space: Space, tests: int = 5) -> list[Ceiling]:
    """The results of every explorer on this space, then the best possible reward."""
    found = []
    for name, explorer in EXPLORERS.items():
        try:
            result = progress(space, explorer, tests if space.noisy else MAX_TESTS)
        except UserError as problem:
            found.append(Ceiling(name, None, (), str(problem)))
            continue
        rewards = tuple(map(float, result.reward[: tests + 1]))
        found.append(Ceiling(name, result.expected_tests, rewards))
    try:
        best = [planner(space).best_reward(space.belief, made) for made in range(tests + 1)]
    except UserError as problem:
        return [*found, Ceiling(BEST, None, (), str(problem))]
    return [*found, Ceiling(BEST, None, tuple(best))]


def exact_text(value: float | None) -> str:
    """A value as a small fraction such as 8/3 if it is one, otherwise with three digits."""
    if value is None:
        return ""
    if value == float("inf"):
        return "inf"
    near = Fraction(value).limit_denominator(100)
    if abs(float(near) - value) > 1e-9:
        return f"{value:.3f}"
    return str(near) if near.denominator == 1 else f"{near} ({value:.3f})"
