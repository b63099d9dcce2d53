"""How a finished game went, beside the ideal observer."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from trivium.benchmarks.blicket.game.item import GameAnswer, GameItem
from trivium.benchmarks.blicket.game.render import render
from trivium.benchmarks.blicket.game.score import is_right, kind, named_machine, trajectory
from trivium.benchmarks.blicket.game.solvers import SOLVERS, can_plan
from trivium.benchmarks.blicket.game.spec import GameView
from trivium.benchmarks.blicket.game.world import Game, replay
from trivium.benchmarks.blicket.inference.explore import planner
from trivium.benchmarks.blicket.inference.hypotheses import Hypothesis
from trivium.benchmarks.blicket.inference.observer import Step, Trajectory, entropy
from trivium.core.benchmark import Turn
from trivium.core.dialogue import solver_stream

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
    return Debrief(
        verdict=_verdict(item, game.given, path),
        right=game.given is not None and is_right(item, game.given),
        steps=path.steps,
        bits=path.bits,
        unknown_bits=entropy(space.belief),
        redundant=path.redundant,
        tests=len(game.tests),
        ideal=ideal,
        ideal_tests=tests_of(ideal, item),
        expected_tests=planner(space).fewest_tests(space.belief) if planned else None,
    )


def _verdict(item: GameItem, given: GameAnswer | None, path: Trajectory) -> str:
    """Whether the answer was right, and what the tests had to do with it."""
    if given is None:
        return "No answer was given."
    outcome = kind(item, given).partition(":")[0]
    said = named_machine(item, given)
    if item.spec.noise and said in item.space.hypotheses:
        # Where lights may be wrong, no test rules a machine out and none makes it certain.
        share = _likely(item, path, said)
        if outcome == "right":
            return f"Right: your tests had made it {share} likely."
        truth = replace(item.machine, noise=item.spec.noise)
        return (
            f"Wrong: your tests had made it {share} likely, and the true machine "
            f"{_likely(item, path, truth)}."
        )
    if outcome == "right" and path.tests_to_certainty is None:
        outcome = "lucky"
    return VERDICTS[outcome]


def _likely(item: GameItem, path: Trajectory, machine: Hypothesis) -> str:
    """How likely the tests make a machine, with those that no test tells from it."""
    space = item.space
    alike = space.extensions == space.extensions[space.hypotheses.index(machine)]
    share = float(np.asarray(path.belief)[alike].sum())
    return f"{min(max(share, 0.01), 0.99):.0%}"  # never 0% or 100%: it is not certain


def tests_of(name: str, item: GameItem) -> int:
    """How many tests this player makes on this machine."""
    solver, view = SOLVERS[name], GameView()
    messages, replies = [render(item, view)], list[str]()
    while True:
        turn = Turn(messages, solver_stream(solver.name, item, 0, len(replies)), view)
        replies.append(solver.reply(turn))
        game, said = replay(item, replies)
        if game.over:
            return len(game.tests)
        messages += [replies[-1], said]
