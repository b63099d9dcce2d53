"""How well the scores of a rule separate right candidates from wrong ones.

Where exactly one candidate is right, a rule is judged by its hit rate; a question about the item
(one candidate) by accuracy; where several candidates can be right, by the share of pairs (right,
wrong) within an item that it ranks correctly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trivium.auditing.samples import Bools, Floats, Sample


@dataclass(frozen=True)
class Outcome:
    """The score of a rule on each item, and its expected score by chance."""

    values: NDArray[np.float64]
    chance: float

    def joined(self, other: Outcome) -> Outcome:
        """The outcome on the items of both."""
        sizes = len(self.values), len(other.values)
        if not sizes[0]:
            return other
        chance = (self.chance * sizes[0] + other.chance * sizes[1]) / sum(sizes)
        return Outcome(np.concatenate([self.values, other.values]), chance)


def judge(sample: Sample, scores: Floats) -> Outcome:
    """How well these scores separate right candidates from wrong ones."""
    if sample.kind == "label":
        guess, truth = scores[:, 0] > 0, sample.right[:, 0]
        yes, true = guess.mean(), truth.mean()
        chance = yes * true + (1 - yes) * (1 - true)
        return Outcome((guess == truth).astype(np.float64), float(chance))
    judged = sample.judged
    if sample.kind == "several":
        right, there = sample.right[judged], sample.there[judged]
        ordered = _ordered_pairs(scores[judged], right, there)
        # Weighted so that chance is 0.5 however many candidates of an item are right: a plain
        # mean favours items with few right or few wrong ones.
        weight = right.sum(axis=1) * (there.sum(axis=1) - right.sum(axis=1)) / there.sum(axis=1)
        return Outcome(0.5 + (ordered - 0.5) * weight / max(float(weight.mean()), 1e-9), 0.5)
    return _hits(sample, scores[judged])


def judge_exclusion(sample: Sample, scores: Floats) -> Outcome:
    """How often the candidate with the lowest score is wrong."""
    found = _hits(sample, -scores[sample.judged])
    return Outcome(1 - found.values, 1 - found.chance)


def _hits(sample: Sample, scores: Floats) -> Outcome:
    """How often the best candidate is right; the scores are those of the judged items."""
    right, there = sample.right[sample.judged], sample.there[sample.judged]
    # Ties are broken at random, or the order of candidates would be a cue.
    noise = np.random.default_rng(0).random(scores.shape) * 1e-9
    picked = np.where(there, scores.astype(np.float64) + noise, -np.inf).argmax(axis=1)
    every = np.arange(len(picked))
    hits = right[every, picked].astype(np.float64)
    chance = float((right.sum(axis=1) / there.sum(axis=1)).mean())
    if sample.same_names:
        chance = _agreement(sample.candidates[sample.judged], picked, right)
    return Outcome(hits, chance)


def _agreement(names: NDArray[np.int64], picked: NDArray[np.int64], right: Bools) -> float:
    """How often the same guesses would be right on other items."""
    every, size = np.arange(len(picked)), int(names.max()) + 1
    guesses = np.bincount(names[every, picked], minlength=size)
    truths = np.bincount(names[every, right.argmax(axis=1)], minlength=size)
    return float((guesses / len(picked)) @ (truths / len(picked)))


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
