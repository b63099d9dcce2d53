"""Units done one by one, each leaving one small file; what is there is not done again."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from studies.blicket_learners.imitators import run_imitators
from studies.blicket_learners.learners import Tell, checkpoint_file, run_learners
from studies.blicket_learners.plan import ImitatorUnit, LearnerUnit, QUnit, TransferUnit, Unit
from studies.blicket_learners.transfer import run_transfer
from trivium.agents.qlearning import learn
from trivium.core.errors import require
from trivium.core.files import dump_line, open_output
from trivium.core.spec import read_mapping

SHORTEST = 60.0  # seconds under which no further unit is begun


@dataclass(frozen=True)
class Task:
    """A unit with what it needs, cheap to send to another process."""

    unit: Unit
    makers: tuple[LearnerUnit, ...]  # learner units of the plan, whose policies make data
    out: str
    deadline: float | None = None  # on this machine's clock


def unit_file(out: Path, unit: Unit) -> Path:
    """Where the unit's results lie."""
    return out / "data" / f"{unit.name}.json"


def is_done(out: Path, unit: Unit) -> bool:
    """Whether the unit has been finished before; one of another scale is no part of this study."""
    path = unit_file(out, unit)
    if not path.exists():
        return False
    held = read_mapping(path)
    for name, asked in _scale(unit).items():
        require(
            _says(held.get(name), asked),
            f"{path}: {name} differs from what is asked for; choose another folder with --out",
        )
    return bool(held.get("finished"))


def _says(held: Any, asked: Any) -> bool:
    """Whether a record holds these values, whatever else it holds."""
    if isinstance(asked, dict) and isinstance(held, dict):
        return all(_says(held.get(name), value) for name, value in asked.items())
    return bool(held == asked)


def _scale(unit: Unit) -> dict[str, Any]:
    """What a unit's record must say for it to be that unit, as JSON has it."""
    if isinstance(unit, QUnit):
        scale = {"trials": unit.trials, "config": asdict(unit.config)}
    elif isinstance(unit, ImitatorUnit):
        scale = {"seeds": unit.seeds, "config": asdict(unit.config)}
    else:
        scale = {"seeds": unit.seeds, "agent": asdict(unit.agent)}
    plain: dict[str, Any] = orjson.loads(dump_line(scale))
    return plain


def pending(units: Sequence[Unit], out: Path, deadline: float | None = None) -> list[Task]:
    """What is left to do."""
    makers = tuple(unit for unit in units if isinstance(unit, LearnerUnit))
    return [Task(unit, makers, str(out), deadline) for unit in units if not is_done(out, unit)]


def run_task(task: Task, tell: Tell = print) -> str:
    """Do one unit and write its file; what happened, in a line."""
    began = time.time()
    left = None if task.deadline is None else task.deadline - began
    if left is not None and left < SHORTEST:
        return f"{task.unit.name}: no time left"
    out = Path(task.out)
    if is_done(out, task.unit):
        return f"{task.unit.name}: done meanwhile by another process"
    record = _run(task, out, left, tell)
    record["seconds_here"] = round(time.time() - began, 1)
    _write(unit_file(out, task.unit), record)
    if record["finished"]:
        checkpoint_file(out, task.unit).unlink(missing_ok=True)
    state = "done" if record["finished"] else "out of time, goes on from its checkpoint"
    return f"{task.unit.name}: {state} after {time.time() - began:.0f} s"


def _write(path: Path, record: dict[str, Any]) -> None:
    """One line of JSON, put in place in one step: small, and never half there."""
    partial = path.with_name(path.name + ".part")
    with open_output(partial) as file:
        file.write(dump_line(record))
    partial.replace(path)


def _run(task: Task, out: Path, left: float | None, tell: Tell) -> dict[str, Any]:
    unit = task.unit
    if isinstance(unit, QUnit):
        return run_trials(unit)
    if isinstance(unit, LearnerUnit):
        return run_learners(unit, out, left, tell)
    if isinstance(unit, TransferUnit):
        return run_transfer(unit, out, left, tell)
    makers = {maker.name: maker.agent for maker in task.makers}
    return run_imitators(unit, makers.get(unit.data), out, left, tell)


def run_trials(unit: QUnit) -> dict[str, Any]:
    """Every trial of Q-learning."""
    results = [learn(unit.config, seed) for seed in range(unit.trials)]
    return {
        "kind": "q",
        "name": unit.name,
        "config": asdict(unit.config),
        "finished": True,
        "trials": unit.trials,
        "episodes": [result.episodes for result in results],
        "steps": [result.steps for result in results],
        "converged": sum(result.converged for result in results),
        "histories": [result.histories for result in results],
    }


def in_order(tasks: Sequence[Task]) -> list[list[Task]]:
    """The tasks in groups that may be done side by side; imitators come after learners."""
    later = [task for task in tasks if isinstance(task.unit, ImitatorUnit)]
    first = [task for task in tasks if not isinstance(task.unit, ImitatorUnit)]
    return [group for group in (first, later) if group]
