"""One parameter set, several variants, one folder: which control does what? Runs all
variants of the benchmark, or those named. The same command resumes the newest folder of the same
diagnosis, and makes only attempts that are missing or failed. Exit status 1: calls failed, or
nothing was scored.
Example: trivium diagnose nhop_explicit --n 6 --contexts 8 --variants control,alias
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from trivium.commands.flags import flag, parts, read_benchmark_flags
from trivium.commands.run_flags import RunFlags
from trivium.core.streams import DEFAULT_SEED
from trivium.evaluation.executors import all_processors
from trivium.evaluation.plan import plan_diagnosis


@dataclass(frozen=True)
class Flags:
    """What is diagnosed, and where the results are written."""

    variants: tuple[str, ...] = ()  # which variants, also separated by commas (default: all)
    items: int = 60  # items of each variant
    seed: int = DEFAULT_SEED  # the seed of all of them
    order_trials: int = 1  # how often each item is presented, each time in another order
    # which solvers, also separated by commas (default: all)
    solvers: tuple[str, ...] = flag((), "--solvers", "--baseline")
    models: tuple[str, ...] = flag((), "--model")  # language models, each as PROVIDER/MODEL
    label: str | None = None  # what the run is called in titles and in the index
    data: bool = True  # write the items too
    running: RunFlags = field(default_factory=lambda: RunFlags(workers=all_processors()))


def main(args: Sequence[str]) -> int:
    """Run the variants."""
    asked = read_benchmark_flags("diagnose", Flags, args, __doc__)
    flags = asked.flags
    run = plan_diagnosis(
        asked.task,
        variants=parts(",".join(flags.variants)),
        seed=flags.seed,
        items=flags.items,
        trials=flags.order_trials,
        solvers=parts(",".join(flags.solvers)) or None,
        models=flags.models,
        settings=flags.running.options.settings(),
        label=flags.label,
    )
    return flags.running.run(run, asked, write_items=flags.data)
