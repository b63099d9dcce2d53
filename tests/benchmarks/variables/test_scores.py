"""Metrics: the formulas, their ranges, and what stays undefined."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.benchmarks.variables import VARIABLES
from trivium.benchmarks.variables.answer import INVALID, VariablesAnswer
from trivium.benchmarks.variables.generate import generate
from trivium.benchmarks.variables.item import VariablesItem
from trivium.benchmarks.variables.score import depth, floor, gold, kind, score
from trivium.benchmarks.variables.spec import PRESETS, VariablesSpec, view_of
from trivium.core.dialogue import attempt

BOTH = PRESETS["balanced-hypotheses"]
VALID = [item for item in generate(BOTH, 2, 0, 80) if item.gold.valid]
WRONG = next(item for item in generate(BOTH, 2, 0, 80) if not item.gold.valid)
RICH = next(item for item in VALID if len(item.gold.control) >= 3 and len(item.names) >= 6)
BARE = next(item for item in VALID if not item.gold.control and len(item.names) >= 4)


def named(item: VariablesItem, *control: str) -> VariablesAnswer:
    right = gold(item)
    return VariablesAnswer(True, right.independent, right.dependent, control)


def plain_ndcg(item: VariablesItem, control: list[str]) -> float:
    """The formula without caps: what the original computes."""
    wanted = gold(item).control or ()
    gains = [1.0 if name in wanted else -1.0 for name in control]

    def dcg(values: list[float]) -> float:
        return sum(value / math.log2(rank + 1) for rank, value in enumerate(values, start=1))

    best, worst = dcg([1.0] * len(wanted)), dcg([-1.0] * (len(item.names) - len(wanted)))
    return (dcg(gains) - worst) / (best - worst)


@given(st.data())
def test_ndcg_of_distinct_known_variables_is_the_plain_formula(data: st.DataObject) -> None:
    item = data.draw(st.sampled_from(VALID))
    control = data.draw(st.lists(st.sampled_from(item.names), unique=True))
    found = score(item, named(item, *control))["ctrl_nDCG"]
    assert found == pytest.approx(plain_ndcg(item, control), abs=1e-12)


@given(st.data())
def test_metrics_stay_in_their_range_whatever_is_named(data: st.DataObject) -> None:
    item = data.draw(st.sampled_from(VALID))
    strange = st.sampled_from([*item.names, "x_0", "banana", "?"]) | st.text(max_size=4)
    control = data.draw(st.lists(strange, max_size=40))
    for value in score(item, named(item, *control)).values():
        assert value is None or 0 <= value <= 1


def test_the_plain_formula_leaves_the_range_on_such_replies() -> None:
    wrong = [f"x_{number}" for number in range(40)]
    assert plain_ndcg(RICH, wrong) < 0
    assert plain_ndcg(RICH, [(gold(RICH).control or ())[0]] * 40) > 1
    assert score(RICH, named(RICH, *wrong))["ctrl_nDCG"] == 0
    assert score(RICH, named(RICH, *wrong))["ctrl_fallout"] == 1


def test_names_listed_twice_count_once_at_their_first_place() -> None:
    first, *rest = gold(RICH).control or ()
    assert score(RICH, named(RICH, first, first, *rest)) == score(RICH, named(RICH, first, *rest))


def test_the_order_matters_only_where_something_is_wrong() -> None:
    right = gold(RICH).control or ()
    other = next(name for name in RICH.names if name not in right)
    assert score(RICH, named(RICH, *reversed(right)))["ctrl_nDCG"] == 1
    late = score(RICH, named(RICH, *right, other))["ctrl_nDCG"]
    early = score(RICH, named(RICH, other, *right))["ctrl_nDCG"]
    assert early is not None
    assert late is not None
    assert early < late < 1


def test_the_gold_answer_is_best_everywhere() -> None:
    for item in [*VALID, WRONG]:
        scores = score(item, gold(item))
        for metric in VARIABLES.metrics:
            assert scores[metric.name] in (metric.best, None)
        assert kind(item, gold(item)) == "right"


def test_violations_and_calling_it_invalid_are_worst_where_gold_is_valid() -> None:
    for answer in (None, INVALID):
        scores = score(RICH, answer)
        assert [scores[name] for name in ("ctrl_nDCG", "ctrl_recall", "ind_acc", "dep_acc")] == [
            0.0
        ] * 4
        assert scores["ctrl_fallout"] == 1
        assert scores["hyp_valid_acc"] == 0
        assert scores["violation_rate"] == float(answer is None)


def test_undefined_stays_undefined() -> None:
    assert score(BARE, None)["ctrl_recall"] is None
    assert score(BARE, named(BARE))["ctrl_recall"] is None
    assert score(BARE, named(BARE))["ctrl_nDCG"] == 1
    for answer in (None, INVALID, named(RICH, "x_1")):
        scores = score(WRONG, answer)
        defined = {name for name, value in scores.items() if value is not None}
        assert defined == {"hyp_valid_acc", "violation_rate"}


def test_a_list_that_was_left_out_counts_as_one_wrong_name() -> None:
    right = gold(RICH)
    left_out = VariablesAnswer(True, right.independent, right.dependent, None)
    assert score(RICH, left_out) == score(RICH, named(RICH, "nobody"))
    assert kind(RICH, left_out) == "control-left-out"


def test_kinds_of_error() -> None:
    right = gold(RICH)
    first, *rest = right.control or ()
    other = next(name for name in RICH.names if name not in (right.control or ()))
    swapped = VariablesAnswer(True, right.dependent, right.independent, right.control)
    kinds = {
        "violation": None,
        "called-invalid": INVALID,
        "swapped-variables": swapped,
        "wrong-variables": VariablesAnswer(True, "x_1", "x_2", right.control),
        "control-missed": named(RICH, *rest),
        "control-wrong": named(RICH, *rest, first, other),
        "control-missed-and-wrong": named(RICH, *rest, other),
    }
    assert {name: kind(RICH, answer) for name, answer in kinds.items()} == {
        name: name for name in kinds
    }
    assert kind(WRONG, named(RICH, "x_1")) == "called-valid"


@pytest.mark.parametrize("renderer", ["corrset", "csv", "language-tabular"])
@pytest.mark.parametrize("preset", PRESETS)
def test_chance_is_what_the_random_solver_scores(preset: str, renderer: str) -> None:
    """The mean difference over 1,800 items within 4 standard errors (1 in 16,000 by accident)."""
    gaps = []
    for item in generate(PRESETS[preset], 77, 0, 1800):
        row = attempt(VARIABLES, item, VARIABLES.solvers["random"], view_of(renderer))
        if row.scores["ctrl_nDCG"] is not None:
            gaps.append(row.scores["ctrl_nDCG"] - floor(item))
    assert abs(np.mean(gaps)) < 4 * np.std(gaps) / len(gaps) ** 0.5


def test_depth_is_the_largest_distance_in_the_tree() -> None:
    chain = [[], [0], [1], [2], []]
    assert [depth(chain, number) for number in range(5)] == [3, 2, 2, 3, 0]


def test_groups_name_what_results_are_split_by() -> None:
    keys = ["n_vars", "n_roots", "n_hyps", "n_ctrl_vars", "max_corr_depth"]
    item = next(generate(VariablesSpec(), 1))
    assert list(VARIABLES.groups(item)) == keys
    assert list(VARIABLES.groups(WRONG)) == keys[:3]
