"""Prices of tokens, which the user gives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trivium.core.errors import require
from trivium.core.spec import read_mapping, spec_from_dict
from trivium.evaluation.evaluation import Run
from trivium.models.providers import known_model


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

    def __post_init__(self) -> None:
        one = self.price_in is not None or self.price_out is not None
        require(not (one and self.prices), "give --prices or --price_in and --price_out, not both")
        if one:
            require(
                self.price_in is not None and self.price_out is not None,
                "--price_in and --price_out go together",
            )
            self.of(("any",))

    def of(self, models: Sequence[str]) -> dict[str, Price]:
        """The price of each model; empty where no prices are given."""
        if self.price_in is not None and self.price_out is not None:
            return dict.fromkeys(models, Price(self.price_in, self.price_out))
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
