"""The study's computing alone, for a machine with jax, equinox and optax and little else.

python3 -m studies.blicket_learners --out runs/study --only fig3a,fig3b --seconds 500
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from studies.blicket_learners.plan import PARTS, QUICK, Scale, plan
from studies.blicket_learners.runner import pending, run_task
from trivium.core.errors import UserError


def main() -> None:
    """Do what is left to do, in this process; bad input ends in one sentence."""
    try:
        _run(_parse())
    except UserError as problem:
        print(f"error: {problem}", file=sys.stderr)
        raise SystemExit(2) from None


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python3 -m studies.blicket_learners", description=__doc__
    )
    parser.add_argument("--out", type=Path, required=True, help="the folder of the results")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, separated by commas")
    parser.add_argument("--match", default="*", help="units by name, in this order: a*,b*")
    parser.add_argument("--quick", action="store_true", help="a small version of everything")
    parser.add_argument("--seeds", type=int, default=None)
    parser.add_argument("--seconds", type=float, default=None, help="stop, with a checkpoint")
    parser.add_argument("--list", action="store_true", help="name what is left to do, and stop")
    return parser.parse_args()


def _run(asked: argparse.Namespace) -> None:
    scale = QUICK if asked.quick else Scale()
    if asked.seeds is not None:
        scale = replace(scale, seeds=asked.seeds)
    deadline = None if asked.seconds is None else time.time() + asked.seconds
    left = pending(plan(scale, asked.only.split(",")), asked.out, deadline)
    patterns = asked.match.split(",")
    matches = [
        task for pattern in patterns for task in left if fnmatchcase(task.unit.name, pattern)
    ]
    for task in dict.fromkeys(matches):
        if asked.list:
            print(task.unit.name)
            continue
        print(run_task(task, lambda text: print(text, flush=True)), flush=True)


if __name__ == "__main__":
    main()
