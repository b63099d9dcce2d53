"""Both backends: which one is used, and the same records and scores to the last digit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.models.common import eval_words, oracle, same_for_all, summary
from tests.models.server import Server, SolverModel
from trivium.benchmarks import benchmark_names, get_benchmark, load_task
from trivium.cli import main
from trivium.core.benchmark import AnyBenchmark
from trivium.models.backends import choose_backend
from trivium.models.providers import Model
from trivium.models.settings import ModelOptions

ITEMS, SEED = 12, 5
GAMES = [name for name in benchmark_names() if get_benchmark(name).multi_turn]


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
        evaluate(tmp_path / "direct", name, *flags, "--concurrency", "1")
    own = {"solver": None, "tokens": None, "median_seconds": None}
    expected = summary(tmp_path / "solver") | own
    for backend in ("direct", "inspect"):
        assert summary(tmp_path / backend) | own == expected
        assert same_for_all(tmp_path / backend) == same_for_all(tmp_path / "solver")


@pytest.mark.parametrize("backend", ["direct", "inspect"])
def test_as_many_calls_as_are_asked_for_are_open_at_once(backend: str, tmp_path: Path) -> None:
    with Server(oracle(30), latency=0.3) as server:
        words = eval_words(server, tmp_path, "--concurrency", "7", backend=backend, items=30)
        assert main(words) == 0
    assert server.most_open_calls == 7


@pytest.mark.parametrize(
    ("benchmark", "model", "options", "backend"),
    [
        ("nhop_implicit", "openai/gpt-4.1-mini", {}, "direct"),
        ("nhop_implicit", "ollama/llama3.2", {}, "direct"),
        ("nhop_implicit", "anthropic/claude-sonnet-4-5", {}, "inspect"),
        ("nhop_implicit", "mine/m", {"base_url": "http://localhost:1/v1"}, "direct"),
        ("nhop_implicit", "openai/gpt-4.1-mini", {"backend": "inspect"}, "inspect"),
        *((name, "openai/m", {}, "inspect") for name in GAMES),
        *((name, "openai/m", {"backend": "direct"}, "direct") for name in GAMES),
    ],
)
def test_the_backend_that_fits_is_chosen(
    benchmark: str, model: str, options: dict[str, Any], backend: str
) -> None:
    asked = ModelOptions(**options)
    found = choose_backend(get_benchmark(benchmark), Model(model, asked.settings(), asked))
    assert found == backend
