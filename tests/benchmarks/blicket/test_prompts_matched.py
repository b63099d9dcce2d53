"""Matched evidence: equal counts, different answers; floors, shortcuts, stored specs."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from dataclasses import replace
from typing import Any

import orjson
import pytest

from tests.benchmarks.blicket.beliefs import form_beliefs, possible
from trivium.benchmarks.blicket.inference.hypotheses import make_space
from trivium.benchmarks.blicket.inference.observer import posterior
from trivium.benchmarks.blicket.inference.support import support_of
from trivium.benchmarks.blicket.prompts import PROMPTS, matched, solvers
from trivium.benchmarks.blicket.prompts.evidence import (
    Machine,
    ideal_answer,
    read_page,
)
from trivium.benchmarks.blicket.prompts.generate import PromptItem
from trivium.benchmarks.blicket.prompts.spec import PromptSpec, PromptView
from trivium.core.dialogue import attempt
from trivium.core.errors import UserError
from trivium.core.streams import Stream

FOUR = PROMPTS.presets["four-conditions"]
VIEWS = [PromptView(), PromptView("two_shot"), PromptView(reply="lines")]
COUNTING = ["most_often_lit", "lit_share", "lit_alone", "never_dark", "always_lit", "one_cause"]


@pytest.mark.parametrize("objects", [4, 5, 7, 8])
def test_the_answer_is_what_plain_enumeration_says(objects: int) -> None:
    for item in PROMPTS.generate(replace(FOUR, objects=objects), 3, 0, 40):
        given = item.hypotheses == "given"
        left = possible(item.new, odd=not given)
        assert {form for form, _ in left} - {"parity"} == {item.form}
        sure = set.intersection(*(blickets for _, blickets in left))
        maybe = set.union(*(blickets for _, blickets in left)) - sure
        assert set(item.answer.blickets) == sure
        assert set(item.answer.maybe) == maybe
        forms = [{form for form, _ in possible(machine)} for machine in item.machines[:2]]
        if given:
            assert sorted(map(sorted, forms)) == [["conjunctive"], ["disjunctive"]]
            assert item.answer.like == item.known[forms.index({item.form})]
        else:
            assert forms == [{"conjunctive", "disjunctive"}] * 2
            assert item.answer.like == "unsure"


def counts(machine: Machine) -> dict[str, tuple[tuple[int, bool], ...]]:
    """For each object the sizes and lights of the tests that it is in."""
    return {
        name: tuple(sorted((len(on), light) for on, light in machine.tests if name in on))
        for name in machine.objects
    }


def test_all_answers_of_a_group_have_the_same_counts() -> None:
    for form, number in itertools.product(("disjunctive", "conjunctive"), range(4)):
        options = matched.answers(7, 13, form, matched.NAMED_KINDS, number)
        assert len(options) >= 19
        seen: set[Any] = set()
        for (sure, maybe), evidence in options:
            for tests in evidence[:20]:
                sizes = [
                    tuple(sorted((p.bit_count(), light) for p, light in tests if p >> bit & 1))
                    for bit in range(7)
                ]
                seen.add(tuple(sizes))
                assert len(set(map(len, sizes))) == 1, "every object is placed equally often"
            # The objects that counting leaves over are the same for all answers.
            seen.add(sure | maybe)
        assert len(seen) == 2


def test_the_first_two_machines_have_the_same_counts() -> None:
    first = Counter[bool]()
    for item in PROMPTS.generate(FOUR, 5, 0, 400):
        one, other = (Counter(counts(machine).values()) for machine in item.machines[:2])
        assert one == other
        if item.hypotheses == "given":
            first[item.answer.like == item.known[0]] += 1
    # 200 draws of two: fewer than 65 of one have probability 4e-7.
    assert min(first[True], first[False]) >= 65


@pytest.mark.parametrize("view", VIEWS, ids=["freeform", "two_shot", "lines"])
@pytest.mark.parametrize("preset", list(PROMPTS.presets))
def test_the_ideal_observer_reads_only_the_text(preset: str, view: PromptView) -> None:
    for item in PROMPTS.generate(PROMPTS.presets[preset], 9, 0, 40):
        assert attempt(PROMPTS, item, PROMPTS.solvers["ideal_observer"], view).kind == "right"


def reached(name: str, items: list[PromptItem]) -> float:
    """How often a solver names exactly the blickets, from the prompt."""
    hits = 0.0
    for number, item in enumerate(items):
        page = read_page(PROMPTS.render(item, PromptView()))
        answer = getattr(solvers, name)(page, Stream(number))
        hits += float(PROMPTS.score(item, answer)["blickets"] or 0)
    return hits / len(items)


@pytest.mark.parametrize("objects", [4, 7])
def test_counting_stays_at_the_floor(objects: int) -> None:
    """No count names the answer: at most 5 points over the floor."""
    spec = replace(FOUR, objects=objects)
    items = list(PROMPTS.generate(spec, 2, 0, 120))
    floor = PROMPTS.floor(spec, PromptView())
    for name in COUNTING:
        assert reached(name, items) <= floor.others["blickets"] + 0.05, name


def test_counting_is_enough_for_the_papers_evidence() -> None:
    items = list(PROMPTS.generate(PROMPTS.presets["paper-evidence"], 2, 0, 40))
    assert reached("most_often_lit", items) == 1.0


def test_what_the_counts_leave_open_is_shared_by_twenty_answers() -> None:
    """The best that counts allow: one of the answers of a group, 1/21 at 7 objects."""
    for form in ("disjunctive", "conjunctive"):
        sizes = [len(matched.answers(7, 13, form, matched.NAMED_KINDS, n)) for n in range(16)]
        assert sum(1 / size for size in sizes) / 16 < 0.05
    # At most 1/19 of 400 with deviation 4.5: more than 44 have probability 4e-6.
    assert reached("one_by_one", list(PROMPTS.generate(FOUR, 2, 0, 400))) <= 44 / 400


def test_not_given_says_nothing_about_kinds() -> None:
    words = ("at least one", "just one", "single", "all of", "every one", "two or more", "at once")
    for item, view in itertools.product(PROMPTS.generate(FOUR, 4, 0, 24), VIEWS):
        text = PROMPTS.render(item, view)
        said = any(word in text for word in words)
        assert said == (item.hypotheses == "given")
        assert read_page(text).kinds == item.kinds


def test_the_observer_predicts_that_the_form_shows_later_where_kinds_are_not_given() -> None:
    """Of 13 tests, about 3 with kinds named and 8 without, for either form."""
    tests: dict[tuple[str, str], list[int]] = defaultdict(list)
    for item in PROMPTS.generate(FOUR, 5, 0, 120):
        beliefs = form_beliefs(item.machines, item.kinds)
        certain = [number for number, each in enumerate(beliefs) if max(each.values()) > 1 - 1e-9]
        tests[item.hypotheses, item.form].append(certain[0] if certain else len(beliefs))
    for form in ("disjunctive", "conjunctive"):
        given, not_given = tests["given", form], tests["not_given", form]
        assert sum(given) / len(given) + 1 < sum(not_given) / len(not_given)


def test_the_fast_inference_agrees_with_the_observer() -> None:
    kinds = ("disjunctive", "conjunctive", "parity")
    space, fast = make_space(4, kinds), support_of(4, kinds)
    for trials in itertools.combinations([(p, light) for p in range(1, 16) for light in (0, 1)], 2):
        tests = [(placed, bool(light)) for placed, light in trials]
        left = fast.possible(tests)
        if left:
            belief = posterior(space, tests)
            assert [left >> n & 1 for n in range(len(space))] == [int(b > 0) for b in belief]
            chances = belief @ space.blickets
            sure, maybe = fast.answer(left)
            assert [sure >> n & 1 for n in range(4)] == [int(c > 1 - 1e-9) for c in chances]
            assert [maybe >> n & 1 for n in range(4)] == [int(0 < c < 1 - 1e-9) for c in chances]


def test_cells_come_in_random_order_inside_blocks() -> None:
    cells = [(item.hypotheses, item.form) for item in PROMPTS.generate(FOUR, 4, 0, 800)]
    blocks = [tuple(cells[n : n + 4]) for n in range(0, 800, 4)]
    assert all(len(set(block)) == 4 for block in blocks)
    assert len(set(blocks)) == 24  # 200 draws of 24 orders: one is missing with probability 0.005


def test_floors_in_numbers() -> None:
    """By hand for the paper's evidence: one blicket of three, or two of three, in turns."""
    view = PromptView()
    full = PromptSpec(evidence="full")
    floor = PROMPTS.floor(full, view)
    assert floor.others == {"blickets": pytest.approx(1 / 6), "structure": pytest.approx(0.75)}
    assert floor.value == pytest.approx((1 / 6 * 0.5 + 1 / 6) / 2)
    assert PROMPTS.floor(replace(full, hypotheses="given", form="conjunctive"), view).value == (
        pytest.approx(1 / 6)
    )
    assert 0.001 < PROMPTS.floor(FOUR, view).value < 0.01


def test_the_floor_is_the_best_guess_of_its_kind() -> None:
    """How often each size of answer comes, counted in items, against what the floor says."""
    spec = PROMPTS.presets["not-given-disjunctive"]
    sizes = Counter(
        (len(item.answer.blickets), len(item.answer.maybe))
        for item in PROMPTS.generate(spec, 6, 0, 6000)
    )
    best = max(
        count / 6000 * math.prod(map(math.factorial, (s, m, 7 - s - m))) / math.factorial(7)
        for (s, m), count in sizes.items()
    )
    assert PROMPTS.floor(spec, PromptView()).value == pytest.approx(best, rel=0.15)


def test_items_without_a_spec_have_a_floor() -> None:
    item = next(iter(PROMPTS.generate(FOUR, 1)))
    assert 0 < PROMPTS.item_floor(item._replace(origin=None), PromptView()).value < 0.02


def test_there_are_thousands_of_structures() -> None:
    for objects, count in ((4, 2200), (7, 1100)):
        items = PROMPTS.generate(replace(FOUR, objects=objects), 8, 0, count)
        assert len({PROMPTS.canonical(item) for item in items}) > 1000


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
        ({"objects": 2}, r"objects must be in 3\.\.8, got 2"),
        ({"objects": 7, "evidence": "full"}, r"objects must be in 3\.\.6, got 7"),
        ({"objects": 7, "trials": 6}, r"trials must be in 7\.\.14 for 7 objects, got 6"),
        ({"trials": 5, "evidence": "full"}, "trials goes with evidence matched"),
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


@pytest.mark.parametrize("trials", [10, 14])
def test_other_numbers_of_tests(trials: int) -> None:
    for item in PROMPTS.generate(replace(FOUR, trials=trials), 1, 0, 8):
        assert len(item.new.tests) == trials
        assert ideal_answer(item.machines, item.kinds) == item.answer


def test_a_matched_row_with_another_maybe_is_refused() -> None:
    items: list[PromptItem] = [*PROMPTS.generate(FOUR, 3, 0, 12)]
    item = next(each for each in items if each.answer.maybe)
    row = orjson.loads(orjson.dumps(PROMPTS.to_row(item)))
    assert PROMPTS.from_row(row, 0) == item
    with pytest.raises(UserError, match="maybe is"):
        PROMPTS.from_row({**row, "maybe": []}, 0)
