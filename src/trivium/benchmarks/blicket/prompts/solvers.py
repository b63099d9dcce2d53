"""Programs that answer from the prompt: the ideal observer and shortcuts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from statistics import fmean

from trivium.benchmarks.blicket.prompts import matched
from trivium.benchmarks.blicket.prompts.answer import write_to
from trivium.benchmarks.blicket.prompts.evidence import (
    UNSURE,
    Machine,
    Page,
    PromptAnswer,
    ideal_answer,
    members,
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
    return _named(page, stream, [name for name in counts if counts[name] == max(counts.values())])


def lit_alone(page: Page, stream: Stream) -> PromptAnswer:
    """The objects that lit the machine alone, or else in the smallest test that did."""
    lit = [placed for placed, light in page.machines[-1].tests if light]
    size = min(map(len, lit), default=0)
    return _named(page, stream, {name for placed in lit if len(placed) == size for name in placed})


def never_dark(page: Page, stream: Stream) -> PromptAnswer:
    """The objects that were never on a dark machine: what a disjunctive machine allows."""
    return _named(page, stream, _never_dark(page.machines[-1]))


def always_lit(page: Page, stream: Stream) -> PromptAnswer:
    """The objects that were on the machine whenever it lit: what a conjunctive machine allows."""
    return _named(page, stream, _always_lit(page.machines[-1]))


def counts_only(page: Page, stream: Stream) -> PromptAnswer:
    """One of the answers that counts leave: the floor's strategy.

    Rules objects out one by one, and counts the tests of the others and the open objects beside
    them. Does not ask which of them were in a test together.
    """
    order, left = answers_left(page.machines[-1])
    sure = members(order, stream.choice(left or [1]))
    return PromptAnswer(sure, _rest(tuple(order), sure), _guess(page, stream))


def answers_left(machine: Machine) -> tuple[list[str], list[int]]:
    """The open objects, and the sets of them that counts leave as those that must be blickets."""
    undecided, alone, tests = _open(machine)
    often = Counter(name for placed in tests for name in placed)
    order = sorted(undecided, key=lambda name: (name not in alone, -often[name]))
    parts = [sum(1 << n for n, name in enumerate(order) if name in placed) for placed in tests]
    # Without the test of the first object alone, and the test of all objects but a closed one.
    decide = [
        part
        for part, placed in zip(parts, tests, strict=True)
        if placed != set(order[:1]) and part < (1 << len(order)) - 1
    ]
    size = matched.Design(len(machine.objects), len(order), len(decide))
    known = len(order) in (3, 4) and 1 < len(decide) < 8
    return order, matched.answers_left(size, decide) if known else []


def apart(page: Page, stream: Stream) -> PromptAnswer:
    """Of the objects that no single test rules out, names those with the fewest beside them."""
    undecided, alone, tests = _open(page.machines[-1])
    means = {
        name: fmean([len(placed & set(undecided)) for placed in tests if name in placed] or [0])
        for name in undecided
        if name not in alone
    }
    sure = tuple(n for n in undecided if n in alone or means[n] == min(means.values()))
    return PromptAnswer(sure, _rest(undecided, sure), _guess(page, stream))


def _open(machine: Machine) -> tuple[tuple[str, ...], set[str], list[set[str]]]:
    """The objects not ruled out, those that decide alone, and the sets that make the machine so.

    For a conjunctive machine, the sets are the objects that were missing when it stayed dark.
    """
    lit = [set(placed) for placed, light in machine.tests if light]
    dark = [set(machine.objects) - set(placed) for placed, light in machine.tests if not light]
    never, always = _never_dark(machine), _always_lit(machine)
    undecided, tests = (never, lit) if len(never) >= len(always) else (always, dark)
    return undecided, {name for placed in tests if len(placed) == 1 for name in placed}, tests


def _rest(names: tuple[str, ...], sure: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if name not in sure)


def _named(page: Page, stream: Stream, names: Iterable[str]) -> PromptAnswer:
    return PromptAnswer(tuple(sorted(names)), (), _guess(page, stream))


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

    return Solver(name, str(answer.__doc__).partition("\n")[0], reply, role)


SOLVERS = by_name(
    [
        _solver("ideal_observer", ideal_observer, "ceiling"),
        _solver("one_cause", one_cause, "shortcut"),
        _solver("most_often_lit", most_often_lit, "shortcut"),
        _solver("lit_alone", lit_alone, "shortcut"),
        _solver("never_dark", never_dark, "shortcut"),
        _solver("always_lit", always_lit, "shortcut"),
        _solver("apart", apart, "shortcut"),
        _solver("counts_only", counts_only, "floor"),
        _solver("random", random_answer, "floor"),
    ]
)
