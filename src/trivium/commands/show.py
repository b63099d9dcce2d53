"""One item as a model sees it, with its answer.
Example: trivium show nhop_implicit --hops 4 --mode steps
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trivium.commands.flags import flag, read_benchmark_flags
from trivium.core.errors import located, require
from trivium.core.files import read_text
from trivium.core.streams import DEFAULT_SEED
from trivium.core.task import PresentedItem
from trivium.evaluation.evaluation import read_items
from trivium.report.tables import print_json


@dataclass(frozen=True)
class Flags:
    """Which item is shown."""

    seed: int = DEFAULT_SEED  # the seed of the item
    index: int = 0  # which item of that seed
    input: Path | None = flag(None, "--in")  # show an item of this file instead
    system: Path | None = None  # a file with a system message for the task
    json: bool = False  # as JSON


def main(args: Sequence[str]) -> int:
    """Print one item."""
    asked = read_benchmark_flags("show", Flags, args, __doc__)
    task, flags = asked.task, asked.flags
    require(flags.index >= 0, f"index must be at least 0, got {flags.index}")
    require(flags.index < 2**63 - 1, f"index must fit into 64 bits, got {flags.index}")
    if flags.input is None:
        item = task.item(flags.index, flags.seed)
    else:
        asked.refuse_item_flags()
        items = read_items(task.benchmark, [flags.input])
        require(flags.index < len(items), f"index must be below {len(items)}, got {flags.index}")
        item = PresentedItem(task.with_file(items), items[flags.index])
    with located("system"):
        system = read_text(flags.system).strip() if flags.system else None
    if flags.json:
        shown = {"id": item.id, "system": system, "prompt": item.prompt, "gold": item.gold}
        print_json(shown | {"floor": item.floor, "groups": item.groups})
        return 0
    print(f"--- {item.id}")
    if system:
        print(f"--- system\n{system}\n--- prompt")
    print(item.prompt)
    print(f"--- answer\n{item.gold}\n--- floor {item.floor:.3f}")
    return 0
