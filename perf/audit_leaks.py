"""Audits every kind of planted leak (tests/audit/kinds.py) and prints whether it was found.

`--clean N` audits clean toys with N seeds each instead and counts false alarms.
"""

from __future__ import annotations

import argparse
import time

from tests.audit.kinds import ITEMS, KINDS, NEW, Kind
from tests.audit.leaks import LeakSpec, Leaky, LeakyLabel, LeakySet, LeakyYesNo


def find_leaks(seed: int, words: str) -> None:
    """Print the verdict and the strongest cue for each kind."""
    found = {}
    for name, kind in KINDS.items():
        if words in name:
            started = time.process_time()
            audit = kind.audit(seed)
            strongest, seconds = audit.strongest, time.process_time() - started
            found[name] = audit.verdict == "caught"
            reach = (
                strongest and f"{strongest.name}: {strongest.value:.2f} of {strongest.chance:.2f}"
            )
            verdict = "found" if found[name] else "MISSED"
            print(
                f"{verdict}  {name}{' (new)' * (name in NEW)} | {reach} | {seconds:.0f} s",
                flush=True,
            )
    new = [ok for name, ok in found.items() if name in NEW]
    print(f"{ITEMS} items, seed {seed}: {sum(found.values())} of {len(found)} found;", end=" ")
    print(f"{sum(new)} of the {len(new)} that the engine was not written for")


def count_false_alarms(seeds: int, first: int) -> None:
    """Audit items without any leak."""
    for benchmark in (Leaky(), LeakyLabel(), LeakySet(), LeakyYesNo()):
        kind = Kind(benchmark, LeakSpec())
        caught = [seed for seed in range(first, first + seeds) if not kind.audit(seed).passed]
        print(f"{benchmark.name}: {len(caught)} alarms in {seeds} audits {caught}", flush=True)


def main() -> None:
    """Audit planted leaks or clean toys."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="kinds with these words in their names")
    parser.add_argument("--clean", type=int, default=0)
    asked = parser.parse_args()
    if asked.clean:
        count_false_alarms(asked.clean, asked.seed)
    else:
        find_leaks(asked.seed, asked.only)


if __name__ == "__main__":
    main()
