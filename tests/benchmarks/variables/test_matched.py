"""Matched items: what a structure, a column or a mention says about the answer is nothing."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from trivium.benchmarks.variables import VARIABLES
from trivium.benchmarks.variables.decision import causes
from trivium.benchmarks.variables.generate import generate
from trivium.benchmarks.variables.matched import layouts
from trivium.benchmarks.variables.spec import PRESETS, VariablesSpec, view_of
from trivium.benchmarks.variables.table import closed_cosines
from trivium.core.spec import spec_from_dict

CTRL, BOTH = PRESETS["balanced-ctrl"], PRESETS["balanced-hypotheses"]
SMALL = VariablesSpec(balance="none", min_vars=4, max_vars=11)


@pytest.mark.parametrize("spec", [CTRL, BOTH])
def test_all_sets_of_an_item_have_one_size_and_the_target_is_observed(spec: VariablesSpec) -> None:
    for item in generate(spec, 1, 0, 800):
        sizes = {len(own) for own in item.observed.sets()}
        assert len(sizes) == 1
        assert len(item.observed.sets()) >= 2
        assert all(item.seen[variable] for variable in item.target)
        assert item.hidden == [v for v, seen in enumerate(item.seen) if not seen]
        assert len(item.hidden) <= 2
        size = sizes.pop()
        within = any(set(item.target) <= set(own) for own in item.observed.sets())
        assert within == item.gold.valid
        if item.gold.valid:
            hidden = set(item.hidden) & causes(item.hypotheses, item.target[1])
            assert hidden in (set(), set(item.hidden))
            assert len(item.gold.control) == size - 2 + len(hidden)


def test_a_smaller_set_is_left_over_only_where_sets_of_one_size_do_not_fit() -> None:
    """Ten variables: 2+2+2+2+2, 3+3+3+1, 4+4+2 and 5+5, with no unobserved one to fill up."""
    spec = VariablesSpec()
    assert {(layout.size, layout.sets, layout.rest) for layout in layouts(spec).all} == {
        (2, 5, 0),
        (3, 3, 1),
        (4, 2, 2),
        (5, 2, 0),
    }
    for preset in ("balanced-ctrl", "balanced-hypotheses"):
        assert all(layout.rest == 0 for layout in layouts(PRESETS[preset]).all)


@pytest.mark.parametrize("spec", [CTRL, BOTH, SMALL, VariablesSpec(max_hyps=8)])
def test_unobserved_variables_are_controlled_as_often_as_observed_ones(spec: VariablesSpec) -> None:
    """Exactly, for any sizes and numbers of sets, and never more often than every second time."""
    known = layouts(spec)
    weight: dict[tuple[int, ...], dict[bool, float]] = defaultdict(lambda: {False: 0, True: 0})
    for layout, share in zip(known.all, known.shares.mean(axis=0), strict=True):
        size, sets, rest, unobserved, reached = layout
        weight[size, sets, rest, unobserved][reached] += share
        assert layout.share < 0.5
        assert spec.min_vars <= layout.variables <= spec.max_vars
    for (size, sets, rest, unobserved), both in weight.items():
        observed = size * sets + rest
        wanted = (size - 2) / (observed - 2) if unobserved else 0
        assert both[True] / sum(both.values()) == pytest.approx(wanted)


def test_every_number_of_control_variables_is_as_likely_without_rejection() -> None:
    known = layouts(CTRL)
    assert known.shares.shape[0] == 9
    assert known.shares.sum(axis=1) == pytest.approx(np.ones(9))
    for kind, shares in enumerate(known.shares):
        likely = [layout for layout, share in zip(known.all, shares, strict=True) if share]
        assert {layout.control for layout in likely} == {kind}


def test_every_spec_has_layouts() -> None:
    for balance, hyps, least in product(("control", "hypotheses"), (2, 5, 8, 12), (12, 15, 19)):
        for most in range(least + 2 * (hyps == 12), 31):
            fields = {"balance": balance, "min_vars": max(least, hyps + 2), "max_hyps": hyps}
            fields["max_vars"] = max(most, hyps + 2)
            known = layouts(spec_from_dict(VariablesSpec, fields))
            assert known.shares.sum(axis=1) == pytest.approx(np.ones(len(known.shares)))
            assert (known.shares >= 0).all()
    for size in range(4, 31):
        assert layouts(VariablesSpec(min_vars=size, max_vars=size)).all


def test_mentions_say_nothing_about_control() -> None:
    """Of the variables with the same mentions the same share is controlled.

    Chi-squared against the share of each item; above 30 with probability 0.0002 at 8 degrees.
    """
    seen: Counter[tuple[int, int]] = Counter()
    controlled: Counter[tuple[int, int]] = Counter()
    expected: dict[tuple[int, int], float] = defaultdict(float)
    spread: dict[tuple[int, int], float] = defaultdict(float)
    for item in generate(CTRL, 2, 0, 2500):
        others = [v for v in range(len(item.names)) if v not in item.target]
        observed = [v for v in others if item.seen[v]]
        size = len(item.observed.sets()[0])
        share = (size - 2) / len(observed)
        control = item.gold.control
        for v in others:
            cause = sum(edge[0] == v for edge in item.hypotheses)
            effect = sum(edge[1] == v for edge in item.hypotheses)
            key = (min(cause, 2), min(effect, 2))
            seen[key] += 1
            controlled[key] += v in control
            expected[key] += share
            spread[key] += share * (1 - share)
    found = [key for key in seen if spread[key] > 5]
    assert len(found) >= 6
    total = sum((controlled[key] - expected[key]) ** 2 / spread[key] for key in found)
    assert total < 30


@pytest.mark.parametrize("half", [10, 15, 20, 25, 50])
def test_parabolas_of_the_closed_cosines_are_the_same_numbers(half: int) -> None:
    for numbers in closed_cosines(half):
        assert len(set(np.round(numbers, 9))) == half
        assert np.sort(2 * numbers**2 - 1) == pytest.approx(np.sort(numbers))


def test_the_ten_and_ten_numbers_of_the_default_table_are_all_different() -> None:
    first, second = closed_cosines(10)
    assert len(set(np.round([*first, *second], 6))) == 20


def test_every_column_has_the_same_numbers_moved_and_stretched() -> None:
    """Roots, lines and parabolas alike, in both halves of the rows."""
    shapes = closed_cosines(10)
    kinds: Counter[str] = Counter()
    for item in generate(replace(CTRL, thinned=0.0), 3, 0, 60):
        for column, terms in zip(item.table.values.T, item.terms, strict=True):
            kinds["root" if not terms else "parabola" if terms[0][1] else "line"] += 1
            for rows, shape in zip((column[:10], column[10:]), shapes, strict=True):
                scaled = np.sort((rows - rows.mean()) / rows.std())
                wanted = (shape - shape.mean()) / shape.std()
                ends = [np.sort(wanted), np.sort(-wanted)]
                assert min(np.abs(scaled - end).max() for end in ends) < 1e-3
    assert min(kinds[kind] for kind in ("root", "line", "parabola")) > 50


@pytest.mark.parametrize("spec", [CTRL, BOTH])
def test_the_first_ten_rows_show_every_pair_that_counts_as_observed(spec: VariablesSpec) -> None:
    """Observed pairs share at least six of ten rows, unobserved variables have at most three."""
    for item in generate(spec, 4, 0, 300):
        there = ~np.isnan(item.table.values)
        for part, least in ((there[:10], 6), (there, 12)):
            observed = part[:, np.array(item.seen)].astype(int)
            assert (observed.T @ observed).min() >= least
        hidden = there[:, ~np.array(item.seen)]
        assert not hidden.size or hidden.sum(axis=0).max() <= 3


def test_related_columns_are_lines_or_parabolas_of_each_other() -> None:
    for item in generate(replace(CTRL, thinned=0.0), 5, 0, 40):
        for own in item.observed.sets():
            for first in own:
                for second in own:
                    x, y = item.table.values[:, first], item.table.values[:, second]
                    shares = [
                        np.var(b - np.polyval(np.polyfit(a, b, 2), a)) / np.var(b)
                        for a, b in ((x, y), (y, x))
                    ]
                    assert min(shares) < 1e-6


def test_prose_of_a_matched_item_mentions_each_observed_variable_once() -> None:
    for item in generate(CTRL, 6, 0, 20):
        prompt = VARIABLES.render(item, view_of("language-corrset"))
        text = prompt[prompt.rindex("\nObservations:\n") : prompt.rindex("\nHypotheses:\n")]
        lines = [line for line in text.splitlines() if " followed pattern " in line]
        assert len(lines) == sum(item.seen)
        named = [line.split()[2] for line in lines]
        assert named == [name for name, seen in zip(item.names, item.seen, strict=True) if seen]


def test_letters_of_patterns_do_not_depend_on_the_order_of_printing() -> None:
    def letters(text: str) -> set[str]:
        return {line for line in text.splitlines() if " followed pattern " in line}

    item = next(generate(CTRL, 7))
    view = view_of("language-corrset")
    other = VARIABLES.reshuffle(item, 3)
    assert letters(VARIABLES.render(item, view)) == letters(VARIABLES.render(other, view))


def test_hypotheses_are_two_trees_of_one_shape() -> None:
    for item in generate(CTRL, 8, 0, 200):
        near: dict[int, set[int]] = defaultdict(set)
        for cause, effect in item.hypotheses:
            near[cause].add(effect)
            near[effect].add(cause)
        trees = []
        left = set(near)
        while left:
            tree, waiting = set(), [next(iter(left))]
            while waiting:
                at = waiting.pop()
                tree.add(at)
                waiting += near[at] - tree
            trees.append(tree)
            left -= tree
        assert len(trees) == 2
        degrees = [
            sorted(
                (
                    sum(edge[0] == v for edge in item.hypotheses),
                    sum(edge[1] == v for edge in item.hypotheses),
                )
                for v in tree
            )
            for tree in trees
        ]
        assert degrees[0] == degrees[1]
        assert len(item.hypotheses) in (10, 12)


@pytest.mark.parametrize("spec", [CTRL, BOTH, replace(CTRL, max_hyps=9)])
def test_no_line_has_the_target_and_an_unobserved_variable(spec: VariablesSpec) -> None:
    """Else nearness to the target would tell which unobserved variables are its causes."""
    reached: Counter[bool] = Counter()
    for item in generate(spec, 11, 0, 400):
        hidden = set(item.hidden)
        for edge in item.hypotheses:
            assert not (hidden & set(edge) and set(edge) & set(item.target))
        for variable in hidden:
            reached[variable in causes(item.hypotheses, item.target[1])] += 1
    assert min(reached[True], reached[False]) > 20


@pytest.mark.parametrize("spec", [CTRL, BOTH, VariablesSpec(max_hyps=9)])
def test_lines_come_in_pairs_of_one_line_of_each_tree(spec: VariablesSpec) -> None:
    """Both lines of a pair are the same line of trees that are mentioned in the same way."""
    for item in generate(spec, 12, 0, 200):
        edges = list(item.hypotheses)
        own = item.hypotheses.index(item.target)
        assert len(edges) % 2 == 0
        same: dict[int, int] = {}  # from a variable of one tree to that of the other
        for first, second in zip(edges[::2], edges[1::2], strict=True):
            for here, there in zip((*first, *second), (*second, *first), strict=True):
                assert same.setdefault(here, there) == there
        assert item.wording[::2] == item.wording[1::2]
        decoy = tuple(same[variable] for variable in item.target)
        assert edges[own ^ 1] == decoy


def test_the_steps_of_columns_do_not_tell_which_go_together() -> None:
    """Mean steps from row to row of valid targets agree hardly better than those of others.

    If they agreed as they do for two lines without losses, the ratio would be below 0.4.
    """
    gaps: dict[bool, list[float]] = {True: [], False: []}
    for item in generate(BOTH, 13, 0, 2000):
        steps = []
        for column in item.table.values[:, list(item.target)].T:
            known = column[~np.isnan(column)]
            steps.append(np.abs(np.diff(known)).mean() / known.std())
        gaps[item.gold.valid].append(abs(steps[0] - steps[1]))
    assert np.mean(gaps[True]) / np.mean(gaps[False]) > 0.8


def test_hardly_any_item_repeats_up_to_renaming() -> None:
    """0.4% of 100,000 items of balanced-ctrl; 2,000 have 0.2 repeats on average."""
    for spec in (CTRL, BOTH):
        forms = {VARIABLES.canonical(item) for item in generate(spec, 9, 0, 2000)}
        assert len(forms) >= 1995


def test_the_canonical_form_forgets_names_order_and_values_only() -> None:
    items = list(generate(CTRL, 10, 0, 30))
    for item in items:
        other = VARIABLES.reshuffle(item, 2)
        renamed = VARIABLES.rename(item, dict(zip(item.names, item.names[::-1], strict=True)))
        assert VARIABLES.canonical(item) == VARIABLES.canonical(other)
        assert VARIABLES.canonical(item) == VARIABLES.canonical(renamed)
        turned = item._replace(target=item.target[::-1])
        assert VARIABLES.canonical(item) != VARIABLES.canonical(turned)
    assert len({VARIABLES.canonical(item) for item in items}) == 30


@pytest.mark.parametrize("controls", range(9))
def test_a_fixed_number_of_control_variables_is_that_of_every_item(controls: int) -> None:
    for spec in (CTRL, BOTH):
        items = list(generate(replace(spec, controls=controls), 11, 0, 60))
        valid = [item for item in items if item.gold.valid]
        assert len(valid) == (60 if spec is CTRL else 30)
        assert {len(item.gold.control) for item in valid} == {controls}
        # A size would tell whether unobserved variables make up the number.
        assert not any(item.hidden for item in items)
        own_sets = {len(own) for item in items for own in item.observed.sets()}
        assert own_sets == {controls + 2}


def test_items_with_other_numbers_of_control_variables_are_other_items() -> None:
    names = {
        item.names
        for controls in (None, 3, 4)
        for item in generate(replace(CTRL, controls=controls), 11, 0, 20)
    }
    assert len(names) == 60
    original = PRESETS["original-ctrl"]
    for item in generate(replace(original, controls=8), 11, 0, 20):
        assert len(item.gold.control) == 8
