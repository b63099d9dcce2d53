"""The game as a plain object: place a set, see the light, answer.

A tool, a terminal or a trained agent can stand in front of it; the text protocol is one
such front, and its state follows from the replies alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from trivium.benchmarks.blicket.game.answer import Command, read_command
from trivium.benchmarks.blicket.game.item import GameAnswer, GameItem, rules_of
from trivium.benchmarks.blicket.game.score import score
from trivium.benchmarks.blicket.inference.hypotheses import FORMS, lights, mask_of
from trivium.core.errors import require
from trivium.core.records import Scores

MAX_MISTAKES = 3  # turns that cannot be read; the last of them ends the game


@dataclass
class Game:
    """One game in progress."""

    item: GameItem
    tests: list[tuple[str, bool]] = field(default_factory=list)
    given: GameAnswer | None = None
    mistakes: int = 0

    @property
    def left(self) -> int:
        """How many tests may still be made."""
        return self.item.spec.tests - len(self.tests)

    @property
    def over(self) -> bool:
        """Whether an answer was given, or there were too many turns that could not be read."""
        return self.given is not None or self.mistakes >= MAX_MISTAKES

    def place(self, objects: str) -> bool:
        """Put these objects on the machine, by their letters, and see whether it lights."""
        require(not self.over, "the game is over")
        require(self.left > 0, "there are no tests left")
        placed = self._known(objects)
        light = lights(self.item.machine, mask_of(placed)) > 0.5
        light ^= self.item.flips[len(self.tests)]
        self.tests.append((placed, light))
        return light

    def answer(self, blickets: str, form: str, inhibitors: str = "") -> Scores:
        """Say how the machine works; the game ends with its scores."""
        require(not self.over, "the game is over")
        require(
            re.fullmatch(rf"(?:{'|'.join(FORMS)})(?:-[1-9])?", form) is not None,
            f"form must be one of {', '.join(rules_of(self.item.spec))}, got {form!r}",
        )
        named, kept = self._known(blickets), self._known(inhibitors)
        self.given = GameAnswer(named, form, kept, tuple(self.tests))
        return score(self.item, self.given)

    def _known(self, objects: str) -> str:
        """Each of these objects once, in order; a sentence where there is no such object."""
        named = "".join(sorted(set(objects.upper())))
        unknown = sorted(set(named) - set(self.item.objects))
        require(not unknown, f"there is no object {', '.join(unknown)}")
        return named


def replay(item: GameItem, replies: Sequence[str]) -> tuple[Game, str]:
    """The game after these replies, and what the world says to the last of them."""
    game, said = Game(item), ""
    for reply in replies:
        if game.over:
            break
        said = _turn(game, read_command(reply, item.objects))
    return game, said


def _turn(game: Game, command: Command | None) -> str:
    """Do what was asked for and say what is seen."""
    if command is None:
        return _mistake(game, "That could not be read.")
    if command.form is not None:
        game.answer(command.objects, command.form, command.inhibitors)
        return ""
    if game.left == 0:
        return _mistake(game, "There are no tests left.")
    light = game.place(command.objects)
    seen = "lights up" if light else "stays dark"
    told = " ".join(command.objects) or "nothing"
    return f"Test {len(game.tests)}: {told}. The machine {seen}. {_left(game)}"


def _mistake(game: Game, problem: str) -> str:
    game.mistakes += 1
    example = "" if game.left == 0 else f"TEST {' '.join(game.item.objects[:2])} or "
    return f"{problem} Say {example}ANSWER ... in one line, as told at the start. {_left(game)}"


def _left(game: Game) -> str:
    if game.left == 0:
        return "No tests are left: give your ANSWER."
    return f"{game.left} {'test is' if game.left == 1 else 'tests are'} left."
