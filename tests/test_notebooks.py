"""The notebooks in docs run in a real kernel, and show what they show in the file.

`python -m tests.test_notebooks` runs them all and keeps what they show.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[1] / "docs" / "notebooks").glob("*.ipynb"))
MAX_BYTES = 100_000  # of a file, with what it shows


def executed(path: Path) -> Any:
    """The notebook after a run in an empty folder; an error is raised."""
    book = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(book, timeout=300, resources={"metadata": {"path": folder}}).execute()
    for cell in book.cells:
        cell.metadata = {}  # when it was run
        if cell.cell_type == "code":
            cell.outputs = _joined(one for one in cell.outputs if "<progress" not in str(one))
    return book


def _joined(outputs: Iterable[Any]) -> list[Any]:
    """Outputs with printed text in one piece, whenever it was flushed."""
    joined: list[Any] = []
    for one in outputs:
        if joined and one.get("name") == joined[-1].get("name") == "stdout":
            joined[-1]["text"] += one["text"]
        else:
            joined.append(one)
    return joined


def shown(book: Any) -> list[str]:
    """The text of every output."""
    outputs = [one for cell in book.cells for one in cell.get("outputs", ())]
    return [one.get("text") or one["data"]["text/plain"] for one in outputs]


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_is_in_the_file(path: Path) -> None:
    assert path.stat().st_size < MAX_BYTES
    kept = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    assert shown(executed(path)) == shown(kept), "`make notebooks` keeps what they show now"


def test_the_first_notebook_runs() -> None:
    (first,) = [path for path in NOTEBOOKS if path.stem == "first-result"]
    assert "follow (result 2) is higher than guess" in "".join(shown(executed(first)))


def test_there_are_three() -> None:
    assert len(NOTEBOOKS) == 3


if __name__ == "__main__":
    for notebook in NOTEBOOKS:
        nbformat.write(executed(notebook), notebook)  # type: ignore[no-untyped-call]
