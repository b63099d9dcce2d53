"""Tasks and presented items."""

from __future__ import annotations

import pytest

from trivium.benchmarks import load_task
from trivium.core.errors import UserError
from trivium.core.task import PresentedItem


def test_scoring_does_not_write_the_item_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """An item's representation renders it and computes its floor, which takes up to a second."""
    task = load_task("nhop_implicit")
    item = task.item(0)
    monkeypatch.setattr(PresentedItem, "__repr__", lambda item: pytest.fail("it is written out"))
    assert task.score(item, item.gold)["correct"] == 1
    with pytest.raises(UserError, match="item must be one of the task, got 'IMP-000000'"):
        task.score("IMP-000000", "x")  # type: ignore[arg-type]
