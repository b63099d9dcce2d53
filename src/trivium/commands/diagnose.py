"""trivium diagnose NAME"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from trivium.commands.flags import read_benchmark_flags, refuse_model_flags
from trivium.commands.sweep import Running, print_plan, run_and_report
from trivium.core.errors import require
from trivium.evaluation.config import SPELLINGS
from trivium.evaluation.diagnose import diagnosis
from trivium.evaluation.plan import APPROACHES

ABOUT = """One parameter set, several variants, one folder: which control does what? The variants
are the benchmark's own; all of them are run when none is named. A diagnosis that was stopped goes
on when the same command is given again.
Example: trivium diagnose nhop_explicit --n 6 --L 3 --k 6 --contexts 8 --M 256 --seed 7 \
--items 60 --variants control,path,bal,alias,all"""


@dataclass(frozen=True)
class Flags:
    """What is diagnosed, and where it goes."""

    variants: str = ""  # which variants, with commas between (default: all)
    items: int = 60  # items of each variant
    seed: int = 7  # the seed of all of them
    order_trials: int = 1  # how often each item is told, each time in another order
    solvers: str = ""  # which solvers, with commas between (default: all)
    # language models, each as PROVIDER/MODEL; say --model once for each
    models: Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(name="model")] = ()
    out: Path | None = None  # the folder (default: the unfinished run of this, or a new one)
    label: str | None = None  # what the run is called in titles and in the index
    dry_run: bool = False  # print the cells and what they would cost, and do nothing
    running: Running = field(default_factory=Running)


def main(args: Sequence[str]) -> int:
    """Run the variants."""
    asked = read_benchmark_flags("diagnose", Flags, _respelled(args), ABOUT)
    flags = asked.flags
    if not flags.models:
        refuse_model_flags(args, "none is named")
    plan = diagnosis(
        asked.benchmark,
        asked.spec,
        asked.view,
        variants=_listed(flags.variants),
        seed=flags.seed,
        items=flags.items,
        trials=flags.order_trials,
        solvers=_listed(flags.solvers) or None,
        models=flags.models,
        label=flags.label,
    )
    if flags.dry_run:
        print_plan(plan)
        return 0
    command = shlex.join(["trivium", "diagnose", *args])
    return run_and_report(plan, flags.running, flags.out, command)


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _respelled(args: Sequence[str]) -> list[str]:
    """The older spellings: --approach A for NAME, and those of some fields."""
    spellings = {name: SPELLINGS[name] for name in ("n", "contexts")}
    words: list[str] = []
    name: list[str] = []
    given = iter(args)
    for word in given:
        flag, equals, value = word.partition("=")
        if flag == "--approach":
            approach = value if equals else next(given, "")
            allowed = ", ".join(APPROACHES)
            require(approach in APPROACHES, f"approach must be one of {allowed}, got {approach!r}")
            name = [APPROACHES[approach]]
        elif flag.removeprefix("--") in spellings and flag.startswith("--"):
            words.append(f"--{spellings[flag[2:]]}{equals}{value}")
        else:
            words.append(word)
    return [*name, *words]
