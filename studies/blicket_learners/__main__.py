"""Run the paper's study of learners, and write its tables and figures."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from studies.blicket_learners.compare import TOO_SHORT
from studies.blicket_learners.plan import PARTS, QUICK, Scale, Unit, plan
from studies.blicket_learners.run import pending, run_all
from studies.blicket_learners.tables import write_report
from studies.command import run_command
from trivium.core.errors import import_extra, require

ABOUT = """The paper's study of learners (section 4): Figures 3a to 3d, Tables 1 and 2, the
Q-learning experiment, and unseen forms. Units of work that the folder already holds are not run
again; --workers takes them from one queue with several processes. --quick is a small version for a
laptop, too short to judge.
Example: python -m studies.blicket_learners --workers 4 --out runs/study"""


@dataclass(frozen=True)
class Flags:
    """What is run, and where."""

    only: str = ",".join(PARTS)  # parts, separated by commas
    match: str | None = None  # units by name, in this order: 'q_*,paper_ppo-*'; writes no report
    quick: bool = False  # small networks, few steps, two seeds
    seeds: int | None = None  # runs of every configuration (default: 8, quick 2)
    seconds: float | None = None  # stop after so long, to be resumed; writes no report
    out: Path = Path("runs/study")  # the folder of data, tables and figures
    dry_run: bool = False  # print the names of the units to run, and do nothing
    report_only: bool = False  # write tables and figures of the data that are there
    workers: int = 1  # processes that take units from one queue; 4 share a large GPU well


def main(args: Sequence[str] | None = None) -> int:
    """Run the study; 0 is success, 2 bad input, 130 an interrupt."""
    return run_command("blicket_learners", Flags(), ABOUT, _main, args)


def _main(flags: Flags) -> None:
    """Run what is missing, then write tables and figures."""
    parts = [part for part in flags.only.split(",") if part]
    require(bool(parts), f"--only names no part; there are {', '.join(PARTS)}")
    scale = QUICK if flags.quick else Scale()
    scale = scale if flags.seeds is None else replace(scale, seeds=flags.seeds)
    units = plan(scale, parts)
    whole = flags.match is None and flags.seconds is None
    if units and flags.report_only:
        data = flags.out / "data"
        require(data.is_dir(), f"{flags.out} holds no study: {data} is missing")
    elif units:
        _run(units, flags)
    if flags.report_only or (whole and not flags.dry_run):
        path = write_report(flags.out, parts, plan(scale), judged=scale == Scale())
        print(f"report: {path}{'' if scale == Scale() else f'; {TOO_SHORT}'}")


def _run(units: Sequence[Unit], flags: Flags) -> None:
    for package in ("jax", "equinox", "optax"):
        import_extra(package, "agents")
    require(flags.workers >= 1, f"workers must be at least 1, got {flags.workers}")
    deadline = None if flags.seconds is None else time.time() + flags.seconds
    chosen = pending(units, flags.out, (flags.match or "*").split(","))
    if flags.dry_run:
        print("\n".join(unit.name for unit in chosen))
        return
    failed = run_all(
        chosen, flags.out, workers=flags.workers, deadline=deadline, tell=partial(print, flush=True)
    )
    require(not failed, f"these units failed: {', '.join(failed)}; the same command tries again")


if __name__ == "__main__":
    sys.exit(main())
