"""Runs units from one queue: each leaves one small file, and finished ones are not run again."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import asdict
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import orjson

from studies.blicket_learners.plan import (
    ImitatorUnit,
    LearnerUnit,
    MachinesUnit,
    ObserversUnit,
    QUnit,
    TransferUnit,
    Unit,
    UntrainedUnit,
    rough_seconds,
)
from trivium.core.errors import require
from trivium.core.files import atomic_write, dump_line
from trivium.core.spec import read_mapping

MIN_SECONDS = 30.0  # no unit is started with less time left
COMMIT = "STUDY_COMMIT"  # the environment variable that names the commit where git does not
Tell = Callable[[str], None]


def unit_file(out: Path, unit: Unit) -> Path:
    """Where the unit's record is written."""
    return out / "data" / f"{unit.name}.json"


def is_done(out: Path, unit: Unit) -> bool:
    """Whether the unit is finished as the plan has it; a record of another plan is refused."""
    path = unit_file(out, unit)
    if not path.exists():
        return False
    held = read_mapping(path)
    for name, asked in _identity(unit).items():
        require(
            _agrees(held.get(name), asked),
            f"{path}: {name} differs from what the plan asks for; choose another folder with --out",
        )
    return bool(held.get("finished")) and _is_whole(held, unit)


def _identity(unit: Unit) -> dict[str, Any]:
    """What a unit's record must hold to be that unit's, as JSON has it."""
    identity: dict[str, Any]
    if isinstance(unit, QUnit):
        identity = {"trials": unit.trials, "config": asdict(unit.config)}
    elif isinstance(unit, ImitatorUnit):
        names = ("seeds", "data", "episodes", "rollouts", "target", "greedy")
        identity = {name: getattr(unit, name) for name in names} | {"config": asdict(unit.config)}
    elif isinstance(unit, ObserversUnit):
        identity = {"seeds": unit.seeds, "counts": unit.counts}
    elif isinstance(unit, UntrainedUnit):
        identity = {"seeds": unit.seeds, "episodes": unit.episodes}
        identity["units"] = [learner.name for learner in unit.learners]
    else:
        identity = {"seeds": unit.seeds, "agent": unit.agent.to_dict()}
        if isinstance(unit, LearnerUnit):
            identity["asked_steps"] = unit.length.steps
            identity["tasks"] = [{"task": task.to_dict()} for task in unit.tasks]
        elif isinstance(unit, MachinesUnit):
            own = ("label", "labels", "quiz_bias", "place_bias", "counts")
            identity |= {name: getattr(unit, name) for name in own}
            identity["asked_steps"] = unit.length.steps
        else:
            identity["forms"] = unit.forms
    plain: dict[str, Any] = orjson.loads(dump_line(identity))
    return plain


def _agrees(held: Any, asked: Any) -> bool:
    """Whether a record holds these values, whatever else it holds."""
    if isinstance(asked, dict) and isinstance(held, dict):
        return all(_agrees(held.get(name), value) for name, value in asked.items())
    if isinstance(asked, list) and isinstance(held, list):
        return len(held) == len(asked) and all(map(_agrees, held, asked))
    return bool(held == asked)


def _is_whole(held: dict[str, Any], unit: Unit) -> bool:
    """Whether a record has the steps or epochs of the plan, or every run converged before."""
    if isinstance(unit, QUnit | ObserversUnit | UntrainedUnit):
        return True
    if isinstance(unit, ImitatorUnit):
        return bool(held["epochs"] == unit.config.epochs)
    batch = unit.agent.batch
    last = unit.length.curve_points(batch) * unit.length.updates(batch) * batch
    curves = held["tasks"] if isinstance(unit, LearnerUnit) else [held]
    return all(
        curve["steps"][-1] == last or min(curve.get("converged", [-1])) >= 0 for curve in curves
    )


def pending(units: Sequence[Unit], out: Path, patterns: Sequence[str] = ("*",)) -> list[Unit]:
    """The unfinished units whose names match, in the order of the patterns."""
    left = [unit for unit in units if not is_done(out, unit)]
    matches = [
        unit for pattern in patterns for unit in left if fnmatchcase(unit.name, pattern.strip())
    ]
    wanted = {unit.data for unit in matches if isinstance(unit, ImitatorUnit) and unit.maker}
    # Their records may be there, but not their policies: those are not part of the data.
    makers = [unit for unit in units if unit.name in wanted and not has_policies(out, unit)]
    return list(dict.fromkeys([*makers, *matches]))


def has_policies(out: Path, unit: Unit) -> bool:
    """Whether the policies are there that imitators of this unit need."""
    return not isinstance(unit, LearnerUnit) or all(
        policy_file(out, unit.name, seed).exists() for seed in range(unit.seeds)
    )


def policy_file(out: Path, unit_name: str, seed: int) -> Path:
    """Where a policy is kept for the imitators."""
    return out / "policies" / f"{unit_name}_{seed}.eqx"


def checkpoint_file(out: Path, unit: Unit) -> Path:
    """Where the state of an unfinished unit is kept."""
    return out / "unfinished" / f"{unit.name}.eqx"


def run_all(
    units: Sequence[Unit], out: Path, *, workers: int, deadline: float | None, tell: Tell
) -> list[str]:
    """Run the units in so many processes, the longest first; the names of those that failed.

    Imitators of agents wait until their agents are there.
    """
    waiting = sorted(units, key=lambda unit: -rough_seconds(unit)) if workers > 1 else list(units)
    running: dict[Future[str], Unit] = {}
    failed: list[str] = []
    with _pool(workers) as submit:
        while waiting or running:
            unmade = {unit.name for unit in (*waiting, *running.values())}
            for unit in list(waiting):
                makers = {unit.data} if isinstance(unit, ImitatorUnit) else set()
                if len(running) < workers and not makers & unmade:
                    waiting.remove(unit)
                    running[submit(run_unit, unit, out, deadline)] = unit
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                unit = running.pop(future)
                try:
                    tell(future.result())
                except Exception as problem:  # one unit must not end the others
                    failed.append(unit.name)
                    tell(f"{unit.name}: failed: {type(problem).__name__}: {problem}")
    return failed


@contextmanager
def _pool(workers: int) -> Iterator[Callable[..., Future[str]]]:
    """What calls functions: in this process, or in several that share the device."""
    if workers == 1:
        yield _call_here
        return
    # Each process takes memory as it needs it, and compiled programs are shared.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    cache = Path.home() / ".cache" / "trivium-study"
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(cache))
    spawn = multiprocessing.get_context("spawn")
    with _side_by_side(), ProcessPoolExecutor(workers, mp_context=spawn) as pool:
        yield pool.submit


def _call_here(function: Callable[..., str], *arguments: Any) -> Future[str]:
    future: Future[str] = Future()
    try:
        future.set_result(function(*arguments))
    except Exception as problem:  # as a process of the pool would
        future.set_exception(problem)
    return future


@contextmanager
def _side_by_side() -> Iterator[None]:
    """With NVIDIA's MPS, where it is there, the kernels of several processes run side by side."""
    control = shutil.which("nvidia-cuda-mps-control")
    if control is None:
        yield
        return
    started = subprocess.run([control, "-d"], capture_output=True, check=False).returncode == 0
    try:
        if started and not _device_works():
            started = _quit(control)
        yield
    finally:
        if started:
            _quit(control)


def _device_works() -> bool:
    """Whether a new process can use the device, which under MPS not every machine allows."""
    code = "import jax; jax.numpy.ones(2).sum().block_until_ready()"
    return (
        subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode
        == 0
    )


def _quit(control: str) -> bool:
    subprocess.run([control], input=b"quit\n", capture_output=True, check=False)
    return False


def run_unit(unit: Unit, out: Path, deadline: float | None = None, tell: Tell | None = None) -> str:
    """Run one unit, write its file, and say in a line what happened."""
    started = time.time()
    left = None if deadline is None else deadline - started
    if left is not None and left < MIN_SECONDS:
        return f"{unit.name}: no time left"
    kept = isinstance(unit, LearnerUnit) and unit.keep and not has_policies(out, unit)
    if is_done(out, unit) and not kept:
        return f"{unit.name}: finished meanwhile by another process"
    record = _run(unit, out, left, tell or _print)
    seconds = time.time() - started
    record |= {"seconds_here": round(seconds, 1), "commit": _commit()}
    with atomic_write(unit_file(out, unit)) as file:
        file.write(dump_line(record))  # one line, to keep the files small
    if not record["finished"]:
        return f"{unit.name}: out of time after {seconds:.0f} s, to be resumed"
    checkpoint_file(out, unit).unlink(missing_ok=True)
    return f"{unit.name}: finished after {seconds:.0f} s"


def _run(unit: Unit, out: Path, seconds: float | None, tell: Tell) -> dict[str, Any]:
    # Imported here: the process that hands out units must not take the device.
    from studies.blicket_learners import machines, train  # noqa: PLC0415

    if isinstance(unit, QUnit):
        return train.run_trials(unit)
    if isinstance(unit, UntrainedUnit):
        return train.play_untrained(unit)
    if isinstance(unit, ObserversUnit):
        return machines.run_observers(unit)
    runners: dict[type, Callable[..., dict[str, Any]]] = {
        LearnerUnit: train.train_learners,
        ImitatorUnit: train.train_imitators,
        TransferUnit: train.train_transfer,
        MachinesUnit: machines.train_machines,
    }
    return runners[type(unit)](unit, out, seconds, tell)


def _commit() -> str | None:
    """The commit that the code is of, as git or the environment says."""
    if COMMIT in os.environ:
        return os.environ[COMMIT]
    git = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    try:
        found = subprocess.run(git, capture_output=True, check=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return found.stdout.strip()


def _print(text: str) -> None:
    print(text, flush=True)
