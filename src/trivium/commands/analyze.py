"""trivium analyze RESULTS..."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import tyro

from trivium.commands.flags import read_flags
from trivium.core.errors import require
from trivium.report.results import EXAMPLES, BenchmarkResults, read_results
from trivium.report.tables import analysis_tables, terminal

ABOUT = """Tables and kinds of error from records or scored results: files, or folders that hold
records. No model is asked again.
Example: trivium analyze runs/oracle --examples 2"""


@dataclass(frozen=True)
class Flags:
    """The records to analyse."""

    results: tyro.conf.Positional[tuple[Path, ...]]  # files of records, or folders of them
    examples: int = 0  # how many examples of each kind of error are printed


def main(args: Sequence[str]) -> int:
    """Print the tables."""
    flags = read_flags("analyze", Flags, args, ABOUT)
    require(bool(flags.results), "no results named: give files of records or folders of them")
    require(flags.examples >= 0, f"examples must be at least 0, got {flags.examples}")
    console = terminal()
    for results in read_results(flags.results, max(EXAMPLES, flags.examples)).values():
        for table in analysis_tables(results):
            table.show(console)
        if flags.examples > 0:
            _print_examples(results, flags.examples)
    return 0


def _print_examples(results: BenchmarkResults, count: int) -> None:
    """Print a few attempts of each kind of error, each on one line of plain text."""
    shown: dict[str, int] = defaultdict(int)
    for (_, _, kind), rows in results.examples.items():
        for row in rows:
            if kind != "right" and shown[kind] < count:
                shown[kind] += 1
                print(f"{row['kind']}  {row['id']}  {row['solver']}  {ascii(row['reply'])[:200]}")
