"""trivium report RUN"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from trivium.commands.flags import read_flags
from trivium.core.errors import require
from trivium.report.page import write_report

ABOUT = """Write report.html, results.md and plots/ for any folder that holds records: a run, a
sweep, a diagnosis, an evaluation. No model is asked again.
Example: trivium report runs/implicit/sweep_20260101_120000 --label 'first look'"""


@dataclass(frozen=True)
class Flags:
    """The run and its label."""

    # the folder of the run
    run: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RUN")]
    label: str | None = None  # the run's name in titles (default: the label that it was run with)


def main(args: Sequence[str]) -> int:
    """Write the page and print its path."""
    flags = read_flags("report", Flags, args, ABOUT)
    require(flags.run.is_dir(), f"{flags.run}: no such folder")
    print(f"report: {write_report(flags.run, flags.label)}")
    return 0
