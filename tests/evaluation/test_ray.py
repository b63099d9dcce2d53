"""A real Ray cluster of two nodes, one of which dies in the middle of a sweep."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from trivium.core.files import read_rows
from trivium.evaluation.execute import execute
from trivium.evaluation.index import write_table
from trivium.evaluation.plan import read_sweep

CLUSTER = Path(__file__).with_name("ray_cluster.py")
CONFIG = """
benchmark = "nhop_implicit"
items = 80
hops = [4, 5, 6, 7, 8]
m = [4, 6]
seeds = [7, 13]
"""
CELLS = 5 * 2 * 2 * 6
# Nothing is reported to anybody, and a dead node is noticed within seconds.
SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_health_check_period_ms": "500",
    "RAY_health_check_failure_threshold": "2",
}


@pytest.mark.slow
def test_a_node_that_dies_changes_nothing(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    config = tmp_path / "hundred.toml"
    config.write_text(CONFIG)
    environment = {**os.environ, **SETTINGS}
    with subprocess.Popen(
        [sys.executable, str(CLUSTER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
    ) as cluster:
        assert cluster.stdin is not None
        assert cluster.stdout is not None
        address = cluster.stdout.readline().strip()
        out = tmp_path / "far"
        words = ["sweep", str(config), "--out", str(out), "--no_data", "--executor", "ray"]
        command = [sys.executable, "-m", "trivium", *words, "--ray_address", address]
        with subprocess.Popen(command, env=environment) as sweep:
            _wait_for(out, CELLS // 5)
            cluster.stdin.write("kill\n")
            cluster.stdin.flush()
            assert cluster.stdout.readline().strip() == "killed"
            finished = len(list(out.glob("results/*/records.jsonl")))
            assert finished < CELLS, "the node died too late to matter"
            assert sweep.wait(timeout=120) == 0
        cluster.stdin.close()
    near = tmp_path / "near"
    run = read_sweep(str(config))
    write_table(run, execute(run, near), near)
    assert (out / "summary.csv").read_bytes() == (near / "summary.csv").read_bytes()
    for path in near.glob("results/*/records.jsonl"):
        twin = out / path.relative_to(near)
        assert _without_times(twin) == _without_times(path)
    assert len((out / "summary.csv").read_text().splitlines()) == 1 + CELLS


def _without_times(path: Path) -> list[dict[str, Any]]:
    return [{**row, "seconds": None} for _, row in read_rows(path)]


def _wait_for(out: Path, cells: int) -> None:
    deadline = time.monotonic() + 90
    while len(list(out.glob("results/*/records.jsonl"))) < cells:
        assert time.monotonic() < deadline, "the sweep did not get going"
        time.sleep(0.02)


def test_an_address_without_a_cluster_is_named(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    words = ["sweep", "implicit_small", "--out", str(tmp_path), "--executor", "ray"]
    done = subprocess.run(
        [sys.executable, "-m", "trivium", *words, "--ray_address", "127.0.0.1:1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr[-2000:]
    assert "no Ray cluster at '127.0.0.1:1'" in done.stderr
