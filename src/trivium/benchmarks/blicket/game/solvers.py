"""Players that read nothing but the conversation: explorers, and what they answer.

A player is a function from what has been seen to the objects of the next test, or to None
when it wants to answer; a trained agent becomes a player by giving such a function to
`player`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from trivium.benchmarks.blicket.game.answer import write_answer, write_test
from trivium.benchmarks.blicket.game.item import GameAnswer, game_space
from trivium.benchmarks.blicket.game.render import Conversation, read_conversation
from trivium.benchmarks.blicket.game.score import trials_of
from trivium.benchmarks.blicket.game.spec import GameSpec
from trivium.benchmarks.blicket.inference.explore import EXPLORERS
from trivium.benchmarks.blicket.inference.hypotheses import (
    DISJUNCTIVE,
    Hypothesis,
    letters,
    mask_of,
)
from trivium.benchmarks.blicket.inference.observer import Belief, posterior, settled
from trivium.core.benchmark import Solver, Turn, by_name
from trivium.core.errors import require
from trivium.core.streams import Stream

Explore = Callable[[Conversation, Stream], str | None]
Conclude = Callable[[Conversation, Stream], Hypothesis]
MAX_TO_PLAN = 2048  # machines times placements: all of five objects, or five rules of four


@lru_cache(maxsize=4096)
def belief_after(spec: GameSpec, tests: tuple[tuple[str, bool], ...]) -> Belief:
    """What the ideal observer believes after these tests."""
    return posterior(game_space(spec), trials_of(tests))


def conclude_by_posterior(seen: Conversation, stream: Stream) -> Hypothesis:
    """The most likely machine; any of them where several are."""
    belief = belief_after(seen.spec, seen.tests)
    best = np.flatnonzero(belief >= belief.max() - 1e-9)
    return game_space(seen.spec).hypotheses[int(stream.choice(best.tolist()))]


def conclude_at_random(seen: Conversation, stream: Stream) -> Hypothesis:
    """Any machine that was possible at the start."""
    return stream.choice(game_space(seen.spec).hypotheses)


def can_plan(spec: GameSpec) -> bool:
    """Whether the optimal tests can be worked out in about a minute at most."""
    space = game_space(spec)
    return not space.noisy and len(space) << space.objects <= MAX_TO_PLAN


def explorer(name: str) -> Explore:
    """One of the exact explorers, which stops as soon as the machine is known."""

    def explore(seen: Conversation, stream: Stream) -> str | None:
        space, belief = game_space(seen.spec), belief_after(seen.spec, seen.tests)
        if settled(space, belief):
            return None
        if name == "optimal":
            require(
                can_plan(seen.spec),
                f"optimal plans for machines without noise and for at most {MAX_TO_PLAN} machines "
                f"times placements, got {len(space) << space.objects}; use information_gain",
            )
        return letters(_draw(name, seen, stream))

    return explore


@lru_cache(maxsize=4096)
def _choice(name: str, spec: GameSpec, tests: tuple[tuple[str, bool], ...]) -> tuple[float, ...]:
    belief = belief_after(spec, tests)
    return tuple(EXPLORERS[name].choose(game_space(spec), belief, len(tests)).tolist())


def _draw(name: str, seen: Conversation, stream: Stream) -> int:
    """One placement, each as often as the explorer chooses it."""
    chances = _choice(name, seen.spec, seen.tests)
    drawn, last = stream.random(), 0
    for placed, chance in enumerate(chances):
        if chance > 0:
            last = placed
            drawn -= chance
            if drawn < 0:
                break
    return last


def singles(seen: Conversation, stream: Stream) -> str | None:
    """Every object alone, once, whatever is seen."""
    made = len(seen.tests)
    return None if made >= seen.spec.objects else letters(1 << made)


def player(explore: Explore, conclude: Conclude = conclude_by_posterior) -> Callable[[Turn], str]:
    """Tests while there are tests left and something to explore, then one answer."""

    def say(turn: Turn) -> str:
        seen = read_conversation(turn.messages)
        placed = explore(seen, turn.stream) if seen.left > 0 else None
        if placed is not None:
            return write_test(placed)
        machine = conclude(seen, turn.stream)
        answer = GameAnswer(letters(machine.blickets), machine.rule, letters(machine.inhibitors))
        return write_answer(answer)

    return say


def conclude_one_cause(seen: Conversation, stream: Stream) -> Hypothesis:
    """Calls what lit the machine alone a blicket that does it alone, else guesses one."""
    alone = [placed for placed, light in seen.tests if light and len(placed) == 1]
    named = "".join(sorted(set(alone))) or letters(1 << stream.below(seen.spec.objects))
    return Hypothesis(DISJUNCTIVE, mask_of(named))


SOLVERS = by_name(
    [
        Solver(
            "optimal",
            "the tests that are expected to make it certain soonest, then the certain answer",
            player(explorer("optimal")),
            "ceiling",
        ),
        Solver(
            "information_gain",
            "the test that is expected to tell most now, then the most likely machine",
            player(explorer("information_gain")),
        ),
        Solver(
            "posterior",
            "tests at random, then the most likely machine",
            player(explorer("random")),
        ),
        Solver(
            "one_at_a_time",
            "every object alone, then the most likely machine",
            player(singles),
        ),
        Solver(
            "one_cause",
            "every object alone; what lights alone is a blicket, and every machine disjunctive",
            player(singles, conclude_one_cause),
            "shortcut",
        ),
        Solver(
            "random",
            "tests at random, then any machine",
            player(explorer("random"), conclude_at_random),
            "floor",
        ),
    ]
)
