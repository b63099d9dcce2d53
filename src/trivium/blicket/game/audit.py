"""Can a machine be guessed before any test? Probes on what the opening lets one know."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from trivium.blicket.game.generate import generate
from trivium.blicket.game.item import GameItem, game_space
from trivium.blicket.game.spec import GameSpec
from trivium.blicket.hypotheses import LETTERS, Hypothesis
from trivium.core.benchmark import Audit
from trivium.core.errors import require
from trivium.core.probe import Floats, cue_level, cue_of_hits, items_needed, probe_choice


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
    rows: Floats = np.array(
        [[_features(item, machine) for machine in space] for item in fresh], dtype=np.float64
    )
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


def _features(item: GameItem, machine: Hypothesis) -> list[float]:
    own = [bool(machine.blickets >> place & 1) for place in range(item.spec.objects)]
    places = [item.listing.index(LETTERS[place]) for place, held in enumerate(own) if held]
    return [
        item.space.hypotheses.index(machine),
        machine.form == "disjunctive",
        sum(own),
        0 in places,
        item.spec.objects - 1 in places,
        sum(places) / len(places),
        *own,
    ]
