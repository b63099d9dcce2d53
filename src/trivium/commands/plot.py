"""Redraw the charts of a run as SVG in its plots/.
Example: trivium plot runs/implicit/sweep_20260101_120000 --label 'first look'
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trivium.commands.flags import read_flags
from trivium.commands.report import Flags
from trivium.report.page import write_plots


@dataclass(frozen=True)
class PlotFlags(Flags):
    """The run, its label and the folder of its charts."""

    outdir: Path | None = None  # the folder of the charts (default: plots/ in that of the run)


def main(args: Sequence[str]) -> int:
    """Draw the charts and print the paths of their files."""
    flags = read_flags("trivium plot", PlotFlags(), args, __doc__).flags
    paths = write_plots(flags.folder(), flags.label, flags.outdir)
    for path in paths:
        print(path)
    if not paths:
        print(
            "no charts: they compare settings, groups or several solvers; trivium report has tables"
        )
    return 0
