"""Executors: results in order, workers that die are replaced, and never without end."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from trivium.core.errors import UserError
from trivium.evaluation.executors import Executor, Here, ProgressBar, Workers


def _square(number: int) -> int:
    return number * number


def _die_once(task: tuple[int, str]) -> int:
    """Kills its own process on the first call for a task whose file is not there yet."""
    number, mark = task
    if mark and not Path(mark).exists():
        Path(mark).touch()
        os._exit(9)
    return number * number


def _die(number: int) -> int:
    if number == 3:
        os._exit(9)
    return number


def _refuse(number: int) -> int:
    raise UserError(f"no {number}")


def test_results_come_in_the_order_of_the_tasks() -> None:
    expected = [number * number for number in range(40)]
    assert list(Here().map(_square, range(40))) == expected
    with Workers(processes=2).open() as executor:
        assert list(executor.map(_square, range(40))) == expected


def test_a_dead_worker_is_replaced_and_nothing_is_lost(tmp_path: Path) -> None:
    marks = {5: str(tmp_path / "five"), 13: str(tmp_path / "thirteen")}
    tasks = [(number, marks.get(number, "")) for number in range(20)]
    with Workers(processes=2).open() as executor:
        assert list(executor.map(_die_once, tasks)) == [number * number for number in range(20)]
    assert all(Path(mark).exists() for mark in marks.values())


@pytest.mark.slow
def test_a_task_that_always_kills_its_worker_ends_in_a_sentence() -> None:
    with Workers(processes=2).open() as executor:
        results = executor.map(_die, range(6))
        assert [next(results) for _ in range(3)] == [0, 1, 2]
        with pytest.raises(UserError, match="died 3 times"):
            next(results)


@pytest.mark.parametrize("processes", [1, 2])
def test_a_task_that_fails_fails_for_the_one_who_asked(processes: int) -> None:
    def ask(executor: Executor) -> None:
        list(executor.map(_refuse, [1]))

    with Workers(processes=processes).open() as executor, pytest.raises(UserError, match="no 1"):
        ask(executor)


def test_bad_workers_are_refused() -> None:
    with pytest.raises(UserError, match="processes must be at least 1, got 0"):
        Workers(processes=0)
    with pytest.raises(UserError, match="ray_address needs --executor ray"):
        Workers(ray_address="auto")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """The time, which a test sets."""
    now = {"time": 100.0}
    monkeypatch.setattr("time.monotonic", lambda: now["time"])
    return now


def test_progress_is_printed_every_ten_seconds(
    clock: dict[str, float], capsys: pytest.CaptureFixture[str]
) -> None:
    with ProgressBar("nhop", 100, done=40) as progress:
        for seconds in (4, 8, 12, 16, 23):
            clock["time"] = 100.0 + seconds
            progress.advance(6)
    assert capsys.readouterr().err.splitlines() == [
        "nhop: 58/100, 2/s, about 28 s left",
        "nhop: 70/100, 1/s, about 23 s left",
    ]


def test_progress_is_printed_by_number(
    clock: dict[str, float], capsys: pytest.CaptureFixture[str]
) -> None:
    with ProgressBar("nhop", 12, every=5) as progress:
        for _ in range(4):
            clock["time"] += 1
            progress.advance(3)
    assert [line.split(",")[0] for line in capsys.readouterr().err.splitlines()] == [
        "nhop: 6/12",
        "nhop: 12/12",
    ]
