"""Both backends: the same scores to the last digit, and the same records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.models.server import Server, SolverModel
from trivium.benchmarks import benchmark_names, load_task
from trivium.cli import main
from trivium.core.benchmark import AnyBenchmark

ITEMS, SEED = 12, 5


def records(out: Path) -> list[dict[str, Any]]:
    rows = [orjson.loads(line) for line in (out / "records.jsonl").read_bytes().splitlines()]
    for row in rows:
        del row["usage"], row["seconds"], row["solver"]
    return rows


def metrics(out: Path) -> Any:
    summary = orjson.loads((out / "summary.json").read_bytes())
    del summary["solver"]
    return summary


def solver_of(benchmark: AnyBenchmark, role: str) -> str:
    return next(solver.name for solver in benchmark.solvers.values() if solver.role == role)


def evaluate(out: Path, name: str, *flags: str) -> None:
    words = ["eval", name, "--items", str(ITEMS), "--seed", str(SEED), "--order_trials", "2"]
    assert main([*words, "--yes", "--out", str(out), *flags]) == 0


@pytest.mark.parametrize("role", ["ceiling", "floor"])
@pytest.mark.parametrize("name", benchmark_names())
def test_both_backends_and_the_solver_itself_agree(name: str, role: str, tmp_path: Path) -> None:
    task = load_task(name)
    solver = solver_of(task.benchmark, role)
    evaluate(tmp_path / "solver", name, "--solver", solver)
    evaluate(tmp_path / "inspect", name, "--model", f"trivium/{solver}", "--backend", "inspect")
    with Server(SolverModel(task, solver, task.items(ITEMS, SEED), 2)) as server:
        flags = ["--model", "vllm/m", "--backend", "direct", "--base_url", server.url]
        flags += ["--concurrency", "1"]
        evaluate(tmp_path / "direct", name, *flags)
    assert metrics(tmp_path / "direct") == metrics(tmp_path / "solver")
    assert metrics(tmp_path / "inspect") == metrics(tmp_path / "solver")
    assert records(tmp_path / "direct") == records(tmp_path / "solver")
    assert records(tmp_path / "inspect") == records(tmp_path / "solver")
