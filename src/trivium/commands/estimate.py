"""trivium estimate NAME|CONFIG"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trivium.commands.flags import read_benchmark_flags
from trivium.core.errors import require
from trivium.evaluation.cost import cost_of, cost_of_run
from trivium.evaluation.evaluation import Evaluation, Items
from trivium.evaluation.plan import read_sweep, shipped_configs

ABOUT = """Requests and approximate tokens of an evaluation, before anything is sent. Instead of
NAME, a sweep's config: what its models would be asked, or one model where it names none.
Example: trivium estimate nhop_explicit --preset explicit-hard --items 500 --mode free
Example: trivium estimate explicit_hard"""


@dataclass(frozen=True)
class Flags:
    """What would be evaluated."""

    items: int = 500  # how many items
    seed: int = 0  # the seed of all of them
    order_trials: int = 1  # how often each item is presented, each time in another order


def main(args: Sequence[str]) -> int:
    """Print the cost."""
    if args and (args[0] in shipped_configs() or args[0].endswith((".toml", ".json"))):
        require(len(args) == 1, f"a config takes no flags, got {' '.join(args[1:])}")
        print(f"{args[0]}: {cost_of_run(read_sweep(args[0]))}")
        return 0
    asked = read_benchmark_flags("estimate", Flags, args, ABOUT)
    items = Items(asked.flags.seed, 0, asked.flags.items)
    evaluation = Evaluation(asked.task, items, "a model", asked.flags.order_trials)
    print(f"{asked.task.benchmark.name}: {cost_of(evaluation)}")
    return 0
