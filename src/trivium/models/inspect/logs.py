"""Attempts from Inspect logs; their replies are parsed and scored again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from inspect_ai.log import EvalLog, read_eval_log, read_eval_log_samples

from trivium.core.errors import UserError, require
from trivium.core.records import Attempt
from trivium.core.text import one_line
from trivium.models.inspect.samples import ATTEMPT, sample_attempt
from trivium.models.secrets import hider


def log_files(path: Path) -> list[Path]:
    """The log at a path, or all logs under a folder, the oldest first."""
    if path.is_dir():
        found = sorted(path.rglob("*.eval"))
        require(bool(found), f"{path}: no Inspect logs in this folder")
        return found
    require(path.exists(), f"{path}: no such file or folder")
    require(path.suffix in (".eval", ".json"), f"{path}: an Inspect log ends in .eval or .json")
    return [path]


def read_header(path: Path) -> EvalLog:
    """A log without its samples."""
    try:
        return read_eval_log(str(path), header_only=True)
    except Exception as problem:  # a file that is not a log may raise anything
        raise UserError(f"{path}: not an Inspect log ({type(problem).__name__})") from None


def read_attempts(path: Path) -> Iterator[Attempt]:
    """The samples of a log as attempts, read one at a time."""
    header, hide = read_header(path), hider()
    trials = int((header.eval.task_args or {}).get("order_trials", 1))
    for sample in read_eval_log_samples(str(path), all_samples_required=False):
        metadata = dict(sample.metadata)
        if sample.error is not None and ATTEMPT not in metadata:  # it failed before our solver
            metadata[ATTEMPT] = {"error": one_line(hide(sample.error.message))}
        try:
            attempt = sample_attempt(metadata, header.eval.model, hide)
        except UserError as problem:
            raise UserError(f"{path}: sample {sample.id}: {problem}") from None
        # A repeated epoch is one more trial of the same item.
        attempt.trial += (sample.epoch - 1) * trials
        yield attempt
