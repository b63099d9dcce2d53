"""The state of a game, changed by method calls or by replies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from trivium.benchmarks.blicket.game.answer import read_move, write_test
from trivium.benchmarks.blicket.game.generate import GameAnswer, GameItem, Tests
from trivium.benchmarks.blicket.game.render import seen_text
from trivium.benchmarks.blicket.game.score import score, trajectory
from trivium.benchmarks.blicket.inference.distinct import DistinctMachines
from trivium.benchmarks.blicket.inference.hypotheses import FORMS, lights, mask_of
from trivium.benchmarks.blicket.inference.observer import entropy
from trivium.core.errors import require
from trivium.core.records import Scores

MAX_MISTAKES = 3  # unreadable replies; the last of them ends the game


@dataclass
class Game:
    """One game in progress."""

    item: GameItem
    tests: list[tuple[str, bool]] = field(default_factory=list)
    given: GameAnswer | None = None
    mistakes: int = 0
    shown: Tests | None = None  # tests of another player, in place of one's own

    def __post_init__(self) -> None:
        self.tests += self.shown or ()

    @property
    def left(self) -> int:
        """The number of tests left."""
        return self.item.spec.tests - len(self.tests) if self.shown is None else 0

    @property
    def over(self) -> bool:
        """Whether an answer was given, or too many replies were unreadable."""
        return self.given is not None or self.mistakes >= MAX_MISTAKES

    def place(self, objects: str) -> bool:
        """Put these objects on the machine, by their letters; returns whether it lights up."""
        require(not self.over, "the game is over")
        require(self.left > 0, "there are no tests left")
        placed = self._checked(objects)
        light = lights(self.item.machine, mask_of(placed)) > 0.5
        light ^= self.item.flips[len(self.tests)]
        self.tests.append((placed, light))
        return light

    def answer(self, blickets: str, form: str, inhibitors: str = "", unsure: str = "") -> Scores:
        """End the game with an answer; returns its scores."""
        require(not self.over, "the game is over")
        allowed = self.item.spec.form_answers
        rule = re.fullmatch(rf"(?:{'|'.join(FORMS)})(?:-[1-9])?", form) is not None
        shown = self.item.spec.demonstrations != "none"
        require(
            form in allowed if shown else rule,
            f"form must be one of {', '.join(allowed)}, got {form!r}",
        )
        require(shown or not unsure, f"unsure objects go with demonstrations, got {unsure!r}")
        blickets, inhibitors = self._checked(blickets), self._checked(inhibitors)
        self.given = GameAnswer(
            blickets, form, inhibitors, tuple(self.tests), self._checked(unsure)
        )
        return score(self.item, self.given)

    def _checked(self, objects: str) -> str:
        """The distinct objects, sorted; raises an error for an unknown one."""
        named = "".join(sorted(set(objects.upper())))
        unknown = sorted(set(named) - set(self.item.objects))
        require(not unknown, f"there is no object {', '.join(unknown)}")
        return named


def replay(item: GameItem, replies: Sequence[str], shown: Tests | None = None) -> tuple[Game, str]:
    """The game after these replies, and the response to the last of them."""
    game, message = Game(item, shown=shown), ""
    for reply in replies:
        if game.over:
            break
        message = take_turn(game, reply)
    return game, message


def information(item: GameItem, replies: Sequence[str]) -> list[float]:
    """The bits that each test revealed, as a share of what any player can expect of all tests.

    A test reveals one bit at most, and all tests together no more than what is unknown at first.
    """
    tests = tuple(replay(item, replies)[0].tests)
    most = min(entropy(DistinctMachines(item.space).weights), float(item.spec.tests))
    return [step.bits / most if most else 0.0 for step in trajectory(item.spec, tests).steps]


def take_turn(game: Game, reply: str) -> str:
    """Make the move of a reply; returns the response."""
    move = read_move(reply, game.item.objects, game.item.spec.form_answers)
    if move is None:
        return _mistake(game, "That could not be read.")
    if isinstance(move, GameAnswer):
        game.answer(move.blickets, move.form, move.inhibitors, move.unsure)
        return ""
    if game.left == 0:
        return _mistake(game, "There are no tests left.")
    light = game.place(move)
    return f"{seen_text(len(game.tests), move, light)} {_tests_left(game)}"


def _mistake(game: Game, problem: str) -> str:
    game.mistakes += 1
    example = "" if game.left == 0 else f"{write_test(game.item.objects[:2])} or "
    return (
        f"{problem} End with {example}ANSWER: ... on a line of its own, as asked at the start. "
        f"{_tests_left(game)}"
    )


def _tests_left(game: Game) -> str:
    if game.left == 0:
        return "No tests are left: give your ANSWER."
    return f"{game.left} {'test is' if game.left == 1 else 'tests are'} left."
