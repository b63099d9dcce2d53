"""What games can be won: without tests, by the best script, and by the optimal player.

The zero of the game's lift is the best script: tests that are chosen in advance, whatever the
lights show, and then the likeliest machine. Its ceiling is the optimal player, who chooses every
test by the lights before it. Where a value cannot be computed, an upper bound takes its place, so
that the lift of a solver is never overstated.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from trivium.benchmarks.blicket.game.spec import GameSpec, mixed_game, mixed_games
from trivium.benchmarks.blicket.inference import noise
from trivium.benchmarks.blicket.inference.budget import TooLongError, budget_planner
from trivium.benchmarks.blicket.inference.distinct import DistinctMachines
from trivium.benchmarks.blicket.inference.hypotheses import Hypothesis
from trivium.benchmarks.blicket.inference.observer import TINY
from trivium.benchmarks.blicket.inference.scripts import MAX_NODES, Script, best_fixed_script
from trivium.core.benchmark import UPPER_BOUND, Ceiling, Floor

SCRIPT, OPTIMAL, BLIND = "best_fixed_script", "optimal", "constant_answer"  # solvers


@lru_cache(maxsize=4096)
def script_floor(spec: GameSpec) -> Floor:
    """The best script, with the best answer without tests beside it."""
    if spec.mixed:
        games = mixed_games()
        value = float(np.mean([game.best_fixed_script for game in games]))
        return Floor(SCRIPT, value, others={BLIND: float(np.mean([game.blind for game in games]))})
    known = mixed_game(spec)
    if known is not None:
        return Floor(SCRIPT, known.best_fixed_script, others={BLIND: known.blind})
    blind = float(np.bincount(spec.space.equivalence).max()) / len(spec.space)
    script, best = fixed_script(spec), player_ceiling(spec)
    value = script.bound if script.bound < best.value - TINY else best.value  # equal, not almost
    return Floor(SCRIPT, value, script.bound - script.value < TINY, others={BLIND: blind})


@lru_cache(maxsize=4096)
def player_ceiling(spec: GameSpec) -> Ceiling:
    """The optimal player."""
    if spec.mixed:
        return Ceiling(OPTIMAL, float(np.mean([game.optimal for game in mixed_games()])))
    known = mixed_game(spec)
    if known is not None:
        return Ceiling(OPTIMAL, known.optimal)
    machines = DistinctMachines(spec.space)
    try:
        if spec.noise:
            return Ceiling(OPTIMAL, float(noise.placement_values(machines, spec.tests).max()))
        planner = budget_planner(spec.space)
        return Ceiling(OPTIMAL, planner.value(planner.every, spec.tests))
    except TooLongError:
        bound = noise.max_correct(machines, spec.tests)
        if spec.noise:  # a light that is sometimes wrong says no more than one that never is
            bound = min(bound, player_ceiling(replace(spec, noise=0.0)).value)
        return Ceiling(UPPER_BOUND, bound)


def fixed_script(spec: GameSpec, max_nodes: int = MAX_NODES) -> Script:
    """The best script of a game, or a good one with a bound on the best."""
    known = mixed_game(spec)
    if known is not None:
        return Script(known.script, known.best_fixed_script, known.best_fixed_script)
    if not spec.noise:
        return best_fixed_script(spec.space, spec.tests, max_nodes)
    machines = DistinctMachines(spec.space)
    try:
        return noise.best_script(machines, spec.tests)
    except TooLongError:
        without = fixed_script(replace(spec, noise=0.0), max_nodes)
        repeated = [without.placed[each % len(without.placed)] for each in range(spec.tests)]
        bound = min(without.bound, noise.max_correct(machines, spec.tests))
        return Script(tuple(repeated), 0.0, bound)


def constant_answer(spec: GameSpec) -> Hypothesis:
    """The machine that is indistinguishable from the most others."""
    space = spec.space
    largest = int(np.bincount(space.equivalence).argmax())
    return space.hypotheses[int(np.flatnonzero(space.equivalence == largest)[0])]
