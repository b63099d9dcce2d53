"""Runs compared on the items that they share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.report.test_digest import made, written
from trivium.benchmarks.nhop.spec import ImplicitSpec
from trivium.cli import main
from trivium.report.compare import contestants, differences


def test_differences_are_paired_and_signed(tmp_path: Path) -> None:
    first = written(tmp_path / "a", made(ImplicitSpec(), "random_candidate", items=80))
    second = written(tmp_path / "b", made(ImplicitSpec(), "oracle", items=60))
    (made_one,) = differences(contestants([first, second]), pairs=False)
    assert (made_one.first.solver, made_one.second.solver) == ("oracle", "random_candidate")
    assert made_one.items == 60
    common = made(ImplicitSpec(), "random_candidate", items=60)
    wrong = 1 - sum(row["scores"]["em"] for row in common) / 60
    assert made_one.estimate.value == pytest.approx(wrong)
    low = made_one.estimate.low
    assert low is not None
    assert low > 0


def test_items_of_other_seeds_and_specs_are_not_the_same(tmp_path: Path) -> None:
    first = written(tmp_path / "a", made(ImplicitSpec(), "oracle", seed=1))
    for folder, rows in (
        ("b", made(ImplicitSpec(), "last_line", seed=2)),
        ("c", made(ImplicitSpec(hops=6), "last_line", seed=1)),
    ):
        assert differences(contestants([first, written(tmp_path / folder, rows)]), pairs=True) == []


def test_all_pairs_on_request(tmp_path: Path) -> None:
    names = ("oracle", "last_line", "random_candidate")
    rows = [row for name in names for row in made(ImplicitSpec(), name)]
    found = contestants([written(tmp_path, rows)])
    assert len(differences(found, pairs=False)) == 2
    assert len(differences(found, pairs=True)) == 3


def test_the_command_says_what_it_cannot_compare(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = str(written(tmp_path / "a", made(ImplicitSpec(), "oracle")))
    other = str(written(tmp_path / "b", made(ImplicitSpec(), "oracle", seed=9)))
    assert main(["compare", one]) == 2
    assert "hold one solver between them" in capsys.readouterr().err
    assert main(["compare", one, other]) == 2
    assert "no items in common" in capsys.readouterr().err
    assert main(["compare", one, "--solvers", "wizard"]) == 2
    assert "unknown solver 'wizard'" in capsys.readouterr().err
    third = str(written(tmp_path / "c", made(ImplicitSpec(), "last_line")))
    assert main(["compare", one, third]) == 0
    assert "differ" in capsys.readouterr().out
