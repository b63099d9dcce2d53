"""What an ideal observer can reach: tests to certainty, and the quiz reward after so many tests."""

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
LONG_ENOUGH = 400  # tests after which even random exploration of a small space has ended
BEST = "best for the quiz"
EXPLAINED = """Tests: the expected number until the machine is known, inf where it may never be.
Reward after t: the expected reward of the quiz (+1 or -1 for each object) after t tests, when
each object gets the most likely answer. optimal needs the fewest tests to certainty;
`best for the quiz` chooses its t tests only for the reward after t, so it is the ceiling of the
column. Learning curves have plateaus at these values."""


@dataclass(frozen=True)
class Ceiling:
    """How far one explorer gets."""

    explorer: str
    tests: float | None  # to certainty; None where that is not the aim
    rewards: tuple[float, ...]  # of the quiz after 0, 1, 2, ... tests
    refused: str = ""  # why it was not computed, if it was not


def ceilings(space: Space, tests: int = 5) -> list[Ceiling]:
    """Every explorer on this space, and last the best reward that any could earn."""
    found = []
    for name, explorer in EXPLORERS.items():
        try:
            result = progress(space, explorer, tests if space.noisy else LONG_ENOUGH)
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
    """A value as a small fraction such as 8/3 where it is one, and else with three digits."""
    if value is None:
        return ""
    if value == float("inf"):
        return "inf"
    near = Fraction(value).limit_denominator(100)
    if abs(float(near) - value) > 1e-9:
        return f"{value:.3f}"
    return str(near) if near.denominator == 1 else f"{near} ({value:.3f})"
