"""The outcome of an attack on some items, with a test and an interval valid at small error rates.

Where exactly one candidate is right, a rule is judged by its hit rate; a question about the item
(one candidate) by accuracy; where several candidates can be right, by the share of pairs (right,
wrong) within an item that it ranks correctly.

Hits are tested with the exact binomial distribution. Where the chance of a hit differs between
items, or guesses are compared with a permutation of them, hits vary less than that, and the test is
conservative. Other scores are tested with Student's t.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trivium.auditing.results import GAIN
from trivium.auditing.samples import Bools, Floats, Sample
from trivium.core.statistics import beta_cdf, beta_quantile, items_to_see, two_sided_t

POWER = 0.979  # of the test and of the confirmation: 0.95 of both, and of all looks, together


@dataclass(frozen=True)
class Outcome:
    """The score of an attack on each item, and its expected score by chance."""

    values: NDArray[np.float64]
    chance: float

    def joined(self, other: Outcome) -> Outcome:
        """The outcome on the items of both."""
        sizes = len(self.values), len(other.values)
        if not sizes[0]:
            return other
        chance = (self.chance * sizes[0] + other.chance * sizes[1]) / sum(sizes)
        return Outcome(np.concatenate([self.values, other.values]), chance)

    @property
    def mean(self) -> float:
        """The mean score, or that of chance if there are no items."""
        return float(self.values.mean()) if len(self.values) else self.chance

    @property
    def are_hits(self) -> bool:
        """Whether every score is 0 or 1."""
        return len(self.values) < 2 or bool(((self.values == 0) | (self.values == 1)).all())

    @property
    def error(self) -> float:
        """The standard error of the mean, at least 1/n, since equal scores prove little."""
        n = len(self.values)
        return max(float(self.values.std(ddof=1)) / math.sqrt(n), 1 / n)

    @property
    def p(self) -> float:
        """The p-value of a mean above chance."""
        n = len(self.values)
        if n == 0:
            return 1.0
        if self.are_hits:
            return binomial_tail(round(float(self.values.sum())), n, self.chance)
        t = (self.mean - self.chance) / self.error
        one_side = beta_cdf((n - 1) / (n - 1 + t * t), (n - 1) / 2, 0.5) / 2
        return one_side if t > 0 else 1 - one_side

    def interval(self, error: float) -> tuple[float, float]:
        """The interval of the mean, with this error rate on each side."""
        n = len(self.values)
        if n == 0:
            return 0.0, 1.0
        if not self.are_hits:
            half = two_sided_t(1 - 2 * error, n - 1) * self.error
            return self.mean - half, self.mean + half
        hits = round(float(self.values.sum()))
        low = 0.0 if hits == 0 else beta_quantile(error, hits, n - hits + 1)
        high = 1.0 if hits == n else beta_quantile(1 - error, hits + 1, n - hits)
        return low, high

    def needed(self, level: float, gain: float = GAIN) -> int:
        """The number of items that show a gain over chance at this level with the stated power."""
        share = self.chance
        if not self.are_hits:  # a proportion with the same variance
            share = 0.5 - math.sqrt(max(0.0, 0.25 - float(self.values.var())))
        share = min(max(share, 0.01), 0.95)
        return items_to_see(share, min(gain, (1 - share) / 2), 1 - level, POWER)


def binomial_tail(hits: int, n: int, share: float) -> float:
    """The probability of at least this many hits in n items."""
    if hits <= 0 or share >= 1:
        return 1.0
    return 0.0 if share <= 0 else beta_cdf(share, hits, n - hits + 1)


def judge(sample: Sample, scores: Floats) -> Outcome:
    """How well these scores separate right candidates from wrong ones."""
    if sample.kind == "label":
        guess, truth = scores[:, 0] > 0, sample.right[:, 0]
        yes, true = guess.mean(), truth.mean()
        chance = yes * true + (1 - yes) * (1 - true)
        return Outcome((guess == truth).astype(np.float64), float(chance))
    if sample.kind == "choice":
        return _hits(sample, scores)
    judged = sample.judged
    right, there = sample.right[judged], sample.there[judged]
    ordered = _ordered_pairs(scores[judged], right, there)
    # Weighted so that chance is 0.5 however many candidates of an item are right: a plain
    # mean favours items with few right or few wrong ones.
    weight = right.sum(axis=1) * (there.sum(axis=1) - right.sum(axis=1)) / there.sum(axis=1)
    return Outcome(0.5 + (ordered - 0.5) * weight / max(float(weight.mean()), 1e-9), 0.5)


def judge_exclusion(sample: Sample, scores: Floats) -> Outcome:
    """How often the candidate with the lowest score is wrong."""
    found = _hits(sample, -scores)
    return Outcome(1 - found.values, 1 - found.chance)


def _hits(sample: Sample, scores: Floats) -> Outcome:
    """How often the best candidate is right."""
    right, there = sample.right[sample.judged], sample.there[sample.judged]
    scores = scores[sample.judged]
    # Ties are broken at random, or the order of candidates would be a cue.
    noise = np.random.default_rng(0).random(scores.shape) * 1e-9
    picked = np.where(there, scores.astype(np.float64) + noise, -np.inf).argmax(axis=1)
    every = np.arange(len(picked))
    hits = right[every, picked].astype(np.float64)
    chance = float((right.sum(axis=1) / there.sum(axis=1)).mean())
    if sample.same_names:  # how often the same guesses would be right on other items
        names = sample.candidates[sample.judged]
        size = int(names.max()) + 1
        guesses = np.bincount(names[every, picked], minlength=size)
        truths = np.bincount(names[every, right.argmax(axis=1)], minlength=size)
        chance = float((guesses / len(picked)) @ (truths / len(picked)))
    return Outcome(hits, chance)


def _ordered_pairs(scores: Floats, right: Bools, there: Bools) -> NDArray[np.float64]:
    """The share of pairs (right, wrong) in which the right candidate scores higher."""
    wrong = there & ~right
    won = np.zeros(len(scores))
    for other in range(scores.shape[1]):
        beside = scores[:, other : other + 1]
        above = (scores > beside) + 0.5 * (scores == beside)
        won += np.where(wrong[:, other], (above * right).sum(axis=1), 0)
    pairs: NDArray[np.float64] = right.sum(axis=1) * wrong.sum(axis=1).astype(np.float64)
    return np.divide(won, pairs)
