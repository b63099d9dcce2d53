"""Run the paper's study of learners, and write its tables and figures."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from studies.blicket_learners.plan import PARTS, QUICK, Scale, Unit, plan
from studies.blicket_learners.tables import write_report
from trivium.commands.flags import read_flags
from trivium.core.errors import UserError, import_extra, require
from trivium.evaluation.executors import Workers

ABOUT = """The paper's study of learners (section 4): Figures 3a to 3d, Tables 1 and 2, the
Q-learning experiment, and unseen forms. Units of work that the folder already holds are not run
again. The tables have the paper's values beside ours. --quick is a small version for a laptop.
Example: python -m studies.blicket_learners --quick --only fig3a,qlearning --out runs/study"""


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
    workers: Workers = field(default_factory=Workers)


def main(args: Sequence[str] | None = None) -> int:
    """Run the study; 0 is success, 2 bad input, 130 an interrupt."""
    words = sys.argv[1:] if args is None else args
    try:
        flags = read_flags("-m studies.blicket_learners", Flags, words, ABOUT, program="python")
        _main(flags)
    except UserError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted; the same command resumes", file=sys.stderr)
        return 130
    return 0


def _main(flags: Flags) -> None:
    """Run what is missing, then write tables and figures."""
    parts = [part for part in flags.only.split(",") if part]
    require(bool(parts), f"--only names no part; there are {', '.join(PARTS)}")
    scale = QUICK if flags.quick else Scale()
    units = plan(scale if flags.seeds is None else replace(scale, seeds=flags.seeds), parts)
    whole = flags.match is None and flags.seconds is None
    if whole and not flags.dry_run:
        for package in ("altair", "vl_convert"):  # found missing before the work, not after it
            import_extra(package, "plots")
    if units and flags.report_only:
        data = flags.out / "data"
        require(data.is_dir(), f"{flags.out} holds no study: {data} is missing")
    elif units:
        _run(units, flags)
    if flags.report_only or (whole and not flags.dry_run):
        print(f"report: {write_report(flags.out, parts, units)}")


def _run(units: Sequence[Unit], flags: Flags) -> None:
    for package in ("jax", "equinox", "optax"):
        import_extra(package, "agents")
    run = importlib.import_module("studies.blicket_learners.run")
    deadline = None if flags.seconds is None else time.time() + flags.seconds
    chosen = run.pending(units, flags.out, (flags.match or "*").split(","))
    if flags.dry_run:
        print("\n".join(unit.name for unit in chosen))
        return
    for stage in run.stages(chosen):
        with flags.workers.open() as executor:
            work = partial(run.run_unit, out=flags.out, deadline=deadline)
            for line in executor.map(work, stage):
                print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
