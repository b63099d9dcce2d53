"""The parameters of a blicket game, the spaces of the mixed game, the view and the presets."""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from importlib import resources
from typing import Literal

from trivium.benchmarks.blicket.inference import hypotheses as inference
from trivium.benchmarks.blicket.inference.hypotheses import (
    DEFAULT_SIX,
    MAX_OBJECTS,
    Space,
    mask_of,
    parse,
)
from trivium.core.benchmark import CONTROL, Diagnostic
from trivium.core.errors import require, require_range
from trivium.core.spec import changed_fields

MAX_TESTS = 100
EXAMPLES = ("striped", "dotted")  # the machines that demonstrations show, in this order
UNSURE = "unsure"
PAPER_RULES = ("conjunctive", "disjunctive")


@dataclass(frozen=True)
class GameSpec:
    """A machine that works in one of several ways, and a limited number of tests."""

    objects: int = 3  # named A, B, C, ...
    # how the machine may work: conjunctive, disjunctive, threshold-2, parity, inhibitor; numbers of
    # blickets and inhibitors may follow, as in disjunctive:1,3 or inhibitor:2-1
    rules: tuple[str, ...] = PAPER_RULES
    # possible machines such as conjunctive:AB, instead of all machines of the rules
    hypotheses: tuple[str, ...] = ()
    tests: int = 4  # the maximum number of tests
    noise: float = 0.0  # the probability that the light is wrong
    # two example machines come first: their tests reveal how they work ("given") or not
    demonstrations: Literal["none", "given", "not_given"] = "none"
    mixed: bool = False  # every game has its own objects, rules and tests, drawn from many

    def __post_init__(self) -> None:
        if self.mixed:
            given = ", ".join(name for name in changed_fields(self) if name != "mixed")
            require(
                not given,
                f"a mixed game draws its own machines, so {given} cannot be set: choose another "
                "preset, such as three-objects, or set mixed to false (--no_mixed)",
            )
            return
        require_range(self, 2, MAX_OBJECTS, "objects")
        require_range(self, 0, MAX_TESTS, "tests")
        require(0 <= self.noise < 0.5, f"noise must be at least 0 and below 0.5, got {self.noise}")
        require(len(set(self.rules)) == len(self.rules), f"rules must differ, got {self.rules}")
        require(
            not self.hypotheses or self.rules == PAPER_RULES,
            f"give rules or hypotheses, not both; with hypotheses, rules must stay "
            f"{', '.join(PAPER_RULES)}, got {', '.join(self.rules)}",
        )
        for text in self.hypotheses:
            require(parse(text).noise == 0, f"noise is not part of hypotheses here, got {text!r}")
        require(
            self.demonstrations == "none" or sorted(self.hypotheses) == sorted(DEFAULT_SIX),
            f"demonstrations need the hypotheses {', '.join(DEFAULT_SIX)}, "
            f"got {', '.join(self.hypotheses) or 'none'}",
        )
        count = len(self.space)
        require(count >= 2, f"there must be at least two possible machines, got {count}")

    @property
    def space(self) -> Space:
        """The possible machines, all equally likely."""
        require(not self.mixed, "the machines of a mixed game are those of each item")
        return _space(self)

    @cached_property
    def possible_rules(self) -> tuple[str, ...]:
        """The distinct rules of the possible machines."""
        return tuple(dict.fromkeys(machine.rule for machine in self.space))

    @property
    def form_answers(self) -> tuple[str, ...]:
        """The possible forms of an answer: rules, or after demonstrations example machines."""
        return self.possible_rules if self.demonstrations == "none" else (*EXAMPLES, UNSURE)


@lru_cache(maxsize=1024)
def _space(spec: GameSpec) -> Space:
    if not spec.hypotheses:
        return inference.make_space(spec.objects, spec.rules, spec.noise)
    listed = [replace(parse(text), noise=spec.noise) for text in spec.hypotheses]
    return inference.space_of(listed, spec.objects)


class MixedGame:
    """A space and a number of tests, with the shares of games that can be won.

    Read from spaces.txt, which perf/game_spaces.py writes, since computing them takes seconds.
    """

    def __init__(self, row: dict[str, str]) -> None:
        self.objects, self.tests = int(row["objects"]), int(row["tests"])
        self.rules = tuple(row["rules"].split())
        self.script = tuple(map(mask_of, row["script"].split()))
        machines = int(row["machines"])
        self.blind = 1 / machines  # tests can distinguish all of them
        self.best_fixed_script = int(row["best_fixed_script"]) / machines
        self.optimal = int(row["optimal"]) / machines

    @cached_property
    def spec(self) -> GameSpec:
        """The spec of its items."""
        return GameSpec(self.objects, self.rules, tests=self.tests)


@cache
def mixed_games() -> tuple[MixedGame, ...]:
    """All spaces of the mixed game."""
    text = resources.files(__package__).joinpath("spaces.txt").read_text(encoding="utf-8")
    return tuple(map(MixedGame, csv.DictReader(text.splitlines(), delimiter=";")))


@cache
def _by_key() -> dict[tuple[int, tuple[str, ...], int], MixedGame]:
    return {(game.objects, game.rules, game.tests): game for game in mixed_games()}


def mixed_game(spec: GameSpec) -> MixedGame | None:
    """The game of this spec, if it is one of the mixed game's."""
    plain = not (spec.noise or spec.hypotheses or spec.mixed)
    return _by_key().get((spec.objects, spec.rules, spec.tests)) if plain else None


@dataclass(frozen=True)
class GameView:
    """How a blicket game is presented."""

    story: bool = True  # begin with what blickets are, or give only the rules
    # active: the player tests; passive: the optimal player's tests are shown, and only an answer is
    # asked for; yoked: so are the tests of another run
    arm: Literal["active", "passive", "yoked"] = "active"
    yoked_to: str = ""  # yoked: the run, with one solver's games on the same items

    def __post_init__(self) -> None:
        require(
            (self.arm == "yoked") == bool(self.yoked_to),
            f"yoked_to goes with arm yoked and is needed there, got {self.yoked_to!r}",
        )


PRESETS = {
    "mixed": GameSpec(mixed=True),
    # A script of tests that is written in advance is enough for `paper`, and a table of recorded
    # games for all of the following; docs/benchmarks/blicket_game.md has the figures.
    "paper": GameSpec(hypotheses=DEFAULT_SIX, tests=3),
    "three-objects": GameSpec(tests=4),
    # The experiment with children: examples, free exploration (20 tests are more than enough), then
    # questions.
    "demonstrations-given": GameSpec(hypotheses=DEFAULT_SIX, tests=20, demonstrations="given"),
    "demonstrations-not-given": GameSpec(
        hypotheses=DEFAULT_SIX, tests=20, demonstrations="not_given"
    ),
}
DIAGNOSTICS = {
    "control": CONTROL,
    "no_story": Diagnostic("only the rules, without what blickets are", view={"story": False}),
    "passive": Diagnostic("the optimal player's tests are shown", view={"arm": "passive"}),
    "six": Diagnostic(
        "only the paper's six machines",
        spec={"mixed": False, "hypotheses": DEFAULT_SIX, "tests": 3},
    ),
}
