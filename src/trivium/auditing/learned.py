"""Models that look for what no named feature describes: letters of the text, and boosted trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trivium.auditing.features import PromptFeatures

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
Codes = NDArray[np.uint32]

LONGEST = 4  # characters of a piece of text
BUCKETS = 1 << 13  # of hashed pieces
WINDOW = 8  # characters on each side of a mention
MENTIONS = 6  # of a candidate, whose windows are read
_PRIMES = np.array([2654435761, 2246822519, 3266489917, 668265263], dtype=np.uint32)
_MARK = 1  # in place of the candidate


class Pieces(NamedTuple):
    """How often each hashed piece of text occurs in each row."""

    row: Ints
    bucket: Ints
    times: Floats


def hashed(codes: Codes) -> tuple[Ints, ...]:
    """The bucket of every piece of 1 to LONGEST characters, along the last axis."""
    found, sums = [], np.zeros_like(codes)
    for size in range(1, min(LONGEST, codes.shape[-1]) + 1):
        width = codes.shape[-1] - size + 1
        sums = sums[..., :width] + codes[..., size - 1 :] * _PRIMES[size - 1]
        mixed = (sums ^ (sums >> np.uint32(15))) * np.uint32(2246822507 + 2 * size)
        found.append((mixed >> np.uint32(19)).astype(np.int64))
    return tuple(found)


def pieces_of_item(prompt: PromptFeatures) -> tuple[Ints, Ints]:
    """The buckets of the whole text, and how often each occurs."""
    buckets = np.concatenate([*hashed(prompt.masked[0]), np.empty(0, dtype=np.int64)])
    found = np.bincount(buckets, minlength=BUCKETS)
    distinct = found.nonzero()[0]
    return distinct, found[distinct]


def pieces_of_candidates(prompt: PromptFeatures, names: Sequence[str]) -> tuple[Ints, Ints]:
    """The buckets of every name and of the text around its mentions, numbered by candidate."""
    codes, moved = prompt.masked
    padded = np.pad(codes, WINDOW)
    mentions = [_spread(prompt.mentions(name)) for name in names]
    owner = np.repeat(np.arange(len(names)), list(map(len, mentions)))
    at = moved[np.array([place for places in mentions for place in places], dtype=np.int64)]
    around = padded[at[:, None] + np.arange(2 * WINDOW + 1)]
    around[:, WINDOW] = _MARK
    keys = [(owner[:, None] * BUCKETS + part).ravel() for part in hashed(around)]
    spelled = np.array([f"\2{name}\2" for name in names]).view(np.uint32).reshape(len(names), -1)
    every = np.arange(len(names))[:, None] * BUCKETS
    keys += [(every + part).ravel() for part in hashed(spelled + np.uint32(1 << 20))]
    return np.unique(np.concatenate(keys), return_counts=True)


def _spread(places: Sequence[int]) -> Sequence[int]:
    """At most MENTIONS of these places, evenly spread."""
    return places[:: -(-len(places) // MENTIONS)] if len(places) > MENTIONS else places


def strengths(pieces: Pieces, rest: Floats) -> Floats:
    """How strongly the count of each piece goes with what is left to explain, as z values."""
    weight = pieces.times.astype(np.float64)
    explained = np.bincount(pieces.bucket, weight * rest[pieces.row], BUCKETS)
    sums = np.bincount(pieces.bucket, weight, BUCKETS)
    squares = np.bincount(pieces.bucket, weight * weight, BUCKETS) - sums * sums / len(rest)
    spread = np.sqrt(np.maximum(squares, 1e-9) * float(np.square(rest).mean()))
    varies = squares > 0.002 * len(rest)
    return np.where(
        varies, (explained - sums * rest.mean()) / np.maximum(spread, 1e-9), 0.0
    ).astype(np.float32)


def strongest(found: Floats, most: int) -> Ints:
    """The buckets with the largest z values, one of those that always occur together."""
    order = np.argsort(-np.abs(found), kind="stable")[: 8 * most]
    _, first = np.unique(np.round(np.abs(found[order]), 4), return_index=True)
    return order[np.sort(first)][:most]


@dataclass(frozen=True)
class Trees:
    """Boosted trees whose levels each ask one question about one feature."""

    questions: list[list[tuple[int, int]]]  # of each tree: a column and the last bin below
    values: list[Floats]  # of each leaf
    start: float

    def __call__(self, codes: NDArray[np.uint8]) -> Floats:
        """The log-odds of every row; codes are (column, row)."""
        total = np.full(codes.shape[1], self.start, dtype=np.float32)
        for asked, values in zip(self.questions, self.values, strict=True):
            total += values[_leaves(codes, asked)]
        return total


def _leaves(codes: NDArray[np.uint8], asked: Sequence[tuple[int, int]]) -> Ints:
    leaf = np.zeros(codes.shape[1], dtype=np.int64)
    for column, below in asked:
        leaf = 2 * leaf + (codes[column] > below)
    return leaf


def grow(codes: NDArray[np.uint8], right: Floats, trees: int, bins: int) -> Trees:
    """Trees fitted to the right rows, each on a random part of rows and columns."""
    random = np.random.default_rng(0)
    share = float(right.mean())
    grown = Trees([], [], float(np.log(share / (1 - share))))
    total = grown(codes)
    rows, columns = min(len(right), ROWS), min(len(codes), COLUMNS)
    for _ in range(trees):
        chosen = random.choice(len(right), rows, replace=False)
        kept = random.choice(len(codes), columns, replace=False)
        part = codes[np.ix_(kept, chosen)].astype(np.int64)
        odds = 1 / (1 + np.exp(-total[chosen]))
        left, mean = right[chosen] - odds, float((odds * (1 - odds)).mean())
        asked: list[tuple[int, int]] = []
        leaf = np.zeros(rows, dtype=np.int64)
        for level in range(DEPTH):
            width = bins << level
            cells = part + leaf * bins + np.arange(columns)[:, None] * width
            size = columns * width
            count = np.bincount(cells.ravel(), minlength=size).reshape(columns, -1, bins)
            sums = np.bincount(cells.ravel(), np.tile(left, columns), size)
            below = sums.reshape(columns, -1, bins).cumsum(axis=2)
            weight = mean * count.cumsum(axis=2) + PENALTY
            whole, all_weight = below[:, :, -1:], weight[:, :, -1:]
            above, rest = whole - below, all_weight - weight + 2 * PENALTY
            gain = (below**2 / weight + above**2 / rest).sum(axis=1)
            column, split = divmod(int(gain.argmax()), bins)
            asked.append((int(kept[column]), split))
            leaf = 2 * leaf + (part[column] > split)
        sums = np.bincount(leaf, left, 1 << DEPTH)
        values = RATE * sums / (mean * np.bincount(leaf, minlength=1 << DEPTH) + PENALTY)
        grown.questions.append(asked)
        grown.values.append(values.astype(np.float32))
        total += grown.values[-1][_leaves(codes, asked)]
    return grown


ROWS, COLUMNS = 8000, 60  # on which each tree is grown
DEPTH = 4
RATE = 0.15
PENALTY = 4.0
