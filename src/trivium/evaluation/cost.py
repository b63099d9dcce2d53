"""What an evaluation would cost in requests and tokens, before anything is sent."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from trivium.core.errors import require
from trivium.core.records import RECORDS, recorded
from trivium.core.tokens import approximate_tokens
from trivium.evaluation.evaluation import Evaluation, Run
from trivium.models.settings import ModelOptions

SAMPLE = 50  # items that are looked at; the rest are taken to be like them


@dataclass(frozen=True)
class Cost:
    """Requests and approximate tokens."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

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


def cost_of(evaluation: Evaluation, recorded_attempts: int = 0) -> Cost:
    """The cost of what is left of an evaluation, were its solver a model.

    In a dialogue every request sends all that came before it, and it is taken to last for as
    many turns as the benchmark allows.
    """
    task = evaluation.task
    attempts = max(0, evaluation.attempts - recorded_attempts)
    system_text = evaluation.settings.system or task.benchmark.system(task.view) or ""
    system = approximate_tokens(system_text)
    reply = task.benchmark.output_tokens(task.view)
    sample = list(islice(replace(evaluation, trials=1).presented(), SAMPLE))
    sent = turns = 0
    for item in sample:
        rounds = task.benchmark.max_turns(item.original)
        opening = system + approximate_tokens(item.prompt)
        turns += rounds
        sent += opening * rounds + reply * rounds * (rounds - 1) // 2
    scale = attempts / len(sample)
    return Cost(round(turns * scale), round(sent * scale), round(turns * reply * scale))


def cost_of_run(run: Run, out: Path | None = None, *, retry_errors: bool = False) -> Cost:
    """The cost of a run's models, less what its folder holds; of one model where it has none."""
    first = run.evaluations[0].solver
    asked = run.models or tuple(one for one in run.evaluations if one.solver == first)
    total = Cost()
    for evaluation in asked:
        path = None if out is None else out / evaluation.folder / RECORDS
        held = 0 if path is None else len(recorded(path, errors=not retry_errors))
        total += cost_of(evaluation, held)
    return total


def confirm(cost: Cost, options: ModelOptions) -> None:
    """Ask before sending many requests; where nobody can be asked, refuse."""
    if options.yes or cost.requests <= options.confirm_above:
        return
    question = f"This would send {cost}."
    interactive = sys.stdin.isatty() and sys.stderr.isatty()
    require(interactive, f"{question} Add --yes to send them")
    print(f"{question} Send them? [y/N] ", end="", file=sys.stderr, flush=True)
    require(sys.stdin.readline().strip().lower() in ("y", "yes"), "nothing was sent")
