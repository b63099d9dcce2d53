"""Inspect logs: read as attempts, which are parsed and scored again, and kept free of keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from inspect_ai.log import (
    EvalLog,
    EvalSample,
    read_eval_log,
    read_eval_log_sample,
    read_eval_log_sample_summaries,
    read_eval_log_samples,
)

from trivium.core.dialogue import failed_attempt
from trivium.core.errors import UserError, require
from trivium.core.files import atomic_write
from trivium.core.records import Attempt
from trivium.models.inspect.samples import ATTEMPT, logged_attempt, presented_item
from trivium.models.providers import HIDDEN, MAX_ERROR, api_keys, key_hider

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


def read_header(path: Path) -> EvalLog:
    """A log without its samples."""
    try:
        return read_eval_log(str(path), header_only=True)
    except Exception as problem:  # whatever a file that is no log makes of the reader
        raise UserError(f"{path}: not an Inspect log ({type(problem).__name__})") from None


def solver_name(header: EvalLog) -> str:
    """Who made the attempts of a log: its model, or the built-in solver that took its place."""
    if (header.eval.solver or "").rpartition("/")[2] == "baseline":
        return str((header.eval.solver_args or {}).get("solver"))
    return header.eval.model


def read_attempts(path: Path) -> Iterator[Attempt]:
    """The finished samples of a log as attempts; one at a time is in memory."""
    header, hide = read_header(path), key_hider()
    solver = solver_name(header)
    trials = int((header.eval.task_args or {}).get("order_trials", 1))
    for sample in read_eval_log_samples(str(path), all_samples_required=False):
        try:
            attempt = sample_attempt(sample, solver, hide)
        except UserError as problem:
            raise UserError(f"{path}: sample {sample.id}: {problem}") from None
        # A repeated epoch is one more trial of the same item.
        attempt.trial += (sample.epoch - 1) * trials
        yield attempt


def failed_samples(path: Path) -> Iterator[EvalSample]:
    """The samples of a log that ended without a score."""
    for summary in read_eval_log_sample_summaries(path):
        if summary.error is not None or not summary.scores:
            yield read_eval_log_sample(path, summary.id, summary.epoch)


def sample_attempt(sample: EvalSample, solver: str, hide: Callable[[str], str]) -> Attempt:
    """One logged sample as an attempt; `hide` removes keys from what was said."""
    if sample.error is None:
        return logged_attempt(sample.metadata, sample.store, solver, hide)
    if (sample.metadata.get(ATTEMPT) or {}).get("error"):
        return logged_attempt(sample.metadata, sample.store, solver, hide)
    # Inspect's message begins with the whole request; why it failed is at the end.
    line = " ".join(hide(sample.error.message).split())
    error = line if len(line) <= MAX_ERROR else "..." + line[-MAX_ERROR:]
    return failed_attempt(presented_item(sample.metadata), solver, error)


def remove_keys(path: Path) -> None:
    """Write a log again without keys where a server had repeated one."""
    keys = [key.encode() for key in api_keys()]
    try:
        with ZipFile(path) as log:
            parts = [(part, log.read(part)) for part in log.infolist()]
    except (BadZipFile, EOFError, OSError, NotImplementedError):
        # A killed process left it half written: nothing can read it, nor tell what is in it.
        path.unlink(missing_ok=True)
        return
    if not any(key in content for _, content in parts for key in keys):
        return
    with atomic_write(path) as file, ZipFile(file, "w") as new:
        for part, content in parts:
            hidden = reduce(lambda text, key: text.replace(key, HIDDEN.encode()), keys, content)
            new.writestr(part, hidden)
