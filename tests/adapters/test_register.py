"""The metadata for the register of Inspect Evals."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.adapters import required
from trivium.benchmarks import BENCHMARKS

ROOT = Path(__file__).parent.parent.parent
FILES = sorted((ROOT / "register").glob("*/eval.yaml"))


@pytest.mark.filterwarnings("ignore:`__get_validators__` is deprecated")  # the register's own
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_the_register_takes_the_metadata(path: Path) -> None:
    metadata = required("inspect_evals.metadata")
    entry = metadata.ExternalEvalMetadata(**metadata._load_single_eval_yaml(path))
    (task,) = entry.tasks
    assert entry.id == f"trivium-{task.name.replace('_', '-')}"
    assert "\n" not in entry.description


@pytest.mark.parametrize("name", BENCHMARKS)
def test_the_register_finds_the_task(name: str) -> None:
    resolver = required("register_tooling.task_resolver")
    text = (ROOT / "register/tasks.py").read_text()
    functions = [one for one in ast.parse(text).body if isinstance(one, ast.FunctionDef)]
    (line,) = [function.lineno for function in functions if function.name == name]
    assert resolver.resolve_task(text, line_anchor=line).name == name


def test_every_benchmark_has_an_entry() -> None:
    yaml = required("yaml")
    tasks = [yaml.safe_load(path.read_text())["tasks"][0] for path in FILES]
    assert sorted(task["name"] for task in tasks) == sorted(BENCHMARKS)
    assert all((ROOT / task["task_path"]).is_file() for task in tasks)


def test_inspect_runs_a_task_of_the_file(tmp_path: Path) -> None:
    inspect_ai = required("inspect_ai")
    (log,) = inspect_ai.eval(
        f"{ROOT}/register/tasks.py@blicket_game",
        model="trivium/optimal",
        task_args={"items": 2},
        log_dir=str(tmp_path),
        display="none",
    )
    assert log.status == "success"
    assert log.results.scores[0].metrics["trivium/estimate_value"].value == 1.0
