"""The machines of a space that tests can distinguish, and its interchangeable objects."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trivium.benchmarks.blicket.inference.hypotheses import Space
from trivium.core.errors import require

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
MAX_BITS = 32  # lights that are packed into one number


@dataclass(frozen=True, eq=False)
class Distinct:
    """The machines of a space that tests can distinguish, the likeliest first."""

    space: Space

    def __post_init__(self) -> None:
        require(not self.space.noisy, "planning needs machines without noise")

    @cached_property
    def _order(self) -> NDArray[np.intp]:
        return np.argsort(-self._shares, kind="stable")

    @cached_property
    def _shares(self) -> Floats:
        shares: Floats = np.zeros(int(self.space.equivalence.max()) + 1)
        np.add.at(shares, self.space.equivalence, self.space.belief)
        return shares

    @cached_property
    def weights(self) -> Floats:
        """The probability of each machine, including those indistinguishable from it."""
        return np.asarray(self._shares[self._order])

    @cached_property
    def firsts(self) -> NDArray[np.intp]:
        """The index in the space of each machine, the first of those indistinguishable from it."""
        return np.unique(self.space.equivalence, return_index=True)[1][self._order]

    def shares(self, belief: Floats) -> Floats:
        """The probability of each machine under a belief about the space."""
        equivalence = self.space.equivalence
        return np.asarray(np.bincount(equivalence, weights=belief)[equivalence[self.firsts]])

    @cached_property
    def fires(self) -> NDArray[np.bool_]:
        """Whether each placement activates each machine: [machine, placement]."""
        return np.asarray(self.space.fires[self.firsts])

    @cached_property
    def best_of(self) -> Floats:
        """The total probability of the k likeliest machines, for k = 0, 1, 2, ..."""
        return np.concatenate([[0.0], np.cumsum(self.weights)])

    @cached_property
    def placements(self) -> list[int]:
        """The informative placements, one of each group that is equally informative.

        Small placements come first, since explorers prefer them.
        """
        columns = self.fires ^ self.fires[:1]  # a light and its opposite are equally informative
        sizes = np.bitwise_count(np.arange(columns.shape[1]))
        seen: dict[bytes, int] = {}
        for placed in np.argsort(sizes, kind="stable").tolist():
            if columns[:, placed].any():
                seen.setdefault(columns[:, placed].tobytes(), placed)
        return list(seen.values())

    def groups(self, script: tuple[int, ...]) -> Ints:
        """A group number for each machine: the same number for the same lights."""
        labels = np.zeros(len(self.weights), dtype=np.int64)
        for start in range(0, len(script), MAX_BITS):
            chosen = list(script[start : start + MAX_BITS])
            codes = self.fires[:, chosen] @ (1 << np.arange(len(chosen)))
            labels = np.unique((labels << len(chosen)) + codes, return_inverse=True)[1]
        return labels

    def value(self, script: tuple[int, ...]) -> float:
        """The accuracy of the best lookup after this script."""
        likeliest = np.unique(self.groups(script), return_index=True)[1]
        return float(self.weights[likeliest].sum())


def exchanges(space: Space) -> Iterator[tuple[int, ...]]:
    """Every permutation of the objects that maps each to one interchangeable with it."""
    kinds: list[list[int]] = []
    for each in range(space.objects):
        for kind in kinds:
            if _interchangeable(space, kind[0], each):
                kind.append(each)
                break
        else:
            kinds.append([each])
    for orders in itertools.product(*map(itertools.permutations, kinds)):
        pairs = zip(itertools.chain(*kinds), itertools.chain(*orders), strict=True)
        yield tuple(other for _, other in sorted(pairs))


def _interchangeable(space: Space, one: int, other: int) -> bool:
    """Whether exchanging these two objects leaves the space unchanged."""
    exchange = list(range(space.objects))
    exchange[one], exchange[other] = other, one
    moved = moved_sets(np.arange(1 << space.objects), tuple(exchange))

    def rows(fires: NDArray[np.bool_]) -> list[tuple[bytes, float]]:
        weights = np.round(space.belief, 12).tolist()
        return sorted(zip((row.tobytes() for row in fires), weights, strict=True))

    return rows(space.fires) == rows(space.fires[:, moved])


def moved_sets(placements: Ints, exchange: tuple[int, ...]) -> Ints:
    """These placements with every object replaced by the one it is exchanged with."""
    bits = [(placements >> one & 1) << other for one, other in enumerate(exchange)]
    return np.asarray(np.bitwise_or.reduce(bits))
