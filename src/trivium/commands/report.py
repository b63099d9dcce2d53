"""Write report.html, results.md and plots/ for any folder that holds records: a run, a
sweep, a diagnosis, an evaluation. No model is called.
Example: trivium report runs/implicit/sweep_20260101_120000 --label 'first look'
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trivium.benchmarks import by_alias
from trivium.commands.flags import argument, read_flags
from trivium.core.errors import require
from trivium.core.records import read_manifest
from trivium.evaluation.cost import Prices
from trivium.report.page import write_report
from trivium.report.tables import say_left_out


@dataclass(frozen=True)
class Flags:
    """The run and its label."""

    run: Path | None = argument("RUN", None)  # the folder of the run
    summary: Path | None = None  # or the summary.csv in that folder
    approach: str | None = None  # the benchmark, which must be the run's
    label: str | None = None  # the name of the run in titles (default: the label of the run)

    prices: Prices = field(default_factory=Prices)

    def folder(self) -> Path:
        """The folder of the run, which must exist."""
        run = self.run if self.summary is None else self.summary.parent
        require(run is not None, "no run named: give its folder, or its summary.csv with --summary")
        assert run is not None
        require(self.run in (None, run), "give the folder or --summary, not both")
        require(run.is_dir(), f"{run}: {'a file, not a' if run.exists() else 'no such'} folder")
        named = None if self.approach is None else by_alias(self.approach)
        held = read_manifest(run).get("benchmark", named)
        require(named in (None, held), f"{run} is a run of {held}, not of {named}")
        return run


def main(args: Sequence[str]) -> int:
    """Write the page and print its path."""
    flags = read_flags("trivium report", Flags(), args, __doc__).flags
    say_left_out([flags.folder()])
    print(f"report: {write_report(flags.folder(), flags.label, flags.prices)}")
    return 0
