"""Matched items: what a structure, a column or a mention says about the answer is nothing."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.benchmarks.variables import VARIABLES
from trivium.benchmarks.variables.decision import causes, decide
from trivium.benchmarks.variables.generate import generate
from trivium.benchmarks.variables.layouts import layouts
from trivium.benchmarks.variables.spec import PRESETS, VariablesSpec, view_of
from trivium.benchmarks.variables.table import closed_cosines
from trivium.core.dialogue import attempt
from trivium.core.errors import UserError

CTRL, BOTH = PRESETS["balanced-ctrl"], PRESETS["balanced-hypotheses"]
WIDE = VariablesSpec(balance="none", min_vars=14, max_vars=30, max_hyps=13)


@pytest.mark.parametrize("spec", [CTRL, BOTH, WIDE])
def test_two_sets_have_one_size_and_the_target_is_observed(spec: VariablesSpec) -> None:
    for item in generate(spec, 1, 0, 800):
        first, second = item.observed.sets()
        assert len(first) == len(second) >= 5
        assert all(item.seen[variable] for variable in item.target)
        assert item.hidden == [v for v, seen in enumerate(item.seen) if not seen]
        assert item.gold.valid == any(set(item.target) <= set(own) for own in (first, second))
        believed = set(item.hidden) & causes(item.hypotheses, item.target[1])
        assert 1 <= len(believed) <= 3
        if item.gold.valid:
            assert len(item.gold.control) == len(first) - 2 + len(believed)


@pytest.mark.parametrize("spec", [CTRL, BOTH, WIDE, VariablesSpec(min_vars=17, max_vars=17)])
def test_unobserved_variables_are_controlled_as_often_as_observed_ones(spec: VariablesSpec) -> None:
    """Exactly, for any sizes, and never more often than every second time."""
    known = layouts(spec)
    weight: dict[tuple[int, int], dict[int, float]] = defaultdict(dict)
    for layout, share in zip(known.all, known.shares.mean(axis=0), strict=True):
        assert share >= 0
        assert spec.min_vars <= layout.variables <= spec.max_vars
        weight[layout.size, layout.unobserved][layout.believed] = share
    for (size, unobserved), own in weight.items():
        assert sorted(own) == [1, 2, 3]
        mean = sum(number * share for number, share in own.items()) / sum(own.values())
        assert mean / unobserved == pytest.approx((size - 2) / (2 * size - 2))
        assert mean / unobserved < 0.5


def test_the_layouts_of_the_default_preset_in_plain_numbers() -> None:
    """Five of eight: 3/8 of 5 1/3, and eight of fourteen: 3/7 of 4 2/3 unobserved ones are 2."""
    known = layouts(CTRL)
    assert known.shares.shape == (6, 12)
    assert known.shares.sum(axis=1) == pytest.approx(np.ones(6))
    weight: dict[tuple[int, int], float] = defaultdict(float)
    for layout, share in zip(known.all, known.shares.mean(axis=0), strict=True):
        weight[layout.size, layout.unobserved] += share
    assert weight == pytest.approx({(5, 5): 1 / 3, (5, 6): 1 / 6, (8, 4): 1 / 6, (8, 5): 1 / 3})
    for kind, shares in enumerate(known.shares):
        likely = [layout for layout, share in zip(known.all, shares, strict=True) if share]
        assert {layout.control for layout in likely} == {4 + kind}


@given(st.integers(14, 30), st.integers(0, 16), st.integers(13, 16))
def test_every_number_of_variables_from_fourteen_on_has_layouts(
    least: int, more: int, hyps: int
) -> None:
    spec = VariablesSpec("hypotheses", least, min(30, least + more), max_hyps=hyps)
    known = layouts(spec)
    assert known.shares.sum() == pytest.approx(1)
    assert (known.shares >= 0).all()


RING = VariablesSpec(graph="dag", balance="hypotheses", max_vars=24)


def test_a_dag_is_a_ring_of_six_families_with_the_numbers_of_a_forest() -> None:
    """Each family is correlated with itself and two neighbours: with half of all variables."""
    for item in generate(RING, 1, 0, 400):
        known = item.observed
        seen = [v for v, is_seen in enumerate(item.seen) if is_seen]
        around = {v: frozenset([v, *known.partners(v)]) for v in seen}
        assert {len(own) for own in around.values()} == {len(seen) // 2}
        families = Counter(around.values())
        assert len(families) == 6
        assert len(set(families.values())) == 1
        assert {len(item.parents[v]) for v in seen} == {1, 2}
        first, second = item.target
        assert item.gold.valid == (around[first] == around[second])
        assert item.gold.valid or not around[first] & {second}
        believed = set(item.hidden) & causes(item.hypotheses, item.target[1])
        if item.gold.valid:
            assert len(item.gold.control) == len(seen) // 2 - 2 + len(believed)
        # A solver that takes correlations to be transitive sees a single set.
        everything = set.union(*(set(own) for own in around.values()))
        joined = set(around[first])
        for _ in range(3):
            joined |= set.union(*(set(around[v]) for v in joined))
        assert joined == everything


def test_a_dag_is_read_exactly_from_prose_and_refused_as_a_table() -> None:
    for item in generate(RING, 2, 0, 60):
        for renderer in ("corrset", "language-corrset"):
            view = view_of(renderer)
            for order in (0, 1):
                shown = VARIABLES.reshuffle(item, order)
                replied = attempt(VARIABLES, shown, VARIABLES.solvers["statistician"], view)
                assert replied.scores["correct"] == 1
    for renderer in ("markdown", "csv", "json", "language-tabular"):
        with pytest.raises(UserError, match="does not go with matched items of a dag"):
            VARIABLES.render(item, view_of(renderer))


@pytest.mark.parametrize("spec", [CTRL, RING])
def test_mentions_say_nothing_about_control(spec: VariablesSpec) -> None:
    """Of the variables with the same mentions the same share is controlled.

    Chi-squared against the share of each item; above 30 with probability 0.0002 at 8 degrees.
    """
    seen: Counter[tuple[int, int]] = Counter()
    controlled: Counter[tuple[int, int]] = Counter()
    expected: dict[tuple[int, int], float] = defaultdict(float)
    spread: dict[tuple[int, int], float] = defaultdict(float)
    for item in generate(spec, 2, 0, 2500):
        mentioned = set(item.hidden)  # in prose, other unobserved variables are not printed
        others = [v for v, known in enumerate(item.seen) if known or v in mentioned]
        others = [v for v in others if v not in item.target]
        observed = [v for v in others if item.seen[v]]
        size = len(observed) // 2 + 1
        share = (size - 2) / len(observed)
        valid, control = item.gold
        if not valid:
            continue
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
            if np.isnan(column).any():
                continue  # unobserved
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


@pytest.mark.parametrize("spec", [CTRL, BOTH, WIDE])
def test_hypotheses_are_two_trees_that_hold_all_unobserved_variables(spec: VariablesSpec) -> None:
    """Each of those has one effect and at most one cause, whatever its role."""
    looks: dict[bool, Counter[int]] = {True: Counter(), False: Counter()}
    for item in generate(spec, 8, 0, 400):
        near: dict[int, set[int]] = defaultdict(set)
        for cause, effect in item.hypotheses:
            near[cause].add(effect)
            near[effect].add(cause)
        assert set(item.hidden) <= set(near)
        tree, waiting = set(), [item.target[0]]
        while waiting:
            at = waiting.pop()
            tree.add(at)
            waiting += near[at] - tree
        others = set(near) - tree
        assert len(item.hypotheses) == len(tree) + len(others) - 2  # no cycles
        assert len(tree - set(item.hidden)) == len(others - set(item.hidden)) >= 5
        led = causes(item.hypotheses, item.target[1])
        for variable in item.hidden:
            assert sum(edge[0] == variable for edge in item.hypotheses) == 1
            looks[variable in led][sum(edge[1] == variable for edge in item.hypotheses)] += 1
    assert set(looks[True]) == set(looks[False]) == {0, 1}
    shares = [own[1] / own.total() for own in looks.values()]
    totals = [own.total() for own in looks.values()]
    assert abs(shares[0] - shares[1]) < 4 * (0.25 / totals[0] + 0.25 / totals[1]) ** 0.5


@pytest.mark.parametrize("spec", [CTRL, BOTH])
def test_hypotheses_decide_in_most_items_and_their_direction_in_most(spec: VariablesSpec) -> None:
    """At least four of five and half were asked for; it is all, and about nine of ten."""
    decides: Counter[str] = Counter()
    for item in generate(spec, 15, 0, 600):
        known, variables = item.observed.correlated, range(len(item.names))
        turned = [(effect, cause) for cause, effect in item.hypotheses]
        if item.gold.valid:
            decides["items"] += 1
            decides["hypotheses"] += decide(known, item.target, [], variables) != item.gold
            both = [*item.hypotheses, *turned]
            decides["direction"] += decide(known, item.target, both, variables) != item.gold
    assert decides["hypotheses"] == decides["items"] == 300
    assert 0.83 < decides["direction"] / decides["items"] < 0.97


def test_unobserved_effects_of_the_target_and_members_beside_it_are_in_its_tree() -> None:
    """Of the unobserved variables in the target's tree, some follow from it and others do not."""
    kinds: Counter[str] = Counter()
    for item in generate(CTRL, 16, 0, 400):
        led = causes(item.hypotheses, item.target[1])
        turned = [(effect, cause) for cause, effect in item.hypotheses]
        connected = causes([*item.hypotheses, *turned], item.target[1])
        for variable in item.hidden:
            follows = causes(item.hypotheses, variable) & set(item.target)
            tree = "beside" if variable in connected else "other tree"
            kinds["cause" if variable in led else "effect" if follows else tree] += 1
    assert min(kinds[name] for name in ("cause", "effect", "beside", "other tree")) > 40


@pytest.mark.parametrize("spec", [CTRL, BOTH, WIDE])
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


def test_the_order_of_lines_does_not_depend_on_their_tree() -> None:
    """The mean place of a line of an unobserved variable is the middle, whatever its role.

    Four standard errors of 300 items with two lines or more of each are 0.07.
    """
    places: dict[bool, list[float]] = {True: [], False: []}
    for item in generate(CTRL, 12, 0, 300):
        led = causes(item.hypotheses, item.target[1])
        last = len(item.hypotheses) - 1
        for place, edge in enumerate(item.hypotheses):
            for variable in set(edge) & set(item.hidden):
                places[variable in led].append(place / last)
    assert np.mean(places[True]) == pytest.approx(0.5, abs=0.07)
    assert np.mean(places[False]) == pytest.approx(0.5, abs=0.07)


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
