"""What tests find out, beside the optimal player: against brute force and play."""

from __future__ import annotations

import numpy as np
import pytest

from tests.benchmarks.blicket.games import BUDGETED
from trivium.benchmarks.blicket.game import GAME
from trivium.benchmarks.blicket.game.information import information, max_bits
from trivium.benchmarks.blicket.game.spec import GameSpec
from trivium.benchmarks.blicket.inference import observer
from trivium.benchmarks.blicket.inference.hypotheses import Space
from trivium.core.dialogue import next_reply
from trivium.core.errors import UserError
from trivium.core.task import Task


def brute_force(space: Space, belief: observer.Belief, tests: int) -> float:
    """The most bits, from every test that there is."""
    if tests == 0:
        return 0.0
    gains = observer.information_gain(space, belief)
    lit = observer.light_probability(space, belief)
    best = 0.0
    for placed in range(len(gains)):
        value = float(gains[placed])
        for light, chance in ((True, lit[placed]), (False, 1 - lit[placed])):
            if chance > 1e-12:
                after = observer.update(space, belief, placed, light)
                value += chance * brute_force(space, after, tests - 1)
        best = max(best, value)
    return best


@pytest.mark.parametrize("tests", [0, 1, 2, 3])
@pytest.mark.parametrize(
    "rules", [("conjunctive", "disjunctive"), ("conjunctive", "threshold-2", "inhibitor")]
)
def test_the_optimum_is_that_of_brute_force(rules: tuple[str, ...], tests: int) -> None:
    spec = GameSpec(rules=rules, tests=tests)
    assert max_bits(spec) == pytest.approx(brute_force(spec.space, spec.space.belief, tests))


@pytest.mark.parametrize("preset", ["paper", "three-objects", "four-objects"])
def test_the_optimal_player_finds_out_everything_on_average(preset: str) -> None:
    """Over one item of each machine, which are equally likely."""
    task = Task(GAME, BUDGETED[preset], GAME.view_type())
    found: dict[object, float] = {}
    for item in task.items(400, seed=1):
        dialogue = task.start(item)
        if item.content.machine not in found:
            while not dialogue.done:
                dialogue.send(next_reply(dialogue, GAME.solvers["optimal"]))
            found[item.content.machine] = sum(information(item.content, dialogue.replies))
    assert len(found) == len(task.spec.space)
    assert np.mean(list(found.values())) == pytest.approx(1.0)


def test_a_test_that_reveals_nothing_earns_nothing() -> None:
    item = Task(GAME, GameSpec(), GAME.view_type()).item(0)
    first, again, empty = information(item.content, ["TEST A", "TEST A", "TEST none"])
    assert first > 0
    assert (again, empty) == (0.0, 0.0)
    assert information(item.content, []) == information(item.content, ["What?"]) == []


def test_what_is_not_known_is_refused() -> None:
    with pytest.raises(UserError, match="without noise"):
        max_bits(GameSpec(noise=0.1))
