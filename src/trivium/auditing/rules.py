"""Rules that are learned on training items; a rule gives every candidate a score."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from trivium.auditing.samples import MAX_FIXED, Floats, Ints, Sample
from trivium.auditing.text import TextModel
from trivium.auditing.trees import grow

BINS = 12  # of the feature in a rule of one
PAIR_BINS = 4  # of each feature in a rule of two
PAIRS = 20  # rules of two features: the most promising on the training items
MODULI = range(2, 14)
REMAINDER_PAIRS = 6  # rules about the remainders of two features
ROWS = 5000  # candidates from which pairs and remainders are chosen
TREES = 60
TREE_ROWS = 24_000  # candidates on which trees are trained
TREE_COLUMNS = 150  # features that trees may split on: the strongest
TREE_BINS = 16  # codes of a feature in trees: TREE_BINS - 2 bins, and those of missing values
PRIOR = 4.0  # the mean of a bin is shrunk towards 0 as if by this many more candidates


class Rule(NamedTuple):
    """A function that scores all candidates of a sample."""

    scores: Callable[[Sample], Floats]
    reads_text: bool  # whether it needs the pieces of text


def learn_rules(sample: Sample, text: TextModel, trees: int) -> dict[str, dict[str, Rule]]:
    """All rules, by kind and name; the sample has the pieces of text among its features."""
    part = sample.part(ROWS)
    screening = screen(part, [Bins(part, name, PAIR_BINS) for name in part.telling])
    coders: dict[str, Iterable[Sequence[Coder]]] = {
        "one feature": (
            [Bins(sample, name, BINS)] for name in sample.telling if sample.tells_apart(name)
        ),
        "remainders": remainder_coders(part),
        "two features": ([a, b] for _, a, b in screening.pairs(PAIRS)),
    }
    rules = {
        about: {" with ".join(map(str, each)): lookup(sample, each) for each in found}
        for about, found in coders.items()
    }
    return rules | {
        "all pieces of text": {"text": Rule(text.scores, True)},
        "boosted trees on all features": {"learned probe": tree_rule(sample, screening, trees)},
    }


class Bins:
    """Cuts a feature into few bins at the quantiles of the training items."""

    def __init__(self, sample: Sample, name: str, bins: int) -> None:
        self.name = name
        per_candidate = name in sample.of_candidate
        values = sample.column(name)[sample.there] if per_candidate else sample.of_item[name]
        known = values[~np.isnan(values)]
        distinct = np.unique(known)
        if len(distinct) <= bins:
            self.edges = (distinct[1:] + distinct[:-1]) / 2
        else:
            self.edges = np.unique(np.quantile(known, np.arange(1, bins) / bins))
        self.count = len(self.edges) + 2  # the last is for missing values

    def __str__(self) -> str:
        return self.name

    def __call__(self, sample: Sample) -> Ints:
        values = sample.of_candidate.get(self.name)
        if values is None:
            values = sample.of_item[self.name][:, None]
        codes = np.searchsorted(self.edges, values, side="right")
        codes[np.isnan(values)] = self.count - 1
        return np.broadcast_to(codes, sample.right.shape)


class Remainder:
    """The remainder of a whole number."""

    def __init__(self, name: str, modulus: int) -> None:
        self.name, self.modulus, self.count = name, modulus, modulus + 1

    def __str__(self) -> str:
        return f"{self.name} mod {self.modulus}"

    def __call__(self, sample: Sample) -> Ints:
        values = sample.column(self.name)
        codes = np.where(np.isnan(values), self.modulus, np.mod(values, self.modulus))
        return codes.astype(np.int64)


Coder = Bins | Remainder


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
    total = np.bincount(code, weights=sample.residual[sample.there], minlength=size)
    table = (total / (count + PRIOR)).astype(np.float32)
    return Rule(lambda of: table[cells(of)], _reads_text(coders))


def _reads_text(coders: Sequence[Coder]) -> bool:
    return any("text piece" in coder.name for coder in coders)


def _joint(sample: Sample, coders: Sequence[Coder]) -> tuple[Floats, Floats, Ints]:
    """For every pair of codes, the summed residual and its variance by chance.

    The third array says at which code each coder begins.
    """
    start = np.cumsum([0, *[coder.count for coder in coders]])
    codes = np.stack([coder(sample) for coder in coders])
    total = np.zeros((start[-1], start[-1]), dtype=np.float32)
    variance = np.zeros_like(total)
    for members in sample.classes[: max(1, len(sample.classes) - 1)]:
        rows = codes[:, members]
        one_hot = np.zeros((rows.shape[1], start[-1]), dtype=np.float32)
        for number, values in enumerate(rows):
            one_hot[np.arange(len(values)), start[number] + values] = 1
        residual = sample.residual[members]
        total += one_hot.T @ (one_hot * residual[:, None])
        # As if features were independent. This only ranks the pairs that are tried on other items.
        counts, by_chance = one_hot.sum(axis=0), np.square(residual).mean()
        variance += np.outer(counts, counts) / len(residual) * by_chance
        block = np.arange(start[-1])
        variance[block, block] += (counts - counts**2 / len(residual)) * by_chance
    return total, variance, start[:-1]


class Screening(NamedTuple):
    """How much every coded feature tells on some training items, alone and in pairs."""

    coders: Sequence[Coder]
    alone: Floats  # as z values
    together: Floats  # what two features tell only together, such as an exclusive or

    def pairs(self, most: int) -> list[tuple[float, Coder, Coder]]:
        """The pairs of features that tell most together."""
        first, second = np.triu_indices(len(self.coders), 1)
        best = np.argsort(-self.together[first, second], kind="stable")[:most]
        places = [(int(first[at]), int(second[at])) for at in best]
        return [(float(self.together[a, b]), self.coders[a], self.coders[b]) for a, b in places]

    @property
    def strongest(self) -> list[str]:
        """The features that tell most, alone or in a pair."""
        telling = np.maximum(self.alone, self.together.max(axis=1, initial=-1e9))
        return [self.coders[at].name for at in np.argsort(-telling, kind="stable")[:TREE_COLUMNS]]


def screen(sample: Sample, coders: Sequence[Coder]) -> Screening:
    """The strength of all features and pairs of features."""
    if not coders:
        return Screening([], np.empty(0, np.float32), np.empty((0, 0), np.float32))
    total, variance, start = _joint(sample, coders)
    filled = variance > 1
    ratio = np.where(filled, total**2 / np.where(filled, variance, 1), 0)
    chi = np.add.reduceat(np.add.reduceat(ratio, start, axis=0), start, axis=1)
    cells = np.add.reduceat(
        np.add.reduceat(filled.astype(np.float32), start, axis=0), start, axis=1
    )
    alone = np.add.reduceat(np.diag(ratio), start)
    cells_alone = np.maximum(np.add.reduceat(np.diag(filled).astype(np.float32), start), 1)
    freedom = np.maximum(cells - cells_alone[:, None] - cells_alone + 1, 1)
    together = (chi - alone[:, None] - alone - freedom) / np.sqrt(2 * freedom)
    np.fill_diagonal(together, -1e9)
    return Screening(coders, (alone - cells_alone) / np.sqrt(2 * cells_alone), together)


def remainder_coders(sample: Sample) -> Iterator[list[Coder]]:
    """The most promising remainder of every whole number, and of some pairs of them."""
    of_candidates = sample.kind != "label" and not sample.fixed
    names = [
        name
        for name in sample.telling
        if (name in sample.of_candidate or not of_candidates) and not name.startswith("rank by ")
        if _whole(sample.column(name)[sample.there])
    ]
    found = [screen(sample, [Remainder(name, modulus) for name in names]) for modulus in MODULI]
    strength = np.stack([each.alone for each in found])
    for at, best in enumerate(strength.argmax(axis=0)):
        yield [found[best].coders[at]]
    pairs = [pair for each in found for pair in each.pairs(REMAINDER_PAIRS)]
    for _, a, b in sorted(pairs, key=lambda pair: -pair[0])[:REMAINDER_PAIRS]:
        yield [a, b]


def _whole(values: Floats) -> bool:
    """Whether the values are whole numbers, and enough of them differ for remainders to tell."""
    known = values[~np.isnan(values)]
    whole = len(known) > 0 and bool((known == np.floor(known)).all())
    return whole and len(np.unique(known[:2000])) > 2 and float(np.abs(known).max()) < 1e7


def tree_rule(sample: Sample, screening: Screening, trees: int) -> Rule:
    """Boosted trees on the features that tell most, alone or in a pair."""
    part = sample.part(TREE_ROWS)
    coders = [Bins(part, name, TREE_BINS - 2) for name in screening.strongest]
    models = []
    for members in part.classes:
        right = part.right[members].astype(np.float32)
        if 0 < right.mean() < 1 and coders:
            codes = np.stack([coder(part)[members] for coder in coders]).astype(np.uint8)
            models.append(grow(codes, right, trees, TREE_BINS))

    def scores(of: Sample) -> Floats:
        found = np.zeros(of.right.shape, dtype=np.float32)
        codes = np.stack([coder(of) for coder in coders]).astype(np.uint8) if models else None
        for members, model in zip(of.classes, models, strict=False):
            assert codes is not None
            found[members] = model(codes[:, members]) - (model.start if of.kind == "label" else 0)
        return found

    return Rule(scores, _reads_text(coders))
