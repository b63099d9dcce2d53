"""Games that somebody plays in the terminal, kept as records; an unfinished one can be resumed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from trivium.core.dialogue import Dialogue
from trivium.core.errors import require
from trivium.core.files import Appender, write_json
from trivium.core.records import PERSON, RECORDS, read_records
from trivium.core.spec import read_mapping, spec_to_dict
from trivium.core.task import Task

UNFINISHED = "unfinished.json"


class Played:
    """The folder of somebody's games of one kind."""

    def __init__(self, folder: Path, task: Task, name: str) -> None:
        self.path = folder / RECORDS
        self._solver, self._unfinished = f"{PERSON}{name}", folder / UNFINISHED
        self._rows = [row for _, row in read_records(self.path)] if self.path.exists() else []
        spec = _plain(spec_to_dict(task.spec))
        other = next((row["spec"] for row in self._rows if row["spec"] != spec), None)
        require(other is None, f"{folder} holds games of another kind; choose another with --out")
        held = read_mapping(self._unfinished) if self._unfinished.exists() else {}
        self._held = held if held.get("spec") == spec else {}

    @property
    def seed(self) -> int | None:
        """The seed of the last game, finished or not."""
        found: int | None = self._held.get("seed", self._rows[-1]["seed"] if self._rows else None)
        return found

    def next_index(self, seed: int, first: int) -> int:
        """The first game of a seed that is not finished."""
        own = [row for row in self._rows if row["solver"] == self._solver]
        done = {row["index"] for row in own if row["seed"] == seed}
        while first in done:
            first += 1
        return first

    def resume(self, dialogue: Dialogue) -> None:
        """Make the moves again that were made before the game was left."""
        if self._held and self._place(dialogue) == self._held | {"replies": []}:
            for reply in self._held["replies"]:
                dialogue.send(reply)

    def save(self, dialogue: Dialogue) -> None:
        """Keep the moves made so far, or the record of a game that is over."""
        if not dialogue.done:
            write_json(self._unfinished, self._place(dialogue) | {"replies": dialogue.replies})
            return
        with Appender(self.path) as records:
            records.add([dialogue.attempt(self._solver)])
        self._unfinished.unlink(missing_ok=True)

    @staticmethod
    def _place(dialogue: Dialogue) -> dict[str, Any]:
        origin = dialogue.item.content.origin
        place = {"spec": origin.spec, "seed": origin.seed, "index": origin.index}
        return _plain(place | {"replies": []})


def _plain(value: dict[str, Any]) -> dict[str, Any]:
    """The value as JSON gives it back."""
    plain: dict[str, Any] = orjson.loads(orjson.dumps(value))
    return plain
