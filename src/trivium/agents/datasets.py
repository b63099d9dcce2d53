"""Recorded episodes to imitate: a Minari dataset, or games that people, models or programs played.

A game is converted to an episode of the quiz: its tests, the step that enters the quiz, and an
answer about every object and about the form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trivium.agents import GAME
from trivium.agents.episodes import Episodes
from trivium.agents.worlds import spec_world
from trivium.benchmarks.blicket.game.spec import GameSpec
from trivium.benchmarks.blicket.inference.hypotheses import FORMS, mask_of
from trivium.benchmarks.blicket.world.spec import TYPE_REWARD, BlicketSpec
from trivium.core.errors import UserError, import_extra, require
from trivium.core.records import RECORDS, read_records
from trivium.core.spec import spec_from_dict


class Played(NamedTuple):
    """One episode without its last observation."""

    observations: NDArray[np.float32]
    actions: NDArray[np.int64]
    rewards: NDArray[np.float64]


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


def _collect(spec: BlicketSpec, played: Sequence[Played]) -> tuple[BlicketSpec, Episodes]:
    """The episodes as arrays, padded with zeros."""
    require(len(played) >= 2, f"at least 2 episodes are needed to learn from, got {len(played)}")
    longest = spec_world(spec).longest
    shape = (len(played), longest)
    observation = np.zeros((*shape, spec.width), np.float32)
    action = np.zeros((*shape, spec.action_bits), np.float32)
    reward, live, none = (np.zeros(shape, np.float32) for _ in range(3))
    for number, one in enumerate(played):
        steps = len(one.actions)
        require(
            steps <= longest,
            f"episode {number} has {steps} steps, the environment allows {longest}",
        )
        observation[number, :steps] = one.observations
        action[number, :steps] = one.actions
        reward[number, :steps] = one.rewards
        live[number, :steps] = 1.0
    return spec, Episodes(observation, action, reward, live, none, none, none)


def _read_minari(path: Path) -> tuple[BlicketSpec, list[Played]]:
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
        Played(one.observations[:-1], one.actions, one.rewards)
        for one in dataset.iterate_episodes()
    ]
    return spec, played


def _read_games(path: Path) -> tuple[BlicketSpec, list[Played]]:
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
    return spec, [_game_episode(spec, row) for row in answered if isinstance(row.get("gold"), str)]


def _game_episode(spec: BlicketSpec, row: Mapping[str, Any]) -> Played:
    """The game as the steps of an episode."""
    steps = list(_steps(spec, row["answer"], row["gold"]))
    observations = [np.zeros(spec.width), *(seen for _, seen, _ in steps)]
    return Played(
        np.array(observations[:-1], np.float32),
        np.array([action for action, _, _ in steps], np.int64),
        np.array([reward for _, _, reward in steps]),
    )


def _steps(
    spec: BlicketSpec, answer: Mapping[str, Any], gold: str
) -> Iterator[tuple[NDArray[Any], NDArray[Any], float]]:
    """The actions of a game, each with the observation after it and its reward."""
    objects = spec.objects
    truth = dict(part.split(maxsplit=1) for part in gold.removeprefix("ANSWER:").split(";"))
    true = mask_of(truth["blickets"].replace(",", "").replace(" ", ""))
    said = mask_of(answer["blickets"])
    questions = np.eye(spec.width)
    asked = [questions[number] + questions[-1] for number in range(objects)]
    asked += [questions[-1], questions[-1]]  # the form, and the last observation
    for placed, light in answer["tests"]:
        bits = mask_of(placed) >> np.arange(objects) & 1
        yield np.append(bits, 0), np.append(bits, [float(light), 0.0]), 0.0
    yield np.eye(objects + 1)[objects], asked[0], 0.0
    for number in range(objects):
        yes = said >> number & 1
        right = yes == true >> number & 1
        yield yes * np.eye(objects + 1)[number], asked[number + 1], 1.0 if right else -1.0
    form, real = (FORMS.index(each.split("-")[0]) for each in (answer["form"], truth["form"]))
    code = form & (1 << spec.type_bits) - 1
    reward = TYPE_REWARD if form == real else -TYPE_REWARD
    yield code >> np.arange(objects + 1) & 1, asked[objects + 1], reward
