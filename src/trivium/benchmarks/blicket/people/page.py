"""The page of the blicket game, with a drawn machine instead of text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trivium.benchmarks.blicket.game.generate import GameAnswer
from trivium.benchmarks.blicket.game.score import exploration_kinds, trajectory
from trivium.benchmarks.blicket.game.spec import UNSURE
from trivium.benchmarks.blicket.game.world import Game, replay
from trivium.benchmarks.blicket.inference.hypotheses import INHIBITOR
from trivium.benchmarks.blicket.people.drawing import THINGS, machine_view
from trivium.benchmarks.blicket.people.rounds import PRACTICE_THINGS, GameRound, Practice
from trivium.core.errors import require
from trivium.core.task import PresentedItem
from trivium.people.pages import Activity, Page, Round, Timed, View, read_tables
from trivium.people.texts import Texts

if TYPE_CHECKING:
    from trivium.people.simulate import Hands


class GamePage(Page):
    """A page with practice, example machines, tests and questions."""

    kind = "game"
    screens = ("practice", "example", "new", "explore", "watch", "object", "form")
    watchable = True
    package = "trivium.benchmarks.blicket.people"
    tables = read_tables(package)
    head = """<link rel="stylesheet" href="static/machine.css">
<script src="static/shapes.js" defer></script>
<script src="static/machine.js" defer></script>
"""
    labels = ("button.sound_on", "button.sound_off", "light.on", "light.off")

    def practice(self) -> Activity:
        """The practice machine."""
        return Practice()

    def picture(self, number: int, texts: Texts) -> View:
        """The practice machine: empty, then with a thing on it, then with both and its light on.

        Two things on a machine that lights up leave open whether one of them is enough.
        """
        placed, lit = ("", "", "A", "AB")[min(number, 3)], True if number >= 3 else None
        return {"picture": machine_view("practice", PRACTICE_THINGS, placed, lit, texts)}

    def start(self, item: PresentedItem, shown: Sequence[str] | None, first: bool) -> Round:
        """A game; example machines come only before the first one."""
        return GameRound(item, shown, first)

    def rows(
        self, one: Round, steps: Sequence[Timed]
    ) -> Mapping[str, Iterator[dict[str, Any]]]:
        """Every test with its information."""
        return {"tests.csv": _tests(one)}

    def write_episodes(self, rounds: Sequence[Round], name: str, folder: Path) -> dict[str, int]:
        """Write every finished game as an episode of the environment."""
        from trivium.benchmarks.blicket.people.episodes import write_episodes  # noqa: PLC0415

        games = [replay(one.item.content, one.dialogue.replies)[0] for one in rounds]
        return write_episodes([game for game in games if game.given is not None], name, folder)

    def act(self, hands: Hands, screen: str) -> None:
        """Make the tests of a solver, then give its answer."""
        if screen == "practice":
            _practise(hands)
        elif screen == "explore":
            _explore(hands)
        elif screen == "object":
            answer = _answer(hands)
            shape = hands.page.evaluate("view.thing.shape")
            letter = next(key for key, own in THINGS.items() if own == shape)
            said = {"yes": answer.blickets, INHIBITOR: answer.inhibitors, UNSURE: answer.unsure}
            hands.choose(next((word for word, own in said.items() if letter in own), "no"))
        elif screen == "form":
            hands.choose(_answer(hands).form)
        else:
            hands.click("button.main")


PAGE = GamePage()


def _tests(one: Round) -> Iterator[dict[str, Any]]:
    item = one.item.content
    made = tuple(replay(item, one.dialogue.replies)[0].tests)
    steps, kinds = trajectory(item.spec, made).steps, exploration_kinds(made)
    rows = zip(made, steps, kinds, strict=True)
    for number, ((placed, light), step, kind) in enumerate(rows, start=1):
        yield {
            "item": item.id,
            "seed": item.origin.seed,
            "index": item.origin.index,
            "machine": item.truth,
            "test": number,
            "objects": placed,
            "light": int(light),
            "bits": round(step.bits, 6),
            "best_bits": round(step.best_gain, 6),
            "kind": kind,
        }


def _practise(hands: Hands) -> None:
    if hands.page.query_selector("[data-focus=button-next]"):
        hands.click("[data-focus=button-next]")
    elif hands.page.query_selector(".plate .thing"):
        hands.click("[data-focus=button-press]")
    else:
        hands.click(".tray .thing >> nth=0")


def _after_reply(hands: Hands) -> Game:
    """The game after the solver's next reply, which is not sent yet."""
    dialogue, reply = hands.next_reply()
    return replay(dialogue.item.content, [*dialogue.replies, reply])[0]


def _answer(hands: Hands) -> GameAnswer:
    game = _after_reply(hands)
    # A solver that would rather make more tests is unsure.
    return game.given or GameAnswer("", game.item.spec.form_answers[-1])


def _explore(hands: Hands) -> None:
    """Make the solver's next test, or finish exploring."""
    game, seen = _after_reply(hands), hands.page.evaluate("view.history.length")
    if game.given is not None:
        hands.click("[data-focus=button-finish]")
        return
    require(len(game.tests) == seen + 1, f"{hands.solver} made no move")
    placed, light = game.tests[-1]
    for letter in game.item.listing:
        pressed = hands.page.get_attribute(f"[data-thing={letter}]", "aria-pressed") == "true"
        if pressed != (letter in placed):
            hands.click(f"[data-thing={letter}]")
    hands.wait_for("() => !busy && !waiting.length")
    hands.click("[data-focus=button-press]")
    hands.wait_for("seen => view.history.length > seen", seen)
    shown = hands.page.evaluate("view.history.at(-1).lit")
    require(shown == light, "the light on the page differs from the game's")
