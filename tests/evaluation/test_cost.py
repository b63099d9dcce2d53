"""What an evaluation would cost, in numbers worked out by hand."""

from __future__ import annotations

import pytest

from trivium.benchmarks import load_task
from trivium.core.errors import UserError
from trivium.core.tokens import approximate_tokens
from trivium.evaluation.cost import Cost, confirm, cost_of
from trivium.evaluation.evaluation import Evaluation, Items
from trivium.models.settings import ModelOptions, Settings


def test_single_turn_costs_one_request_per_item_and_trial() -> None:
    task = load_task("nhop_implicit", fields={"hops": 4, "m": 4})
    opening = approximate_tokens(task.item(0, seed=7).prompt)
    one = cost_of(Evaluation(task, Items(7, 0, 1), "a model"))
    assert one == Cost(1, opening, 16)
    assert cost_of(Evaluation(task, Items(7, 0, 1), "a model", trials=3)) == Cost(
        3, 3 * opening, 48
    )
    system = Settings(system="Think hard.")
    assert cost_of(Evaluation(task, Items(7, 0, 1), "a/b", settings=system)) == Cost(
        1, opening + 3, 16
    )


def test_a_dialogue_sends_everything_before_it_again() -> None:
    """Four tests and three mistakes: seven requests; the n-th repeats n - 1 replies of 256."""
    task = load_task("blicket_game", preset="paper", fields={"tests": 4})
    opening = approximate_tokens(task.item(0, seed=7).prompt)
    cost = cost_of(Evaluation(task, Items(7, 0, 1), "a model"))
    assert cost == Cost(7, 7 * opening + 256 * (0 + 1 + 2 + 3 + 4 + 5 + 6), 7 * 256)
    assert cost_of(Evaluation(task, Items(7, 0, 1), "a model"), recorded_attempts=1) == Cost()


def test_items_beyond_the_sample_are_taken_to_be_like_it() -> None:
    task = load_task("nhop_implicit", fields={"hops": 4, "m": 4})
    many = cost_of(Evaluation(task, Items(7, 0, 1000), "a model"))
    assert (many.requests, many.output_tokens) == (1000, 16_000)
    fifty = cost_of(Evaluation(task, Items(7, 0, 50), "a model"))
    assert many.input_tokens == pytest.approx(20 * fifty.input_tokens, rel=1e-6)


def test_many_requests_need_a_yes(monkeypatch: pytest.MonkeyPatch) -> None:
    cost = Cost(1001, 5, 5)
    with pytest.raises(UserError, match=r"1,001 requests.*Add --yes to send them"):
        confirm(cost, ModelOptions())
    confirm(cost, ModelOptions(yes=True))
    confirm(cost, ModelOptions(confirm_above=1001))
    confirm(Cost(1000, 5, 5), ModelOptions())
