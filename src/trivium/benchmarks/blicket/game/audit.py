"""Can a machine be guessed before any test? Probes on what the opening lets one know."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from trivium.benchmarks.blicket.game.generate import generate
from trivium.benchmarks.blicket.game.item import GameItem, game_space
from trivium.benchmarks.blicket.game.spec import GameSpec
from trivium.benchmarks.blicket.inference.hypotheses import DISJUNCTIVE, LETTERS
from trivium.core.errors import require
from trivium.core.probes import Audit, Floats, cue_level, cue_of_hits, items_needed, probe_choice


def audit(spec: GameSpec, seed: int, items: int | None) -> Audit:
    """Every cue with its interval, on fresh items: the candidates are all possible machines."""
    space = game_space(spec)
    require(
        len(set(space.extensions.tolist())) == len(space),
        "the audit needs machines that tests can tell apart",
    )
    about = features_of(spec)
    tried = len(about) + 1
    level, floor = cue_level(tried), 1 / len(space)
    count = items_needed(floor, tried) if items is None else items
    fresh = list(generate(spec, seed, 0, count))
    rows = np.array([_features(item) for item in fresh])
    names = [str(replace(machine, noise=0.0)) for machine in space]
    gold = np.array([names.index(item.truth) for item in fresh])
    cues = [
        cue_of_hits(
            name, text, list(probe_choice(rows[:, :, place : place + 1], gold)), floor, level
        )
        for place, (name, text) in enumerate(about.items())
        if np.ptp(rows[:, :, place]) > 0
    ]
    hits = probe_choice(rows, gold)
    cues.append(cue_of_hits("all", "all of these together", list(hits), floor, level))
    return Audit(tuple(cues), count, level)


def features_of(spec: GameSpec) -> dict[str, str]:
    """What is probed, with a word on each."""
    about = {
        "hypothesis": "place among the possible machines",
        "form": "whether it is disjunctive",
        "size": "how many blickets it has",
        "first_listed": "whether the object told first is a blicket",
        "last_listed": "whether the object told last is a blicket",
        "listing": "mean place of its blickets in the order of telling",
    }
    letters = LETTERS[: spec.objects]
    return about | {f"object_{each}": f"whether {each} is a blicket" for each in letters}


def _features(item: GameItem) -> Floats:
    """What can be known of each machine before any test, one row each."""
    own = item.space.blickets.astype(np.float64)
    sizes = own.sum(axis=1)
    place = np.array([item.listing.index(letter) for letter in item.objects])
    columns = [
        np.arange(len(own)),
        [machine.form == DISJUNCTIVE for machine in item.space],
        sizes,
        own[:, place == 0].sum(axis=1),
        own[:, place == place.max()].sum(axis=1),
        own @ place / sizes,
        *own.T,
    ]
    return np.stack([np.asarray(column, dtype=np.float64) for column in columns], axis=1)
