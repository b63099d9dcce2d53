"""trivium estimate NAME"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trivium.commands.flags import read_benchmark_flags
from trivium.runs.estimate import estimate

ABOUT = """Requests and approximate tokens of an evaluation, before anything is sent.
Example: trivium estimate nhop_explicit --preset explicit-hard --items 500 --mode free"""


@dataclass(frozen=True)
class Flags:
    """What would be evaluated."""

    items: int = 500  # how many items
    seed: int = 0  # the seed of all of them
    order_trials: int = 1  # how often each item is told, each time in another order


def main(args: Sequence[str]) -> int:
    """Print the cost."""
    asked = read_benchmark_flags("estimate", Flags, args, ABOUT)
    flags = asked.flags
    cost = estimate(
        asked.benchmark,
        asked.spec,
        asked.view,
        seed=flags.seed,
        items=flags.items,
        trials=flags.order_trials,
    )
    print(f"{asked.benchmark.name}: {cost}")
    return 0
