"""Programs that answer from the prompt: the ideal observer and shortcuts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from statistics import fmean

from trivium.benchmarks.blicket.prompts.answer import write_to
from trivium.benchmarks.blicket.prompts.evidence import (
    UNSURE,
    Machine,
    Page,
    PromptAnswer,
    ideal_answer,
    read_page,
)
from trivium.core.benchmark import Role, Solver, Turn, by_name
from trivium.core.streams import Stream


def ideal_observer(page: Page, stream: Stream) -> PromptAnswer:
    """What follows from the evidence by exact Bayesian inference."""
    return ideal_answer(page.machines, page.named, page.stated)


def random_answer(page: Page, stream: Stream) -> PromptAnswer:
    """Random new objects and a random structure."""
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


def most_often_lit(page: Page, stream: Stream) -> PromptAnswer:
    """The objects that were most often on the machine when it lit."""
    counts = _lit_with(page.machines[-1])
    return _highest(page, stream, {name: counts[name] for name in page.machines[-1].objects})


def lit_share(page: Page, stream: Stream) -> PromptAnswer:
    """The objects with the highest share of light among their tests."""
    new = page.machines[-1]
    lit, all_tests = _lit_with(new), Counter(name for placed, _ in new.tests for name in placed)
    return _highest(
        page, stream, {name: lit[name] / max(1, all_tests[name]) for name in new.objects}
    )


def lit_alone(page: Page, stream: Stream) -> PromptAnswer:
    """The objects that lit the machine alone, or else in the smallest test that did."""
    lit = [placed for placed, light in page.machines[-1].tests if light]
    size = min(map(len, lit), default=0)
    named = {name for placed in lit if len(placed) == size for name in placed}
    return PromptAnswer(tuple(sorted(named)), (), _guess(page, stream))


def never_dark(page: Page, stream: Stream) -> PromptAnswer:
    """The objects that were never on a dark machine: what a disjunctive machine allows."""
    return PromptAnswer(_never_dark(page.machines[-1]), (), _guess(page, stream))


def always_lit(page: Page, stream: Stream) -> PromptAnswer:
    """The objects that were on the machine whenever it lit: what a conjunctive machine allows."""
    return PromptAnswer(_always_lit(page.machines[-1]), (), _guess(page, stream))


def one_by_one(page: Page, stream: Stream) -> PromptAnswer:
    """Objects ruled out one by one, the rest sure or maybe at random, but for one that works alone.

    The floor's strategy: it ignores which objects were on the machine together.
    """
    new = page.machines[-1]
    left, alone, _ = _left(new)
    sure = tuple(name for name in left if name in alone or stream.below(2))
    return PromptAnswer(sure, _rest(left, sure), _guess(page, stream))


def apart(page: Page, stream: Stream) -> PromptAnswer:
    """Objects ruled out one by one; of the rest, those with the fewest of the rest beside them."""
    left, alone, tests = _left(page.machines[-1])
    beside = {
        name: [sum(other in left for other in placed) for placed in tests if name in placed]
        for name in left
        if name not in alone
    }
    means = {name: fmean(counts or [0]) for name, counts in beside.items()}
    sure = tuple(n for n in left if n in alone or means[n] == min(means.values()))
    return PromptAnswer(sure, _rest(left, sure), _guess(page, stream))


def _left(machine: Machine) -> tuple[tuple[str, ...], set[str], list[set[str]]]:
    """The objects not ruled out, those that decide alone, and the sets that make the machine so.

    For a conjunctive machine, the sets are the objects that were missing when it stayed dark.
    """
    lit = [set(placed) for placed, light in machine.tests if light]
    dark = [set(machine.objects) - set(placed) for placed, light in machine.tests if not light]
    never, always = _never_dark(machine), _always_lit(machine)
    left, tests = (never, lit) if len(never) >= len(always) else (always, dark)
    return left, {name for placed in tests if len(placed) == 1 for name in placed}, tests


def _rest(names: tuple[str, ...], sure: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if name not in sure)


def _highest(page: Page, stream: Stream, values: dict[str, float]) -> PromptAnswer:
    most = max(values.values())
    named = sorted(name for name, value in values.items() if value == most)
    return PromptAnswer(tuple(named), (), _guess(page, stream))


def _guess(page: Page, stream: Stream) -> str:
    """A random known machine, or unsure if the prompt names no kinds of machines."""
    return stream.choice(page.known) if page.named else UNSURE


def _never_dark(machine: Machine) -> tuple[str, ...]:
    seen = {name for placed, _ in machine.tests for name in placed}
    dark = {name for placed, light in machine.tests if not light for name in placed}
    return tuple(sorted(seen - dark))


def _always_lit(machine: Machine) -> tuple[str, ...]:
    lit = [set(placed) for placed, light in machine.tests if light]
    return tuple(sorted(set(machine.objects).intersection(*lit)))


def _lit_with(machine: Machine) -> Counter[str]:
    """How often each object was on the machine when it lit."""
    return Counter(name for placed, light in machine.tests if light for name in placed)


def _solver(name: str, answer: Callable[[Page, Stream], PromptAnswer], role: Role) -> Solver:
    def reply(turn: Turn) -> str:
        prompt = turn.messages[0]
        return write_to(prompt, answer(read_page(prompt), turn.stream))

    return Solver(name, str(answer.__doc__), reply, role)


SOLVERS = by_name(
    [
        _solver("ideal_observer", ideal_observer, "ceiling"),
        _solver("one_cause", one_cause, "shortcut"),
        _solver("everything_lit", everything_lit, "shortcut"),
        _solver("most_often_lit", most_often_lit, "shortcut"),
        _solver("lit_share", lit_share, "shortcut"),
        _solver("lit_alone", lit_alone, "shortcut"),
        _solver("never_dark", never_dark, "shortcut"),
        _solver("always_lit", always_lit, "shortcut"),
        _solver("apart", apart, "program"),
        _solver("one_by_one", one_by_one, "floor"),
        _solver("random", random_answer, "floor"),
    ]
)
