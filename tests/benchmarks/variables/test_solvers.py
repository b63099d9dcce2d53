"""Solvers between the floor and the ceiling, all through text."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest

from trivium.benchmarks.variables import VARIABLES
from trivium.benchmarks.variables.generate import generate
from trivium.benchmarks.variables.solvers import dependent_sets, pair_p_values, untested_pairs
from trivium.benchmarks.variables.spec import (
    PRESETS,
    RENDERERS,
    VariablesSpec,
    VariablesView,
    view_of,
)
from trivium.core.dialogue import attempt
from trivium.core.results import Summary, summarise

VIEW = VariablesView()
ORIGINAL = PRESETS["original-ctrl"]


def evaluate(solver: str, spec: VariablesSpec, renderer: str, items: int) -> Summary:
    view, made = view_of(renderer), VARIABLES.generate(spec, 19, 0, items)
    rows = [asdict(attempt(VARIABLES, item, VARIABLES.solvers[solver], view)) for item in made]
    return summarise(rows, VARIABLES.metrics)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("renderer", RENDERERS)
def test_the_oracle_is_best_in_every_metric(preset: str, renderer: str) -> None:
    found = evaluate("oracle", PRESETS[preset], renderer, 60)
    for metric in VARIABLES.metrics:
        assert found.metrics[metric.name].value == metric.best, metric.name


@pytest.mark.parametrize("preset", PRESETS)
def test_noctrl_controls_nothing(preset: str) -> None:
    found = evaluate("noctrl", PRESETS[preset], "language-corrset", 100).metrics
    assert found["ctrl_recall"].value == 0
    assert found["ctrl_fallout"].value == 0
    assert found["violation_rate"].value == 0
    assert found["hyp_valid_acc"].value == (1 if preset == "original-ctrl" else 0.5)


@pytest.mark.parametrize(
    ("preset", "share"),
    [("original-ctrl", 0.1), ("original-hypotheses", 0.19), ("balanced-ctrl", 1 / 17)],
)
def test_noctrl_names_two_variables_at_random(preset: str, share: float) -> None:
    """The share is 1 / variables; four standard errors of 600 items are under 0.065."""
    found = evaluate("noctrl", PRESETS[preset], "corrset", 600).metrics
    for metric in ("ind_acc", "dep_acc"):
        assert found[metric].value == pytest.approx(share, abs=0.065)


def test_random_scores_as_the_original_says() -> None:
    """Of its table: nDCG .247 and .278, fallout .696; over four standard errors of 900 items."""
    ctrl = evaluate("random", PRESETS["original-ctrl"], "corrset", 900).metrics
    both = evaluate("random", PRESETS["original-hypotheses"], "corrset", 900).metrics
    assert ctrl["ctrl_nDCG"].value == pytest.approx(0.247, abs=0.035)
    assert both["ctrl_nDCG"].value == pytest.approx(0.278, abs=0.055)
    assert ctrl["ctrl_fallout"].value == pytest.approx(0.696, abs=0.045)


@pytest.mark.parametrize("renderer", ["csv", "corrset"])
def test_the_looks_of_columns_and_sets_give_the_original_away_and_no_matched_item(
    renderer: str,
) -> None:
    """0.83 and 0.94 were measured on the original with a floor of 0.63; matched items have 0.59."""
    leaky = evaluate("surface", PRESETS["original-ctrl"], renderer, 300).metrics["ctrl_nDCG"]
    clean = evaluate("surface", PRESETS["balanced-ctrl"], renderer, 300).metrics["ctrl_nDCG"]
    assert (leaky.low or 0) > 0.75
    assert (clean.high or 1) < 0.66


@pytest.mark.parametrize("renderer", ["language-corrset", "markdown", "language-tabular"])
@pytest.mark.parametrize("preset", ["balanced-ctrl", "balanced-hypotheses"])
def test_solvers_that_leave_a_part_unread_have_little_lift(preset: str, renderer: str) -> None:
    """The hypotheses, their direction, or the observations of the target.

    Measured lifts are 0, .1 and 0; four standard errors of 100 items are .4 for the second one.
    """
    limits = {"no_hypotheses": 0.25, "undirected": 0.5, "always_valid": 0.5}
    for solver, limit in limits.items():
        found = evaluate(solver, PRESETS[preset], renderer, 100).metrics["lift"].value
        assert found is not None
        assert found <= limit, solver


@pytest.mark.parametrize("renderer", ["corrset", "language-corrset"])
@pytest.mark.parametrize(
    "spec",
    [
        *PRESETS.values(),
        replace(PRESETS["original-ctrl"], graph="dag"),
    ],
)
def test_the_statistician_is_perfect_on_what_the_text_decides(
    renderer: str, spec: VariablesSpec
) -> None:
    found = evaluate("statistician", spec, renderer, 200)
    for metric in VARIABLES.metrics:
        assert found.metrics[metric.name].value == metric.best, metric.name


@pytest.mark.parametrize("renderer", ["markdown", "csv", "json", "language-tabular"])
@pytest.mark.parametrize("preset", ["balanced-ctrl", "balanced-hypotheses"])
def test_tables_decide_all_of_a_matched_item(renderer: str, preset: str) -> None:
    """0.995 and 0.99 were measured with ten rows: tests join unrelated columns now and then."""
    found = evaluate("statistician", PRESETS[preset], renderer, 150).metrics
    assert (found["ctrl_nDCG"].value or 0) > 0.975
    assert (found["hyp_valid_acc"].value or 0) > 0.96


@pytest.mark.parametrize("renderer", ["markdown", "csv", "json"])
def test_the_statistician_reads_tables_well_above_the_shortcut(renderer: str) -> None:
    """0.98 was measured on 300 items; four standard errors of 200 are under 0.045."""
    spec = ORIGINAL
    found = evaluate("statistician", spec, renderer, 200)
    shortcut = evaluate("noctrl", spec, renderer, 200)
    assert (found.metrics["ctrl_nDCG"].low or 0) > (shortcut.metrics["ctrl_nDCG"].high or 1) + 0.2
    assert (found.metrics["ctrl_nDCG"].value or 0) > 0.92
    assert (found.metrics["hyp_valid_acc"].value or 0) > 0.93


def test_ten_rows_and_noise_decide_less() -> None:
    whole = evaluate("statistician", ORIGINAL, "csv", 150).metrics["ctrl_nDCG"]
    half = evaluate("statistician", ORIGINAL, "language-tabular", 150).metrics["ctrl_nDCG"]
    loud = replace(ORIGINAL, snr=0.0)
    noisy = evaluate("statistician", loud, "csv", 150).metrics["ctrl_nDCG"]
    assert (half.high or 1) < (whole.low or 0)
    assert (noisy.high or 1) < (half.low or 0)


def test_the_test_keeps_its_level_on_independent_columns() -> None:
    """Pairs of different trees, without noise: p falls below a level at most so often.

    About 20,000 pairs, ten standard errors allowed at 5%, and twice the level at 0.1%, since
    the F test is exact for normal values only; 0.040 and 0.0012 were measured.
    """
    found: list[float] = []
    for item in generate(replace(ORIGINAL, balance="none", min_vars=6), 9, 0, 1200):
        seen = [number for number, known in enumerate(item.seen) if known]
        first, second, p_values = pair_p_values(item.table.values[:, seen])
        known = item.observed
        for one, other, p_value in zip(first, second, p_values, strict=True):
            if known.correlated(seen[one], seen[other]) is False:
                found.append(p_value)
    assert len(found) > 15_000
    assert np.mean(np.array(found) <= 0.05) < 0.05 + 10 * 0.0015
    assert np.mean(np.array(found) <= 0.001) < 0.002


@pytest.mark.parametrize("shape", ["line", "parabola", "parabola of it", "siblings"])
def test_the_test_sees_what_graphs_make(shape: str) -> None:
    generator = np.random.default_rng(4)
    hits = 0
    for _ in range(100):
        x = generator.integers(-100, 100, 20).astype(float)
        pairs = {
            "line": (x, 3 * x - 7),
            "parabola": (x, -2 * x**2 + 50),
            "parabola of it": (x, 5 * (x**2 / 100) ** 2 - 9),
            "siblings": (4 * x**2 + 1, -3 * x + 8),
        }
        table = np.column_stack([*pairs[shape], generator.integers(-100, 100, 20)])
        hits += {0, 1} in dependent_sets(table)
    # The third column is joined to one of the two now and then: that is the test's level.
    assert hits >= 88


def test_degenerate_columns_are_no_evidence() -> None:
    x = np.arange(20.0)
    constant, short = np.full(20, 5.0), np.where(np.arange(20) < 3, x, np.nan)
    empty = np.full(20, np.nan)
    table = np.column_stack([x, constant, short, empty])
    assert dependent_sets(table) == [{0}, {1}, {2}, {3}]
    _, _, p_values = pair_p_values(table)
    assert np.isfinite(p_values).all()
    assert (p_values == 1).all()


def test_the_planned_pair_is_tested_without_correction() -> None:
    generator = np.random.default_rng(11)
    for _ in range(200):
        table = generator.normal(size=(20, 8))
        table[:, 1] += 0.8 * table[:, 0]
        _, _, p_values = pair_p_values(table)
        if 0.01 / 28 < p_values[0] <= 0.01 and p_values[1:].min() > 0.01 / 28:
            assert {0, 1} not in dependent_sets(table)
            assert {0, 1} in dependent_sets(table, (1, 0))
            return
    raise AssertionError("no such table was drawn")


def test_p_values_follow_the_f_test() -> None:
    """Against ordinary least squares and the beta form of the F distribution's tail."""
    generator = np.random.default_rng(3)
    for rows in (4, 5, 9, 20):
        x, y = generator.normal(size=(2, rows))

        def share(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> float:
            design = np.column_stack([np.ones_like(one), one, one**2])
            fitted = design @ np.linalg.lstsq(design, other, rcond=None)[0]
            return float(((other - fitted) ** 2).sum() / ((other - other.mean()) ** 2).sum())

        expected = min(1.0, 2 * min(share(x, y), share(y, x)) ** ((rows - 3) / 2))
        assert pair_p_values(np.column_stack([x, y]))[2][0] == pytest.approx(expected)


def test_holm_compares_each_p_value_with_the_level_of_those_left() -> None:
    """Three columns make three pairs: 0.01 / 3, 0.01 / 2 and 0.01 in turn, up to a failure."""
    generator = np.random.default_rng(5)
    sizes, beyond_bonferroni = Counter[int](), 0
    for _ in range(600):
        table = generator.normal(size=(12, 3))
        table[:, 1:] += 1.1 * table[:, :1]
        p_values = np.sort(pair_p_values(table)[2])
        rejected = 0
        while rejected < 3 and p_values[rejected] <= 0.01 / (3 - rejected):
            rejected += 1
        found = dependent_sets(table)
        assert len(found) == max(1, 3 - rejected)
        sizes[len(found)] += 1
        beyond_bonferroni += (p_values[:2] <= 0.01 / 3).sum() == 1 and rejected >= 2
    assert min(sizes[count] for count in (1, 2, 3)) > 40
    assert beyond_bonferroni > 5


def test_pairs_that_share_three_rows_are_untested_and_four_are_enough() -> None:
    table = np.full((8, 3), np.nan)
    table[:5, 0] = range(5)
    table[2:, 1] = range(6)  # three rows with the first column
    table[1:, 2] = range(7)  # four rows with the first, six with the second
    assert untested_pairs(table, [{0}, {1}, {2}]) == [(0, 1)]
    assert untested_pairs(table, [{0}, {1, 2}]) == []


def test_random_names_every_number_of_variables() -> None:
    """Half of its replies are invalid; the others list 0 .. n - 2 of the n nameable variables."""
    item = next(generate(ORIGINAL, 3))
    replies = []
    for number in range(600):
        row = attempt(VARIABLES, item._replace(id=str(number)), VARIABLES.solvers["random"], VIEW)
        replies.append(row.answer)
    valid = [answer for answer in replies if answer.valid]
    assert 240 < len(valid) < 360
    assert {len(answer.control) for answer in valid} == set(range(9))
    assert {answer.independent for answer in valid} == set(item.names)


def test_roles_of_solvers() -> None:
    found = {name: (solver.role, solver.omniscient) for name, solver in VARIABLES.solvers.items()}
    assert found == {
        "oracle": ("ceiling", True),
        "statistician": ("program", False),
        "no_hypotheses": ("shortcut", False),
        "undirected": ("shortcut", False),
        "always_valid": ("shortcut", False),
        "surface": ("shortcut", False),
        "noctrl": ("floor", True),
        "random": ("floor", True),
    }
