"""trivium study"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from studies.blicket_learners.plan import PARTS, QUICK, Scale, plan
from studies.blicket_learners.report import write_report
from trivium.commands.flags import read_flags
from trivium.commands.train import agents_module
from trivium.core.errors import require
from trivium.evaluation.executors import Workers

ABOUT = """The paper's study of learners (section 4) from nothing: Figures 3a to 3d, Tables 1 and 2,
the Q-learning figure, and unseen forms. What the folder holds already is not run again. The
report has the paper's values beside ours. --quick is a small version for a laptop.
Example: trivium study --quick --only fig3a,qlearning --out runs/study"""


@dataclass(frozen=True)
class Flags:
    """Which parts are run, and where."""

    only: str = ",".join(PARTS)  # parts, separated by commas
    quick: bool = False  # small networks, few steps, two seeds
    seeds: int | None = None  # runs of every configuration (default: 8, quick 2)
    out: Path = Path("runs/study")  # the folder of results and report
    report_only: bool = False  # write the report of what is there, run nothing
    workers: Workers = field(default_factory=Workers)


def main(args: Sequence[str]) -> int:
    """Run what is missing, then write the report."""
    flags = read_flags("study", Flags, args, ABOUT)
    parts = [part for part in flags.only.split(",") if part]
    require(bool(parts), f"--only names no part; there are {', '.join(PARTS)}")
    scale = QUICK if flags.quick else Scale()
    if flags.seeds is not None:
        scale = replace(scale, seeds=flags.seeds)
    units = plan(scale, parts)
    if flags.report_only and units:
        held = flags.out / "data"
        require(held.is_dir(), f"{flags.out} holds no study: {held} is missing")
    if units and not flags.report_only:
        runner = agents_module("study.runner")
        # Imitators need the policies of learners, so they wait until those are done.
        for tasks in runner.in_order(runner.pending(units, flags.out)):
            with flags.workers.open() as executor:
                for line in executor.map(partial(runner.run_task, tell=_say), tasks):
                    _say(line)
    command = " ".join(["trivium study", *args])
    report = write_report(flags.out, parts, command, units)
    print(f"report: {report}")
    return 0


def _say(text: str) -> None:
    print(text, flush=True)
