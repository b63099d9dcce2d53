"""A text model: which pieces of text, around a candidate or anywhere, go with the answer?

It sees what no named feature describes: letters, wording, spaces and punctuation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trivium.auditing.features import PromptFeatures

if TYPE_CHECKING:
    from trivium.auditing.samples import Sample

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
Codes = NDArray[np.uint32]

LONGEST = 4  # characters of a piece of text
BUCKETS = 1 << 13  # of hashed pieces
WINDOW = 8  # characters on each side of a mention
MENTIONS = 6  # of a candidate, whose windows are read
PIECES = 6  # of text that become features, of candidates and of items
_PRIMES = np.array([2654435761, 2246822519, 3266489917, 668265263], dtype=np.uint32)
_MARK = 1  # in place of the candidate


Counts = tuple[Ints, Ints]  # keys that hold the candidate and the bucket, and how often each occurs


class Pieces(NamedTuple):
    """How often each hashed piece of text occurs in each row."""

    row: Ints
    bucket: Ints
    times: Floats

    @classmethod
    def of(cls, rows: Sequence[Counts], width: int) -> Pieces:
        """The pieces of all items together, each with so many rows."""
        keys = np.concatenate([keys for keys, _ in rows])
        item = np.repeat(np.arange(len(rows)), [len(keys) for keys, _ in rows])
        times = np.concatenate([counts for _, counts in rows]).astype(np.float32)
        return cls(item * width + keys // BUCKETS, keys % BUCKETS, times)


def hashed(codes: Codes) -> tuple[Ints, ...]:
    """The bucket of every piece of 1 to LONGEST characters, along the last axis."""
    found, sums = [], np.zeros_like(codes)
    for size in range(1, min(LONGEST, codes.shape[-1]) + 1):
        width = codes.shape[-1] - size + 1
        sums = sums[..., :width] + codes[..., size - 1 :] * _PRIMES[size - 1]
        mixed = (sums ^ (sums >> np.uint32(15))) * np.uint32(2246822507 + 2 * size)
        found.append((mixed >> np.uint32(19)).astype(np.int64))
    return tuple(found)


def pieces_of_item(prompt: PromptFeatures) -> Counts:
    """The buckets of the whole text, and how often each occurs."""
    buckets = np.concatenate([*hashed(prompt.masked[0]), np.empty(0, dtype=np.int64)])
    found = np.bincount(buckets, minlength=BUCKETS)
    distinct = found.nonzero()[0]
    return distinct, found[distinct]


def pieces_of_candidates(prompt: PromptFeatures, names: Sequence[str]) -> Counts:
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


class TextModel:
    """The pieces of text that go with the answer on the training items."""

    def __init__(self, sample: Sample) -> None:
        assert sample.pieces is not None
        by_candidate, by_item = sample.pieces
        flat = sample.residual.reshape(-1)
        self.single = sample.kind == "label" or sample.fixed
        self.of_candidates = strengths(by_candidate, flat)
        self.of_items = np.stack(
            [strengths(by_item, (sample.residual * mask).sum(axis=1)) for mask in sample.groups]
        )
        self.buckets = [] if self.single else strongest(self.of_candidates, PIECES).tolist()
        widest = self.of_items[np.abs(self.of_items).argmax(axis=0), np.arange(BUCKETS)]
        self.item_buckets = strongest(widest, PIECES).tolist()

    def extend(self, sample: Sample) -> Sample:
        """The sample with the counts of these pieces as features."""
        assert sample.pieces is not None
        by_candidate, by_item = sample.pieces
        n, width = sample.right.shape
        added = {f"text piece {b}": _counts(by_candidate, b, (n, width)) for b in self.buckets}
        items = {f"item's text piece {b}": _counts(by_item, b, (n,)) for b in self.item_buckets}
        candidates, items = {**sample.of_candidate, **added}, {**sample.of_item, **items}
        return replace(sample, of_candidate=candidates, of_item=items)

    def scores(self, sample: Sample) -> Floats:
        """The sum of what all strong pieces say."""
        assert sample.pieces is not None
        by_candidate, by_item = sample.pieces
        n, width = sample.right.shape
        if not self.single:
            return _weighed(by_candidate, self.of_candidates, n * width).reshape((n, width))
        scores: Floats = np.stack([_weighed(by_item, weights, n) for weights in self.of_items])
        scores -= np.median(scores, axis=1, keepdims=True)
        if not sample.fixed:
            return scores.T
        found: Floats = np.take_along_axis(scores.T, sample.candidates, axis=1)
        return found


def _counts(pieces: Pieces, bucket: int, shape: tuple[int, ...]) -> Floats:
    here = pieces.bucket == bucket
    counts = np.bincount(pieces.row[here], pieces.times[here], int(np.prod(shape)))
    return counts.astype(np.float32).reshape(shape)


def _weighed(pieces: Pieces, strength: Floats, rows: int) -> Floats:
    weight = np.where(np.abs(strength) > 3, strength, 0.0)[pieces.bucket]
    return np.bincount(pieces.row, weight * pieces.times, rows).astype(np.float32)
