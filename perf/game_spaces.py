"""The spaces of the mixed game, with the exact values of its best script and its optimal player.

Example: python perf/game_spaces.py --out src/trivium/benchmarks/blicket/game/spaces.txt

Spaces are drawn from all combinations of two or three rules with one or two numbers of blickets. A
space is kept if both values can be computed quickly and the optimal player wins much more often.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Iterator, Sequence
from multiprocessing import Pool
from pathlib import Path
from typing import NamedTuple

import numpy as np

from trivium.benchmarks.blicket.inference import budget
from trivium.benchmarks.blicket.inference.budget import BudgetPlanner, TooLongError
from trivium.benchmarks.blicket.inference.distinct import DistinctMachines
from trivium.benchmarks.blicket.inference.hypotheses import letters, make_space
from trivium.benchmarks.blicket.inference.observer import TINY
from trivium.benchmarks.blicket.inference.scripts import best_fixed_script
from trivium.core.streams import Stream, stream_key

OBJECTS = (5, 6, 7)
MACHINES = (16, 60)  # fewer are easy to guess; more are too many for pencil and paper
MIN_GAP = 0.3  # between the shares of games that the optimal player and the best script win
MAX_WORK = 300_000  # of the optimal player: sets of machines times placements
GREEDY_STARTS = 12  # of a quick search, which rejects most spaces
MAX_NODES = 2_000  # of the search for the best script
HEADER = "objects;tests;machines;best_fixed_script;optimal;rules;script"
MIN_BLICKETS = {
    "conjunctive": 2,
    "disjunctive": 1,
    "threshold-2": 3,
    "threshold-3": 4,
    "parity": 2,
    "inhibitor": 1,
}


class Row(NamedTuple):
    """A space, a number of tests, and the machines that the best script and player identify."""

    objects: int
    tests: int
    machines: int
    fixed: int
    optimal: int
    rules: tuple[str, ...]
    script: tuple[int, ...]

    def __str__(self) -> str:
        return ";".join(
            [*map(str, self[:5]), " ".join(self.rules), " ".join(map(letters, self.script))]
        )


def rules_with_sizes(objects: int, rule: str) -> list[str]:
    """The rule with every one or two numbers of blickets."""
    sizes = range(MIN_BLICKETS[rule], objects)
    if rule == "inhibitor":
        return [f"{rule}:{one}-{other}" for one in "12" for other in "12"]
    chosen = itertools.chain(itertools.combinations(sizes, 1), itertools.combinations(sizes, 2))
    return [f"{rule}:{','.join(map(str, each))}" for each in chosen]


def candidates() -> Iterator[tuple[int, tuple[str, ...]]]:
    """All combinations of objects and rules, in the order of a fixed stream."""
    found = [
        (objects, rules)
        for objects in OBJECTS
        for count in (2, 3)
        for chosen in itertools.combinations(MIN_BLICKETS, count)
        for rules in itertools.product(*(rules_with_sizes(objects, rule) for rule in chosen))
    ]
    yield from Stream(stream_key("spaces of the mixed game")).shuffled(found)


def groups_found(machines: DistinctMachines, tests: int) -> int:
    """The number of groups of the best of a few greedy scripts."""
    columns = machines.fires[:, machines.placements].astype(np.int64)
    generator, best = np.random.default_rng(0), 0
    for _ in range(GREEDY_STARTS):
        labels = np.zeros(len(columns), dtype=np.int64)
        for _ in range(tests):
            codes = np.sort(labels[:, None] * 2 + columns, axis=0)
            made = (np.diff(codes, axis=0) > 0).sum(axis=0) + generator.random(len(columns[0]))
            labels = np.unique(labels * 2 + columns[:, made.argmax()], return_inverse=True)[1]
        best = max(best, int(labels.max()) + 1)
    return best


def machine_count(objects: int, rules: Sequence[str]) -> int:
    """The number of machines of these rules."""
    count = 0
    for rule in rules:
        sizes, _, inhibitors = rule.partition(":")[2].partition("-")
        for size in map(int, sizes.split(",")):
            others = math.comb(objects - size, int(inhibitors)) if inhibitors else 1
            count += math.comb(objects, size) * others
    return count


def row_of(candidate: tuple[int, tuple[str, ...]]) -> Row | None:
    """The row of a space; None if the space is not kept."""
    objects, rules = candidate
    count = machine_count(objects, rules)
    if not MACHINES[0] <= count <= MACHINES[1]:
        return None
    space = make_space(objects, rules)
    machines, planner = DistinctMachines(space), BudgetPlanner(space)
    if len(machines.weights) < count:
        return None  # some machines behave alike
    fewest = (count - 1).bit_length()  # no player can be certain with fewer tests
    drawn = Stream(stream_key("tests", objects, *rules)).choice((fewest - 1, fewest, fewest + 1))
    gap = math.ceil(MIN_GAP * count)
    for tests in dict.fromkeys((drawn, fewest)):
        if min(count, 1 << tests) - groups_found(machines, tests) < gap:
            continue
        try:
            optimal = round(planner.value(planner.every, tests) * count)
        except TooLongError:
            continue
        if optimal - groups_found(machines, tests) < gap:
            continue
        script = best_fixed_script(space, tests, MAX_NODES)
        fixed = round(script.value * count)
        if script.bound - script.value < TINY and optimal - fixed >= gap:
            return Row(objects, tests, count, fixed, optimal, rules, script.placed)
    return None


def dual(row: Row) -> Row | None:
    """The same space seen through the objects that are not on the machine, if it has these rules.

    A machine that needs k of its b blickets stays dark if b - k + 1 of them are missing, so a
    script and its complement, and two players that mirror each other, win equally often.
    """
    rules = {}
    for rule in row.rules:
        name, _, sizes = rule.partition(":")
        if name in ("conjunctive", "disjunctive"):
            rules[{"conjunctive": "disjunctive", "disjunctive": "conjunctive"}[name]] = sizes
        elif name.startswith("threshold") and sizes.isdigit():
            rules[f"threshold-{int(sizes) + 1 - int(name[-1])}"] = sizes
        else:
            return None
    if len(rules) < len(row.rules) or not set(rules) <= set(MIN_BLICKETS):
        return None
    if any(int(sizes[0]) < MIN_BLICKETS[name] for name, sizes in rules.items()):
        return None
    named = tuple(f"{name}:{rules[name]}" for name in MIN_BLICKETS if name in rules)
    every = (1 << row.objects) - 1
    return row._replace(rules=named, script=tuple(every ^ placed for placed in row.script))


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    budget.MAX_WORK = MAX_WORK
    rows: dict[tuple[int, tuple[str, ...]], Row] = {}
    with Pool(args.jobs) as pool:
        for row in filter(None, pool.imap(row_of, candidates(), chunksize=10)):
            for each in (row, dual(row)):
                if each is not None:
                    rows.setdefault((each.objects, each.rules), each)
            text = [HEADER, *map(str, sorted(rows.values()))]
            args.out.write_text("\n".join(text) + "\n", encoding="utf-8")
            if len(rows) >= args.count:
                return


if __name__ == "__main__":
    main()
