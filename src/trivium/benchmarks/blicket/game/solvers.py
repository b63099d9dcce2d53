"""Players that read nothing but the conversation: explorers, and what they answer.

A player is made of a function that chooses the objects of the next test, or None to answer, and
one that names a machine. `player` turns such functions, of a trained agent for example, into a
solver's reply.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from trivium.benchmarks.blicket.game.answer import write_answer, write_test
from trivium.benchmarks.blicket.game.generate import GameAnswer, Tests
from trivium.benchmarks.blicket.game.render import Conversation, read_conversation
from trivium.benchmarks.blicket.game.score import trials_of
from trivium.benchmarks.blicket.game.spec import GameSpec
from trivium.benchmarks.blicket.inference import observer
from trivium.benchmarks.blicket.inference.explore import EXPLORERS
from trivium.benchmarks.blicket.inference.hypotheses import Hypothesis, letters, mask_of
from trivium.core.benchmark import Solver, Turn, by_name
from trivium.core.errors import require
from trivium.core.streams import Stream

Explore = Callable[[Conversation, Stream], str | None]
Conclude = Callable[[Conversation, Stream], Hypothesis]
MAX_TO_PLAN = 2048  # machines times placements: all of five objects, or five rules of four


@lru_cache(maxsize=4096)
def _belief_after(spec: GameSpec, tests: Tests) -> observer.Belief:
    return observer.posterior(spec.space, trials_of(tests))


def most_likely(seen: Conversation, stream: Stream) -> Hypothesis:
    """The most likely machine, or any of several."""
    belief = _belief_after(seen.spec, seen.tests)
    best = np.flatnonzero(belief >= belief.max() - 1e-9)
    return seen.spec.space.hypotheses[int(stream.choice(best.tolist()))]


def any_machine(seen: Conversation, stream: Stream) -> Hypothesis:
    """Any machine that was possible at the start."""
    return stream.choice(seen.spec.space.hypotheses)


def one_cause(seen: Conversation, stream: Stream) -> Hypothesis:
    """A disjunctive machine of the objects that lit it alone, or of any one object."""
    alone = [placed for placed, light in seen.tests if light and len(placed) == 1]
    named = "".join(sorted(set(alone))) or letters(1 << stream.below(seen.spec.objects))
    return Hypothesis("disjunctive", mask_of(named))


def singles(seen: Conversation, stream: Stream) -> str | None:
    """Every object alone, once, whatever is seen."""
    made = len(seen.tests)
    return None if made >= seen.spec.objects else letters(1 << made)


def can_plan(spec: GameSpec) -> bool:
    """Whether the optimal tests can be computed in about a minute at most."""
    space = spec.space
    return not space.noisy and len(space) << space.objects <= MAX_TO_PLAN


def explore_by(name: str) -> Explore:
    """One of the exact explorers, which stops as soon as the machine is known."""

    def explore(seen: Conversation, stream: Stream) -> str | None:
        space = seen.spec.space
        if observer.settled(space, _belief_after(seen.spec, seen.tests)):
            return None
        require(
            name != "optimal" or can_plan(seen.spec),
            f"optimal plans for machines without noise and for at most {MAX_TO_PLAN} machines "
            f"times placements, got {len(space) << space.objects}; use information_gain",
        )
        chances = _choice(name, seen.spec, seen.tests)
        # The last placement with a chance is the choice where rounding leaves something over.
        placed, drawn = 0, stream.random()
        for placed in np.flatnonzero(chances).tolist():
            drawn -= chances[placed]
            if drawn < 0:
                break
        return letters(placed)

    return explore


@lru_cache(maxsize=4096)
def _choice(name: str, spec: GameSpec, tests: Tests) -> tuple[float, ...]:
    belief = _belief_after(spec, tests)
    return tuple(EXPLORERS[name](spec.space, belief, len(tests)).tolist())


def player(explore: Explore, conclude: Conclude = most_likely) -> Callable[[Turn], str]:
    """Tests while there are tests left and something to explore, then one answer."""

    def reply(turn: Turn) -> str:
        seen = read_conversation(turn.messages)
        placed = explore(seen, turn.stream) if seen.left > 0 else None
        if placed is not None:
            return write_test(placed)
        return write_answer(GameAnswer.of(conclude(seen, turn.stream)))

    return reply


OPTIMAL, GREEDY, RANDOM = map(explore_by, ("optimal", "information_gain", "random"))
SOLVERS = by_name(
    [
        Solver(
            "optimal", "fewest expected tests, then the certain answer", player(OPTIMAL), "ceiling"
        ),
        Solver("information_gain", "best next test, then the likeliest machine", player(GREEDY)),
        Solver("posterior", "random tests, then the likeliest machine", player(RANDOM)),
        Solver("one_at_a_time", "each object alone, then the likeliest machine", player(singles)),
        Solver(
            "one_cause", "what lights alone is a blicket", player(singles, one_cause), "shortcut"
        ),
        Solver("random", "random tests, then any machine", player(RANDOM, any_machine), "floor"),
    ]
)
