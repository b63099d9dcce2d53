"""Reading human data from other studies: a table of tests and answers becomes game records.

One row is one participant at one machine. Columns: `participant`; `machine`, such as
conjunctive:AB; `tests`, the objects and the light of each test in order (A:0 AB:1; - for no
objects); `blickets`, letters or none; `form`; optionally `unsure`, `preset` (default: paper) and
`seconds`. Any other columns become groups.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from trivium.benchmarks import find_preset
from trivium.benchmarks.blicket.game import GAME
from trivium.benchmarks.blicket.game.answer import write_answer, write_test
from trivium.benchmarks.blicket.game.generate import GameAnswer, GameItem
from trivium.benchmarks.blicket.game.spec import GameSpec
from trivium.core.dialogue import Dialogue
from trivium.core.errors import UserError, located, require
from trivium.core.records import PERSON, Attempt
from trivium.core.streams import DEFAULT_SEED
from trivium.core.task import PresentedItem, Task
from trivium.exchange.tables import read_table

KNOWN = ("participant", "machine", "tests", "blickets", "form", "unsure", "preset", "seconds")
MAX_ITEMS = 1_000_000  # far more than are needed to find any machine
_TEST = re.compile(r"(-|[A-H]{1,8}):([01])")


def read_trajectories(path: Path) -> Iterator[Attempt]:
    """The attempts in a CSV or JSON Lines file; raises an error for an impossible row."""
    seen: dict[tuple[str, str], int] = {}
    rows = list(read_table(path))
    # All games of a preset have one spec, which allows the most tests that anyone made.
    most = max((len(str(row.get("tests") or "").split()) for _, row in rows), default=0)
    for where, row in rows:
        with located(where):
            attempt = _attempt(row, most)
        key = (attempt.solver, attempt.id)
        attempt.trial = seen[key] = seen.get(key, -1) + 1
        yield attempt


def _attempt(row: dict[str, Any], most: int) -> Attempt:
    person = str(row.get("participant") or "")
    require(
        re.fullmatch(r"[\w.-]{1,60}", person) is not None,
        f"participant must be a name of letters, digits, dots and dashes, got {person!r}",
    )
    tests = _tests(str(row.get("tests") or ""))
    preset = find_preset(GAME, str(row.get("preset") or "paper"))
    spec = replace(preset, tests=max(preset.tests, most))
    item = _item(spec, str(row.get("machine") or ""))
    dialogue = Dialogue(PresentedItem(Task(GAME, spec, GAME.view_type()), item))
    for number, (placed, light) in enumerate(tests, start=1):
        response = dialogue.send(write_test(placed)) or ""
        lights = "lights up" in response
        require(
            lights == light,
            f"test {number} says {placed or '-'}:{int(light)}, but {item.truth} gives "
            f"{int(lights)}",
        )
    answer = _answer(row)
    require(
        spec.demonstrations != "none" or not answer.unsure,
        f"unsure objects go with demonstrations, and this preset has none; got {answer.unsure}",
    )
    dialogue.send(write_answer(answer))
    require(dialogue.done, f"the answer cannot be read: {dialogue.replies[-1]!r}")
    attempt = dialogue.attempt(f"{PERSON}{person}", seconds=float(row.get("seconds") or 0))
    attempt.groups |= {key: str(value) for key, value in row.items() if key not in KNOWN and value}
    return attempt


@lru_cache(maxsize=1024)
def _item(spec: GameSpec, machine: str) -> GameItem:
    """The first item with this machine and its objects in order, the same for all rows about it.

    Models, agents and programs get the same item, so that all can be compared on it.
    """
    require(
        not spec.mixed and machine in map(str, spec.space),
        f"machine {machine!r} is not one of the preset's",
    )
    items = GAME.generate(spec, DEFAULT_SEED, 0, MAX_ITEMS)
    return next(
        item
        for item in items
        if item.truth == machine and item.listing == item.objects and not item.swapped
    )


def _tests(text: str) -> list[tuple[str, bool]]:
    found = []
    for word in text.split():
        test = _TEST.fullmatch(word.upper())
        if test is None:
            raise UserError(f"tests must be like A:0 AB:1, got {word!r}")
        found.append(("" if test[1] == "-" else test[1], test[2] == "1"))
    return found


def _answer(row: dict[str, Any]) -> GameAnswer:
    def letters(key: str) -> str:
        text = str(row.get(key) or "").upper().replace(" ", "")
        return "" if text in ("NONE", "-") else text

    form = str(row.get("form") or "")
    require(bool(form), "form is missing: how does the participant say the machine works?")
    return GameAnswer(letters("blickets"), form, unsure=letters("unsure"))
