"""Inspect logs as records: parsed and scored again from what was said, by the same code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalLog, EvalSample, read_eval_log, read_eval_log_samples

from trivium.core.dialogue import failed, record
from trivium.core.errors import UserError, require
from trivium.core.records import Attempt
from trivium.models.inspect.samples import REPLIES, SECONDS, USAGE, read_sample
from trivium.models.providers import MAX_ERROR, key_hider

SUFFIXES = (".eval", ".json")


def log_files(path: Path) -> list[Path]:
    """The log that is named, or all logs under a folder, the oldest first."""
    if path.is_dir():
        found = sorted(file for file in path.rglob("*") if file.suffix == ".eval")
        require(bool(found), f"{path}: no Inspect logs in this folder")
        return found
    require(path.exists(), f"{path}: no such file or folder")
    require(path.suffix in SUFFIXES, f"{path}: an Inspect log ends in .eval or .json")
    return [path]


def read_log(path: Path) -> tuple[EvalLog, Iterator[Attempt]]:
    """A log's header, and its finished samples as attempts; one at a time is in memory."""
    try:
        header = read_eval_log(str(path), header_only=True)
    except Exception as problem:  # whatever a file that is no log makes of the reader
        raise UserError(f"{path}: not an Inspect log ({type(problem).__name__})") from None
    return header, _attempts(path, header)


def solver_name(header: EvalLog) -> str:
    """Who made the attempts of a log: its model, or the built-in solver that took its place."""
    if (header.eval.solver or "").rpartition("/")[2] == "baseline":
        return str((header.eval.solver_args or {}).get("solver"))
    return header.eval.model


def _attempts(path: Path, header: EvalLog) -> Iterator[Attempt]:
    solver, hide = solver_name(header), key_hider()
    trials = int((header.eval.task_args or {}).get("order_trials", 1))
    for sample in read_eval_log_samples(str(path), all_samples_required=False):
        try:
            attempt = sample_attempt(sample, solver, hide)
        except UserError as problem:
            raise UserError(f"{path}: sample {sample.id}: {problem}") from None
        # A repeated epoch is one more trial of the same item.
        attempt.trial += (sample.epoch - 1) * trials
        yield attempt


def sample_attempt(sample: EvalSample, solver: str, hide: Callable[[str], str]) -> Attempt:
    """One logged sample as an attempt; `hide` takes keys out of what was said."""
    if sample.error is None:
        return attempt_of(sample.metadata, sample.store, solver, hide)
    known = read_sample(sample.metadata)
    # What Inspect says first is the whole request; why it failed is at the end.
    line = " ".join(hide(sample.error.message).split())
    error = line if len(line) <= MAX_ERROR else "..." + line[-MAX_ERROR:]
    return failed(known.benchmark, known.told, solver, known.view, trial=known.trial, error=error)


def attempt_of(
    metadata: Mapping[str, Any],
    store: Mapping[str, Any],
    solver: str,
    hide: Callable[[str], str],
) -> Attempt:
    """What a sample's metadata and store say of an attempt."""
    known = read_sample(metadata)
    replies = store.get(REPLIES) or []
    if not replies:
        return failed(
            known.benchmark, known.told, solver, known.view, trial=known.trial, error="no reply"
        )
    return record(
        known.benchmark,
        known.told,
        solver,
        [hide(reply) for reply in replies],
        known.view,
        trial=known.trial,
        usage=store.get(USAGE),
        seconds=store.get(SECONDS, 0.0),
    )
