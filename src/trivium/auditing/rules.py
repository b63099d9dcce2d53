"""Rules that are learned on training items; a rule gives every candidate a score."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from trivium.auditing import learned
from trivium.auditing.learned import BUCKETS, Pieces
from trivium.auditing.samples import MAX_FIXED, Bools, Floats, Ints, Sample

BINS = 12  # of a rule of one feature
PAIR_BINS = 4  # of each feature of a rule of two
PAIRS = 20  # rules of two features, the most promising on the training items
MODULI = range(2, 14)
SUMS = 6  # rules about the remainder of a sum or difference of two features
PIECES = 12  # of text that become features, of candidates and of items
ROWS = 8000  # candidates from which pairs, sums and pieces are chosen
TREES = 60
TREE_ROWS = 24_000  # candidates on which trees are trained
TREE_COLUMNS = 150
TREE_BINS = 16
PRIOR = 4.0  # candidates by which a bin is shrunk


class Bins:
    """Cuts a feature into few bins at the quantiles of the training items."""

    def __init__(self, sample: Sample, name: str, bins: int) -> None:
        self.name = name
        values = sample.column(name)[sample.there] if name in sample.own else sample.of_item[name]
        known = values[~np.isnan(values)]
        distinct = np.unique(known)
        if len(distinct) <= bins:
            self.edges = (distinct[1:] + distinct[:-1]) / 2
        else:
            self.edges = np.unique(np.quantile(known, np.arange(1, bins) / bins))
        self.count = len(self.edges) + 2  # the last is for missing values

    def __call__(self, sample: Sample) -> Ints:
        values = sample.own.get(self.name)
        if values is None:
            values = sample.of_item[self.name][:, None]
        codes = np.searchsorted(self.edges, values, side="right")
        return np.broadcast_to(
            np.where(np.isnan(values), self.count - 1, codes), sample.right.shape
        )


class Remainder:
    """The remainder of a feature, or of a sum of features with signs."""

    def __init__(self, signs: Mapping[str, int], modulus: int) -> None:
        self.signs, self.modulus, self.count = signs, modulus, modulus + 1

    def __call__(self, sample: Sample) -> Ints:
        total = sum(sign * sample.column(name) for name, sign in self.signs.items())
        codes = np.where(np.isnan(total), self.modulus, np.mod(total, self.modulus))
        return codes.astype(np.int64)


Coder = Bins | Remainder
Rule = Callable[[Sample], Floats]  # the scores of all candidates


def lookup(sample: Sample, coders: Sequence[Coder]) -> Rule:
    """A rule that scores candidates by how often those with the same values were right."""
    fixed = sample.fixed

    def cells(of: Sample) -> Ints:
        code = np.clip(of.candidates, 0, MAX_FIXED) if fixed else np.zeros_like(of.candidates)
        for coder in coders:
            code = code * coder.count + coder(of)
        return code

    size = int(np.prod([coder.count for coder in coders])) * (MAX_FIXED + 1 if fixed else 1)
    code = cells(sample)[sample.there]
    count = np.bincount(code, minlength=size)
    more = np.bincount(code, weights=sample.rest[sample.there], minlength=size)
    table = (more / (count + PRIOR)).astype(np.float32)
    return lambda of: table[cells(of)]


def single_rules(sample: Sample) -> dict[str, Rule]:
    """A rule for each distinct feature that differs between candidates."""
    return {
        name: lookup(sample, [Bins(sample, name, BINS)])
        for name in sample.telling
        if _can_tell(sample, name)
    }


def _can_tell(sample: Sample, name: str) -> bool:
    """Whether a feature differs between the candidates of an item, or each is its own class."""
    if sample.kind == "label" or sample.fixed:
        return True
    if name not in sample.own:
        return False
    plain = np.where(np.isnan(sample.own[name]), np.float32(-1e30), sample.own[name])
    return bool((np.where(sample.there, plain, plain[:, :1]) != plain[:, :1]).any())


def _joint(sample: Sample, coders: Sequence[Coder]) -> tuple[Floats, Floats, Ints]:
    """What is explained by every pair of values, its variance by chance, and where blocks start."""
    start = np.cumsum([0, *[coder.count for coder in coders]])
    codes = np.stack([coder(sample) for coder in coders])
    more = np.zeros((start[-1], start[-1]), dtype=np.float32)
    variance = np.zeros_like(more)
    for one in sample.classes[: max(1, len(sample.classes) - 1)]:
        rows = codes[:, one]
        one_hot = np.zeros((rows.shape[1], start[-1]), dtype=np.float32)
        for number, values in enumerate(rows):
            one_hot[np.arange(len(values)), start[number] + values] = 1
        rest = sample.rest[one]
        more += one_hot.T @ (one_hot * rest[:, None])
        # Independent features share their counts; a mixture of dependent ones is caught by both.
        counts = one_hot.sum(axis=0)
        variance += np.outer(counts, counts) / len(rest) * np.square(rest).mean()
        block = np.arange(start[-1])
        variance[block, block] += (counts - counts**2 / len(rest)) * np.square(rest).mean()
    return more, variance, start[:-1]


class Screening(NamedTuple):
    """How much every feature tells on some training items, alone and beside each other one."""

    names: list[str]
    alone: Floats
    together: Floats  # what two features tell only together, such as an exclusive or


def screen(sample: Sample) -> Screening:
    """The strength of all features and pairs of features, as z values."""
    part = sample.part(ROWS)
    names = part.telling
    if not names:
        return Screening([], np.empty(0, np.float32), np.empty((0, 0), np.float32))
    more, variance, start = _joint(part, [Bins(part, name, PAIR_BINS) for name in names])
    filled = variance > 1
    ratio = np.where(filled, more**2 / np.where(filled, variance, 1), 0)
    chi = np.add.reduceat(np.add.reduceat(ratio, start, axis=0), start, axis=1)
    cells = np.add.reduceat(np.add.reduceat(filled.astype(float), start, axis=0), start, axis=1)
    own_ratio, own_cells = np.diag(ratio), np.diag(filled).astype(float)
    alone = np.add.reduceat(own_ratio, start)
    own = np.maximum(np.add.reduceat(own_cells, start), 1)
    freedom = np.maximum(cells - own[:, None] - own + 1, 1)
    together = (chi - alone[:, None] - alone - freedom) / np.sqrt(2 * freedom)
    np.fill_diagonal(together, -1e9)
    return Screening(names, (alone - own) / np.sqrt(2 * own), together)


def pair_rules(sample: Sample, screening: Screening) -> dict[str, Rule]:
    """Rules for the pairs of features that tell more together than alone."""
    names = screening.names
    first, second = np.triu_indices(len(names), 1)
    best = np.argsort(-screening.together[first, second], kind="stable")[:PAIRS]
    return {
        f"{a} with {b}": lookup(sample, [Bins(sample, name, PAIR_BINS) for name in (a, b)])
        for a, b in ((names[first[at]], names[second[at]]) for at in best)
    }


def remainder_rules(sample: Sample) -> dict[str, Rule]:
    """Rules for remainders of whole numbers: of every feature, and of some sums and differences."""
    part = sample.part(ROWS)
    columns = sample.own if not sample.fixed and sample.kind != "label" else None
    names = [
        name
        for name in part.telling
        if (columns is None or name in columns) and not name.startswith("rank by ")
        if _whole(part.column(name)[part.there])
    ]
    best: dict[str, tuple[float, int]] = {}
    sums: list[tuple[float, str, str, int, int]] = []
    for modulus in MODULI if names else ():
        more, variance, _ = _joint(part, [Remainder({name: 1}, modulus) for name in names])
        shape = (len(names), modulus + 1) * 2
        known = (slice(None), slice(modulus), slice(None), slice(modulus))
        tables = (more.reshape(shape)[known], variance.reshape(shape)[known])
        every, scale = np.arange(modulus), np.sqrt(2 * (modulus - 1))
        own = [np.einsum("irir->ir", table) for table in tables]
        alone = (np.square(own[0]) / np.maximum(own[1], 1)).sum(axis=1)
        for name, chi in zip(names, (alone - modulus + 1) / scale, strict=True):
            best[name] = max(best.get(name, (-1e9, 2)), (float(chi), modulus))
        for sign in (1, -1):
            picked = [
                np.stack(
                    [t[:, every, :, (sign * (s - every)) % modulus].sum(axis=0) for s in every]
                )
                for t in tables
            ]
            chi = (np.square(picked[0]) / np.maximum(picked[1], 1)).sum(axis=0)
            chi = (chi - np.maximum(alone[:, None], alone) - modulus + 1) / scale
            for at in np.argsort(-np.triu(chi, 1), axis=None)[:SUMS]:
                i, j = divmod(int(at), len(names))
                if i < j:
                    sums.append((float(chi[i, j]), names[i], names[j], sign, modulus))
    rules = {
        f"{name} mod {modulus}": lookup(sample, [Remainder({name: 1}, modulus)])
        for name, (_, modulus) in best.items()
    }
    for _, a, b, sign, modulus in sorted(sums, reverse=True)[:SUMS]:
        name = f"{a} {'plus' if sign > 0 else 'less'} {b} mod {modulus}"
        rules[name] = lookup(sample, [Remainder({a: 1, b: sign}, modulus)])
    return rules


def _whole(values: Floats) -> bool:
    """Whether these are whole numbers, and enough different ones to have remainders."""
    known = values[~np.isnan(values)]
    whole = len(known) > 0 and bool((known == np.floor(known)).all())
    return whole and len(np.unique(known[:2000])) > 2 and float(np.abs(known).max()) < 1e7


class TextModel:
    """The pieces of text that go with the answer on the training items."""

    def __init__(self, sample: Sample) -> None:
        assert sample.pieces is not None
        own, whole = sample.pieces
        flat = sample.rest.reshape(-1)
        self.single = sample.kind == "label" or sample.fixed
        self.of_candidates = learned.strengths(own, flat)
        self.of_items = np.stack(
            [learned.strengths(whole, (sample.rest * one).sum(axis=1)) for one in _groups(sample)]
        )
        self.own = [] if self.single else learned.strongest(self.of_candidates, PIECES).tolist()
        widest = self.of_items[np.abs(self.of_items).argmax(axis=0), np.arange(BUCKETS)]
        self.item = learned.strongest(widest, PIECES).tolist()

    def extend(self, sample: Sample) -> Sample:
        """The sample with the counts of these pieces as features."""
        assert sample.pieces is not None
        own, whole = sample.pieces
        n, width = sample.right.shape
        added = {f"text piece {b}": _counts(own, b, n * width).reshape(n, width) for b in self.own}
        items = {f"item's text piece {b}": _counts(whole, b, n) for b in self.item}
        return replace(sample, own={**sample.own, **added}, of_item={**sample.of_item, **items})

    def __call__(self, sample: Sample) -> Floats:
        """The sum of what all strong pieces say."""
        assert sample.pieces is not None
        own, whole = sample.pieces
        n, width = sample.right.shape
        if not self.single:
            return _weighed(own, self.of_candidates, n * width).reshape((n, width))
        scores: Floats = np.stack([_weighed(whole, one, n) for one in self.of_items])
        scores -= np.median(scores, axis=1, keepdims=True)
        if not sample.fixed:
            return scores.T
        found: Floats = np.take_along_axis(scores.T, sample.candidates, axis=1)
        return found


def _groups(sample: Sample) -> Sequence[Bools]:
    """The candidates that a text could tell apart: by name if there are few names, else by place.

    A fixed sample has one for each name in the order of their numbers.
    """
    names = np.unique(sample.candidates[sample.there])
    if sample.fixed:
        return sample.classes
    if sample.kind != "label" and len(names) <= 2 * MAX_FIXED:
        return [sample.candidates == one for one in names]
    return list(np.eye(sample.right.shape[1], dtype=np.bool_))


def _counts(pieces: Pieces, bucket: int, rows: int) -> Floats:
    here = pieces.bucket == bucket
    return np.bincount(pieces.row[here], pieces.times[here], rows).astype(np.float32)


def _weighed(pieces: Pieces, strength: Floats, rows: int) -> Floats:
    weight = np.where(np.abs(strength) > 3, strength, 0.0)[pieces.bucket]
    return np.bincount(pieces.row, weight * pieces.times, rows).astype(np.float32)


def tree_rule(sample: Sample, screening: Screening, trees: int) -> Rule:
    """Boosted trees on the features that tell most, alone or beside another."""
    telling = np.maximum(screening.alone, screening.together.max(axis=1, initial=-1e9))
    names = [screening.names[at] for at in np.argsort(-telling, kind="stable")[:TREE_COLUMNS]]
    part = sample.part(TREE_ROWS)
    coders = [Bins(part, name, TREE_BINS - 2) for name in names]
    models = []
    for one in part.classes:
        right = part.right[one].astype(np.float32)
        if 0 < right.mean() < 1 and names:
            codes = np.stack([coder(part)[one] for coder in coders]).astype(np.uint8)
            models.append(learned.grow(codes, right, trees, TREE_BINS))

    def scores(of: Sample) -> Floats:
        found = np.zeros(of.right.shape, dtype=np.float32)
        codes = np.stack([coder(of) for coder in coders]).astype(np.uint8) if models else None
        for one, model in zip(of.classes, models, strict=False):
            assert codes is not None
            found[one] = model(codes[:, one]) - (model.start if of.kind == "label" else 0)
        return found

    return scores
