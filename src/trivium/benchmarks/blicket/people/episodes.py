"""Converting games that people played to episodes of the environment, for offline learning."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from trivium.benchmarks.blicket.game.generate import GameItem
from trivium.benchmarks.blicket.game.spec import EXAMPLES, UNSURE
from trivium.benchmarks.blicket.game.world import Game
from trivium.benchmarks.blicket.inference.hypotheses import mask_of
from trivium.benchmarks.blicket.world.recording import Episode, replay, write_dataset
from trivium.benchmarks.blicket.world.spec import BlicketSpec
from trivium.core.errors import require


def write_episodes(games: Sequence[Game], name: str, folder: Path) -> dict[str, int]:
    """Write every game as an episode of a Minari dataset; returns the episodes of each dataset.

    Episodes with demonstrations begin with them and end with the question about the form; "given"
    and "not given" games become two datasets. "Not sure" about an object is recorded as "no".
    """
    require(
        re.fullmatch(r"(?:[\w-]{1,60}/){0,3}[\w-]{1,60}-v\d{1,3}", name) is not None,
        f"the name of a dataset must be like people/mine-v0, got {name!r}",
    )
    noisy = any(game.item.spec.noise for game in games)
    require(not noisy, "games with noise cannot be replayed")
    by_spec: dict[BlicketSpec, list[Game]] = {}
    for game in games:
        by_spec.setdefault(_environment(game.item), []).append(game)
    base, _, version = name.rpartition("-v")
    names = [f"{base}-{spec.demonstrations.replace('_', '-')}-v{version}" for spec in by_spec]
    if len(by_spec) == 1:
        names = [name]
    require(len(set(names)) == len(by_spec), "games of different machines need different datasets")
    for dataset, (spec, played) in zip(names, by_spec.items(), strict=True):
        write_dataset(dataset, spec, [_episode(spec, game) for game in played], "people", folder)
    return dict(zip(names, map(len, by_spec.values()), strict=True))


def _environment(item: GameItem) -> BlicketSpec:
    """The environment with the same machines and demonstrations as a game."""
    return BlicketSpec(
        reward_structure="quiz" if item.spec.demonstrations == "none" else "quiz-type",
        hypotheses=tuple(map(str, item.space)),
        objects=item.spec.objects,
        max_steps=max(20, item.spec.tests),
        demonstrations=item.spec.demonstrations,
    )


def _episode(spec: BlicketSpec, game: Game) -> Episode:
    """The episode in which the environment gets a game's tests and answers."""
    item, answer = game.item, game.given
    assert answer is not None
    codes = [0] * spec.shown + [mask_of(placed) for placed, _ in answer.tests]
    codes += [1 << spec.objects] + [mask_of(answer.blickets)] * spec.objects
    if spec.asks_type:
        codes.append((*EXAMPLES, UNSURE).index(answer.form))
    return replay(spec, item.truth, codes, order=int(item.swapped))
