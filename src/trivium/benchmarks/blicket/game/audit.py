"""Can a machine be guessed before any test? Probes on what the opening shows."""

from __future__ import annotations

import numpy as np

from trivium.benchmarks.blicket.game.generate import GameItem, generate
from trivium.benchmarks.blicket.game.spec import GameSpec
from trivium.benchmarks.blicket.inference.hypotheses import DISJUNCTIVE, LETTERS
from trivium.core.errors import require
from trivium.core.probes import Audit, Floats, cue_level, cue_of_hits, items_needed, probe_choice

FEATURES = {
    "hypothesis": "position among the possible machines",
    "form": "whether it is disjunctive",
    "size": "how many blickets it has",
    "first_listed": "whether the object listed first is a blicket",
    "last_listed": "whether the object listed last is a blicket",
    "listing": "mean position of its blickets in the list of objects",
}


def audit(spec: GameSpec, seed: int, items: int | None = None) -> Audit:
    """Every cue with its interval, on fresh items; the candidates are all possible machines."""
    space = spec.space
    distinct = len(set(space.equivalence.tolist())) == len(space)
    require(distinct, "the audit needs machines that tests can tell apart")
    letters = LETTERS[: spec.objects]
    about = FEATURES | {f"object_{each}": f"whether {each} is a blicket" for each in letters}
    tried = len(about) + 1
    level, floor = cue_level(tried), 1 / len(space)
    count = items_needed(floor, tried) if items is None else items
    fresh = list(generate(spec, seed, 0, count))
    rows = np.array([_features(item) for item in fresh])
    gold = np.array([space.hypotheses.index(item.machine) for item in fresh])
    columns = {
        (name, text): rows[:, :, number : number + 1]
        for number, (name, text) in enumerate(about.items())
        if np.ptp(rows[:, :, number]) > 0
    }
    columns["all", "all of these together"] = rows
    cues = [
        cue_of_hits(name, text, list(probe_choice(values, gold)), floor, level)
        for (name, text), values in columns.items()
    ]
    return Audit(tuple(cues), count, level)


def _features(item: GameItem) -> Floats:
    """What can be known about each machine before any test: [machine, feature]."""
    own = item.space.blickets.astype(np.float64)
    sizes = own.sum(axis=1)
    position = np.array([item.listing.index(letter) for letter in item.objects])
    columns = [
        np.arange(len(own)),
        [machine.form == DISJUNCTIVE for machine in item.space],
        sizes,
        own[:, position == 0].sum(axis=1),
        own[:, position == position.max()].sum(axis=1),
        own @ position / sizes,
        *own.T,
    ]
    return np.stack([np.asarray(column, dtype=np.float64) for column in columns], axis=1)
