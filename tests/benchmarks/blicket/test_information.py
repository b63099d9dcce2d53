"""The information reward: what tests reveal, beside the most that any player can expect."""

from __future__ import annotations

import numpy as np
import pytest

from tests.benchmarks.blicket.games import BUDGETED
from trivium.benchmarks.blicket.game import GAME
from trivium.benchmarks.blicket.game.spec import GameSpec
from trivium.core.dialogue import next_reply
from trivium.core.task import Task


def mean_reward(spec: GameSpec, solver: str) -> float:
    """The mean sum of rewards over one item of each machine, which are equally likely."""
    task = Task(GAME, spec, GAME.view_type())
    found: dict[object, float] = {}
    for item in task.items(400, seed=1):
        dialogue = task.start(item)
        if item.content.machine not in found:
            while not dialogue.done:
                dialogue.send(next_reply(dialogue, GAME.solvers[solver]))
            found[item.content.machine] = sum(GAME.information(item.content, dialogue.replies))
    assert len(found) == len(task.spec.space)
    return float(np.mean(list(found.values())))


def test_a_player_that_always_finds_the_machine_earns_1_on_average() -> None:
    assert mean_reward(BUDGETED["paper"], "optimal") == pytest.approx(1.0)


@pytest.mark.parametrize("tests", [2, 3])
def test_no_player_earns_more_with_too_few_tests(tests: int) -> None:
    best = mean_reward(GameSpec(tests=tests), "information_gain")
    assert mean_reward(GameSpec(tests=tests), "random") < best <= 1.0


def test_a_test_that_reveals_nothing_earns_nothing() -> None:
    item = Task(GAME, GameSpec(), GAME.view_type()).item(0)
    first, again, empty = GAME.information(item.content, ["TEST A", "TEST A", "TEST none"])
    assert first > 0
    assert (again, empty) == (0.0, 0.0)
    assert GAME.information(item.content, []) == GAME.information(item.content, ["What?"]) == []
