"""What is in an item: balance, graphs, values, what is lost, and noise."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.benchmarks.variables.decision import causes, topological
from trivium.benchmarks.variables.generate import generate
from trivium.benchmarks.variables.spec import PRESETS, VariablesSpec
from trivium.benchmarks.variables.table import lost_counts
from trivium.core.errors import UserError

PLAIN = VariablesSpec()
BOTH = PRESETS["balanced-hypotheses"]


@pytest.mark.parametrize("start", [0, 1, 4, 1003])
@pytest.mark.parametrize("size", [500, 9, 13])
def test_control_counts_are_balanced_on_any_run_of_items(start: int, size: int) -> None:
    counts = Counter(len(item.gold.control) for item in generate(PLAIN, 3, start, size))
    assert set(counts) <= set(range(9))
    least, most = size // 9, -(-size // 9)
    assert all(counts[number] in (least, most) for number in range(9))
    assert all(item.gold.valid for item in generate(PLAIN, 3, start, 20))


def test_five_hundred_samples_are_55_or_56_of_each() -> None:
    for preset in ("balanced-ctrl", "balanced-ctrl-large"):
        spec = PRESETS[preset]
        counts = Counter(len(item.gold.control) for item in generate(spec, 0, 0, spec.size))
        assert sorted(counts) == list(range(9))
        assert max(counts.values()) - min(counts.values()) <= 1
    assert set(counts.values()) == {555, 556}


@pytest.mark.parametrize("start", [0, 7])
def test_hypotheses_are_half_and_half(start: int) -> None:
    counts = Counter(item.gold.valid for item in generate(BOTH, 5, start, 500))
    assert counts == {True: 250, False: 250}


def test_which_kind_stands_where_depends_on_the_seed() -> None:
    orders = {
        tuple(len(item.gold.control) for item in generate(PLAIN, seed, 0, 9)) for seed in range(6)
    }
    assert len(orders) > 1


@pytest.mark.parametrize(
    "spec",
    [
        PLAIN,
        BOTH,
        VariablesSpec(balance="none", min_vars=2, max_vars=30, max_hyps=8),
        VariablesSpec(balance="hypotheses", min_vars=2, max_vars=12, graph="dag", max_parents=4),
        VariablesSpec(thinned=0.0, observations=50, snr=3.0),
    ],
)
def test_items_are_what_the_spec_says(spec: VariablesSpec) -> None:
    for item in generate(spec, 9, 0, 600):
        size = len(item.names)
        parents = item.parents
        assert spec.min_vars <= size <= spec.max_vars
        assert len(set(item.names)) == size
        assert all(1000 <= int(name.removeprefix("x_")) <= 9999 for name in item.names)
        assert len(topological(parents)) == size
        assert all(len(set(above)) == len(above) <= spec.parents for above in parents)
        assert sum(item.seen) >= 2
        assert 1 <= len(item.hypotheses) <= min(spec.max_hyps, size - 1)
        assert item.target in item.hypotheses
        assert len(set(item.hypotheses)) == len(item.hypotheses)
        assert all(number not in causes(item.hypotheses, number) for number in range(size))
        independent, dependent = item.target
        if item.gold.valid:
            assert independent in parents[dependent]
        else:
            assert item.seen[independent]
            assert item.seen[dependent]
        for terms in item.terms:
            for _, squared, grad, bias in terms:
                assert squared in (0, 1)
                assert -10 <= grad < 10
                assert grad != 0
                assert -100 <= bias < 100
        assert item.table.values.shape == (spec.observations, size)


def test_children_are_functions_of_their_scaled_parents() -> None:
    spec = VariablesSpec(thinned=0.0)
    for item in generate(spec, 2, 0, 300):
        values = item.table.values
        bound = [100.0] * len(item.names)
        for number in topological(item.parents):
            if not item.terms[number]:
                assert ((values[:, number] >= -100) & (values[:, number] < 100)).all()
                assert (values[:, number] == np.round(values[:, number])).all()
                continue
            ((parent, squared, grad, bias),) = item.terms[number]
            bound[number] = abs(grad) * 100 ** (1 + squared) + abs(bias)
            base = values[:, parent] * 100 / bound[parent]
            expected = grad * base ** (1 + squared) + bias
            # The parent is known to three decimals only; its error is scaled like its values.
            error = 1e-3 + 0.0005 * 100 / bound[parent] * abs(grad) * (200 if squared else 1)
            assert np.abs(values[:, number] - expected).max() <= error
            assert np.abs(values[:, number]).max() <= bound[number] <= 100_100


def test_no_value_overflows() -> None:
    for spec in (PLAIN, BOTH, VariablesSpec(graph="dag", snr=0.0)):
        for item in generate(spec, 4, 0, 500):
            assert np.nanmax(np.abs(item.table.values), initial=0.0) < 10**7


def test_what_is_lost_is_the_same_share_of_each_half() -> None:
    """So unobserved variables can be told from any table, whole or half."""
    for item in generate(BOTH, 6, 0, 400):
        missing = np.isnan(item.table.values)
        lost = lost_counts(np.array(item.rates), 20)
        assert (missing.sum(axis=0) == lost).all()
        assert (missing[:10].sum(axis=0) == (lost + 1) // 2).all()
        for part in (missing, missing[:10]):
            assert ((part.mean(axis=0) > 0.8) == ~np.array(item.seen)).all()


@given(st.integers(0, 1000))
def test_more_than_four_fifths_are_lost_exactly_above_that_rate(thousandths: int) -> None:
    rate = thousandths / 1000
    for rows in (10, 20, 50):
        lost = int(lost_counts(np.array([rate]), rows)[0])
        assert (lost > 0.8 * rows) == (rate > 0.8)
        assert rate * rows - 1e-6 <= lost < rate * rows + 1


def test_noise_has_the_power_that_was_asked_for() -> None:
    """The variance of roots, whose true one is known; its standard error is about 1%."""
    for snr in (20.0, 10.0, 0.0):
        spec = VariablesSpec(thinned=0.0, snr=snr, observations=100)
        spreads = []
        for item in generate(spec, 8, 0, 400):
            roots = [number for number, terms in enumerate(item.terms) if not terms]
            spreads.append(item.table.values[:, roots].var(axis=0).mean())
        signal = (200**2 - 1) / 12
        assert np.mean(spreads) == pytest.approx(signal * (1 + 10 ** (-snr / 10)), rel=0.05)


def test_sizes_are_uniform() -> None:
    """Chi-squared with 8 degrees of freedom; above 26.1 with probability 0.001."""
    counts = Counter(len(item.names) for item in generate(BOTH, 12, 0, 4500))
    assert sorted(counts) == list(range(2, 11))
    assert sum((count - 500) ** 2 / 500 for count in counts.values()) < 26.1


def test_a_dag_has_children_of_several_parents_and_a_forest_has_none() -> None:
    def most(spec: VariablesSpec) -> int:
        return max(len(above) for item in generate(spec, 1, 0, 100) for above in item.parents)

    assert most(PLAIN) == 1
    assert most(VariablesSpec(graph="dag")) == 3


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"min_vars": 1}, "min_vars must be at least 2, got 1"),
        ({"max_vars": 31}, "max_vars must be in min_vars=10..30, got 31"),
        ({"min_vars": 5}, "balance control needs min_vars equal to max_vars, got 5 and 10"),
        ({"observations": 15}, "observations must be a multiple of 10 in 10..1000, got 15"),
        ({"thinned": 1.5}, "thinned must be in 0..1, got 1.5"),
        ({"snr": 500.0}, "snr must be in -100..200 dB, got 500.0"),
        ({"max_hyps": 0}, "max_hyps must be in 1..8, got 0"),
        ({"max_parents": 9}, "max_parents must be in 1..8, got 9"),
        ({"size": 0}, "size must be at least 1, got 0"),
    ],
)
def test_bad_specs_are_refused_in_a_sentence(fields: dict[str, float], said: str) -> None:
    with pytest.raises(UserError) as problem:
        VariablesSpec(**fields)  # type: ignore[arg-type]
    assert str(problem.value) == said
