"""The Python API in a real Jupyter kernel, where an event loop is already running."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

import trivium
from tests.models.server import Server, SolverModel
from trivium.core import errors

SEED = 7


class Notebook:
    """A kernel that runs cells one by one."""

    def __init__(self, folder: Path) -> None:
        self.last: Any = None  # the cell that ran last
        self._book = nbformat.v4.new_notebook()  # type: ignore[no-untyped-call]
        self.client = NotebookClient(
            self._book, timeout=120, resources={"metadata": {"path": str(folder)}}
        )

    def run(self, source: str) -> str:
        """The text, HTML left out, that a cell shows."""
        return "".join(
            output.get("text", "") or output.get("data", {}).get("text/plain", "")
            for output in self.outputs(source)
        )

    def outputs(self, source: str) -> list[Any]:
        """All that a cell shows; an error is raised."""
        cell = nbformat.v4.new_code_cell(source)  # type: ignore[no-untyped-call]
        self.last = cell
        self._book.cells.append(cell)
        self.client.execute_cell(cell, len(self._book.cells) - 1)
        return list(cell.outputs)


# What a new user tries, and a part of what the cell shows; "!" marks an error of one sentence.
CELLS = [
    ("trivium.evaluate('nhop_implicit', 'oracle')", "oracle: correct 1.000"),
    ("task = trivium.load('nhop_implicit', hops=4); task", "<task nhop_implicit hops=4>"),
    ("task[0]", "<answer>"),
    ("len(task[2:5])", "3"),
    ("next(iter(task)).id", "IMP-000000"),
    ("a = trivium.evaluate(task, lambda p: 'x', items=[0, 5, 7], name='a'); a", ", a: correct"),
    ("b = trivium.evaluate(task, 'oracle', items=task.items(9)); b", "9 attempts"),
    ("print(b)", "nhop_implicit, oracle: 9 items, 9 answered"),
    ("trivium.compare(a, b)", "oracle (result 2) is"),
    ("a.failures()", "3 attempts that are not right"),
    ("a.filter(kind='no-answer')", "3 attempts"),
    ("a.to_pandas().shape[0]", "3"),
    ("trivium.run('nhop_implicit', items=3)", "oracle: correct 1.000"),
    ("c = trivium.sweep('nhop_implicit', hops=[3, 4], solvers=['oracle'], items=2)", ""),
    ("c", "hops=4: <nhop_implicit, oracle"),
    ("c.plot()", "<charts nhop_implicit_correct_by_steps"),
    ("trivium.diagnose('nhop_explicit', items=2, solvers=['oracle'])", "<results of"),
    ("trivium.audit('nhop_implicit', items=100)", "<audit "),
    ("trivium.estimate(task, items=10, price_in=1, price_out=2)", "at the given prices"),
    ("trivium.estimate(task, power=0.1)", "takes 272 items"),
    ("trivium.threshold(task, 'oracle', vary={'hops': [3, 4]}, max_items=50)", "beyond 4"),
    ("trivium.evaluate('nhop_implicit', 'oracle', items=3, hops=6)", "3 items"),
    ("trivium.evaluate('nhop_implict', 'oracle')", "!did you mean nhop_implicit"),
    ("trivium.evaluate(task, 'oracle', itms=3)", "!did you mean items"),
    ("trivium.evaluate(task, 'gpt-4.1-mini', system='Be brief')", "!OPENAI_API_KEY is not set"),
    ("trivium.evaluate(task, 'oracle', template='{prompt}', shots=3)", "!only models take"),
    ("trivium.evaluate(task, 'oracle', hop=5)", "!did you mean hops"),
    (
        "trivium.evaluate(task, 'a/b', base_url='http://127.0.0.1:9/v1')",
        "!cannot be asked: no",
    ),
    ("trivium.overlap('nhop_implicit', items=20)", "20 items of each of two seeds"),
    ("trivium.train('ppo', 'runs/a')", "!did you mean ppo-"),
    ("trivium.import_records('lost.eval', out='i')", "!lost.eval: no such file"),
    ("trivium.serve('lost.toml')", "!lost.toml: No such file"),
    ("trivium.new_benchmark('json')", "!is the name of a Python module"),
    ("trivium.check_benchmark('nhop_explict')", "!did you mean nhop_explicit"),
    ("async def nothing(prompt): return None", ""),
    ("trivium.evaluate(task, nothing, items=3)", "!must return text, got None"),
    ("from trivium import *; open.__module__", "io"),
]


def test_what_a_new_user_tries_works_or_says_what_to_do(notebook: Notebook) -> None:
    notebook.run("import os; os.environ.pop('OPENAI_API_KEY', None)")
    for source, expected in CELLS:
        if not expected.startswith("!"):
            assert expected in notebook.run(source), source
            continue
        with pytest.raises(CellExecutionError) as caught:
            notebook.run(source)
        (shown,) = [one for one in notebook.last.outputs if one["output_type"] == "error"]
        assert expected[1:] in shown["evalue"], source
        assert shown["traceback"] == [f"{shown['ename']}: {caught.value.evalue}"]
        assert issubclass(getattr(errors, shown["ename"]), errors.UserError)


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Notebook]:
    """One kernel for all tests."""
    made = Notebook(tmp_path_factory.mktemp("notebook"))
    with made.client.setup_kernel():
        made.run("import trivium")
        yield made


def stub(items: int, solver: str = "oracle", **options: Any) -> Server:
    task = trivium.load("nhop_implicit")
    return Server(SolverModel(task, solver, task.items(items, SEED)), **options)


@pytest.mark.parametrize("backend", ["direct", pytest.param("inspect", marks=pytest.mark.slow)])
def test_models_run_inside_the_loop_of_a_notebook(notebook: Notebook, backend: str) -> None:
    with stub(6) as server:
        shown = notebook.outputs(
            f"trivium.evaluate('nhop_implicit', 'vllm/x', base_url='{server.url}', items=6,"
            f" backend='{backend}')"
        )
    text = shown[-1]["data"]["text/plain"]
    assert "vllm/x: correct 1.000" in text
    assert "<table>" in shown[-1]["data"]["text/html"]
    bars = [one for one in shown if "<progress" in one.get("data", {}).get("text/html", "")]
    assert "6 of 6" in bars[-1]["data"]["text/html"]


def test_async_functions_and_batches_run_there_too(notebook: Notebook) -> None:
    notebook.run("async def ask(prompt): return 'B_0001'")
    assert "correct 0.000" in notebook.run("trivium.evaluate('nhop_implicit', ask, items=5)")
    notebook.run("def many(prompts): return ['TEST A' if len(p) % 2 else 'x' for p in prompts]")
    made = "trivium.evaluate('blicket_game', many, items=5, name='many')"
    assert "blicket_game, many: correct 0.000" in notebook.run(made)
    notebook.run("def few(prompts): return ['x']")
    with pytest.raises(CellExecutionError, match="must return a list of 5 replies, got 1"):
        notebook.run("trivium.evaluate('nhop_implicit', few, items=5)")


def test_an_interrupt_ends_the_call_and_the_same_call_resumes(notebook: Notebook) -> None:
    with stub(40, latency=0.2) as server:
        call = (
            f"trivium.evaluate('nhop_implicit', 'vllm/x', base_url='{server.url}', items=40,"
            " concurrency=2, out='run', backend='direct')"
        )
        notebook.run(
            "import os, signal, threading\nfrom pathlib import Path\n"
            "def stop():\n"
            "    records = Path('run/records.jsonl')\n"
            "    while not (records.exists() and records.read_bytes().count(b'\\n') >= 5):\n"
            "        threading.Event().wait(0.05)\n"
            "    os.kill(os.getpid(), signal.SIGINT)\n"
        )
        with pytest.raises(CellExecutionError, match="KeyboardInterrupt"):
            notebook.run(f"threading.Thread(target=stop).start()\n{call}")
        asked = server.asked.total()
        assert 5 <= asked < 40
        time.sleep(0.5)
        assert server.asked.total() == asked, "nothing is asked after the interrupt"
        assert "correct 1.000" in notebook.run(call)
        assert server.asked.total() <= 40 + 2, "only what was in flight is asked again"
