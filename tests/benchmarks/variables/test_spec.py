"""The limits of every field, in plain numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from trivium.benchmarks import load_task
from trivium.benchmarks.variables.spec import VariablesSpec, VariablesView
from trivium.core.errors import UserError
from trivium.core.spec import spec_from_dict


@pytest.mark.parametrize(
    "fields",
    [
        {"size": 1},
        {"design": "original", "min_vars": 2, "max_vars": 2},
        {"min_vars": 4, "max_vars": 4},
        {"min_vars": 30, "max_vars": 30},
        {"design": "original", "max_hyps": 1},
        {"max_hyps": 2},
        {"min_vars": 18, "max_vars": 20, "max_hyps": 16},
        {"design": "original", "graph": "dag", "max_parents": 1},
        {"design": "original", "graph": "dag", "max_parents": 8},
        {"thinned": 0.0},
        {"thinned": 1.0},
        {"observations": 20},
        {"design": "original", "observations": 10},
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
        (
            {"min_vars": 5, "design": "original"},
            "balance control of the original design needs min_vars equal to max_vars, got 5 and 10",
        ),
        ({"controls": 4}, "controls must be in 0..3 with max_vars 10, got 4"),
        (
            {"controls": 2, "design": "original", "balance": "none"},
            "controls of the original design goes with balance control, got none",
        ),
        (
            {"min_vars": 3, "max_vars": 3},
            "min_vars of matched items must be at least 4 with max_hyps 3, got 3",
        ),
        (
            {"max_hyps": 16},
            "min_vars of matched items must be at least 18 with max_hyps 16, got 10",
        ),
        ({"graph": "dag"}, "graph dag needs design original, got matched"),
        ({"observations": 10}, "observations of matched items must be at least 20, got 10"),
        ({"max_hyps": 1}, "max_hyps of matched items must be in 2..16, got 1"),
        ({"max_hyps": 0}, "max_hyps must be in 1..16, got 0"),
        ({"max_hyps": 17}, "max_hyps must be in 1..16, got 17"),
        (
            {"graph": "dag", "max_parents": 0, "design": "original"},
            "max_parents must be in 1..8, got 0",
        ),
        (
            {"graph": "dag", "max_parents": 9, "design": "original"},
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
    assert [VariablesSpec().strata, VariablesSpec(min_vars=4, max_vars=4).strata] == [4, 1]
    assert VariablesSpec(min_vars=14, max_vars=20).strata == 9
    original = VariablesSpec(design="original")
    assert [original.strata, replace(original, min_vars=4, max_vars=4).strata] == [9, 3]
    assert VariablesSpec(balance="hypotheses").strata == 2
    assert VariablesSpec(balance="none").strata == 1
    assert VariablesSpec().parents == 1
    assert replace(original, graph="dag").parents == 3


def test_show_tree_may_be_true_or_false() -> None:
    assert VariablesView(show_tree=True) == VariablesView(show_tree="pseudocode")
    assert spec_from_dict(VariablesView, {"show_tree": False}) == VariablesView()
    assert (
        load_task("identifying_variables", fields={"show_tree": True}).view.show_tree
        == "pseudocode"
    )
