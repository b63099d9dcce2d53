"""A sweep's cells on the Inspect lane: one eval set, our records, and what resuming gives."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.models.server import Server, SolverModel
from tests.models.test_hostile import KEY, everything_written
from trivium.benchmarks import load_task
from trivium.cli import main
from trivium.models.inspect.logs import log_files

HOPS, SEED, ITEMS = (4, 5, 6), 3, 8
CONFIG = f"""
benchmark = "nhop_implicit"
hops = {list(HOPS)}
seeds = {SEED}
items = {ITEMS}
solvers = ["oracle"]
"""


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("trivium.commands.sweep.write_report", lambda folder: folder)
    Path("small.toml").write_text(CONFIG)
    return ["sweep", "small.toml", "--backend", "inspect", "--processes", "1", "--no-data"]


@pytest.fixture
def model() -> SolverModel:
    tasks = [load_task("nhop_implicit", fields={"hops": hops}) for hops in HOPS]
    items = [item for task in tasks for item in task.items(ITEMS, SEED)]
    return SolverModel(tasks[0], "oracle", items)


def records(folder: Path) -> list[dict[str, Any]]:
    """The records of a cell, without what tells who made them and how fast."""
    lines = (folder / "records.jsonl").read_bytes().splitlines()
    own = {"solver": None, "usage": None, "seconds": None}
    return [orjson.loads(line) | own for line in lines]


def test_the_cells_of_a_sweep_are_one_eval_set(words: list[str]) -> None:
    words += ["--out", "here", "--model", "trivium/oracle", "--model", "trivium/last_line"]
    assert main(words) == 0
    here = Path("here")
    (made,) = here.rglob("eval-set.json")
    tasks = orjson.loads(made.read_bytes())["tasks"]
    assert len(tasks) == len(log_files(here)) == 2 * len(HOPS)
    for hops in HOPS:
        cells = [here / "results" / f"hops{hops}_seed{SEED}_{who}" for who in ("", "trivium_")]
        ours, asked = (cell.with_name(f"{cell.name}oracle") for cell in cells)
        assert records(asked) == records(ours)
    before = (here / "summary.csv").read_bytes()
    assert main(words) == 0, "nothing is left to ask"
    assert len(log_files(here)) == 2 * len(HOPS)
    assert (here / "summary.csv").read_bytes() == before


def test_a_sweep_killed_in_the_middle_ends_the_same(words: list[str], model: SolverModel) -> None:
    words += ["--model", "vllm/m", "--concurrency", "4"]
    with Server(model, latency=0.1) as server:
        words += ["--base_url", server.url]
        assert main([*words, "--out", "whole"]) == 0
        assert set(server.answered.values()) == {1}
        server.answered.clear()
        for held in (3, 13):
            run = subprocess.Popen([sys.executable, "-m", "trivium", *words, "--out", "killed"])
            while _held(Path("killed")) < held:
                time.sleep(0.02)
            run.send_signal(signal.SIGKILL)
            assert run.wait() == -signal.SIGKILL
        assert main([*words, "--out", "killed"]) == 0
        # Asked again is only what was under way at each kill.
        assert sum(server.answered.values()) <= ITEMS * len(HOPS) + 2 * 4
    for path in Path("whole/results").glob("*/records.jsonl"):
        twin = Path("killed") / path.relative_to("whole")
        assert records(twin.parent) == records(path.parent)
    assert Path("killed/summary.csv").read_bytes() == Path("whole/summary.csv").read_bytes()


def _held(out: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in out.glob("results/*vllm*/records.jsonl"))


def test_what_failed_for_good_in_one_cell_is_asked_again(
    words: list[str], model: SolverModel
) -> None:
    broken = {load_task("nhop_implicit", fields={"hops": HOPS[1]}).item(2, SEED).prompt}
    cell = Path("here/results") / f"hops{HOPS[1]}_seed{SEED}_vllm_m"
    with Server(model, lambda prompt, nth: "400" if prompt in broken else None) as server:
        words += ["--out", "here", "--model", "vllm/m", "--base_url", server.url]
        assert main(words) == 0
        assert Counter(row["kind"] for row in records(cell)) == {"right": ITEMS - 1, "error": 1}
        broken.clear()
        before = server.asked.copy()
        assert main([*words, "--retry_errors"]) == 0
        assert sum((server.asked - before).values()) == 1
    assert [(row["index"], row["kind"]) for row in records(cell)] == [
        (index, "right") for index in range(ITEMS)
    ]


def test_an_interrupt_keeps_the_records_and_no_key(
    words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VLLM_API_KEY", KEY)
    words += ["--out", "here", "--model", "vllm/m", "--concurrency", "2"]
    with Server(lambda messages: f"my key is {KEY}", latency=0.1) as server:
        words += ["--base_url", server.url]
        run = subprocess.Popen([sys.executable, "-m", "trivium", *words])
        while _held(Path("here")) < 3:
            time.sleep(0.02)
        run.send_signal(signal.SIGINT)
        assert run.wait() == 130
    assert _held(Path("here")) >= 3
    assert log_files(Path("here"))
    written = everything_written(Path("here"))
    assert b"my key is [key]" in written
    assert KEY.encode() not in written
