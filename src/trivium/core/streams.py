"""Random streams, hashed from their purpose and the same on every machine.

An item depends on its benchmark, spec, seed and index only. `item_stream` draws one number at a
time; `word_block` draws a fixed number of random words for each item of a batch;
`grown_uniforms` draws more numbers for some items of a batch, as rejection sampling needs.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Collection, MutableSequence, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from trivium.core.spec import changed_fields

T = TypeVar("T")
DEFAULT_SEED = 7  # of every command and of Python; public, so its items may be in corpora


def stream_key(*parts: Any) -> int:
    """A 128-bit key that depends on every part and on nothing else."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=16).digest(), "little")


def spec_key(spec: Any, seed: int, ignore: Collection[str] = ()) -> int:
    """The key shared by all items of one spec and seed.

    Only fields that differ from their defaults are hashed, so that a field added later leaves
    existing items unchanged. `ignore` names fields that the caller hashes itself.
    """
    fields = {key: value for key, value in changed_fields(spec).items() if key not in ignore}
    return stream_key(type(spec).__name__, fields, seed)


def balanced_kinds(key: int, kinds: int, start: int, count: int) -> NDArray[np.int64]:
    """The kind of each item from `start`: every kind once in each block, in random order.

    A block is `kinds` items long, and its order is a permutation drawn from the key and the
    block's number, so that no kind is a function of the index.
    """
    first, last = start // kinds, (start + count - 1) // kinds
    draws = word_block(stream_key("balanced kinds", key), first, last - first + 1, kinds)
    order = draws.argsort(axis=1, kind="stable").reshape(-1)
    return order[start - first * kinds :][:count]


class Stream:
    """A small random stream whose draws are the same on every Python version.

    Built on `Random.random`, the only method that the standard library promises not to change.
    """

    __slots__ = ("random",)

    def __init__(self, key: int) -> None:
        self.random = random.Random(key).random

    def below(self, bound: int) -> int:
        """A whole number from 0 to bound - 1."""
        return int(self.random() * bound)

    def choice(self, options: Sequence[T]) -> T:
        """One of the options."""
        return options[int(self.random() * len(options))]

    def shuffle(self, values: MutableSequence[Any]) -> None:
        """Put the values into a random order, in place."""
        uniform = self.random
        for last in range(len(values) - 1, 0, -1):
            other = int(uniform() * (last + 1))
            values[last], values[other] = values[other], values[last]

    def shuffled(self, values: Sequence[T]) -> list[T]:
        """A copy of the values in a random order."""
        copy = list(values)
        self.shuffle(copy)
        return copy

    def sample(self, values: Sequence[T], count: int) -> list[T]:
        """`count` different values in a random order."""
        pool = list(values)
        for place in range(count):
            other = place + int(self.random() * (len(pool) - place))
            pool[place], pool[other] = pool[other], pool[place]
        return pool[:count]


def item_stream(spec: Any, seed: int, index: int, purpose: str = "") -> Stream:
    """The stream of one item for one purpose."""
    return Stream(stream_key(spec_key(spec, seed), index, purpose))


def word_block(key: int, start: int, count: int, words: int) -> NDArray[np.uint32]:
    """Random 32-bit words, one row for each item from `start`, `words` in each row.

    Counter-based (Philox): a row depends only on the key, its index and its length.
    """
    per_counter = 8  # one Philox counter yields four 64-bit words
    counters = -(-words // per_counter)
    generator = np.random.Philox(key=key)
    generator.advance(start * counters)
    raw = generator.random_raw(count * counters * 4)
    return raw.view(np.uint32).reshape(count, counters * per_counter)[:, :words]


def mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Words hashed one to one (the finaliser of SplitMix64)."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def grown_uniforms(keys: NDArray[np.uint64], count: int, skipped: int = 0) -> NDArray[np.float64]:
    """Uniform numbers in [0, 1) of 32 bits: `count` rows after `skipped` ones, a column per key.

    SplitMix64 needs no state, so any rows of any key can be drawn at any time.
    """
    # A word makes two numbers: the first rows use its high half, the last ones its low half.
    words = (count + 1) // 2
    steps = np.arange(skipped + 1, skipped + words + 1, dtype=np.uint64)
    grown = mixed(keys + steps[:, None] * np.uint64(0x9E3779B97F4A7C15))
    numbers = np.empty((count, len(keys)))
    np.multiply(grown >> np.uint64(32), 2.0**-32, out=numbers[:words])
    np.multiply(grown[: count - words] & np.uint64(2**32 - 1), 2.0**-32, out=numbers[words:])
    return numbers
