"""Episodes of unequal length laid side by side into rows, so that little is padding."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]
OPEN_ROWS = 8


class Rows(NamedTuple):
    """Which moment of which episode stands where, [row, place]; episode -1 is padding."""

    episode: Ints
    time: Ints


def pack(lengths: NDArray[np.int64], order: NDArray[np.int64], width: int) -> Rows:
    """Whole episodes in this order, each into the first open row with room for it.

    Only the latest few rows stay open, so that the work grows with the episodes alone.
    """
    filled: list[int] = []
    row_of = np.empty(len(order), dtype=np.int64)
    offset = np.empty(len(order), dtype=np.int64)
    for place, episode in enumerate(order):
        length = int(lengths[episode])
        first_open = max(0, len(filled) - OPEN_ROWS)
        row = next(
            (row for row in range(first_open, len(filled)) if filled[row] + length <= width),
            len(filled),
        )
        if row == len(filled):
            filled.append(0)
        row_of[place], offset[place] = row, filled[row]
        filled[row] += length
    rows = Rows(
        np.full((len(filled), width), -1, dtype=np.int32),
        np.zeros((len(filled), width), dtype=np.int32),
    )
    own = lengths[order]
    time = np.arange(own.sum()) - np.repeat(np.cumsum(own) - own, own)
    where = (np.repeat(row_of, own), np.repeat(offset, own) + time)
    rows.episode[where] = np.repeat(order, own)
    rows.time[where] = time
    return rows


def split_rows(rows: Rows, per_batch: int) -> Rows:
    """Rows in batches of equal size, [batch, row, place]; the last is filled up with padding."""
    count, width = rows.episode.shape
    filled = padded(rows, -(-count // per_batch) * per_batch)
    shape = (-1, per_batch, width)
    return Rows(filled.episode.reshape(shape), filled.time.reshape(shape))


def padded(rows: Rows, count: int) -> Rows:
    """Rows of padding added until there are so many."""
    missing = ((0, count - len(rows.episode)), (0, 0))
    return Rows(np.pad(rows.episode, missing, constant_values=-1), np.pad(rows.time, missing))
