"""Players, which read only the conversation.

`player` makes a solver's reply from two functions: one chooses the objects of the next test, or
None to answer, and the other names a machine.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from trivium.benchmarks.blicket.game import table
from trivium.benchmarks.blicket.game.answer import write_answer, write_test
from trivium.benchmarks.blicket.game.generate import GameAnswer, Tests, in_words_of
from trivium.benchmarks.blicket.game.limits import constant_answer, fixed_script
from trivium.benchmarks.blicket.game.render import Conversation, read_conversation
from trivium.benchmarks.blicket.game.score import belief_after
from trivium.benchmarks.blicket.game.spec import GameSpec
from trivium.benchmarks.blicket.inference import explore, noise, observer
from trivium.benchmarks.blicket.inference.budget import budget_planner
from trivium.benchmarks.blicket.inference.distinct import DistinctMachines
from trivium.benchmarks.blicket.inference.hypotheses import Hypothesis, letters, mask_of
from trivium.core.benchmark import Solver, Turn, by_name
from trivium.core.streams import Stream

Explore = Callable[[Conversation, Stream], str | None]
Conclude = Callable[[Conversation, Stream], Hypothesis | GameAnswer]
MAX_TO_PLAN = 512  # machines times placements: all of four objects, or five rules of three


def most_likely(seen: Conversation, stream: Stream) -> Hypothesis:
    """The most likely machine; ties are random."""
    belief = belief_after(seen.spec, seen.tests)
    best = np.flatnonzero(belief >= belief.max() - 1e-9)
    return seen.spec.space.hypotheses[int(stream.choice(best.tolist()))]


def any_machine(seen: Conversation, stream: Stream) -> Hypothesis:
    """Any machine that was possible at the start."""
    return stream.choice(seen.spec.space.hypotheses)


def one_cause(seen: Conversation, stream: Stream) -> Hypothesis:
    """A disjunctive machine of the objects that activated it alone, or of a random object."""
    alone = [placed for placed, light in seen.tests if light and len(placed) == 1]
    named = "".join(sorted(set(alone))) or letters(1 << stream.below(seen.spec.objects))
    return Hypothesis("disjunctive", mask_of(named))


def singles(seen: Conversation, stream: Stream) -> str | None:
    """Every object alone, once."""
    made = len(seen.tests)
    return None if made >= seen.spec.objects else letters(1 << made)


def all_but_one(seen: Conversation, stream: Stream) -> str | None:
    """All objects without one of them, for every object once."""
    alone = singles(seen, stream)
    return alone and letters((1 << seen.spec.objects) - 1 ^ mask_of(alone))


def one_switch(seen: Conversation, stream: Stream) -> str | None:
    """Half of the objects, then every object alone after a light, or all but one after none."""
    if not seen.tests:
        return letters((1 << seen.spec.objects // 2) - 1)
    habit = singles if seen.tests[0][1] else all_but_one
    return habit(seen._replace(tests=seen.tests[1:]), stream)


def script(seen: Conversation, stream: Stream) -> str | None:
    """The tests of the best fixed script."""
    placed, made = fixed_script(seen.spec).placed, len(seen.tests)
    return letters(placed[made]) if made < len(placed) else None


def can_plan(spec: GameSpec) -> bool:
    """Whether the minimum number of tests to certainty takes about a second to compute."""
    space = spec.space
    return not space.noisy and len(space) << space.objects <= MAX_TO_PLAN


def optimal(seen: Conversation, stream: Stream) -> str | None:
    """The test with the highest chance to win with the tests left, until the machine is known."""
    known = observer.settled(seen.spec.space, belief_after(seen.spec, seen.tests))
    return None if known else letters(_optimal_test(seen.spec, seen.tests))


@lru_cache(maxsize=4096)
def _optimal_test(spec: GameSpec, tests: Tests) -> int:
    belief = belief_after(spec, tests)
    if spec.noise:
        machines = DistinctMachines(spec.space)
        left = spec.tests - len(tests)
        values = noise.placement_values(machines, left, machines.shares(belief))
        return machines.placements[int(np.argmax(values > values.max() - observer.TINY))]
    planner = budget_planner(spec.space)
    possible = planner.possible(belief)
    revealing = planner.tests(possible)
    if can_plan(spec):  # break ties by the expected number of tests to certainty
        fewest = set(explore.planner(spec.space).best_tests(belief))
        revealing.sort(key=lambda placed: (placed not in fewest, placed.bit_count(), placed))
    return planner.best_test(possible, spec.tests - len(tests), revealing)


def explore_by(name: str) -> Explore:
    """An exact explorer, which stops as soon as the machine is known."""

    def explore_next(seen: Conversation, stream: Stream) -> str | None:
        if observer.settled(seen.spec.space, belief_after(seen.spec, seen.tests)):
            return None
        return letters(stream.choice(_options(name, seen.spec, seen.tests)))

    return explore_next


@lru_cache(maxsize=4096)
def _options(name: str, spec: GameSpec, tests: Tests) -> list[int]:
    return explore.EXPLORERS[name](spec.space, belief_after(spec, tests), len(tests))


def player(choose: Explore, conclude: Conclude = most_likely) -> Callable[[Turn], str]:
    """A solver's reply: tests while any are left and `choose` returns one, then an answer."""

    def reply(turn: Turn) -> str:
        seen = read_conversation(turn.messages)
        placed = choose(seen, turn.stream) if seen.left > 0 else None
        if placed is not None:
            return write_test(placed)
        return _answer(seen, conclude(seen, turn.stream))

    return reply


def _answer(seen: Conversation, machine: Hypothesis | GameAnswer) -> str:
    """The line that names a machine, after demonstrations by the example it is like."""
    if isinstance(machine, GameAnswer):
        return write_answer(machine)
    return write_answer(in_words_of(seen.spec, seen.examples, GameAnswer.of(machine)))


def answer_at_once(turn: Turn) -> str:
    """The best constant answer."""
    seen = read_conversation(turn.messages)
    return _answer(seen, constant_answer(seen.spec))


GREEDY, RANDOM = map(explore_by, ("information_gain", "random"))
SOLVERS = by_name(
    [
        Solver("optimal", "the tests that win most games", player(optimal), "ceiling"),
        Solver("information_gain", "best next test, then the likeliest machine", player(GREEDY)),
        Solver("posterior", "random tests, then the likeliest machine", player(RANDOM)),
        Solver("one_at_a_time", "each object alone, then the likeliest machine", player(singles)),
        Solver("leave_one_out", "all but one, then the likeliest", player(all_but_one), "shortcut"),
        Solver(
            "one_switch",
            "half, then singles or all but one",
            player(one_switch),
            "shortcut",
            allowed_lift=0.25,  # it is adaptive, if only once
        ),
        Solver("one_cause", "each blicket is enough", player(singles, one_cause), "shortcut"),
        Solver("recorded_games", "a table of recorded games", table.reply, "shortcut"),
        Solver("best_fixed_script", "tests chosen in advance", player(script), "floor"),
        Solver("constant_answer", "the same machine, without tests", answer_at_once, "floor"),
        Solver("random", "random tests, then any machine", player(RANDOM, any_machine), "floor"),
    ]
)
