"""Surface features of hand-made pages, in plain numbers."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.auditing.features import (
    Group,
    PromptFeatures,
    candidate_features,
    common_words,
    item_features,
)
from trivium.auditing.results import ENGINE
from trivium.auditing.samples import feature_names, make_rows
from trivium.core.probes import Probe

TEXT = """Ann has 07 stones, Ben has -3.50 stones
the Cleo7, Ann
,Ben
Who?"""
PROBE = Probe(
    "answer",
    ["Ben", "Ann", "Cleo7"],
    [True, False, False],
    {"target": "Ann"},
    {"own": [5.0, 6.0, 7.0]},
    {"whole": 9.0},
)


PROMPT = PromptFeatures(TEXT, 5, ["Ann", "Ben", "Cleo7"])


def named(groups: Iterable[Group]) -> dict[str, float]:
    return {f"{name}{end}": value for end, found in groups for name, value in found.items()}


def described(candidate: int) -> dict[str, float]:
    return named(list(candidate_features(PROMPT, PROBE))[candidate])


def test_places_of_a_candidate() -> None:
    ben = described(0)
    expected = {
        "place": 0,
        "place from the end": 2,
        "alphabetical rank": 1,
        "mentions": 2,
        "first mention": 19,
        "last mention": 56,
        "line of its first mention": 0,
        "line of its last mention": 2,
        "lines that mention it": 2,
        "smallest gap between mentions": 37,
        "longest line that mentions it": 39,
        "shortest line that mentions it": 4,
        "most commas in a line that mentions it": 1,
        "own": 5,
    }
    assert {name: ben[name] for name in expected} == expected


def test_what_stands_beside_a_candidate() -> None:
    ben, ann = described(0), described(1)
    assert ben["position in its line, first mention"] == 19
    assert ben["words before it in its line, first mention"] == 4
    assert ben["decimals of the number beside it, first mention"] == 2
    assert ben["negative of the number beside it, first mention"] == 1
    assert ben["parity of the number beside it, first mention"] == 1
    assert ann["leading zeros of the number beside it, first mention"] == 1
    assert math.isnan(ann["parity of the number beside it, last mention"])


def test_spelling_and_marked_names() -> None:
    cleo = described(2)
    assert cleo["length of its name"] == 5
    assert cleo["number of its name"] == 7
    assert cleo["parity of its name"] == 1
    assert cleo["vowels of its name"] == 2
    assert cleo["characters from first mention to that of target"] == 44
    assert cleo["lines from first mention to that of target"] == 1
    assert cleo["mentioned before target"] == 0
    assert cleo["length less that of target"] == 2


def test_features_of_an_item() -> None:
    item = named(item_features(PROMPT, PROBE))
    expected = {
        "candidates": 3,
        "lines": 4,
        "numbers": 2,
        "odd numbers": 2,
        "most decimals": 2,
        "negative numbers": 1,
        "numbers with leading zeros": 1,
        "sum of all numbers": 3.5,
        "number less that of the second number, of the first": 10.5,
        "index": 5,
        "index mod 3": 2,
        "mentions, of target": 2,
        "whole": 9,
    }
    assert {name: item[name] for name in expected} == expected


def test_words_of_half_the_texts_belong_to_the_template() -> None:
    texts = ["alpha beta gamma", "alpha beta gamma", "alpha beta", "alpha", "alpha"]
    assert common_words(texts) == {"alpha", "beta"}  # five, three and two of five
    assert common_words(texts[1:]) == {"alpha", "beta"}  # four, two and one of four


def test_columns_of_a_table() -> None:
    text = "Here:\n\nA,B\n1,2.5\n3,\n-4,0.5\n\nWhich?"
    probe = Probe("column", ["A", "B"], [True, False])
    a, b = map(named, candidate_features(PromptFeatures(text, 0), probe))
    column = " in its column"
    assert a["share of whole numbers" + column] == 1
    assert a["share of negative numbers" + column] == pytest.approx(1 / 3)
    assert a["mean value" + column] == 0
    assert a["last value" + column] == -4
    assert b["share of whole numbers" + column] == 0
    assert b["missing cells" + column] == 1
    assert b["largest value" + column] == 2.5


def test_repeated_values_of_a_column_are_counted_once() -> None:
    probe = Probe("column", ["A", "B"], [True, False])
    text = "Here:\n\nA,B\n1,2\n3,\n1,2\n\nWhich?"
    a, b = map(named, candidate_features(PromptFeatures(text, 0), probe))
    assert a["share of different values in its column"] == pytest.approx(2 / 3)
    assert b["share of different values in its column"] == 0.5


def test_a_name_is_found_as_a_whole_word_only() -> None:
    assert PromptFeatures("H1 H12 xH1 H1_ (H1)", 0).mentions("H1") == [0, 16]
    assert PromptFeatures("red cube, red cubes", 0).mentions("red cube") == [0]
    assert PromptFeatures("a <b> <b>", 0).mentions("<b>") == [2, 6]


names = st.text(min_size=1, max_size=6)


@given(st.text(max_size=200), st.lists(names, min_size=1, max_size=4, unique=True))
def test_any_text_has_as_many_features_as_names_of_features(text: str, given_: list[str]) -> None:
    probe = Probe("p", given_, [True] * len(given_), {"role": given_[0]}, {}, {})
    prompt = PromptFeatures(text, 3, given_)
    of_candidate, of_item = feature_names(prompt, probe)
    (row,) = make_rows(prompt, [probe], with_text=True)
    assert len(row.of_candidate) == len(given_) * len(of_candidate)
    assert len(row.of_item) == len(of_item)
    found = {tuple(named(groups)) for groups in candidate_features(prompt, probe)}
    assert found == {tuple(of_candidate)}
    assert len(set(of_candidate)) == len(of_candidate)
    assert len(set(of_item)) == len(of_item)


def test_new_features_come_with_a_new_engine() -> None:
    names = "\n".join(chain.from_iterable(feature_names(PROMPT, PROBE)))
    pinned = (ENGINE, hashlib.blake2b(names.encode(), digest_size=8).hexdigest())
    assert pinned == (3, "be3aa7b3b0a1642e"), (
        "The features of the audit have changed: raise ENGINE in auditing/results.py, so that "
        "`make audits` repeats the stored audits, and pin the new number and hash here."
    )
