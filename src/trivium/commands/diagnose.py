"""trivium diagnose NAME"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trivium.commands.flags import Models, read_benchmark_flags, refuse_model_flags
from trivium.commands.sweep import RunFlags, print_plan, run_and_report
from trivium.core.streams import DEFAULT_SEED
from trivium.evaluation.plan import plan_diagnosis

ABOUT = """One parameter set, several variants, one folder: which control does what? The variants
are the benchmark's own; all of them are run when none is named. The same command continues the
newest folder of the same diagnosis, and makes only attempts that are missing or failed. Exit
status 1: calls failed, or nothing was scored.
Example: trivium diagnose nhop_explicit --n 6 --contexts 8 --variants control,alias"""


@dataclass(frozen=True)
class Flags:
    """What is diagnosed, and where it goes."""

    variants: str = ""  # which variants, separated by commas (default: all)
    items: int = 60  # items of each variant
    seed: int = DEFAULT_SEED  # the seed of all of them
    order_trials: int = 1  # how often each item is presented, each time in another order
    solvers: str = ""  # which solvers, separated by commas (default: all)
    # language models, each as PROVIDER/MODEL; say --model once for each
    models: Models = ()
    out: Path | None = None  # the folder (default: the newest of the same diagnosis, or a new one)
    label: str | None = None  # what the run is called in titles and in the index
    dry_run: bool = False  # print the evaluations and what they would cost, and do nothing
    running: RunFlags = field(default_factory=RunFlags)


def main(args: Sequence[str]) -> int:
    """Run the variants."""
    asked = read_benchmark_flags("diagnose", Flags, args, ABOUT)
    flags = asked.flags
    if not flags.models:
        refuse_model_flags(args, "none is named")
    run = plan_diagnosis(
        asked.task,
        variants=_listed(flags.variants),
        seed=flags.seed,
        items=flags.items,
        trials=flags.order_trials,
        solvers=_listed(flags.solvers) or None,
        models=flags.models,
        settings=flags.running.options.settings(),
        label=flags.label,
    )
    if flags.dry_run:
        print_plan(run, flags.running)
        return 0
    return run_and_report(run, flags.running, flags.out, shlex.join(["trivium", "diagnose", *args]))


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
