"""Runs units one by one: each leaves one small file, and finished ones are not run again."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import orjson

from studies.blicket_learners.plan import ImitatorUnit, LearnerUnit, QUnit, Unit
from studies.blicket_learners.train import (
    Report,
    checkpoint_file,
    run_trials,
    train_imitators,
    train_learners,
    train_transfer,
)
from trivium.core.errors import require
from trivium.core.files import atomic_write, dump_line
from trivium.core.spec import read_mapping

MIN_SECONDS = 60.0  # no unit is started with less time left


def unit_file(out: Path, unit: Unit) -> Path:
    """Where the unit's record is written."""
    return out / "data" / f"{unit.name}.json"


def is_done(out: Path, unit: Unit) -> bool:
    """Whether the unit is finished; a record of another scale is refused."""
    path = unit_file(out, unit)
    if not path.exists():
        return False
    held = read_mapping(path)
    for name, asked in _identity(unit).items():
        require(
            _agrees(held.get(name), asked),
            f"{path}: {name} differs from what is asked for; choose another folder with --out",
        )
    return bool(held.get("finished"))


def _identity(unit: Unit) -> dict[str, Any]:
    """What a unit's record must hold to be that unit's, as JSON has it."""
    if isinstance(unit, QUnit):
        identity = {"trials": unit.trials, "config": asdict(unit.config)}
    elif isinstance(unit, ImitatorUnit):
        identity = {"seeds": unit.seeds, "config": asdict(unit.config)}
    else:
        identity = {"seeds": unit.seeds, "agent": asdict(unit.agent)}
    plain: dict[str, Any] = orjson.loads(dump_line(identity))
    return plain


def _agrees(held: Any, asked: Any) -> bool:
    """Whether a record holds these values, whatever else it holds."""
    if isinstance(asked, dict) and isinstance(held, dict):
        return all(_agrees(held.get(name), value) for name, value in asked.items())
    return bool(held == asked)


def pending(units: Sequence[Unit], out: Path, patterns: Sequence[str] = ("*",)) -> list[Unit]:
    """The unfinished units whose names match, in the order of the patterns."""
    left = [unit for unit in units if not is_done(out, unit)]
    matches = [
        unit for pattern in patterns for unit in left if fnmatchcase(unit.name, pattern.strip())
    ]
    return list(dict.fromkeys(matches))


def stages(units: Sequence[Unit]) -> list[list[Unit]]:
    """The units in groups that may run side by side; imitators need the learners' policies."""
    first: list[Unit] = [unit for unit in units if not isinstance(unit, ImitatorUnit)]
    later: list[Unit] = [unit for unit in units if isinstance(unit, ImitatorUnit)]
    return [group for group in (first, later) if group]


def run_unit(
    unit: Unit, out: Path, deadline: float | None = None, report: Report | None = None
) -> str:
    """Run one unit, write its file, and say in a line what happened."""
    started = time.time()
    left = None if deadline is None else deadline - started
    if left is not None and left < MIN_SECONDS:
        return f"{unit.name}: no time left"
    if is_done(out, unit):
        return f"{unit.name}: finished meanwhile by another process"
    record = _run(unit, out, left, report or _print)
    seconds = time.time() - started
    record["seconds_here"] = round(seconds, 1)
    with atomic_write(unit_file(out, unit)) as file:
        file.write(dump_line(record))  # one line, to keep the files small
    if not record["finished"]:
        return f"{unit.name}: out of time after {seconds:.0f} s, to be resumed"
    checkpoint_file(out, unit).unlink(missing_ok=True)
    return f"{unit.name}: finished after {seconds:.0f} s"


def _run(unit: Unit, out: Path, seconds: float | None, report: Report) -> dict[str, Any]:
    if isinstance(unit, QUnit):
        return run_trials(unit)
    if isinstance(unit, LearnerUnit):
        return train_learners(unit, out, seconds, report)
    if isinstance(unit, ImitatorUnit):
        return train_imitators(unit, out, seconds, report)
    return train_transfer(unit, out, seconds, report)


def _print(text: str) -> None:
    print(text, flush=True)
