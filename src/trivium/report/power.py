"""How many items it takes to see a difference between two solvers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trivium.core.errors import require
from trivium.core.statistics import difference_variance, items_to_compare
from trivium.evaluation.cost import Power
from trivium.report.compare import (
    SolverScores,
    common_items,
    require_same_items,
    worth_comparing,
)


def power_to_compare(
    benchmark: str,
    difference: float,
    score: float = 0.5,
    correlation: float = 0.3,
    runs: Sequence[SolverScores] | None = None,
) -> Power:
    """The items needed, by the worse solver's score and their correlation, or from two runs."""
    graded = False
    if runs is None:
        variance = difference_variance(score, score + difference, correlation)
        how = f"scores of {score:g} and {score + difference:g}, assumed, with a correlation of "
        how += f"{correlation:g}"
    else:
        found = worth_comparing([one for one in runs if one.benchmark == benchmark])
        require(len(found) >= 2, f"runs must hold two solvers of {benchmark}, got {len(found)}")
        require_same_items(found[:2])
        common = common_items(found[0], found[1])
        require(len(common) >= 2, "runs: the solvers have fewer than two items in common")
        first, second = ([one.scores[item] for item in common] for one in found[:2])
        how = f"from {found[0]} and {found[1]} on {len(common):,} items"
        graded = not {*first, *second} <= {0.0, 1.0}
        variance = float(np.var(np.subtract(first, second), ddof=1))
    items, more = (
        items_to_compare(difference, variance, power, graded=graded) for power in (0.8, 0.9)
    )
    return Power(difference, items, more, how)
