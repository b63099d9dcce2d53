"""The machines of a space that tests can distinguish: what planners and scripts work with."""

from __future__ import annotations

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
class DistinctMachines:
    """The machines of a space that tests can distinguish, the likeliest first."""

    space: Space

    def __post_init__(self) -> None:
        same = len({machine.noise for machine in self.space}) == 1
        require(same, "planning needs machines with the same noise")

    @property
    def noise(self) -> float:
        """The probability that a light is wrong."""
        return self.space.hypotheses[0].noise

    @cached_property
    def firsts(self) -> NDArray[np.intp]:
        """The index in the space of each machine, the first of those indistinguishable from it."""
        classes = self.space.equivalence
        shares = np.bincount(classes, weights=self.space.belief)
        likeliest_first = np.argsort(-shares, kind="stable")
        return np.unique(classes, return_index=True)[1][likeliest_first]

    @cached_property
    def weights(self) -> Floats:
        """The probability of each machine, including those indistinguishable from it."""
        return self.shares(self.space.belief)

    def shares(self, belief: Floats) -> Floats:
        """The probability of each machine under a belief about the space."""
        classes = self.space.equivalence
        return np.asarray(np.bincount(classes, weights=belief)[classes[self.firsts]])

    @cached_property
    def fires(self) -> NDArray[np.bool_]:
        """Whether each placement activates each machine, without noise: [machine, placement]."""
        return np.asarray(self.space.fires[self.firsts])

    @cached_property
    def best_of(self) -> Floats:
        """The total probability of the k likeliest machines, for k = 0, 1, 2, ..."""
        return np.concatenate([[0.0], np.cumsum(self.weights)])

    def bound(self, count: int, tests: int) -> float:
        """An upper bound of right answers about `count` machines: t tests have 2**t outcomes."""
        return float(self.best_of[min(count, 1 << min(tests, 60))])

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
        """The accuracy of the best lookup after this script, without noise."""
        likeliest = np.unique(self.groups(script), return_index=True)[1]
        return float(self.weights[likeliest].sum())
