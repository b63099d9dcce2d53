"""Tables and kinds of error from files or folders of records. No model is called.
Example: trivium analyze runs/oracle --examples_per_type 2
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from trivium.benchmarks import recorded_task
from trivium.commands.flags import argument, flag, read_flags
from trivium.core.errors import require
from trivium.core.records import FAILED
from trivium.core.text import one_line
from trivium.evaluation.command_line import show_command
from trivium.report.item_browser import conversation
from trivium.report.results import BenchmarkResults, read_results, replies_of
from trivium.report.tables import analysis_tables, say_left_out, terminal


@dataclass(frozen=True)
class Flags:
    """The records to analyze."""

    results: tuple[Path, ...] = argument("RUN", None)  # files of records, or folders of them
    input: tuple[Path, ...] = flag(
        (), "--in"
    )  # more of them: the name of this flag in the original n-hop scripts
    # number of examples of each kind of error, with question, gold answer and reply
    examples: int = flag(0, "--examples", "--examples_per_type")


def main(args: Sequence[str]) -> int:
    """Print the tables."""
    flags = read_flags("trivium analyze", Flags(), args, __doc__).flags
    require(flags.examples >= 0, f"examples must be at least 0, got {flags.examples}")
    console = terminal()
    named = (*(flags.results or ()), *flags.input)
    require(bool(named), "RUN is missing: name files of records, or folders of them")
    for results in read_results(named).values():
        for table in analysis_tables(results):
            table.show(console)
        for line in example_lines(results, flags.examples):
            print(line)
    say_left_out(named)
    return 0


def example_lines(results: BenchmarkResults, count: int) -> Iterator[str]:
    """Yields lines with a few attempts of each kind of error: question, gold answer and reply."""
    shown: Counter[str] = Counter()
    for (_, _, kind), rows in results.examples.items():
        for row in rows if kind != "right" else ():
            if shown[kind] == count:
                break
            shown[kind] += 1
            attempt = conversation(results.benchmark, row)
            opening = next(text for side, text in attempt.turns if side == "environment")
            paragraphs = opening.strip().split("\n\n")
            lines = {
                "question": ([part for part in paragraphs if "?" in part] or paragraphs)[-1],
                "gold": attempt.expected,
                "reply": " / ".join(replies_of(row)) if row["kind"] != FAILED else row["error"],
            }
            if row.get("spec") is not None:
                place = f"--seed {row['seed']} --index {row['index']}"
                lines["prompt"] = f"{show_command(recorded_task(row))} {place}"
            yield f"{row['kind']}  {row['id']}  {row['solver']}"
            yield from (f"  {name:<10}{one_line(str(text))}" for name, text in lines.items())
            yield ""
