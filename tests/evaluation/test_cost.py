"""What an evaluation would cost, in numbers worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command_line import run, write
from trivium.benchmarks import load_task
from trivium.core.errors import UserError
from trivium.core.text import approximate_tokens
from trivium.evaluation.cost import Cost, Price, Prices, Range, confirm, cost_of, cost_of_run
from trivium.evaluation.evaluation import Evaluation, Items
from trivium.evaluation.plan import plan_main_run
from trivium.models.settings import ModelOptions, Settings

NHOP = load_task("nhop_implicit", fields={"hops": 4, "m": 4})
GAME = load_task("blicket_game", preset="paper", fields={"tests": 4})


def evaluation(trials: int = 1, items: int = 1, **settings: object) -> Evaluation:
    made = Settings(**settings)  # type: ignore[arg-type]
    return Evaluation(NHOP, Items(7, 0, items), "a/b", trials, made)


def test_single_turn_costs_one_request_per_item_and_trial() -> None:
    opening = approximate_tokens(NHOP.item(0, seed=7).prompt)
    assert cost_of(evaluation()) == Cost(1, Range(opening, opening), Range(16, None))
    assert cost_of(evaluation(trials=3)) == Cost(
        3, Range(3 * opening, 3 * opening), Range(48, None)
    )
    with_system = cost_of(evaluation(system="Think hard."))
    assert with_system.input == Range(opening + 3, opening + 3)


def test_what_a_reply_may_be_is_what_the_cap_allows() -> None:
    assert cost_of(evaluation(max_output_tokens=4096)).output == Range(16, 4096)
    assert cost_of(evaluation(trials=2, max_output_tokens=9)).output == Range(18, 18)
    assert cost_of(evaluation()).output == Range(16, None)


def test_a_dialogue_sends_everything_before_it_again() -> None:
    """Four tests and three mistakes: seven requests; the n-th repeats n - 1 replies of 256."""
    opening = approximate_tokens(GAME.item(0, seed=7).prompt)
    once = Evaluation(GAME, Items(7, 0, 1), "a/b", settings=Settings(max_output_tokens=1000))
    repeated = 0 + 1 + 2 + 3 + 4 + 5 + 6
    assert cost_of(once) == Cost(
        7,
        Range(7 * opening + 256 * repeated, 7 * opening + 1000 * repeated),
        Range(7 * 256, 7 * 1000),
    )
    uncapped = cost_of(Evaluation(GAME, Items(7, 0, 1), "a/b"))
    assert (uncapped.input.most, uncapped.output.most) == (None, None)
    assert cost_of(once, recorded=1) == Cost()


def test_items_beyond_the_sample_are_taken_to_be_like_it() -> None:
    many, fifty = cost_of(evaluation(items=1000)), cost_of(evaluation(items=50))
    assert (many.requests, many.output.about) == (1000, 16_000)
    assert many.input.about == pytest.approx(20 * fifty.input.about, rel=1e-6)


def test_a_cost_says_what_limits_it() -> None:
    capped = Cost(2, Range(5000, 9000), Range(32, 8192), Range(0.01234, 3.5))
    assert str(capped) == (
        "2 requests, about 5,000 input tokens (at most 9,000) and 32 output tokens without "
        "reasoning, at most 8,192 by --max_output_tokens; at the given prices about 0.012, "
        "at most 3.50"
    )
    uncapped = Cost(1, Range(5, 5), Range(16, None), Range(0, None))
    assert str(uncapped) == (
        "1 request, about 5 input tokens and 16 output tokens without reasoning, and no limit on "
        "reasoning (--max_output_tokens sets one); at the given prices about 0.00, with no upper "
        "limit"
    )


def test_prices_are_per_million_tokens_and_added_by_model() -> None:
    """Two models: 16 tokens out at 1.5 and at 3 a million, and nothing for what is sent."""
    models = ["a/b", "c/d"]
    settings = Settings(max_output_tokens=100)
    planned = plan_main_run(["nhop_implicit"], seed=7, items=1, models=models, settings=settings)
    cost = cost_of_run(planned, prices={"a/b": Price(0, 1.5), "c/d": Price(0, 3)})
    assert cost.money is not None
    assert cost.money.about == pytest.approx(16 * 4.5e-6)
    assert cost.money.most == pytest.approx(100 * 4.5e-6)
    assert cost_of_run(planned).money is None
    assert Price(2, 10).of(500_000, 100_000) == pytest.approx(2.0)


def test_a_sum_has_a_price_if_a_part_has_one() -> None:
    free, priced = Cost(1), Cost(2, money=Range(0.5, None))
    assert (free + free).money is None
    for both in (free + priced, priced + free):
        assert (both.requests, both.money) == (3, Range(0.5, None))
    assert (priced + Cost(money=Range(1.0, 2.0))).money == Range(1.5, None)


def test_prices_come_from_flags_or_a_file(tmp_path: Path) -> None:
    assert Prices().of(["a/b"]) == {}
    assert Prices(1, 2).of(["a/b"]) == {"a/b": Price(1, 2)}
    path = write(tmp_path / "p.toml", '["a/b"]\nprice_in = 0.4\nprice_out = 1.6\n')
    assert Prices(prices=path).of(["a/b"]) == {"a/b": Price(0.4, 1.6)}
    path.write_text(path.read_text() + '["o3"]\nprice_in = 2\nprice_out = 8\n')
    assert Prices(prices=path).of(["openai/o3"]) == {"openai/o3": Price(2, 8)}
    with pytest.raises(UserError, match=r"p\.toml: there is no price of c/d"):
        Prices(prices=path).of(["a/b", "c/d"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("price_in = 1", "price_in must be a table with price_in and price_out"),
        ('["a/b"]\nprice_in = 1', "price_out must be given"),
        ('["a/b"]\nprice_in = 1\nprice_out = -2', "price_out must be given, and at least 0"),
        ('["a/b"]\nprice_in = inf\nprice_out = 2', "price_in must be given, and at least 0"),
        ('["a/b"]\nprice_in = "1"\nprice_out = 2', "a/b: price_in must be a number, got '1'"),
        ('["a/b"]\nin = 1\nprice_out = 2', "unknown key 'in'"),
    ],
)
def test_a_wrong_file_of_prices_is_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        Prices(prices=write(tmp_path / "p.toml", text)).of(["a/b"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--price_in 1", "--price_in and --price_out go together"),
        ("--price_in -1 --price_out 2", "price_in must be given, and at least 0"),
        ("--price_in 1 --price_out nan", "--price_out: must be a finite number"),
        ("--price_in 1 --price_out 2 --prices p.toml --model a/b", "not both"),
        ("--prices p.toml", "--prices goes with --model here"),
    ],
)
def test_wrong_prices_are_refused(
    words: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(f"estimate nhop_implicit {words}") == 2
    assert said in capsys.readouterr().err


def test_an_estimate_has_a_price(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = "--max_output_tokens 1000 --price_in 0 --price_out 10"
    assert run(f"estimate nhop_implicit --items 100 {flags}") == 0
    said = capsys.readouterr().out
    assert "1,600 output tokens without reasoning, at most 100,000 by --max_output_tokens" in said
    assert said.endswith("at the given prices about 0.016, at most 1.00\n")
    prices = write(tmp_path / "p.toml", '["a/b"]\nprice_in = 0\nprice_out = 10\n')
    words = f"estimate nhop_implicit --items 100 --model a/b --prices {prices}"
    assert run(f"{words} --max_output_tokens 1000") == 0
    assert capsys.readouterr().out == said
    assert run(f"estimate implicit_small {flags}") == 0
    assert "at most 1,200,000 by --max_output_tokens" in (said := capsys.readouterr().out)
    assert "at most 12.00" in said


def test_many_requests_need_a_yes() -> None:
    cost = Cost(1001, Range(5, 5), Range(5, 5))
    with pytest.raises(UserError, match=r"1,001 requests.*Add --yes to send them"):
        confirm(cost, ModelOptions())
    confirm(cost, ModelOptions(yes=True))
    confirm(cost, ModelOptions(confirm_above=1001))
    confirm(Cost(1000), ModelOptions())
