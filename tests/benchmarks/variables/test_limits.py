"""The floor: the best blind strategy, in plain numbers, and that nothing blind beats it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.benchmarks.variables import VARIABLES
from trivium.benchmarks.variables.answer import INVALID, VariablesAnswer
from trivium.benchmarks.variables.generate import generate
from trivium.benchmarks.variables.item import VariablesItem
from trivium.benchmarks.variables.limits import Outline, best_blind, gain_of_random
from trivium.benchmarks.variables.render import read_prompt
from trivium.benchmarks.variables.score import score
from trivium.benchmarks.variables.spec import PRESETS, RENDERERS, VariablesView, view_of
from trivium.cli import main
from trivium.core.streams import Stream, stream_key
from trivium.core.task import Task
from trivium.evaluation.evaluation import Evaluation, Items

ITEMS = {name: list(generate(spec, 8, 0, 301)) for name, spec in PRESETS.items()}


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
@pytest.mark.parametrize("renderer", RENDERERS)
def test_the_floor_of_matched_items_is_to_call_all_of_them_invalid(
    preset: str, renderer: str
) -> None:
    floor = VARIABLES.floor(PRESETS[preset], view_of(renderer))
    assert (floor.name, floor.value, floor.exact) == ("always invalid", 0.5, True)
    assert floor.others["hyp_valid_acc"] == 0.5
    assert floor.others["ctrl_recall"] == 1
    assert floor.others["ctrl_fallout"] == 0
    assert 0.55 < floor.others["ctrl_nDCG"] < 0.62


def test_the_original_has_another_floor_in_prose_than_in_tables() -> None:
    """Prose leaves out what is neither observed nor believed, which is never controlled."""
    spec = PRESETS["original-ctrl"]
    prose, table = (VARIABLES.floor(spec, view_of(name)) for name in ("corrset", "csv"))
    assert (prose.name, prose.exact) == ("valid, control everything", False)
    assert (table.value, table.exact) == (1 / 9, True)
    assert prose.value > table.value
    # The mean over 0 .. 8 control variables of ten: 1, .810, .708, .631, .563, .5, .44, .35, .26.
    assert table.others["ctrl_nDCG"] == pytest.approx(0.597, abs=0.02)
    both = VARIABLES.floor(PRESETS["original-hypotheses"], view_of("corrset"))
    assert (both.name, both.value, both.exact) == ("always invalid", 0.5, True)


def test_the_best_of_a_few_outlines_by_hand() -> None:
    """Ten of sixteen are valid; six have no control variable, four have one of three."""
    invalid, bare, single = Outline(5, 3, None), Outline(5, 3, 0), Outline(5, 3, 1)
    floor = best_blind({invalid: 6, bare: 6, single: 4}, exact=True)
    assert (floor.name, floor.value) == ("always invalid", 6 / 16)
    floor = best_blind({invalid: 5, bare: 7, single: 4}, exact=True)
    assert (floor.name, floor.value) == ("valid, control nothing", 7 / 16)
    floor = best_blind({single: 4}, exact=True)
    assert (floor.name, floor.value) == ("valid, control 1 at random", 1 / 3)
    floor = best_blind({Outline(5, 3, 3): 2, single: 4}, exact=True)
    assert (floor.name, floor.value) == ("valid, control everything", 1 / 3)


def blind_answers(item: VariablesItem, view: VariablesView) -> Iterator[VariablesAnswer]:
    """Answers that do not depend on the item: a verdict, and places of printed variables."""
    yield INVALID
    names = read_prompt(VARIABLES.render(item, view), view).names
    independent, dependent = (item.names[variable] for variable in item.target)
    others = [name for name in names if name not in (independent, dependent)]
    shown = Stream(stream_key(item.names)).shuffled(others)
    for listed in (*range(9), len(shown)):
        yield VariablesAnswer(True, independent, dependent, tuple(shown[:listed]))


@pytest.mark.parametrize("renderer", ["corrset", "csv"])
@pytest.mark.parametrize("preset", PRESETS)
def test_no_blind_answer_beats_the_floor(preset: str, renderer: str) -> None:
    """Lists of every length, four standard errors of 400 items allowed."""
    view = view_of(renderer)
    floor = VARIABLES.floor(PRESETS[preset], view)
    rows = [
        [score(item, answer) for answer in blind_answers(item, view)]
        for item in generate(PRESETS[preset], 5, 0, 400)
    ]
    for answers in zip(*rows, strict=True):
        for metric, least in {"correct": floor.value, **floor.others}.items():
            if metric == "ctrl_fallout":
                continue  # smaller is better
            found = np.array([each[metric] for each in answers if each[metric] is not None])
            assert found.mean() <= least + 4 * found.std() / len(found) ** 0.5


@given(st.lists(st.tuples(st.sampled_from(sorted(PRESETS)), st.integers(0, 300)), min_size=1))
@settings(max_examples=25, deadline=None)
def test_the_floor_of_a_file_is_its_best_constant(chosen: list[tuple[str, int]]) -> None:
    """Always invalid, nothing controlled and everything controlled are never above it."""
    items = [item._replace(origin=None) for item in (ITEMS[preset][at] for preset, at in chosen)]
    for view in (view_of("corrset"), view_of("csv")):
        floor = Task(VARIABLES, None, view).with_file(items).item_floor(items[0])
        answers = [list(blind_answers(item, view)) for item in items]
        for constant in (0, 1, -1):
            right = [
                score(item, own[constant])["correct"] or 0.0
                for item, own in zip(items, answers, strict=True)
            ]
            assert np.mean(right) <= floor.value + 1e-9


def test_items_of_a_file_have_the_floor_of_that_file_and_others_that_of_their_spec() -> None:
    """Of 40 original items 10 are valid: calling all invalid is right on 30."""
    made = list(generate(PRESETS["original-hypotheses"], 4, 0, 100))
    valid = [item for item in made if item.gold.valid][:10]
    invalid = [item for item in made if not item.gold.valid][:30]
    outside = [item._replace(origin=None) for item in (*valid, *invalid)]
    task = Task(VARIABLES, None, VariablesView()).with_file([*outside, *made[:5]])
    assert {task.item_floor(item).value for item in outside} == {0.75}
    assert task.item_floor(made[0]).value == 0.5


def test_a_part_of_a_file_has_the_floor_of_the_whole_file() -> None:
    """Of 40 items 10 are valid; the parts of 20 that processes get have 10 and none of these."""
    made = list(generate(PRESETS["original-hypotheses"], 4, 0, 100))
    by_validity = sorted(made, key=lambda item: not item.gold.valid)
    valid = sum(item.gold.valid for item in made)
    outside = [item._replace(origin=None) for item in by_validity[valid - 10 : valid + 30]]
    items = Items.of(VARIABLES, outside)
    whole = Evaluation(Task(VARIABLES, None, VariablesView()), items, "oracle")
    parts = [replace(whole, items=part) for part in items.chunks(20)]
    floors = {part.task.item_floor(item).value for part in parts for item in part.items.loaded}
    assert floors == {0.75}


def test_the_floor_of_an_item_alone_depends_on_its_size_only() -> None:
    """Four variables: invalid, or nothing, one of two or two of two controlled: 1/4 at best."""
    spec = replace(PRESETS["original-ctrl"], min_vars=4, max_vars=4)
    item = next(generate(spec, 1))._replace(origin=None)
    floor = VARIABLES.item_floor(item, VariablesView())
    assert (floor.name, floor.value, floor.exact) == ("always invalid", 0.25, False)
    # 1, D(3)/(D(3)+1) and D(2)/(2 D(2)).
    expected = (1 + 2.13093 / 3.13093 + 0.5) / 3
    assert floor.others["ctrl_nDCG"] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("renderer", RENDERERS)
def test_a_ceiling_of_tables_that_may_mislead_is_an_upper_bound(renderer: str) -> None:
    view, table = view_of(renderer), not renderer.endswith("corrset")
    matched, original = PRESETS["balanced-ctrl"], PRESETS["original-ctrl"]
    assert VARIABLES.ceiling(matched, view).exact
    for spec in (replace(matched, snr=10.0), original):
        assert VARIABLES.ceiling(spec, view).exact == (not table)
        item = next(item for item in generate(spec, 1, 0, 9) if any(item.rates))
        assert VARIABLES.item_ceiling(item, view).exact == (not table)


def test_the_terminal_says_that_a_ceiling_is_an_upper_bound(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, (words, shown) in enumerate([("--snr 10", True), ("", False)]):
        command = f"eval identifying_variables --renderer csv {words} --items 2 --solver oracle"
        assert main([*command.split(), "--out", str(tmp_path / str(number))]) == 0
        assert ("ceiling 1.000 (upper bound)" in capsys.readouterr().out) == shown
