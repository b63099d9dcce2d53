"""Figures from records: denominators, order trials, groups."""

from __future__ import annotations

from typing import Any

import pytest

from trivium.core.benchmark import Metric
from trivium.core.summary import summarise, summarise_groups

METRICS = (Metric("em", "exact match"), Metric("depth", "a mean", "mean"))


def row(name: str, em: float | None, *, trial: int = 0, **changes: Any) -> dict[str, Any]:
    return {
        "benchmark": "b",
        "solver": "s",
        "id": name,
        "trial": trial,
        "kind": "right" if em else "wrong",
        "answer": changes.pop("answer", em),
        "chance": 0.25,
        "groups": changes.pop("groups", {"n": 3}),
        "scores": {"em": em, "depth": changes.pop("depth", None)},
    } | changes


def test_errors_are_counted_apart_and_violations_are_wrong() -> None:
    rows = [
        row("a", 1),
        row("b", 0, kind="violation", answer=None),
        row("c", None, kind="error", scores={}),
    ]
    found = summarise(rows, METRICS)
    assert (found.items, found.answered, found.violations, found.errors) == (3, 1, 1, 1)
    assert found.metrics["em"].value == 0.5
    assert found.metrics["em"].n == 2
    assert found.metrics["lift"].value == pytest.approx(1 / 3)


def test_undefined_scores_stay_out_of_the_mean() -> None:
    found = summarise([row("a", 1, depth=4.0), row("b", 1)], METRICS)
    assert found.metrics["depth"].value == 4
    assert found.metrics["depth"].n == 1
    nothing = summarise([row("a", 1)], METRICS)
    assert nothing.metrics["depth"].value is None


def test_order_trials_are_summed_up_by_item() -> None:
    rows = [
        *(row("a", 1, trial=t, answer="x") for t in range(3)),
        *(row("b", em, trial=t, answer=said) for t, (em, said) in
          enumerate([(1, "y"), (0, "z"), (0, "z")])),
    ]  # fmt: skip
    found = summarise(rows, METRICS).metrics
    assert found["em"].value == pytest.approx(2 / 3)
    assert found["em"].n == 2
    assert found["majority_em"].value == 0.5
    assert found["answered_alike"].value == 0.5
    assert found["largest_trial_difference"].value == 0.5


def test_groups_come_in_their_natural_order() -> None:
    rows = [row(str(n), 1, groups={"n": n}) for n in (10, 9, 2)]
    assert list(summarise_groups(rows, METRICS, ["n"])) == [(2,), (9,), (10,)]


def test_chance_is_averaged_where_the_headline_is_defined() -> None:
    rows = [row("a", 1.0, chance=0.5), row("b", None, chance=0.0), row("c", 0.5, chance=0.3)]
    found = summarise(rows, METRICS)
    assert found.chance == pytest.approx(0.4)
    assert found.metrics["em"].n == 2
    assert found.metrics["lift"].value == pytest.approx((0.75 - 0.4) / 0.6)
