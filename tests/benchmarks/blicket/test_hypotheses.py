"""Hypotheses as text and as functions, and spaces of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.benchmarks.blicket.inference.hypotheses import (
    ALL_ELEVEN,
    DEFAULT_SIX,
    FORMS,
    SPLITS,
    Hypothesis,
    letters,
    lights,
    machines,
    make_space,
    mask_of,
    parse,
    space_of,
    split,
)
from trivium.core.errors import UserError

RULES = ("conjunctive", "disjunctive", "threshold-2", "threshold-3", "parity", "inhibitor")


@st.composite
def any_hypothesis(draw: st.DrawFn, objects: int = 8) -> Hypothesis:
    form = draw(st.sampled_from(FORMS))
    full = (1 << objects) - 1
    blickets = draw(st.integers(1, full - 1))
    threshold = draw(st.integers(1, blickets.bit_count())) if form == "threshold" else 0
    others = [1 << bit for bit in range(objects) if not blickets >> bit & 1]
    chosen = draw(st.sets(st.sampled_from(others), min_size=1)) if form == "inhibitor" else ()
    noise = draw(st.sampled_from([0.0, 0.1, 0.05, 1e-7, 0.4999, 1 / 3]))
    return Hypothesis(form, blickets, threshold, sum(chosen), noise)


def reference_light(hypothesis: Hypothesis, on: set[str]) -> bool:
    """The forms, from their definitions."""
    blickets, inhibitors = set(letters(hypothesis.blickets)), set(letters(hypothesis.inhibitors))
    return {
        "disjunctive": len(blickets & on) >= 1,
        "conjunctive": blickets <= on,
        "threshold": len(blickets & on) >= hypothesis.threshold,
        "parity": len(blickets & on) in (1, 3, 5, 7),
        "inhibitor": bool(blickets & on) and not inhibitors & on,
    }[hypothesis.form]


@given(any_hypothesis())
def test_str_and_parse_are_inverse(hypothesis: Hypothesis) -> None:
    assert parse(str(hypothesis)) == hypothesis


@given(any_hypothesis(), st.integers(0, 255))
def test_the_light_follows_the_form(hypothesis: Hypothesis, placed: int) -> None:
    lit = reference_light(hypothesis, set(letters(placed)))
    probability = 1 - hypothesis.noise if lit else hypothesis.noise
    assert lights(hypothesis, placed) == probability
    assert space_of([hypothesis], objects=8).likelihood[0, placed] == probability


def test_letters_and_masks_are_inverse() -> None:
    assert [mask_of(letters(mask)) for mask in range(256)] == list(range(256))


def test_the_named_spaces_are_the_papers() -> None:
    assert (
        *("conjunctive:AB", "conjunctive:AC", "conjunctive:BC"),
        *("disjunctive:A", "disjunctive:B", "disjunctive:C"),
    ) == DEFAULT_SIX
    assert len(ALL_ELEVEN) == 11
    assert sum(text.startswith("conjunctive") for text in ALL_ELEVEN) == 4
    assert set(DEFAULT_SIX) < set(ALL_ELEVEN)


def test_splits_are_the_papers() -> None:
    written = {
        "none": ("AB AC BC A B C", "AB AC BC A B C"),
        "conjunctive_train": ("AB AC BC", "A B C"),
        "disjunctive_train": ("A B C", "AB AC BC"),
        "conjunctive_loo": ("AB AC", "BC"),
        "disjunctive_loo": ("A B", "C"),
        "both_loo": ("AB AC A B", "BC C"),
    }
    assert set(SPLITS) == set(written)
    for name, halves in written.items():
        for half, space in zip(halves, split(name), strict=True):
            assert [letters(each.blickets) for each in space] == half.split()
            forms = ["conjunctive" if len(text) == 2 else "disjunctive" for text in half.split()]
            assert [each.form for each in space] == forms


@pytest.mark.parametrize("objects", [3, 4, 5])
def test_no_two_machines_of_a_general_space_behave_the_same(objects: int) -> None:
    space = make_space(objects, RULES)
    assert len(np.unique(space.likelihood, axis=0)) == len(space)


def test_general_spaces_reach_eight_objects() -> None:
    space = make_space(8, RULES, noise=0.1)
    assert space.likelihood.shape == (len(space), 256)
    assert len(machines(8, "disjunctive")) == 255
    assert len(machines(8, "conjunctive")) == 255 - 8
    assert len(machines(8, "inhibitor")) == 3**8 - 2 * 2**8 + 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("conjunctive", "written conjunctive:AB"),
        ("conjunctive:AA", "different letters"),
        ("magic:AB", "form must be one of"),
        ("threshold-3:AB", "threshold must be in 1..2"),
        ("threshold:AB", "threshold must be in 1..2"),
        ("parity-2:AB", "no threshold"),
        ("inhibitor:A", "inhibitors must hold"),
        ("inhibitor:AB-B", "cannot be a blicket and an inhibitor"),
        ("disjunctive:A-B", "no inhibitors"),
        ("disjunctive:A~0.5", "noise must be"),
        ("disjunctive:a", "written conjunctive:AB"),
    ],
)
def test_a_bad_hypothesis_is_refused(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        parse(text)


def test_a_bad_space_is_refused() -> None:
    with pytest.raises(UserError, match="needs 4 objects"):
        space_of(["disjunctive:D"], objects=3)
    with pytest.raises(UserError, match="different"):
        space_of(["disjunctive:A", "disjunctive:A"])
    with pytest.raises(UserError, match="rule must be"):
        make_space(3, ("threshold",))
    with pytest.raises(UserError, match="split must be"):
        split("half")
