"""Figures from records: denominators, order trials, groups."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import trivium
from trivium.core.benchmark import Metric
from trivium.core.results import Tally, merged, summarise, variance_parts
from trivium.core.statistics import proportion

METRICS = (Metric("correct", "exact match"), Metric("depth", "a count", "mean", best=9.0))


def row(name: str, correct: float | None, *, trial: int = 0, **changes: Any) -> dict[str, Any]:
    return {
        "benchmark": "b",
        "solver": "s",
        "id": name,
        "trial": trial,
        "kind": "right" if correct else "wrong",
        "answer": changes.pop("answer", correct),
        "floor": 0.25,
        "groups": changes.pop("groups", {"n": 3}),
        "scores": {"correct": correct, "depth": changes.pop("depth", None)},
    } | changes


def test_errors_are_counted_apart_and_violations_are_wrong() -> None:
    rows = [
        row("a", 1),
        row("b", 0, kind="no-answer", answer=None),
        row("c", None, kind="failed", scores={}),
    ]
    found = summarise(rows, METRICS)
    assert (found.items, found.answered, found.no_answers, found.failed) == (3, 1, 1, 1)
    assert found.metrics["correct"].value == 0.5
    assert found.metrics["correct"].n == 2
    assert found.metrics["lift"].value == pytest.approx(1 / 3)
    assert repr(found).endswith("3 items, 1 failed>")


def test_cut_offs_score_worst_and_declined_attempts_are_left_out_with_bounds() -> None:
    rows = [
        row("a", 1),
        row("b", 0),
        row("c", 0, kind="cut-off", scores={"correct": 0.0}),
        row("d", None, kind="declined", scores={}),
        row("e", None, kind="failed", scores={}),
    ]
    found = summarise(rows, METRICS)
    assert (found.cut_offs, found.declined, found.failed, found.answered) == (1, 1, 1, 2)
    assert found.metrics["correct"].value == pytest.approx(1 / 3)
    assert found.metrics["correct"].n == 3
    assert found.bounds is not None
    assert list(found.bounds) == pytest.approx([1 / 4, 3 / 4])
    assert summarise(rows[:2], METRICS).bounds is None
    # The trials of an item share its weight, as in the headline.
    trials = [row("a", 1), row("a", 0, trial=1, kind="cut-off"), row("b", 0)]
    assert summarise(trials, METRICS).bounds == (0.25, 0.5)


def test_tokens_are_summed_where_they_are_reported() -> None:
    rows = [
        row("a", 1, usage={"requests": 2, "retries": 1, "input_tokens": 10}, seconds=1.0),
        row("b", 1, usage={"requests": 1, "retries": 0, "input_tokens": 5}, seconds=3.0),
        row("c", 1, usage={"requests": 1}, seconds=9.0),
        row("d", None, kind="failed", scores={}, usage={"requests": 9, "retries": 8}, seconds=99.0),
    ]
    for found in (
        summarise(rows, METRICS),
        merged([_tally(rows[:2]), _tally(rows[2:])], METRICS).summary(),
    ):
        assert found.tokens["input_tokens"] == (15, 2, 2)
        assert found.tokens["input_tokens"].mean == 7.5
        assert found.tokens["reasoning_tokens"].mean is None
        assert (found.retries, found.median_seconds) == (9, 3.0)
    assert summarise([row("a", 1)], METRICS).tokens == {}


def _tally(rows: list[dict[str, Any]]) -> Tally:
    tally = Tally(METRICS)
    for one in rows:
        tally.add(one)
    return tally


def test_undefined_scores_stay_out_of_the_mean() -> None:
    found = summarise([row("a", 1, depth=4.0), row("b", 1)], METRICS)
    assert found.metrics["depth"].value == 4
    assert found.metrics["depth"].n == 1
    nothing = summarise([row("a", 1)], METRICS)
    assert nothing.metrics["depth"].value is None


def test_order_trials_are_summed_up_by_item() -> None:
    rows = [
        *(row("a", 1, trial=t, answer="x") for t in range(3)),
        *(row("b", correct, trial=t, answer=said) for t, (correct, said) in
          enumerate([(1, "y"), (0, "z"), (0, "z")])),
    ]  # fmt: skip
    found = summarise(rows, METRICS).metrics
    assert found["correct"].value == pytest.approx(2 / 3)
    assert found["correct"].n == 2
    assert found["majority_correct"].value == 0.5
    assert found["answered_alike"].value == 0.5
    assert found["largest_order_difference"].value == 0.5


@pytest.mark.parametrize("score", [0.0, 1.0])
def test_no_share_is_certain_however_often_its_items_were_presented(score: float) -> None:
    """Trials of one item are one observation: the interval is that of so many items tried once."""
    metrics = (*METRICS, Metric("ndcg", "a share", "mean"))
    scores = {"correct": score, "depth": 3.0, "ndcg": score}
    once, often = (
        summarise(
            [
                row(name, score, trial=trial, answer="x", scores=scores)
                for name in "abcdefgh"
                for trial in range(trials)
            ],
            metrics,
        ).metrics
        for trials in (1, 5)
    )
    expected = proportion(8 * score, 8)
    for found in (
        once["correct"],
        once["ndcg"],
        often["correct"],
        often["ndcg"],
        often["majority_correct"],
    ):
        assert (found.value, found.n) == (score, 8)
        assert found.low == pytest.approx(expected.low)
        assert found.high == pytest.approx(expected.high)
    assert (often["lift"].high or 0.0) > (often["lift"].low or 0.0)
    assert (often["depth"].low, often["depth"].high) == (None, None), "nothing bounds it"


def test_ids_that_repeat_between_seeds_and_specs_are_different_items() -> None:
    rows = [
        row("a", 1, seed=seed, spec={"n": n}, trial=trial)
        for seed in (1, 2)
        for n in (3, 4)
        for trial in (0, 1)
    ]
    found = summarise(rows, METRICS)
    assert found.items == 4
    assert found.metrics["correct"].n == 4


records = st.lists(
    st.builds(
        lambda name, correct, trial, depth, seed: row(
            name, correct, trial=trial, depth=depth, seed=seed
        ),
        st.sampled_from("abcdef"),
        st.sampled_from([0.0, 1.0]),
        st.integers(0, 2),
        st.one_of(st.none(), st.floats(0, 9)),
        st.integers(0, 1),
    ),
    unique_by=lambda made: (made["id"], made["seed"], made["trial"]),
)


@given(records, st.randoms(use_true_random=False))
def test_neither_order_nor_splitting_of_records_matters(
    rows: list[dict[str, Any]], shuffler: random.Random
) -> None:
    whole = summarise(rows, METRICS)
    mixed = list(rows)
    shuffler.shuffle(mixed)
    cut = shuffler.randint(0, len(mixed))
    parts = []
    for part in (mixed[:cut], mixed[cut:]):
        tally = Tally(METRICS)
        for one in part:
            tally.add(one)
        parts.append(tally)
    found = merged(parts, METRICS).summary()
    assert (found.items, found.kinds, found.floor) == (whole.items, whole.kinds, whole.floor)
    assert found.metrics == whole.metrics


@given(records)
def test_the_vote_on_an_item_is_the_plain_one(rows: list[dict[str, Any]]) -> None:
    """Against a slow and readable count."""
    tally = Tally(METRICS)
    items: dict[Any, list[dict[str, Any]]] = {}
    for one in rows:
        tally.add(one)
        items.setdefault((one["id"], one["seed"]), []).append(one)
    expected = []
    for tries in items.values():
        tries.sort(key=lambda one: one["trial"])
        answers = [one["answer"] for one in tries]
        most = max(map(answers.count, answers))
        tied = {answer for answer in answers if answers.count(answer) == most}
        expected.append((most / len(answers), sum(tied) / len(tied)))
    assert sorted((vote.share, vote.score) for vote in tally.votes()) == sorted(expected)


def test_chance_is_averaged_where_the_headline_is_defined() -> None:
    rows = [row("a", 1.0, floor=0.5), row("b", None, floor=0.0), row("c", 0.5, floor=0.3)]
    found = summarise(rows, METRICS)
    assert found.floor == pytest.approx(0.4)
    assert found.metrics["correct"].n == 2
    assert found.metrics["lift"].value == pytest.approx((0.75 - 0.4) / 0.6)


def test_the_floor_is_known_where_nothing_was_scored() -> None:
    rows = [row(name, None, kind="failed", scores={}, floor_name="guess") for name in "abc"]
    found = summarise(rows, METRICS)
    assert (found.floor, found.floor_name) == (0.25, "guess")
    assert found.metrics["lift"].value is None


def test_lift_goes_from_the_mean_floor_to_the_mean_ceiling() -> None:
    """A game with 4 tests of 184 machines: the best player wins 16 of 184, which is lift 1."""
    best = 16 / 184
    rows = [row(f"r{n}", float(n < 16), floor=1 / 184, ceiling=best) for n in range(184)]
    assert summarise(rows, METRICS).metrics["lift"].value == pytest.approx(1)
    mixed = [row("a", 1.0, floor=0.2, ceiling=1.0), row("b", 0.0, floor=0.0, ceiling=0.6)]
    found = summarise(mixed, METRICS)
    assert (found.floor, found.ceiling) == pytest.approx((0.1, 0.8))
    assert found.metrics["lift"].value == pytest.approx(0.4 / 0.7)
    equal = [row("a", 1.0, floor=0.5, ceiling=0.5)]
    assert summarise(equal, METRICS).metrics["lift"].value is None


def test_repeats_and_orders_are_split() -> None:
    """Planted: an order shifts the share of right answers by 0.3 up or down, repeats are coins.

    With shares of 0.2 and 0.8 the variance between repeats is 0.16, and between orders 0.09.
    """
    generator = np.random.default_rng(12)
    items, orders = np.repeat(np.arange(400), 40), np.tile(np.repeat(np.arange(10), 4), 400)
    shares = np.where(generator.random((400, 10)) < 0.5, 0.2, 0.8)[items, orders]
    values = (generator.random(16_000) < shares).astype(np.float64)
    found = variance_parts(values, items, orders)
    assert found["variance_of_repeats"].value == pytest.approx(0.16, abs=0.005)
    assert found["variance_of_orders"].value == pytest.approx(0.09, abs=0.005)
    assert not found["variance_of_orders"].excludes(0.09)
    same = variance_parts((generator.random(16_000) < 0.5).astype(np.float64), items, orders)
    assert not same["variance_of_orders"].excludes(0)
    assert variance_parts(values[::4], items[::4], orders[::4]) == {}


def test_repeated_prompts_are_the_same_and_recorded_apart() -> None:
    """Two orders of three items, each twice: a coin differs between repeats, the oracle never."""
    task = trivium.load("nhop_implicit")
    result = trivium.evaluate(task, "random_candidate", items=30, seed=3, order_trials=2, repeats=2)
    assert {(row["trial"], row["order"]) for row in result} == {(0, 0), (1, 1), (2, 0), (3, 1)}
    shown = {(row["id"], row["order"], row["prompt_chars"]) for row in result}
    assert len(shown) == 60
    assert (result.summary.metrics["variance_of_repeats"].value or 0) > 0.05
    oracle = trivium.evaluate(task, "oracle", items=3, seed=3, order_trials=2, repeats=2).summary
    assert oracle.metrics["variance_of_repeats"].value == 0
    assert oracle.metrics["variance_of_repeats"].low is None  # equal values say nothing of it
