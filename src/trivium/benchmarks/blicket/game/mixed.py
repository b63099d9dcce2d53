"""The spaces of the mixed game, read from spaces.txt, which perf/game_spaces.py writes.

Every space has the exact number of its machines that the best script and the optimal player
identify, since computing them takes seconds.
"""

from __future__ import annotations

import csv
from functools import cache, cached_property
from importlib import resources

from trivium.benchmarks.blicket.game.spec import GameSpec
from trivium.benchmarks.blicket.inference.hypotheses import mask_of


class MixedGame:
    """A space and a number of tests, with the shares of games that can be won."""

    def __init__(self, row: dict[str, str]) -> None:
        self.objects, self.tests = int(row["objects"]), int(row["tests"])
        self.rules = tuple(row["rules"].split())
        self.script = tuple(map(mask_of, row["script"].split()))
        machines = int(row["machines"])
        self.blind = 1 / machines  # tests can distinguish all of them
        self.best_fixed_script = int(row["best_fixed_script"]) / machines
        self.optimal = int(row["optimal"]) / machines

    @cached_property
    def spec(self) -> GameSpec:
        """The spec of its items."""
        return GameSpec(self.objects, self.rules, tests=self.tests)


@cache
def mixed_games() -> tuple[MixedGame, ...]:
    """All spaces of the mixed game."""
    text = resources.files(__package__).joinpath("spaces.txt").read_text(encoding="utf-8")
    return tuple(map(MixedGame, csv.DictReader(text.splitlines(), delimiter=";")))


@cache
def _by_key() -> dict[tuple[int, tuple[str, ...], int], MixedGame]:
    return {(game.objects, game.rules, game.tests): game for game in mixed_games()}


def mixed_game(spec: GameSpec) -> MixedGame | None:
    """The game of this spec, if it is one of the mixed game's."""
    plain = not (spec.noise or spec.hypotheses or spec.mixed)
    return _by_key().get((spec.objects, spec.rules, spec.tests)) if plain else None
