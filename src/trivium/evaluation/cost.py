"""What an evaluation would cost: requests and tokens, before anything is sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from trivium.core.benchmark import AnyBenchmark
from trivium.core.errors import require
from trivium.core.tokens import approximate_tokens

SAMPLE = 50  # items looked at; the rest are taken to be like them


@dataclass(frozen=True)
class Cost:
    """Requests and approximate tokens of an evaluation."""

    requests: int
    input_tokens: int
    output_tokens: int

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.requests + other.requests,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
        )

    def __str__(self) -> str:
        return (
            f"{self.requests:,} requests, about {self.input_tokens:,} input tokens "
            f"and at most about {self.output_tokens:,} output tokens"
        )


def estimate(
    benchmark: AnyBenchmark, spec: Any, view: Any, *, seed: int = 0, items: int, trials: int = 1
) -> Cost:
    """The cost of asking one model about so many items, each told `trials` times."""
    require(items >= 1, f"items must be at least 1, got {items}")
    require(trials >= 1, f"order_trials must be at least 1, got {trials}")
    sample = list(benchmark.generate(spec, seed, 0, min(items, SAMPLE)))
    return cost_of(benchmark, view, sample, items * trials)


def cost_of(benchmark: AnyBenchmark, view: Any, sample: Sequence[Any], attempts: int) -> Cost:
    """The cost of so many attempts at items like these.

    In a conversation every request sends all that was said before it, and it is taken
    to last for as many turns as the benchmark allows.
    """
    system = approximate_tokens(benchmark.system(view) or "")
    reply = benchmark.output_tokens(view)
    sent = turns = 0
    for item in sample:
        rounds = benchmark.max_turns(item)
        opening = system + approximate_tokens(benchmark.render(item, view))
        turns += rounds
        sent += opening * rounds + reply * rounds * (rounds - 1) // 2
    scale = attempts / len(sample)
    return Cost(round(turns * scale), round(sent * scale), round(turns * reply * scale))
