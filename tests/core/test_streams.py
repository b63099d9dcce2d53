"""Random streams: the same for ever, apart from each other."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from trivium.benchmarks.nhop.spec import ImplicitSpec
from trivium.core.streams import (
    Stream,
    grown_uniforms,
    item_stream,
    mixed,
    spec_key,
    stream_key,
    word_block,
)


def test_streams_are_the_same_for_ever() -> None:
    """Golden values: a change here changes every item that anyone ever made."""
    assert stream_key("a", 1) == 339258358120506115839029313504739879047
    stream = item_stream(ImplicitSpec(), seed=7, index=41)
    assert [stream.below(1000) for _ in range(4)] == [452, 690, 515, 742]
    assert word_block(5, 3, 1, 3).tolist() == [[491082686, 230033805, 415429306]]


def test_neighbouring_seeds_and_indexes_share_nothing() -> None:
    spec = ImplicitSpec()
    firsts = {item_stream(spec, seed, index).random() for seed in range(40) for index in range(40)}
    assert len(firsts) == 1600


def test_a_default_field_leaves_the_key_as_it_was() -> None:
    assert spec_key(ImplicitSpec(hops=5), 1) == spec_key(ImplicitSpec(), 1)
    assert spec_key(ImplicitSpec(hops=6), 1) != spec_key(ImplicitSpec(), 1)


@given(st.integers(0, 2**100), st.integers(0, 10**9), st.integers(1, 40), st.integers(1, 70))
def test_any_slice_of_words_is_the_same(key: int, start: int, count: int, words: int) -> None:
    whole = word_block(key, start, count, words)
    assert whole.shape == (count, words)
    for row in (0, count - 1):
        assert np.array_equal(whole[row], word_block(key, start + row, 1, words)[0])


@given(st.integers(0, 2**64), st.lists(st.integers(), max_size=20))
def test_shuffles_and_samples_keep_their_values(key: int, values: list[int]) -> None:
    stream = Stream(key)
    assert sorted(stream.shuffled(values)) == sorted(values)
    count = stream.below(len(values) + 1)
    sample = stream.sample(values, count)
    assert len(sample) == count
    assert not Counter(sample) - Counter(values)


def test_shuffles_are_uniform() -> None:
    """Chi-square over the 24 orders of four: a false alarm has probability 1e-6."""
    stream = Stream(9)
    orders = Counter(tuple(stream.shuffled([0, 1, 2, 3])) for _ in range(12_000))
    assert len(orders) == 24
    assert sum((seen - 500) ** 2 / 500 for seen in orders.values()) < 73.5


def test_grown_numbers_depend_on_their_key_alone() -> None:
    keys = mixed(np.arange(50, dtype=np.uint64))
    whole = grown_uniforms(keys, 7)
    for column, key in enumerate(keys):
        assert (grown_uniforms(np.array([key]), 7)[:, 0] == whole[:, column]).all()
    assert not (grown_uniforms(keys, 7, skipped=7) == whole).any()
    assert (grown_uniforms(np.array([9], dtype=np.uint64), 3)[:, 0] * 1000).astype(
        int
    ).tolist() == [682, 750, 743]


def test_grown_numbers_are_uniform_and_unrelated() -> None:
    """Means, and correlations of rows and of neighbouring keys, within 5 standard errors."""
    numbers = grown_uniforms(np.arange(20_000, dtype=np.uint64), 6)
    assert ((numbers >= 0) & (numbers < 1)).all()
    assert np.abs(numbers.mean(axis=1) - 0.5).max() < 5 * (1 / 12 / 20_000) ** 0.5
    rows_and_shifted = np.concatenate([numbers[:, :-1], numbers[:, 1:]])
    related = np.abs(np.corrcoef(rows_and_shifted)) - np.eye(12)
    assert related.max() < 5 / 20_000**0.5
