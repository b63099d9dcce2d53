"""Recorded episodes to imitate: a Minari dataset, or games that people, models or programs played.

A game has no steps of its own; it is written as an episode of the quiz: its tests, the step that
asks for the quiz, and an answer about every object and about the form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trivium.agents.episodes import Episodes
from trivium.benchmarks.blicket.game.spec import GameSpec
from trivium.benchmarks.blicket.inference.hypotheses import FORMS, mask_of
from trivium.benchmarks.blicket.world.dynamics import TYPE_REWARD, BlicketSpec
from trivium.core.errors import UserError, import_extra, require
from trivium.core.records import read_records
from trivium.core.spec import spec_from_dict

RECORDS = "records.jsonl"
GAME = "blicket_game"


class Played(NamedTuple):
    """One episode without its last observation."""

    observations: NDArray[np.float32]
    actions: NDArray[np.int64]
    rewards: NDArray[np.float64]


class Dataset(NamedTuple):
    """Episodes and the environment that they were played in."""

    spec: BlicketSpec
    episodes: Episodes


def read_dataset(path: Path) -> Dataset:
    """The episodes of a Minari dataset's folder, or of the records of blicket_game."""
    require(path.exists(), f"{path} does not exist")
    if (path / "data").is_dir():
        return _collect(*_read_minari(path))
    records = path / RECORDS if path.is_dir() else path
    require(
        records.exists(),
        f"{path} is neither a Minari dataset (it has no folder data) nor a run (no {RECORDS})",
    )
    return _collect(*_read_games(records))


def _collect(spec: BlicketSpec, played: Sequence[Played]) -> Dataset:
    """Episodes side by side; what follows an episode's end is zero."""
    require(len(played) >= 2, f"at least 2 episodes are needed to learn from, got {len(played)}")
    longest = spec.counts + spec.questions

    def stacked(name: str, *shape: int) -> NDArray[np.float32]:
        values = np.zeros((len(played), longest, *shape), np.float32)
        for number, one in enumerate(played):
            own = getattr(one, name)
            values[number, : len(own)] = own
        return values

    live = np.zeros((len(played), longest), np.float32)
    for number, one in enumerate(played):
        require(
            len(one.actions) <= longest,
            f"episode {number} has {len(one.actions)} steps, the environment allows {longest}",
        )
        live[number, : len(one.actions)] = 1.0
    none = np.zeros_like(live)
    observation = stacked("observations", spec.width)
    action, reward = stacked("actions", spec.action_bits), stacked("rewards")
    return Dataset(spec, Episodes(observation, action, reward, live, none, none, none))


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
    spec: BlicketSpec | None = None
    first: Any = None
    played = []
    for number, row in read_records(path):
        require(
            row.get("benchmark") == GAME,
            f"{path}: line {number} is not of {GAME}, the only benchmark that can be imitated",
        )
        if first is None:
            first, spec = row["spec"], _game_spec(row["spec"], str(path))
        require(row["spec"] == first, f"{path}: line {number} is of another spec than line 1")
        assert spec is not None
        if isinstance(row.get("answer"), Mapping) and isinstance(row.get("gold"), str):
            played.append(_game_episode(spec, row))
    require(spec is not None, f"{path} holds no records")
    assert spec is not None
    return spec, played


def _game_spec(values: Mapping[str, Any], where: str) -> BlicketSpec:
    game = spec_from_dict(GameSpec, dict(values), where=where)
    require(
        game.demonstrations == "none",
        f"{where}: games with demonstrations are imitated from a Minari dataset "
        "(trivium serve export --minari)",
    )
    names = tuple(map(str, game.space))
    tests = max(20, game.tests)
    return BlicketSpec("quiz-type", max_steps=tests, hypotheses=names, objects=game.objects)


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
    """Actions, what they show, and what they earn."""
    objects = spec.objects
    truth = dict(part.split(maxsplit=1) for part in gold.removeprefix("ANSWER:").split(";"))
    true = mask_of(truth["blickets"].replace(",", "").replace(" ", ""))
    said = mask_of(answer["blickets"])
    questions = np.eye(spec.width)
    asked = [questions[number] + questions[-1] for number in range(objects)]
    asked += [questions[-1], questions[-1]]  # the form, and what is seen at the end
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
