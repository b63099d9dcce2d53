"""Matched evidence: one key for all kinds of machines, habits near the floor, new structures."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from dataclasses import replace
from typing import Any

import numpy as np
import orjson
import pytest

from tests.benchmarks.blicket.beliefs import possible
from trivium.benchmarks.blicket.inference import support
from trivium.benchmarks.blicket.inference.hypotheses import make_space
from trivium.benchmarks.blicket.inference.observer import posterior
from trivium.benchmarks.blicket.prompts import PROMPTS, matched, solvers
from trivium.benchmarks.blicket.prompts.audit import machine_structure
from trivium.benchmarks.blicket.prompts.evidence import ideal_answer, read_page
from trivium.benchmarks.blicket.prompts.generate import PromptItem
from trivium.benchmarks.blicket.prompts.spec import PromptSpec, PromptView
from trivium.core.dialogue import attempt
from trivium.core.errors import UserError
from trivium.core.streams import Stream

FOUR = PROMPTS.presets["four-conditions"]
VIEWS = [PromptView(), PromptView("two_shot"), PromptView(reply="lines")]
HABITS = ["most_often_lit", "lit_share", "lit_alone", "never_dark", "always_lit", "one_cause"]
HABITS += ["beside_ruled_out", "apart"]
CELLS = list(itertools.product(("given", "not_given"), ("disjunctive", "conjunctive")))


def keys(item: PromptItem) -> set[tuple[frozenset[str], frozenset[str]]]:
    """The answers about objects in every space of kinds with disjunctive and conjunctive machines.

    By plain enumeration: the other kinds are parity and at least 2, 3 or 4 blickets.
    """
    names, tests = item.new.objects, item.new.tests
    on = np.array([[name in placed for name in names] for placed, _ in tests], dtype=int)
    lit = np.array([light for _, light in tests])[:, None]
    sets = np.array(list(itertools.product((0, 1), repeat=len(names)))[1:])
    number, size = on @ sets.T, sets.sum(axis=1)
    fits = {
        "disjunctive": ((number > 0) == lit).all(axis=0),
        "conjunctive": ((number == size) == lit).all(axis=0) & (size >= 2),
        "parity": ((number % 2 == 1) == lit).all(axis=0),
        **{f"at least {k}": ((number >= k) == lit).all(axis=0) & (size >= k) for k in (2, 3, 4)},
    }
    assert fits[item.form].any()
    assert not (fits["disjunctive"].any() and fits["conjunctive"].any())
    found = set()
    others = list(fits)[2:]
    for count in range(len(others) + 1):
        for more in itertools.combinations(others, count):
            kinds = ("disjunctive", "conjunctive", *more)
            left = sets[np.any([fits[kind] for kind in kinds], axis=0)]
            sure = frozenset(np.array(names)[left.all(axis=0)].tolist())
            found.add((sure, frozenset(np.array(names)[left.any(axis=0)].tolist()) - sure))
    return found


def changed_keys(cell: tuple[str, str], count: int) -> int:
    """How many items of a cell have another key in some space of kinds."""
    spec = PromptSpec(*cell, objects=9)  # type: ignore[arg-type]
    changed = 0
    for item in PROMPTS.generate(spec, 31, 0, count):
        answer = frozenset(item.answer.blickets), frozenset(item.answer.maybe)
        forms = [{form for form, _ in possible(machine)} for machine in item.machines[:2]]
        if item.hypotheses == "given":
            assert item.answer.like == item.known[forms.index({item.form})]
        else:
            # Kinds that come on top leave open what these two leave open.
            assert forms == [{"conjunctive", "disjunctive"}] * 2
            assert item.answer.like == "unsure"
        changed += keys(item) != {answer}
    return changed


@pytest.mark.parametrize("cell", CELLS)
def test_the_key_is_the_same_whatever_kinds_are_possible(cell: tuple[str, str]) -> None:
    assert changed_keys(cell, 60) == 0


@pytest.mark.slow
@pytest.mark.parametrize("cell", CELLS)
def test_the_key_is_the_same_in_a_thousand_items(cell: tuple[str, str]) -> None:
    assert changed_keys(cell, 1000) == 0


@pytest.mark.parametrize(("objects", "tests"), [(7, 10), (7, 12), (8, 10), (9, 16)])
def test_other_sizes(objects: int, tests: int) -> None:
    for item in PROMPTS.generate(replace(FOUR, objects=objects, tests=tests), 1, 0, 24):
        assert len(item.new.tests) == len({frozenset(on) for on, _ in item.new.tests}) == tests
        assert keys(item) == {(frozenset(item.answer.blickets), frozenset(item.answer.maybe))}
        assert ideal_answer(item.machines, item.named) == item.answer


def test_both_kinds_have_the_same_lights_and_sizes() -> None:
    """Exactly half of the tests are lit, and a size is as frequent as its complement."""
    sizes: dict[str, Counter[int]] = defaultdict(Counter)
    for item in PROMPTS.generate(FOUR, 12, 0, 400):
        assert sum(light for _, light in item.new.tests) == 6
        own = Counter(len(placed) for placed, _ in item.new.tests)
        assert all(own[size] == own[9 - size] for size in range(1, 9))
        sizes[item.form] += own
    for size in range(1, 9):
        # 2,400 tests of each kind: a difference of 130 is more than four deviations.
        assert abs(sizes["disjunctive"][size] - sizes["conjunctive"][size]) < 130


def test_the_examples_do_not_differ_in_counts_and_sizes() -> None:
    """The role picks one of two lists of a group, whose members have equal counts and sizes."""
    groups, _ = matched._halves()
    assert len(groups) > 50
    for hit, missed in groups:
        seen = set()
        for tests in (*hit, *missed):
            counts = tuple(sum(placed >> bit & 1 for placed in tests) for bit in range(7))
            seen.add((counts, tuple(sorted(placed.bit_count() for placed in tests))))
        assert len(seen) == 1
        assert all(placed & 0b1100 for tests in hit for placed in tests)
        assert all(any(not placed & 0b1100 for placed in tests) for tests in missed)


def test_another_seed_has_other_machines() -> None:
    """Of 300 new machines, at most 5 are known from 1,500 of another seed, up to renaming."""
    known = {machine_structure(item.new) for item in PROMPTS.generate(FOUR, 1, 0, 1500)}
    new = [machine_structure(item.new) for item in PROMPTS.generate(FOUR, 2, 0, 300)]
    assert len(known) > 1450
    assert sum(each in known for each in new) <= 5


def reached(name: str, items: list[PromptItem]) -> float:
    """How often a solver is right, from the prompt."""
    hits = 0.0
    for number, item in enumerate(items):
        page = read_page(PROMPTS.render(item, PromptView()))
        answer = getattr(solvers, name)(page, Stream(number))
        hits += float(PROMPTS.score(item, answer)["correct"] or 0)
    return hits / len(items)


def test_habits_stay_near_the_floor() -> None:
    """400 items: 5 points over the floor, and two deviations of .015."""
    items = list(PROMPTS.generate(FOUR, 2, 0, 400))
    floor = PROMPTS.floor(FOUR, PromptView()).value
    for name in HABITS:
        assert reached(name, items) <= floor + 0.08, name
    # The floor's own strategy: within three deviations.
    assert abs(reached("one_by_one", items) - floor) < 0.045


@pytest.mark.parametrize(
    "spec",
    [
        *(PromptSpec(evidence="full", objects=objects) for objects in (3, 4, 6)),
        PromptSpec(evidence="full", placements="paper"),
        PromptSpec(stimuli="paper"),
        PromptSpec(stimuli="paper_two_shot"),
    ],
)
def test_counting_is_enough_for_the_papers_evidence(spec: PromptSpec) -> None:
    """So the floor counts: only the structure is left, by coin if the hypotheses are given."""
    correct = []
    for item in PROMPTS.generate(spec, 2, 0, 40):
        page = read_page(PROMPTS.render(item, PromptView()))
        counted = solvers.most_often_lit(page, Stream(1))
        likes = page.known if item.hypotheses == "given" else ("unsure",)
        if page.stated:
            alone = any(light and len(placed) == 1 for placed, light in item.new.tests)
            likes = (page.stated["disjunctive" if alone else "conjunctive"],)
        scores = [PROMPTS.score(item, replace(counted, like=like)) for like in likes]
        assert all(each["blickets"] == 1.0 for each in scores)
        correct.append(sum(each["correct"] or 0.0 for each in scores) / len(scores))
    assert sum(correct) / 40 == pytest.approx(PROMPTS.floor(spec, PromptView()).value)


def test_all_answers_are_equally_likely() -> None:
    """One object works alone; each of three others must be a blicket in half of the items."""
    sure = Counter(len(item.answer.blickets) for item in PROMPTS.generate(FOUR, 5, 0, 800))
    # 800 draws of 1/8, 3/8, 3/8 and 1/8, within four deviations.
    for count, share in ((1, 1 / 8), (2, 3 / 8), (3, 3 / 8), (4, 1 / 8)):
        assert abs(sure[count] / 800 - share) < 4 * (share * (1 - share) / 800) ** 0.5


def test_floors_in_numbers() -> None:
    """By hand. The paper's evidence: counts find the blickets, and a coin the structure if given.

    Nine objects: coins for three objects, and for the structure if it is given. In two-shot the
    preamble names the kinds, so counts decide the structure.
    """
    view = PromptView()
    full = PromptSpec(evidence="full")
    floor = PROMPTS.floor(full, view)
    assert floor.others == {"blickets": 1.0, "structure": pytest.approx(0.75)}
    assert floor.value == pytest.approx(0.75)
    one = replace(full, hypotheses="given", form="conjunctive")
    assert PROMPTS.floor(one, view).value == pytest.approx(0.5)
    assert PROMPTS.floor(one, PromptView("two_shot")).value == 1.0
    assert PROMPTS.floor(FOUR, view).value == pytest.approx((1 / 16 + 1 / 8) / 2)
    assert PROMPTS.floor(FOUR, PromptView("two_shot")).value == pytest.approx(1 / 8)
    seven = PROMPTS.floor(PROMPTS.presets["seven-objects"], view)
    assert not seven.exact
    assert seven.value > 0.2


def test_the_fast_inference_agrees_with_the_observer() -> None:
    rules = ("disjunctive", "conjunctive", "parity", "threshold-2", "threshold-3")
    space = make_space(4, rules)
    for trials in itertools.combinations([(p, light) for p in range(1, 16) for light in (0, 1)], 2):
        tests = [(placed, bool(light)) for placed, light in trials]
        left = support.of_any_kind(tests, 4)
        assert bool(left) == any(
            all(fires[placed] == light for placed, light in tests) for fires in space.fires
        )
        if left:
            chances = posterior(space, tests) @ space.blickets
            sure, maybe = support.answer(left, 4)
            assert [sure >> n & 1 for n in range(4)] == [int(c > 1 - 1e-9) for c in chances]
            assert [maybe >> n & 1 for n in range(4)] == [int(0 < c < 1 - 1e-9) for c in chances]


@pytest.mark.parametrize("view", VIEWS, ids=["freeform", "two_shot", "lines"])
@pytest.mark.parametrize("preset", list(PROMPTS.presets))
def test_the_ideal_observer_reads_only_the_text(preset: str, view: PromptView) -> None:
    for item in PROMPTS.generate(PROMPTS.presets[preset], 9, 0, 40):
        assert attempt(PROMPTS, item, PROMPTS.solvers["ideal_observer"], view).kind == "right"


def test_not_given_says_nothing_about_kinds() -> None:
    words = ("at least one", "just one", "single", "all of", "every one", "two or more", "at once")
    for item, view in itertools.product(PROMPTS.generate(FOUR, 4, 0, 24), VIEWS):
        text = PROMPTS.render(item, view)
        said = any(word in text for word in words)
        assert said == (item.hypotheses == "given")
        assert read_page(text).named == item.named


def test_cells_come_in_random_order_inside_blocks() -> None:
    cells = [(item.hypotheses, item.form) for item in PROMPTS.generate(FOUR, 4, 0, 800)]
    blocks = [tuple(cells[n : n + 4]) for n in range(0, 800, 4)]
    assert all(len(set(block)) == 4 for block in blocks)
    assert len(set(blocks)) == 24  # 200 draws of 24 orders: one is missing with probability 0.005


def test_items_without_a_spec_have_a_floor() -> None:
    item = next(iter(PROMPTS.generate(FOUR, 1)))
    assert 0 < PROMPTS.item_floor(item._replace(origin=None), PromptView()).value < 0.02


def test_canonical_sees_through_names_and_orders_and_no_further() -> None:
    for item in PROMPTS.generate(FOUR, 8, 0, 20):
        other = PROMPTS.reshuffle(item, 2)
        assert PROMPTS.canonical(other) == PROMPTS.canonical(item)
        placed, light = item.new.tests[0]
        changed = item.new._replace(tests=((placed, not light), *item.new.tests[1:]))
        machines = (*item.machines[:2], changed)
        assert PROMPTS.canonical(item._replace(machines=machines)) != PROMPTS.canonical(item)


def test_probes_name_the_right_candidates() -> None:
    seen: dict[str, int] = defaultdict(int)
    for item in PROMPTS.generate(FOUR, 8, 0, 40):
        for probe in PROMPTS.probes(item, PromptView()):
            seen[probe.name] += 1
            right = {n for n, ok in zip(probe.candidates, probe.right, strict=True) if ok}
            assert right == (
                set(item.answer.blickets) if probe.name == "blicket" else {item.answer.like}
            )
            for values in probe.candidate_features.values():
                assert len(values) == len(probe.candidates)
        other = [
            each._replace(tests=tuple((placed, not light) for placed, light in each.tests))
            for each in item.machines
        ]
        inverted = item._replace(machines=tuple(other))
        assert PROMPTS.surface(item, PromptView()) == PROMPTS.surface(inverted, PromptView())
    assert seen["structure"] == 20


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"objects": 2}, r"objects must be in 3\.\.9, got 2"),
        ({"objects": 7, "evidence": "full"}, r"objects must be in 3\.\.6, got 7"),
        ({"objects": 7, "tests": 6}, r"tests must be even and in 10\.\.12 for 7 objects, got 6"),
        ({"objects": 9, "tests": 11}, r"even and in 12\.\.16 for 9 objects, got 11"),
        ({"tests": 6, "evidence": "full"}, "tests goes with evidence matched"),
        ({"objects": 4, "stimuli": "paper"}, "objects = 3, got 4"),
    ],
)
def test_wrong_specs_are_refused(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        PromptSpec(**fields)
    with pytest.raises(UserError, match="sentences must be at least 1"):
        PromptView(sentences=0)


def test_the_line_that_is_asked_for_is_strict() -> None:
    view = PromptView(reply="lines")
    for item in PROMPTS.generate(FOUR, 3, 0, 8):
        sure, maybe = item.answer.blickets, item.answer.maybe
        reply = (
            f"ANSWER: blickets: {', '.join(sure) or 'none'}; maybe: {', '.join(maybe) or 'none'}; "
            f"machine: {item.answer.like}"
        )
        assert PROMPTS.parse(item, [reply], view) == item.answer
        assert PROMPTS.strict(item, [reply], view)


def test_variants() -> None:
    assert PROMPTS.variant([]) == (FOUR, PromptView())
    two_shot = PromptView("two_shot")
    assert PROMPTS.variant(["paper", "two_shot"]) == (
        PromptSpec(stimuli="paper_two_shot"),
        two_shot,
    )
    assert PROMPTS.variant(["paper"]) == (PromptSpec(stimuli="paper"), PromptView())
    with pytest.raises(UserError, match="unknown variant 'three'"):
        PROMPTS.variant(["three"])


def test_a_matched_row_with_another_maybe_is_refused() -> None:
    items: list[PromptItem] = [*PROMPTS.generate(FOUR, 3, 0, 12)]
    item = next(each for each in items if each.answer.maybe)
    row = orjson.loads(orjson.dumps(PROMPTS.to_row(item)))
    assert PROMPTS.from_row(row, 0) == item
    with pytest.raises(UserError, match="maybe is"):
        PROMPTS.from_row({**row, "maybe": []}, 0)
