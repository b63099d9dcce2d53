"""Are two agents different? Exact permutation tests over seeds, corrected for many comparisons.

An interval of eight equal seeds says how rare another value is, not that there is none. So
differences are judged here and nowhere else:

- two agents trained apart: their seeds are exchanged between them in every possible way;
- the same agents in two evaluations, or agents against a known value: the sign of every seed's
  difference is turned in every possible way;
- the rows of a table that answer one question are corrected together by Holm's method.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.05
ROUNDING = 1e-9
TOO_SHORT = "too short to judge"
Values = Sequence[float] | NDArray[np.float64]


def between(first: Values, second: Values) -> float:
    """The two-sided chance of so large a difference of means if seeds were exchangeable."""
    pooled = np.array([*first, *second], dtype=np.float64)
    drawn = pooled[_choices(len(pooled), len(first))].mean(axis=1)
    rest = (pooled.sum() - drawn * len(first)) / len(second)
    return _share(np.abs(drawn - rest), abs(float(np.mean(first) - np.mean(second))))


def paired(differences: Values) -> float:
    """The two-sided chance of so large a mean if every difference could have either sign."""
    values = np.array(differences, dtype=np.float64)
    turned = (_signs(len(values)) * values).mean(axis=1)
    return _share(np.abs(turned), abs(float(values.mean())))


def above(differences: Values) -> float:
    """The same for a mean above 0, one-sided."""
    values = np.array(differences, dtype=np.float64)
    return _share((_signs(len(values)) * values).mean(axis=1), float(values.mean()))


def _share(drawn: NDArray[np.float64], seen: float) -> float:
    return float((drawn >= seen - ROUNDING).mean())


@cache
def _choices(count: int, size: int) -> NDArray[np.intp]:
    return np.array(list(combinations(range(count), size)))


@cache
def _signs(count: int) -> NDArray[np.float64]:
    return np.array(list(product((1.0, -1.0), repeat=count)))


def holm(chances: Sequence[float]) -> list[float]:
    """The chances corrected for having looked at all of them."""
    corrected = [0.0] * len(chances)
    highest = 0.0
    for step, which in enumerate(np.argsort(chances, kind="stable")):
        highest = max(highest, min(1.0, (len(chances) - step) * chances[which]))
        corrected[which] = highest
    return corrected


def verdict(difference: Any, chance: float, *, judged: bool) -> str:
    """A cell of a table: where the first lies, with the corrected chance."""
    if not judged:
        return TOO_SHORT
    if chance >= LEVEL:
        return f"no difference shown (p = {chance:.2f})"
    return f"{'above' if difference > 0 else 'below'} (p {_small(chance)})"


def above_verdict(chance: float, *, judged: bool) -> str:
    """The same where only being above counts."""
    if not judged:
        return TOO_SHORT
    if chance > 0.995:
        return "no"
    return f"{'yes' if chance < LEVEL else 'not shown'} (p {_small(chance)})"


def _small(chance: float) -> str:
    return (
        "< 0.001" if chance < 0.001 else f"= {chance:.3f}" if chance < 0.01 else f"= {chance:.2f}"
    )
