"""Games that people played as episodes of the environment, for offline learning."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from trivium.benchmarks.blicket.game.generate import GameAnswer, GameItem
from trivium.benchmarks.blicket.game.spec import EXAMPLES, UNSURE
from trivium.benchmarks.blicket.inference.hypotheses import mask_of
from trivium.benchmarks.blicket.world.dynamics import BlicketSpec, make_tables, transition
from trivium.benchmarks.blicket.world.recording import Episode, write_dataset
from trivium.core.errors import require
from trivium.people.experiment import GAME
from trivium.people.study import Study


def write_episodes(study: Study, name: str, folder: Path) -> dict[str, int]:
    """Write every finished game as an episode of a Minari dataset; how many there are in each.

    Where there were demonstrations the episode begins with them, and ends with the question about
    the form; games that were given and not given how the examples work are two datasets. Of an
    object, "not sure" is answered like "no".
    """
    games = [
        (one.item.content, answer)
        for person in study.store.participants()
        for one in study.session(person).finished
        if one.item.task.benchmark.name == GAME and (answer := one.game.given) is not None
    ]
    require(
        re.fullmatch(r"(?:[\w-]{1,60}/){0,3}[\w-]{1,60}-v\d{1,3}", name) is not None,
        f"the name of a dataset must be like people/mine-v0, got {name!r}",
    )
    require(bool(games), "there are no finished games to write")
    require(not any(item.spec.noise for item, _ in games), "games with noise cannot be replayed")
    kinds = list(dict.fromkeys(_environment(item) for item, _ in games))
    base, _, version = name.rpartition("-v")
    names = [f"{base}-{one.demonstrations.replace('_', '-')}-v{version}" for one in kinds]
    if len(kinds) == 1:
        names = [name]
    require(len(set(names)) == len(kinds), "games of different machines make different datasets")
    written = {}
    for own, spec in zip(names, kinds, strict=True):
        played = [game for game in games if _environment(game[0]) == spec]
        write_dataset(own, spec, [episode_of(spec, *game) for game in played], "people", folder)
        written[own] = len(played)
    return written


def _environment(item: GameItem) -> BlicketSpec:
    """The environment of the same machines and demonstrations as a game."""
    return BlicketSpec(
        reward_structure="quiz" if item.spec.demonstrations == "none" else "quiz-type",
        hypotheses=tuple(map(str, item.space)),
        objects=item.spec.objects,
        max_steps=max(20, item.spec.tests),
        demonstrations=item.spec.demonstrations,
    )


def episode_of(spec: BlicketSpec, item: GameItem, answer: GameAnswer) -> Episode:
    """The episode of these tests and answers, as the environment's table gives it."""
    tables = make_tables(spec)
    machine = spec.hypotheses.index(item.truth)
    state = tables.starts[machine * spec.orders + (spec.orders > 1 and item.swapped)]
    codes = [0] * spec.shown + [mask_of(placed) for placed, _ in answer.tests]
    codes += [1 << spec.objects] + [mask_of(answer.blickets)] * spec.objects
    if spec.asks_type:
        codes.append((*EXAMPLES, UNSURE).index(answer.form))
    seen, rewards = [0], []
    for code in codes:
        state, after, reward, _ = transition(tables, state, code)
        seen.append(int(after))
        rewards.append(float(reward))
    actions = np.array(codes)[:, None] >> np.arange(spec.action_bits) & 1
    return Episode(tables.observations[seen], actions, np.array(rewards), item.truth, 0)
