"""Exploration or inference: active, passive and yoked games, and the split of what is lost."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

from trivium.benchmarks.blicket.game import GAME
from trivium.benchmarks.blicket.game.answer import write_answer
from trivium.benchmarks.blicket.game.generate import GameAnswer
from trivium.benchmarks.blicket.game.solvers import RANDOM, Explore, optimal, player
from trivium.benchmarks.blicket.game.solvers import most_likely as infer
from trivium.benchmarks.blicket.game.spec import GameSpec, GameView
from trivium.core.benchmark import Solver, Turn
from trivium.core.dialogue import solve
from trivium.core.errors import UserError
from trivium.core.files import dump_line
from trivium.core.records import Row
from trivium.core.task import Task
from trivium.report.compare import losses

SPEC = GameSpec(tests=4)  # three objects, eleven machines: four tests are enough
ITEMS = 300


def skilled(choose: Explore, slips: float) -> Solver:
    """A player with these tests, whose inference is right but for a share of random slips."""
    ideal = player(choose, infer)

    def reply(turn: Turn) -> str:
        said = ideal(turn)
        slipped = said.startswith("ANSWER") and turn.stream.random() < slips
        return write_answer(GameAnswer("", "disjunctive")) if slipped else said

    return Solver("skilled", "a known skill", reply)


def rows_of(solver: Solver, *views: GameView) -> list[Row]:
    tasks = [Task(GAME, SPEC, view) for view in views]
    return [asdict(solve(item, solver)) for task in tasks for item in task.items(ITEMS, seed=41)]


@pytest.mark.parametrize(
    ("choose", "slips"), [(optimal, 0.0), (optimal, 0.3), (RANDOM, 0.0), (RANDOM, 0.3)]
)
def test_the_split_recovers_the_skill_that_was_built_in(choose: Explore, slips: float) -> None:
    """Each interval misses with 5%; the seed is fixed."""
    assert GAME.loss_split is not None
    rows = rows_of(skilled(choose, slips), GameView(), GameView(arm="passive"))
    ((total, first, second),) = losses(GAME, GAME.loss_split, rows).values()
    assert total.n == ITEMS
    assert not second.excludes(slips)
    assert total.value == pytest.approx((first.value or 0) + (second.value or 0))
    if choose is optimal:
        assert first.value == pytest.approx(0, abs=0.1)
    else:
        assert first.is_above(0.2)


def test_passive_games_show_the_tests_of_the_optimal_player_and_take_no_others() -> None:
    task = Task(GAME, SPEC, GameView(arm="passive"))
    for item in task.items(20, seed=3):
        assert "Another player made these tests" in item.prompt
        assert "TEST" not in item.prompt
        made = solve(item, GAME.solvers["optimal"])
        assert isinstance(made.reply, list)
        assert (made.kind, len(made.reply), item.ceiling) == ("right", 1, 1.0)
        dialogue = task.start(item)
        assert "no tests left" in str(dialogue.send("TEST A")).lower()


def test_the_yoked_arm_shows_the_tests_of_another_run(tmp_path: Path) -> None:
    active = Task(GAME, SPEC, GameView())
    played = [solve(item, GAME.solvers["one_at_a_time"]) for item in active.items(12, seed=5)]
    path = tmp_path / "records.jsonl"
    path.write_bytes(b"".join(map(dump_line, played)))
    yoked = Task(GAME, SPEC, GameView(arm="yoked", yoked_to=str(path)))
    for item, before in zip(yoked.items(12, seed=5), played, strict=True):
        after = solve(item, GAME.solvers["posterior"])
        assert after.answer.tests == before.answer.tests
        assert after.scores["bits"] == before.scores["bits"]
        assert 1 / 4 - 1e-9 <= item.ceiling <= 1.0
    with pytest.raises(UserError, match="has no game on GAME-000012"):
        _ = yoked.item(12, seed=5).prompt
    with pytest.raises(UserError, match="yoked_to goes with arm yoked"):
        GameView(arm="yoked")
