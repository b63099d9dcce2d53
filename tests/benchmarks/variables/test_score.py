"""Metrics: the formulas, their ranges, and what stays undefined."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.benchmarks.variables import VARIABLES
from trivium.benchmarks.variables.answer import INVALID, VariablesAnswer
from trivium.benchmarks.variables.generate import generate
from trivium.benchmarks.variables.item import VariablesItem
from trivium.benchmarks.variables.score import depth, gold, kind, ndcg, score
from trivium.benchmarks.variables.spec import PRESETS, VariablesSpec, VariablesView

BOTH = PRESETS["original-hypotheses"]
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


def test_names_listed_twice_count_once_where_they_come_first() -> None:
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
            assert scores.get(metric.name) in (metric.best, None)  # strict is not about answers
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
        assert defined == {"correct", "hyp_valid_acc", "violation_rate"}


def test_an_answer_is_correct_if_all_of_it_is() -> None:
    right = gold(RICH)
    first, *rest = right.control or ()
    assert score(RICH, right)["correct"] == 1
    assert score(RICH, named(RICH, *rest, first))["correct"] == 1  # in any order
    assert score(RICH, named(RICH, *rest))["correct"] == 0
    swapped = VariablesAnswer(True, right.dependent, right.independent, right.control)
    wrong = [None, INVALID, swapped, named(RICH, *rest, first, "x_0")]
    assert [score(RICH, answer)["correct"] for answer in wrong] == [0, 0, 0, 0]
    # Where the hypothesis is invalid, nothing else counts.
    assert [score(WRONG, answer)["correct"] for answer in (INVALID, named(RICH), None)] == [1, 0, 0]


def test_precision_and_f1_in_plain_numbers() -> None:
    """One right and one wrong name of three: 1/2, and 2 * 1 / (2 + 3)."""
    first, *_ = gold(BY_HAND).control or ()
    assert len(gold(BY_HAND).control or ()) == 3
    found = score(BY_HAND, named(BY_HAND, first, "x_0"))
    assert (found["ctrl_precision"], found["ctrl_F1"]) == (0.5, 0.4)
    nothing = score(BY_HAND, named(BY_HAND))
    assert (nothing["ctrl_precision"], nothing["ctrl_F1"]) == (0, 0)
    none_wanted = score(BARE, named(BARE))
    assert (none_wanted["ctrl_precision"], none_wanted["ctrl_F1"]) == (1, 1)
    for answer in (None, INVALID):
        found = score(RICH, answer)
        assert (found["ctrl_precision"], found["ctrl_F1"]) == (0, 0)


def test_a_list_that_was_left_out_counts_as_one_wrong_name() -> None:
    right = gold(RICH)
    left_out = VariablesAnswer(True, right.independent, right.dependent, None)
    assert score(RICH, left_out) == score(RICH, named(RICH, "x_0"))
    assert kind(RICH, left_out) == "control-left-out"


def test_kinds_of_error() -> None:
    right = gold(RICH)
    first, *rest = right.control or ()
    other = next(name for name in RICH.names if name not in (right.control or ()))
    swapped = VariablesAnswer(True, right.dependent, right.independent, right.control)
    kinds = {
        "no-answer": None,
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


def test_depth_is_the_largest_distance_in_the_tree() -> None:
    chain = [[], [0], [1], [2], []]
    assert [depth(chain, number) for number in range(5)] == [3, 2, 2, 3, 0]


def test_groups_name_what_results_are_split_by() -> None:
    keys = ["n_vars", "n_roots", "n_hyps", "n_ctrl_vars", "max_corr_depth"]
    item = next(generate(VariablesSpec(), 1))
    assert list(VARIABLES.groups(item)) == keys
    assert list(VARIABLES.groups(WRONG)) == keys[:3]


# Ten variables, of which x_1 -> x_2 is the target, x_3 and x_4 belong to their tree, the rest
# are roots of their own, x_9 is unobserved and believed to cause x_2, x_10 is unobserved.
BY_HAND = next(generate(PRESETS["original-ctrl"], 1))._replace(
    names=tuple(f"x_{number}" for number in range(1, 11)),
    terms=[[], [[0, 0, 1, 0]], [[1, 0, 1, 0]], [[2, 0, 1, 0]], [], [], [], [], [], []],
    rates=[0.0] * 8 + [0.801, 1.0],
    target=(0, 1),
    hypotheses=[(0, 1), (8, 1)],
    wording=[0, 1],
)


def test_scores_in_plain_numbers() -> None:
    """Three control variables and seven others; discounts 1, 0.63093, 0.5, 0.43068, ..."""
    right = gold(BY_HAND)
    assert right == VariablesAnswer(True, "x_1", "x_2", ("x_3", "x_4", "x_9"))
    best, worst = 1 + 0.63093 + 0.5, 1 + 0.63093 + 0.5 + 0.43068 + 0.38685 + 0.35621 + 0.33333
    for control, gain, recall, fallout in (
        ((), 0, 0, 0),
        (("x_3",), 1, 1 / 3, 0),
        (("x_5",), -1, 0, 1 / 7),
        (("x_5", "x_3"), -1 + 0.63093, 1 / 3, 1 / 7),
        (("x_3", "x_5", "x_4"), 1 - 0.63093 + 0.5, 2 / 3, 1 / 7),
    ):
        found = score(BY_HAND, named(BY_HAND, *control))
        assert found["ctrl_nDCG"] == pytest.approx((gain + worst) / (best + worst), abs=1e-5)
        assert found["ctrl_recall"] == pytest.approx(recall)
        assert found["ctrl_fallout"] == pytest.approx(fallout)


def test_wrong_names_count_up_to_the_number_of_other_variables() -> None:
    """Seven wrong names are the worst answer; an eighth changes nothing, a right one after does."""
    wrong = [f"x_{number}" for number in range(50, 58)]
    assert ndcg([False] * 7, 3, 7) == 0
    assert score(BY_HAND, named(BY_HAND, *wrong[:6]))["ctrl_fallout"] == pytest.approx(6 / 7)
    assert (score(BY_HAND, named(BY_HAND, *wrong[:6]))["ctrl_nDCG"] or 0) > 0
    for control in (wrong[:7], wrong):
        assert score(BY_HAND, named(BY_HAND, *control))["ctrl_nDCG"] == 0
    after = [score(BY_HAND, named(BY_HAND, *wrong[:n], "x_3"))["ctrl_nDCG"] for n in (7, 8)]
    assert after[0] == after[1] == pytest.approx((1 / math.log2(9)) / (2.13093 + 3.63800), abs=1e-5)


def test_sizes_of_datasets_and_replies() -> None:
    assert [VARIABLES.dataset_size(spec) for spec in PRESETS.values()] == [500] * 4
    views = [
        VariablesView(),
        VariablesView(show_tree="pseudocode"),
        VariablesView(show_tree="language"),
    ]
    views += [VariablesView(reasoning="direct"), VariablesView(reasoning="chain_of_thought")]
    assert [VARIABLES.output_tokens(view) for view in views] == [128, 256, 256, 64, 768]


def test_groups_in_plain_numbers() -> None:
    groups = {"n_vars": 10, "n_roots": 7, "n_hyps": 2, "n_ctrl_vars": 3, "max_corr_depth": 2}
    assert VARIABLES.groups(BY_HAND) == groups
