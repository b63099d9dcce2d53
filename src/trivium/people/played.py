"""Stores games played in the terminal as records; an unfinished game can be resumed."""

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
    """The folder of a player's games, all of one spec."""

    def __init__(self, folder: Path, task: Task, name: str) -> None:
        self.path = folder / RECORDS
        self._solver, self._unfinished_path = f"{PERSON}{name}", folder / UNFINISHED
        self._spec = orjson.loads(orjson.dumps(spec_to_dict(task.spec)))  # as read from files
        self._rows = [row for _, row in read_records(self.path)] if self.path.exists() else []
        same = all(row["spec"] == self._spec for row in self._rows)
        require(same, f"{folder} holds games of another kind; choose another with --out")
        game = read_mapping(self._unfinished_path) if self._unfinished_path.exists() else {}
        self._unfinished: dict[str, Any] = game if game.get("spec") == self._spec else {}

    @property
    def seed(self) -> int | None:
        """The seed of the unfinished game, or else of the last finished one."""
        last = self._rows[-1]["seed"] if self._rows else None
        seed: int | None = self._unfinished.get("seed", last)
        return seed

    def next_index(self, seed: int, first: int) -> int:
        """The index of the first unfinished game of a seed, from `first` on."""
        rows = [row for row in self._rows if row["solver"] == self._solver]
        done = {row["index"] for row in rows if row["seed"] == seed}
        while first in done:
            first += 1
        return first

    def resume(self, dialogue: Dialogue) -> None:
        """Replay the saved moves if this is the unfinished game."""
        origin = dialogue.item.content.origin
        unfinished = (self._unfinished.get("seed"), self._unfinished.get("index"))
        if unfinished == (origin.seed, origin.index):
            for reply in self._unfinished["replies"]:
                dialogue.send(reply)

    def save(self, dialogue: Dialogue) -> None:
        """Save the moves of an unfinished game, or the record of a finished one."""
        if not dialogue.done:
            origin = dialogue.item.content.origin
            item = {"spec": self._spec, "seed": origin.seed, "index": origin.index}
            write_json(self._unfinished_path, item | {"replies": dialogue.replies})
            return
        with Appender(self.path) as records:
            records.add([dialogue.attempt(self._solver)])
        self._unfinished_path.unlink(missing_ok=True)
