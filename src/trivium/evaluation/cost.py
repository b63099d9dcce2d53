"""The estimated cost of a run in requests, tokens and money."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from trivium.core.errors import require
from trivium.core.results import Summary
from trivium.core.spec import read_mapping, spec_from_dict
from trivium.core.text import approximate_tokens
from trivium.evaluation.evaluation import Evaluation, Run
from trivium.models.providers import known_model
from trivium.models.settings import ModelOptions, Settings
from trivium.models.settings import opening as framed

SAMPLE = 50  # items from which the cost of all is extrapolated


@dataclass(frozen=True)
class Price:
    """The price of a million tokens in any currency."""

    price_in: float = -1.0
    price_out: float = -1.0

    def __post_init__(self) -> None:
        for name, value in (("price_in", self.price_in), ("price_out", self.price_out)):
            known = 0 <= value < math.inf
            require(known, f"{name} must be given, and at least 0 per million tokens")

    def of(self, input_tokens: float, output_tokens: float) -> float:
        """The price of these tokens."""
        return (self.price_in * input_tokens + self.price_out * output_tokens) / 1_000_000


@dataclass(frozen=True)
class Prices:
    """One price for all models, or a file with the price of each."""

    price_in: float | None = None  # what a million input tokens cost
    price_out: float | None = None  # what a million output tokens cost, reasoning included
    # or a TOML file with price_in and price_out of each model, in a table ["PROVIDER/MODEL"]
    prices: Path | None = None

    def of(self, models: Sequence[str]) -> dict[str, Price]:
        """The price of each model; empty where no prices are given."""
        given = {key: getattr(self, key) for key in ("price_in", "price_out")}
        given = {key: value for key, value in given.items() if value is not None}
        if given:
            both = "give --prices or --price_in and --price_out, not both"
            require(self.prices is None, both)
            require(len(given) == 2, "--price_in and --price_out go together")
            return dict.fromkeys(models, Price(**given))
        if self.prices is None:
            return {}
        tables = read_mapping(self.prices)
        for name, table in tables.items():
            ok = isinstance(table, dict)
            require(ok, f"{self.prices}: {name} must be a table with price_in and price_out")
        tables = {known_model(name) or name: table for name, table in tables.items()}
        missing = [model for model in models if model not in tables]
        require(not missing, f"{self.prices}: there is no price of {', '.join(missing)}")
        return {
            model: spec_from_dict(Price, tables[model], where=f"{self.prices}: {model}")
            for model in models
        }

    def of_run(self, run: Run) -> dict[str, Price]:
        """The price of each model of a run, or of its first solver if it has none."""
        models = tuple(dict.fromkeys(one.solver for one in run.models))
        if not models and self.prices is None:
            models = (run.evaluations[0].solver,)
        return self.of(models)


@dataclass(frozen=True)
class Range:
    """An estimate and its upper limit; None where there is no limit."""

    about: float = 0.0
    most: float | None = 0.0

    def __add__(self, other: Range) -> Range:
        unlimited = self.most is None or other.most is None
        most = None if unlimited else (self.most or 0) + (other.most or 0)
        return Range(self.about + other.about, most)


@dataclass(frozen=True, repr=False)
class Power:
    """The items that two solvers need in common for a difference to be seen."""

    difference: float
    items: int  # with a power of 80%
    items_for_90: int
    how: str  # what the scores are assumed to be, or where they were observed

    def __str__(self) -> str:
        return (
            f"to see a difference of {self.difference:g} between two models on common items takes "
            f"{self.items:,} items with a power of 80%, {self.items_for_90:,} with 90% ({self.how})"
        )

    def __repr__(self) -> str:
        return f"<{self}>"


@dataclass(frozen=True)
class Cost:
    """Requests, approximate tokens, and their price if prices are given."""

    requests: int = 0
    input: Range = Range()
    output: Range = Range()
    money: Range | None = None
    power: Power | None = None  # what the number of items follows from, if it does

    def __add__(self, other: Cost) -> Cost:
        priced = self.money is not None or other.money is not None
        return Cost(
            self.requests + other.requests,
            self.input + other.input,
            self.output + other.output,
            (self.money or Range()) + (other.money or Range()) if priced else None,
        )

    def __repr__(self) -> str:
        return f"<{self}>"

    def __str__(self) -> str:
        requests = "1 request" if self.requests == 1 else f"{self.requests:,} requests"
        if self.output.most is None:
            cap = "and no limit on reasoning (--max_output_tokens sets one)"
        else:
            cap = f"at most {self.output.most:,.0f} by --max_output_tokens"
        # A dialogue repeats earlier replies, so longer ones make the input longer too.
        grows = self.input.most is not None and self.input.most > self.input.about
        up_to = f" (at most {self.input.most:,.0f})" if grows else ""
        text = (
            f"{requests}, about {self.input.about:,.0f} input tokens{up_to} and "
            f"{self.output.about:,.0f} output tokens without reasoning, {cap}"
        )
        if self.money is not None:
            most = self.money.most
            limit = "with no upper limit" if most is None else f"at most {money(most)}"
            text += f"; at the given prices about {money(self.money.about)}, {limit}"
        return text if self.power is None else f"{self.power}; {text}"


def spent(summaries: Iterable[Summary], prices: Mapping[str, Price]) -> float:
    """The price of the tokens that models reported; programs have none."""
    kinds = ("input_tokens", "output_tokens")
    return sum(
        prices[one.solver].of(*(one.tokens[kind].total for kind in kinds))
        for one in summaries
        if one.tokens
    )


def money(amount: float) -> str:
    """An amount with two decimals, or two significant digits where it is below 0.1."""
    return f"{amount:,.2f}" if amount >= 0.1 or amount == 0 else f"{amount:.2g}"


def cost_of(evaluation: Evaluation, recorded: int = 0, price: Price | None = None) -> Cost:
    """The cost of the missing attempts of an evaluation, as if its solver were a model.

    Every request of a dialogue repeats all messages before it; dialogues are assumed to last for
    the maximum number of turns.
    """
    task = evaluation.task
    attempts = max(0, evaluation.attempts - recorded)
    system = approximate_tokens(evaluation.settings.system or "")
    cap = evaluation.settings.max_output_tokens
    reply = task.benchmark.output_tokens(task.view)
    reply = reply if cap is None else min(reply, cap)
    sample = list(islice(replace(evaluation, trials=1, repeats=1).presented(), SAMPLE))
    opening = turns = repeats = 0  # repeats: earlier replies in later requests
    for item in sample:
        rounds = task.benchmark.max_turns(item.original)
        turns += rounds
        opening += (
            system + sum(map(approximate_tokens, framed(item, evaluation.settings)))
        ) * rounds
        repeats += rounds * (rounds - 1) // 2
    scale = attempts / len(sample)

    def tokens(length: int) -> tuple[float, float]:
        """Input and output tokens if every reply has this length."""
        return round((opening + repeats * length) * scale), round(turns * length * scale)

    sent, received = tokens(reply)
    # The upper ends: what is sent is known where no request repeats a reply, or with a limit.
    most_sent: float | None = sent if repeats == 0 else None
    most_received = most_money = None
    if cap is not None:
        most_sent, most_received = tokens(cap)
        most_money = None if price is None else price.of(most_sent, most_received)
    return Cost(
        round(turns * scale),
        Range(sent, most_sent),
        Range(received, most_received),
        None if price is None else Range(price.of(sent, received), most_money),
    )


def cost_of_run(
    run: Run,
    recorded: Sequence[int] | None = None,
    prices: Mapping[str, Price] | None = None,
    settings: Settings | None = None,
) -> Cost:
    """The cost of a run's models without the recorded attempts.

    If the run has no models, the cost of one with these settings.
    """
    first = run.evaluations[0].solver
    total = Cost()
    for number, evaluation in enumerate(run.evaluations):
        price = (prices or {}).get(evaluation.solver)
        if evaluation.is_model:
            total += cost_of(evaluation, recorded[number] if recorded else 0, price)
        elif not run.models and evaluation.solver == first:
            total += cost_of(replace(evaluation, settings=settings or Settings()), price=price)
    return total


def confirm(cost: Cost, options: ModelOptions) -> None:
    """Ask the user before sending many requests; refuse without a terminal."""
    if options.yes or cost.requests <= options.confirm_above:
        return
    question = f"This would send {cost}."
    interactive = sys.stdin.isatty() and sys.stderr.isatty()
    require(interactive, f"{question} Add --yes to send them")
    print(f"{question} Send them? [y/N] ", end="", file=sys.stderr, flush=True)
    require(sys.stdin.readline().strip().lower() in ("y", "yes"), "nothing was sent")
