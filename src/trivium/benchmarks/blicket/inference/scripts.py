"""The best fixed script: tests chosen in advance, then an answer by lookup.

A script divides the machines into groups with the same lights; the best lookup names the likeliest
machine of the observed group. The best script is found by branch and bound over sets of
placements, up to exchanging interchangeable objects. Where that takes too long, a script found by
local search is a lower bound and `max_groups` an upper one.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

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

MAX_NODES = 1_000  # partial scripts of a search; takes less than a second
MAX_SCRIPTS = 10**12  # sets of placements; a search among more would not end
RANDOM_STARTS = 8  # of the local search, with placements of any size
MAX_WORK = 10**8  # of all starts together: machines times placements times tests
TINY_GROUPS = 1e-3  # rounding errors of a number of groups
MAX_COUNTS = 2_000_000  # ways of choosing how many tests have one object, two objects, ...


class Script(NamedTuple):
    """A fixed script."""

    placed: tuple[int, ...]
    value: float  # the accuracy of its lookup
    bound: float  # an upper bound of the accuracy of any script


@lru_cache(maxsize=64)
def best_fixed_script(space: Space, tests: int, max_nodes: int = MAX_NODES) -> Script:
    """The best script with this number of tests, or a good one with a bound on the best."""
    machines = Distinct(space)
    placements = machines.placements
    if tests >= len(placements):
        return Script(tuple(placements), float(machines.weights.sum()), 1.0)
    found = _improved_script(machines, tests)
    limit = float(machines.best_of[max_groups(machines, tests)])
    if machines.value(found) >= limit - TINY:
        return Script(found, limit, limit)
    if math.comb(len(placements), tests) > MAX_SCRIPTS:
        return Script(found, machines.value(found), limit)
    search = _Search(machines, tests, found, max_nodes)
    finished = search.run()
    value = machines.value(search.best)
    return Script(search.best, value, value if finished else limit)


def _improved_script(machines: Distinct, tests: int) -> tuple[int, ...]:
    """The best local optimum found: a script that replacing one test does not improve.

    The first starts prefer tests of one object, of two objects and so on; the others are random.
    """
    generator = np.random.default_rng(0)
    sizes = np.bitwise_count(np.array(machines.placements))
    best: tuple[int, ...] = ()
    work = max(1, len(machines.weights) * len(sizes) * tests)  # of a start without improvements
    for start in range(min(machines.space.objects + RANDOM_STARTS, max(1, MAX_WORK // work))):
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
    """A placement that makes the most groups together with the script; ties are random."""
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
    """Branch and bound over scripts with their tests in the order of the placements."""

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
        """Consider all scripts with this prefix; returns False if there are too many."""
        missing = self.tests - len(script)
        first = script[-1] + 1 if script else 0
        if len(self.placements) - first < missing:
            return True
        self.left -= 1
        bounds = self._bounds(members, first, missing)
        if missing <= 2:
            self._try_last_tests(script, bounds, first)
            return True
        if bounds.max() <= self.value + TINY:
            return True
        for place in range(first, len(self.placements) - missing + 1):
            if self.left <= 0:
                return False
            longer = (*script, place)
            if self._is_canonical(longer):
                lights = self.fires[:, place]
                parts = np.concatenate([members * lights, members * (1 - lights)])
                if not self._extend(longer, parts[parts.any(axis=1)]):
                    return False
        return True

    def _bounds(self, members: NDArray[np.float32], first: int, missing: int) -> Floats:
        """Upper bounds for scripts whose missing tests are as good as these two: [test, test].

        k tests divide a group into at most 2**k parts, or its machines: one more part for each
        test, and at most `shared` more for each pair of tests.
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

    def _try_last_tests(self, script: tuple[int, ...], bounds: Floats, first: int) -> None:
        """Try the last one or two tests, those with the highest bounds first."""
        missing = self.tests - len(script)
        promising = np.argwhere(bounds > self.value + TINY)
        for pair in promising[np.argsort(-bounds[tuple(promising.T)], kind="stable")].tolist():
            if bounds[tuple(pair)] <= self.value + TINY:
                return
            chosen = (*script, *(first + place for place in pair[:missing]))
            placed = tuple(self.placements[place] for place in chosen)
            value = self.machines.value(placed)
            if value > self.value + TINY:
                self.best, self.value = placed, value

    def _is_canonical(self, script: tuple[int, ...]) -> bool:
        """Whether this script comes first among its images under exchanges of objects.

        A prefix of a canonical script is canonical, so checking short scripts is enough.
        """
        if len(script) > 4:
            return True
        base = len(self.placements)
        digits = base ** np.arange(len(script) - 1, -1, -1)
        images = np.sort(self.images[:, list(script)], axis=1)
        return int((images @ digits).min()) >= int(np.array(script) @ digits)


def _images(machines: Distinct) -> Ints:
    """The image of each placement under each exchange of objects: [exchange, placement]."""
    columns = machines.fires ^ machines.fires[:1]
    number = {columns[:, placed].tobytes(): at for at, placed in enumerate(machines.placements)}
    place_of = np.array(
        [number.get(columns[:, placed].tobytes(), -1) for placed in range(columns.shape[1])]
    )
    placements = np.array(machines.placements)
    return np.array([place_of[moved_sets(placements, each)] for each in exchanges(machines.space)])


def max_groups(machines: Distinct, tests: int) -> int:
    """An upper bound of the number of groups that a fixed script can make.

    Among the machines of one kind, the entropy of the lights of t tests is at most the sum of the
    entropies of each; the most groups with that entropy are one large group and single machines.
    The number of objects in a test bounds its entropy, so all ways of choosing these numbers are
    tried. Kinds are the rules, alone or with a number of blickets or inhibitors.
    """
    space, objects = machines.space, machines.space.objects
    limit = min(len(machines.weights), 1 << min(tests, 60))
    if math.comb(tests + objects - 1, tests) > MAX_COUNTS:
        return limit
    numbers = _numbers_of_tests(tests, [math.comb(objects, each + 1) for each in range(objects)])
    sizes = np.bitwise_count(np.arange(1 << objects))
    limits = np.full(len(numbers), float(limit))
    for divided_by in ((), ("blickets",), ("inhibitors",)):
        kinds: dict[tuple[str | int, ...], list[int]] = {}
        for at, machine in enumerate(space):
            numbers_of = (getattr(machine, name).bit_count() for name in divided_by)
            kinds.setdefault((machine.rule, *numbers_of), []).append(at)
        total = np.zeros(len(numbers))
        for own in kinds.values():
            distinct = np.unique(space.fires[own], axis=0)
            bits = binary_entropy(distinct.mean(axis=0))
            max_bits = [bits[sizes == size].max() for size in range(1, objects + 1)]
            groups = _groups_of_entropy(len(distinct), numbers @ np.array(max_bits))
            total += np.minimum(groups, 2.0**tests)
        limits = np.minimum(limits, total)
    return int(limits.max())


def _groups_of_entropy(count: int, entropy: Floats) -> Floats:
    """The largest number of groups into which lights of this entropy divide `count` machines."""
    large = np.arange(1, count + 1)  # the size of the one large group
    needed = np.log2(count) - large / count * np.log2(large)
    at = np.searchsorted(-needed, -(entropy + 1e-9))
    return np.asarray(count - large[np.minimum(at, count - 1)] + 1.0)


def _numbers_of_tests(tests: int, available: list[int]) -> Ints:
    """Every way to choose this number of tests from those available of each kind: [way, kind]."""
    rows, left = np.zeros((1, 0), dtype=np.int64), np.array([tests])
    for at, count in enumerate(available):
        later = sum(available[at + 1 :])
        parts = []
        for number in range(min(count, tests) + 1):
            fits = (left >= number) & (left - number <= later)
            column = np.full((int(fits.sum()), 1), number)
            parts.append((np.hstack([rows[fits], column]), left[fits] - number))
        rows = np.concatenate([part[0] for part in parts])
        left = np.concatenate([part[1] for part in parts])
    return rows
