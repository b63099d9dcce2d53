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
from pathlib import Path
from typing import Any

from trivium.benchmarks import find_preset
from trivium.benchmarks.blicket.game import GAME
from trivium.benchmarks.blicket.game.answer import write_answer, write_test
from trivium.benchmarks.blicket.game.generate import GameAnswer, GameItem
from trivium.benchmarks.blicket.game.spec import GameSpec
from trivium.core.dialogue import Dialogue
from trivium.core.errors import UserError, require
from trivium.core.records import PERSON, Attempt
from trivium.core.spec import spec_to_dict
from trivium.core.task import PresentedItem, Task
from trivium.exchange.tables import read_table

KNOWN = ("participant", "machine", "tests", "blickets", "form", "unsure", "preset", "seconds")
_TEST = re.compile(r"(-|[A-H]{1,8}):([01])")


def read_trajectories(path: Path) -> Iterator[Attempt]:
    """The attempts in a CSV or JSON Lines file; raises an error for an impossible row."""
    seen: dict[tuple[str, str], int] = {}
    for where, row in read_table(path):
        try:
            attempt = _attempt(row)
        except UserError as problem:
            raise UserError(f"{where}: {problem}") from None
        key = (attempt.solver, attempt.id)
        attempt.trial = seen[key] = seen.get(key, -1) + 1
        yield attempt


def _attempt(row: dict[str, Any]) -> Attempt:
    person = str(row.get("participant") or "")
    require(
        re.fullmatch(r"[\w.-]{1,60}", person) is not None,
        f"participant must be a name of letters, digits, dots and dashes, got {person!r}",
    )
    tests = _tests(str(row.get("tests") or ""))
    preset = find_preset(GAME, str(row.get("preset") or "paper"))
    spec = replace(preset, tests=max(preset.tests, len(tests)))
    item = _item(spec, str(row.get("machine") or ""))
    dialogue = Dialogue(PresentedItem(Task(GAME, spec, GAME.view_type()), item))
    for number, (placed, light) in enumerate(tests, start=1):
        response = dialogue.send(write_test(placed)) or ""
        lights = "lights up" in response
        require(
            lights == light or bool(spec.noise),
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


def _item(spec: GameSpec, machine: str) -> GameItem:
    """The item of a machine, the same for all rows about it."""
    return GAME.from_row(spec_to_dict(spec) | {"id": f"MACHINE-{machine}", "machine": machine}, 0)


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
