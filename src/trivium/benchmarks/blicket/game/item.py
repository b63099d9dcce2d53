"""One blicket game: how the machine may work, how it does, and its row in a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

from trivium.benchmarks.blicket.game.spec import GameSpec
from trivium.benchmarks.blicket.inference.hypotheses import (
    LETTERS,
    Hypothesis,
    Space,
    letters,
    make_space,
    parse,
    space_of,
)
from trivium.core.benchmark import Origin
from trivium.core.errors import require
from trivium.core.spec import spec_from_dict


@dataclass(frozen=True, slots=True)
class GameAnswer:
    """What was said of the machine, and the tests that were made before."""

    blickets: str  # letters, AC
    form: str  # conjunctive, threshold-2, ...
    inhibitors: str = ""
    tests: tuple[tuple[str, bool], ...] = ()  # what was placed, and whether it lit


class GameItem(NamedTuple):
    """A game before it is played."""

    id: str
    spec: GameSpec
    truth: str  # the machine, as conjunctive:AB
    flips: tuple[bool, ...]  # for each test, whether noise turns the light over
    listing: str  # the objects in the order of telling
    origin: Origin | None

    @property
    def machine(self) -> Hypothesis:
        """How the machine works, noise left out."""
        return _machine(self.truth)

    @property
    def space(self) -> Space:
        """How it may work, noise included."""
        return game_space(self.spec)

    @property
    def objects(self) -> str:
        """The names of the objects."""
        return LETTERS[: self.spec.objects]


_machine = lru_cache(maxsize=4096)(parse)  # asked for at every test of every game


@lru_cache(maxsize=64)
def game_space(spec: GameSpec) -> Space:
    """The machines of a spec, all equally likely."""
    if not spec.hypotheses:
        return make_space(spec.objects, spec.rules, spec.noise)
    listed = [replace(parse(text), noise=spec.noise) for text in spec.hypotheses]
    return space_of(listed, spec.objects)


def rules_of(spec: GameSpec) -> list[str]:
    """The rules that the machine may follow, each once."""
    return list(dict.fromkeys(each.rule for each in game_space(spec)))


def gold(item: GameItem) -> GameAnswer:
    """The right answer, given at once."""
    machine = item.machine
    return GameAnswer(letters(machine.blickets), machine.rule, letters(machine.inhibitors))


def to_row(item: GameItem) -> dict[str, Any]:
    """The item as it stands in a file."""
    spec = item.spec
    row: dict[str, Any] = {
        "id": item.id,
        "objects": spec.objects,
        "rules": spec.rules,
        "hypotheses": spec.hypotheses,
        "tests": spec.tests,
        "noise": spec.noise,
        "machine": item.truth,
        "flips": item.flips,
        "listing": item.listing,
        "answer": str(item.machine),
    }
    if item.origin is not None:
        row |= {"spec": item.origin.spec, "seed": item.origin.seed, "index": item.origin.index}
    return row


def from_row(row: Mapping[str, Any]) -> GameItem:
    """The item in a row, made here or elsewhere."""
    name = row.get("id")
    require(isinstance(name, str) and bool(name), "id must be text")
    fields = ("objects", "rules", "hypotheses", "tests", "noise")
    spec = spec_from_dict(GameSpec, {key: row[key] for key in fields if key in row})
    truth = row.get("machine")
    require(isinstance(truth, str), f"machine must be text such as conjunctive:AB, got {truth!r}")
    machine = replace(parse(str(truth)), noise=spec.noise)
    require(machine in game_space(spec).hypotheses, f"machine {truth!r} is none of those allowed")
    answer = row.get("answer", truth)
    require(answer == truth, f"answer is {answer!r}, but the machine is {truth!r}")
    flips = row.get("flips", [False] * spec.tests)
    known = isinstance(flips, list) and all(isinstance(flip, bool) for flip in flips)
    require(known and len(flips) == spec.tests, f"flips must be a list of {spec.tests} booleans")
    require(spec.noise > 0 or not any(flips), "flips must all be false without noise")
    objects = LETTERS[: spec.objects]
    listing = row.get("listing", objects)
    require(
        isinstance(listing, str) and sorted(listing) == sorted(objects),
        f"listing must hold each of {objects} once, got {listing!r}",
    )
    return GameItem(str(name), spec, str(truth), tuple(flips), listing, _origin(row))


def _origin(row: Mapping[str, Any]) -> Origin | None:
    spec, seed, index = row.get("spec"), row.get("seed"), row.get("index")
    if isinstance(spec, dict) and isinstance(seed, int) and isinstance(index, int):
        return Origin(spec, seed, index)
    return None
