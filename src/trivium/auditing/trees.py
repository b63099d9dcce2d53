"""Gradient-boosted oblivious trees: all nodes of a level ask the same question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
Codes = NDArray[np.uint8]  # (column, row): the bin of each value

ROWS, COLUMNS = 8000, 60  # on which each tree is grown
DEPTH = 4
RATE = 0.15
PENALTY = 4.0  # added to the weight of each leaf, which shrinks its value


@dataclass(frozen=True)
class Trees:
    """Boosted trees, fitted to log-odds."""

    # of each tree and level: a column, and the last bin of the lower side
    questions: list[list[tuple[int, int]]]
    leaf_values: list[Floats]  # one array for each tree, one value for each leaf
    start: float

    def __call__(self, codes: Codes) -> Floats:
        """The log-odds of every row; codes are (column, row)."""
        total = np.full(codes.shape[1], self.start, dtype=np.float32)
        for asked, values in zip(self.questions, self.leaf_values, strict=True):
            total += values[_leaves(codes, asked)]
        return total


def _leaves(codes: Codes, asked: Sequence[tuple[int, int]]) -> Ints:
    leaf = np.zeros(codes.shape[1], dtype=np.int64)
    for column, below in asked:
        leaf = 2 * leaf + (codes[column] > below)
    return leaf


def grow(codes: Codes, right: Floats, trees: int, bins: int) -> Trees:
    """Trees that predict which rows are `right`, each grown on some random rows and columns."""
    random = np.random.default_rng(0)
    share = float(right.mean())
    grown = Trees([], [], float(np.log(share / (1 - share))))
    total = grown(codes)
    rows, columns = min(len(right), ROWS), min(len(codes), COLUMNS)
    for _ in range(trees):
        chosen = random.choice(len(right), rows, replace=False)
        kept = random.choice(len(codes), columns, replace=False)
        part = codes[np.ix_(kept, chosen)].astype(np.int64)
        # Newton boosting, with the mean of all second derivatives for each of them.
        expected = 1 / (1 + np.exp(-total[chosen]))
        residual, mean = right[chosen] - expected, float((expected * (1 - expected)).mean())
        asked: list[tuple[int, int]] = []
        leaf = np.zeros(rows, dtype=np.int64)
        for level in range(DEPTH):
            width = bins << level
            cells = part + leaf * bins + np.arange(columns)[:, None] * width
            size = columns * width
            count = np.bincount(cells.ravel(), minlength=size).reshape(columns, -1, bins)
            sums = np.bincount(cells.ravel(), np.tile(residual, columns), size)
            below = sums.reshape(columns, -1, bins).cumsum(axis=2)
            weight = mean * count.cumsum(axis=2) + PENALTY
            whole, all_weight = below[:, :, -1:], weight[:, :, -1:]
            above, rest = whole - below, all_weight - weight + 2 * PENALTY
            gain = (below**2 / weight + above**2 / rest).sum(axis=1)
            column, split = divmod(int(gain.argmax()), bins)
            asked.append((int(kept[column]), split))
            leaf = 2 * leaf + (part[column] > split)
        sums = np.bincount(leaf, residual, 1 << DEPTH)
        values = RATE * sums / (mean * np.bincount(leaf, minlength=1 << DEPTH) + PENALTY)
        grown.questions.append(asked)
        grown.leaf_values.append(values.astype(np.float32))
        total += grown.leaf_values[-1][_leaves(codes, asked)]
    return grown
