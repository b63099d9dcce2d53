"""trivium plot RUN"""

from __future__ import annotations

from collections.abc import Sequence

from trivium.commands.flags import read_flags
from trivium.commands.report import Flags
from trivium.report.page import write_plots

ABOUT = """Redraw the charts of a run as SVG in its plots/.
Example: trivium plot runs/implicit/sweep_20260101_120000 --label 'first look'"""


def main(args: Sequence[str]) -> int:
    """Draw the charts and print the paths of their files."""
    flags = read_flags("plot", Flags(), args, ABOUT)
    paths = write_plots(flags.folder(), flags.label)
    for path in paths:
        print(path)
    if not paths:
        print(
            "no charts: they compare settings, groups or several solvers; trivium report has tables"
        )
    return 0
