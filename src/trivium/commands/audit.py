"""trivium audit NAME"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trivium.commands.flags import read_benchmark_flags
from trivium.core.errors import require
from trivium.core.probes import GAIN, LEVEL, Audit
from trivium.report.tables import Table, terminal

ABOUT = """Can a shortcut beat chance? Tries every shortcut solver and probes of what is printed on
fresh items. Exit status 0: no cue beats chance; 1: one does.
Example: trivium audit nhop_explicit --preset explicit-hard"""
MIN_ITEMS = 100


@dataclass(frozen=True)
class Flags:
    """How the audit is run."""

    items: int | None = None  # fresh items (default: as many as show 3 points over chance)
    seed: int = 0  # the seed of the items


def main(args: Sequence[str]) -> int:
    """Print every cue with its interval."""
    asked = read_benchmark_flags("audit", Flags, args, ABOUT)
    asked.refuse_view_flags("audit")
    task = asked.task
    items = asked.flags.items
    require(
        items is None or items >= MIN_ITEMS,
        f"items must be at least {MIN_ITEMS}, got {items}",
    )
    audit = task.benchmark.audit(task.spec, asked.flags.seed, items)
    why = "; ".join(audit.notes) or "there are no cues"
    require(bool(audit.cues), f"nothing was audited on {audit.items} items: {why}")
    audit_table(task.benchmark.name, audit).show(terminal())
    for note in audit.notes:
        print(note)
    if audit.items < audit.needed:
        print(f"{audit.items} items are few: seeing {GAIN * 100:.0f} points takes {audit.needed}")
    caught = [cue.name for cue in audit.cues if cue.caught]
    if caught:
        print(f"CAUGHT: {len(caught)} of {len(audit.cues)} cues beat chance: {', '.join(caught)}")
        return 1
    print(f"PASSED: none of {len(audit.cues)} cues beats chance on {audit.items} items")
    return 0


def audit_table(name: str, audit: Audit) -> Table:
    """Every cue, the strongest first."""
    cues = sorted(audit.cues, key=lambda cue: cue.chance - cue.value)
    rows = [
        (
            cue.name,
            f"{cue.value:.3f} [{cue.low:.3f}, {cue.high:.3f}]",
            f"{cue.chance:.3f}",
            "beats chance" if cue.caught else "-",
            cue.about,
        )
        for cue in cues
    ]
    title = f"{name}: {audit.items} items, intervals at {LEVEL:.0%} for all cues together"
    return Table(
        title, ("cue", "hits [interval]", "chance", "verdict", "what it uses"), tuple(rows)
    )
