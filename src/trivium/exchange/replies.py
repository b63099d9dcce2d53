"""Replies that were collected elsewhere, in the formats of providers and common tools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from trivium.core.dialogue import Reply
from trivium.core.errors import UserError, located, require
from trivium.core.records import Row
from trivium.exchange.tables import read_table, whole_number
from trivium.models.bodies import MALFORMED, error_message, read_body

# Names of columns; the first that a row has is used. Lines of a batch's output have an id besides
# the custom_id of the request.
IDS = ("custom_id", "id", "item_id", "key")
REPLIES = (
    *("reply", "replies", "response", "completion", "output", "generated_text", "prediction"),
    *("model_output", "result", "messages", "content", "text", "answer"),
)
TRIALS = ("trial", "sample", "epoch")
MAX_TRIALS = 1000  # of one item; every item has a record for every trial, replied to or not
Turns = tuple[Reply, ...]  # the replies to one prompt, turn by turn; empty is no answer


@dataclass
class _Entry:
    """A reply with its position in a file, and the seed and trial that its row gives."""

    where: str
    seed: int | None
    trial: int | None
    turns: Turns
    used: bool = False


class Replies:
    """The replies of some files, by the name of the item."""

    def __init__(self, rows: Iterable[tuple[str, Mapping[str, Any]]], *, lists: bool) -> None:
        self._entries: dict[str, list[_Entry]] = {}
        self.count = self.trials = 0
        repeats: list[str] = []
        for where, row in rows:
            with located(where):
                name, seed, row_trial = _name(row)
                found = read_reply(row, lists=lists)
            for number, turns in enumerate(found):
                trial = row_trial if len(found) == 1 else number
                entries = self._entries.setdefault(name, [])
                if any((entry.seed, entry.trial) == (seed, trial) for entry in entries):
                    repeats.append(f"{where}: {name!r} was replied to before")
                entries.append(_Entry(where, seed, trial, turns))
                self.count += 1
                self.trials = max(self.trials, (trial or 0) + 1)
        more = f", as were {len(repeats) - 1} others" if len(repeats) > 1 else ""
        hint = "number several replies to one item in a column named trial"
        require(not repeats, f"{''.join(repeats[:1])}{more}; {hint}")

    def take(self, names: Mapping[str, int], seed: int | None, trial: int) -> Turns | None:
        """The reply to an item in one trial, marked as used.

        `names` are the names of the item, each with the trial of a reply that gives none.
        """
        for name, default in names.items():
            for entry in self._entries.get(name, ()):
                given = default if entry.trial is None else entry.trial
                if entry.seed in (None, seed) and given == trial:
                    require(
                        not entry.used,
                        f"{entry.where}: {name!r} names several items; add a column seed, or use "
                        "the ids that trivium export writes",
                    )
                    entry.used = True
                    return entry.turns
        return None

    def require_all_used(self) -> None:
        """Refuse replies to unknown items, and say how many there are."""
        left = [
            f"{entry.where}: there is no item {name!r}"
            for name, entries in self._entries.items()
            for entry in entries
            if not entry.used
        ]
        count = f"{len(left)} of {self.count} replies fit no item"
        require(not left, f"{''.join(left[:1])} ({count})")


def read_replies(paths: Sequence[Path], *, lists: bool, names: Sequence[str] | None) -> Replies:
    """The replies in some files; with `names`, the n-th reply is to the n-th of these items.

    `lists` says whether a list of texts is one reply, as in a game.
    """
    rows: Iterable[tuple[str, Row]] = (row for path in paths for row in read_table(path))
    if names is not None:
        rows = list(rows)
        require(
            len(rows) == len(names),
            f"--by_order needs as many replies as prompts, got {len(rows)} for {len(names)}",
        )
        pairs = zip(rows, names, strict=True)
        rows = [(where, {**row, IDS[0]: name}) for (where, row), name in pairs]
    found = Replies(rows, lists=lists)
    require(bool(found.count), f"{', '.join(map(str, paths))}: there are no replies")
    return found


def _name(row: Mapping[str, Any]) -> tuple[str, int | None, int | None]:
    """The name of the item that a row replies to, and its seed and trial if given."""
    name = next((row[key] for key in IDS if row.get(key) is not None), None)
    require(
        isinstance(name, str) and bool(name),
        f"id (or custom_id) must be text, got {name!r}; --by_order takes replies without ids",
    )
    seed = _optional_number(row, "seed")
    key = next((key for key in TRIALS if row.get(key) not in (None, "")), TRIALS[0])
    trial = _optional_number(row, key)
    require(
        trial is None or 0 <= trial < MAX_TRIALS,
        f"{key} is out of range (0..{MAX_TRIALS - 1}): {trial}",
    )
    return str(name), seed, trial


def _optional_number(row: Mapping[str, Any], key: str) -> int | None:
    value = row.get(key)
    return None if value is None or value == "" else whole_number(value, key)


def read_reply(row: Mapping[str, Any], *, lists: bool) -> list[Turns]:
    """The reply in a row, or several if it is a chat completion with several choices."""
    if row.get("error"):
        return [_failed(row["error"])]
    if "choices" in row or "candidates" in row:
        return _body_replies(row)
    key = next((key for key in REPLIES if key in row), None)
    if key is None:
        raise UserError(f"there is no reply; its column is one of {', '.join(REPLIES)}")
    value = row[key]
    if lists and isinstance(value, str) and value.lstrip().startswith("["):
        with suppress(orjson.JSONDecodeError):
            value = orjson.loads(value)
    if isinstance(value, dict):
        return _body_replies(value)
    if isinstance(value, list) and value and all(isinstance(part, dict) for part in value):
        return [_assistant_turns(value, lists=lists)]
    if value is None or value == []:
        return [()]
    texts = [value] if isinstance(value, str) else value
    ok = isinstance(texts, list) and all(isinstance(text, str) for text in texts)
    ok = ok and (lists or isinstance(value, str))
    allowed = "text, a list of texts" if lists else "text"
    require(ok, f"{key} must be {allowed}, null or a chat completion, got {value!r:.80}")
    return [tuple(map(Reply, texts))]


def _assistant_turns(messages: list[dict[str, Any]], *, lists: bool) -> Turns:
    """The assistant's turns in a list of messages; a list of content parts is one turn."""
    contents: list[Any] = [messages]
    if any("role" in message for message in messages):
        contents = [turn.get("content") for turn in messages if turn.get("role") == "assistant"]
    count = len(contents)
    require(lists or count <= 1, f"one reply is needed, got {count} messages")
    return tuple(_body_replies({"content": part})[0][0] for part in contents)


def _body_replies(body: Mapping[str, Any]) -> list[Turns]:
    """The replies in a response body, which may be nested in a line of a batch's output."""
    for inner in ("body", "message"):  # OpenAI, Anthropic
        if isinstance(body.get(inner), dict):
            status = body.get("status_code")
            if isinstance(status, int) and status >= 400:
                return [_failed(body[inner].get("error") or f"status {status}")]
            return _body_replies(body[inner])
    if body.get("error"):
        return [_failed(body["error"])]
    try:
        return [(reply,) for reply in read_body(body)]
    except MALFORMED:
        raise UserError("not a response of a known provider") from None


def _failed(error: Any) -> Turns:
    return (Reply("", error=" ".join(error_message(error).split())[:500]),)
