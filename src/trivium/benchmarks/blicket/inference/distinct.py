"""The machines of a space that tests can tell apart, and the objects that play the same part."""

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
MAX_AT_ONCE = 32  # tests whose lights are put together into one number


@dataclass(frozen=True, eq=False)
class Distinct:
    """The machines of a space that tests can tell apart, the likeliest first."""

    space: Space

    def __post_init__(self) -> None:
        require(not self.space.noisy, "plans are made for machines without noise")

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
        """The probability of each machine, with all that are indistinguishable from it."""
        return np.asarray(self._shares[self._order])

    @cached_property
    def firsts(self) -> NDArray[np.intp]:
        """Where each machine, or the first indistinguishable from it, is in the space."""
        return np.unique(self.space.equivalence, return_index=True)[1][self._order]

    @cached_property
    def fires(self) -> NDArray[np.bool_]:
        """Whether each placement lights each machine: [machine, placement]."""
        return np.asarray(self.space.fires[self.firsts])

    @cached_property
    def best_of(self) -> Floats:
        """The probability of the k likeliest machines together, for k from 0."""
        return np.concatenate([[0.0], np.cumsum(self.weights)])

    @cached_property
    def placements(self) -> list[int]:
        """Placements that can reveal something, one of those that always reveal the same.

        Small ones come first, as they are also the ones that explorers prefer.
        """
        columns = self.fires ^ self.fires[:1]  # a light and its opposite reveal the same
        sizes = np.bitwise_count(np.arange(columns.shape[1]))
        seen: dict[bytes, int] = {}
        for placed in np.argsort(sizes, kind="stable").tolist():
            if columns[:, placed].any():
                seen.setdefault(columns[:, placed].tobytes(), placed)
        return list(seen.values())

    def groups(self, script: tuple[int, ...]) -> Ints:
        """The number of the group of each machine: same lights, same number."""
        labels = np.zeros(len(self.weights), dtype=np.int64)
        for start in range(0, len(script), MAX_AT_ONCE):
            chosen = list(script[start : start + MAX_AT_ONCE])
            codes = self.fires[:, chosen] @ (1 << np.arange(len(chosen)))
            labels = np.unique((labels << len(chosen)) + codes, return_inverse=True)[1]
        return labels

    def value(self, script: tuple[int, ...]) -> float:
        """How often the best lookup after this script is right."""
        likeliest = np.unique(self.groups(script), return_index=True)[1]
        return float(self.weights[likeliest].sum())


def exchanges(space: Space) -> Iterator[tuple[int, ...]]:
    """Every reordering of the objects that keeps like objects among themselves."""
    kinds: list[list[int]] = []
    for each in range(space.objects):
        for kind in kinds:
            if _alike(space, kind[0], each):
                kind.append(each)
                break
        else:
            kinds.append([each])
    for orders in itertools.product(*(itertools.permutations(kind) for kind in kinds)):
        exchange = list(range(space.objects))
        for kind, order in zip(kinds, orders, strict=True):
            for one, other in zip(kind, order, strict=True):
                exchange[one] = other
        yield tuple(exchange)


def _alike(space: Space, one: int, other: int) -> bool:
    """Whether the space stays the same when these two objects are exchanged."""
    exchange = list(range(space.objects))
    exchange[one], exchange[other] = other, one
    moved = moved_sets(np.arange(1 << space.objects), tuple(exchange))

    def rows(fires: NDArray[np.bool_]) -> list[tuple[bytes, float]]:
        weights = np.round(space.belief, 12).tolist()
        return sorted(zip((row.tobytes() for row in fires), weights, strict=True))

    return rows(space.fires) == rows(space.fires[:, moved])


def moved_sets(placements: Ints, exchange: tuple[int, ...]) -> Ints:
    """These placements with every object in the place of another."""
    bits = [(placements >> one & 1) << other for one, other in enumerate(exchange)]
    return np.asarray(np.bitwise_or.reduce(bits))
