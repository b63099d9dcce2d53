"""The limits of every field, in plain numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from trivium.benchmarks.variables.spec import VariablesSpec
from trivium.core.errors import UserError

ORIGINAL: dict[str, Any] = {"design": "original", "min_vars": 10, "max_vars": 10}


@pytest.mark.parametrize(
    "fields",
    [
        ORIGINAL | {"min_vars": 2, "max_vars": 2},
        {"max_vars": 16},
        {"max_vars": 30},
        {"min_vars": 17, "max_vars": 17},
        {"balance": "hypotheses", "min_vars": 14, "max_vars": 14},
        {"balance": "hypotheses", "min_vars": 30, "max_vars": 30},
        ORIGINAL | {"max_hyps": 1},
        {"max_hyps": 14},
        {"balance": "none", "max_hyps": 12},
        ORIGINAL | {"graph": "dag", "max_parents": 1},
        ORIGINAL | {"graph": "dag", "max_parents": 8},
        {"thinned": 0.0},
        {"thinned": 1.0},
        {"observations": 20},
        ORIGINAL | {"observations": 10},
        {"observations": 1000},
        {"snr": -100.0},
        {"snr": 200.0},
    ],
)
def test_specs_at_the_limits(fields: dict[str, Any]) -> None:
    VariablesSpec(**fields)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"min_vars": 1}, "min_vars must be at least 2, got 1"),
        ({"max_vars": 31}, "max_vars must be in min_vars=15..30, got 31"),
        ({"max_vars": 9}, "max_vars must be in min_vars=15..30, got 9"),
        (
            ORIGINAL | {"min_vars": 5},
            "balance control of the original design needs min_vars equal to max_vars, got 5 and 10",
        ),
        (
            {"min_vars": 13, "max_vars": 13, "balance": "none"},
            "no matched item with balance none has 13 to 13 variables and at most 16 hypotheses",
        ),
        (
            {"max_hyps": 11},
            "no matched item with balance control has 15 to 21 variables and at most 11 hypotheses",
        ),
        ({"graph": "dag", "max_parents": 2}, "max_parents goes with design original"),
        ({"graph": "dag", "max_vars": 25}, "max_vars of a matched dag must be at most 24, got 25"),
        ({"observations": 10}, "observations of matched items must be at least 20, got 10"),
        ({"max_hyps": 0}, "max_hyps must be in 1..16, got 0"),
        ({"max_hyps": 17}, "max_hyps must be in 1..16, got 17"),
        (
            ORIGINAL | {"graph": "dag", "max_parents": 0},
            "max_parents must be in 1..8, got 0",
        ),
        (
            ORIGINAL | {"graph": "dag", "max_parents": 9},
            "max_parents must be in 1..8, got 9",
        ),
        ({"max_parents": 2}, "max_parents goes with graph dag, got 2 with forest"),
        ({"thinned": 1.5}, "thinned must be in 0..1, got 1.5"),
        ({"thinned": -0.1}, "thinned must be in 0..1, got -0.1"),
        ({"observations": 0}, "observations must be a multiple of 10 in 10..1000, got 0"),
        ({"observations": 15}, "observations must be a multiple of 10 in 10..1000, got 15"),
        ({"observations": 1010}, "observations must be a multiple of 10 in 10..1000, got 1010"),
        ({"snr": -100.5}, "snr must be in -100..200 dB, got -100.5"),
        ({"snr": 200.5}, "snr must be in -100..200 dB, got 200.5"),
    ],
)
def test_specs_past_the_limits_are_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as problem:
        VariablesSpec(**fields)
    assert str(problem.value) == message


def test_what_follows_from_a_spec() -> None:
    original = VariablesSpec(**ORIGINAL)
    assert original.parents == 1
    assert replace(original, graph="dag").parents == 3
