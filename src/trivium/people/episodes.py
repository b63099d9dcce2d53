"""Games that people played as episodes of Blicket-v0, for offline learning."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from trivium.benchmarks.blicket.game.generate import GameAnswer, GameItem
from trivium.benchmarks.blicket.world.dynamics import BlicketSpec
from trivium.benchmarks.blicket.world.recording import Episode, write_dataset
from trivium.core.errors import import_extra, require
from trivium.people.experiment import GAME
from trivium.people.study import Study


def write_episodes(study: Study, name: str, folder: Path) -> int:
    """Write every finished game as an episode of a Minari dataset; returns how many.

    After the tests the quiz asks about every object; "not sure" is answered like "no".
    """
    games = [
        (one.item.content, answer)
        for person in study.store.participants()
        for one in study.session(person).finished
        if one.item.task.benchmark.name == GAME and (answer := one.game.given) is not None
    ]
    require(bool(games), "there are no finished games to write")
    spaces = {(item.spec.objects, tuple(map(str, item.space))) for item, _ in games}
    require(len(spaces) == 1, "games with different possible machines make different datasets")
    objects, machines = spaces.pop()
    require(not games[0][0].spec.noise, "games with noise cannot be replayed")
    most = max(len(answer.tests) for _, answer in games)
    spec = BlicketSpec(
        reward_structure="quiz", hypotheses=machines, objects=objects, max_steps=max(20, most)
    )
    episodes = [episode_of(spec, item, answer) for item, answer in games]
    write_dataset(name, spec, episodes, "people", folder)
    return len(episodes)


def episode_of(spec: BlicketSpec, item: GameItem, answer: GameAnswer) -> Episode:
    """The episode of these tests and answers, played in the environment itself."""
    env = import_extra("trivium.benchmarks.blicket.world.env", "gym").BlicketEnv(
        reward_structure=spec.reward_structure,
        hypotheses=spec.hypotheses,
        objects=spec.objects,
        max_steps=spec.max_steps,
    )
    seen, _ = env.reset(seed=0, options={"hypothesis": item.truth})
    moves = [_bits(placed, spec.objects, quiz=0) for placed, _ in answer.tests]
    moves.append(_bits("", spec.objects, quiz=1))
    moves += [_bits(answer.blickets, spec.objects, quiz=0)] * spec.objects
    observations, rewards = [seen], []
    for move in moves:
        seen, reward, _, _, _ = env.step(move)
        observations.append(seen)
        rewards.append(reward)
    actions = np.array(moves, dtype=np.int64)
    return Episode(np.array(observations), actions, np.array(rewards), item.truth, 0)


def _bits(letters: str, objects: int, quiz: int) -> list[int]:
    return [int(letter in letters) for letter in "ABCDEFGH"[:objects]] + [quiz]
