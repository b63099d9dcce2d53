"""Games with a known machine, and one of the players at them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from trivium.benchmarks.blicket.game import GAME
from trivium.benchmarks.blicket.game.audit import canonical
from trivium.benchmarks.blicket.game.generate import GameItem
from trivium.benchmarks.blicket.game.spec import GameSpec, GameView
from trivium.benchmarks.blicket.inference.hypotheses import parse
from trivium.core.dialogue import attempt
from trivium.core.records import Attempt

VIEW = GameView()
FIVE_RULES = ("conjunctive", "disjunctive", "threshold-2", "parity", "inhibitor")
THRESHOLDS = ("conjunctive", "disjunctive", "threshold-2", "threshold-3")
# Games whose number of tests is what the optimal player needs.
BUDGETED = {
    "paper": GAME.presets["paper"],
    "three-objects": GAME.presets["three-objects"],
    "four-objects": GameSpec(objects=4, tests=5),
    "five-rules": GameSpec(rules=FIVE_RULES, tests=6),
    "five-objects": GameSpec(objects=5, tests=6),
    "six-objects": GameSpec(objects=6, rules=THRESHOLDS, tests=8),
}


def game_of(machine: str, spec: GameSpec | None = None) -> GameItem:
    """A game with this machine in it."""
    chosen = spec or GameSpec()
    true = replace(parse(machine), noise=chosen.noise)
    return GameItem("G", chosen, true, (False,) * chosen.tests, "ABCDEFGH"[: chosen.objects], None)


def every_game(spec: GameSpec) -> Iterator[GameItem]:
    """One game for each machine of a spec."""
    return (game_of(str(replace(machine, noise=0.0)), spec) for machine in spec.space)


def machines_up_to_renaming(spec: GameSpec) -> int:
    """The number of games up to the names and the order of the objects."""
    return len(set(map(canonical, every_game(spec))))


def play(solver: str, item: GameItem) -> Attempt:
    return attempt(GAME, item, GAME.solvers[solver], VIEW)
