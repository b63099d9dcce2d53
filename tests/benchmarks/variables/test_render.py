"""Six presentations of one item, written exactly, read back and compared."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from trivium.benchmarks.variables import VARIABLES
from trivium.benchmarks.variables.generate import generate
from trivium.benchmarks.variables.item import WORDINGS, Table, VariablesItem
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

ORIGINAL, BOTH = PRESETS["original-ctrl"], PRESETS["original-hypotheses"]
SPECS = [
    PRESETS["balanced-ctrl"],
    ORIGINAL,
    BOTH,
    replace(ORIGINAL, graph="dag"),
    replace(BOTH, max_vars=5, graph="dag", snr=5.0),
]


def items(count: int = 150) -> list[VariablesItem]:
    return [item for spec in SPECS for item in generate(spec, 31, 0, count)]


def test_all_renderers_show_the_same_observations() -> None:
    for item in items():
        whole = item.table.values
        for renderer in ("markdown", "csv", "json", "language-tabular"):
            shown = read_observations(write_observations(item, renderer).strip(), renderer)
            rows = 10 if renderer == "language-tabular" else 20
            assert shown.names == list(item.names)
            assert shown.table is not None
            assert np.array_equal(shown.table, whole[:rows], equal_nan=True), renderer
        seen = [name for name, known in zip(item.names, item.seen, strict=True) if known]
        for renderer in ("corrset", "language-corrset"):
            shown = read_observations(write_observations(item, renderer), renderer)
            assert shown.sets is not None
            assert set().union(*shown.sets) == set(seen)
            known = item.observed
            for first, one in enumerate(item.names):
                for second, other in enumerate(item.names):
                    if first != second and item.seen[first] and item.seen[second]:
                        together = any({one, other} <= own for own in shown.sets)
                        assert together == known.correlated(first, second), renderer
            hidden = {item.names[number] for number in item.hidden}
            assert set(shown.names) - set(seen) == hidden


def test_json_tables_are_strict_json() -> None:
    def refuse(constant: str) -> Any:
        raise AssertionError(constant)

    for item in items(60):
        columns = json.loads(write_observations(item, "json"), parse_constant=refuse)
        assert list(columns) == list(item.names)
        missing = sum(value is None for column in columns.values() for value in column)
        assert missing == np.isnan(item.table.values).sum()


def test_missing_values_look_missing() -> None:
    item = next(item for item in generate(ORIGINAL, 1, 0, 50) if max(item.rates) > 0.9)
    assert "nan" in write_observations(item, "markdown")
    assert ",," in write_observations(item, "csv").replace("\n,", "\n,,")
    assert "nan" not in write_observations(item, "csv")
    assert "null" in write_observations(item, "json")
    assert "was not recorded" in write_observations(item, "language-tabular")
    assert "nan" not in write_observations(item, "language-tabular")
    for renderer in ("markdown", "csv", "json", "language-tabular"):
        assert "-0.000" not in write_observations(item, renderer)


def test_prompts_are_read_back() -> None:
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


def test_every_wording_is_used_and_none_gives_validity_away() -> None:
    """Each wording's share of valid items within 5 standard errors of one half."""
    made = list(generate(BOTH, 3, 0, 4000))
    for wording in range(len(WORDINGS)):
        own = [
            item.gold.valid
            for item in made
            if item.wording[list(item.hypotheses).index(item.target)] == wording
        ]
        assert len(own) > 800
        assert abs(np.mean(own) - 0.5) < 5 * 0.5 / len(own) ** 0.5


@pytest.mark.parametrize("renderer", RENDERERS)
def test_the_view_changes_the_presentation_and_nothing_else(renderer: str) -> None:
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


def test_answers_alone_and_steps_are_asked_for() -> None:
    item = next(generate(PRESETS["balanced-ctrl"], 2))
    plain, direct, steps = (
        render(item, VariablesView(reasoning=reasoning))
        for reasoning in ("free", "direct", "chain_of_thought")
    )
    assert "reason" not in plain
    assert "Reply with the answer alone, without any reasoning, in one line:\n" in direct
    assert "First reason step by step" in steps
    for text in (direct, steps):
        missing = set(plain.splitlines()) - set(text.splitlines())
        assert missing == {"Think as long as you like, then end with a line of its own:"}


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


# x_1 -> x_2, x_3 by itself, and x_4 unobserved; four rows.
BY_HAND = next(generate(ORIGINAL, 1))._replace(
    names=("x_1", "x_2", "x_3", "x_4"),
    terms=[[], [[0, 0, 2, 0]], [], []],
    rates=[0.0, 0.25, 0.0, 1.0],
    target=(0, 1),
    hypotheses=[(3, 1), (0, 1), (2, 1), (1, 2)],
    wording=[0, 1, 2, 3],
    table=Table(
        np.array(
            [[1, 2, -7, np.nan], [-2, np.nan, 0.0005, np.nan], [3, 6, 8, np.nan], [4, 8, 9, np.nan]]
        )
    ),
)
TEXTS = {
    "markdown": (
        "| x_1 | x_2 | x_3 | x_4 |\n|---|---|---|---|\n| 1.000 | 2.000 | -7.000 | nan |\n"
        "| -2.000 | nan | 0.001 | nan |\n| 3.000 | 6.000 | 8.000 | nan |\n"
        "| 4.000 | 8.000 | 9.000 | nan |\n"
    ),
    "csv": (
        "x_1,x_2,x_3,x_4\n1.000,2.000,-7.000,\n-2.000,,0.001,\n3.000,6.000,8.000,\n"
        "4.000,8.000,9.000,\n"
    ),
    "json": (
        '{\n  "x_1": [1.000, -2.000, 3.000, 4.000],\n  "x_2": [2.000, null, 6.000, 8.000],\n'
        '  "x_3": [-7.000, 0.001, 8.000, 9.000],\n  "x_4": [null, null, null, null]\n}'
    ),
    "language-tabular": (
        "In observation 1, x_1 was 1.000, x_2 was 2.000, x_3 was -7.000, x_4 was not recorded.\n"
        "In observation 2, x_1 was -2.000, x_2 was not recorded, x_3 was 0.001, "
        "x_4 was not recorded.\n"
    ),
    "corrset": (
        "Sets of variables that were observed to change together:\n{x_1, x_2}\n{x_3}\n"
        "Variables that stand in no common set were observed not to change together.\n"
        "Variables that hypotheses mention and that were never observed: x_4."
    ),
    "language-corrset": (
        "This is what was found when changes in the variables were observed.\n"
        "Some of the variables changed in tandem with each other, and others did not.\n"
        "Changes in x_1 went with no changes in any variable mentioned so far.\n"
        "Changes in x_2 went with changes in x_1, and the other way round.\n"
        "Changes in x_3 went with no changes in any variable mentioned so far.\n"
        "Hypotheses also mention x_4, of which there are no observations."
    ),
}


@pytest.mark.parametrize("renderer", RENDERERS)
def test_the_observations_of_a_hand_made_item(renderer: str) -> None:
    assert write_observations(BY_HAND, renderer) == TEXTS[renderer]


def test_the_hypotheses_of_a_hand_made_item() -> None:
    prompt = render(BY_HAND, VariablesView("csv"))
    assert prompt.endswith(
        "4.000,8.000,9.000,\n\nHypotheses:\n\n- x_2 is a function of x_4\n"
        "- x_1 has an effect on x_2\n- x_2 depends on x_3\n"
        "- changes in x_2 lead to changes in x_3\n\n"
        "Target hypothesis:\n\nx_1 has an effect on x_2"
    )


@pytest.mark.parametrize(
    ("terms", "rates", "sentence"),
    [
        (
            [[], [[0, 0, 1, 0]], [[0, 0, 1, 0]], [[1, 0, 1, 0]]],
            [0, 0, 0, 0],
            "All variables that were observed, namely x_1, x_2, x_3 and x_4, changed in tandem "
            "with each other.\nThere are observations of every variable that hypotheses mention.",
        ),
        (
            [[], [], [], []],
            [0, 0, 0.81, 0.9],
            "Of the variables that were observed, namely x_1 and x_2, none changed in tandem with "
            "another.\nHypotheses also mention x_3 and x_4, of which there are no observations.",
        ),
        (
            [[], [], [[0, 0, 1, 0], [1, 0, 1, 0]], [[2, 0, 1, 0]]],
            [0, 0, 0.8, 0],
            "Changes in x_3 went with changes in x_1 and x_2, and with those of no other variable "
            "mentioned so far.\nChanges in x_4 went with changes in x_1, x_2 and x_3, and with "
            "those of no other variable mentioned so far.\n"
            "There are observations of every variable that hypotheses mention.",
        ),
    ],
)
def test_other_shapes_of_prose(terms: Any, rates: list[float], sentence: str) -> None:
    item = BY_HAND._replace(terms=terms, rates=rates)
    assert write_observations(item, "language-corrset").endswith(f"\n{sentence}")


def test_matched_sets_are_named_by_letters_and_read_back() -> None:
    """Every name has its own line, so there is no place within a set."""
    for item in generate(PRESETS["balanced-ctrl"], 5, 0, 20):
        view = view_of("corrset")
        prompt = VARIABLES.render(item, view)
        assert "{" not in prompt.partition("Observations:")[2]
        shown = read_prompt(prompt, view).observations.sets or []
        wanted = [{item.names[v] for v in own} for own in item.observed.sets()]
        assert sorted(map(sorted, shown)) == sorted(map(sorted, wanted))
