"""The page of the blicket game, with a drawn machine instead of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from trivium.benchmarks.blicket.game.generate import gold
from trivium.benchmarks.blicket.game.score import exploration_kinds, trajectory
from trivium.benchmarks.blicket.game.world import replay
from trivium.benchmarks.blicket.inference.hypotheses import INHIBITOR
from trivium.benchmarks.blicket.people.drawing import THINGS, machine_view
from trivium.benchmarks.blicket.people.rounds import PRACTICE_THINGS, GameRound, Practice
from trivium.core.task import PresentedItem
from trivium.people.pages import Activity, Page, Round, Rows, ScreenData, read_tables
from trivium.people.steps import TimedStep
from trivium.people.texts import Texts

_THINGS_ON: ScreenData = {
    "pattern": "practice",
    "things": list(PRACTICE_THINGS.values()),
    "lit": False,
}
# Of the questions about the instructions: the right option and the wrong one.
CHECK_PICTURES: Sequence[tuple[ScreenData, ScreenData]] = (
    (_THINGS_ON | {"lit": True}, _THINGS_ON | {"things": []}),
    (_THINGS_ON, _THINGS_ON | {"pattern": ""}),
)


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
    labels = ("button.sound_on", "button.sound_off")

    def practice(self) -> Activity:
        """The practice machine."""
        return Practice()

    def picture(self, number: int, texts: Texts) -> ScreenData:
        """The practice machine: empty, then with a thing on it, then with both and its light on.

        Two things on a machine that lights up leave open whether one of them is enough.
        """
        placed, lit = ("", "", "A", "AB")[min(number, 3)], True if number >= 3 else None
        return {"picture": machine_view("practice", PRACTICE_THINGS, placed, lit, texts)}

    def check_pictures(self, number: int, right: int) -> list[ScreenData]:
        """Things on a lit machine or the machine alone; things on it or things to look at."""
        return list(CHECK_PICTURES[number][:: -1 if right else 1])

    def start(self, item: PresentedItem, shown: Sequence[str] | None, first: bool) -> Round:
        """A game; example machines come only before the first one."""
        return GameRound(item, shown, first)

    def rows(self, attempt: Round, steps: Sequence[TimedStep]) -> Rows:
        """Every test with its information, every answer about an object, and the item's order."""
        item = attempt.item.content
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
            "tests.csv": _tests(attempt, steps),
            "objects.csv": _objects(attempt, steps),
        }

    def write_episodes(self, rounds: Sequence[Round], name: str, folder: Path) -> dict[str, int]:
        """Write every finished game as an episode of the environment."""
        from trivium.benchmarks.blicket.people.episodes import write_episodes  # noqa: PLC0415

        games = [replay(one.item.content, one.dialogue.replies)[0] for one in rounds]
        return write_episodes([game for game in games if game.given is not None], name, folder)


PAGE = GamePage()


def _tests(attempt: Round, steps: Sequence[TimedStep]) -> Iterator[dict[str, Any]]:
    item = attempt.item.content
    made = tuple(replay(item, attempt.dialogue.replies)[0].tests)
    measures, kinds = trajectory(item.spec, made).steps, exploration_kinds(made)
    rows = zip(made, measures, kinds, _test_times(attempt, steps), strict=True)
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


def _test_times(attempt: Round, steps: Sequence[TimedStep]) -> Iterator[tuple[float, float]]:
    """The onset and the duration of every test that was made or watched."""
    item, replies = attempt.item.content, attempt.dialogue.replies
    made = [len(replay(item, replies[:n])[0].tests) for n in range(len(replies) + 1)]
    tests, since = 0, list[TimedStep]()  # the steps since the last test
    for step in steps:
        if step.screen not in ("explore", "watch", "text"):
            continue
        since.append(step)
        if made[step.replies] > tests:
            yield since[0].onset, round(sum(each.seconds for each in since), 3)
            tests, since = made[step.replies], []


def _objects(attempt: Round, steps: Sequence[TimedStep]) -> Iterator[dict[str, Any]]:
    item = attempt.item.content
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
