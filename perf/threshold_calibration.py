"""How often intervals of thresholds hold, and how many items they take, for families of solvers.

Writes the table of docs/thresholds-measured.md. Run it with `python perf/threshold_calibration.py`
(about five minutes on one core), or with `--searches 30` for a quick look.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from trivium.thresholds.fit import Fit, Floats, Levels
from trivium.thresholds.search import BATCH

Lift = Callable[[Floats], Floats]  # of values of the field
Draw = Callable[[np.random.Generator], Lift]
PAGE = Path(__file__).parents[1] / "docs" / "thresholds-measured.md"
HOPS = (3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 16.0)
LEVELS = Levels(HOPS, (0.125,) * 8)
CAPPED = Levels(HOPS, (0.125,) * 8, (1.0, 0.95, 0.9, 0.85, 0.8, 0.7, 0.65, 0.6))
WIDTH, MAX_ITEMS, TARGET = 0.3, 400, 0.5
SEED = 9173  # not used while the method was chosen
ABOUT = """# Thresholds, measured

Written by `python perf/threshold_calibration.py`. What the figures mean is in
[thresholds.md](thresholds.md).

{searches} simulated searches of each family along hops ({values}) with a floor of 0.125, a target
of 0.5, batches of 25, a width of 30% and at most 400 items. The threshold is where lift first falls
to the target; families draw the middle of the fall between 3.6 and 13.5 hops unless they say
otherwise. Seed {seed}, which was not used while the method was chosen. With 300 searches, a
share of 0.95 has a standard error of 0.013.

- **held**: the 95% interval holds the threshold. **does not fit**: the search says so.
- **bias**: the mean relative error of the estimate, where a curve fits and the threshold and the
  estimate lie within the values.
- **high / low**: the median ratio of the interval's ends; an open end counts as 1.5 times beyond.

| solvers | held | held or does not fit | does not fit | bias | items | high / low |
|---|---|---|---|---|---|---|
"""


def fall(x: Floats, place: float, slope: float) -> Floats:
    """A log-logistic curve from 1 to 0."""
    return np.asarray(1 / (1 + (x / place) ** slope))


def logistic(
    slopes: tuple[float, float],
    lapse: float = 0.0,
    asymptote: float = 0.0,
    places: tuple[float, float] = (3.6, 13.5),
) -> Draw:
    """Logistic curves with slopes and middles in these ranges."""

    def draw(random: np.random.Generator) -> Lift:
        place, slope = _between(random, places), random.uniform(*slopes)
        return lambda x: asymptote + (1 - lapse - asymptote) * fall(x, place, slope)

    return draw


def compounding(random: np.random.Generator) -> Lift:
    """Every hop goes wrong with the same probability."""
    place = _between(random)
    return lambda x: 0.5 ** (x / place)


def dip(lowest: float, highest: float) -> Draw:
    """A late fall, and one of the four easiest levels at a lift between these two."""

    def draw(random: np.random.Generator) -> Lift:
        level, lift = HOPS[random.integers(4)], random.uniform(lowest, highest)
        place, slope = random.uniform(9, 14), random.uniform(5, 10)
        return lambda x: np.where(abs(np.log(x / level)) < 0.09, lift, fall(x, place, slope))

    return draw


def recovery(random: np.random.Generator) -> Lift:
    """A fall, and good scores again at harder levels."""
    place, slope = random.uniform(3.6, 6), random.uniform(6, 12)
    peak, height = place * random.uniform(1.6, 2.2), random.uniform(0.55, 0.95)
    return lambda x: np.minimum(
        1, fall(x, place, slope) + height * np.exp(-((np.log(x / peak) / 0.25) ** 2))
    )


def gompertz(random: np.random.Generator) -> Lift:
    """An asymmetric fall."""
    place, power = _between(random), random.uniform(2, 6)
    return lambda x: 0.5 ** ((x / place) ** power)


def step(random: np.random.Generator) -> Lift:
    """A cliff between two constant lifts."""
    place, top, bottom = _between(random), random.uniform(0.7, 1), random.uniform(0, 0.3)
    return lambda x: np.where(x < place, top, bottom)


def pause(random: np.random.Generator) -> Lift:
    """A plateau at a lift of 0.6 to 0.8 on the way down."""
    place, height = _between(random), random.uniform(0.6, 0.8)
    first = place * random.uniform(0.35, 0.7)
    return lambda x: (height + (1 - height) * fall(x, first, 12)) * fall(x, place, 14)


def mixture(random: np.random.Generator) -> Lift:
    """Two kinds of items, one of which is lost much earlier: a plateau near the target."""
    place, share, slope = _between(random), random.uniform(0.3, 0.7), random.uniform(6, 15)
    first, second = place / 1.3, place * random.uniform(1.6, 2.5)
    return lambda x: share * fall(x, first, slope) + (1 - share) * fall(x, second, slope)


def _between(random: np.random.Generator, places: tuple[float, float] = (3.6, 13.5)) -> float:
    return math.exp(random.uniform(*np.log(places)))


FAMILIES: dict[str, tuple[Draw, Levels]] = {
    "steep logistic (slope 8 to 20)": (logistic((8, 20)), LEVELS),
    "logistic (slope 3 to 8)": (logistic((3, 8)), LEVELS),
    "shallow logistic (slope 1.5 to 3)": (logistic((1.5, 3)), LEVELS),
    "errors that compound with every hop": (compounding, LEVELS),
    "threshold at the easy end (2.2 to 3.5)": (logistic((3, 8), places=(2.2, 3.5)), LEVELS),
    "threshold at the hard end (13 to 20)": (logistic((3, 8), places=(13, 20)), LEVELS),
    "lower asymptote at lift 0.2": (logistic((4, 9), asymptote=0.2, places=(3.6, 10)), LEVELS),
    "lower asymptote at lift 0.4": (logistic((4, 9), asymptote=0.4, places=(3.6, 10)), LEVELS),
    "lapses of 0.15": (logistic((4, 9), lapse=0.15), LEVELS),
    "lapses of 0.3": (logistic((4, 9), lapse=0.3), LEVELS),
    "lapses of 0.45": (logistic((4, 9), lapse=0.45), LEVELS),
    "dip at one easy level, to lift 0 to 0.3": (dip(0, 0.3), LEVELS),
    "dip at one easy level, to lift 0.3 to 0.45": (dip(0.3, 0.45), LEVELS),
    "recovery after the fall": (recovery, LEVELS),
    "ceilings from 1 down to 0.6, logistic (slope 3 to 8)": (logistic((3, 8)), CAPPED),
    "Gompertz (asymmetric)": (gompertz, LEVELS),
    "step between two lifts": (step, LEVELS),
    "pause at a lift of 0.6 to 0.8": (pause, LEVELS),
    "mixture of two skills, level near the target": (mixture, LEVELS),
}


@dataclass(frozen=True)
class Found:
    """The result of a simulated search."""

    held: bool
    fits: bool
    items: int
    error: float  # relative; nan where it is not defined
    ratio: float


def first_crossing(lift: Lift) -> float:
    """Where the lift first falls below the target; infinite where it does not."""
    along = np.geomspace(0.3 * HOPS[0], 4 * HOPS[-1], 4000)
    below = np.flatnonzero(lift(along) < TARGET)
    return float(along[below[0]]) if below.size else math.inf


def search(lift: Lift, levels: Levels, random: np.random.Generator) -> Found:
    """A search with a simulated solver."""
    fit, truth = Fit(levels, TARGET), first_crossing(lift)
    chances = levels.chances(lift(np.array(HOPS))[:, None])[:, 0]
    while fit.counts.sum() < MAX_ITEMS and not fit.settled(WIDTH):
        for level, count in enumerate(fit.next_batch(BATCH)):
            fit.add(level, list((random.random(count) < chances[level]).astype(float)))
    found = fit.threshold()
    held = (found.low or 0) <= truth <= (found.high or math.inf)
    known = found.value is not None and not fit.misfits and HOPS[0] <= truth <= HOPS[-1]
    error = (found.value or 0) / truth - 1 if known else math.nan
    ratio = (found.high or 1.5 * HOPS[-1]) / (found.low or HOPS[0] / 1.5)
    return Found(held, not fit.misfits, int(fit.counts.sum()), error, ratio)


def row(name: str, searches: int, seed: int) -> str:
    """A row of the table."""
    draw, levels = FAMILIES[name]
    found = []
    for number in range(searches):
        random = np.random.default_rng([seed, list(FAMILIES).index(name), number])
        found.append(search(draw(random), levels, random))
    errors = [one.error for one in found if not math.isnan(one.error)]
    cells = [
        f"{np.mean([one.held for one in found]):.3f}",
        f"{np.mean([one.held or not one.fits for one in found]):.3f}",
        f"{np.mean([not one.fits for one in found]):.3f}",
        f"{np.mean(errors):+.1%}" if len(errors) >= searches / 10 else "-",
        f"{np.mean([one.items for one in found]):.0f}",
        f"{np.median([one.ratio for one in found]):.2f}",
    ]
    return f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--searches", type=int, default=300)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--out", type=Path, default=PAGE)
    options = parser.parse_args()
    values = ", ".join(f"{value:g}" for value in HOPS)
    lines = [ABOUT.format(searches=options.searches, values=values, seed=options.seed).rstrip()]
    for name in FAMILIES:
        lines.append(row(name, options.searches, options.seed))
        print(lines[-1], flush=True)
    options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
