"""Recorded episodes to imitate: a Minari dataset, or games that people, models or programs played.

A game is converted to an episode of the quiz: its tests, the step that enters the quiz, and an
answer about every object and about the form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from trivium.agents import GAME
from trivium.agents.episodes import Episodes
from trivium.agents.worlds import spec_world
from trivium.benchmarks.blicket.game.answer import read_move
from trivium.benchmarks.blicket.game.generate import GameAnswer
from trivium.benchmarks.blicket.game.spec import GameSpec
from trivium.benchmarks.blicket.inference.hypotheses import FORMS, LETTERS, mask_of
from trivium.benchmarks.blicket.world.recording import Episode, replay
from trivium.benchmarks.blicket.world.spec import BlicketSpec
from trivium.core.errors import UserError, import_extra, require
from trivium.core.records import RECORDS, read_records
from trivium.core.spec import spec_from_dict


def read_dataset(path: Path) -> tuple[BlicketSpec, Episodes]:
    """The environment and episodes of a Minari dataset's folder or of records of blicket_game."""
    require(path.exists(), f"{path} does not exist")
    if (path / "data").is_dir():
        return _collect(*_read_minari(path))
    records = path / RECORDS if path.is_dir() else path
    require(
        records.exists(),
        f"{path} is neither a Minari dataset (it has no folder data) nor a run (no {RECORDS})",
    )
    return _collect(*_read_games(records))


def _collect(spec: BlicketSpec, played: Sequence[Episode]) -> tuple[BlicketSpec, Episodes]:
    """The episodes as arrays, padded with zeros."""
    require(len(played) >= 2, f"at least 2 episodes are needed to learn from, got {len(played)}")
    longest = spec_world(spec).longest
    shape = (len(played), longest)
    observation = np.zeros((len(played), longest + 1, spec.width), np.float32)
    action = np.zeros((*shape, spec.action_bits), np.float32)
    reward, live, none = (np.zeros(shape, np.float32) for _ in range(3))
    for number, one in enumerate(played):
        steps = len(one.actions)
        require(
            steps <= longest,
            f"episode {number} has {steps} steps, the environment allows {longest}",
        )
        observation[number, : steps + 1] = one.observations
        action[number, :steps] = one.actions
        reward[number, :steps] = one.rewards
        live[number, :steps] = 1.0
    return spec, Episodes(observation, action, reward, live, none, none, none)


def _read_minari(path: Path) -> tuple[BlicketSpec, list[Episode]]:
    minari = import_extra("minari", "gym")
    import_extra("trivium.benchmarks.blicket.world.env", "gym")
    try:
        dataset = minari.MinariDataset(path / "data")
    except (OSError, ValueError, KeyError) as problem:
        raise UserError(f"{path}: not a Minari dataset ({problem})") from None
    stored = dataset.env_spec
    require(
        stored is not None and stored.id == "trivium/Blicket-v0",
        f"{path}: the dataset must be of trivium/Blicket-v0, got {stored and stored.id}",
    )
    spec = spec_from_dict(BlicketSpec, dict(stored.kwargs), where=str(path))
    require(spec.interface == "sets", f"{path}: only the interface sets can be imitated")
    played = [
        Episode(one.observations, one.actions, one.rewards) for one in dataset.iterate_episodes()
    ]
    return spec, played


def _read_games(path: Path) -> tuple[BlicketSpec, list[Episode]]:
    """The answered games of a file of records, all of one spec."""
    rows = list(read_records(path))
    require(bool(rows), f"{path} holds no records")
    first = rows[0][1]["spec"]
    for number, row in rows:
        require(
            row.get("benchmark") == GAME,
            f"{path}: line {number} is not of {GAME}, the only benchmark that can be imitated",
        )
        require(row["spec"] == first, f"{path}: line {number} and line 1 have different specs")
    game = spec_from_dict(GameSpec, first, where=str(path))
    require(
        game.demonstrations == "none",
        f"{path}: games with demonstrations are imitated from a Minari dataset "
        "(trivium serve export --minari)",
    )
    names = tuple(map(str, game.space))
    tests = max(20, game.tests)
    spec = BlicketSpec("quiz-type", max_steps=tests, hypotheses=names, objects=game.objects)
    answered = (row for _, row in rows if isinstance(row.get("answer"), Mapping))
    played = (row for row in answered if isinstance(row.get("gold"), str))
    return spec, [_game_episode(game, spec, row["answer"], row["gold"]) for row in played]


def _game_episode(
    game: GameSpec, spec: BlicketSpec, answer: Mapping[str, Any], gold: str
) -> Episode:
    """The episode in which the environment gets a game's tests and answers."""
    objects, space = spec.objects, game.space
    right = read_move(gold, LETTERS[:objects], game.form_answers)
    known: list[Any] = [GameAnswer.of(one) for one in space]
    require(right in known, f"the gold answer names no machine of this game: {gold!r}")
    machine = known.index(right)
    tests = [(mask_of(placed), bool(light)) for placed, light in answer["tests"]]
    flips = [light != space.fires[machine, placed] for placed, light in tests]
    blickets = mask_of(answer["blickets"])
    form = FORMS.index(answer["form"].split("-")[0]) & (1 << spec.type_bits) - 1
    answers = [blickets & 1 << number for number in range(objects)]
    codes = [*(placed for placed, _ in tests), 1 << objects, *answers, form]
    return replay(spec, spec.hypotheses[machine], codes, flips=flips)
