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

SEED = 7


class Notebook:
    """A kernel that runs cells one by one."""

    def __init__(self, folder: Path) -> None:
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
        self._book.cells.append(cell)
        self.client.execute_cell(cell, len(self._book.cells) - 1)
        return list(cell.outputs)


@pytest.fixture
def notebook(tmp_path: Path) -> Iterator[Notebook]:
    made = Notebook(tmp_path)
    with made.client.setup_kernel():
        made.run("import trivium")
        yield made


def stub(items: int, solver: str = "oracle", **options: Any) -> Server:
    task = trivium.load("nhop_implicit")
    return Server(SolverModel(task, solver, task.items(items, SEED)), **options)


@pytest.mark.parametrize("backend", ["direct", "inspect"])
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
