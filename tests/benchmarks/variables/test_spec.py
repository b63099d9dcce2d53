"""The limits of every field, in plain numbers."""

from __future__ import annotations

from typing import Any

import pytest

from trivium.benchmarks.variables.spec import VariablesSpec
from trivium.core.errors import UserError


@pytest.mark.parametrize(
    "fields",
    [
        {"size": 1},
        {"min_vars": 2, "max_vars": 2},
        {"min_vars": 30, "max_vars": 30},
        {"max_hyps": 1},
        {"max_hyps": 8},
        {"graph": "dag", "max_parents": 1},
        {"graph": "dag", "max_parents": 8},
        {"thinned": 0.0},
        {"thinned": 1.0},
        {"observations": 10},
        {"observations": 1000},
        {"snr": -100.0},
        {"snr": 200.0},
        {"balance": "none", "min_vars": 5},
    ],
)
def test_specs_at_the_limits(fields: dict[str, Any]) -> None:
    VariablesSpec(**fields)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"size": 0}, "size must be at least 1, got 0"),
        ({"min_vars": 1}, "min_vars must be at least 2, got 1"),
        ({"max_vars": 31}, "max_vars must be in min_vars=10..30, got 31"),
        ({"max_vars": 9}, "max_vars must be in min_vars=10..30, got 9"),
        ({"min_vars": 5}, "balance control needs min_vars equal to max_vars, got 5 and 10"),
        ({"max_hyps": 0}, "max_hyps must be in 1..8, got 0"),
        ({"max_hyps": 9}, "max_hyps must be in 1..8, got 9"),
        ({"graph": "dag", "max_parents": 0}, "max_parents must be in 1..8, got 0"),
        ({"graph": "dag", "max_parents": 9}, "max_parents must be in 1..8, got 9"),
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
    assert [VariablesSpec().strata, VariablesSpec(min_vars=4, max_vars=4).strata] == [9, 3]
    assert VariablesSpec(balance="hypotheses").strata == 2
    assert VariablesSpec(balance="none").strata == 1
    assert VariablesSpec().parents == 1
    assert VariablesSpec(graph="dag").parents == 3
