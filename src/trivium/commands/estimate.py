"""Requests, approximate tokens and, with prices, cost of an evaluation, before anything is
sent. Assumes replies as short as the benchmark asks for; only --max_output_tokens limits what
reasoning adds. In place of NAME, give a sweep config or a whole run, sweep, diagnose or threshold
command: this is the same as that command with --dry_run. --power D says first how many items it
takes to detect a difference of D between two models.
Example: trivium estimate nhop_explicit --preset explicit-hard --items 500 --mode free
Example: trivium estimate nhop_explicit --power 0.05 --correlation 0.4
Example: trivium estimate run --model openai/gpt-4.1-mini --items 50
Example: trivium estimate explicit_hard --price_in 0.4 --price_out 1.6
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trivium.api import estimate
from trivium.commands import diagnose, run, sweep, threshold
from trivium.commands.flags import leaves, read_benchmark_flags
from trivium.core.streams import DEFAULT_SEED
from trivium.evaluation.cost import Prices
from trivium.evaluation.plan import is_config
from trivium.models.settings import ModelOptions
from trivium.report.tables import say

DRY_RUN_COMMANDS = {  # `estimate run ...` is `run ... --dry_run`
    "run": run.main,
    "sweep": sweep.main,
    "diagnose": diagnose.main,
    "threshold": threshold.main,
}


@dataclass(frozen=True)
class Flags:
    """What would be evaluated."""

    items: int = 500  # how many items
    seed: int = DEFAULT_SEED  # the seed of all of them
    order_trials: int = 1  # how often each item is presented, each time in another order
    repeats: int = 1  # how often the same prompt is sent
    model: str | None = None  # the model, as the file of prices names it
    # where a reply is cut off, reasoning included
    max_output_tokens: int | None = ModelOptions.max_output_tokens
    power: float | None = None  # the smallest difference between two models to detect
    score: float = 0.5  # power: score of the weaker model
    correlation: float = 0.3  # power: correlation of the two models' scores, item by item
    runs: tuple[Path, ...] = ()  # power: two runs from which to estimate the correlation
    prices: Prices = field(default_factory=Prices)


def main(args: Sequence[str]) -> int:
    """Print the cost."""
    if args and args[0] in DRY_RUN_COMMANDS:
        return DRY_RUN_COMMANDS[args[0]]([*args[1:], "--dry_run"])
    if args and is_config(args[0]):
        return sweep.main([*args, "--dry_run"])
    asked = read_benchmark_flags("estimate", Flags, args, __doc__)
    cost = estimate(asked.task, **leaves(asked.flags))
    say(f"{asked.task.benchmark.name}: {cost}")
    return 0
