"""Small words of the study's report: tables, values with intervals, comparisons of them."""

from __future__ import annotations

from collections.abc import Sequence

from trivium.core.statistics import Estimate
from trivium.report.tables import Table

NOT_RUN = ["Not run."]
MOST = 0.9  # the share of cases from which on a finding is said to agree


def markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table as Markdown."""
    table = Table("", tuple(columns), tuple(map(tuple, rows)))
    lines = [table.columns, tuple("---" for _ in table.columns), *table.rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def short(estimate: Estimate, decimals: int = 2) -> str:
    """A value with its interval."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return "undefined"
    value, low, high = (
        f"{part:,.{decimals}f}".replace("-0.00", "0.00")
        for part in (estimate.value, estimate.low, estimate.high)
    )
    return f"{value} [{low}, {high}]"


def millions(steps: int) -> str:
    """Environment steps in a table."""
    return f"{steps / 1e6:.2f} M"


def middle(estimate: Estimate) -> float:
    """The value itself; 0 where there is none."""
    return estimate.value or 0.0


def above(first: Estimate, second: Estimate) -> bool:
    """Whether the first is above the second with their intervals apart."""
    return (first.low or 0.0) > (second.high or 0.0)


def covers(estimate: Estimate, value: float) -> bool:
    """Whether the interval holds a value, up to rounding."""
    low, high = estimate.low or 0.0, estimate.high or 0.0
    return low - 0.01 <= value <= high + 0.01


def verdict(share_that_agrees: float) -> str:
    """How a finding of the paper stands, from the share of our cases that show it."""
    if share_that_agrees >= MOST:
        return "Agrees with the paper"
    if share_that_agrees <= 1 - MOST:
        return "Does not agree with the paper"
    return "Agrees with the paper in part"


def listed(names: Sequence[str]) -> str:
    """Names as a list in a sentence."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
