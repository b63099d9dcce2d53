"""How often 95% intervals hold the true value: exact for proportions, simulated for means.

Writes docs/intervals.md. Run it with `python perf/interval_coverage.py` (about five minutes), or
with `--studies 200` for a quick look.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trivium.benchmarks import load_task
from trivium.core.dialogue import solve
from trivium.core.statistics import (
    Estimate,
    Side,
    clustered_mean,
    mean_interval,
    paired_difference,
    proportion,
    several,
)

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Floats]
SIZES = (20, 200)
SHARES = (0.01, 0.05, 0.5, 0.95, 0.99)
PAGE = Path(__file__).parents[1] / "docs" / "intervals.md"
ABOUT = """# Coverage of the intervals

How often a 95% interval holds the true value, over {studies} simulated studies of 20 and of 200
items (exact for proportions). Written by `python perf/interval_coverage.py`; the tests run a small
version. The aim is 93% to 97%; scores that are nearly all alike (close to 0 or to 1) take so few
different values that more cannot be avoided.

- **Proportions** (exact match, validity, ...): mid-P intervals.
- **Means of scores in [0, 1]** and **items tried several times** (orders, views): the interval of
  Korn and Graubard (1998), which treats a mean as a proportion of as many trials as have the same
  variance, with a third of an unseen value at the far end. All attempts at one item count as one
  value, their mean.
- **Paired differences**: of right and wrong answers the score interval of Tango (1998), of other
  scores that of Korn and Graubard between -1 and 1.
- **Counts** without a known range: Student's interval. Where all values are equal there is none,
  and where nearly all are 0, such as the number of wrong objects of a solver that is nearly always
  right, it is too narrow: compare such solvers by a share.
- **People**: all that a person does is one value, the mean. Differences between people and another
  solver (or other people) are clustered by person and by item, with the variance of Cameron,
  Gelbach and Miller (2011) and Satterthwaite's degrees of freedom: a person is at several items,
  and several people are at one. In the table, 20 and 200 people each try 3 of 24 items.

| what | true value | 20 items | 200 items |
|---|---|---|---|
"""

JOINT = """
## Several comparisons

`trivium compare` and the page print simultaneous intervals: each is at 1 - 5% / k for k
differences (Bonferroni). How often all of them hold the true differences at once, over {studies}
studies:

| models | compared | differences | 20 items | 200 items |
|---|---|---|---|---|"""


def exact(share: float, n: int) -> float:
    """The coverage of a proportion: the probability of every count is known."""
    chances = [math.comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(n + 1)]
    return sum(chance for k, chance in enumerate(chances) if not proportion(k, n).excludes(share))


def simulated(
    draw: Draw, truth: float, n: int, studies: int, interval: Callable[[Floats], Estimate]
) -> float:
    """The share of studies whose interval holds the truth."""
    generator = np.random.default_rng([n, int(1e6 * abs(truth))])
    return sum(not interval(draw(generator, n)).excludes(truth) for _ in range(studies)) / studies


def bounded(values: Floats) -> Estimate:
    return mean_interval(values, bounds=(0, 1))


def from_pool(pool: Floats) -> Draw:
    """Studies drawn from scores that a solver really made."""
    return lambda generator, n: generator.choice(pool, n)


def trials(share: float, repeats: int = 5, icc: float = 0.7) -> Draw:
    """Items that are tried several times, their own shares drawn with this correlation."""
    scale = (1 - icc) / icc

    def draw(generator: np.random.Generator, n: int) -> Floats:
        own = generator.beta(share * scale, (1 - share) * scale, n)
        return np.asarray(generator.binomial(repeats, own) / repeats)

    return draw


def paired(first: float, second: float, alike: float) -> Draw:
    """Differences of two solvers that agree on a share of the items."""

    def draw(generator: np.random.Generator, n: int) -> Floats:
        uniform = generator.random(n)
        other = np.where(generator.random(n) < alike, uniform, generator.random(n))
        return np.subtract(uniform < first, other < second, dtype=np.float64)

    return draw


def ndcg_pools(items: int) -> Iterator[tuple[str, Floats]]:
    """The nDCG of built-in solvers on the default presets of identifying_variables."""
    for preset in ("balanced-ctrl", "balanced-hypotheses"):
        for solver, renderer in (
            ("random", "language-corrset"),
            ("noctrl", "language-corrset"),
            ("statistician", "markdown"),
            ("statistician", "language-tabular"),
            ("oracle", "language-corrset"),
        ):
            task = load_task(f"identifying_variables.{renderer}.{preset}")
            program = task.benchmark.solvers[solver]
            scores = (solve(item, program).scores["ctrl_nDCG"] for item in task.items(items, 3))
            pool = np.array([score for score in scores if score is not None])
            yield f"nDCG of {solver}, {preset}, {renderer}", pool


def pooled_views(items: int) -> Floats:
    """One solver on the same items in two views, as the mean of each item."""
    scores = []
    for renderer in ("markdown", "language-tabular"):
        task = load_task(f"identifying_variables.{renderer}.balanced-ctrl")
        program = task.benchmark.solvers["statistician"]
        made = (solve(item, program).scores["ctrl_nDCG"] for item in task.items(items, 3))
        scores.append([score for score in made if score is not None])
    return np.asarray(np.mean(np.array(scores, dtype=np.float64), axis=0))


def cases(pool_size: int) -> Iterator[tuple[str, float, Draw, Callable[[Floats], Estimate]]]:
    """Everything that is simulated: a name, the truth, how to draw, and the interval."""
    for name, pool in ndcg_pools(pool_size):
        yield name, float(pool.mean()), from_pool(pool), bounded
    pool = pooled_views(pool_size)
    yield "nDCG of statistician, two views pooled", float(pool.mean()), from_pool(pool), bounded
    for share in SHARES:
        yield f"five orders of each item, ICC 0.7, p = {share}", share, trials(share), bounded
    for first, second, alike in (
        (0.5, 0.4, 0.7),
        (0.95, 0.9, 0.9),
        (0.5, 0.5, 0.9),
        (0.99, 0.97, 1),
    ):
        name = f"paired difference, p = {first} and {second}, {alike:.0%} in common"
        yield name, first - second, paired(first, second, alike), _difference
    for spread, model in ((0.0, 0.5), (0.2, 0.5), (0.2, 1.0)):
        what = "guesses" if model < 1 else "is always right"
        truth = (0.5895 if spread else 0.6) - model  # less than 0.6 by clipping at 1
        name = f"people (SD {spread}) less a model that {what}"
        yield name, truth, people_less_model(spread, model), _clustered
    yield "tests made, Poisson with mean 4", 4.0, _tests_made, _unbounded


def people_less_model(spread: float, chance: float) -> Draw:
    """People and items that differ, against a model: rows of values, people and items."""

    def draw(generator: np.random.Generator, n: int) -> Floats:
        able, easy = generator.normal(0, spread, n), generator.normal(0, spread, 24)
        model = generator.random(24) < chance
        person, item = np.repeat(np.arange(n), 3), (np.arange(3 * n) + generator.integers(24)) % 24
        right = generator.random(3 * n) < np.clip(0.6 + able[person] + easy[item], 0, 1)
        return np.array([np.subtract(right, model[item], dtype=np.float64), person, item])

    return draw


def _clustered(rows: Floats) -> Estimate:
    return clustered_mean([Side(*rows.tolist())], bounds=(-1, 1))


def _unbounded(values: Floats) -> Estimate:
    return mean_interval(values)


def _tests_made(generator: np.random.Generator, n: int) -> Floats:
    return generator.poisson(4, n).astype(np.float64)


def _difference(values: Floats) -> Estimate:
    return paired_difference(list(values), [0.0] * len(values), bounds=(0, 1))


def joint(models: int, items: int, studies: int, *, pairs: bool, seed: int = 25) -> float:
    """The share of studies in which all intervals of a comparison hold their differences.

    Models are right on 20% to 80% of the items, alike on half of them. The others are compared
    with the first, or all pairs.
    """
    generator = np.random.default_rng([seed, models, items, pairs])
    shares = np.linspace(0.2, 0.8, models)
    compared = [(a, b) for a in range(models) for b in range(a) if pairs or b == 0]
    held = 0
    for _ in range(studies):
        easy = generator.random(items)
        luck = np.where(
            generator.random((models, items)) < 0.5, easy, generator.random((models, items))
        )
        right = (luck < shares[:, None]).astype(np.float64)

        def interval(which: int, level: float, right: Floats = right) -> Estimate:
            first, second = (right[model] for model in compared[which])
            return paired_difference(first, second, level, (0, 1))

        found = several(interval, len(compared))
        truths = [shares[a] - shares[b] for a, b in compared]
        held += not any(one.excludes(truth) for (one, _), truth in zip(found, truths, strict=True))
    return held / studies


def joint_lines(studies: int) -> Iterator[str]:
    """The rows of the table of comparisons."""
    for models in (2, 5, 10):
        for pairs in (False, True):
            count = models * (models - 1) // 2 if pairs else models - 1
            figures = (f"{joint(models, items, studies, pairs=pairs):.3f}" for items in SIZES)
            what = "all pairs" if pairs else "with the first"
            if models > 2 or not pairs:
                yield f"| {models} | {what} | {count} | {' | '.join(figures)} |"


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=2000)
    studies = parser.parse_args().studies
    lines = []
    for share in SHARES:
        found = " | ".join(f"{exact(share, n):.3f}" for n in SIZES)
        lines.append(f"| proportion, p = {share} | {share:.3f} | {found} |")
    for name, truth, draw, interval in cases(4000):
        found = " | ".join(f"{simulated(draw, truth, n, studies, interval):.3f}" for n in SIZES)
        lines.append(f"| {name} | {truth:.3f} | {found} |")
        print(lines[-1], flush=True)
    lines.append(JOINT.format(studies=studies))
    for line in joint_lines(studies):
        lines.append(line)
        print(line, flush=True)
    PAGE.write_text(ABOUT.format(studies=studies) + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
