"""trivium show NAME"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from trivium.commands.flags import read_benchmark_flags
from trivium.core.errors import require
from trivium.evaluation.items import read_items
from trivium.models.settings import read_system

ABOUT = """One item as a model sees it, with its answer.
Example: trivium show nhop_implicit --hops 4 --mode steps"""


@dataclass(frozen=True)
class Flags:
    """Which item is shown."""

    seed: int = 0  # the seed of the item
    index: int = 0  # which item of that seed
    # show an item of this file instead
    input: Annotated[Path | None, tyro.conf.arg(name="in")] = None
    system: Path | None = None  # a file whose text goes before the task as the system message


def main(args: Sequence[str]) -> int:
    """Print one item."""
    asked = read_benchmark_flags("show", Flags, args, ABOUT)
    benchmark, flags = asked.benchmark, asked.flags
    require(flags.index >= 0, f"index must be at least 0, got {flags.index}")
    require(flags.index < 2**63 - 1, f"index must fit into 64 bits, got {flags.index}")
    if flags.input is None:
        item = next(iter(benchmark.generate(asked.spec, flags.seed, flags.index, 1)))
    else:
        asked.require_files_alone("seed")
        items = read_items(benchmark, [flags.input])
        require(flags.index < len(items), f"index must be below {len(items)}, got {flags.index}")
        item = items[flags.index]
    system = read_system(flags.system) if flags.system else benchmark.system(asked.view)
    print(f"--- {item.id}")
    if system:
        print(f"--- system\n{system}\n--- prompt")
    print(benchmark.render(item, asked.view))
    print("--- answer")
    print(benchmark.write(item, benchmark.gold(item), asked.view))
    print(f"--- chance {benchmark.floor(item):.3f}")
    return 0
