"""Programs that answer from the prompt: the ideal observer, and typical ways to go wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Literal

from trivium.benchmarks.blicket.prompts.answer import write_answer
from trivium.benchmarks.blicket.prompts.evidence import (
    UNSURE,
    Machine,
    Page,
    PromptAnswer,
    ideal_answer,
    read_page,
)
from trivium.core.benchmark import Solver, Turn, by_name
from trivium.core.streams import Stream


def ideal_observer(page: Page, stream: Stream) -> PromptAnswer:
    """What follows from the evidence by exact Bayesian inference, and no more."""
    return ideal_answer(page.machines)


def random_answer(page: Page, stream: Stream) -> PromptAnswer:
    """Any of the new objects and any structure."""
    objects = page.machines[-1].objects
    chosen = 1 + stream.below(2 ** len(objects) - 1)
    named = [name for number, name in enumerate(objects) if chosen >> number & 1]
    return PromptAnswer(tuple(sorted(named)), (), stream.choice([*page.known, UNSURE]))


def everything_lit(page: Page, stream: Stream) -> PromptAnswer:
    """Every object that was ever on the machine when it lit."""
    named = sorted(_lit_with(page.machines[-1]))
    return PromptAnswer(tuple(named), (), stream.choice(page.known))


def one_cause(page: Page, stream: Stream) -> PromptAnswer:
    """One blicket that is enough alone: the object most often on the machine when it lit."""
    new = page.machines[-1]
    counts = _lit_with(new)
    most = max(counts[name] for name in new.objects)
    named = stream.choice([name for name in new.objects if counts[name] == most])
    single = [
        machine.pattern
        for machine in page.machines[:-1]
        if any(light and len(placed) == 1 for placed, light in machine.tests)
    ]
    return PromptAnswer((named,), (), single[0] if len(single) == 1 else UNSURE)


def _lit_with(machine: Machine) -> Counter[str]:
    """How often each object was on the machine when it lit."""
    return Counter(name for placed, light in machine.tests if light for name in placed)


def _solver(
    name: str,
    answer: Callable[[Page, Stream], PromptAnswer],
    role: Literal["floor", "shortcut", "ceiling"],
) -> Solver:
    def reply(turn: Turn) -> str:
        return write_answer(answer(read_page(turn.messages[0]), turn.stream), turn.view)

    return Solver(name, str(answer.__doc__), reply, role)


SOLVERS = by_name(
    [
        _solver("ideal_observer", ideal_observer, "ceiling"),
        _solver("one_cause", one_cause, "shortcut"),
        _solver("everything_lit", everything_lit, "shortcut"),
        _solver("random", random_answer, "floor"),
    ]
)
