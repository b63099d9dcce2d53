"""Blicket games made on demand: (spec, seed, index) decides one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from trivium.benchmarks.blicket.game.item import GameItem, game_space
from trivium.benchmarks.blicket.game.spec import GameSpec
from trivium.benchmarks.blicket.inference.hypotheses import LETTERS
from trivium.core.benchmark import Origin
from trivium.core.spec import spec_to_dict
from trivium.core.streams import item_stream


def generate(spec: GameSpec, seed: int, start: int = 0, count: int = 1) -> Iterator[GameItem]:
    """The items start .. start + count - 1, every machine of the spec equally likely."""
    fields = spec_to_dict(spec)
    machines = game_space(spec).hypotheses
    for index in range(start, start + count):
        stream = item_stream(spec, seed, index)
        machine = replace(stream.choice(machines), noise=0.0)
        yield GameItem(
            id=f"GAME-{index:06d}",
            spec=spec,
            truth=str(machine),
            flips=tuple(stream.random() < spec.noise for _ in range(spec.tests)),
            listing="".join(stream.shuffled(LETTERS[: spec.objects])),
            origin=Origin(fields, seed, index),
        )
