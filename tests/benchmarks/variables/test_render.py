"""Six tellings of one item, read back and compared."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from trivium.benchmarks.variables import VARIABLES
from trivium.benchmarks.variables.generate import generate
from trivium.benchmarks.variables.item import WORDINGS, VariablesItem
from trivium.benchmarks.variables.observations import (
    read_observations,
    write_observations,
)
from trivium.benchmarks.variables.render import read_prompt, render
from trivium.benchmarks.variables.spec import (
    PRESETS,
    RENDERERS,
    VariablesSpec,
    VariablesView,
    view_of,
)

SPECS = [
    VariablesSpec(),
    PRESETS["balanced-hypotheses"],
    VariablesSpec(graph="dag"),
    VariablesSpec(balance="hypotheses", min_vars=2, max_vars=5, graph="dag", snr=5.0),
]


def items(count: int = 150) -> list[VariablesItem]:
    return [item for spec in SPECS for item in generate(spec, 31, 0, count)]


def test_all_renderers_tell_the_same_observations() -> None:
    for item in items():
        whole = item.table.values
        for renderer in ("markdown", "csv", "json", "language-tabular"):
            told = read_observations(write_observations(item, renderer).strip(), renderer)
            rows = 10 if renderer == "language-tabular" else 20
            assert told.names == list(item.names)
            assert told.table is not None
            assert np.array_equal(told.table, whole[:rows], equal_nan=True), renderer
        seen = [name for name, known in zip(item.names, item.seen, strict=True) if known]
        for renderer in ("corrset", "language-corrset"):
            told = read_observations(write_observations(item, renderer), renderer)
            assert told.sets is not None
            assert set().union(*told.sets) == set(seen)
            known = item.observed
            for first, one in enumerate(item.names):
                for second, other in enumerate(item.names):
                    if first != second and item.seen[first] and item.seen[second]:
                        together = any({one, other} <= own for own in told.sets)
                        assert together == known.correlated(first, second), renderer
            hidden = {item.names[number] for number in item.hidden}
            assert set(told.names) - set(seen) == hidden


def test_json_tables_are_strict_json() -> None:
    def refuse(constant: str) -> Any:
        raise AssertionError(constant)

    for item in items(60):
        columns = json.loads(write_observations(item, "json"), parse_constant=refuse)
        assert list(columns) == list(item.names)
        missing = sum(value is None for column in columns.values() for value in column)
        assert missing == np.isnan(item.table.values).sum()


def test_missing_values_look_missing() -> None:
    item = next(item for item in generate(VariablesSpec(), 1, 0, 50) if max(item.rates) > 0.9)
    assert "nan" in write_observations(item, "markdown")
    assert ",," in write_observations(item, "csv").replace("\n,", "\n,,")
    assert "nan" not in write_observations(item, "csv")
    assert "null" in write_observations(item, "json")
    assert "was not recorded" in write_observations(item, "language-tabular")
    assert "nan" not in write_observations(item, "language-tabular")
    for renderer in ("markdown", "csv", "json", "language-tabular"):
        assert "-0.000" not in write_observations(item, renderer)


def test_pages_are_read_back() -> None:
    for item in items(60):
        for _, _, view in VARIABLES.gallery_examples():
            prompt = read_prompt(render(item, view), view)
            names = item.names
            assert prompt.target == (names[item.target[0]], names[item.target[1]])
            assert prompt.hypotheses == [(names[ind], names[dep]) for ind, dep in item.hypotheses]


def test_language_corrset_has_three_shapes() -> None:
    texts = [write_observations(item, "language-corrset") for item in items()]
    assert any("changed in tandem with each other.\n" in text for text in texts)
    assert any("none changed in tandem" in text for text in texts)
    assert any("and others did not" in text for text in texts)


def test_every_wording_is_used_and_none_tells_validity() -> None:
    """Each wording's share of valid items within 5 standard errors of one half."""
    made = list(generate(PRESETS["balanced-hypotheses"], 3, 0, 4000))
    for wording in range(len(WORDINGS)):
        own = [
            item.gold.valid
            for item in made
            if item.wording[list(item.hypotheses).index(item.target)] == wording
        ]
        assert len(own) > 800
        assert abs(np.mean(own) - 0.5) < 5 * 0.5 / len(own) ** 0.5


@pytest.mark.parametrize("renderer", RENDERERS)
def test_the_view_changes_the_telling_and_nothing_else(renderer: str) -> None:
    item = next(generate(VariablesSpec(), 2))
    plain = render(item, view_of(renderer))
    shown = {
        tree: render(item, VariablesView(view_of(renderer).renderer, tree))
        for tree in ("pseudocode", "language")
    }
    body = plain[plain.index("\nObservations:\n") :]
    for text in shown.values():
        assert text.endswith(body)
        assert len(text) > len(plain) + 500
    assert shown["pseudocode"] != shown["language"]


def test_reordering_changes_the_order_and_keeps_the_data() -> None:
    for item in generate(VariablesSpec(), 6, 0, 20):
        other = VARIABLES.reshuffle(item, 2)
        assert sorted(other.names) == sorted(item.names)
        assert other.names != item.names
        for name in item.names:
            one, two = item.names.index(name), other.names.index(name)
            assert np.array_equal(
                item.table.values[:, one], other.table.values[:, two], equal_nan=True
            )
            assert item.rates[one] == other.rates[two]
