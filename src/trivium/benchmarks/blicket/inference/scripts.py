"""The best fixed script: tests chosen in advance, then an answer by lookup.

A script divides the machines into groups with the same lights; the best lookup names the likeliest
machine of the observed group. The best script is found by branch and bound over sets of
placements, up to exchanging objects that all machines treat alike. Where that takes too long, a
script found by local search is a lower bound and `max_groups` an upper one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache
from itertools import combinations_with_replacement, permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trivium.benchmarks.blicket.inference.distinct import DistinctMachines, Floats, Ints
from trivium.benchmarks.blicket.inference.hypotheses import Space
from trivium.benchmarks.blicket.inference.observer import TINY, binary_entropy

MAX_NODES = 1_000  # partial scripts of a search; takes less than a second
MAX_SCRIPTS = 10**12  # sets of placements; a search among more would not end
RANDOM_STARTS = 8  # of the local search, with placements of any size
MAX_WORK = 10**8  # of all starts together: machines times placements times tests
TINY_GROUPS = 1e-3  # rounding errors of a number of groups
MAX_MIXES = 100_000  # ways of choosing how many tests have one object, two objects, ...


class Script(NamedTuple):
    """A fixed script."""

    placed: tuple[int, ...]
    value: float  # the accuracy of its lookup
    bound: float  # an upper bound of the accuracy of any script


@lru_cache(maxsize=64)
def best_fixed_script(space: Space, tests: int, max_nodes: int = MAX_NODES) -> Script:
    """The best script with this number of tests, or a good one with a bound on the best."""
    machines = DistinctMachines(space)
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


def _improved_script(machines: DistinctMachines, tests: int) -> tuple[int, ...]:
    """The best of several local optima, scripts that no other test in place of one improves.

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
    machines: DistinctMachines,
    script: tuple[int, ...],
    generator: np.random.Generator,
    preferred: NDArray[np.bool_] | None = None,
) -> int:
    """A placement that makes the most groups together with the script; ties are random."""
    placements, labels = machines.placements, machines.groups(script)
    starts = np.unique(np.sort(labels), return_index=True)[1]
    grouped = machines.fires[labels.argsort(kind="stable")][:, placements]
    lit = np.add.reduceat(grouped, starts, axis=0, dtype=np.int32)  # machines of each group
    made = ((lit > 0) & (lit < np.bincount(labels)[:, None])).sum(axis=0)
    ranked = made + generator.random(len(made)) / 2
    if preferred is not None:
        ranked += len(machines.weights) * (preferred & (made > 0))
    return placements[int(ranked.argmax())]


class _Search:
    """Branch and bound over scripts with their tests in the order of the placements.

    `groups` are the machines that the tests so far leave together: a row of 0 and 1 for each group.
    """

    def __init__(
        self, machines: DistinctMachines, tests: int, best: tuple[int, ...], max_nodes: int
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

    def _extend(self, script: tuple[int, ...], groups: NDArray[np.float32]) -> bool:
        """Consider all scripts with this prefix; returns False if there are too many."""
        missing = self.tests - len(script)
        first = script[-1] + 1 if script else 0
        if len(self.placements) - first < missing:
            return True
        self.left -= 1
        bounds = self._bounds(groups, first, missing)
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
                parts = np.concatenate([groups * lights, groups * (1 - lights)])
                if not self._extend(longer, parts[parts.any(axis=1)]):
                    return False
        return True

    def _bounds(self, groups: NDArray[np.float32], first: int, missing: int) -> Floats:
        """Upper bounds for scripts in which no pair of missing tests is better: [test, test].

        A test that splits a group makes one part more. Several tests make more together: a group
        of s machines has at most min(s, 2**k) parts after k tests, so `shared` is the largest
        surplus that each pair of them can have.
        """
        sizes = groups.sum(axis=1, keepdims=True)
        lit = groups @ self.fires[:, first:]
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
        most = np.minimum(len(groups) + made + TINY_GROUPS, limit)
        return np.asarray(self.machines.best_of[most.astype(np.int64)])

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


def _images(machines: DistinctMachines) -> Ints:
    """The image of each placement under each exchange of objects: [exchange, placement].

    Each is the index of the listed placement that is as informative.
    """
    columns = machines.fires ^ machines.fires[:1]
    number = {columns[:, placed].tobytes(): at for at, placed in enumerate(machines.placements)}
    place_of = np.array(
        [number.get(columns[:, placed].tobytes(), -1) for placed in range(columns.shape[1])]
    )
    placements = np.array(machines.placements)
    return np.array([place_of[_exchanged(placements, each)] for each in _exchanges(machines.space)])


def _exchanges(space: Space) -> Iterable[tuple[int, ...]]:
    """Every order of the objects if the space treats all alike, otherwise only their own order."""
    weights = np.round(space.belief, 12).tolist()

    def content(fires: NDArray[np.bool_]) -> list[tuple[bytes, float]]:
        return sorted(zip((row.tobytes() for row in fires), weights, strict=True))

    identity = tuple(range(space.objects))
    for one in identity[1:]:  # exchanges of neighbours generate all others
        exchange = (*identity[: one - 1], one, one - 1, *identity[one + 1 :])
        if content(space.fires[:, _exchanged(np.arange(1 << space.objects), exchange)]) != content(
            space.fires
        ):
            return [identity]
    return permutations(identity)


def _exchanged(placements: Ints, exchange: tuple[int, ...]) -> Ints:
    """These placements with every object replaced by the one it is exchanged with."""
    bits = [(placements >> one & 1) << other for one, other in enumerate(exchange)]
    return np.asarray(np.bitwise_or.reduce(bits))


def max_groups(machines: DistinctMachines, tests: int) -> int:
    """An upper bound of the number of groups that a fixed script can make.

    Among the machines of one rule, the entropy of the lights of several tests is at most the sum
    of the entropies of each, which depend on how many objects a test has: small tests distinguish
    disjunctive machines and large ones conjunctive machines. So all mixes of sizes are tried.
    """
    space, objects = machines.space, machines.space.objects
    limit = min(len(machines.weights), 1 << min(tests, 60))
    if math.comb(tests + objects - 1, tests) > MAX_MIXES:
        return limit
    sizes = np.bitwise_count(np.arange(1 << objects))
    chosen = combinations_with_replacement(range(1, objects + 1), tests)
    mixes = np.array([np.bincount(each, minlength=objects + 1) for each in chosen])
    mixes = mixes[(mixes <= np.bincount(sizes)).all(axis=1)]  # no test is made twice
    total = np.zeros(len(mixes))
    for rule in {machine.rule for machine in space}:
        fires = np.unique(space.fires[[machine.rule == rule for machine in space]], axis=0)
        bits = binary_entropy(fires.mean(axis=0))
        most_bits = [bits[sizes == size].max() for size in range(objects + 1)]
        total += np.minimum(_groups_of_entropy(len(fires), mixes @ most_bits), 2.0**tests)
    return int(min(limit, total.max()))


def _groups_of_entropy(count: int, entropy: Floats) -> Floats:
    """The largest number of groups into which lights of this entropy divide `count` machines.

    That is one large group, and groups of a single machine.
    """
    large = np.arange(1, count + 1)  # the size of the one large group
    needed = np.log2(count) - large / count * np.log2(large)
    at = np.searchsorted(-needed, -(entropy + 1e-9))
    return np.asarray(count - large[np.minimum(at, count - 1)] + 1.0)
