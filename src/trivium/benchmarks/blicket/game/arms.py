"""Exploration or inference? Games in which the tests of another player are shown.

A player of the passive arm sees the optimal player's tests, one of the yoked arm those that another
run made on the same items. What is left to do is to use them.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

from trivium.benchmarks.blicket.game import limits
from trivium.benchmarks.blicket.game.generate import GameItem, Tests
from trivium.benchmarks.blicket.game.render import Conversation
from trivium.benchmarks.blicket.game.score import belief_after
from trivium.benchmarks.blicket.game.solvers import optimal
from trivium.benchmarks.blicket.game.spec import GameSpec, GameView
from trivium.benchmarks.blicket.game.world import Game, replay
from trivium.benchmarks.blicket.inference.observer import best_guess
from trivium.core.benchmark import UPPER_BOUND, Ceiling, Floor, LossSplit
from trivium.core.errors import require
from trivium.core.reading import visible_replies
from trivium.core.records import RECORDS, read_records
from trivium.core.streams import Stream, stream_key

SPLIT = LossSplit("arm", "active", "passive", "choosing tests", "using them")


def shown_tests(item: GameItem, view: GameView) -> Tests | None:
    """The tests that a player sees in place of its own; None where it makes its own."""
    if view.arm == "active":
        return None
    if view.arm == "passive":
        return _optimal_tests(item._replace(id="", origin=None))  # what can be hashed
    games, origin = _games(view.yoked_to), item.origin
    key = _key(item.id, origin and origin.seed, origin and origin.spec)
    require(key in games, f"{view.yoked_to} has no game on {item.id} of the same spec and seed")
    return tuple(replay(item, games[key])[0].tests)


@lru_cache(maxsize=4096)
def _optimal_tests(item: GameItem) -> Tests:
    game, stream = Game(item), Stream(stream_key("passive"))
    while game.left > 0:
        seen = Conversation(item.spec, tuple(game.tests), item.examples)
        placed = optimal(seen, stream)
        if placed is None:
            break
        game.place(placed)
    return tuple(game.tests)


@lru_cache(maxsize=4)
def _games(run: str) -> dict[bytes, list[str]]:
    """The replies of every game in the records of a run, by item."""
    folder = Path(run)
    paths = sorted(folder.rglob(RECORDS)) if folder.is_dir() else [folder]
    rows = [row for path in paths for _, row in read_records(path)]
    rows = [row for row in rows if row["benchmark"] == "blicket_game" and row["trial"] == 0]
    require(bool(rows), f"{run} has no games to be yoked to")
    solvers = sorted({row["solver"] for row in rows})
    require(len(solvers) == 1, f"{run} has games of {', '.join(solvers)}: name the folder of one")
    return {
        _key(row["id"], row.get("seed"), row.get("spec")): visible_replies(row["reply"] or ())
        for row in rows
    }


def _key(*of_item: Any) -> bytes:
    """A key for an item: its id, seed and spec."""
    return orjson.dumps(of_item, option=orjson.OPT_SORT_KEYS)


def floor(spec: GameSpec, view: GameView) -> Floor:
    """The floor of a spec; where tests are shown, the best answer that ignores them."""
    found = limits.script_floor(spec)
    blind = Floor(limits.BLIND, found.others[limits.BLIND])
    return found if view.arm == "active" else blind


def ceiling(spec: GameSpec, view: GameView) -> Ceiling:
    """The optimal player, who also makes the tests that the passive arm shows."""
    return Ceiling(UPPER_BOUND) if view.arm == "yoked" else limits.player_ceiling(spec)


def item_ceiling(item: GameItem, view: GameView) -> Ceiling:
    """The ceiling of a game; where tests are shown, what an ideal observer makes of them."""
    shown = shown_tests(item, view)
    if shown is None:
        return limits.player_ceiling(item.spec)
    belief = belief_after(item.spec, shown)
    return Ceiling("ideal observer", best_guess(item.space, belief))
