"""Replies that were collected elsewhere, in the shapes in which people have them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from trivium.core.errors import require
from trivium.exchange.tables import read_table
from trivium.models.protocols import BROKEN, STOP_REASONS

# What columns are called, the first of them that a row has. Lines of a batch have an id of their
# own besides the custom_id that was asked for.
IDS = ("custom_id", "id", "item_id", "key")
REPLIES = (
    *("reply", "replies", "response", "completion", "output", "generated_text", "prediction"),
    *("model_output", "result", "messages", "content", "text", "answer"),
)
TRIALS = ("trial", "sample", "epoch")
STOPS = {**STOP_REASONS, "safety": "content_filter", "end_turn": "stop"}
TOKENS = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens"}
TOKENS |= {"input_tokens": "input_tokens", "output_tokens": "output_tokens"}
TOKENS |= {"reasoning_tokens": "reasoning_tokens"}
DETAILS = ("completion_tokens_details", "output_tokens_details")  # of usage, with the last of these


@dataclass(frozen=True)
class Reply:
    """What somebody wrote to one prompt, or why there is nothing."""

    texts: tuple[str, ...] | None = None  # one for each turn; None is no answer
    error: str | None = None  # the call failed
    stop_reason: str | None = None  # in the words of chat completions
    reasoning: str | None = None  # what the provider sent apart from the reply
    usage: Mapping[str, int] = field(default_factory=dict)


@dataclass
class _Entry:
    """A reply and the item that it says it is for."""

    where: str
    seed: int | None
    trial: int | None
    reply: Reply
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
            for number, reply in enumerate(found):
                own = trial if len(found) == 1 else number
                entries = self._entries.setdefault(name, [])
                if any((entry.seed, entry.trial) == (seed, own) for entry in entries):
                    repeats.append(f"{where}: {name!r} was replied to before")
                entries.append(_Entry(where, seed, own, reply))
                self.count += 1
                self.trials = max(self.trials, (own or 0) + 1)
        more = f", as were {len(repeats) - 1} others" if len(repeats) > 1 else ""
        hint = "number several replies to one item in a column named trial"
        require(not repeats, f"{''.join(repeats[:1])}{more}; {hint}")

    def take(self, names: Mapping[str, int], seed: int | None, trial: int) -> Reply | None:
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
                    return entry.reply
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
    except (TypeError, ValueError, OverflowError):
        number = None
    exact = number is not None and not isinstance(value, bool) and number == float(value)
    require(exact, f"{where}: {key} must be a whole number, got {value!r:.80}")
    assert number is not None
    low = 0 if key == "trial" else -(2**63)
    require(low <= number < 2**31 or key == "seed", f"{where}: {key} is out of range: {number}")
    return number


def read_reply(row: Mapping[str, Any], where: str, *, lists: bool) -> list[Reply]:
    """The reply in a row; several where a chat completion has several choices."""
    error = row.get("error")
    if error:
        return [Reply(error=_message(error))]
    if "choices" in row or "candidates" in row:
        return _of_body(row, where)
    key = next((key for key in REPLIES if key in row), None)
    require(
        key is not None,
        f"{where}: there is no reply; its column is one of {', '.join(REPLIES)}",
    )
    value = row[str(key)]
    if lists and isinstance(value, str) and value.lstrip().startswith("["):
        value = _json_list(value)
    if isinstance(value, dict):
        return _of_body(value, where)
    if isinstance(value, list) and value and all(isinstance(part, dict) for part in value):
        return [_of_messages(value, where, lists=lists)]
    if value is None or value == []:
        return [Reply()]
    texts = [value] if isinstance(value, str) else value
    ok = isinstance(texts, list) and all(isinstance(text, str) for text in texts)
    ok = ok and (lists or isinstance(value, str))
    allowed = "text, a list of texts" if lists else "text"
    require(ok, f"{where}: {key} must be {allowed}, null or a chat completion, got {value!r:.80}")
    return [Reply(tuple(texts))]


def _json_list(text: str) -> Any:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    return value if isinstance(value, list) else text


def _of_messages(messages: list[dict[str, Any]], where: str, *, lists: bool) -> Reply:
    """What the assistant says in a list of messages or of parts of one."""
    if all("role" not in message for message in messages):
        return Reply((_text(messages, where),))
    said = [_text(one.get("content"), where) for one in messages if one.get("role") == "assistant"]
    require(lists or len(said) <= 1, f"{where}: one reply is needed, got {len(said)} messages")
    return Reply(tuple(said) or None)


def _of_body(body: Mapping[str, Any], where: str) -> list[Reply]:
    """The replies in the body of a response: chat completions, Responses, Anthropic or Gemini."""
    for inner in ("body", "message"):  # the line of a batch, of OpenAI or of Anthropic
        if isinstance(body.get(inner), dict):
            status = body.get("status_code")
            failed = isinstance(status, int) and status >= 400
            if failed or body[inner].get("error"):
                return [Reply(error=_message(body[inner].get("error") or f"status {status}"))]
            return _of_body(body[inner], where)
    if body.get("error"):
        return [Reply(error=_message(body["error"]))]
    usage = _usage(body.get("usage"))
    for key in ("choices", "candidates"):
        if isinstance(body.get(key), list):
            require(bool(body[key]), f"{where}: {key} is empty")
            if len(body[key]) > 1:
                usage = {}  # of all together, and nobody says how much of it each one took
            return [_of_choice(choice, usage, where) for choice in body[key]]
    content = body.get("content", body.get("output"))
    require(content is not None, f"{where}: not a response of a model that is known here")
    details = body.get("incomplete_details") or {}
    stop = body.get("stop_reason") or details.get("reason") or body.get("status")
    return [_reply(_text(content, where), stop, usage)]


def _of_choice(choice: Any, usage: Mapping[str, int], where: str) -> Reply:
    require(isinstance(choice, dict), f"{where}: choices must be objects, got {choice!r:.80}")
    message = choice.get("message") or choice.get("content") or {}
    text = choice.get("text")
    if isinstance(message, dict) and text is None:
        text = _text(message.get("content", message.get("parts")), where)
        if not text and message.get("refusal"):
            return _reply(str(message["refusal"]), "refusal", usage)
    stop = choice.get("finish_reason") or choice.get("finishReason")
    known = isinstance(message, dict)
    thought = (message.get("reasoning_content") or message.get("reasoning")) if known else None
    return _reply(str(text or ""), stop, usage, thought)


def _reply(text: str, stop: Any, usage: Mapping[str, int], thought: Any = None) -> Reply:
    reason = STOPS.get(stop.lower(), stop.lower()) if isinstance(stop, str) else None
    if reason in BROKEN:
        return Reply(error=f"the reply ended with {reason!r}", usage=usage)
    reasoning = thought if isinstance(thought, str) else None
    return Reply((text,) if text else None, None, reason, reasoning, usage)


def _text(content: Any, where: str) -> str:
    """The text of a message's content, which may be a list of parts or of outputs."""
    return "".join(_parts(content, where))


def _parts(content: Any, where: str) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            if isinstance(part, dict) and part.get("type") not in ("reasoning", "thinking"):
                inner = part.get("text") or part.get("refusal") or part.get("content")
                yield from _parts(inner, where)
    else:
        require(content is None, f"{where}: content must be text, got {content!r:.80}")


def _message(error: Any) -> str:
    """What went wrong, as one line."""
    text = error.get("message") or error.get("error") or error if isinstance(error, dict) else error
    return " ".join(str(text).split())[:500]


def _usage(usage: Any) -> dict[str, int]:
    """The tokens that a provider reports, under the names of records."""
    counts = usage if isinstance(usage, dict) else {}
    for key in DETAILS:
        if isinstance(counts.get(key), dict):
            counts = counts[key] | counts
    return {name: counts[key] for key, name in TOKENS.items() if _is_count(counts.get(key))}


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53
