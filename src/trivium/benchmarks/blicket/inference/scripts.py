"""The best fixed script: tests chosen beforehand, whatever is seen, then an answer by lookup.

A script divides the machines into groups with the same lights; the best lookup names the likeliest
machine of the group that was seen. The best script is found by branch and bound over sets of
placements, up to exchanging objects that play the same part. Where that is too long, a script
found by exchanging single tests is a lower bound and `most_groups` an upper one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from trivium.benchmarks.blicket.inference.distinct import (
    Distinct,
    Floats,
    Ints,
    exchanges,
    moved_sets,
)
from trivium.benchmarks.blicket.inference.hypotheses import Space
from trivium.benchmarks.blicket.inference.observer import TINY, binary_entropy

MAX_NODES = 1_000  # partial scripts that are looked at, less than a second
MAX_SCRIPTS = 10**12  # sets of placements; a search among more would not end
ANY_STARTS = 8  # scripts of any tests that are improved by exchanging tests
MAX_WORK = 10**8  # of all starts together: machines times placements times tests
TINY_GROUPS = 1e-3  # rounding errors of a number of groups
MAX_COUNTS = 2_000_000  # ways of choosing how many tests have one object, two objects, ...


@dataclass(frozen=True)
class Script:
    """A fixed script, how often its lookup is right, and what no script can exceed."""

    placed: tuple[int, ...]
    value: float
    bound: float

    @property
    def exact(self) -> bool:
        """Whether this is proven to be the best script."""
        return self.bound <= self.value + TINY


@lru_cache(maxsize=64)
def best_fixed_script(space: Space, tests: int, max_nodes: int = MAX_NODES) -> Script:
    """The best script of so many tests, or a good one with a bound on the best."""
    machines = Distinct(space)
    placements = machines.placements
    if tests >= len(placements):
        return Script(tuple(placements), float(machines.weights.sum()), 1.0)
    found = _improved_script(machines, tests)
    limit = float(machines.best_of[most_groups(machines, tests)])
    if machines.value(found) >= limit - TINY:
        return Script(found, limit, limit)
    if math.comb(len(placements), tests) > MAX_SCRIPTS:
        return Script(found, machines.value(found), limit)
    search = _Search(machines, tests, found, max_nodes)
    finished = search.run()
    value = machines.value(search.best)
    return Script(search.best, value, value if finished else limit)


def _improved_script(machines: Distinct, tests: int) -> tuple[int, ...]:
    """A script that exchanging any one of its tests does not improve.

    Some start with any tests, one for each number of objects with tests of so many objects.
    """
    generator = np.random.default_rng(0)
    sizes = np.bitwise_count(np.array(machines.placements))
    best: tuple[int, ...] = ()
    work = max(1, len(machines.weights) * len(sizes) * tests)  # of a script that stays as it is
    for start in range(min(machines.space.objects + ANY_STARTS, max(1, MAX_WORK // work))):
        preferred = sizes == start + 1 if start < machines.space.objects else sizes > 0
        script: tuple[int, ...] = ()
        while len(script) < tests:
            script = (*script, _next_test(machines, script, generator, preferred))
        improved = True
        while improved:
            improved = False
            for place in range(tests):
                rest = (*script[:place], *script[place + 1 :])
                other = (*rest, _next_test(machines, rest, generator))
                if machines.value(other) > machines.value(script) + TINY:
                    script, improved = other, True
        if machines.value(script) > machines.value(best) + TINY:
            best = script
    return tuple(sorted(best, key=machines.placements.index))


def _next_test(
    machines: Distinct,
    script: tuple[int, ...],
    generator: np.random.Generator,
    preferred: NDArray[np.bool_] | None = None,
) -> int:
    """A placement that makes the most groups together with the script, or any of several."""
    placements, labels = machines.placements, machines.groups(script)
    starts = np.unique(np.sort(labels), return_index=True)[1]
    own = machines.fires[labels.argsort(kind="stable")][:, placements]
    lit = np.add.reduceat(own, starts, axis=0, dtype=np.int32)  # machines of each group
    made = ((lit > 0) & (lit < np.bincount(labels)[:, None])).sum(axis=0)
    ranked = made + generator.random(len(made)) / 2
    if preferred is not None:
        ranked += len(machines.weights) * (preferred & (made > 0))
    return placements[int(ranked.argmax())]


class _Search:
    """Branch and bound over scripts, whose tests are in the order of the placements."""

    def __init__(
        self, machines: Distinct, tests: int, best: tuple[int, ...], max_nodes: int
    ) -> None:
        self.machines, self.tests, self.best = machines, tests, best
        self.value, self.left = machines.value(best), max_nodes
        self.placements = machines.placements
        self.fires = machines.fires[:, self.placements].astype(np.float32)
        self.images = _images(machines)

    def run(self) -> bool:
        """Improve `best`; returns whether all scripts were considered."""
        everything = np.ones((1, len(self.machines.weights)), dtype=np.float32)
        return self._extend((), everything)

    def _extend(self, script: tuple[int, ...], members: NDArray[np.float32]) -> bool:
        """Consider all scripts that begin with this one; False where there are too many."""
        missing = self.tests - len(script)
        first = script[-1] + 1 if script else 0
        if len(self.placements) - first < missing:
            return True
        self.left -= 1
        most = self._most(members, first, missing)
        if missing <= 2:
            self._finish(script, most, first)
            return True
        if most.max() <= self.value + TINY:
            return True
        for place in range(first, len(self.placements) - missing + 1):
            if self.left <= 0:
                return False
            longer = (*script, place)
            if self._is_first_of_its_kind(longer):
                lights = self.fires[:, place]
                parts = np.concatenate([members * lights, members * (1 - lights)])
                if not self._extend(longer, parts[parts.any(axis=1)]):
                    return False
        return True

    def _most(self, members: NDArray[np.float32], first: int, missing: int) -> Floats:
        """What no script can exceed whose missing tests are as good as these two: [test, test].

        A group that k tests divide falls into 2 to the k parts at most, or its machines: one
        more part for each test, and at most `shared` more for each two of them.
        """
        sizes = members.sum(axis=1, keepdims=True)
        lit = members @ self.fires[:, first:]
        splits = ((lit > 0) & (lit < sizes)).astype(np.float32)
        made = splits.sum(axis=0)[:, None]
        if missing > 1:
            shared = np.max(
                [
                    (np.minimum(sizes, 2.0**both) - 1 - both) / math.comb(both, 2)
                    for both in range(2, missing + 1)
                ],
                axis=0,
            )
            pairs = (made + made.T) / (missing - 1) + (splits * shared).T @ splits
            made = np.triu(pairs * math.comb(missing, 2), 1)
        limit = min(len(self.machines.weights), float(np.minimum(sizes, 2.0**missing).sum()))
        groups = np.minimum(len(members) + made + TINY_GROUPS, limit)
        return np.asarray(self.machines.best_of[groups.astype(np.int64)])

    def _finish(self, script: tuple[int, ...], most: Floats, first: int) -> None:
        """Try the last one or two tests, those first that may make the most groups."""
        missing = self.tests - len(script)
        hopeful = np.argwhere(most > self.value + TINY)
        for pair in hopeful[np.argsort(-most[tuple(hopeful.T)], kind="stable")].tolist():
            if most[tuple(pair)] <= self.value + TINY:
                return
            chosen = (*script, *(first + place for place in pair[:missing]))
            placed = tuple(self.placements[place] for place in chosen)
            value = self.machines.value(placed)
            if value > self.value + TINY:
                self.best, self.value = placed, value

    def _is_first_of_its_kind(self, script: tuple[int, ...]) -> bool:
        """Whether no exchange of objects makes an earlier script of this one.

        What begins a first script is itself first, so that short scripts settle it for long ones.
        """
        if len(script) > 4:
            return True
        base = len(self.placements)
        digits = base ** np.arange(len(script) - 1, -1, -1)
        images = np.sort(self.images[:, list(script)], axis=1)
        return int((images @ digits).min()) >= int(np.array(script) @ digits)


def _images(machines: Distinct) -> Ints:
    """Where each exchange of like objects takes each of the placements: [exchange, placement]."""
    columns = machines.fires ^ machines.fires[:1]
    number = {columns[:, placed].tobytes(): at for at, placed in enumerate(machines.placements)}
    place_of = np.array(
        [number.get(columns[:, placed].tobytes(), -1) for placed in range(columns.shape[1])]
    )
    rows = []
    for exchange in exchanges(machines.space):
        moved = moved_sets(np.array(machines.placements), exchange)
        rows.append(place_of[moved])
    return np.array(rows)


def most_groups(machines: Distinct, tests: int) -> int:
    """More groups than this no fixed script can make.

    Among the machines of one kind, the lights of t tests have at most the sum of the entropies
    of each; the most groups with that entropy are one large group and single machines. How many
    objects each test places says how much entropy it has at most, so all ways of choosing these
    numbers are tried. Kinds are the rules, alone or with a number of blickets or inhibitors.
    """
    space, objects = machines.space, machines.space.objects
    most = min(len(machines.weights), 1 << min(tests, 60))
    if math.comb(tests + objects - 1, tests) > MAX_COUNTS:
        return most
    numbers = _numbers_of_tests(tests, [math.comb(objects, each + 1) for each in range(objects)])
    sizes = np.bitwise_count(np.arange(1 << objects))
    limits = np.full(len(numbers), float(most))
    for divided_by in ((), ("blickets",), ("inhibitors",)):
        kinds: dict[tuple[str | int, ...], list[int]] = {}
        for at, machine in enumerate(space):
            numbers_of = (getattr(machine, name).bit_count() for name in divided_by)
            kinds.setdefault((machine.rule, *numbers_of), []).append(at)
        total = np.zeros(len(numbers))
        for own in kinds.values():
            distinct = np.unique(space.fires[own], axis=0)
            bits = binary_entropy(distinct.mean(axis=0))
            most_bits = [bits[sizes == size].max() for size in range(1, objects + 1)]
            groups = _groups_of_entropy(len(distinct), numbers @ np.array(most_bits))
            total += np.minimum(groups, 2.0**tests)
        limits = np.minimum(limits, total)
    return int(limits.max())


def _groups_of_entropy(count: int, entropy: Floats) -> Floats:
    """The most groups into which lights of this entropy can divide so many machines."""
    large = np.arange(1, count + 1)  # the size of the one large group
    needed = np.log2(count) - large / count * np.log2(large)
    at = np.searchsorted(-needed, -(entropy + 1e-9))
    return np.asarray(count - large[np.minimum(at, count - 1)] + 1.0)


def _numbers_of_tests(tests: int, available: list[int]) -> Ints:
    """Every way to make so many tests with so many of each kind available: [way, kind]."""
    rows, left = np.zeros((1, 0), dtype=np.int64), np.array([tests])
    for at, most in enumerate(available):
        later = sum(available[at + 1 :])
        parts = []
        for number in range(min(most, tests) + 1):
            fits = (left >= number) & (left - number <= later)
            column = np.full((int(fits.sum()), 1), number)
            parts.append((np.hstack([rows[fits], column]), left[fits] - number))
        rows = np.concatenate([part[0] for part in parts])
        left = np.concatenate([part[1] for part in parts])
    return rows
