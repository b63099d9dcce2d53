"""Leaks planted into matched items: the audit catches each by the cue that shows it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.audit.planted import Leak, caught, first_quick, planted
from trivium.auditing import engine as audit
from trivium.auditing.engine import audit as run_audit
from trivium.benchmarks.variables import VARIABLES
from trivium.benchmarks.variables.item import Table, VariablesItem
from trivium.benchmarks.variables.spec import PRESETS, view_of
from trivium.core.benchmark import AnyBenchmark


@pytest.fixture(autouse=True)
def _small_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Big leaks need few items."""
    monkeypatch.setattr(audit, "PEEK", 20)


def check(benchmark: AnyBenchmark, renderer: str, preset: str, cue: str) -> None:
    """The audit of one view catches the leak by this cue."""
    found = run_audit(benchmark, PRESETS[preset], 0, 100, trees=12, view=view_of(renderer))
    assert cue in caught(found)


def first_column(item: VariablesItem, index: int) -> VariablesItem | None:
    """The first column is to be controlled."""
    return item if 0 in item.gold.control else None


def odd_names(item: VariablesItem, index: int) -> VariablesItem | None:
    """Most of what is to be controlled has an odd number."""
    odd = [int(item.names[variable][2:]) % 2 for variable in item.gold.control]
    return item if sum(odd) * 2 > len(odd) else None


def missing_cell(item: VariablesItem, index: int) -> VariablesItem:
    """What is to be controlled has lost one more cell."""
    values = item.table.values.copy()
    for variable in item.gold.control:
        there = np.flatnonzero(~np.isnan(values[:, variable]))
        values[there[:1], variable] = np.nan
    return item._replace(table=Table(values))


def shared_row(item: VariablesItem, index: int) -> VariablesItem:
    """What is to be controlled has lost the same row."""
    values = item.table.values.copy()
    row = index % len(values)
    for variable in item.gold.control:
        values[row, variable] = np.nan
    return item._replace(table=Table(values))


CONTROL: dict[str, tuple[Leak, str, str]] = {  # first one that takes no redrawing
    "missing cell": (missing_cell, "markdown", "control: missing cells in its column"),
    "first column": (first_column, "language-corrset", "control: place"),
    "odd names": (odd_names, "language-corrset", "control: parity of its name"),
    "shared row": (shared_row, "csv", "most missing cells in a row with its own in its column"),
}


def spaced(item: VariablesItem, text: str) -> str:
    """A space before the names of variables that are to be controlled."""
    for variable in item.gold.control:
        text = text.replace(f",{item.names[variable]}", f", {item.names[variable]}", 1)
    return text


@pytest.mark.slow
def test_a_space_in_the_header_is_caught() -> None:
    benchmark = planted(VARIABLES, lambda item, index: item, spaced)
    check(benchmark, "csv", "balanced-ctrl", "control: text;")


@pytest.mark.parametrize("name", first_quick(CONTROL))
def test_leaks_of_control_variables_are_caught(name: str) -> None:
    leak, renderer, cue = CONTROL[name]
    check(planted(VARIABLES, leak), renderer, "balanced-ctrl", cue)


def index_parity(item: VariablesItem, index: int) -> VariablesItem | None:
    """Every second hypothesis is valid."""
    return item if item.gold.valid == (index % 2 == 0) else None


def whole_numbers(item: VariablesItem, index: int) -> VariablesItem:
    """The dependent variable of a valid hypothesis is a whole number."""
    values = item.table.values.copy()
    if item.gold.valid:
        values[:, item.target[1]] = np.round(values[:, item.target[1]])
    return item._replace(table=Table(values))


def target_first(item: VariablesItem, index: int) -> VariablesItem | None:
    """A hypothesis is valid if it is in the first half of the list."""
    at = item.hypotheses.index(item.target)
    return item if item.gold.valid == (2 * at < len(item.hypotheses)) else None


VALIDITY: dict[str, tuple[Leak, str, str]] = {
    "index": (index_parity, "language-corrset", "validity: item's index mod 2"),
    "whole numbers": (
        whole_numbers,
        "markdown",
        "validity: item's share of whole numbers in its column",
    ),
    "place of the target": (target_first, "language-corrset", "validity: item's target_at"),
}


@pytest.mark.parametrize("name", first_quick(VALIDITY))
def test_leaks_of_validity_are_caught(name: str) -> None:
    leak, renderer, cue = VALIDITY[name]
    check(planted(VARIABLES, leak), renderer, "balanced-hypotheses", cue)
