"""Which columns of a table depend on each other: a test that also sees parabolas.

The test of a pair is the F test of a quadratic regression, each column on the other,
over the rows where both are there. With two regressors its tail has a closed form:
p = (residual share) ** ((m - 3) / 2) for m rows. So an exact relation is seen in few
rows, which a permutation test could not do: four rows have only 24 orders.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product

import numpy as np

from trivium.benchmarks.variables.generate import Bools, Floats, Ints

LEVEL = 0.05  # of all pairs of a table together
MIN_ROWS = 4  # a parabola goes through any three
TINY = 1e-12  # shares below this are rounding


def pair_p_values(table: Floats) -> tuple[Ints, Ints, Floats]:
    """All pairs of columns, and how likely so close a relation is between strangers."""
    first, second = np.triu_indices(table.shape[1], 1)
    both = ~np.isnan(table[:, first]) & ~np.isnan(table[:, second])
    x, y = np.where(both, table[:, first], 0.0), np.where(both, table[:, second], 0.0)
    rows = both.sum(axis=0)
    forward, backward = _residual_share(x, y, both, rows), _residual_share(y, x, both, rows)
    share = np.minimum(forward, backward)
    freedom = np.maximum(rows - 3, 0)
    # Two regressions are tried for each pair, and the better one counts.
    return first, second, np.minimum(1.0, 2 * share ** (freedom / 2))


def _residual_share(x: Floats, y: Floats, both: Bools, rows: Ints) -> Floats:
    """What a parabola of x leaves of the variance of y, column by column."""
    count = np.maximum(rows, 1)

    def centred(values: Floats) -> Floats:
        return np.where(both, values - values.sum(axis=0) / count, 0.0)

    def unit(values: Floats, size: Floats) -> Floats:
        # What is left of a column that says nothing new is rounding, not a direction.
        norm = np.sqrt((values * values).sum(axis=0))
        return np.where(norm > 1e-9 * size, values / np.where(norm > 0, norm, 1.0), 0.0)

    line = centred(x)
    line = unit(line, np.abs(x).max(axis=0))
    bend = centred(line * line)
    bend = unit(bend - line * (line * bend).sum(axis=0), np.ones(x.shape[1]))
    left = centred(y)
    total = (left * left).sum(axis=0)
    for direction in (line, bend, line, bend):  # twice, against rounding
        left = left - direction * (direction * left).sum(axis=0)
    residual = (left * left).sum(axis=0)
    varies = total > TINY * (y * y).sum(axis=0)
    return np.where(varies, np.maximum(residual / np.where(varies, total, 1.0), TINY), 1.0)


def untested_pairs(table: Floats, sets: Sequence[set[int]]) -> list[tuple[int, int]]:
    """The pairs of which nothing is known: no column of the one's set met one of the other's."""
    there = (~np.isnan(table)).astype(np.int64)
    met = there.T @ there >= MIN_ROWS
    return [
        pair
        for own, other in combinations(map(sorted, sets), 2)
        if not met[np.ix_(own, other)].any()
        for pair in product(own, other)
    ]


def dependent_sets(
    table: Floats, planned: tuple[int, int] | None = None, level: float = LEVEL
) -> list[set[int]]:
    """Columns in sets: those that tests tie together, directly or through others.

    The tests of all pairs are corrected for their number by Holm's way; the one pair that
    was planned to be tested before the table was seen needs no correction. Joining what is
    tied through others assumes that dependence is shared, as it is in a forest.
    """
    first, second, p_values = pair_p_values(table)
    order = np.argsort(p_values, kind="stable")
    limits = level / np.arange(len(order), 0, -1)
    fails = p_values[order] > limits
    rejected = order[: int(fails.argmax())] if fails.any() else order
    tied = list(zip(first[rejected].tolist(), second[rejected].tolist(), strict=True))
    if planned is not None:
        at = (first == min(planned)) & (second == max(planned))
        tied += [planned] if (p_values[at] <= level).any() else []
    group = list(range(table.shape[1]))
    for one, other in tied:
        kept, joined = group[one], group[other]
        group = [kept if own == joined else own for own in group]
    return [
        {column for column, own in enumerate(group) if own == label}
        for label in dict.fromkeys(group)
    ]
