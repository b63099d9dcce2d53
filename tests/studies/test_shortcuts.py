"""The study of shortcuts: its arrays are the items, and its report follows from its data."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from studies.shortcuts import items
from studies.shortcuts.__main__ import HERE, main


@pytest.mark.parametrize("design", [items.LEAKY, items.AUDITED])
def test_composing_the_rows_of_a_ladder_gives_its_answers(
    design: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(items, "CHUNK", 20)
    found = items.ladders(design, 5, 0)
    for rows, answers in zip(found.inputs.astype(int), found.answers, strict=True):
        token = rows[-1, 2]
        for depth in range(1, 5):
            tails = {tail for _, function, head, tail in rows if (function, head) == (depth, token)}
            (token,) = tails
            part, function, _, tail = rows[answers[depth - 1]]
            assert (part, function, tail) == (max(0, depth - 1), depth, token)


def test_only_in_leaky_ladders_do_wrong_candidates_appear_nowhere_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(items, "CHUNK", 20)
    for design, alone in ((items.LEAKY, 5), (items.AUDITED, 0)):
        for rows in items.ladders(design, 5, 0).inputs.astype(int):
            block = rows[rows[:, 0] == 3]
            elsewhere = set(rows[rows[:, 0] < 3][:, 3])
            assert sum(head not in elsewhere for head in block[:, 2]) == alone


def test_validity_is_about_balanced_and_every_row_has_a_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(items, "CHUNK", 200)
    for design in (items.LEAKY, items.AUDITED):
        found = items.tables(design, 5, 0)
        assert 0.4 < found.answers.mean() < 0.6
        assert np.isfinite(found.inputs).all()
        assert (np.abs(found.inputs).sum(axis=2) > 0).all()


def test_the_report_is_rebuilt_byte_for_byte(tmp_path: Path) -> None:
    shutil.copytree(HERE / "data", tmp_path / "data")
    assert main(["--report_only", "--out", str(tmp_path)]) == 0
    for path in ("table.md", "figures/ladders.svg", "figures/tables.svg"):
        assert (tmp_path / path).read_bytes() == (HERE / path).read_bytes(), path


@pytest.mark.slow
def test_a_unit_that_is_there_is_not_run_again(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    (tmp_path / "data").mkdir()
    for name in ("ladders_leaky", "ladders_audited", "tables_leaky"):
        shutil.copy(HERE / "data" / f"{name}.json", tmp_path / "data")
    assert main(["--quick", "--seeds", "2", "--out", str(tmp_path)]) == 0
    assert (tmp_path / "data" / "tables_audited.json").exists()
    for name in ("ladders_leaky", "ladders_audited", "tables_leaky"):
        stored = (HERE / "data" / f"{name}.json").read_bytes()
        assert (tmp_path / "data" / f"{name}.json").read_bytes() == stored
