"""The game's part of reports: the headline, and explanations of games."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trivium.benchmarks.blicket.game.arms import shown_tests
from trivium.benchmarks.blicket.game.generate import GameItem, Tests
from trivium.benchmarks.blicket.game.score import belief_after
from trivium.benchmarks.blicket.game.spec import GameView
from trivium.benchmarks.blicket.game.world import Game, take_turn
from trivium.benchmarks.blicket.inference import observer
from trivium.core.benchmark import Lifts, Step

RULE = "“Tests like”: the built-in player whose remaining bits after each test are closest."
PLAYERS = {
    "optimal": "picks informative tests",
    "information_gain": "picks informative tests",
    "posterior": "tests at random",
    "random": "tests at random",
    "one_at_a_time": "tests like a child who varies one thing at a time",
    "one_cause": "tests like a child who varies one thing at a time",
    "leave_one_out": "leaves out one object at a time",
    "one_switch": "tests by habit after the first light",
    "recorded_games": "tests by a table of recorded games",
    "best_fixed_script": "tests by a fixed script, whatever the lights say",
    "constant_answer": "answers without a test",
}


def headline_sentence(lifts: Lifts) -> str:
    """A sentence on how a solver tests, and how well it solves games."""
    player = f"{PLAYERS[lifts.plays_like]}; " if lifts.plays_like in PLAYERS else ""
    return f"{player}solves games {lifts.grade}"


def explain(item: GameItem, replies: Sequence[str], view: GameView) -> list[Step]:
    """What the ideal observer knows after each test; empty if the game has no answer."""
    game = Game(item, shown=shown_tests(item, view))
    steps = [_step(item, 0, tuple(game.tests))]
    for count, reply in enumerate(replies, start=1):
        if game.over:
            break
        take_turn(game, reply)
        if game.shown is None and len(game.tests) == len(steps):
            steps.append(_step(item, count, tuple(game.tests)))
    return steps if game.given is not None else []


def _step(item: GameItem, replies: int, tests: Tests) -> Step:
    space, belief = item.space, belief_after(item.spec, tests)
    bits = observer.entropy(belief)
    possible = int((belief > observer.TINY).sum())
    if possible == 1:
        only = space.hypotheses[int(np.argmax(belief))]
        return Step(replies, bits, f"Only one machine is left: {only}.")
    forms = observer.family_probability(space, belief).items()
    likely = sorted((form for form in forms if form[1] > observer.TINY), key=lambda form: -form[1])
    blickets = dict(zip(item.objects, observer.blicket_probability(space, belief), strict=True))
    text = f"{possible} machines are left, {bits:.1f} bits: "
    text += ", ".join(f"{form} {share:.0%}" for form, share in likely)
    sure = [name for name, share in blickets.items() if share >= observer.CERTAIN]
    never = [name for name, share in blickets.items() if share <= observer.TINY]
    text += f"; certainly blickets: {' '.join(sure)}" if sure else ""
    text += f"; certainly not: {' '.join(never)}" if never else ""
    return Step(replies, bits, f"{text}.")
