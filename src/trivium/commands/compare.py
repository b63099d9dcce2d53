"""Paired differences of the headline metric, with 95% intervals, on the items that solvers
and runs have in common. The first solver of the first run is the baseline for all others. Of a run
with models only the models are compared, unless --solvers names others.
Example: trivium compare runs/oracle runs/shortcut --out compare.html
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trivium.commands.flags import argument, read_flags
from trivium.core.errors import require, require_known
from trivium.core.files import write_file
from trivium.report.compare import (
    comparison_notes,
    comparison_page,
    comparison_tables,
    differences,
    read_scores,
    require_same_limits,
    worth_comparing,
)
from trivium.report.tables import print_json, say, terminal


@dataclass(frozen=True)
class Flags:
    """The runs and solvers to compare."""

    runs: tuple[Path, ...] = argument("RUN")  # folders or files of records
    solvers: tuple[str, ...] = ()  # only these (default: models, or all where a run has none)
    out: Path | None = None  # write the comparison as a page too
    pairs: bool = False  # compare all pairs, not only with the first
    json: bool = False  # print the differences as JSON
    any_settings: bool = False  # compare even where max_output_tokens or reasoning_effort differ


def main(args: Sequence[str]) -> int:
    """Print one table for each benchmark."""
    flags = read_flags("trivium compare", Flags(), args, __doc__).flags
    different = {os.path.realpath(run) for run in flags.runs}
    require(len(different) == len(flags.runs), "a run is named twice")
    found = read_scores(flags.runs)
    require(bool(found), f"{', '.join(map(str, flags.runs))}: there are no records to compare")
    known = list(dict.fromkeys(one.solver for one in found))
    for solver in flags.solvers:
        require_known(solver, known, f"solver {solver!r}")
    chosen = [one for one in found if one.solver in flags.solvers] or worth_comparing(found)
    require(len(chosen) >= 2, "nothing to compare: the runs hold only one solver with a score")
    if not flags.any_settings:
        require_same_limits(chosen)
    made = differences(chosen, pairs=flags.pairs)
    require(bool(made), "nothing to compare: the runs have no items in common")
    if flags.json:
        print_json([one.to_dict() for one in made])
        return 0
    runs = [str(run) for run in flags.runs]
    for table in comparison_tables(runs, chosen, made):
        table.show(terminal())
    for note in comparison_notes(runs, chosen, made):
        say(note)
    if flags.out is not None:
        write_file(flags.out, comparison_page(runs, chosen, made))
        print(f"page: {flags.out}")
    return 0
