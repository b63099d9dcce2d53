"""Rules that are learned on training items, and their scores on others.

A rule gives every candidate a score. Where exactly one candidate is right, the rule picks the best
one and is judged by its hit rate; a question about the item (one candidate) is judged by accuracy;
where several candidates can be right, a rule is judged by the share of pairs (right, wrong) within
an item that it ranks correctly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trivium.auditing.features import Group, PromptFeatures, candidate_features, item_features
from trivium.core.errors import MissingExtraError, import_extra
from trivium.core.probes import Probe

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]
Kind = Literal["choice", "label", "several"]

BINS = 12  # of a rule of one feature
PAIR_BINS = 4  # of each feature of a rule of two
PAIRS = 20  # rules of two features, the most promising on the training items
PAIR_ROWS = 40_000  # candidates from which these are chosen
TREE_ROWS = 40_000  # candidates on which trees are trained
RANKED = 32  # items that are ranked at a time
PRIOR = 4.0  # candidates by which a bin is shrunk
TREES = 80
TREE_SETTINGS = {
    "learning_rate": 0.08,
    "max_leaf_nodes": 15,
    "min_samples_leaf": 40,
    "max_bins": 63,
    "l2_regularization": 1.0,
    "early_stopping": False,
}


@dataclass(frozen=True)
class Sample:
    """One probe on the items of one seed: arrays of (item, candidate), padded to one width."""

    names: list[str]  # of the features
    values: Floats  # (item, candidate, feature)
    right: Bools  # (item, candidate)
    there: Bools  # (item, candidate): False in the padding
    candidates: NDArray[np.int64]  # a number for each name, the same in all items

    @cached_property
    def kind(self) -> Kind:
        """The kind of question, by which a guess is judged."""
        if self.right.shape[1] == 1:
            return "label"
        return "choice" if (self.right.sum(axis=1) == 1).all() else "several"

    @cached_property
    def same_names(self) -> bool:
        """Whether all items have the same candidates, so that a constant answer is possible."""
        ordered = np.sort(self.candidates, axis=1)
        return bool((ordered == ordered[:1]).all())

    @cached_property
    def judged(self) -> Bools:
        """The items that can be judged: with right and wrong candidates, or one candidate."""
        if self.kind == "label":
            return np.full(len(self.right), bool(self.right.any() and not self.right.all()))
        right: NDArray[np.int64] = self.right.sum(axis=1)
        wrong: NDArray[np.int64] = (self.there & ~self.right).sum(axis=1)
        return np.logical_and(right > 0, wrong > 0)

    @cached_property
    def expected(self) -> Floats:
        """The share of right candidates, which is the best guess without features."""
        if self.kind == "label":
            return np.full(self.right.shape, self.right.mean(), dtype=np.float32)
        share = self.right.sum(axis=1) / self.there.sum(axis=1)
        return np.repeat(share[:, None].astype(np.float32), self.right.shape[1], axis=1)

    def column(self, name: str) -> Floats:
        """One feature of all candidates."""
        return self.values[:, :, self.names.index(name)]


class Row(NamedTuple):
    """One probe of one item."""

    probe: Probe
    own: Floats  # the features of all candidates, one after the other
    of_item: Floats


def make_row(prompt: PromptFeatures, probe: Probe) -> Row:
    """The values of the features of a probe."""
    own = chain.from_iterable(candidate_features(prompt, probe))
    return Row(probe, _values(own), _values(item_features(prompt, probe)))


def feature_names(prompt: PromptFeatures, probe: Probe) -> tuple[list[str], list[str]]:
    """The names of the features of a candidate and of an item."""
    groups = next(candidate_features(prompt, probe)), item_features(prompt, probe)
    own, of_item = ([f"{name}{end}" for end, found in each for name in found] for each in groups)
    return own, of_item


def _values(groups: Iterable[Group]) -> Floats:
    values = [features.values() for _, features in groups]
    return np.fromiter(chain.from_iterable(values), np.float32)


def collect(rows: Sequence[Row], names: tuple[list[str], list[str]], ids: dict[str, int]) -> Sample:
    """The rows of one probe in all items; `ids` numbers the names of candidates."""
    own_names, item_names = names
    width = max(len(row.probe.candidates) for row in rows)
    own = np.full((len(rows), width, len(own_names)), np.nan, dtype=np.float32)
    right = np.zeros((len(rows), width), dtype=np.bool_)
    there = np.zeros((len(rows), width), dtype=np.bool_)
    named = np.full((len(rows), width), -1)
    for number, (probe, values, _) in enumerate(rows):
        size = len(probe.candidates)
        own[number, :size] = values.reshape(size, len(own_names))
        right[number, :size] = probe.right
        there[number, :size] = True
        named[number, :size] = [ids.setdefault(name, len(ids)) for name in probe.candidates]
    of_item = np.stack([row.of_item for row in rows])[:, None]
    parts, names_of_all = [own], list(own_names)
    if width > 1:
        parts.append(ranks(own))
        names_of_all += [f"rank by {name}" for name in own_names]
    parts.append(np.repeat(of_item, width, axis=1))
    names_of_all += [f"item's {name}" for name in item_names]
    return Sample(names_of_all, np.concatenate(parts, axis=2), right, there, named)


def ranks(values: Floats) -> Floats:
    """For each candidate, how many others of its item have a lower value; ties count half."""
    ranked = np.empty_like(values)
    for start in range(0, len(values), RANKED):  # few enough to stay in the cache
        part = values[start : start + RANKED]
        twice = np.zeros(part.shape, dtype=np.int16)
        for other in range(values.shape[1]):
            beside = part[:, other : other + 1]
            twice += beside < part
            twice += beside <= part
        ranked[start : start + RANKED] = twice * np.float32(0.5)
    ranked[np.isnan(values)] = np.nan
    return ranked


class Bins:
    """Cuts a feature into few bins at the quantiles of the training items."""

    def __init__(self, values: Floats, bins: int) -> None:
        known = values[~np.isnan(values)]
        distinct = np.unique(known)
        if len(distinct) <= bins:
            self.edges = (distinct[1:] + distinct[:-1]) / 2
        else:
            self.edges = np.unique(np.quantile(known, np.arange(1, bins) / bins))
        self.count = len(self.edges) + 2  # the last is for missing values

    def __call__(self, values: Floats) -> NDArray[np.int64]:
        codes = np.searchsorted(self.edges, values, side="right")
        return np.where(np.isnan(values), self.count - 1, codes)


Rule = Callable[[Sample], Floats]  # the scores of all candidates


def lookup(sample: Sample, names: Sequence[str], bins: int) -> Rule:
    """A rule that scores candidates by how often those with the same values were right."""
    cut = [(name, Bins(sample.column(name)[sample.there], bins)) for name in names]

    def cells(of: Sample) -> NDArray[np.int64]:
        code = np.zeros(of.right.shape, dtype=np.int64)
        for name, binned in cut:
            code = code * binned.count + binned(of.column(name))
        return code

    size = int(np.prod([binned.count for _, binned in cut]))
    code = cells(sample)[sample.there]
    count = np.bincount(code, minlength=size)
    more = np.bincount(code, weights=(sample.right - sample.expected)[sample.there], minlength=size)
    table = (more / (count + PRIOR)).astype(np.float32)
    return lambda of: table[cells(of)]


def single_rules(sample: Sample) -> dict[str, Rule]:
    """A rule for each distinct feature that differs between candidates."""
    return {
        name: lookup(sample, [name], BINS)
        for name in telling(sample)
        if sample.kind == "label" or _differs_within(sample, sample.column(name))
    }


def telling(sample: Sample) -> list[str]:
    """The features that are not constant and not equal to an earlier one."""
    seen: set[bytes] = set()
    found = []
    for name in sample.names:
        values = sample.column(name)[sample.there]
        key = values.tobytes()
        if key not in seen and not (values == values[0]).all() and not np.isnan(values).all():
            found.append(name)
        seen.add(key)
    return found


def _differs_within(sample: Sample, values: Floats) -> bool:
    plain = np.where(np.isnan(values), np.float32(-1e30), values)
    first = np.where(sample.there, plain, plain[:, :1])
    return bool((first != first[:, :1]).any())


def pair_rules(sample: Sample) -> dict[str, Rule]:
    """Rules for the pairs of features that tell more together than alone."""
    rows = max(1, PAIR_ROWS // sample.right.shape[1])
    there = sample.there[:rows]
    rest = (sample.right - sample.expected)[:rows][there].astype(np.float32)
    spread = (sample.expected * (1 - sample.expected))[:rows][there]
    names, blocks, start = telling(sample), [], [0]
    for name in names:
        values = sample.column(name)[:rows][there]
        binned = Bins(values, PAIR_BINS)
        blocks.append(np.eye(binned.count, dtype=np.float32)[binned(values)])
        start.append(start[-1] + binned.count)
    if len(names) < 2:
        return {}
    one_hot = np.concatenate(blocks, axis=1)
    more = one_hot.T @ (one_hot * rest[:, None])
    variance = one_hot.T @ (one_hot * spread[:, None])
    filled = variance > 1
    ratio = np.where(filled, more**2 / np.where(filled, variance, 1), 0)
    chi = np.add.reduceat(np.add.reduceat(ratio, start[:-1], axis=0), start[:-1], axis=1)
    cells = np.add.reduceat(
        np.add.reduceat(filled.astype(float), start[:-1], axis=0), start[:-1], axis=1
    )
    # What two features tell only together, such as an exclusive or.
    alone, own = np.diag(chi), np.diag(cells)
    freedom = np.maximum(cells - own[:, None] - own + 1, 1)
    strength = (chi - alone[:, None] - alone - freedom) / np.sqrt(2 * freedom)
    first, second = np.triu_indices(len(names), 1)
    best = np.argsort(-strength[first, second], kind="stable")[:PAIRS]
    pairs = [(names[first[at]], names[second[at]]) for at in best]
    return {f"{a} with {b}": lookup(sample, [a, b], PAIR_BINS) for a, b in pairs}


def learned_rule(sample: Sample, trees: int) -> Rule | None:
    """Gradient-boosted trees on all features; None where scikit-learn is missing."""
    try:
        ensemble = import_extra("sklearn.ensemble", "audit")
    except MissingExtraError:
        return None
    columns = [sample.names.index(name) for name in telling(sample)]
    there = sample.there[: max(1, TREE_ROWS // sample.right.shape[1])]
    right = sample.right[: len(there)][there]
    if right.all() or not right.any() or not columns:
        return lambda of: np.zeros(of.right.shape, dtype=np.float32)
    model: Any = ensemble.HistGradientBoostingClassifier(
        max_iter=trees, random_state=0, **TREE_SETTINGS
    )
    model.fit(sample.values[: len(there)][there][:, columns], right)

    def scores(of: Sample) -> Floats:
        found = np.zeros(of.right.shape, dtype=np.float32)
        rows = of.values[of.there][:, columns]
        found[of.there] = model.predict_proba(rows)[:, 1]
        if of.kind == "label":
            found -= np.float32(right.mean())
        return found

    return scores


@dataclass(frozen=True)
class Outcome:
    """The score of a rule on each item, and its expected score by chance."""

    values: NDArray[np.float64]
    chance: float


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
