"""One item that a participant works on, and the steps that lead there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from trivium.benchmarks.blicket.game.answer import write_answer, write_test
from trivium.benchmarks.blicket.game.demonstrations import ExampleTest, examples_of
from trivium.benchmarks.blicket.game.generate import GameAnswer
from trivium.benchmarks.blicket.game.spec import UNSURE
from trivium.benchmarks.blicket.game.world import Game, replay
from trivium.benchmarks.blicket.inference.hypotheses import INHIBITOR
from trivium.core.dialogue import Dialogue
from trivium.core.task import PresentedItem


class RefusedError(Exception):
    """A step that cannot be taken at this point; its text is for developers."""


@dataclass(frozen=True)
class Step:
    """One stored step of a participant."""

    kind: str
    value: Any
    outcome: Mapping[str, Any] = field(default_factory=dict)  # what the server decided, if anything
    server_time: float = 0.0
    client_time: float | None = None


@dataclass
class Round:
    """One item in progress."""

    item: PresentedItem
    shown: list[str] | None  # the tests that are shown instead of chosen
    started: float
    dialogue: Dialogue = field(init=False)
    placed: str = ""  # what is on the machine now
    lit: bool | None = None  # the light of the last test, until something is moved
    slide: int = 0  # of the example machines
    said: dict[str, str] = field(default_factory=dict)  # what was said of each object
    ended: float = 0.0

    def __post_init__(self) -> None:
        self.dialogue = Dialogue(self.item)
        self._game = (-1, Game(self.item.content))

    @property
    def game(self) -> Game:
        """The state of a game."""
        made = len(self.dialogue.replies)
        if self._game[0] != made:
            self._game = (made, replay(self.item.content, self.dialogue.replies)[0])
        return self._game[1]

    @property
    def slides(self) -> list[tuple[str, ExampleTest | None]]:
        """What is shown of the example machines: each alone, then its tests."""
        return [
            (example.name, test)
            for example in examples_of(self.item.content)
            for test in (None, *example.tests)
        ]

    @property
    def asked(self) -> str | None:
        """The object that is asked about next."""
        return next((one for one in self.item.content.listing if one not in self.said), None)

    @property
    def options(self) -> list[str]:
        """What may be said of an object."""
        spec = self.item.content.spec
        if INHIBITOR in spec.possible_rules:
            return ["yes", INHIBITOR, "no"]
        return ["yes", "no"] if spec.demonstrations == "none" else ["yes", "no", UNSURE]

    def press(self, placed: str) -> None:
        """Test what is placed."""
        self.dialogue.send(write_test(placed))
        self.lit = self.game.tests[-1][1]

    def answer(self, form: str) -> None:
        """Give the answer that all questions together make."""
        named = {
            word: "".join(sorted(one for one, own in self.said.items() if own == word))
            for word in ("yes", INHIBITOR, UNSURE)
        }
        self.dialogue.send(
            write_answer(GameAnswer(named["yes"], form, named[INHIBITOR], unsure=named[UNSURE]))
        )
