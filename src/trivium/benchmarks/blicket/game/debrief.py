"""How a game went, beside the ideal observer."""

from __future__ import annotations

from dataclasses import dataclass

from trivium.benchmarks.blicket.game import GAME
from trivium.benchmarks.blicket.game.adaptivity import Share, best_player, best_script
from trivium.benchmarks.blicket.game.generate import GameAnswer, GameItem
from trivium.benchmarks.blicket.game.score import is_right, kind, named_machine, trajectory
from trivium.benchmarks.blicket.game.solvers import can_plan
from trivium.benchmarks.blicket.game.spec import GameSpec
from trivium.benchmarks.blicket.game.world import Game
from trivium.benchmarks.blicket.inference.explore import planner
from trivium.benchmarks.blicket.inference.hypotheses import Hypothesis
from trivium.benchmarks.blicket.inference.observer import (
    Step,
    Trajectory,
    entropy,
    posterior,
)
from trivium.core.dialogue import attempt

MAX_TO_COMPARE = 100_000  # machines times placements; more would keep a player waiting
VERDICTS = {
    "right": "Right!",
    "lucky": "Right, with some luck: your tests left other machines possible.",
    "too-early": "Wrong, though your tests left it possible.",
    "against-its-own-tests": "Wrong: your own tests had already ruled it out.",
    "no-such-machine": "Wrong: the machine could not have worked like that.",
    "wrong": "Wrong.",
    "unsure": "Not right: you were not sure about everything.",
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
    ideal: str  # optimal, or information_gain where the optimal tests cannot be computed
    ideal_tests: int  # on this machine
    expected_tests: float | None  # over all machines, where the optimal tests are known
    budget: str  # what the tests allowed, in a sentence; empty where that is not known


def debrief(game: Game) -> Debrief:
    """The measures of a game, finished or not."""
    item, space = game.item, game.item.space
    path = trajectory(item.spec, tuple(game.tests))
    planned = can_plan(item.spec)
    ideal = "optimal" if planned else "information_gain"
    played = attempt(GAME, item, GAME.solvers[ideal], GAME.view_type())
    return Debrief(
        verdict=_verdict(item, game.given, path),
        right=game.given is not None and is_right(item, game.given),
        steps=path.steps,
        bits=path.bits,
        unknown_bits=entropy(space.belief),
        redundant=path.redundant,
        tests=len(game.tests),
        ideal=ideal,
        ideal_tests=len(played.answer.tests),
        expected_tests=planner(space).fewest_tests(space.belief) if planned else None,
        budget=_budget(item.spec),
    )


def _budget(spec: GameSpec) -> str:
    """How often as many tests are enough, chosen beforehand or by what was seen."""
    if spec.noise or len(spec.space) << spec.objects > MAX_TO_COMPARE:
        return ""
    tests = "1 test" if spec.tests == 1 else f"{spec.tests} tests"
    return (
        f"With {tests} the optimal player is right in {_share(best_player(spec))} of all games, "
        f"and the best script of tests chosen beforehand in {_share(best_script(spec))}."
    )


def _share(share: Share) -> str:
    low, high = f"{share.low:.0%}", f"{share.high:.0%}"
    return low if low == high else f"{low} to {high}"


def _verdict(item: GameItem, given: GameAnswer | None, path: Trajectory) -> str:
    """Whether the answer was right, and what the tests had to do with it."""
    if given is None:
        return "No answer was given."
    outcome = kind(item, given).partition(":")[0]
    named = named_machine(item, given)
    if item.spec.noise and named in item.space.hypotheses:
        # With noise no test rules a machine out, and none makes it certain.
        likely = f"your tests had made it {_probability(item, path, named)} likely"
        if outcome == "right":
            return f"Right: {likely}."
        truth = _probability(item, path, item.machine)
        return f"Wrong: {likely}, and the true machine {truth}."
    if outcome == "right" and path.tests_to_certainty is None:
        outcome = "lucky"
    return VERDICTS[outcome]


def _probability(item: GameItem, path: Trajectory, machine: Hypothesis) -> str:
    """The probability of a machine, or one that no test can tell from it, after the tests."""
    belief = posterior(item.space, [(step.placed, step.light) for step in path.steps])
    share = float(belief[item.space.equivalents(machine)].sum())
    return f"{min(max(share, 0.01), 0.99):.0%}"  # never 0% or 100%: it is not certain
