"""Can a shortcut beat chance? Tests every shortcut solver, rules about surface features and
learned probes on fresh items in one view; --overlap counts repeated items instead.
Exit status 0: passed; 1: caught, or there was nothing to guess.
Example: trivium audit nhop_explicit --preset explicit-hard
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from trivium.api import OVERLAP_ITEMS, audit, overlap
from trivium.auditing.results import GAIN, Audit
from trivium.auditing.stored import audits_path, keep_audit, stored_audit
from trivium.commands.flags import read_benchmark_flags
from trivium.report.tables import Table, say, terminal

SHOWN = 12  # cues in the table
LIMITS = (
    "What an audit cannot see: cues that need more than the features tested here (such as patterns"
    " across many lines), cues too weak for this number of items, and what a model remembers from"
    " its training. A pass means that these rules, learned on other items, do no better than"
    " guessing; it is no proof that no rule does."
)


@dataclass(frozen=True)
class Flags:
    """How the audit is run."""

    # items of each sample (default: as many as show 3 points over chance; 10,000 for --overlap)
    items: int | None = None
    seed: int = 0  # the seed of the audit, from which the seeds of its samples follow
    json: bool = False  # print the audit as JSON
    overlap: bool = False  # count repeated items within a seed and between two
    keep: bool = False  # store the verdict beside the benchmark, where reports look for it


def main(args: Sequence[str]) -> int:
    """Print the strongest cues and the verdict."""
    asked = read_benchmark_flags("audit", Flags, args, __doc__)
    task, flags = asked.task, asked.flags
    if flags.overlap:
        repeats = overlap(task, items=flags.items or OVERLAP_ITEMS, seed=flags.seed)
        # Item spaces outgrow orjson's integers.
        print(json.dumps(repeats.to_dict(), indent=2) if flags.json else repeats)
        return 0
    found = audit(task, items=flags.items, seed=flags.seed)
    if flags.json:
        print(json.dumps(found.to_dict(), indent=2))
    else:
        show_audit(task.benchmark.name, found)
        if len(task.benchmark.audit_views()) > 1:
            say("this audit is about one view; the flags of the view choose another")
    if flags.keep:
        held = stored_audit(task)
        keep_audit(task, found)
        replaced = f" in place of {held['verdict']} on {held['items']:,}" if held else ""
        text = f"{found.verdict} on {found.items:,} items{replaced}"
        say(f"{audits_path(task.benchmark)} now holds: {text}", stderr=flags.json)
    return 0 if found.passed else 1


def show_audit(name: str, audit: Audit) -> None:
    """Print the strongest cues, the verdict and its limits."""
    audit_table(name, audit).show(terminal())
    for note in audit.notes:
        say(f"tried for {note}")
    say(f"floor: {audit.floor}, {audit.floor_value:.3f}")
    if audit.items < audit.needed:
        say(f"{audit.items} items are few: seeing {GAIN * 100:.0f} points takes {audit.needed}")
    say(str(audit))
    say(LIMITS)


def audit_table(name: str, audit: Audit) -> Table:
    """The strongest cues, those that beat chance first."""
    cues = sorted(audit.cues, key=lambda cue: (not cue.caught, cue.p, cue.chance - cue.value))
    rows = [
        (
            cue.name,
            f"{cue.value:.3f} [{cue.low:.3f}, {cue.high:.3f}]",
            f"{cue.chance:.3f}",
            "beats chance" if cue.caught else "not confirmed" if cue.confirmed else "-",
            cue.about,
        )
        for cue in cues[:SHOWN]
    ]
    title = (
        f"{name}: the strongest of {len(cues)} cues, {audit.items} items each for test and"
        f" confirmation, a false alarm in at most {1 - audit.level:.0%} of audits"
    )
    return Table(title, ("cue", "hits [interval]", "chance", "verdict", "what it is"), tuple(rows))
