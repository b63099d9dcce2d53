"""Programs that answer from the page alone: the ideal observer, and ways to go wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from trivium.benchmarks.blicket.prompts.answer import write
from trivium.benchmarks.blicket.prompts.item import UNSURE, Machine, PromptAnswer, ideal_answer
from trivium.benchmarks.blicket.prompts.read import Page, read_page
from trivium.core.benchmark import Solver, Turn, by_name
from trivium.core.streams import Stream

Guess = Callable[[Page, Stream], PromptAnswer]


def ideal_observer(page: Page, stream: Stream) -> PromptAnswer:
    """Says what follows from the evidence by exact Bayesian inference, and no more."""
    return ideal_answer(page.machines)


def random_answer(page: Page, stream: Stream) -> PromptAnswer:
    """Any of the new objects and any structure."""
    objects = page.machines[-1].objects
    chosen = 1 + stream.below(2 ** len(objects) - 1)
    named = [name for place, name in enumerate(objects) if chosen >> place & 1]
    return PromptAnswer(tuple(sorted(named)), (), stream.choice([*page.known, UNSURE]))


def everything_lit(page: Page, stream: Stream) -> PromptAnswer:
    """Calls everything a blicket that was ever on the machine when it lit."""
    named = sorted(_lit_with(page.machines[-1]))
    return PromptAnswer(tuple(named), (), stream.choice(page.known))


def one_cause(page: Page, stream: Stream) -> PromptAnswer:
    """Believes in one blicket that does it alone: the object most often there when it lit."""
    new = page.machines[-1]
    counts = _lit_with(new)
    most = max(counts[name] for name in new.objects)
    named = stream.choice([name for name in new.objects if counts[name] == most])
    alone = [machine.pattern for machine in page.machines[:-1] if _lit_alone(machine)]
    return PromptAnswer((named,), (), alone[0] if len(alone) == 1 else UNSURE)


def _lit_with(machine: Machine) -> Counter[str]:
    """How often each object was on the machine when it lit."""
    return Counter(name for placed, light in machine.tests if light for name in placed)


def _lit_alone(machine: Machine) -> bool:
    """Whether one object was seen to light the machine."""
    return any(light and len(placed) == 1 for placed, light in machine.tests)


def _solver(guess: Guess, role: str, name: str | None = None) -> Solver:
    def say(turn: Turn) -> str:
        return write(guess(read_page(turn.messages[0]), turn.stream), turn.view)

    about = (guess.__doc__ or "").split("\n")[0]
    return Solver(name or guess.__name__, about, say, role=role)  # type: ignore[arg-type]


SOLVERS = by_name(
    [
        _solver(ideal_observer, "ceiling"),
        _solver(one_cause, "shortcut"),
        _solver(everything_lit, "shortcut"),
        _solver(random_answer, "floor", "random"),
    ]
)
