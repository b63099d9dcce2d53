"""The audit passes generated items and catches the original's leaks when they are rebuilt."""

from __future__ import annotations

import numpy as np
import pytest

from trivium.benchmarks.variables.audit import (
    Pair,
    Sample,
    audit,
    audit_items,
    control_pairs,
    target_features,
    validity_pairs,
    variable_features,
)
from trivium.benchmarks.variables.decision import topological
from trivium.benchmarks.variables.generate import generate
from trivium.benchmarks.variables.item import Table, VariablesItem, reordered
from trivium.benchmarks.variables.spec import PRESETS, VariablesSpec
from trivium.core.streams import Stream

BOTH = PRESETS["balanced-hypotheses"]


def caught(items: list[VariablesItem]) -> set[str]:
    return {cue.name for cue in audit_items(items).cues if cue.caught}


@pytest.mark.parametrize(
    "spec", [VariablesSpec(), BOTH, VariablesSpec(graph="dag"), VariablesSpec(max_hyps=8)]
)
def test_no_cue_beats_chance(spec: VariablesSpec) -> None:
    """Intervals hold at 99% for all cues together: one audit of a hundred fails by accident."""
    found = audit_items(list(generate(spec, 41, 0, 4000)))
    assert len(found.cues) >= 15
    assert found.passed, [cue.name for cue in found.cues if cue.caught]


def with_independent_first(item: VariablesItem, stream: Stream) -> VariablesItem:
    """The original's position leak: in an invalid item the independent variable leads mostly.

    "Invalid if and only if it is the first one listed" is then right about three times in
    four, as was measured on the original.
    """
    if item.gold.valid or stream.random() > 0.6:
        return item
    order = [item.target[0], *(n for n in range(len(item.names)) if n != item.target[0])]
    return reordered(item, order, range(len(item.hypotheses)))


def test_the_position_leak_of_the_original_is_caught() -> None:
    stream = Stream(1)
    leaky = [with_independent_first(item, stream) for item in generate(BOTH, 42, 0, 3000)]
    rule = [(item.target[0] == 0) != item.gold.valid for item in leaky]
    assert 0.65 < sum(rule) / len(rule) < 0.85
    names = caught(leaky)
    assert "validity:ind_first@table" in names
    assert "validity:all@table" in names


def test_columns_in_topological_order_are_caught() -> None:
    leaky = [
        reordered(item, topological(item.parents), range(len(item.hypotheses)))
        for item in generate(VariablesSpec(), 43, 0, 3000)
    ]
    assert "control:place@table" in caught(leaky)


def test_a_target_that_always_leads_the_list_of_one_kind_is_caught() -> None:
    leaky = []
    for item in generate(BOTH, 44, 0, 3000):
        order = sorted(
            range(len(item.hypotheses)),
            key=lambda at: (item.hypotheses[at] == item.target) == item.gold.valid,
        )
        leaky.append(reordered(item, range(len(item.names)), order))
    assert "validity:target_at@table" in caught(leaky)


# x_10 -> x_20 is the target and x_30 belongs to their tree; x_40 is by itself, x_50 unobserved.
BY_HAND = next(generate(VariablesSpec(), 1))._replace(
    names=("x_40", "x_20", "x_50", "x_10", "x_30"),
    terms=[[], [[3, 0, 1, 0]], [], [], [[3, 0, 1, 0]]],
    rates=[0, 0, 1.0, 0, 0],
    target=(3, 1),
    hypotheses=[(4, 3), (3, 1), (0, 3)],
    wording=[2, 3, 1],
    table=Table(np.zeros((4, 5))),
)


def test_features_in_plain_numbers() -> None:
    sample = Sample.of(BY_HAND)
    assert sample.sets == [["x_40"], ["x_20", "x_10", "x_30"]]
    assert variable_features(sample, "table", 4) == {
        "place": 4,
        "first": False,
        "last": True,
        "number": 30,
        "as_cause": 1,
        "as_effect": 0,
        "mentioned_at": 0,
        "from_ind": 1,
        "after_ind": True,
        "from_dep": 3,
        "after_dep": True,
    }
    found = target_features(sample, "table")
    assert (found["ind_place"], found["dep_place"]) == (3, 1)
    assert (found["ind_as_effect"], found["ind_as_cause"], found["dep_mentioned_at"]) == (2, 1, 1)
    names = ("gap", "ahead", "hypotheses", "target_at", "wording")
    assert [found[name] for name in names] == [2, False, 3, 1, 3]
    expected = {"set_at": 1, "set_first": False, "set_last": True, "within": 0.5}
    assert variable_features(sample, "sets", 3) == expected
    assert variable_features(sample, "sets", 0) == {
        "set_at": 0,
        "set_first": True,
        "set_last": False,
        "within": 0.5,
    }
    assert target_features(sample, "sets")["dep_within"] == 0
    unmentioned = BY_HAND._replace(hypotheses=[(3, 1)], wording=[0])
    assert variable_features(Sample.of(unmentioned), "table", 4)["mentioned_at"] == 1


def test_pairs_differ_in_their_label_only() -> None:
    """x_30 is a control variable and x_40 is not; with beliefs that decide there is no pair."""
    stream = Stream(1)
    undecided = BY_HAND._replace(hypotheses=[(3, 1)], wording=[0])
    ((right, wrong),) = control_pairs([Sample.of(undecided)], "table", stream)
    assert (right["number"], wrong["number"]) == (30, 40)
    decided = BY_HAND._replace(hypotheses=[(3, 1), (0, 1)], wording=[0, 0])
    assert list(control_pairs([Sample.of(decided)], "table", stream)) == []
    invalid = BY_HAND._replace(target=(0, 1), hypotheses=[(0, 1)], wording=[0])
    ((valid, other),) = validity_pairs(list(map(Sample.of, (undecided, invalid))), "table", stream)
    assert (valid["ind_number"], other["ind_number"]) == (10, 40)
    smaller = invalid._replace(rates=[0, 0, 1.0, 1.0, 0])  # as many sets, x_10 unobserved
    alike = [Sample.of(undecided), Sample.of(smaller)]
    assert len(list(validity_pairs(alike, "sets", stream))) == 1
    other_sets = [Sample.of(undecided), Sample.of(invalid._replace(rates=[0] * 5))]
    assert list(validity_pairs(other_sets, "sets", stream)) == []


def test_which_items_can_be_probed() -> None:
    sample = Sample.of(BY_HAND)
    assert sample.usable("table")
    assert sample.usable("sets")
    unseen = Sample.of(BY_HAND._replace(rates=[0, 0.81, 1.0, 0, 0]))
    assert not unseen.usable("table")
    overlapping = BY_HAND._replace(terms=[[], [[3, 0, 1, 0], [0, 0, 1, 0]], [], [], []])
    assert Sample.of(overlapping).usable("table")
    assert not Sample.of(overlapping).usable("sets")


def test_an_audit_needs_two_hundred_pairs_of_a_label() -> None:
    """Valid items only: no pairs of validity. 199 pairs are noted, 200 are probed."""
    items = list(generate(VariablesSpec(), 41, 0, 1500))
    usable = [item for item in items if len(list(control_pairs_of(item))) == 1]
    audits = [audit_items(usable[:count]) for count in (199, 200)]
    assert audits[0].cues == ()
    assert "control@table was not probed: 199 pairs of items" in audits[0].notes
    assert {cue.name.split(":")[0] for cue in audits[1].cues} == {"control"}
    assert {cue.n for cue in audits[1].cues} == {200}
    assert {cue.chance for cue in audits[1].cues} == {0.5}
    # 11 features of a table and 4 of sets, and all together for each.
    assert audits[1].level == pytest.approx(1 - 0.01 / (12 + 5))
    assert audits[1].items == 200


def control_pairs_of(item: VariablesItem) -> list[Pair]:
    sample = Sample.of(item)
    return list(control_pairs([sample] if sample.usable("table") else [], "table", Stream(1)))


def test_an_audit_takes_as_many_items_as_it_needs() -> None:
    found = audit(VariablesSpec(), 0, 300)
    assert (found.items, found.needed) == (300, 20_933)
