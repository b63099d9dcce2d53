"""trivium estimate NAME|CONFIG"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trivium.commands.flags import read_benchmark_flags
from trivium.core.errors import require
from trivium.evaluation.config import read_sweep, shipped
from trivium.evaluation.cost import estimate

ABOUT = """Requests and approximate tokens of an evaluation, before anything is sent. Instead of
NAME, a sweep's config: what its models would be asked, or one model where it names none.
Example: trivium estimate nhop_explicit --preset explicit-hard --items 500 --mode free
Example: trivium estimate explicit_hard"""


@dataclass(frozen=True)
class Flags:
    """What would be evaluated."""

    items: int = 500  # how many items
    seed: int = 0  # the seed of all of them
    order_trials: int = 1  # how often each item is told, each time in another order


def main(args: Sequence[str]) -> int:
    """Print the cost."""
    if args and (args[0] in shipped() or args[0].endswith((".toml", ".json"))):
        require(len(args) == 1, f"a config stands alone, got {' '.join(args[1:])}")
        print(f"{args[0]}: {read_sweep(args[0]).cost()}")
        return 0
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
