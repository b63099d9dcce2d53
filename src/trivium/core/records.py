"""Records: one JSON row per attempt, the only input of analysis."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
import orjson

from trivium.core.errors import UserError, require
from trivium.core.files import Appender, atomic_write, open_input, read_rows
from trivium.core.spec import read_mapping

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

PERSON = "person:"  # prefix of a person's name as a solver
PEOPLE = "people"  # the solver of all persons together in results
# All prefixes of participants of experiments, with the solver of all of them together.
PARTICIPANTS = {
    PERSON: PEOPLE,
    "simulated:": "simulated participants",
    "pilot:": "people of the pilot",
}

Scores = dict[str, float | None]
Groups = dict[str, int | float | str]
Row = dict[str, Any]
AttemptKey = tuple[str, int]  # an item's id and the trial


@dataclass
class Attempt:
    """One attempt at an item: a row of records.jsonl."""

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
    floor: float  # of the headline metric
    groups: Groups
    prompt_lines: int = 0
    prompt_chars: int = 0
    ceiling: float = 1.0
    floor_name: str | None = None  # the strategy that reaches the floor
    ceiling_name: str | None = None  # the solver that reaches the ceiling, or "upper bound"
    order: int = 0  # of presentation; trials beyond the orders repeat them
    trivium: str | None = None  # the version of Trivium
    version: str | None = None  # of the benchmark's items
    digest: str | None = None  # a hash of the item, equal for every solver, view and trial
    error: str | None = None
    # requests, retries, and the tokens that the provider reported; a key is absent where it did not
    usage: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    gold: str | None = None  # a reply that scores perfectly
    stop_reason: str | None = None  # why the last reply ended, as the provider says
    reasoning: str | None = None  # what the provider sent as reasoning, apart from the reply

    @property
    def key(self) -> AttemptKey:
        """Identifies the attempt within its evaluation."""
        return self.id, self.trial


def outcome(
    answer: object,
    *,
    stop_reason: str | None = None,
    in_reasoning: bool = False,
    error: str | None = None,
) -> str | None:
    """How an attempt without an answer ended; None where an answer was read.

    `stop_reason` is the provider's for the last reply, `in_reasoning` whether that reply ends
    inside a reasoning block, and `error` why a call failed permanently. The text of a reply is
    never interpreted: "I cannot solve this" is no answer.
    """
    if error is not None:
        return FAILED
    if stop_reason in DECLINING:
        return DECLINED
    if answer is not None:
        return None
    return CUT_OFF if stop_reason == LENGTH or in_reasoning else NO_ANSWER


def row_order(row: Mapping[str, Any]) -> int:
    """The order in which the item of a record was presented."""
    order = row.get("order")
    return int(row["trial"] if order is None else order)


def solver_group(solver: str) -> str:
    """The solver in results, where all participants of a kind are one."""
    kind, _, name = solver.partition(":")
    return PARTICIPANTS.get(f"{kind}:", solver) if name else solver


def is_participant(solver: str) -> bool:
    """Whether a solver is a participant of an experiment: a person, or a simulated one."""
    return solver.startswith(tuple(PARTICIPANTS))


_REQUIRED = ("benchmark", "id", "trial", "solver", "answer", "scores", "kind", "floor", "groups")
_JSON_TYPES: dict[Any, set[type]] = {
    float: {int, float, bool},
    Any: {str, list, dict, NoneType, int, float, bool},
}


def _json_types(hint: Any) -> set[type]:
    """The types that a value with this annotation has in JSON."""
    if hint in _JSON_TYPES:
        return _JSON_TYPES[hint]
    if get_origin(hint) is UnionType:
        return {kind for part in get_args(hint) for kind in _json_types(part)}
    return {get_origin(hint) or hint}


_HINTS = get_type_hints(Attempt)
_TYPES = {
    key: _json_types(hint) | (set() if key in _REQUIRED else {NoneType})
    for key, hint in _HINTS.items()
}
_VALUES = {key: _json_types(get_args(_HINTS[key])[1]) for key in ("groups", "scores", "usage")}


def check_record(row: Row) -> None:
    """Refuse a row that is not a record."""
    # The types of JSON are exact, and comparing them is much faster than isinstance.
    for key in _REQUIRED:
        if key not in row:
            raise UserError(f"not a record ({key} is missing)")
    for key, types in _TYPES.items():
        if type(row.get(key)) not in types:
            raise UserError(f"not a record ({key} is {row[key]!r:.80})")
    for key, types in _VALUES.items():
        if not types.issuperset(map(type, (row.get(key) or {}).values())):
            raise UserError(f"not a record ({key} is {row[key]!r:.80})")
    if row.get("spec") is not None and None in (row.get("seed"), row.get("index")):
        raise UserError("not a record (it has a spec, but no seed or no index)")
    for key in ("trial", "order"):
        if not 0 <= (row.get(key) or 0) < 2**31:
            raise UserError(f"not a record ({key} is {row[key]!r:.80})")


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest in a folder; empty without one."""
    path = folder / MANIFEST
    return read_mapping(path) if path.exists() else {}


def _checked_rows(path: Path) -> Iterator[tuple[int, Row]]:
    for number, row in read_rows(path):
        try:
            check_record(row)
        except UserError as problem:
            raise UserError(f"{path} line {number}: {problem}") from None
        yield number, row


def read_records(path: Path) -> Iterator[tuple[int, Row]]:
    """Yields (line number, record); raises at the end if an attempt is recorded twice."""
    # Eight bytes for each record, so that millions fit in memory. Ids repeat between seeds,
    # specs and views.
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
    path: Path, *, errors: bool = True, includes: Callable[[Row], bool] | None = None
) -> set[AttemptKey]:
    """The attempts in a file that `includes` accepts, with or without failed ones.

    An incomplete last line is cut off.
    """
    if not path.exists():
        return set()
    with Appender(path):
        pass  # opening cuts off an incomplete last line
    included: dict[AttemptKey, bool] = {}
    for number, row in _checked_rows(path):
        key = (row["id"], row["trial"])
        again = f"{path} line {number}: a second record of the same item and trial"
        require(key not in included, again)
        counts = errors or row["kind"] != FAILED
        included[key] = counts and (includes is None or includes(row))
    return {key for key, counts in included.items() if counts}


def drop_errors(path: Path, includes: Callable[[Row], bool]) -> None:
    """Remove the failed attempts that `includes` accepts, so that they are retried."""
    if recorded(path, includes=includes) != recorded(path, includes=includes, errors=False):
        lines = (line for row, line in _lines(path) if row["kind"] != FAILED or not includes(row))
        _keep_lines(path, list(lines))


def sort_records(path: Path, order: Mapping[AttemptKey, int]) -> None:
    """Put the records into the order of their items."""
    last = len(order)  # attempts that are not part of this evaluation stay, at the end
    ranked = [(order.get((row["id"], row["trial"]), last), line) for row, line in _lines(path)]
    if ranked != sorted(ranked):
        _keep_lines(path, [line for _, line in sorted(ranked)])


Line = tuple[int, int]  # the offset of a line in its file, and its length


def _lines(path: Path) -> Iterator[tuple[Row, Line]]:
    """Every record with its position, so that only one at a time is in memory."""
    with open_input(path) as file:
        offset = 0
        for line in file:
            if line.strip():
                yield orjson.loads(line), (offset, len(line))
            offset += len(line)


def _keep_lines(path: Path, lines: Iterable[Line]) -> None:
    """Rewrite a file with only these lines, in this order."""
    with open_input(path) as old, atomic_write(path, sync=True) as new:
        for offset, length in lines:
            old.seek(offset)
            new.write(old.read(length))
