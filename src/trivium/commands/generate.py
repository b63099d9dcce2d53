"""Generate items, written as JSON Lines. An item depends on its spec, seed and index only, so
--start continues a file that ended early.
A file of items holds no prompts: trivium show prints one, trivium export writes them all.
Example: trivium generate nhop_implicit --items 200 --out data/implicit.jsonl
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from trivium.commands.flags import REQUIRED, leaves, read_benchmark_flags
from trivium.core.files import atomic_write
from trivium.core.streams import DEFAULT_SEED
from trivium.evaluation.evaluation import Items
from trivium.evaluation.execute import item_lines
from trivium.evaluation.executors import ProgressBar, Workers

# Large enough that sending a chunk to another process costs little compared to generating it.
CHUNK = 5000


@dataclass(frozen=True)
class Flags:
    """Which items are generated, and where they are written."""

    items: int = 100  # how many
    seed: int = DEFAULT_SEED  # the seed of all of them
    start: int = 0  # the index of the first
    out: Path = REQUIRED  # the file; '-' is standard output
    workers: Workers = field(default_factory=Workers)


def main(args: Sequence[str]) -> int:
    """Write the file."""
    asked = read_benchmark_flags("generate", Flags, args, __doc__)
    flags, task = asked.flags, asked.task
    asked.refuse(leaves(task.view), "says how items are presented, and generate presents none")
    items = Items(flags.seed, flags.start, flags.items)
    jobs = ((chunk.count, task, chunk) for chunk in items.chunks(CHUNK))
    stdout = sys.stdout.buffer if str(flags.out) == "-" else None
    with (
        flags.workers.open() as executor,
        nullcontext(stdout) if stdout else atomic_write(flags.out) as file,
        ProgressBar("generate", items.count) as progress,
    ):
        for count, lines in executor.map(item_lines, jobs):
            file.write(lines)
            progress.advance(count)
    if not stdout:
        print(f"{flags.items} items written to {flags.out}")
        file = shlex.quote(str(flags.out))
        print(f"their prompts: trivium export {task.benchmark.name} --in {file} --out FILE")
    return 0
