"""Whether two sets of learning curves differ, or are equivalent: bands, verdicts, a figure.

A permutation test. If both sides were one algorithm, it would be chance which seed belongs to
which side, so the largest Welch t over the bins is computed for every way to assign the seeds to
two sides. The critical value is the quantile of those at 1 - 0.05 / comparisons: if nothing
differs, the probability that any bin of any comparison lies outside its band is at most 5%. No
distribution is assumed and bins may depend on one another. Memoryless agents cannot answer the
quiz, so their reward stays at zero; how long their episodes last changes all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray
from studies.theme import LINES, Figure, series

from trivium.core.errors import require
from trivium.core.statistics import Estimate, mean_interval, two_sided_t
from trivium.report.plot import Panel, nice_ticks

Curves = NDArray[np.float64]  # [seeds, bins]
Sides = dict[str, list[dict[str, Any]]]  # curves as they stand in their files
JOINT_ERROR = 0.05  # over all agents, measures and bins
MARGINS = {"reward": 0.3, "steps": 2.5}  # of equivalence: a tenth of the scale
MAX_ASSIGNMENTS = 20_000  # of seeds to sides; of more, this many are drawn
MEASURES = ("reward", "steps")  # means of an episode
SIDES = {"ours": "Trivium", "theirs": "Stable-Baselines3"}


@dataclass(frozen=True)
class Comparison:
    """One agent's curves of one measure on both sides."""

    agent: str
    measure: str
    bin: int
    ours: Curves
    theirs: Curves
    critical: float  # Welch t that is exceeded in some bin by chance at the error rate
    decisive: bool  # whether there are seeds enough for any curves to be found different
    chance: float  # probability of a largest t at least as large, if nothing differs

    @property
    def difference(self) -> Curves:
        """Ours less theirs."""
        gap: Curves = self.ours.mean(axis=0) - self.theirs.mean(axis=0)
        return gap

    @property
    def half(self) -> Curves:
        """Half the width of the simultaneous band around the difference."""
        return self.critical * spread(self.ours, self.theirs)

    @property
    def verdict(self) -> str:
        """Whether any difference is shown, and if not, whether they are equivalent."""
        if not self.decisive:
            return "too few seeds"
        if (np.abs(self.difference) > self.half).any():
            return "differ"
        return "equivalent" if self.not_excluded <= MARGINS[self.measure] else "not decided"

    @property
    def not_excluded(self) -> float:
        """The largest difference in any bin that the bands leave possible."""
        return float((np.abs(self.difference) + self.half).max())

    @property
    def at_the_end(self) -> tuple[float, float]:
        """Welch's 90% interval of the last bin's difference, that of two one-sided tests at 5%."""
        gap, error = float(self.difference[-1]), float(spread(self.ours, self.theirs)[-1])
        parts = [side[:, -1].var(ddof=1) / len(side) + 1e-12 for side in (self.ours, self.theirs)]
        freedom = sum(parts) ** 2 / sum(
            part**2 / (len(side) - 1)
            for part, side in zip(parts, (self.ours, self.theirs), strict=True)
        )
        half = two_sided_t(0.9, freedom) * error
        return gap - half, gap + half

    @property
    def steps(self) -> list[int]:
        """Where each bin ends."""
        return [self.bin * (index + 1) for index in range(self.ours.shape[1])]


def spread(first: Curves, second: Curves) -> Curves:
    """Welch's standard error of a difference of means, along the last axis but one."""
    parts = [side.var(axis=-2, ddof=1) / side.shape[-2] for side in (first, second)]
    error: Curves = np.sqrt(parts[0] + parts[1] + 1e-12)  # a bin may be the same for all
    return error


def assignments(ours: int, theirs: int) -> NDArray[np.bool_]:
    """Which seeds are ours in every possible assignment, or in many drawn ones."""
    count = ours + theirs
    if comb(count, ours) <= MAX_ASSIGNMENTS:
        rows = np.zeros((comb(count, ours), count), dtype=bool)
        for row, chosen in zip(rows, combinations(range(count), ours), strict=True):
            row[list(chosen)] = True
        return rows
    order = np.random.default_rng(0).random((MAX_ASSIGNMENTS, count)).argsort(axis=1)
    return order < ours


def largest(ours: Curves, theirs: Curves) -> Curves:
    """The largest Welch t over the bins."""
    gap = ours.mean(axis=-2) - theirs.mean(axis=-2)
    found: Curves = np.abs(gap / spread(ours, theirs)).max(axis=-1)
    return found


def comparison(agent: str, measure: str, sides: Sides, error: float) -> Comparison:
    """Both sides of one agent as far as all its curves go, with the critical value."""
    bins = min(len(curve["rewards"]) for side in sides.values() for curve in side)
    ours, theirs = (
        np.array([values(curve, measure)[:bins] for curve in side]) for side in sides.values()
    )
    both = np.concatenate([ours, theirs])
    by_chance = np.array(
        [largest(both[mine], both[~mine]) for mine in assignments(len(ours), len(theirs))]
    )
    critical = float(np.quantile(by_chance, 1 - error, method="higher"))
    chance = float((by_chance >= largest(ours, theirs) - 1e-9).mean())
    decisive = critical < by_chance.max() - 1e-9
    width = sides["ours"][0]["bin"]
    return Comparison(agent, measure, width, ours, theirs, critical, bool(decisive), chance)


def values(curve: dict[str, Any], measure: str) -> list[float]:
    """A measure in every bin."""
    if measure == "reward":
        return list(curve["rewards"])
    return [curve["bin"] / episodes for episodes in curve["episodes"]]


def load(folder: Path) -> list[Comparison]:
    """Every agent that both sides have curves of, as far as all of them go."""
    found = [orjson.loads(path.read_bytes()) for path in sorted(folder.glob("*/*.json"))]
    widths = {curve["bin"] for curve in found}
    require(len(widths) == 1, f"{folder}: curves of one bin are needed, got {sorted(widths)}")
    names = {curve["agent"] for curve in found}
    agents = sorted(names, key=lambda name: (name.endswith("lstm"), name))  # memoryless first
    sides = {agent: _sides(found, agent) for agent in agents}
    usable = {agent: both for agent, both in sides.items() if min(map(len, both.values())) >= 2}
    require(bool(usable), f"{folder}: no agent has two seeds or more on both sides")
    error = JOINT_ERROR / (len(MEASURES) * len(usable))
    return [
        comparison(agent, measure, both, error)
        for measure in MEASURES
        for agent, both in usable.items()
    ]


def _sides(found: Sequence[dict[str, Any]], agent: str) -> Sides:
    own = [curve for curve in found if curve["agent"] == agent]
    return {side: [curve for curve in own if curve["side"] == side] for side in SIDES}


def compare(folder: Path, to: Path) -> None:
    """Print every bin, and write the table and the figure."""
    comparisons = load(folder)
    for one in comparisons:
        print_bins(one)
    text = table(comparisons)
    print(text)
    to.parent.mkdir(parents=True, exist_ok=True)
    to.with_suffix(".md").write_text(text, encoding="utf-8")
    figure(comparisons).save(to.with_suffix(".svg"))


def print_bins(one: Comparison) -> None:
    """Both means with their intervals and the difference with its band, bin by bin."""
    print(
        f"{one.agent}, {one.measure}: at step, ours, theirs, difference with its simultaneous band"
    )
    rows = zip(one.steps, one.ours.T, one.theirs.T, one.difference, one.half, strict=True)
    for steps, ours, theirs, gap, half in rows:
        print(
            f"  {steps:>9,}  {mean_interval(ours)!s:>24}  {mean_interval(theirs)!s:>24}"
            f"  {gap:+.3f} ± {half:.3f}{'' if abs(gap) <= half else '  outside'}"
        )


def table(comparisons: Sequence[Comparison]) -> str:
    """The verdicts in Markdown."""
    heads = (
        "agent",
        "mean of an episode",
        "seeds",
        "at step",
        "ours, last bin",
        "theirs, last bin",
        "largest difference",
        "not excluded",
        "chance",
        "verdict",
        "difference at the end",
        "equivalent there",
    )
    lines = [heads, ["---"] * len(heads), *(_verdict(one) for one in comparisons)]
    rows = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    return (
        f"{rows}\n\nMeans over the training episodes that end in a bin of {comparisons[0].bin:,} "
        "steps, with Student's 95% intervals over seeds; the most reward is 3, the most steps are "
        "25. Differ: the difference lies outside its simultaneous band in some bin; if nothing "
        f"differed, that would happen anywhere in this table with a chance of at most "
        f"{JOINT_ERROR:.0%} (permutations of the seeds, largest Welch t over the bins). "
        "Equivalent: the bands exclude every difference beyond a tenth of the scale "
        f"({MARGINS['reward']} of reward, {MARGINS['steps']} steps) in every bin. Otherwise it is "
        "not decided: no difference is shown, and one of up to the figure in the column *not "
        "excluded* is possible. Chance: of a t as large as the largest seen, for the row alone. "
        "Difference at the end: of the last bin alone, with Welch's 90% interval; it is equivalent "
        "there if the interval lies within the same margin (two one-sided tests at 5%, each row "
        "for itself).\n"
    )


def _verdict(one: Comparison) -> list[str]:
    worst, (low, high) = int(np.argmax(np.abs(one.difference))), one.at_the_end
    return [
        one.agent,
        one.measure,
        f"{len(one.ours)} and {len(one.theirs)}",
        f"{one.steps[-1]:,}",
        str(mean_interval(one.ours[:, -1])),
        str(mean_interval(one.theirs[:, -1])),
        f"{one.difference[worst]:+.3f} ± {one.half[worst]:.3f}",
        f"{one.not_excluded:.3f}",
        f"{one.chance:.3f}",
        one.verdict,
        f"{one.difference[-1]:+.3f} [{low:.3f}, {high:.3f}]",
        "yes" if max(-low, high) <= MARGINS[one.measure] else "not shown",
    ]


def figure(comparisons: Sequence[Comparison]) -> Figure:
    """A panel for each comparison: means of both sides over the steps, with their intervals."""
    styles = dict(zip(SIDES.values(), LINES, strict=False))
    panels = []
    for one in comparisons:
        rows = [
            _point(mean_interval(seeds), side=name, steps=steps)
            for side, name in SIDES.items()
            for steps, seeds in zip(one.steps, getattr(one, side).T, strict=True)
        ]
        drawn = series(rows, "steps", "side", styles)
        ticks = nice_ticks(0, one.steps[-1])[:-1]
        panels.append(
            Panel(drawn, "environment steps", "", _panel(one), None, small=True, ticks=ticks)
        )
    fewest = min(min(len(one.ours), len(one.theirs)) for one in comparisons)
    return Figure(
        "The same algorithms twice: learning curves on blicket",
        f"Means over training episodes at the paper's settings, {fewest} seeds or more on each "
        "side, with 95% intervals.",
        panels,
        styles,
        columns=len(comparisons) // len(MEASURES),
    )


def _panel(one: Comparison) -> str:
    return f"{one.agent}: {one.measure} of an episode"


def _point(estimate: Estimate, **labels: Any) -> dict[str, Any]:
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high, **labels}
