"""Records: one JSON row per attempt, the only input of analysis. This is their schema."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import NoneType
from typing import Any

import numpy as np
import orjson

from trivium.core.errors import UserError, require
from trivium.core.files import Appender, atomic_write, open_input, read_rows

RECORDS = "records.jsonl"
SUMMARY = "summary.json"
MANIFEST = "run.json"
# Kinds of attempts without an answer; `outcome` decides between them.
NO_ANSWER = "no-answer"  # the reply holds no answer: the worst score of every metric
CUT_OFF = "cut-off"  # the reply ended at a token limit or inside its reasoning: the worst score
DECLINED = "declined"  # the provider declined to reply: in no metric
FAILED = "failed"  # a call failed permanently: in no metric
UNSCORED = frozenset({DECLINED, FAILED})
LENGTH = "length"  # the stop reason of a reply that ended at a token limit
DECLINING = frozenset({"content_filter", "refusal"})  # stop reasons with which providers decline
TOKENS = ("input_tokens", "output_tokens", "reasoning_tokens")  # of usage, where they are reported

PERSON = "person:"  # what the solver of a person's record begins with
PEOPLE = "people"  # what all persons together are called in results

Scores = dict[str, float | None]
Groups = dict[str, int | float | str]
Row = dict[str, Any]
AttemptKey = tuple[str, int]  # an item's id and the trial


@dataclass
class Attempt:
    """One attempt at an item, as records keep it: all that analysis ever sees."""

    benchmark: str
    spec: dict[str, Any] | None
    view: dict[str, Any]
    seed: int | None
    index: int | None
    id: str
    trial: int
    solver: str
    reply: str | list[str] | None
    answer: Any
    scores: Scores
    kind: str  # "right", a kind of wrong answer, or one of the kinds without an answer
    chance: float  # the floor of the headline metric
    groups: Groups
    prompt_lines: int = 0
    prompt_chars: int = 0
    floor: str | None = None  # the strategy that reaches the floor
    content: str | None = None  # a digest of an item without a spec
    error: str | None = None
    # requests, retries, and the tokens that the provider reported; a key is absent where it did not
    usage: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    gold: str | None = None  # a reply that scores perfectly
    stop_reason: str | None = None  # why the last reply ended, as the provider says
    reasoning: str | None = None  # what the provider sent as reasoning, apart from the reply

    @property
    def key(self) -> AttemptKey:
        """What identifies the attempt among those of one evaluation."""
        return self.id, self.trial


def outcome(
    answer: object,
    *,
    stop_reason: str | None = None,
    in_reasoning: bool = False,
    error: str | None = None,
) -> str | None:
    """How an attempt without an answer ended; None where an answer was read.

    `stop_reason` is the last reply's, as its provider gives it, `in_reasoning` says that its text
    ends inside a reasoning block, and `error` is why a call failed permanently. What a reply says
    never counts: "I cannot solve this" is no answer.
    """
    if error is not None:
        return FAILED
    if stop_reason in DECLINING:
        return DECLINED
    if answer is not None:
        return None
    return CUT_OFF if stop_reason == LENGTH or in_reasoning else NO_ANSWER


def solver_group(solver: str) -> str:
    """The name under which results count a solver: persons are counted together."""
    return PEOPLE if solver.startswith(PERSON) else solver


_MISSING = object()
_NUMBERS = {int, float, bool}
_REQUIRED: dict[str, set[type]] = {
    "benchmark": {str},
    "id": {str},
    "trial": {int},
    "solver": {str},
    "answer": {str, list, dict, NoneType, *_NUMBERS},
    "scores": {dict},
    "kind": {str},
    "chance": _NUMBERS,
    "groups": {dict},
}
_OPTIONAL: dict[str, set[type]] = {
    "reply": {str, list},
    "spec": {dict},
    "view": {dict},
    "seed": {int},
    "index": {int},
    "prompt_lines": {int},
    "prompt_chars": {int},
    "error": {str},
    "usage": {dict},
    "seconds": _NUMBERS,
    "gold": {str},
    "stop_reason": {str},
    "reasoning": {str},
}
_GROUP, _SCORE, _USAGE = {str, *_NUMBERS}, {NoneType, *_NUMBERS}, {int}
_FIELDS = _REQUIRED | {key: {*types, NoneType, object} for key, types in _OPTIONAL.items()}


def check_record(row: Row) -> None:
    """Refuse a row that is not a record."""
    # The types of JSON are exact, and comparing them is much faster than isinstance.
    for key, types in _FIELDS.items():
        value = row.get(key, _MISSING)
        if type(value) not in types:
            problem = "missing" if value is _MISSING else f"{value!r:.80}"
            raise UserError(f"not a record ({key} is {problem})")
    if not _GROUP.issuperset(map(type, row["groups"].values())):
        raise UserError(f"not a record (groups are {row['groups']!r:.80})")
    if not _SCORE.issuperset(map(type, row["scores"].values())):
        raise UserError(f"not a record (scores are {row['scores']!r:.80})")
    if not _USAGE.issuperset(map(type, (row.get("usage") or {}).values())):
        raise UserError(f"not a record (usage is {row['usage']!r:.80})")
    if not 0 <= row["trial"] < 2**31:
        raise UserError(f"not a record (trial is {row['trial']!r:.80})")


def _checked_rows(path: Path) -> Iterator[tuple[int, Row]]:
    for number, row in read_rows(path):
        try:
            check_record(row)
        except UserError as problem:
            raise UserError(f"{path} line {number}: {problem}") from None
        yield number, row


def read_records(path: Path) -> Iterator[tuple[int, Row]]:
    """Yields (line number, record); a second record of the same attempt is refused at the end."""
    # Eight bytes for each record, so that millions fit in memory. Ids repeat between seeds,
    # specs and views, which together name an item as it was presented.
    keys, numbers = array("q"), array("q")
    for number, row in _checked_rows(path):
        context = orjson.dumps([row.get("spec"), row.get("view")])
        keys.append(hash((row["solver"], row["id"], row["trial"], row.get("seed"), context)))
        numbers.append(number)
        yield number, row
    hashes = np.asarray(keys)
    order = np.argsort(hashes, kind="stable")
    repeats = order[1:][hashes[order[1:]] == hashes[order[:-1]]]
    if repeats.size:
        line = numbers[int(repeats.min())]
        raise UserError(f"{path} line {line}: a second record of the same item and trial")


def recorded(
    path: Path, *, errors: bool = True, asked: Callable[[Row], bool] | None = None
) -> set[AttemptKey]:
    """The attempts that a file holds, failed ones included or not; an incomplete line is cut.

    `asked` says which records count where the file holds more than was asked for.
    """
    if not path.exists():
        return set()
    with Appender(path):
        pass  # opening cuts off an incomplete last line
    seen: set[AttemptKey] = set()
    left_out: set[AttemptKey] = set()
    for number, row in _checked_rows(path):  # before anything is paid for
        key = (row["id"], row["trial"])
        require(
            key not in seen, f"{path} line {number}: a second record of the same item and trial"
        )
        seen.add(key)
        if (row["kind"] == FAILED and not errors) or (asked is not None and not asked(row)):
            left_out.add(key)
    return seen - left_out


def drop_errors(path: Path, asked: Callable[[Row], bool]) -> None:
    """Remove failed attempts that are asked for from the records, so that they are retried."""
    held = recorded(path, asked=asked)  # refuses what is not a record
    if held != recorded(path, asked=asked, errors=False):
        lines = (line for row, line in _lines(path) if row["kind"] != FAILED or not asked(row))
        _keep_lines(path, list(lines))


def sort_records(path: Path, order: Mapping[AttemptKey, int]) -> None:
    """Put the records in the order of their items, whatever the order in which replies came."""
    last = len(order)  # attempts at items that were not asked for this time stay, at the end
    ranked = [(order.get((row["id"], row["trial"]), last), line) for row, line in _lines(path)]
    if ranked != sorted(ranked):
        _keep_lines(path, [line for _, line in sorted(ranked)])


Line = tuple[int, int]  # the offset of a line in its file, and its length


def _lines(path: Path) -> Iterator[tuple[Row, Line]]:
    """Every record with where it is, so that no more than one is in memory."""
    with open_input(path) as file:
        offset = 0
        for line in file:
            if line.strip():
                yield orjson.loads(line), (offset, len(line))
            offset += len(line)


def _keep_lines(path: Path, lines: Iterable[Line]) -> None:
    with open_input(path) as old, atomic_write(path, sync=True) as new:
        for offset, length in lines:
            old.seek(offset)
            new.write(old.read(length))
