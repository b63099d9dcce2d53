"""Feedback after a game: a verdict on the answer, and the ideal observer's game."""

from __future__ import annotations

from trivium.benchmarks.blicket.game import GAME
from trivium.benchmarks.blicket.game.generate import GameAnswer, GameItem
from trivium.benchmarks.blicket.game.limits import player_ceiling, script_floor
from trivium.benchmarks.blicket.game.score import belief_after, kind, named_machine, trajectory
from trivium.benchmarks.blicket.game.solvers import can_plan
from trivium.benchmarks.blicket.inference.explore import planner
from trivium.benchmarks.blicket.inference.hypotheses import Hypothesis
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


def verdict(item: GameItem, answer: GameAnswer) -> str:
    """Whether the answer is right, and whether the tests justified it."""
    outcome = kind(item, answer).partition(":")[0]
    named = named_machine(item, answer)
    if item.spec.noise and named in item.space.hypotheses:
        # With noise no test rules a machine out, and none makes it certain.
        likely = f"your tests had made it {_probability(item, answer, named)} likely"
        if outcome == "right":
            return f"Right: {likely}."
        truth = _probability(item, answer, item.machine)
        return f"Wrong: {likely}, and the true machine {truth}."
    if outcome == "right" and trajectory(item.spec, answer.tests).tests_to_certainty is None:
        outcome = "lucky"
    return VERDICTS[outcome]


def _probability(item: GameItem, answer: GameAnswer, machine: Hypothesis) -> str:
    """The probability of a machine and those equivalent to it, after the tests."""
    belief = belief_after(item.spec, answer.tests)
    share = float(belief[item.space.equivalents(machine)].sum())
    return f"{min(max(share, 0.01), 0.99):.0%}"  # never 0% or 100%: it is not certain


def ideal_game(item: GameItem) -> str:
    """How many tests the ideal observer makes, and how often this number of tests is enough."""
    spec, space = item.spec, item.space
    ideal, average = "information_gain", ""
    if can_plan(spec):
        expected = planner(space).fewest_tests(space.belief)
        ideal, average = "optimal", f", and {expected:.2f} on average over all machines"
    made = len(attempt(GAME, item, GAME.solvers[ideal], GAME.view_type()).answer.tests)
    name = ideal.replace("_", " ")
    text = f"The ideal observer ({name}) makes {_tests(made)} on this machine{average}."
    if len(space) << spec.objects > MAX_TO_COMPARE:
        return text
    best, fixed = player_ceiling(spec), script_floor(spec)
    if not (best.exact and fixed.exact):
        return text
    return (
        f"{text} With {_tests(spec.tests)} the optimal player is right in {best.value:.0%} of all "
        f"games, and the best script of tests chosen in advance in {fixed.value:.0%}."
    )


def _tests(count: int) -> str:
    return "1 test" if count == 1 else f"{count} tests"
