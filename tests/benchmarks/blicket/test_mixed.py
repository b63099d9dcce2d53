"""The mixed game: its spaces, and players that do not reason."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from tests.benchmarks.blicket.games import play
from trivium.benchmarks.blicket.game import limits
from trivium.benchmarks.blicket.game.generate import generate
from trivium.benchmarks.blicket.game.spec import (
    PRESETS,
    GameSpec,
    MixedGame,
    mixed_game,
    mixed_games,
)
from trivium.benchmarks.blicket.inference.budget import BudgetPlanner
from trivium.benchmarks.blicket.inference.distinct import DistinctMachines
from trivium.benchmarks.blicket.inference.scripts import best_fixed_script

MIXED = PRESETS["mixed"]


def identified(
    game: MixedGame, first: Sequence[int], lit: Sequence[int], dark: Sequence[int]
) -> float:
    """The share of games won by these tests, then by others that depend on the last light."""
    found = set()
    for row in game.spec.space.fires:
        start = tuple(row[[*first]]) if first else (True,)
        later = [*(lit if start[-1] else dark)][: game.tests - len(first)]
        found.add((*start, *row[later]))
    return len(found) / len(game.spec.space)


def habits(game: MixedGame) -> dict[str, float]:
    """What habits reach with exact inference after their tests."""
    every = (1 << game.objects) - 1
    alone = [1 << number for number in range(game.objects)]
    others = [every ^ each for each in alone]
    half = [(1 << game.objects // 2) - 1]
    return {
        "one at a time": identified(game, [], alone, alone),
        "leave one out": identified(game, [], others, others),
        "one switch": identified(game, half, alone, others),
        "the other switch": identified(game, half, others, alone),
    }


def test_every_space_is_listed_once_with_a_large_gap() -> None:
    games = mixed_games()
    assert len({(game.objects, frozenset(game.rules)) for game in games}) == len(games) >= 500
    for game in games:
        assert mixed_game(game.spec) is game
        assert game.optimal - game.best_fixed_script >= 0.3 - 1e-12
        assert len(game.script) <= game.tests
        machines = DistinctMachines(game.spec.space)
        assert len(machines.weights) == len(game.spec.space) == round(1 / game.blind)
        assert machines.value(game.script) == pytest.approx(game.best_fixed_script)


@pytest.mark.parametrize("number", [3, 144, 333])
def test_listed_values_are_those_of_the_searches(number: int) -> None:
    game = mixed_games()[number]
    script = best_fixed_script(game.spec.space, game.tests, 4_000)
    planner = BudgetPlanner(game.spec.space)
    assert script.value == script.bound == pytest.approx(game.best_fixed_script)
    assert planner.value(planner.every, game.tests) == pytest.approx(game.optimal)


def test_habits_do_not_win() -> None:
    """Exact means over all spaces, which are drawn equally often."""
    games = mixed_games()
    floor, ceiling = limits.script_floor(MIXED).value, limits.player_ceiling(MIXED).value
    reached = [habits(game) for game in games]
    for game, found in zip(games, reached, strict=True):
        for fixed in ("one at a time", "leave one out"):
            assert found[fixed] <= game.best_fixed_script + 1e-12
    for name in ("one switch", "the other switch"):
        lift = (np.mean([found[name] for found in reached]) - floor) / (ceiling - floor)
        assert lift < 0.25, name


def test_games_state_their_own_space() -> None:
    items = list(generate(MIXED, 4, 0, 200))
    assert len({item.spec for item in items}) > 120
    assert {item.spec.objects for item in items} >= {5, 6, 7}
    assert len({item.spec.tests for item in items}) >= 3
    assert not any(item.spec.mixed for item in items)
    assert all(item.origin is not None and item.origin.spec["mixed"] for item in items)
    means = [np.mean([limits.script_floor(item.spec).value for item in items])]
    means += [np.mean([limits.player_ceiling(item.spec).value for item in items])]
    assert means == pytest.approx(
        [limits.script_floor(MIXED).value, limits.player_ceiling(MIXED).value], abs=0.04
    )


@pytest.mark.parametrize("solver", ["recorded_games", "one_cause", "leave_one_out", "one_switch"])
def test_shortcuts_stay_near_the_best_script(solver: str) -> None:
    items = list(generate(MIXED, 12, 0, 120))
    right = sum(play(solver, item).kind == "right" for item in items)
    floor = float(np.mean([limits.script_floor(item.spec).value for item in items]))
    assert right / 120 <= floor + 0.05 + 3 * math.sqrt(floor * (1 - floor) / 120)


def test_a_game_outside_the_list_is_computed() -> None:
    game = mixed_games()[0]
    assert mixed_game(GameSpec(game.objects, game.rules, tests=game.tests + 1)) is None
    assert mixed_game(GameSpec(game.objects, game.rules, tests=game.tests, noise=0.1)) is None
