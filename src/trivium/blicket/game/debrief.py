"""How a finished game went, beside the ideal observer."""

from __future__ import annotations

from dataclasses import dataclass

from trivium.blicket.explore import planner
from trivium.blicket.game.item import GameItem
from trivium.blicket.game.render import render
from trivium.blicket.game.score import kind, trajectory
from trivium.blicket.game.solvers import SOLVERS, can_plan
from trivium.blicket.game.spec import GameView
from trivium.blicket.game.world import Game, replay
from trivium.blicket.observer import Step, entropy
from trivium.core.benchmark import Turn, solver_stream

VERDICTS = {
    "right": "Right!",
    "lucky": "Right, with some luck: your tests left other machines possible.",
    "too-early": "Wrong, though your tests left it possible.",
    "against-its-own-tests": "Wrong: your own tests had already ruled it out.",
    "no-such-machine": "Wrong: the machine could not have worked like that.",
}


@dataclass(frozen=True)
class Debrief:
    """What a player did, and what the ideal observer does with the same machine."""

    verdict: str
    right: bool
    steps: tuple[Step, ...]
    bits: float
    unknown_bits: float  # at the start
    redundant: int
    tests: int
    ideal: str  # optimal, or information_gain where the optimal tests cannot be worked out
    ideal_tests: int  # on this very machine
    expected_tests: float | None  # over all machines, where the optimal tests are known


def debrief(game: Game) -> Debrief:
    """The game so far, measured."""
    item = game.item
    path = trajectory(item.spec, tuple(game.tests))
    space, planned = item.space, can_plan(item.spec)
    ideal = "optimal" if planned else "information_gain"
    outcome = kind(item, game.given).partition(":")[0]
    if outcome == "right" and path.tests_to_certainty is None:
        outcome = "lucky"
    return Debrief(
        verdict=VERDICTS.get(outcome, "No answer was given."),
        right=outcome in ("right", "lucky"),
        steps=path.steps,
        bits=path.bits,
        unknown_bits=entropy(space.belief),
        redundant=path.redundant,
        tests=len(game.tests),
        ideal=ideal,
        ideal_tests=tests_of(ideal, item),
        expected_tests=planner(space).fewest_tests(space.belief) if planned else None,
    )


def tests_of(name: str, item: GameItem) -> int:
    """How many tests this player makes on this machine."""
    solver, view = SOLVERS[name], GameView()
    messages, replies = [render(item, view)], list[str]()
    while True:
        turn = Turn(messages, solver_stream(solver.name, item, 0, len(replies)), view)
        replies.append(solver.say(turn))
        game, said = replay(item, replies)
        if game.over:
            return len(game.tests)
        messages += [replies[-1], said]
