"""Cells and corrections that all tables share."""

from __future__ import annotations

from collections.abc import Sequence

from studies.blicket_learners.compare import holm
from trivium.core.statistics import Estimate

Row = dict[str, str]  # a cell under the name of its column
NONE = "-"
VIEWS = ("as trained", "no forced steps")  # as records name them


def interval(estimate: Estimate | None, decimals: int = 2) -> str:
    """A mean with its interval."""
    if estimate is None:
        return NONE
    value, low, high = (
        f"{part or 0.0:z,.{decimals}f}" for part in (estimate.value, estimate.low, estimate.high)
    )
    return f"{value} [{low}, {high}]"


def millions(steps: int) -> str:
    """Environment steps in a table."""
    return f"{steps / 1e6:.2f} M"


def holm_by(chances: Sequence[float], questions: Sequence[str]) -> list[float]:
    """The chances, corrected over the rows of one question each."""
    corrected = [0.0] * len(chances)
    for question in set(questions):
        own = [number for number, each in enumerate(questions) if each == question]
        for number, chance in zip(own, holm([chances[each] for each in own]), strict=True):
            corrected[number] = chance
    return corrected
