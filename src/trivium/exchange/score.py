"""Scores of replies that were collected elsewhere, as a run folder."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

from trivium.core.benchmark import AnyBenchmark
from trivium.core.dialogue import Dialogue, Reply
from trivium.core.errors import UserError, located, require
from trivium.core.files import atomic_write, dump_line, locked, open_input, write_json
from trivium.core.records import MANIFEST, RECORDS, SUMMARY, Row, read_manifest
from trivium.core.results import Summary
from trivium.core.spec import spec_from_dict, spec_to_dict
from trivium.core.task import PresentedItem, Task
from trivium.core.text import csv_cell
from trivium.evaluation.evaluation import Evaluation, Items, versions
from trivium.evaluation.execute import COSMETIC, first_difference, write_summary
from trivium.exchange.export import NESTED, export_id
from trivium.exchange.replies import Turns, read_replies
from trivium.exchange.tables import read_table, whole_number


def read_prompts(task: Task, paths: Sequence[Path], *, own_view: bool) -> Iterator[PresentedItem]:
    """Yields the prompts of exported files, or of files of items in the task's view.

    `own_view` says that the user chose the view, which is an error for exported files.
    """
    seen = set()
    for path in paths:
        for number, (where, row) in enumerate(read_table(path)):
            with located(where):
                item = _prompt(task, row, number, own_view=own_view)
            key = export_id(item)
            require(key not in seen, f"{where}: {row.get('id', item.id)} is a duplicate")
            seen.add(key)
            yield item
    require(bool(seen), f"{', '.join(map(str, paths))}: there are no items")


def _with_file_floors(prompts: Sequence[PresentedItem]) -> Iterator[PresentedItem]:
    """Yields the prompts; the items of a task that have no spec share one floor."""
    items = defaultdict(list)
    for prompt in prompts:
        items[prompt.task].append(prompt.original)
    tasks = {task: task.with_file(originals) for task, originals in items.items()}
    for prompt in prompts:
        yield replace(prompt, task=tasks[prompt.task])


def holds_prompts(paths: Sequence[Path]) -> bool:
    """Whether Trivium exported these files, to which a column of replies may have been added."""
    first = next((row for path in paths for _, row in read_table(path)), {})
    return "prompt" in first and "view" in first


def _has_trials(paths: Sequence[Path]) -> bool:
    """Whether the rows of some files give trials other than 0."""
    rows = (row for path in paths for _, row in read_table(path))
    trials = ((row.get("metadata") or row).get("trial") for row in rows)
    return any(trial not in (None, "", 0, "0") for trial in trials)


def _prompt(task: Task, row: Row, number: int, *, own_view: bool) -> PresentedItem:
    if "metadata" in row and "input" in row:  # an Inspect sample
        text = row["input"] if isinstance(row["input"], str) else row["input"][-1]["content"]
        row = {**row["metadata"], "id": row["id"], "prompt": text}
    require(
        "custom_id" not in row,
        "requests do not say how their items were made: give --preset, --items, --seed and the "
        "other flags of the export instead of --in",
    )
    if "prompt" not in row or "view" not in row:
        return PresentedItem(task, task.benchmark.from_row(row, number))
    require(not own_view, "an exported file says how its items are presented; omit that flag")
    return _exported(task.benchmark, row)


def _exported(benchmark: AnyBenchmark, row: Row) -> PresentedItem:
    """The prompt of an exported row, regenerated and checked against the row."""
    row = {**row, **{key: _nested(row.get(key)) for key in NESTED}}
    name = row.get("benchmark")
    require(name == benchmark.name, f"this is an item of {name}, not of {benchmark.name}")
    task = _task(benchmark, orjson.dumps(row["spec"]), orjson.dumps(row["view"]))
    if row["spec"] is None:
        require(isinstance(row["source"], dict), "spec and source are missing: which item is this?")
        item = benchmark.from_row(row["source"], 0)
    else:
        seed, index = (whole_number(row.get(key), key) for key in ("seed", "index"))
        require(index >= 0, f"index must be at least 0, got {index}")
        item = next(iter(benchmark.generate(task.spec, seed, index, 1)))
    presented = PresentedItem(task, item, whole_number(row.get("trial") or 0, "trial"))
    require(
        row["prompt"] in (presented.prompt, csv_cell(presented.prompt)),
        "the prompt is not the one that spec, seed and index make: was the file changed, or "
        "exported by another version?",
    )
    return presented


def _nested(value: Any) -> Any:
    """A value that tables hold as JSON text."""
    if not isinstance(value, str):
        return value
    try:
        return orjson.loads(value) if value else None
    except orjson.JSONDecodeError:
        raise UserError(f"not JSON: {value!r:.80}") from None


@lru_cache(maxsize=256)
def _task(benchmark: AnyBenchmark, spec: bytes, view: bytes) -> Task:
    fields = orjson.loads(spec)
    require(fields is None or isinstance(fields, dict), f"spec must be an object, got {fields!r}")
    presented = spec_from_dict(benchmark.view_type, orjson.loads(view) or {}, where="view")
    made = None if fields is None else spec_from_dict(benchmark.spec_type, fields, where="spec")
    return Task(benchmark, made, presented)


def _record(item: PresentedItem, turns: Turns | None, solver: str) -> Row:
    """The record of one reply, with the prompt if the item cannot be regenerated."""
    dialogue, error = Dialogue(item), "no reply" if turns is None else None
    # All turns are noted, even after the end of the dialogue.
    for reply in turns or (Reply(""),):
        dialogue.note(reply.text, reply.stop_reason)
        error = reply.error or error
    attempt = dialogue.attempt(solver, error=error, seconds=0.0)
    if turns:
        attempt.usage, attempt.reasoning = dict(turns[-1].usage), turns[-1].reasoning
    if not any(dialogue.replies):  # tables cannot tell an empty reply from none
        attempt.reply = None
    row = asdict(attempt)
    return row if item.original.origin is not None else row | {"prompt": item.prompt}


@dataclass(frozen=True)
class Scoring:
    """The prompts, the replies and the solver that wrote them."""

    task: Task
    replies: Sequence[Path]
    files: Sequence[Path]  # exported files, dataset folders or files of items; or
    items: Items | None  # the items that were generated
    trials: int
    by_order: bool  # the n-th reply is to the n-th prompt
    solver: str
    own_view: bool = False  # whether the user chose the view

    def __post_init__(self) -> None:
        require(bool(self.replies), "--replies is missing: where are the replies?")
        require(
            bool(self.files) or self.items is not None,
            "--in is missing (or --items): which items were replied to?",
        )

    def prompts(self) -> Iterator[PresentedItem]:
        """Yields every prompt."""
        if self.files:
            found = list(read_prompts(self.task, self.files, own_view=self.own_view))
            return _with_file_floors(found)
        assert self.items is not None
        return Evaluation(self.task, self.items, self.solver).presented()

    def records(self) -> Iterator[Row]:
        """Yields a record for every prompt in every trial; one without a reply has failed."""
        names = [export_id(prompt) for prompt in self.prompts()] if self.by_order else None
        replies = read_replies(self.replies, lists=self.task.benchmark.multi_turn, names=names)
        one_trial_each = self.by_order or (self.files and _has_trials(self.files))
        trials = 1 if one_trial_each else max(self.trials, replies.trials)
        for prompt in self.prompts():
            for trial in range(trials) if trials > 1 else (prompt.trial,):
                # Replies beyond the orders repeat them.
                order = trial % self.trials if trials > 1 else -1
                item = PresentedItem(prompt.task, prompt.original, trial, order)
                seed = None if item.original.origin is None else item.original.origin.seed
                # The names that a reply may use, each with the trial that it implies.
                given = {export_id(prompt): prompt.trial, export_id(item): trial, item.id: 0}
                yield _record(item, replies.take(given, seed, trial), self.solver)
        replies.require_all_used()

    def manifest(self) -> dict[str, Any]:
        """The fields of run.json that identify the scores."""
        made = None if self.items is None else [self.items.seed, self.items.start, self.items.count]
        return versions([self.task.benchmark]) | {
            "kind": "score",
            "benchmark": self.task.benchmark.name,
            "solver": self.solver,
            "spec": None if self.files else spec_to_dict(self.task.spec),
            "view": spec_to_dict(self.task.view),
            "items": content_hash(self.files) if self.files else made,
            "replies": content_hash(self.replies),
            "order_trials": self.trials,
            "by_order": self.by_order,
        }


def write_scores(scoring: Scoring, out: Path, command: str | None = None) -> Summary:
    """Write the run folder; refuse one with the results of other replies."""
    require(not out.is_file(), f"{out} is a file: --out is the folder of the records")
    manifest = scoring.manifest()
    files = [str(path) for path in (*scoring.files, *scoring.replies)]
    with locked(out):
        held = read_manifest(out)
        same = bool(held) and first_difference(held, manifest, COSMETIC | {"files"}) is None
        free = not held and not any((out / name).exists() for name in (RECORDS, SUMMARY))
        require(
            same or free,
            f"{out} holds the results of other replies; choose another folder with --out",
        )
        with atomic_write(out / RECORDS) as file:
            file.writelines(map(dump_line, scoring.records()))
            # Written last, so that replies that cannot be scored do not claim the folder.
            write_json(out / MANIFEST, manifest | {"files": files, "command": command})
        return write_summary(scoring.task.benchmark, out)


def content_hash(paths: Iterable[Path]) -> str:
    """A hash of the contents of files, or of the Parquet files in folders."""
    digest = hashlib.sha256()
    for path in paths:
        once = path.exists() and not (path.is_file() or path.is_dir())
        require(not once, f"{path}: a pipe can be read only once; write it to a file first")
        for part in sorted(path.rglob("*.parquet")) if path.is_dir() else [path]:
            with open_input(part) as file:
                while chunk := file.read(1 << 20):
                    digest.update(chunk)
    return digest.hexdigest()
