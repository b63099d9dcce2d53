"""Replies that were collected elsewhere, in the shapes in which people have them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from trivium.core.dialogue import Reply
from trivium.core.errors import require
from trivium.exchange.tables import read_table
from trivium.models.bodies import MALFORMED, error_message, read_body

# What columns are called, the first of them that a row has. Lines of a batch have an id of their
# own besides the custom_id that was asked for.
IDS = ("custom_id", "id", "item_id", "key")
REPLIES = (
    *("reply", "replies", "response", "completion", "output", "generated_text", "prediction"),
    *("model_output", "result", "messages", "content", "text", "answer"),
)
TRIALS = ("trial", "sample", "epoch")
Turns = tuple[Reply, ...]  # what was replied to one prompt, turn by turn; nothing is no answer


@dataclass
class _Entry:
    """A reply and the item that it says it is for."""

    where: str
    seed: int | None
    trial: int | None
    turns: Turns
    used: bool = False


class Replies:
    """All replies of some files, found by the names that they give to items."""

    def __init__(self, rows: Iterable[tuple[str, Mapping[str, Any]]], *, lists: bool) -> None:
        self._entries: dict[str, list[_Entry]] = {}
        self.count = self.trials = 0
        repeats: list[str] = []
        for where, row in rows:
            name, seed, trial = _name(row, where)
            found = read_reply(row, where, lists=lists)
            for number, turns in enumerate(found):
                own = trial if len(found) == 1 else number
                entries = self._entries.setdefault(name, [])
                if any((entry.seed, entry.trial) == (seed, own) for entry in entries):
                    repeats.append(f"{where}: {name!r} was replied to before")
                entries.append(_Entry(where, seed, own, turns))
                self.count += 1
                self.trials = max(self.trials, (own or 0) + 1)
        more = f", as were {len(repeats) - 1} others" if len(repeats) > 1 else ""
        hint = "number several replies to one item in a column named trial"
        require(not repeats, f"{''.join(repeats[:1])}{more}; {hint}")

    def take(self, names: Mapping[str, int], seed: int | None, trial: int) -> Turns | None:
        """The reply to an item in one trial; `names` are the item's, each with its own trial."""
        for name, own in names.items():
            for entry in self._entries.get(name, ()):
                meant = own if entry.trial is None else entry.trial
                if entry.seed in (None, seed) and meant == trial:
                    require(
                        not entry.used,
                        f"{entry.where}: {name!r} names several items; add a column seed, or use "
                        "the ids that trivium export writes",
                    )
                    entry.used = True
                    return entry.turns
        return None

    def require_all_used(self) -> None:
        """Refuse replies to items that are not there, with their number."""
        left = [
            f"{entry.where}: there is no item {name!r}"
            for name, entries in self._entries.items()
            for entry in entries
            if not entry.used
        ]
        count = f"{len(left)} of {self.count} replies fit no item"
        require(not left, f"{''.join(left[:1])} ({count})")


def read_replies(paths: Sequence[Path], *, lists: bool) -> Replies:
    """The replies in some files; `lists` says that several texts make one reply, as in a game."""
    rows = (row for path in paths for row in read_table(path))
    found = Replies(rows, lists=lists)
    require(bool(found.count), f"{', '.join(map(str, paths))}: there are no replies")
    return found


def numbered_replies(paths: Sequence[Path], names: Sequence[str], *, lists: bool) -> Replies:
    """The replies in some files, the n-th of them to the n-th item."""
    rows = [row for path in paths for row in read_table(path)]
    require(
        len(rows) == len(names),
        f"--by_order needs as many replies as prompts, got {len(rows)} for {len(names)}",
    )
    pairs = zip(rows, names, strict=True)
    return Replies(((where, {**row, IDS[0]: name}) for (where, row), name in pairs), lists=lists)


def _name(row: Mapping[str, Any], where: str) -> tuple[str, int | None, int | None]:
    """The name of the item, its seed and the trial, as far as the row gives them."""
    name = next((row[key] for key in IDS if row.get(key) is not None), None)
    require(
        isinstance(name, str) and bool(name),
        f"{where}: id (or custom_id) must be text, got {name!r}; --by_order takes replies "
        "without ids",
    )
    trial = next((row[key] for key in TRIALS if row.get(key) not in (None, "")), None)
    return str(name), _whole(row.get("seed"), "seed", where), _whole(trial, "trial", where)


def _whole(value: Any, key: str, where: str) -> int | None:
    """A whole number, which a CSV file has as text and some tables as a float."""
    if value is None or value == "":
        return None
    try:
        number = int(value)
        exact = number == float(value) and not isinstance(value, bool)
    except (TypeError, ValueError, OverflowError):
        number, exact = 0, False
    require(exact, f"{where}: {key} must be a whole number, got {value!r:.80}")
    require(key == "seed" or 0 <= number < 2**31, f"{where}: {key} is out of range: {number}")
    return number


def read_reply(row: Mapping[str, Any], where: str, *, lists: bool) -> list[Turns]:
    """The reply in a row; several where a chat completion has several choices."""
    if row.get("error"):
        return [_failed(row["error"])]
    if "choices" in row or "candidates" in row:
        return _of_body(row, where)
    key = next((key for key in REPLIES if key in row), None)
    require(
        key is not None,
        f"{where}: there is no reply; its column is one of {', '.join(REPLIES)}",
    )
    value = row[str(key)]
    if lists and isinstance(value, str) and value.lstrip().startswith("["):
        with suppress(orjson.JSONDecodeError):
            value = orjson.loads(value)
    if isinstance(value, dict):
        return _of_body(value, where)
    if isinstance(value, list) and value and all(isinstance(part, dict) for part in value):
        return [_of_messages(value, where, lists=lists)]
    if value is None or value == []:
        return [()]
    texts = [value] if isinstance(value, str) else value
    ok = isinstance(texts, list) and all(isinstance(text, str) for text in texts)
    ok = ok and (lists or isinstance(value, str))
    allowed = "text, a list of texts" if lists else "text"
    require(ok, f"{where}: {key} must be {allowed}, null or a chat completion, got {value!r:.80}")
    return [tuple(map(Reply, texts))]


def _of_messages(messages: list[dict[str, Any]], where: str, *, lists: bool) -> Turns:
    """What the assistant says in a list of messages or of parts of one."""
    if all("role" not in message for message in messages):
        return _of_body({"content": messages}, where)[0]
    said = [one for one in messages if one.get("role") == "assistant"]
    require(lists or len(said) <= 1, f"{where}: one reply is needed, got {len(said)} messages")
    return tuple(_of_body({"content": one.get("content")}, where)[0][0] for one in said)


def _of_body(body: Mapping[str, Any], where: str) -> list[Turns]:
    """The replies in the body of a response, which may be inside the line of a batch."""
    for inner in ("body", "message"):  # of OpenAI, of Anthropic
        if isinstance(body.get(inner), dict):
            status = body.get("status_code")
            if isinstance(status, int) and status >= 400:
                return [_failed(body[inner].get("error") or f"status {status}")]
            return _of_body(body[inner], where)
    if body.get("error"):
        return [_failed(body["error"])]
    try:
        found = read_body(body)
    except MALFORMED:
        found = []
    require(bool(found), f"{where}: not a response of a model that is known here")
    return [(reply,) for reply in found]


def _failed(error: Any) -> Turns:
    return (Reply("", error=" ".join(error_message(error).split())[:500]),)
