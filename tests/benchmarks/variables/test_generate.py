"""What an item contains: balance, graphs, values, what is lost, and noise."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.benchmarks import load_task
from trivium.benchmarks.variables import VARIABLES
from trivium.benchmarks.variables.decision import causes, topological
from trivium.benchmarks.variables.generate import generate
from trivium.benchmarks.variables.item import VariablesItem
from trivium.benchmarks.variables.spec import PRESETS, VariablesSpec
from trivium.benchmarks.variables.table import lost_counts, noise, observe, true_values
from trivium.core.task import PresentedItem

PLAIN = PRESETS["original-ctrl"]
BOTH = PRESETS["original-hypotheses"]
HALF = ("balanced-ctrl", "balanced-hypotheses", "original-hypotheses")


@pytest.mark.parametrize("start", [0, 9, 1008])
def test_control_counts_are_balanced_in_every_block(start: int) -> None:
    for size in (9, 495):
        counts = Counter(len(item.gold.control) for item in generate(PLAIN, 3, start, size))
        assert counts == dict.fromkeys(range(9), size // 9)
    assert all(item.gold.valid for item in generate(PLAIN, 3, start, 20))


def test_the_digest_of_an_item_covers_more_than_its_values() -> None:
    task = load_task("identifying_variables")
    item = task.item(0).original
    turned = {"target": item.target[::-1], "hypotheses": item.hypotheses[::-1], "snr": 1.5}
    turned |= {"id": "another", "names": item.names[::-1]}
    items = [item, *(item._replace(**{name: value}) for name, value in turned.items())]
    assert len({PresentedItem(task, one).digest for one in items}) == 6


def test_five_hundred_samples_have_every_number_of_control_variables_equally_often() -> None:
    """55 or 56 of 0 .. 8 in the original design; 41 or 42 of 4 .. 9, and 250 invalid ones."""
    counts = Counter(len(item.gold.control) for item in generate(PLAIN, 0, 0, 500))
    assert {number: counts[number] - 55 for number in counts}.keys() == set(range(9))
    assert set(counts.values()) == {55, 56}
    golds = [item.gold for item in generate(PRESETS["balanced-ctrl"], 0, 0, 500)]
    counts = Counter(len(control) for valid, control in golds if valid)
    assert sorted(counts) == [4, 5, 6, 7, 8, 9]
    assert set(counts.values()) == {41, 42}


@pytest.mark.parametrize("preset", HALF)
def test_without_balance_every_hypothesis_is_valid_with_a_chance_of_a_half(preset: str) -> None:
    """Of 400, 200 are valid, give or take four standard errors: 40."""
    spec = replace(PRESETS[preset], balance="none")
    valid = [item.gold.valid for item in generate(spec, 5, 3, 400)]
    assert abs(sum(valid) - 200) < 40
    # Blocks of fifty do not all have as many.
    assert len({sum(valid[start : start + 50]) for start in range(0, 400, 50)}) > 1


@pytest.mark.parametrize("start", [0, 50, 1000])
@pytest.mark.parametrize("preset", HALF)
def test_half_of_every_block_of_fifty_hypotheses_are_valid(start: int, preset: str) -> None:
    for size in (50, 500):
        counts = Counter(item.gold.valid for item in generate(PRESETS[preset], 5, start, size))
        assert counts == {True: size // 2, False: size // 2}


@pytest.mark.parametrize("preset", HALF)
def test_earlier_answers_hardly_predict_the_next_one(preset: str) -> None:
    """The best guess from all right answers so far is right 57.9% of the time.

    25 + (2**50 / C(50, 25) - 1) / 2 = 28.95 of 50; with pairs that always differ it was 75%. Four
    standard errors of 2,000 guesses are 4.4 points.
    """
    valid = [item.gold.valid for item in generate(PRESETS[preset], 21, 0, 2000)]
    right = 0.0
    for start in range(0, 2000, 50):
        left = {True: 25, False: 25}
        for answer in valid[start : start + 50]:
            right += 0.5 if left[True] == left[False] else left[answer] > left[not answer]
            left[answer] -= 1
    assert right / 2000 < 0.579 + 0.044
    differ = np.mean([one != other for one, other in pairwise(valid)])
    assert abs(differ - 0.51) < 0.045


def test_the_order_of_kinds_depends_on_the_seed_and_on_the_block() -> None:
    def orders(spec: VariablesSpec, seed: int) -> list[tuple[int, ...]]:
        kinds = [len(item.gold.control) for item in generate(spec, seed, 0, 54)]
        return [tuple(kinds[start : start + 9]) for start in range(0, 54, 9)]

    assert len(set(orders(PLAIN, 0))) > 1
    assert len({orders(PLAIN, seed)[0] for seed in range(6)}) > 1


@pytest.mark.parametrize("preset", HALF)
def test_validity_is_no_function_of_the_index(preset: str) -> None:
    """Of 1,000 even indexes about half are valid: beyond 5 standard errors 1 time in a million."""
    even = [item.gold.valid for item in generate(PRESETS[preset], 8, 0, 2000)][::2]
    assert abs(sum(even) - 500) < 5 * 15.9


@pytest.mark.parametrize(
    "spec",
    [
        PLAIN,
        BOTH,
        replace(PLAIN, balance="none", min_vars=2, max_vars=30, max_hyps=8),
        replace(BOTH, max_vars=12, graph="dag", max_parents=4),
        replace(PLAIN, thinned=0.0, observations=50, snr=3.0),
        *(PRESETS[name] for name in ("balanced-ctrl", "balanced-hypotheses")),
        VariablesSpec(balance="none", min_vars=14, max_vars=30, max_hyps=12),
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
    for item in generate(replace(PLAIN, thinned=0.0), 2, 0, 300):
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
    for spec in (PLAIN, BOTH, replace(PLAIN, graph="dag", snr=0.0), PRESETS["balanced-ctrl"]):
        for item in generate(spec, 4, 0, 500):
            assert np.nanmax(np.abs(item.table.values), initial=0.0) < 10**7


def test_what_is_lost_is_the_same_share_of_each_half() -> None:
    """So unobserved variables can be recognised in any table, whole or half."""
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
        spec = replace(PLAIN, thinned=0.0, snr=snr, observations=100)
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
    assert most(replace(PLAIN, graph="dag")) == 3


def test_values_in_plain_numbers() -> None:
    """A root of -100 .. 99, its double plus one, and the square of that scaled by 100 / 201."""
    parents, squared, grad, bias = (
        [[-1], [0], [1]],
        [[0], [0], [1]],
        [[5], [2], [3]],
        [[5], [1], [-7]],
    )
    terms = np.array([[parents], [squared], [grad], [bias]])
    words = np.zeros((3, 1, 4), dtype=np.uint32)
    words[0, 0] = [0, 2**31, 2**32 - 1, 3 * 2**30]
    root, double, square = true_values(terms, words)[:, 0]
    assert root.tolist() == [-100, 0, 99, 50]
    assert double.tolist() == [-199, 1, 199, 101]
    assert square.tolist() == pytest.approx([3 * (x * 100 / 201) ** 2 - 7 for x in double])


def test_a_child_of_two_parents_adds_their_terms() -> None:
    """x_2 = (2 x_0 + 1) + (-3 x_1^2 + 4), and a grandchild is scaled by 30,000 + 200 + 5."""
    terms = np.full((4, 2, 4, 1), -1)
    terms[:, :, 2, 0] = [[0, 1], [0, 1], [2, -3], [1, 4]]
    terms[:, 0, 3, 0] = [2, 0, 1, 0]
    words = np.array([[[3 * 2**30]], [[2**30]], [[0]], [[0]]], dtype=np.uint32)
    found = true_values(terms, words).ravel().tolist()
    assert found[:3] == [50, -50, 2 * 50 + 1 - 3 * 50**2 + 4]
    assert found[3] == pytest.approx(found[2] * 100 / (30_000 + 200 + 5))


def test_no_value_is_minus_zero() -> None:
    """A chain of 0, 1, 0.11 and -0.0000012, which rounds to nothing."""
    terms = np.array([[-1, 0, 1, 2], [0, 0, 1, 1], [1, 3, 1, -1], [0, 1, 0, 0]])[:, None, :, None]
    words = np.zeros((1, 2, 4, 10), dtype=np.uint32)
    words[0, 0, 0] = 2**31
    table = observe(terms, np.zeros((4, 1)), words.reshape(1, -1), 10, None)
    assert table[0, 0].tolist() == [0, 1, 0.11, 0]
    assert not np.signbit(table).any()


def test_noise_in_plain_numbers() -> None:
    """Box-Muller: words of 0 and 2**31 give -sqrt(2 ln 2**32), in units of the scaled spread."""
    values = np.array([[[0.0, 2.0]]])
    first = np.array([[[0, 2**32 - 1]]], dtype=np.uint32)
    second = np.array([[[2**31, 0]]], dtype=np.uint32)
    found = noise(values, first, second, 20.0).ravel()
    assert found[0] == pytest.approx(-((2 * np.log(2**32)) ** 0.5) / 10)
    assert found[1] == pytest.approx(0, abs=1e-9)


def test_the_smallest_keys_of_each_half_are_lost() -> None:
    """Three of ten values are lost: two in the first half and one in the second."""
    words = np.zeros((1, 2, 1, 10), dtype=np.uint32)
    words[0, 1, 0] = np.array([9, 3, 8, 1, 7, 5, 6, 4, 2, 9], dtype=np.uint32) << 16
    terms = np.full((4, 1, 1, 1), -1)
    table = observe(terms, np.array([[0.3]]), words.reshape(1, -1), 10, None)
    assert np.flatnonzero(np.isnan(table[0, :, 0])).tolist() == [1, 3, 8]
    assert table[0, 0, 0] == -100


def test_the_limits_of_what_is_drawn() -> None:
    """All of 19 grads, 200 biases and four wordings occur, as do rates of 0.2 and nearly 1."""
    items = list(generate(PLAIN, 17, 0, 3000))
    terms = [term for item in items for own in item.terms for term in own]
    assert {grad for _, _, grad, _ in terms} == {*range(-10, 0), *range(1, 10)}
    assert {bias for _, _, _, bias in terms} == set(range(-100, 100))
    assert {wording for item in items for wording in item.wording} == {0, 1, 2, 3}
    rates = [rate for item in items for rate in item.rates if rate]
    assert min(rates) == pytest.approx(0.2, abs=0.002)
    assert max(rates) == pytest.approx(1, abs=0.002)
    assert {len(item.hypotheses) for item in items} == {1, 2, 3}
    assert {len(item.names) for item in items} == {10}

    def by_belief(item: VariablesItem) -> int:
        """How many variables are controlled for what is believed of them only."""
        correlated = item.observed.correlated
        return sum(not any(correlated(v, end) for end in item.target) for v in item.gold.control)

    # Up to one for each hypothesis but the target.
    assert {by_belief(item) for item in items} == {0, 1, 2}


def test_another_order_is_shuffled_anew_for_every_trial() -> None:
    item = next(generate(PRESETS["balanced-ctrl"], 6, 4))
    assert VARIABLES.reshuffle(item, 0) is item
    orders = [VARIABLES.reshuffle(item, trial) for trial in range(1, 30)]
    assert len({other.names for other in orders}) > 25
    by_name = {
        tuple((other.names[a], other.names[b]) for a, b in other.hypotheses) for other in orders
    }
    assert len(by_name) > 1
    for other in orders:
        pairs = zip(other.hypotheses, other.wording, strict=True)
        assert {(other.names[a], other.names[b], wording) for (a, b), wording in pairs} == {
            (item.names[a], item.names[b], wording)
            for (a, b), wording in zip(item.hypotheses, item.wording, strict=True)
        }
