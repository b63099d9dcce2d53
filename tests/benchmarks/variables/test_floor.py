"""The floor: the best blind strategy, in plain numbers, and that nothing blind beats it."""

from __future__ import annotations

import numpy as np
import pytest

from trivium.benchmarks.variables import VARIABLES
from trivium.benchmarks.variables.answer import VariablesAnswer
from trivium.benchmarks.variables.floor import Outline, gain_of_random
from trivium.benchmarks.variables.generate import generate
from trivium.benchmarks.variables.score import score
from trivium.benchmarks.variables.spec import PRESETS, VariablesSpec, VariablesView, view_of
from trivium.core.streams import Stream


def test_blind_lists_in_plain_numbers() -> None:
    """Five of eight others are controlled: discounts of 5 are 2.94846, those of 3 are 2.13093."""
    outline = Outline(variables=10, printed=8, control=5)
    best = worst = 2.94846
    assert gain_of_random(outline, 0) == pytest.approx(worst / (best + worst), abs=1e-5)
    one = (2 * 5 / 8 - 1) * 1
    assert gain_of_random(outline, 1) == pytest.approx((one + worst) / (best + worst), abs=1e-5)
    three = (2 * 5 / 8 - 1) * 2.13093
    assert gain_of_random(outline, 3) == pytest.approx((three + worst) / (best + worst), abs=1e-5)
    assert gain_of_random(outline, 20) == gain_of_random(outline, 8)


@pytest.mark.parametrize("preset", ["balanced-ctrl", "balanced-hypotheses"])
def test_nothing_is_controlled_in_matched_items(preset: str) -> None:
    floor = VARIABLES.floor(PRESETS[preset], VariablesView())
    assert (floor.name, floor.exact) == ("noctrl", True)
    assert 0.6 < floor.value < 0.75
    assert floor.others["hyp_valid_acc"] == (1 if preset == "balanced-ctrl" else 0.5)
    assert floor.others["ctrl_recall"] == 1
    assert floor.others["ctrl_fallout"] == 0


def test_the_original_has_another_floor_in_prose_than_in_tables() -> None:
    """Prose leaves out what is neither observed nor believed, which is never controlled."""
    spec = PRESETS["original-ctrl"]
    prose, table = (VARIABLES.floor(spec, view_of(name)) for name in ("corrset", "csv"))
    assert (prose.name, prose.exact) == ("control everything", False)
    assert table.name == "noctrl"
    assert prose.value > table.value
    # The mean over 0 .. 8 control variables of ten: 1, .810, .708, .631, .563, .5, .44, .35, .26.
    assert table.value == pytest.approx(0.597, abs=0.02)


@pytest.mark.parametrize("preset", ["balanced-ctrl", "balanced-hypotheses", "original-ctrl"])
def test_no_blind_list_beats_the_floor(preset: str) -> None:
    """Random lists of every length, four standard errors of 700 items allowed."""
    floor = VARIABLES.floor(PRESETS[preset], VariablesView())
    items = [item for item in generate(PRESETS[preset], 5, 0, 700) if item.gold.valid]
    stream = Stream(3)
    for listed in (0, 1, 2, 4, 8, 30):
        values = []
        for item in items:
            shown = [v for v, seen in enumerate(item.seen) if seen or v in item.hidden]
            names = stream.shuffled([item.names[v] for v in shown if v not in item.target])
            answer = VariablesAnswer(True, None, None, tuple(names[:listed]))
            values.append(score(item, answer)["ctrl_nDCG"])
        found = np.array(values, dtype=float)
        assert found.mean() < floor.value + 4 * found.std() / len(found) ** 0.5


def test_the_floor_of_an_item_without_a_spec_depends_on_its_size_only() -> None:
    """Four variables: nothing, one or two of the others; 1, D(3)/(D(3)+1) and D(2)/(2 D(2))."""
    item = next(generate(VariablesSpec(min_vars=4, max_vars=4), 1))._replace(origin=None)
    floor = VARIABLES.item_floor(item, VariablesView())
    assert floor.value == pytest.approx((1 + 2.13093 / 3.13093 + 0.5) / 3, abs=1e-5)
    assert not floor.exact
