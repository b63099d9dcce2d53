"""The audit's probes of an opening, and the canonical form of a game."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache

from trivium.benchmarks.blicket.game.generate import GameItem, rename_machine
from trivium.benchmarks.blicket.game.spec import GameSpec, GameView, mixed_games
from trivium.benchmarks.blicket.inference.hypotheses import Hypothesis, letters, parse
from trivium.core.probes import Probe
from trivium.core.streams import Stream, stream_key


def probes(item: GameItem, view: GameView) -> Sequence[Probe]:
    """Probes for the objects that matter and for the form of the machine."""
    machine, listing = item.machine, item.listing
    places = {
        "place in the list": [float(place) for place in range(len(listing))],
        "place in the alphabet": [float(item.objects.index(letter)) for letter in listing],
    }
    matter = letters(machine.blickets | machine.inhibitors)
    right = [letter in matter for letter in listing]
    found = [Probe("objects", tuple(listing), right, candidate_features=places)]
    if item.spec.demonstrations == "not_given":  # the right form is always unsure
        return found
    # The opening states how many machines each form has, so the question is which of two machines
    # it is that were drawn alike.
    stream = Stream(stream_key("another machine", item.truth, listing, item.id))
    forms = {machine.rule, stream.choice(item.space.hypotheses).rule}
    if len(forms) > 1:
        words = {rule: word for word, rule in item.examples.items()}
        first, last = item.objects.index(listing[0]), item.objects.index(listing[-1])
        features = {"first listed": float(first), "last listed": float(last)}
        asked = [rule for rule in item.spec.possible_rules if rule in forms]
        candidates = [words.get(rule, rule) for rule in asked]
        right = [rule == machine.rule for rule in asked]
        found.append(Probe("form", candidates, right, item_features=features))
    return found


def canonical(item: GameItem) -> Hashable:
    """The game up to the names and the order of its objects."""
    spec, machine = item.spec, item.machine
    listed: Hashable = spec.rules
    if spec.hypotheses:
        listed = _listed_form(spec.objects, spec.hypotheses, machine)
    sizes = (machine.blickets.bit_count(), machine.inhibitors.bit_count())
    shown = (spec.demonstrations, item.swapped)
    return (spec.objects, listed, spec.tests, spec.noise, machine.rule, sizes, item.flips, shown)


@lru_cache(maxsize=4096)
def _listed_form(objects: int, hypotheses: tuple[str, ...], machine: Hypothesis) -> Hashable:
    """The smallest list of hypotheses that renaming the objects can produce.

    The blickets of the machine always get the first letters and its inhibitors the next.
    """
    every = letters((1 << objects) - 1)
    parts = [letters(machine.blickets), letters(machine.inhibitors)]
    parts.append("".join(letter for letter in every if letter not in "".join(parts)))
    listed = [parse(text) for text in hypotheses]

    def renamed(orders: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
        mapping: Mapping[str, str] = dict(zip(itertools.chain(*orders), every, strict=True))
        return tuple(sorted(str(rename_machine(each, mapping)) for each in listed))

    return min(map(renamed, itertools.product(*map(itertools.permutations, parts))))


def item_space(spec: GameSpec) -> int:
    """The number of games: machines, orders of the objects, and lights that noise inverts."""
    if spec.mixed:
        return sum(item_space(game.spec) for game in mixed_games())
    flips = 2**spec.tests if spec.noise else 1
    orders = 2 if spec.demonstrations == "given" else 1  # which example machine is which
    return len(spec.space) * math.factorial(spec.objects) * flips * orders
