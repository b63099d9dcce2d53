"""The page of the blicket game, with a drawn machine instead of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trivium.benchmarks.blicket.game.generate import GameAnswer, gold
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

    def rows(self, one: Round, steps: Sequence[Timed]) -> Mapping[str, Iterable[dict[str, Any]]]:
        """Every test with its information, every answer about an object, and the item's order."""
        item = one.item.content
        examples = "+".join(item.examples.values()) or item.spec.demonstrations
        answer = next((step.value for step in steps if step.kind == "form"), None)
        about = {
            "machine": item.truth,
            "object_order": item.listing,
            "example_order": examples,
            "answered_form": answer,
        }
        return {
            "trials.csv": [about],
            "tests.csv": _tests(one, steps),
            "objects.csv": _objects(one, steps),
        }

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


def _tests(one: Round, steps: Sequence[Timed]) -> Iterator[dict[str, Any]]:
    item = one.item.content
    made = tuple(replay(item, one.dialogue.replies)[0].tests)
    measures, kinds = trajectory(item.spec, made).steps, exploration_kinds(made)
    rows = zip(made, measures, kinds, _test_times(one, steps), strict=True)
    for number, ((placed, light), measure, kind, (onset, seconds)) in enumerate(rows, start=1):
        yield {
            "machine": item.truth,
            "test": number,
            "objects": placed or "none",
            "light": int(light),
            "bits": round(measure.bits, 6),
            "best_bits": round(measure.best_gain, 6),
            "kind": kind,
            "onset": onset,
            "seconds": seconds,
        }


def _test_times(one: Round, steps: Sequence[Timed]) -> Iterator[tuple[float, float]]:
    """The onset and the duration of every test that was made or watched."""
    replies = one.dialogue.replies
    made = [len(replay(one.item.content, replies[:n])[0].tests) for n in range(len(replies) + 1)]
    tests, own = 0, list[Timed]()  # the steps since the last test
    for step in steps:
        if step.screen not in ("explore", "watch", "text"):
            continue
        own.append(step)
        if made[step.replies] > tests:
            yield own[0].onset, round(sum(each.seconds for each in own), 3)
            tests, own = made[step.replies], []


def _objects(one: Round, steps: Sequence[Timed]) -> Iterator[dict[str, Any]]:
    item = one.item.content
    true = gold(item)
    right = dict.fromkeys(true.blickets, "yes") | dict.fromkeys(true.inhibitors, INHIBITOR)
    asked = [step for step in steps if step.kind == "object"]
    pairs = zip(item.listing, asked, strict=False)
    for number, (letter, step) in enumerate(pairs, start=1):
        yield {
            "question": number,
            "object": letter,
            "shape": THINGS[letter],
            "answer": step.value,
            "blicket": int(letter in true.blickets),
            "correct": int(step.value == right.get(letter, "no")),
            "onset": step.onset,
            "seconds": step.seconds,
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
