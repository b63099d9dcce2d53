"""The numbers of variables in matched items, and how likely they are.

Both sets of observed variables have one size, so (size - 2) of the (2 size - 2) observed variables
outside the target are control variables. The mean number of unobserved ones that are believed to
cause the dependent variable has the same share, and is never far from MIDDLE. In a dag three of six
families take the place of each set, and LATENT variables are their causes.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trivium.core.errors import require

if TYPE_CHECKING:
    from trivium.benchmarks.variables.spec import VariablesSpec

LATENT = 6  # causes in a dag, each of two families; neither observed nor mentioned
SMALLEST = 5  # of sets and of trees of hypotheses; items with smaller ones would repeat
MIDDLE = 2  # unobserved control variables: one fewer, this many, or one more
MAX_TILT = 2 / 3  # the largest distance of their mean from MIDDLE


class Layout(NamedTuple):
    """The numbers of variables in an item."""

    size: int  # of both sets
    unobserved: int
    believed: int  # unobserved variables that are believed to cause the dependent one

    @property
    def variables(self) -> int:
        return 2 * self.size + self.unobserved

    @property
    def control(self) -> int:
        """The number of control variables of a valid target."""
        return self.size - 2 + self.believed


class Layouts(NamedTuple):
    """All layouts of a spec, and their probabilities for items of each kind."""

    all: tuple[Layout, ...]
    shares: NDArray[np.float64]  # (kinds, layouts)


@lru_cache(maxsize=64)
def layouts(spec: VariablesSpec) -> Layouts:
    """The layouts of a spec.

    With balance control, each number of control variables is a kind, and sets grow in steps of
    three, so that sizes do not share these numbers; otherwise there is one kind.
    """
    sizes = {
        size: hidden
        for size in range(SMALLEST, spec.max_vars // 2)
        if (spec.graph == "forest" or size % (LATENT // 2) == 0)
        and (hidden := _unobserved(spec, size))
    }
    if spec.balance == "control":
        first = min(sizes, default=0)
        sizes = {size: hidden for size, hidden in sizes.items() if (size - first) % 3 == 0}
    require(
        bool(sizes),
        f"no matched item with balance {spec.balance} has {spec.min_vars} to {spec.max_vars} "
        f"variables and at most {spec.max_hyps} hypotheses",
    )
    weights = {}
    for size, hidden in sizes.items():
        for unobserved, share in hidden.items():
            for step in (-1, 0, 1):
                part = (1 + 1.5 * step * _tilt(size, unobserved)) / 3
                weights[Layout(size, unobserved, MIDDLE + step)] = share * part / len(sizes)
    shares = np.array(list(weights.values()))[None]
    if spec.balance == "control":
        control = np.array([layout.control for layout in weights])
        shares = np.where(control == np.unique(control)[:, None], shares, 0.0)
    return Layouts(tuple(weights), shares / shares.sum(axis=1, keepdims=True))


def _tilt(size: int, unobserved: int) -> float:
    """How far the mean number of believed variables is above MIDDLE.

    Then the share of control variables is that of the observed variables.
    """
    return unobserved * (size - 2) / (2 * size - 2) - MIDDLE


def _unobserved(spec: VariablesSpec, size: int) -> dict[int, float]:
    """The numbers of unobserved variables beside sets of this size, and their probabilities.

    With balance control these are chosen so that the mean number of believed ones is MIDDLE: then
    all three numbers of them are equally likely.
    """
    possible = [
        number
        for number in range(1, spec.max_vars)
        if abs(_tilt(size, number)) <= MAX_TILT
        and spec.min_vars <= 2 * size + number <= spec.max_vars
        and spec.max_hyps - number >= 2 * (SMALLEST - 1)
    ]
    if spec.balance != "control":
        return {number: 1 / len(possible) for number in possible}
    below = max((number for number in possible if _tilt(size, number) <= 0), default=None)
    above = min((number for number in possible if _tilt(size, number) >= 0), default=None)
    if below is None or above is None or below == above:
        return {} if below is None or above is None else {below: 1.0}
    low, high = _tilt(size, below), _tilt(size, above)
    return {below: high / (high - low), above: -low / (high - low)}
