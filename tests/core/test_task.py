"""Tasks and presented items."""

from __future__ import annotations

import pytest

from trivium.benchmarks import load_task
from trivium.core.dialogue import solver_stream
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
    for reply in (None, 5, [5]):
        with pytest.raises(UserError, match="reply must be text, or a list of all replies in a"):
            task.score(item, reply)  # type: ignore[arg-type]


def test_a_solver_draws_anew_for_every_item_trial_and_turn() -> None:
    """Items of two seeds or specs have the same ids; one from a file has no spec."""
    task, other = load_task("nhop_implicit"), load_task("nhop_implicit", fields={"hops": 4})
    items = [task.item(0, 1), task.item(0, 2), task.item(1, 1), other.item(0, 1)]
    originals = [item.original for item in items]
    keys = [(one, trial, turn) for one in originals for trial in (0, 1) for turn in (0, 1)]
    keys.append((originals[0]._replace(origin=None), 0, 0))
    drawn = [solver_stream("random", *key).random() for key in keys]
    assert len({items[0].id, items[1].id, items[3].id}) == 1
    assert len(set(drawn)) == len(keys)
    assert solver_stream("other", *keys[0]).random() not in drawn
    assert solver_stream("random", *keys[0]).random() == drawn[0]
